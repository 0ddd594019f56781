/* SPDX-License-Identifier: MIT */
/* An interface whose kernel speaks TCP itself (WGTCP). It has one carrier for all its peers, and changing
 * that takes the link down and up again: what the peers' machines decide elsewhere is decided here for all of
 * them, and each machine only sees the carrier that there is. Source: docs/wire.md section 3.
 *
 * Since each trial of UDP is an outage, there is one only on a change of network, by a person's word, or
 * after a time without inner traffic. */
#include "client/daemon/kernel.h"

#include "client/daemon/journal.h"

#include <errno.h>
#include <string.h>

/* UDP has to answer within this. */
#define TRIAL_MS 3000
/* Without inner traffic for so long, a trial disturbs nobody. */
#define TRIAL_IDLE_MS 30000
/* After this the peer gets its allowed IPs without a session. */
#define BARE_MS 2000

static struct kernel_native *native_of(struct backend_run *run)
{
	return &run->native;
}

/* What all called peers together are allowed. */
static enum transport wish(const struct backend_run *run)
{
	enum transport found = TRANSPORT_AUTO;
	bool first = true;
	size_t i;

	for (i = 0; i < run->peer_count; i++) {
		if (!kernel_peer_is_called(&run->peers[i]))
			continue;
		if (!first && run->peers[i].want.transport != found)
			return TRANSPORT_AUTO;
		found = run->peers[i].want.transport;
		first = false;
	}
	return first ? run->native.transport : found;
}

static void tell_machines(struct backend_run *run, enum fallback_event_kind kind)
{
	size_t i;

	for (i = 0; i < run->peer_count; i++)
		kernel_peer_event(&run->peers[i], kind, CARRIER_NONE);
}

static void schedule_trial(struct backend_run *run)
{
	struct kernel_native *native = native_of(run);

	native->trial_at = MONO_NEVER;
	if (native->transport == TRANSPORT_TCP && wish(run) == TRANSPORT_AUTO && !native->schedule.barred)
		native->trial_at =
			mono_add_ms(run->now, udp_return_wait_ms(&native->schedule, &native->jitter));
}

/* ---- the way from one carrier to the other ---- */

static int set_transport(struct backend_run *run, enum transport transport)
{
	struct uapi_device device = { .has_transport = true, .transport = transport, .replace_peers = true };

	return kernel_set(run, &device);
}

static int set_peers(struct backend_run *run, enum transport transport)
{
	size_t i;
	int error;

	run->native.transport = transport;
	/* What flows would make the kernel speak before it is connected, and again only after 5 s. */
	error = kernel_set_peers(run, transport == TRANSPORT_TCP ? KERNEL_BARE : KERNEL_WHOLE);
	for (i = 0; i < run->peer_count && !error; i++) {
		kernel_counts_anew(&run->peers[i]);
		run->peers[i].bare = transport == TRANSPORT_TCP && run->peers[i].machine;
		run->peers[i].path = KERNEL_PATH_DIRECT;
		run->peers[i].anew = run->now;
	}
	return error;
}

/* Does the step; its result. */
static int do_step(struct backend_run *run)
{
	const struct kernel_switch *machine = &run->native.machine;

	switch (machine->step) {
	case KERNEL_SWITCH_LINK_DOWN:
		return net_link_set(run->daemon->net, run->index, 0, false);
	case KERNEL_SWITCH_SET_TRANSPORT:
		return set_transport(run, machine->target);
	case KERNEL_SWITCH_LINK_UP:
		return net_link_set(run->daemon->net, run->index, 0, true);
	case KERNEL_SWITCH_NETWORK:
		return run->events->replace_network(run->user);
	case KERNEL_SWITCH_SET_PEERS:
		return set_peers(run, machine->target);
	case KERNEL_SWITCH_REST:
	case KERNEL_SWITCH_DONE:
	case KERNEL_SWITCH_UNDONE:
	case KERNEL_SWITCH_BROKEN:
		break;
	}
	return 0;
}

