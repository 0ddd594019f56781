/* SPDX-License-Identifier: MIT */
/* What a tunnel that is up must go on having (its link, addresses, routes, rules, and the marks on answers),
 * while other programs may take it away. Main thread. */
#ifndef WGTCP_CLIENT_DAEMON_KEEP_H
#define WGTCP_CLIENT_DAEMON_KEEP_H

#include "core/base/time.h"
#include "core/port/net_guard.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

struct daemon;
struct manager;
struct tunnel;

/* So many times within this time things are put back at once; more is a fight, which nobody wins. */
#define KEEP_TIMES 20
#define KEEP_WITHIN_MS 30000
/* All within this is one time: a single `ip route flush` looks again at what came back, up to ten times. */
#define KEEP_ONCE_MS 250
/* Whether the other program has given up is looked at so often. */
#define KEEP_AGAIN_S 30
/* And what could not be put back is tried again so often. */
#define KEEP_RETRY_S 3
/* A program that manages a tunnel clears its link before it says that it ends it. */
#define KEEP_MANAGED_MS 500

/* An interface's name. */
#define KEEP_PASSED_LEN 16

/* Of one tunnel. All zero: nothing is to be kept. */
struct keep {
	bool on;                       /* everything has been set once */
	bool lost;                     /* something of it may be gone */
	bool outdone;                  /* nothing is, but something else may be asked first */
	bool answers;                  /* answers are marked, as far as they can be */
	struct mono times[KEEP_TIMES]; /* when something was put back, the oldest at next */
	size_t next;
	guint again;        /* source: looks from time to time */
	guint later;        /* source: looks once, of a managed tunnel */
	bool fight;         /* and no more often */
	bool failing;       /* something cannot be put back */
	char sentence[320]; /* why, for the status */
	char passed[KEEP_PASSED_LEN]; /* the interface by which goes what this tunnel takes; "": it goes inside */
};

/* Whether this is once too often. Pure. */
bool keep_is_a_fight(struct keep *keep, struct mono now);

/* From now on, and no more. */
void tunnel_keep_start(struct tunnel *tunnel);
void tunnel_keep_stop(struct tunnel *tunnel);
/* This may concern it: tunnel_keep_look then looks. */
void tunnel_keep_heard(struct tunnel *tunnel, const struct net_loss *loss);
void tunnel_keep_look(struct tunnel *tunnel);
/* Into the view, if it fails at it. */
void tunnel_keep_show(struct tunnel *tunnel);

/* ---- passed.c ---- */
/* Whether what the tunnels that take everything are there for goes out elsewhere, and by which interface. */
bool keep_is_passed(struct daemon *daemon, enum ip_family family, char by[KEEP_PASSED_LEN]);
/* An address of the whole Internet's that is nobody's. */
struct ip_address keep_outside(enum ip_family family);

/* ---- keep_watch.c: hears for all tunnels ---- */
struct keep_watch;
/* NULL: it cannot be watched. */
struct keep_watch *keep_watch_new(struct manager *manager);
void keep_watch_free(struct keep_watch *watch);

#endif
