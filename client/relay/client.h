/* SPDX-License-Identifier: MIT */
/* What the client part holds. Internal to client/relay. */
#ifndef WGTCP_CLIENT_RELAY_CLIENT_H
#define WGTCP_CLIENT_RELAY_CLIENT_H

#include "client/relay/channel.h"
#include "client/relay/race.h"
#include "client/relay/relay.h"
#include "core/noise/message.h"
#include "core/port/clock.h"
#include "core/port/datagram.h"
#include "core/port/loop.h"
#include "core/port/seam.h"
#include "core/port/tcp.h"

#define CLIENT_READ_LEN (64u << 10)
/* Indices that the kernel has given itself: of the handshake under way and of its newest sessions. */
#define INDICES_KEPT 6
/* How much later than by UDP a message goes by TCP where it goes by both: the first that arrives tells the
 * peer where we are, and UDP is what is on trial. */
#define COPY_DELAY_MS 20
/* How soon what the seam had no room for is said again. */
#define SAY_AGAIN_MS 20

enum client_token_kind { TOKEN_SEAM, TOKEN_KERNEL, TOKEN_OUTER, TOKEN_STREAM };

struct peer;

/* First member of everything that the loop can report. */
struct client_token {
	enum client_token_kind kind;
	struct peer *peer;
};

struct socket {
	struct client_token token;
	struct datagram *datagram; /* NULL: none */
};

/* What passed on one carrier and is not yet told. */
struct traffic {
	struct relay_seen seen;
	struct mono told; /* last; unset: never */
};

struct peer {
	struct relay_client *client;
	bool used;
	uint8_t public_key[KEY_LEN];
	struct socket kernel; /* on loopback */
	struct socket outer;  /* UDP towards the peer */
	struct client_token stream_token;
	struct channel channel; /* TCP; its tcp is NULL while there is none */
	bool introduced;        /* something has gone out on the stream that can show whose it is */
	uint64_t attempt;       /* of the dial under way; 0: none */
	struct race race;
	struct mono copies_due; /* copies by TCP of what went by UDP; MONO_NEVER: none waits */

	uint8_t held[sizeof(struct initiation)]; /* the kernel's newest initiation */
	bool holds;
	uint32_t indices[INDICES_KEPT];
	size_t index_count;

	struct traffic udp, tcp;
	uint32_t news; /* bits of enum relay_news, not yet told */
	uint32_t rtt_us;
};

struct relay_client {
	struct relay_ports ports;
	struct seam *seam;
	struct client_token seam_token;
	struct mono now;
	struct mono say_again; /* MONO_NEVER: the seam took everything */
	bool stopping;
	bool ready_due;
	struct peer peers[RELAY_PEERS_MAX];
	uint64_t attempts;
	struct pool pool;

	/* a turn's scratch */
	uint8_t *bytes; /* CLIENT_READ_LEN, and at least DATAGRAM_ROOM */
};

/* ---- peer.c ---- */
void peer_from_kernel(struct peer *peer);
void peer_from_outer(struct peer *peer);
void peer_stream_ready(struct peer *peer, uint32_t what);
/* The copies by TCP that are due. */
void peer_send_copies(struct peer *peer);
void peer_event(struct peer *peer, const struct race_event *event);
/* Takes the handle's place for what was there; handle < 0: only closes that. */
void peer_set_kernel(struct peer *peer, int handle);
void peer_set_outer(struct peer *peer, int handle);
void peer_set_stream(struct peer *peer, int handle);
void peer_close_stream(struct peer *peer);
/* Closes all and frees the place. */
void peer_drop(struct peer *peer);

/* ---- client.c ---- */
void client_news(struct peer *peer, enum relay_news news);
/* False: the seam is full. */
bool client_dial(struct peer *peer);
void client_cancel_dial(struct peer *peer);

#endif
