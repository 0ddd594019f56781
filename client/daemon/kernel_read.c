/* SPDX-License-Identifier: MIT */
/* When the kernel is read, what is told of it, and all that is done later, from the loop. */
#include "client/daemon/kernel.h"

#include <string.h>
#include <time.h>

/* How often the kernel is read. */
/* A peer whose session brings its allowed IPs back (kernel_native.c): traffic waits for that. */
#define POLL_BARE_MS 10
#define POLL_BUSY_MS 50
#define POLL_ACTIVE_MS 1000
#define POLL_IDLE_MS 10000
/* After something happened, and after the last packet. */
#define BUSY_MS 1000
#define ACTIVE_MS 30000
/* A handshake that is under way for longer is waited for with less zeal. */
#define PATIENCE_MS 10000
#define SESSION_S 180 /* docs/wire.md section 1 */

/* ---- reading ---- */

void kernel_counts_anew(struct kernel_peer *peer)
{
	peer->rx_before += peer->last.rx_bytes;
	peer->tx_before += peer->last.tx_bytes;
	peer->last = (struct kernel_counts){ 0 };
	peer->own_tx = 0;
	peer->session_waits = peer->received_waits = peer->data_waits = false;
}

static int read_into(struct backend_run *run, struct uapi_device *device)
{
	int error = kernel_tunnel_get(run->kernel, run->interface, device);
	size_t i;

	run->now = daemon_now();
	run->polled = run->now;
	if (error)
		return error;
	if (device->listen_port)
		run->port = device->listen_port;
	for (i = 0; i < device->peer_count; i++) {
		struct kernel_peer *peer = kernel_find(run, device->peers[i].public_key);

		if (peer)
			kernel_peer_take(peer, &device->peers[i]);
	}
	return 0;
}

int kernel_read(struct backend_run *run)
{
	struct uapi_device device = { 0 };
	int error = read_into(run, &device);

	uapi_device_free(&device);
	return error;
}

static void put_words(struct uapi_peer *out, const struct kernel_peer *peer)
{
	const struct fallback *machine = peer->machine;
	bool lives = peer->handshake_s && (uint64_t)time(NULL) - peer->handshake_s < SESSION_S;

	g_strlcpy(out->state,
		fallback_state_name(machine ? fallback_state(machine)
				    : lives ? FALLBACK_STATE_UP
					    : FALLBACK_STATE_DOWN),
		sizeof(out->state));
	g_strlcpy(out->cause, fallback_cause_name(machine ? fallback_cause(machine) : FALLBACK_CAUSE_NONE),
		sizeof(out->cause));
	g_strlcpy(out->reason,
		fallback_reason_name(machine ? fallback_reason(machine) : FALLBACK_REASON_NONE),
		sizeof(out->reason));
	g_strlcpy(out->verified,
		fallback_verified_name(machine ? fallback_verified(machine)
				       : lives ? FALLBACK_VERIFIED_HANDSHAKE
					       : FALLBACK_VERIFIED_NONE),
		sizeof(out->verified));
	g_strlcpy(out->udp_state,
		fallback_udp_name(machine ? fallback_udp(machine)
				  : lives ? FALLBACK_UDP_OK
					  : FALLBACK_UDP_UNKNOWN),
		sizeof(out->udp_state));
	if (machine)
		out->carrier = fallback_carrier(machine);
	else if (!lives)
		out->carrier = CARRIER_NONE;
	/* Neither lost nor there yet. */
	if (kernel_native_is_moving(peer)) {
		g_strlcpy(out->state, fallback_state_name(FALLBACK_STATE_VERIFYING), sizeof(out->state));
		out->carrier = CARRIER_NONE;
	}
}

/* Where the peer is, not where the relay is. */
static void put_endpoint(struct uapi_peer *out, const struct kernel_peer *peer)
{
	if (!peer->machine)
		return;
	if (out->carrier == CARRIER_TCP && peer->want.tcp_endpoint_count) {
		out->has_endpoint = true;
		out->endpoint = peer->want.tcp_endpoints[0];
	} else if (peer->path != KERNEL_PATH_DIRECT || !out->has_endpoint) {
		out->has_endpoint = endpoint_is_set(&peer->want.endpoint);
		out->endpoint = peer->want.endpoint;
	}
}