/* The machines start with the carrier that there is now. */
static void settle(struct backend_run *run)
{
	struct kernel_native *native = native_of(run);
	size_t i;

	native->switching = false;
	native->moved_at = run->now;
	for (i = 0; i < run->peer_count; i++) {
		struct kernel_peer *peer = &run->peers[i];

		kernel_peer_event(peer, FALLBACK_STOP, CARRIER_NONE);
		kernel_peer_settings(peer);
		if (peer->probe_target.family != IP_NONE)
			kernel_peer_event(peer, FALLBACK_ECHO_TARGET, CARRIER_NONE);
		kernel_peer_event(peer, FALLBACK_START, CARRIER_NONE);
	}
	if (native->trial)
		native->due = mono_add_ms(run->now, TRIAL_MS);
	kernel_busy(run);
	kernel_soon(run);
}

static void run_switch(struct backend_run *run)
{
	struct kernel_native *native = native_of(run);
	enum kernel_switch_step step = native->machine.step;

	while (step != KERNEL_SWITCH_REST && step != KERNEL_SWITCH_DONE && step != KERNEL_SWITCH_UNDONE &&
		step != KERNEL_SWITCH_BROKEN) {
		step = kernel_switch_next(&native->machine, do_step(run), run->now);
		run->now = daemon_now();
	}
	switch (step) {
	case KERNEL_SWITCH_REST:
		return; /* kernel_native_turn goes on */
	case KERNEL_SWITCH_DONE:
		settle(run);
		return;
	case KERNEL_SWITCH_UNDONE:
		journal_say(run->daemon->journal, JOURNAL_WARNING, run->interface,
			"the kernel does not move to the other carrier: %s",
			g_strerror(-native->machine.error));
		native->trial = false;
		settle(run);
		return;
	case KERNEL_SWITCH_BROKEN:
		journal_say(run->daemon->journal, JOURNAL_ERROR, run->interface,
			"the interface could not be set up again: %s", g_strerror(-native->machine.error));
		native->trial = false;
		settle(run);
		return;
	case KERNEL_SWITCH_LINK_DOWN:
	case KERNEL_SWITCH_SET_TRANSPORT:
	case KERNEL_SWITCH_LINK_UP:
	case KERNEL_SWITCH_NETWORK:
	case KERNEL_SWITCH_SET_PEERS:
		return;
	}
}

static void begin_switch(struct backend_run *run, enum transport to)
{
	struct kernel_native *native = native_of(run);

	native->trial_at = MONO_NEVER;
	if (native->switching || native->transport == to)
		return;
	kernel_switch_begin(&native->machine, native->transport, to);
	native->switching = true;
	run_switch(run);
}

/* ---- trials ---- */

static void try_udp(struct backend_run *run)
{
	if (run->native.resting || run->native.switching || run->native.transport != TRANSPORT_TCP)
		return;
	run->native.trial = true;
	begin_switch(run, TRANSPORT_UDP);
}

static bool all_answer(const struct backend_run *run)
{
	size_t i;

	for (i = 0; i < run->peer_count; i++) {
		const struct kernel_peer *peer = &run->peers[i];

		if (peer->machine && mono_is_set(peer->anew))
			return false; /* no session since the peers were set */
	}
	return true;
}

static void judge_trial(struct backend_run *run)
{
	struct kernel_native *native = native_of(run);

	if (all_answer(run)) {
		native->trial = false;
		udp_return_succeeded(&native->schedule, run->now);
		return;
	}
	if (!mono_reached(run->now, native->due))
		return;
	native->trial = false;
	udp_return_trial_failed(&native->schedule);
	begin_switch(run, TRANSPORT_TCP);
	schedule_trial(run);
}

