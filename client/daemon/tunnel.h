/* SPDX-License-Identifier: MIT */
/* One tunnel: down, being brought up, or running; kept alive while it runs. Main thread, GLib main loop.
 *
 * Files: tunnel_state.h (what it holds), tunnel.c (its life), up.c and up_*.c
 * (the steps of a bring-up), alive.c (numbers, states, engine deaths), tunnel_ask.c (inner echoes), trouble.c
 * (sleep, portals), ways.c (names and addresses of peers), switch.c (moving to another carrier), second*.c and
 * carry.c (a FallbackProfile). manager.c owns all tunnels. */
#ifndef WGTCP_CLIENT_DAEMON_TUNNEL_H
#define WGTCP_CLIENT_DAEMON_TUNNEL_H

#include "client/daemon/ask.h"
#include "client/daemon/stats.h"
#include "client/rpc/types.h"

struct client;
struct daemon;
struct profile;
struct tunnel;

enum tunnel_phase { TUNNEL_DOWN, TUNNEL_STARTING, TUNNEL_RUNNING };

/* What holds for one run and overrides the profile. */
struct tunnel_wishes {
	bool has_transport, has_backend;
	bool persistent; /* nobody waits for it: it is never given up (AutoConnect) */
	enum transport transport;
	enum rpc_backend_choice backend;
	/* Another program's tunnel (managed.c): its profile, which tunnel_up takes over and leaves empty; who
	 * it says it is; and the connection with which the tunnel ends. given NULL: an ordinary one. */
	struct profile *given;
	const char *managed_by;
	const struct client *owner;
};

/* Called from the main loop, or from within tunnel_up, tunnel_down and tunnel_switch. The tunnel is not freed
 * in them. */
struct tunnel_events {
	void (*changed)(struct tunnel *tunnel, void *user); /* tunnel_view is different */
	void (*read)(struct tunnel *tunnel, void *user);    /* its numbers are fresh, after tunnel_poll */
	void (*progress)(struct tunnel *tunnel, enum rpc_step step, const char *detail, void *user);
	/* The bring-up is over: error NULL: it is up. Else nothing of it is left. */
	void (*decided)(struct tunnel *tunnel, const struct rpc_error *error, void *user);
	/* A tunnel_switch is over; it moved, or it stays where it was. */
	void (*switched)(struct tunnel *tunnel, const struct rpc_error *error, void *user);
};

struct tunnel *tunnel_new(
	struct daemon *daemon, const char *name, const struct tunnel_events *events, void *user);
/* Takes it down first, without telling. NULL is allowed. */
void tunnel_free(struct tunnel *tunnel);

const char *tunnel_name(const struct tunnel *tunnel);
enum tunnel_phase tunnel_phase(const struct tunnel *tunnel);
const struct rpc_tunnel *tunnel_view(const struct tunnel *tunnel);
const struct stats *tunnel_stats(const struct tunnel *tunnel);
bool tunnel_is_persistent(const struct tunnel *tunnel);
/* What to say with the answer to `up`. Borrowed. */
const struct rpc_texts *tunnel_warnings(const struct tunnel *tunnel);

/* From TUNNEL_DOWN. events->decided follows, maybe before this returns. */
void tunnel_up(struct tunnel *tunnel, const struct tunnel_wishes *wishes);
/* Another program has given its profile, and sets its addresses and DNS. */
bool tunnel_is_managed(const struct tunnel *tunnel);
/* The prefixes whose routes are left to that program, on the heap (g_strfreev's form in items); none: all
 * zero. */
struct rpc_texts tunnel_left_routes(const struct tunnel *tunnel);
/* Whose it is; NULL: nobody's. */
const struct client *tunnel_owner(const struct tunnel *tunnel);
/* Takes it down whatever it does; nothing of it is left when this returns, but for a process that is ending.
 * With an error, that is why: the state is then failed, else down. events->decided is called if it was being
 * brought up (error NULL: RPC_CODE_CANCELLED). */
void tunnel_down(struct tunnel *tunnel, const struct rpc_error *error);
/* One that is up is asked for again: says so when its profile is not what it was. */
void tunnel_warn_if_changed(struct tunnel *tunnel);
/* What a bring-up that takes too long is to be answered with. */
void tunnel_timeout_error(const struct tunnel *tunnel, uint32_t timeout_ms, struct rpc_error *error);
/* Adds to why it ended that nothing leaves the machine all the same, if that is so. */
void tunnel_tell_hold(const struct tunnel *tunnel, struct rpc_error *why);
/* Some peer is up, though others are not decided yet: a bring-up that takes too long may count as done. Then
 * events->decided is called and it is true. */
bool tunnel_settle_for_less(struct tunnel *tunnel);

/* While TUNNEL_RUNNING. peer: base64 of its key, or "" for all. events->switched follows. */
void tunnel_switch(struct tunnel *tunnel, enum transport transport, const char *peer);

/* Addresses, routes or links of this machine have changed. */
void tunnel_network_changed(struct tunnel *tunnel);
/* The mark of its own packets outside, or 0. */
uint32_t tunnel_mark(const struct tunnel *tunnel);
/* It takes all traffic, or is about to. */
bool tunnel_is_full(const struct tunnel *tunnel);
/* The kill switch has been opened, closed or ended. */
void tunnel_lockdown_changed(struct tunnel *tunnel);
/* It has an interface in the kernel that would outlive the daemon. */
bool tunnel_has_kernel_link(const struct tunnel *tunnel);
/* Its index; 0: not known yet. */
uint32_t tunnel_kernel_link(const struct tunnel *tunnel);
/* This machine has slept. */
void tunnel_resumed(struct tunnel *tunnel);
/* portal_is_captive is different. */
void tunnel_portal_changed(struct tunnel *tunnel);
/* 0: it has none. */
uint32_t tunnel_interface_index(const struct tunnel *tunnel);
/* The policy rules that it has set would outlive the daemon: their mark, or 0. */
uint32_t tunnel_rules_mark(const struct tunnel *tunnel);
/* When tunnel_view's numbers were read last. */
struct mono tunnel_read_at(const struct tunnel *tunnel);
/* Asks the backend for its numbers; each answer adds a sample. */
void tunnel_poll(struct tunnel *tunnel);
/* Sends the inner echoes that are due: only while somebody watches, or the carrier is in doubt. */
void tunnel_ask(struct tunnel *tunnel);
/* Whom to ask inside, and which address of ours asks. False: that peer has no address inside. */
bool tunnel_inside(
	const struct tunnel *tunnel, size_t peer, struct ip_address *source, struct ip_address *target);
/* For a speed test: one echo to that peer now; see asker_probe. False: it has no interface. */
bool tunnel_probe(struct tunnel *tunnel, size_t peer, ask_decided *decided, void *user);
/* Of its own interface; a FallbackProfile is a tunnel of its own. */
void tunnel_quiet(struct tunnel *tunnel);
/* A tunnel_switch is under way. */
bool tunnel_is_switching(const struct tunnel *tunnel);
/* It serves as the FallbackProfile of that tunnel, under whose name all is told; else NULL. */
const struct tunnel *tunnel_lent_to(const struct tunnel *tunnel);
/* Itself, or its FallbackProfile while that carries it. */
const struct tunnel *tunnel_in_use(const struct tunnel *tunnel);
/* Some process of it is still there. */
bool tunnel_has_children(const struct tunnel *tunnel);
/* It is not where it should be, so somebody may be waiting for it to change. */
bool tunnel_unsettled(const struct tunnel *tunnel);

#endif
