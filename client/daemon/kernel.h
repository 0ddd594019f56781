/* SPDX-License-Identifier: MIT */
/* What a backend in the kernel holds. Only for the files kernel*.c:
 *
 * - kernel.c: the tables of functions, its life, the network around it.
 * - kernel_configure.c: what is wanted of the interface and its peers.
 * - kernel_read.c: readings, and what is told from the loop.
 * - kernel_peer.c: one peer's fallback machine: from readings to events, from actions to the kernel.
 * - kernel_path.c: where the kernel sends a peer's packets: to it directly, or to the relay's loopback port.
 * - kernel_relay.c: the relay process.
 * - kernel_echo.c: ICMP echoes to a peer's ProbeAddress.
 * - kernel_native.c: an interface whose kernel speaks TCP itself (WGTCP): all peers move together.
 * - kernel_native_peer.c: one of them.
 * - kernel_feed.c: what counters tell.
 *
 * Main thread. The kernel tells nothing by itself, so it is read: often while something is being decided,
 * each second while packets flow, rarely when nothing does. */
#ifndef WGTCP_CLIENT_DAEMON_KERNEL_H
#define WGTCP_CLIENT_DAEMON_KERNEL_H

#include "client/daemon/backend.h"
#include "client/daemon/daemon.h"
#include "client/daemon/kernel_feed.h"
#include "core/carrier/fallback.h"
#include "core/carrier/fallback_wait.h"
#include "core/carrier/kernel_switch.h"
#include "core/port/echo.h"
#include "core/port/kernel_tunnel.h"
#include "core/port/net_config.h"
#include "core/port/relay_front.h"

#include <glib.h>

#define KERNEL_PINGS 16
/* What the relay tells of a message comes within this after the kernel has counted it. */
#define KERNEL_HEARSAY_MS 250

enum kernel_path {
	KERNEL_PATH_NONE,   /* the kernel knows no endpoint yet */
	KERNEL_PATH_DIRECT, /* to the peer, by the kernel's own UDP, or TCP where the interface is native */
	KERNEL_PATH_RELAY_UDP,
	KERNEL_PATH_RELAY_TCP,
	KERNEL_PATH_RELAY_BOTH, /* a trial of UDP while TCP carries */
};

/* What goes out at once on a new path. */
enum kernel_urge {
	KERNEL_QUIET,
	KERNEL_NUDGE, /* a keepalive */
	KERNEL_ANEW,  /* the kernel's peer is made anew: it sends an initiation */
};

struct kernel_ping {
	uint64_t id;                       /* 0: free */
	struct mono sent, again, answered; /* again: when it was sent last */
	bool full;
	size_t size; /* of the message that carries it */
};

/* To be done from the loop, not from within what found it out. */
enum { KERNEL_DUE_DIAL_FAILED = 1, KERNEL_DUE_CONNECTED = 2, KERNEL_DUE_CLOSED = 4, KERNEL_DUE_RESOLVE = 8 };

struct kernel_peer {
	struct backend_run *run;
	struct uapi_peer want;    /* as it was configured; owns its allowed IPs */
	struct fallback *machine; /* NULL: the peer calls us */
	enum fallback_memory memory;
	struct ip_address probe_source, probe_target; /* unset: none */
	uint32_t due;

	enum kernel_path path;
	bool relayed, outer; /* the relay has it; and a UDP socket towards it */
	bool stream;         /* the relay has a stream, or one is being dialled */
	uint16_t loopback_port;
	struct mono anew;      /* the kernel's peer was made anew, and there is no session yet; else unset */
	bool copied;           /* the relay has sent that initiation by TCP too */
	bool bare;             /* native: the kernel's peer has nothing but its endpoint yet */
	unsigned unanswered;   /* initiations in a row */
	struct mono udp_since; /* data goes by UDP, though still by the relay */

	/* By carrier, since it was last told to the machine: what the relay says of messages that came. */
	bool heard[3], answered[3];
	bool udp_in_trial; /* something came by UDP since the trial began */
	uint16_t udp_largest;

	struct kernel_counts last;
	struct mono read;
	uint64_t rx_before, tx_before; /* of the kernel's earlier peers of this key */
	uint64_t handshake_s, own_tx;  /* own_tx: bytes of our echoes since the last reading */
	bool session_waits, received_waits, data_waits;
	struct mono waits_since;
	struct mono received_at;
	uint32_t rtt_us;

	struct kernel_ping pings[KERNEL_PINGS];
	size_t next_ping;
};

/* An interface that speaks TCP itself. */
struct kernel_native {
	bool used;
	enum transport transport; /* of the interface: UDP or TCP */
	struct kernel_switch machine;
	bool switching, resting; /* resting: the first time, before the peers are set */
	struct mono due;
	struct mono moved_at; /* to the carrier that there is; unset: it was never another */
	bool trial;           /* UDP is on trial until due */
	struct mono trial_at; /* the next one; MONO_NEVER */
	struct udp_return schedule;
	struct jitter jitter;
};

struct backend_run {
	struct daemon *daemon;
	const struct backend_events *events;
	void *user;
	char interface[16];
	uint32_t index;
	struct kernel_tunnel *kernel;
	struct net_watch *watch;
	guint watch_source, timer, soon, settle;

	struct uapi_device config; /* without its peers */
	struct kernel_peer *peers;
	size_t peer_count;
	uint16_t port;        /* on which the kernel listens now */
	struct mono port_due; /* when it is to be the configured one again; MONO_NEVER */
	bool started, offline;
	struct kernel_native native;

