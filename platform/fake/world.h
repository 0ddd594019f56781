/* SPDX-License-Identifier: MIT */
/* The ports in memory: hosts with TUN devices, UDP and TCP between them, delay, loss and blocks, on a clock that moves
 * only when told. Tests link it in place of platform/linux. One world at a time, one thread. */
#ifndef WGTCP_PLATFORM_FAKE_WORLD_H
#define WGTCP_PLATFORM_FAKE_WORLD_H

#include "core/base/address.h"
#include "core/port/seam.h"

struct world;
struct host;
struct clock;
struct loop;
struct tcp;

struct world *world_new(uint64_t seed);
/* Hosts go with it; the engines on them must have been freed. */
void world_free(struct world *world);
struct mono world_now(const struct world *world);
/* When the network next does something; MONO_NEVER: nothing is under way. */
struct mono world_next(const struct world *world);
/* Moves the clock to `to` (never back) and lets everything due until then happen. */
void world_advance(struct world *world, struct mono to);
/* Moves a host's wall clock. */
void host_shift_wall(struct host *host, int64_t seconds);

/* One direction between two hosts. */
struct way {
	uint32_t delay_us;
	uint32_t loss_ppm;    /* of datagrams; a lost TCP burst comes one round trip later */
	bool drop_udp, reject_udp, drop_tcp, refuse_tcp;
	size_t drop_udp_over; /* datagrams longer than this are dropped; 0: none are */
	bool drop_udp_data;   /* drops WireGuard's type 4, lets handshakes pass */
};

struct host *world_add_host(struct world *world, const char *address);
void world_set_way(struct host *from, struct host *to, const struct way *way);
const struct ip_address *host_address(const struct host *host);

/* For struct engine_ports. */
struct clock *host_clock(struct host *host);
struct loop *host_loop(struct host *host);
struct seam *host_seam(struct host *host);
/* Whether one of the ports that the host's loop watches is ready. */
bool host_ready(const struct host *host);

/* The front's part. Hands down a TUN, a UDP socket and, with listen, a listener, all on `port`; the link is then up. */
void host_start(struct host *host, uint16_t port, uint32_t mtu, bool listen);
/* Handles of single ports, for what is not an engine. A datagram port of number 0 gets one of its own; its remote is the
 * one that it talks with. A listener takes the place of the host's one. */
int host_make_udp(struct host *host, uint16_t port);
int host_make_datagram(struct host *host, uint16_t port, const struct endpoint *remote);
int host_make_listener(struct host *host, uint16_t port);
/* The near end of a connection that stands at once; NULL: nobody listens there. */
struct tcp *host_connect(struct host *host, const struct endpoint *remote, uint16_t port);
/* Hands a message with a handle of those above down the seam. */
void host_down_handle(struct host *host, const struct seam_message *message, int handle);
/* Where the front connects when the engine dials this peer. */
void host_set_dial(struct host *host, const uint8_t public_key[32], const struct endpoint *endpoint);
void host_down(struct host *host, const struct seam_message *message);
/* Takes the next message that the engine sent up and that the front does not answer itself. */
bool host_up(struct host *host, struct seam_message *out);

/* A UAPI request as text; the answer is the caller's to free, NULL while there is none. */
void host_ask(struct host *host, const char *text);
char *host_answer(struct host *host);

/* The inner side. */
void host_send_inner(struct host *host, const uint8_t *packet, size_t len);
/* The length of the next inner packet that came out (at most room are copied); 0: none. */
size_t host_take_inner(struct host *host, uint8_t *out, size_t room);
/* Whether its TUN gives and takes bursts; before the engine starts. */
void host_has_bursts(struct host *host, bool bursts);
/* A burst as a kernel gives it: IPv4 and TCP without options. */
void host_send_burst(struct host *host, const uint8_t *packet, size_t len, uint16_t segment);

/* Answers inner ICMP echo requests (IPv4) as a kernel would. */
void host_answer_pings(struct host *host, bool answer);

/* What has been put on the wire by this host so far. */
struct host_counts {
	uint64_t datagrams, dials, stream_bytes;
	uint64_t bursts; /* that came out of its engine's TUN whole */
};
struct host_counts host_counts(const struct host *host);
/* Breaks every connection of the host: both ends see a reset. */
void host_reset_streams(struct host *host);
/* How many stand, and one of them by its age (0: the oldest): breaks it, has it stand still, tells what went out on it. */
size_t host_streams(const struct host *host);
void host_reset_stream(struct host *host, size_t number);
void host_stall_stream(struct host *host, size_t number, bool stall);
uint64_t host_stream_bytes(const struct host *host, size_t number);
/* What the host's connections tell of themselves: one segment of a hundred has to be sent again, or none. */
void host_lossy_streams(struct host *host, bool lossy);

#endif
