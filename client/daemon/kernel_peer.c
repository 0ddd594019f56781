/* SPDX-License-Identifier: MIT */
/* One peer's fallback machine beside the kernel. What the machine asks for is done at once; what that leads
 * to is told to it later, from the loop. */
#include "client/daemon/kernel.h"

#include "core/crypto/crypto.h"

#include <string.h>

/* An initiation this old is not copied to TCP any more: the kernel has made another one. */
#define COPY_MS 5000
/* Data flows, or did just now. */
#define ACTIVE_MS 1000
/* The relay leaves the path when nothing has come for so long, or after this in any case. */
#define LEAVE_QUIET_MS 60
#define LEAVE_AT_LAST_MS 1000
/* So many initiations without an answer: perhaps the peer is elsewhere. */
#define RESOLVE_AFTER 3

bool kernel_peer_is_called(const struct kernel_peer *peer)
{
	return endpoint_is_set(&peer->want.endpoint) || peer->want.tcp_endpoint_count;
}

static bool is_up(const struct kernel_peer *peer)
{
	enum fallback_state state = fallback_state(peer->machine);

	return state == FALLBACK_STATE_UP || state == FALLBACK_STATE_DEGRADED;
}

static bool on_tcp(const struct kernel_peer *peer)
{
	return peer->path == KERNEL_PATH_RELAY_TCP || peer->path == KERNEL_PATH_RELAY_BOTH;
}

/* ---- from the machine to the kernel ---- */

static void count_initiation(struct kernel_peer *peer)
{
	if (++peer->unanswered % RESOLVE_AFTER == 0)
		peer->due |= KERNEL_DUE_RESOLVE;
}

static void initiate_udp(struct kernel_peer *peer)
{
	bool active = mono_is_set(peer->received_at) &&
		      mono_since_ms(peer->run->now, peer->received_at) < ACTIVE_MS;

	/* A trial without an echo target. While data flows it tells by itself; a new session would only
	 * disturb it. */
	if (fallback_carrier(peer->machine) == CARRIER_TCP && is_up(peer)) {
		kernel_path_go(peer, KERNEL_PATH_RELAY_BOTH, active ? KERNEL_NUDGE : KERNEL_ANEW);
		return;
	}
	count_initiation(peer);
	if (peer->want.transport != TRANSPORT_UDP && !(peer->path == KERNEL_PATH_DIRECT && is_up(peer)) &&
		kernel_path_go(peer, KERNEL_PATH_RELAY_UDP, KERNEL_ANEW) == 0)
		return;
	kernel_path_go(peer, KERNEL_PATH_DIRECT, KERNEL_ANEW);
}

static void initiate_tcp(struct kernel_peer *peer)
{
	bool waits = mono_is_set(peer->anew) && mono_since_ms(peer->run->now, peer->anew) < COPY_MS;

	count_initiation(peer);
	/* The relay has the kernel's initiation, which UDP has not answered, and sends it again by TCP. If
	 * that had arrived, and only its answer was lost, the copy is a replay: the machine asks for a fresh
	 * one soon. */
	if (peer->path == KERNEL_PATH_RELAY_UDP && waits && !peer->copied) {
		if (kernel_path_go(peer, KERNEL_PATH_RELAY_TCP, KERNEL_QUIET) == 0)
			peer->copied = true;
		return;
	}
	kernel_path_go(peer, KERNEL_PATH_RELAY_TCP, KERNEL_ANEW);
}

static void nudge_tcp(struct kernel_peer *peer)
{
	/* A trial that made the kernel's peer anew, in vain. */
	kernel_path_go(peer, KERNEL_PATH_RELAY_TCP, mono_is_set(peer->anew) ? KERNEL_ANEW : KERNEL_NUDGE);
}

static void nudge_udp(struct kernel_peer *peer)
{
	kernel_path_go(peer, on_tcp(peer) ? KERNEL_PATH_RELAY_UDP : peer->path, KERNEL_NUDGE);
}

static void send_echo(struct kernel_peer *peer, const struct fallback_echo *echo)
{
	if (echo->carrier == CARRIER_UDP && peer->path == KERNEL_PATH_RELAY_TCP)
		kernel_path_go(peer, KERNEL_PATH_RELAY_BOTH, KERNEL_QUIET);
	else if (echo->carrier == CARRIER_TCP && !on_tcp(peer))
		kernel_path_go(peer, KERNEL_PATH_RELAY_TCP, KERNEL_QUIET);
	kernel_echo_send(peer, echo->id, echo->full);
}