	struct relay_front *relay; /* NULL: none runs */
	guint relay_source;
	uint32_t relay_child;
	bool relay_missing; /* it could not be started */

	struct echo *echo[2]; /* IPv4, IPv6 */
	guint echo_source[2];

	struct mono now, polled, busy_until, active_at;
	int configured; /* what soon is to answer; valid if configured_due */
	bool configured_due, answer_due, report_due;
	bool telling, dead; /* destroyed while events are told: freed after them */
};

/* ---- kernel_read.c ---- */
/* Has `due` and the like looked at from the loop. */
void kernel_soon(struct backend_run *run);
/* Something is under way: the kernel is read often for a while. */
void kernel_busy(struct backend_run *run);
/* Forgets what was counted of the peer, since the kernel's is a new one. */
void kernel_counts_anew(struct kernel_peer *peer);
/* Reads the kernel and tells the machines. 0 or -errno. */
int kernel_read(struct backend_run *run);

/* ---- kernel_configure.c ---- */
int kernel_configure(struct backend_run *run, const struct uapi_device *device);
void kernel_free_peers(struct backend_run *run);
struct kernel_peer *kernel_find(struct backend_run *run, const uint8_t public_key[UAPI_KEY_LEN]);
/* Sets device's peers. 0 or -errno. */
int kernel_set(struct backend_run *run, const struct uapi_device *device);
/* How much of a called peer is set. */
enum kernel_extent {
	KERNEL_SILENT, /* all but its endpoint and keepalive */
	KERNEL_BARE,   /* its endpoint alone */
	KERNEL_WHOLE,
};
/* All peers in place of those that the kernel has; those that call us are whole at once. */
int kernel_set_peers(struct backend_run *run, enum kernel_extent extent);
/* Appends what is wanted of this peer. False when memory is short. */
bool kernel_add_wanted(
	struct uapi_device *device, const struct kernel_peer *peer, const struct endpoint *endpoint);
/* The same without allowed IPs: nothing that flows makes the kernel speak to it. */
bool kernel_add_bare(
	struct uapi_device *device, const struct kernel_peer *peer, const struct endpoint *endpoint);
/* Appends a keepalive, sent at once. */
bool kernel_add_nudge(struct uapi_device *device, const struct kernel_peer *peer);

/* ---- kernel_peer.c ---- */
bool kernel_peer_is_called(const struct kernel_peer *peer);
void kernel_peer_event(struct kernel_peer *peer, enum fallback_event_kind kind, enum carrier carrier);
void kernel_peer_step(struct kernel_peer *peer, const struct fallback_event *event);
void kernel_peer_settings(struct kernel_peer *peer);
/* A stream has been connected: where a session lives by it, something goes out at once, since a relay in front of the server
 * learns only so whose it is. */
void kernel_peer_greet(struct kernel_peer *peer);
void kernel_peer_take(struct kernel_peer *peer, const struct uapi_peer *in);
/* What waited for the relay's word. */
void kernel_peer_deliver(struct kernel_peer *peer);
void kernel_peer_due(struct kernel_peer *peer);
void kernel_peer_turn(struct kernel_peer *peer);

/* ---- kernel_path.c ---- */
enum carrier kernel_path_carrier(const struct kernel_peer *peer);
/* 0 or -errno, and then the path is what it was. */
int kernel_path_go(struct kernel_peer *peer, enum kernel_path path, enum kernel_urge urge);
/* The endpoint has another address now. */
void kernel_path_refresh(struct kernel_peer *peer);
/* The kernel listens on its configured port again. */
void kernel_path_port_back(struct backend_run *run);
/* An answer that came late can lead the kernel past the relay: back. in: as the kernel has the peer. */
void kernel_path_hold(struct kernel_peer *peer, const struct uapi_peer *in);

/* ---- kernel_relay.c ---- */
/* Starts it unless it runs, and gives it the peer. 0 or -errno. */
int kernel_relay_take(struct kernel_peer *peer);
void kernel_relay_drop(struct kernel_peer *peer);
int kernel_relay_dial(struct kernel_peer *peer);
void kernel_relay_hang_up(struct kernel_peer *peer);
void kernel_relay_close(struct backend_run *run);

/* ---- kernel_echo.c ---- */
void kernel_echo_send(struct kernel_peer *peer, uint64_t id, bool full);
/* Repeats what a trial of UDP waits for: one lost packet, or one that was overtaken, shall not decide. */
void kernel_echo_repeat(struct kernel_peer *peer);
/* Replies that waited for the relay's word. */
void kernel_echo_deliver(struct kernel_peer *peer);
void kernel_echo_close(struct backend_run *run);

/* ---- kernel_native.c ---- */
int kernel_native_configure(struct backend_run *run);
void kernel_native_start(struct backend_run *run);
/* The peers' transports have changed. */
void kernel_native_wishes(struct backend_run *run);
void kernel_native_retry_udp(struct backend_run *run);
void kernel_native_network_changed(struct backend_run *run);
struct mono kernel_native_deadline(const struct backend_run *run);
void kernel_native_turn(struct backend_run *run);

/* ---- kernel_native_peer.c ---- */
/* Gives the peer its allowed IPs and its keepalive. */
void kernel_native_dress(struct kernel_peer *peer);
/* A session stands. */
void kernel_native_session(struct kernel_peer *peer);
/* The carrier has just been changed, and the peer has not answered on it yet. */
bool kernel_native_is_moving(const struct kernel_peer *peer);
/* Instead of what kernel_peer.c does with these actions. */
void kernel_native_act(struct kernel_peer *peer, const struct fallback_action *action);

#endif