static void answer(struct backend_run *run)
{
	struct uapi_device device = { 0 };
	int error = read_into(run, &device);
	size_t i;

	for (i = 0; i < device.peer_count && !error; i++) {
		struct uapi_peer *out = &device.peers[i];
		const struct kernel_peer *peer = kernel_find(run, out->public_key);

		if (!peer)
			continue;
		put_words(out, peer);
		put_endpoint(out, peer);
		out->rx_bytes = peer->rx_before + peer->last.rx_bytes;
		out->tx_bytes = peer->tx_before + peer->last.tx_bytes;
		out->last_handshake_s = peer->handshake_s;
		out->rtt_us = peer->rtt_us;
	}
	run->events->answered(error, error ? NULL : &device, run->user);
	uapi_device_free(&device);
}

/* ---- time ---- */

void kernel_busy(struct backend_run *run)
{
	run->busy_until = mono_add_ms(run->now, BUSY_MS);
}

static bool is_settled(const struct kernel_peer *peer, struct mono now)
{
	if (mono_is_set(peer->anew) && mono_since_ms(now, peer->anew) < PATIENCE_MS)
		return false;
	if (!peer->machine)
		return true;
	return fallback_state(peer->machine) != FALLBACK_STATE_VERIFYING && !peer->session_waits &&
	       !peer->received_waits;
}

static uint64_t poll_interval_ms(const struct backend_run *run)
{
	size_t i;

	for (i = 0; i < run->peer_count; i++)
		if (run->peers[i].bare)
			return POLL_BARE_MS;
	if (!mono_reached(run->now, run->busy_until))
		return POLL_BUSY_MS;
	for (i = 0; i < run->peer_count; i++)
		if (!is_settled(&run->peers[i], run->now))
			return POLL_BUSY_MS;
	return mono_since_ms(run->now, run->active_at) < ACTIVE_MS ? POLL_ACTIVE_MS : POLL_IDLE_MS;
}

static void turn(struct backend_run *run);

static gboolean on_timer(gpointer user)
{
	struct backend_run *run = user;

	run->timer = 0;
	run->now = daemon_now();
	turn(run);
	return G_SOURCE_REMOVE;
}

static void schedule(struct backend_run *run)
{
	struct mono due;
	size_t i;
	uint64_t ms;

	if (run->timer)
		g_source_remove(run->timer);
	run->timer = 0;
	if (!run->started)
		return;
	due = mono_min(mono_add_ms(run->polled, poll_interval_ms(run)), run->port_due);
	due = mono_min(due, kernel_native_deadline(run));
	for (i = 0; i < run->peer_count; i++)
		if (run->peers[i].machine)
			due = mono_min(due, fallback_deadline(run->peers[i].machine));
	/* Rounded up: woken too early, nothing would be due. */
	ms = due.ns > run->now.ns ? (due.ns - run->now.ns + 999999) / 1000000 : 1;
	run->timer = g_timeout_add(ms < G_MAXINT ? (guint)ms : G_MAXINT, on_timer, run);
}

static void turn(struct backend_run *run)
{
	size_t i;

	if (mono_reached(run->now, run->port_due))
		kernel_path_port_back(run);
	if (mono_since_ms(run->now, run->polled) >= poll_interval_ms(run))
		kernel_read(run);
	kernel_native_turn(run);
	for (i = 0; i < run->peer_count; i++)
		kernel_peer_turn(&run->peers[i]);
	schedule(run);
}

/* ---- what is told from the loop ---- */

static void tell_resolve(struct backend_run *run)
{
	uint8_t key[UAPI_KEY_LEN];
	size_t i;

	for (i = 0; !run->dead && i < run->peer_count; i++) {
		if (!(run->peers[i].due & KERNEL_DUE_RESOLVE))
			continue;
		run->peers[i].due &= ~(uint32_t)KERNEL_DUE_RESOLVE;
		memcpy(key, run->peers[i].want.public_key, sizeof(key));
		run->events->resolve(key, run->user);
	}
}

static void tell(struct backend_run *run)
{
	size_t i;

	for (i = 0; i < run->peer_count; i++)
		kernel_peer_due(&run->peers[i]);
	if (run->configured_due) {
		run->configured_due = false;
		run->events->configured(run->configured, run->user);
	}
	tell_resolve(run);
	if (!run->dead && run->report_due) {
		run->report_due = false;
		run->events->peer_changed(run->user);
	}
	if (!run->dead && run->answer_due) {
		run->answer_due = false;
		answer(run);
	}
}

static gboolean on_soon(gpointer user)
{
	struct backend_run *run = user;

	run->soon = 0;
	run->now = daemon_now();
	run->telling = true;
	tell(run);
	run->telling = false;
	if (run->dead)
		g_free(run);
	else
		schedule(run);
	return G_SOURCE_REMOVE;
}

void kernel_soon(struct backend_run *run)
{
	if (!run->soon)
		run->soon = g_idle_add_full(G_PRIORITY_DEFAULT, on_soon, run, NULL);
}
