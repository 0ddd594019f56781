/* SPDX-License-Identifier: MIT */
/* What a tunnel holds. Only for the files that tunnel.h names. */
#ifndef WGTCP_CLIENT_DAEMON_TUNNEL_STATE_H
#define WGTCP_CLIENT_DAEMON_TUNNEL_STATE_H

#include "client/daemon/backend.h"
#include "client/daemon/daemon.h"
#include "client/daemon/device.h"
#include "client/daemon/keep.h"
#include "client/daemon/manager.h"
#include "client/daemon/names.h"
#include "client/daemon/profiles.h"
#include "client/daemon/steps.h"
#include "client/daemon/tunnel.h"
#include "client/daemon/view.h"
#include "core/carrier/fallback.h"

#include <glib.h>

/* The profile's DNS: not set (or none to set); being set; set, as far as it could be. */
enum tunnel_dns { TUNNEL_DNS_NONE, TUNNEL_DNS_PENDING, TUNNEL_DNS_SET };

/* Of one peer, in the order of the profile. */
struct tunnel_peer {
	struct device_way way; /* as it was configured last */
	unsigned turn;         /* which of several addresses UDP takes */
	struct stats_rate rate;
	enum transport transport, before; /* that holds for it; and before the switch under way */
	enum fallback_memory memory;      /* as the engine was told last */
	bool retry_udp;                   /* as soon as the backend knows its new address */
};

struct speed_server;
struct second;

struct tunnel {
	struct daemon *daemon;
	const struct tunnel_events *events;
	void *user;
	char name[PROFILE_NAME_LEN];

	enum tunnel_phase phase;
	struct tunnel_wishes wishes;
	struct steps steps;
	struct rpc_error failure; /* why the step that failed did */

	struct profile given;             /* until it becomes `loaded`; of a managed tunnel */
	char managed_by[RPC_MANAGER_LEN]; /* "": it is ours */
	const struct client *owner;       /* of a managed one, while it is there */
	struct loaded loaded;             /* while not down */
	struct tunnel_peer *peers;
	struct names *names;
	const struct backend *backend;
	struct backend_run *run;
	bool kernel_link; /* run has an interface that outlives the daemon */
	uint32_t fwmark;
	enum tunnel_dns dns;
	bool claims_all;         /* it takes all traffic, so that no other one may */
	bool rules;              /* policy rules lead packets into the tunnel */
	bool rules_v4, rules_v6; /* of these families */
	bool probes_wait;        /* until it has an address */
	bool suspended;          /* but not now: the kill switch is open for a login */
	bool held;               /* the kill switch was on for it before this bring-up */
	bool keep_hold;          /* it stays on whatever comes */
	struct keep keep;        /* what is put back when somebody takes it away */
	bool no_ipv6;            /* IPv6 is switched off here, and that has been said */
	bool dns_within;         /* the call that sets DNS has not returned */
	bool dns_waits;          /* it is to be set when the kill switch is closed again */
	bool configured;         /* this engine has answered our configuration with "done" */
	bool restarted;          /* the engine that is being configured takes the place of one that died */
	bool queried;            /* an answer is under way */
	bool query_again;

	unsigned deaths;   /* of engines in a row */
	guint restart;     /* source: a new engine is due */
	guint trying_tcp;  /* source: tells the progress */
	struct mono lived; /* since when the engine runs */
	struct mono read;  /* when the view's numbers are from */

	struct speed_server *speed_server; /* NULL: it is off */
	struct asker *asker; /* from the first echo on */
	struct rpc_tunnel view;
	struct rpc_texts warnings;
	struct stats stats;

	struct second *second; /* while not down: the tunnel of the FallbackProfile; NULL: there is none */
	struct tunnel *first;  /* it is that of this one: second.h */
	bool parked;           /* the other one of the two carries: no routes, no rules, no DNS */
	char second_name[PROFILE_NAME_LEN]; /* its processes may end later */

	bool switching;
	enum transport switch_to;
	char switch_peer[RPC_KEY_LEN];
	guint switch_over; /* source */
	bool switch_alive; /* it was up when the switch began */
};