/* On UDP by our own choice, and it does not answer any more. */
static void look_after_udp(struct backend_run *run)
{
	size_t i;

	if (run->native.transport != TRANSPORT_UDP || wish(run) != TRANSPORT_AUTO)
		return;
	for (i = 0; i < run->peer_count; i++)
		if (run->peers[i].machine &&
			fallback_state(run->peers[i].machine) == FALLBACK_STATE_RECONNECTING) {
			udp_return_lost(&run->native.schedule, run->now);
			begin_switch(run, TRANSPORT_TCP);
			schedule_trial(run);
			return;
		}
}

/* ---- what kernel.c and kernel_peer.c call ---- */

int kernel_native_configure(struct backend_run *run)
{
	struct uapi_device device = run->config;
	enum transport wanted = wish(run);
	size_t i;
	int error;

	run->native.transport = wanted == TRANSPORT_UDP ? TRANSPORT_UDP : TRANSPORT_TCP;
	device.has_transport = true;
	device.transport = run->native.transport;
	device.replace_peers = true;
	error = kernel_set(run, &device);
	explicit_bzero(&device, sizeof(device));
	for (i = 0; i < run->peer_count && !error; i++)
		kernel_peer_settings(&run->peers[i]);
	return error;
}

void kernel_native_start(struct backend_run *run)
{
	struct kernel_native *native = native_of(run);

	/* A change of address has brought us here: the peers are there. */
	if (run->peer_count && run->peers[0].path != KERNEL_PATH_NONE) {
		tell_machines(run, FALLBACK_START);
		return;
	}
	/* The routes have just been set, which would close what the kernel dials now. */
	native->resting = true;
	native->due = mono_add_ms(run->now, KERNEL_SWITCH_REST_MS);
	kernel_soon(run);
}

void kernel_native_wishes(struct backend_run *run)
{
	enum transport wanted = wish(run);

	if (!run->native.used || !run->started)
		return;
	if (wanted == TRANSPORT_AUTO) {
		if (!mono_is_set(run->native.trial_at) || run->native.trial_at.ns == MONO_NEVER.ns)
			schedule_trial(run);
		return;
	}
	run->native.trial = false;
	begin_switch(run, wanted);
}

void kernel_native_retry_udp(struct backend_run *run)
{
	if (wish(run) != TRANSPORT_TCP)
		try_udp(run);
}

void kernel_native_network_changed(struct backend_run *run)
{
	if (!run->native.used)
		return;
	run->native.schedule = (struct udp_return){ 0 };
	if (wish(run) == TRANSPORT_AUTO)
		try_udp(run);
}

struct mono kernel_native_deadline(const struct backend_run *run)
{
	const struct kernel_native *native = &run->native;

	if (!native->used)
		return MONO_NEVER;
	if (native->switching && native->machine.step == KERNEL_SWITCH_REST)
		return native->machine.due;
	return native->resting || native->trial ? native->due : native->trial_at;
}

void kernel_native_turn(struct backend_run *run)
{
	struct kernel_native *native = native_of(run);
	size_t i;

	if (!native->used)
		return;
	if (native->resting && mono_reached(run->now, native->due)) {
		native->resting = false;
		if (set_peers(run, native->transport) == 0)
			tell_machines(run, FALLBACK_START);
		schedule_trial(run);
	}
	if (native->switching) {
		if (native->machine.step == KERNEL_SWITCH_REST &&
			mono_reached(run->now, native->machine.due)) {
			kernel_switch_next(&native->machine, 0, run->now);
			run_switch(run);
		}
		return;
	}
	for (i = 0; i < run->peer_count; i++)
		if (run->peers[i].bare && mono_since_ms(run->now, run->peers[i].anew) >= BARE_MS)
			kernel_native_dress(&run->peers[i]);
	if (native->trial) {
		judge_trial(run);
		return;
	}
	look_after_udp(run);
	if (!mono_reached(run->now, native->trial_at))
		return;
	if (mono_since_ms(run->now, run->active_at) >= TRIAL_IDLE_MS)
		try_udp(run);
	else
		native->trial_at = mono_add_ms(run->active_at, TRIAL_IDLE_MS);
}
