/* SPDX-License-Identifier: MIT */
/* What the tunnel knows of one peer. Internal to this folder. */
#ifndef WGTCP_CORE_TUNNEL_PEER_H
#define WGTCP_CORE_TUNNEL_PEER_H

#include "core/noise/cookie.h"
#include "core/noise/session.h"
#include "core/tunnel/stamps.h"
#include "core/tunnel/timers.h"

/* Answers to this many initiations that were overtaken by a newer one are still recognised. */
#define SUPERSEDED_COUNT 3
#define PREVIOUS_COUNT 2
/* initiated, superseded; current, next, previous; and one for a session in the making. */
#define SLOT_COUNT (1 + SUPERSEDED_COUNT + 2 + PREVIOUS_COUNT + 1)

/* One of our 32-bit indices while it stands for something: an initiation of ours that awaits its response, or
 * the session which that became. */
struct slot {
	struct slot *chain; /* in its bucket of the index table */
	struct peer *peer;
	uint32_t index;          /* 0: free */
	struct session *session; /* NULL: an initiation */
	struct handshake handshake;
	struct mono sent; /* the initiation */
	uint64_t order;   /* of the initiation, on the same scale as session.order */
	bool settled; /* its answer no longer makes a session: the other side's own handshake came first */
};

/* The prefixes of one peer, in the order in which they were given; kept by allowed_ips.c. */
struct allowed_list {
	struct allowed_node **nodes; /* NULL where one was taken away */
	size_t len, room, count;     /* in use with holes; allocated; in use without */
};

struct peer {
	/* configuration */
	struct noise_remote remote;
	bool usable; /* remote.static_shared stands: we have a key, and theirs is not of low order */
	void *user;
	struct allowed_list allowed;

	/* handshakes */
	struct cookie_maker cookie_maker;
	struct slot slots[SLOT_COUNT];
	struct slot *initiated;                    /* our newest initiation */
	struct slot *superseded[SUPERSEDED_COUNT]; /* newest first */
	struct handshake incoming; /* theirs, between tunnel_receive and tunnel_create_response */
	bool incoming_ready;
	struct stamps stamps; /* of initiations that were accepted */
	struct mono initiation_received;

	/* sessions (paper 5.4.6, 6): see sessions.c */
	struct slot *current, *next, *previous[PREVIOUS_COUNT];
	uint64_t order; /* last one given out */
	bool wide;      /* large replay windows: packets come by several streams */

	/* the newest transport packet that came in */
	uint64_t newest_order, newest_counter;

	struct timers timers;
	struct mono wake; /* not after the deadline of timers; the key in the tunnel's heap */
	size_t heap_at;

	uint64_t rx_bytes, tx_bytes;
	struct wall last_handshake;
	struct mono last_handshake_mono;
	uint32_t handshake_rtt_us;
	uint32_t misfits; /* see peer_stats */

	/* where the tunnel keeps it */
	struct peer *chain;                    /* in its bucket of the key table */
	struct peer *list_before, *list_after; /* in the order of adding */
};

#endif