static void move(struct kernel_peer *peer)
{
	switch (fallback_carrier(peer->machine)) {
	case CARRIER_NONE:
		break;
	case CARRIER_UDP:
		if (on_tcp(peer))
			kernel_path_go(peer, KERNEL_PATH_RELAY_UDP, KERNEL_QUIET);
		break;
	case CARRIER_TCP:
		if (peer->path != KERNEL_PATH_RELAY_TCP)
			kernel_path_go(peer, KERNEL_PATH_RELAY_TCP, KERNEL_QUIET);
		break;
	}
}

/* In the order of the bits, but that the path is moved first: what is sent goes where data goes. */
static void act(struct kernel_peer *peer, const struct fallback_action *action)
{
	size_t i;

	if (action->what & FALLBACK_CARRIER)
		move(peer);
	if (action->what & FALLBACK_INITIATE_UDP)
		initiate_udp(peer);
	if (action->what & FALLBACK_INITIATE_TCP)
		initiate_tcp(peer);
	if (action->what & FALLBACK_DIAL_TCP && kernel_relay_dial(peer) != 0)
		peer->due |= KERNEL_DUE_DIAL_FAILED;
	if (action->what & FALLBACK_CLOSE_TCP)
		kernel_relay_hang_up(peer);
	if (action->what & FALLBACK_NUDGE_TCP)
		nudge_tcp(peer);
	if (action->what & FALLBACK_NUDGE_UDP)
		nudge_udp(peer);
	for (i = 0; i < action->echo_count; i++)
		send_echo(peer, &action->echoes[i]);
}

void kernel_peer_step(struct kernel_peer *peer, const struct fallback_event *event)
{
	struct backend_run *run = peer->run;
	struct fallback_action action = fallback_step(peer->machine, event, run->now);

	if (!action.what)
		return;
	if (run->native.used)
		kernel_native_act(peer, &action);
	else
		act(peer, &action);
	if (action.what & FALLBACK_REPORT)
		run->report_due = true;
	if (action.what & FALLBACK_REMEMBER)
		run->events->remember(peer->want.public_key, fallback_udp(peer->machine), run->user);
	kernel_busy(run);
	kernel_soon(run);
}

void kernel_peer_event(struct kernel_peer *peer, enum fallback_event_kind kind, enum carrier carrier)
{
	struct fallback_event event = { .kind = kind, .carrier = carrier };

	if (peer->machine)
		kernel_peer_step(peer, &event);
}

void kernel_peer_greet(struct kernel_peer *peer)
{
	if (peer->path == KERNEL_PATH_RELAY_TCP && fallback_carrier(peer->machine) == CARRIER_TCP &&
		is_up(peer))
		kernel_path_go(peer, KERNEL_PATH_RELAY_TCP, KERNEL_NUDGE);
}

void kernel_peer_settings(struct kernel_peer *peer)
{
	const struct kernel_native *native = &peer->run->native;
	struct fallback_settings settings = { .transport =
						      native->used ? native->transport : peer->want.transport,
		.udp = endpoint_is_set(&peer->want.endpoint),
		.tcp = peer->want.tcp_endpoint_count != 0,
		.memory = peer->memory };
	struct fallback_event event = { .kind = FALLBACK_SETTINGS, .settings = &settings };

	if (!kernel_peer_is_called(peer))
		return;
	random_fill(&settings.seed, sizeof(settings.seed));
	if (peer->machine)
		kernel_peer_step(peer, &event);
	else
		peer->machine = fallback_new(&settings);
}

/* ---- from the kernel to the machine ---- */

static void tell_session(struct kernel_peer *peer, enum carrier carrier)
{
	peer->session_waits = false;
	peer->anew = MONO_UNSET;
	peer->copied = false;
	peer->unanswered = 0;
	peer->answered[CARRIER_UDP] = peer->answered[CARRIER_TCP] = false;
	kernel_native_session(peer);
	kernel_peer_event(peer, FALLBACK_RESPONSE, carrier);
}

static void tell_received(struct kernel_peer *peer, enum carrier carrier)
{
	struct fallback_event event = {
		.kind = FALLBACK_RECEIVED, .carrier = carrier, .handshake = !peer->data_waits
	};

	kernel_peer_step(peer, &event);
}

/* Something came by UDP while it is on trial without an echo: that is the answer. */
static void tell_trial(struct kernel_peer *peer)
{
	if (peer->path == KERNEL_PATH_RELAY_BOTH && peer->udp_in_trial)
		kernel_peer_event(peer, FALLBACK_SUPERSEDED, CARRIER_UDP);
}