/* ---- tunnel.c ---- */
/* Says it with the answer to `up`, and in the status. */
void tunnel_warn(struct tunnel *tunnel, const char *text);
/* What was warned of is over. */
void tunnel_unwarn(struct tunnel *tunnel, const char *text);
/* Tells changed if the view differs from `before`, and logs a new state once. */
void tunnel_tell(struct tunnel *tunnel, const struct rpc_tunnel *before);
/* Goes on with the bring-up. */
void tunnel_step(struct tunnel *tunnel);

/* ---- up.c ---- */
extern const struct step tunnel_steps[];
extern const size_t tunnel_step_count;
/* Whom to ask inside whether packets pass. */
void tunnel_send_probes(struct tunnel *tunnel);
/* Sends what follows a configuration: probes, and the start. */
void tunnel_start_peers(struct tunnel *tunnel);
/* Configures the engine with everything. 0 or -errno. */
int tunnel_configure(struct tunnel *tunnel);

/* Sets the cause beside the failure that has been set; STEP_FAILED. */
enum step_result tunnel_fail(struct tunnel *tunnel, enum rpc_cause cause);

/* ---- up_keys.c ---- */
/* False, with the failure set, when a peer's key is our own. */
bool tunnel_keys_fit(struct tunnel *tunnel);
/* Warns when another tunnel that is up uses the same key for the same peer. */
void tunnel_warn_of_shared_key(struct tunnel *tunnel);
/* It is down: those that were warned of it are not any more. */
void tunnel_forget_shared_key(struct tunnel *tunnel);

/* ---- up_backend.c ---- */
/* Sets tunnel->backend, and in the view why. STEP_DONE or STEP_FAILED. */
enum step_result tunnel_choose_backend(struct tunnel *tunnel);

/* ---- up_lockdown.c ---- */
enum step_result tunnel_set_mark(void *context);
void tunnel_unset_mark(void *context);
enum step_result tunnel_set_kill_switch(void *context);
void tunnel_unset_kill_switch(void *context);
/* The kill switch into the view. */
void tunnel_show_kill_switch(struct tunnel *tunnel);

/* ---- up_network.c ---- */
/* The mark of the tunnel's own packets; 0: none is needed. May be asked again when more is known. */
uint32_t tunnel_choose_mark(const struct tunnel *tunnel);
/* Everything of that family goes through the tunnel, and we are to see to it. */
bool tunnel_takes_all(const struct tunnel *tunnel, enum ip_family family);
/* Some prefix of that family, routed by us, for which fits is true. */
bool tunnel_any_prefix(const struct tunnel *tunnel, enum ip_family family,
	bool (*fits)(const struct tunnel *tunnel, const struct ip_prefix *prefix));
/* Its route stands in a table of the tunnel's own, to which policy rules lead. */
bool tunnel_route_is_aside(const struct tunnel *tunnel, const struct ip_prefix *prefix);
/* What a kernel says of this prefix that has no IPv6, or has it switched off. */
bool tunnel_means_no_ipv6(const struct ip_prefix *prefix, int error);
/* The MTU that fits the ways there are now, if the profile leaves it to us. */
void tunnel_fit_mtu(struct tunnel *tunnel);
enum step_result tunnel_set_addresses(void *context);
/* One of them. 0 or -errno. */
int tunnel_add_address(struct tunnel *tunnel, const struct ip_prefix *address);
/* The route to this address's network is ours to set, as it must go to the other one of two as all routes do.
 */
bool tunnel_routes_network(const struct tunnel *tunnel, const struct ip_prefix *address);
enum step_result tunnel_set_link(void *context);
enum step_result tunnel_set_routes(void *context);
/* The route for this prefix of AllowedIPs, as it is to be now. */
struct net_route tunnel_route_of(const struct tunnel *tunnel, const struct ip_prefix *prefix);

/* ---- up_rules.c ---- */
enum step_result tunnel_set_rules(void *context);
void tunnel_unset_rules(void *context);
/* Those of the families that need them. 0 or -errno. */
int tunnel_add_rules(const struct tunnel *tunnel);
/* Marks what answers the carriers; tunnel->keep.answers says whether that works. */
void tunnel_let_answers_in(struct tunnel *tunnel);
/* A peer has moved: where it is now inside of a prefix of the tunnel's, that prefix's route goes aside. What
 * the backend is to be told of that is added to change. */
