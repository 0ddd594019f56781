/* SPDX-License-Identifier: MIT */
/* The privileged side of one engine's seam: creates the TUN device, opens, marks, binds and connects sockets, watches
 * the network, and listens on the UAPI socket. Used by wgtcpd for each tunnel and by a standalone wgtcp-engine (its
 * dialler). It parses nothing that comes from the network: only root's UAPI requests, which it reads for ports, marks
 * and endpoints and passes on to the engine unchanged.
 *
 * One descriptor to wait on, no callbacks, no threads, never blocks. */
#ifndef WGTCP_CORE_PORT_FRONT_H
#define WGTCP_CORE_PORT_FRONT_H

#include "core/port/seam.h"

struct front;

struct front_settings {
	const char *interface;      /* name of the device to make */
	bool take_over;             /* use a persistent or left-over TUN device of that name if there is one */
	const char *uapi_directory; /* where IFNAME.sock is made, "/var/run/wireguard"; NULL: none */
	struct wall timestamp_floor;
};

enum front_event_kind {
	FRONT_NOTHING,
	FRONT_READY,          /* the engine has taken everything in */
	FRONT_PEER_CHANGED,   /* public_key */
	FRONT_MARK,           /* wall */
	FRONT_REMEMBER,       /* public_key, value */
	FRONT_RESOLVE,        /* public_key */
	FRONT_NETWORK,        /* addresses or routes have changed (the engine has been told) */
	FRONT_LINK_GONE,      /* somebody deleted the interface: end */
	FRONT_ENGINE_GONE,    /* the engine closed its side or died */
};

struct front_event {
	enum front_event_kind kind;
	uint8_t public_key[32];
	uint32_t value;
	struct wall wall;
};

/* 0 or -errno with nothing left behind. *engine_handle is the other end of the seam: the engine process inherits it as
 * descriptor 3; the caller closes its copy. */
int front_open(const struct front_settings *settings, struct front **out, int *engine_handle);
/* Closes everything; the device goes with it. NULL is allowed. */
void front_close(struct front *front);
/* A new engine after FRONT_ENGINE_GONE: a new seam, with device and sockets handed over again. Configuration has to be
 * given again by UAPI. */
int front_restart(struct front *front, int *engine_handle);

int front_handle(const struct front *front);
/* Handles what is ready. 1: *out is an event, call again; 0: nothing more. */
int front_turn(struct front *front, struct front_event *out);

/* A stream to speak UAPI on, as if a client had connected to IFNAME.sock; the caller's to close. -errno on failure. */
int front_control(struct front *front);
/* Passes SEAM_PROBE, SEAM_MEMORY, SEAM_START, SEAM_RETRY_UDP, SEAM_RESUMED, SEAM_STOP down. */
int front_send(struct front *front, const struct seam_message *message);
/* What happens to this other interface of ours is no change of the network; in place of the one before. */
void front_ignore(struct front *front, uint32_t index);
uint32_t front_interface_index(const struct front *front);
/* Some connection to a peer's TCP endpoint has come about since the engine runs. */
bool front_has_dialled(const struct front *front);

#endif
