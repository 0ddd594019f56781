/* SPDX-License-Identifier: MIT */
/* The seam between the engine (no privileges) and its front (wgtcpd, or the dialler that a standalone engine forks),
 * which opens, marks, binds and connects sockets. Fixed-size messages on a socketpair that keeps their bounds; down the
 * seam a message may carry one descriptor. Upwards a peer is named, never an address, so that an engine taken over
 * can not make the front connect anywhere. */
#ifndef WGTCP_CORE_PORT_SEAM_H
#define WGTCP_CORE_PORT_SEAM_H

#include "core/base/address.h"
#include "core/base/carrier.h"
#include "core/base/time.h"

struct seam;
struct tcp;

enum seam_kind {
	SEAM_NONE,
	/* up: engine to front */
	SEAM_READY,        /* everything sent so far has been taken in */
	SEAM_DIAL,         /* connect to peer's TCP endpoint: public_key, attempt; flag: a further connection, beside
	                    * whatever dial to it is under way */
	SEAM_DIAL_CANCEL,  /* public_key, attempt */
	SEAM_CHANGED,      /* state of a peer has changed (read it by UAPI): public_key */
	SEAM_MARK,         /* wall: newest TAI64N timestamp used; keep it for the next start */
	SEAM_REMEMBER,     /* public_key, value: enum fallback_udp seen on this network */
	SEAM_RESOLVE,      /* handshakes to this peer go unanswered: look its name up again: public_key */
	SEAM_TUNE,         /* with the descriptor of a carrier's connection, whose options the front may set and the engine
	                    * may not: value, bits of enum tcp_tune (core/port/tcp.h) */
	SEAM_RELAY_NEWS,   /* this and the other SEAM_RELAY_*: only of a relay; core/port/relay_seam.h says all about them */
	SEAM_RELAY_SEEN,
	/* down: front to engine */
	SEAM_TUN,          /* handle */
	SEAM_UDP,          /* handle, value: 4 or 6; replaces the old one of that family; value + 0x100 without a handle:
	                    * no UDP any more (transport is tcp) */
	SEAM_LISTENER,     /* handle, value: 4 or 6; replaces the old one; value + 0x100 without a handle: stop listening */
	SEAM_CONTROL,      /* handle: one more UAPI stream */
	SEAM_LINK,         /* value: MTU; flag: the interface is up */
	SEAM_FLOOR,        /* wall: timestamps stay above it */
	SEAM_CONNECTED,    /* handle; public_key, attempt */
	SEAM_DIAL_FAILED,  /* public_key, attempt, value: errno */
	SEAM_NETWORK,      /* addresses or routes have changed; flag: there is a route to the outside */
	SEAM_RESUMED,      /* the machine slept */
	SEAM_PROBE,        /* public_key, source and target: inner addresses for an ICMP echo; unset target: none.
	                    * flag: the target was named by a person, not guessed */
	SEAM_MEMORY,       /* public_key, value: enum fallback_memory of this network */
	SEAM_START,        /* connect to all peers with an endpoint now, without waiting for traffic */
	SEAM_RETRY_UDP,    /* public_key: a person's word */
	SEAM_RELAY_PEER,
	SEAM_RELAY_UDP,
	SEAM_RELAY_USE,
	SEAM_RELAY_CLOSE,
	SEAM_STOP,         /* end */
};

struct seam_message {
	uint32_t kind;
	uint32_t value;
	uint16_t port; /* SEAM_UDP, SEAM_LISTENER: the port that it is bound to */
	uint64_t attempt;
	uint8_t public_key[32];
	struct wall wall;
	struct ip_address source, target;
	bool flag;
};

int seam_adopt(int handle, struct seam **out);
void seam_close(struct seam *seam);
/* 0; -EAGAIN: full, the message is lost (the engine asks again by its timers); -EPIPE: the front is gone. */
int seam_send(struct seam *seam, const struct seam_message *message);
/* The same with a connection's descriptor; the connection stays the caller's. */
int seam_send_tcp(struct seam *seam, const struct seam_message *message, const struct tcp *tcp);
/* 0 and *handle (-1: none; else the caller's, for tun_adopt and its like); -EAGAIN: none; -EPIPE: the front is gone. */
int seam_receive(struct seam *seam, struct seam_message *out, int *handle);

#endif