void kernel_peer_deliver(struct kernel_peer *peer)
{
	bool direct = peer->path == KERNEL_PATH_DIRECT || peer->path == KERNEL_PATH_NONE;
	bool late = direct || mono_since_ms(peer->run->now, peer->waits_since) >= KERNEL_HEARSAY_MS;
	bool told = false;

	if (peer->session_waits) {
		if (!direct && (peer->answered[CARRIER_UDP] || peer->answered[CARRIER_TCP]))
			tell_session(peer, peer->answered[CARRIER_UDP] ? CARRIER_UDP : CARRIER_TCP);
		else if (late)
			tell_session(peer, kernel_path_carrier(peer));
	}
	if (!peer->received_waits)
		return;
	for (enum carrier carrier = CARRIER_UDP; carrier <= CARRIER_TCP && !direct; carrier++)
		if (peer->heard[carrier]) {
			peer->heard[carrier] = false;
			told = true;
			tell_received(peer, carrier);
		}
	if (told)
		tell_trial(peer);
	else if (late)
		tell_received(peer, kernel_path_carrier(peer));
	if (told || late)
		peer->received_waits = peer->data_waits = false;
}

void kernel_peer_take(struct kernel_peer *peer, const struct uapi_peer *in)
{
	struct backend_run *run = peer->run;
	struct kernel_counts counts = kernel_counts_of(in), before = peer->last;
	struct kernel_news news;

	if (peer->machine && !run->native.used)
		kernel_path_hold(peer, in);
	/* Our own echoes say nothing about whether anybody wants something. */
	if (counts.tx_bytes >= before.tx_bytes + peer->own_tx)
		before.tx_bytes += peer->own_tx;
	peer->own_tx = 0;
	news = kernel_feed(&before, &counts, peer->want.keepalive_s,
		mono_is_set(peer->read) ? mono_since_ms(run->now, peer->read) : 0);
	peer->last = counts;
	peer->read = run->now;
	if (counts.handshake_s)
		peer->handshake_s = counts.handshake_s;
	if (news.received || news.asked)
		run->active_at = run->now;
	if (!peer->machine)
		return;
	if ((news.session || news.received) && !peer->session_waits && !peer->received_waits)
		peer->waits_since = run->now;
	peer->session_waits |= news.session;
	peer->received_waits |= news.received;
	peer->data_waits |= news.data;
	if (news.received)
		peer->received_at = run->now;
	if (news.asked)
		kernel_peer_event(peer, FALLBACK_SENT, kernel_path_carrier(peer));
	kernel_peer_deliver(peer);
}

void kernel_peer_due(struct kernel_peer *peer)
{
	uint32_t due = peer->due;

	peer->due = 0;
	if (due & KERNEL_DUE_CLOSED)
		kernel_peer_event(peer, FALLBACK_TCP_CLOSED, CARRIER_TCP);
	if (due & KERNEL_DUE_DIAL_FAILED)
		kernel_peer_event(peer, FALLBACK_TCP_FAILED, CARRIER_TCP);
	if (due & KERNEL_DUE_CONNECTED)
		kernel_peer_event(peer, FALLBACK_TCP_CONNECTED, CARRIER_TCP);
}

/* UDP works and is used, so nobody needs the relay between. */
static void leave_relay(struct kernel_peer *peer)
{
	uint64_t since = mono_since_ms(peer->run->now, peer->udp_since);

	if (peer->path != KERNEL_PATH_RELAY_UDP || fallback_carrier(peer->machine) != CARRIER_UDP ||
		!is_up(peer) || mono_is_set(peer->anew))
		return;
	kernel_busy(peer->run);
	if (mono_since_ms(peer->run->now, peer->received_at) >= LEAVE_QUIET_MS || since >= LEAVE_AT_LAST_MS)
		kernel_path_go(peer, KERNEL_PATH_DIRECT, KERNEL_NUDGE);
}

void kernel_peer_turn(struct kernel_peer *peer)
{
	if (!peer->machine)
		return;
	if (mono_reached(peer->run->now, fallback_deadline(peer->machine)))
		kernel_peer_event(peer, FALLBACK_TICK, CARRIER_NONE);
	kernel_echo_repeat(peer);
	kernel_peer_deliver(peer);
	kernel_echo_deliver(peer);
	leave_relay(peer);
}
