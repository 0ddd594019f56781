/* SPDX-License-Identifier: MIT */
/* What a diagnosis holds. Only for the files that diagnose.h names. */
#ifndef WGTCP_CLIENT_DAEMON_DIAGNOSE_STATE_H
#define WGTCP_CLIENT_DAEMON_DIAGNOSE_STATE_H

#include "client/daemon/daemon.h"
#include "client/daemon/device.h"
#include "client/daemon/diagnose.h"
#include "client/daemon/diagnose_judge.h"
#include "client/daemon/listener.h"
#include "client/daemon/profiles.h"

#include <glib.h>

struct diagnose_engine;
struct names;
struct reach;

/* What is asked of the network, one after the other. */
enum diagnose_phase {
	DIAGNOSE_NAMES, /* names are looked up */
	DIAGNOSE_TRY,   /* handshakes as `up` would send them */
	DIAGNOSE_TCP,   /* UDP works: now TCP alone */
};

struct diagnose_reaches {
	struct reach *udp, *tcp[UAPI_ENDPOINTS_MAX];
	int udp_error, tcp_error[UAPI_ENDPOINTS_MAX]; /* where it could not even begin */
};

struct diagnose {
	struct daemon *daemon;
	struct client *client;
	struct rpc_id id;
	struct diagnose_facts facts;
	enum diagnose_phase phase;
	struct mono since; /* the phase began */
	guint tick;

	struct loaded loaded; /* with a name */
	struct names *names;
	size_t at[DIAGNOSE_PEERS_MAX]; /* which of the profile's peers facts.peers[i] is */
	struct device_way *ways;       /* of each peer of the profile */
	enum transport *transports;
	struct diagnose_reaches reaches[DIAGNOSE_PEERS_MAX];
	uint32_t mark;
	bool passes; /* the kill switch lets our mark pass */

	struct diagnose_engine *engine;
	bool interface; /* it has one */
};

/* ---- diagnose_look.c ---- */
/* Fills in what this machine says of itself. */
void diagnose_look(struct diagnose *diagnose);

/* ---- diagnose_peer.c ---- */
/* Whom the profile calls, and by which names. */
void diagnose_peers_find(struct diagnose *diagnose);
/* All names have been looked up. */
bool diagnose_names_answered(const struct diagnose *diagnose);
/* The names are known, as far as they ever will be: begins to ask where the peers are. */
void diagnose_peers_begin(struct diagnose *diagnose);
void diagnose_peers_forget(struct diagnose *diagnose);
/* What has come back so far; running: the tunnel's own view, else NULL. */
void diagnose_peers_look(struct diagnose *diagnose, const struct rpc_tunnel *running);

/* ---- diagnose_engine.c ---- */
/* An engine on an interface of its own, for the profile that was loaded. 0 or -errno. */
int diagnose_engine_open(struct diagnose *diagnose);
/* NULL engine is allowed. */
void diagnose_engine_close(struct diagnose *diagnose);
/* Forgets all sessions and calls the peers anew, by these transports. 0 or -errno. */
int diagnose_engine_start(struct diagnose *diagnose, enum transport transport);
/* As fresh as the last tick; asks for the next. NULL: nothing is known yet. */
const struct rpc_tunnel *diagnose_engine_view(struct diagnose *diagnose);
bool diagnose_engine_is_lost(const struct diagnose *diagnose);

#endif
