/* SPDX-License-Identifier: MIT */
/* What the parts of wgtcpd share: made by main.c, one of each for the life of the process. Main thread. */
#ifndef WGTCP_CLIENT_DAEMON_DAEMON_H
#define WGTCP_CLIENT_DAEMON_DAEMON_H

#include "core/base/time.h"
#include "core/port/kernel_tunnel.h"

#include <stdbool.h>

struct address_book;
struct bus;
struct children;
struct diagnose;
struct dns;
struct journal;
struct listener;
struct lockdown;
struct manager;
struct memory;
struct net_config;
struct portal_watch;
struct prober;
struct profiles;
struct record;
struct speed;
struct surroundings;

#define DAEMON_UAPI_FOLDER "/var/run/wireguard"

struct daemon {
	const char *config_folder, *state_folder;
	int state_handle; /* the state folder, locked */
	struct journal *journal;
	struct children *children;
	struct bus *bus;
	struct dns *dns;
	struct prober *prober;
	struct surroundings *surroundings;
	struct portal_watch *portal;
	struct address_book *address_book;
	struct net_config *net;
	struct profiles *profiles;
	struct manager *manager;
	struct listener *listener;
	struct memory *memory;
	struct record *record;
	struct lockdown *lockdown;
	struct diagnose *diagnose; /* the diagnosis under way, or NULL */
	struct speed *speed;       /* the speed test under way, or NULL */
	bool source_mark; /* the reverse path filter looks at marks by our wish: given back with the last
			     rules */
	bool probing;     /* the kernel is being asked what it can do, by an interface of that purpose */
	struct kernel_probe kernel; /* what it said last */
	bool ending;      /* told to end: what a kill switch holds, it goes on holding */
	struct wall timestamp_floor; /* newest TAI64N timestamp that any tunnel has used (docs/wire.md 1) */
};

/* Goes on during sleep. */
struct mono daemon_now(void);
/* Where there is nothing else to be done: says so and ends the process. What is up stays, and the next daemon, which the
 * service manager starts, takes it away or up again as after a kill. */
_Noreturn void daemon_out_of_memory(void);

#endif
