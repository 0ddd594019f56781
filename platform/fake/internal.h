/* SPDX-License-Identifier: MIT */
/* Shared by the files of platform/fake. */
#ifndef WGTCP_PLATFORM_FAKE_INTERNAL_H
#define WGTCP_PLATFORM_FAKE_INTERNAL_H

#include "core/port/datagram.h"
#include "core/port/loop.h"
#include "core/port/tcp.h"
#include "core/port/udp.h"
#include "platform/fake/world.h"

#define FAKE_HOSTS_MAX 8
#define FAKE_WATCHES_MAX 512
#define FAKE_DIALS_MAX 32
#define FAKE_STREAM_ROOM (256u << 10)
#define FAKE_LOST_ONE_IN 100 /* segments; host_lossy_streams */
#define FAKE_USER_TIMEOUT_MS 10000
#define FAKE_SYN_TIMEOUT_MS 10000

/* A queue of byte strings. */
struct chunk {
	struct chunk *next;
	struct udp_path path;
	struct mono due; /* streams: when it arrives at the earliest */
	uint16_t segment; /* TUN: a burst */
	size_t len, at;   /* last, so that bytes are aligned */
	uint8_t bytes[];
};
struct chunks {
	struct chunk *head, *tail;
	size_t count, len;
};
struct chunk *chunk_new(const void *bytes, size_t len);
void chunks_push(struct chunks *chunks, struct chunk *chunk);
struct chunk *chunks_pop(struct chunks *chunks);
void chunks_clear(struct chunks *chunks);

struct clock {
	struct host *host;
};

struct tun {
	struct host *host;
	bool whole;
	struct chunks to_engine, from_engine;
};

struct udp {
	struct host *host;
	uint16_t port;
	struct chunks in;
	struct chunks lent; /* what udp_receive has given out */
	struct { struct endpoint remote; bool waiting; } error;
};

struct datagram {
	struct host *host;
	uint16_t port;
	struct endpoint remote;
	struct chunks in;
	int error; /* -errno of an ICMP error that waits */
	struct datagram *next;
};

struct tcp {
	struct host *host;
	struct tcp *other;  /* the two ends live until the world ends */
	struct endpoint remote;
	struct chunks in;
	struct chunks out;  /* sent, not yet arrived */
	bool pumping;       /* an event will see to it */
	struct mono stuck;  /* since when nothing of it arrives */
	bool closing;       /* a FIN follows what is under way */
	bool ended, reset, timed_out;
	bool held;          /* the engine owns it */
	struct tcp *next;   /* of the world */
	struct tcp *waiting; /* the next in a listener's backlog */
	bool stalled;       /* a test has it stand still */
	struct tcp_metrics metrics; /* what a test has it tell */
};

struct tcp_listener {
	struct host *host;
	uint16_t port;
	struct tcp *backlog;
};

struct up {
	struct up *next;
	struct seam_message message;
};

struct down {
	struct down *next;
	struct seam_message message;
	int handle;
};

struct seam {
	struct host *host;
	struct down *down, **down_end;
	struct up *up, **up_end;
};

struct control {
	struct host *host;
	struct chunks to_engine, from_engine;
};

enum object_kind { OBJECT_FREE, OBJECT_TUN, OBJECT_UDP, OBJECT_TCP, OBJECT_LISTENER, OBJECT_SEAM, OBJECT_CONTROL,
	OBJECT_DATAGRAM };

struct watch {
	enum object_kind kind;
	void *object;
	uint32_t what;
	void *token;
};

struct loop {
	struct host *host;
	struct watch watches[FAKE_WATCHES_MAX];
	size_t count, start;
};

struct dial_target {
	uint8_t public_key[32];
	struct endpoint endpoint;
};

struct host {
	struct world *world;
	size_t number;
	struct ip_address address;
	struct clock clock;
	struct loop loop;
	struct seam seam;
	struct tun *tun;
	struct udp *udp;
	struct datagram *datagrams;
	uint16_t next_port; /* for the next that asks for any */
	struct tcp_listener *listener;
	struct control *control;
	int64_t wall_shift_s;
	bool answers_pings;
	bool bursts;
	bool lossy_streams;
	struct dial_target targets[FAKE_DIALS_MAX];
	size_t target_count;
	struct host_counts counts;
};

struct event {
	struct mono at;
	uint64_t order;
	void (*happen)(struct world *world, void *subject, struct chunk *chunk, struct host *from, struct host *to);
	void *subject;
	struct chunk *chunk;
	struct host *from, *to;
};

struct world {
	struct mono now;
	uint64_t random, orders;
	struct host *hosts[FAKE_HOSTS_MAX];
	size_t host_count;
	struct way ways[FAKE_HOSTS_MAX][FAKE_HOSTS_MAX];
	struct event *events; /* a heap by (at, order) */
	size_t event_count, event_room;
	struct tcp *streams;
	struct {
		enum object_kind kind;
		void *object;
	} handles[1024];
};

extern struct world *the_world;

void world_schedule(struct world *world, uint64_t delay_us,
	void (*happen)(struct world *, void *, struct chunk *, struct host *, struct host *), void *subject,
	struct chunk *chunk, struct host *from, struct host *to);
struct host *world_find(struct world *world, const struct ip_address *address);
const struct way *world_way(const struct host *from, const struct host *to);
bool world_chance(struct world *world, uint32_t ppm);
/* Puts a datagram on its way, as the host's port sends it. */
void wire_send(struct host *from, uint16_t port, const struct endpoint *to, const uint8_t *bytes, size_t len);
/* A datagram that came for this port and is from this remote; NULL: there is none. */
struct datagram *datagram_find(const struct host *host, uint16_t port, const struct endpoint *remote);
int handle_make(enum object_kind kind, void *object);
/* Takes the object out; NULL when it is of another kind. */
void *handle_take(int handle, enum object_kind kind);
void seam_push_down(struct seam *seam, const struct seam_message *message, int handle);
/* The front's reaction to a SEAM_DIAL; false: not one. */
bool dial_take(struct host *host, const struct seam_message *message);
uint32_t object_ready(const struct watch *watch);

#endif