void tunnel_reroute(struct tunnel *tunnel, struct uapi_device *change);
/* Takes policy rules and DNS away for a time, or puts them back. */
void tunnel_suspend(struct tunnel *tunnel, bool suspended);

/* ---- managed.c ---- */
/* The profile that was given, into loaded. */
void tunnel_take_given(struct tunnel *tunnel);
/* Sets what the other program can not: further addresses, prefixes with tables of their own. STEP_DONE or
 * STEP_FAILED. */
enum step_result tunnel_set_further_addresses(struct tunnel *tunnel);
/* Whether the address of that index is left to the other program: the first of its family. */
bool tunnel_leaves_address(const struct tunnel *tunnel, size_t index);
/* Whether the route to this prefix is left to the other program. */
bool tunnel_leaves_route(const struct tunnel *tunnel, const struct ip_prefix *prefix);
/* The other program has taken its addresses away again: it is about to end the tunnel, and nothing is put back. */
bool tunnel_is_let_go(const struct tunnel *tunnel);

/* ---- up_dns.c ---- */
enum step_result tunnel_set_dns(void *context);
void tunnel_unset_dns(void *context);

/* ---- up_speed.c ---- */
enum step_result tunnel_set_speed_server(void *context);
void tunnel_unset_speed_server(void *context);

/* ---- alive.c ---- */
extern const struct backend_events tunnel_backend_events;
void tunnel_query(struct tunnel *tunnel);
/* Ends what it does beside. */
void tunnel_forget_timers(struct tunnel *tunnel);

/* ---- tunnel_ask.c ---- */
/* What the echoes say, into the view's peers; and of the worst of them into sample. */
void tunnel_read_echoes(struct tunnel *tunnel, struct mono now, struct rpc_sample *sample);

/* ---- ways.c ---- */
void tunnel_names_changed(void *user);
/* Fills in where the peers are by what the names stand for now. */
void tunnel_find_ways(struct tunnel *tunnel);
/* waiting[i]: see view_update. */
void tunnel_waiting(const struct tunnel *tunnel, bool *waiting);
/* Handshakes to this peer go unanswered: perhaps it is elsewhere. */
void tunnel_resolve(struct tunnel *tunnel, const uint8_t public_key[32]);
/* After new numbers: peers that are up are where they are, which is worth remembering; those that do not
 * answer may be elsewhere. */
void tunnel_look_at_names(struct tunnel *tunnel);
/* The backend has taken the addresses in that it was told. */
void tunnel_has_new_ways(struct tunnel *tunnel);
/* Tells the engine what this network did to UDP before; all: also where that is what it was told already. */
void tunnel_tell_memory(struct tunnel *tunnel, bool all);
void tunnel_remember(struct tunnel *tunnel, const uint8_t public_key[32], enum fallback_udp udp);
/* Whether this machine has a route to some place where a peer may be. */
bool tunnel_any_route(struct tunnel *tunnel);
/* "IPv6" or "IPv4": the peers have addresses of that family only, and this machine gets out by the other only. NULL: that is
 * not it. */
const char *tunnel_missing_family(struct tunnel *tunnel);

/* ---- trouble.c ---- */
/* It gets no answer: finds out whether a portal is in the way. True, with the view's cause set, if one is
 * known to be. */
bool tunnel_look_for_portal(struct tunnel *tunnel);
void tunnel_explain_portal(const struct tunnel *tunnel, char *out, size_t size);
/* A bring-up that somebody waits for ends here if the view's cause is a portal; then tunnel->failure is set.
 */
bool tunnel_stop_for_portal(struct tunnel *tunnel);
/* Its names are still being looked up. */
void tunnel_wait_for_names(struct tunnel *tunnel);

/* ---- switch.c ---- */
/* Whether the switch under way is over, by the numbers that have just come. */
void tunnel_switch_look(struct tunnel *tunnel);

#endif
