/* SPDX-License-Identifier: MIT */
/* One peer of an interface that speaks TCP itself: what its machine asks for, as far as the kernel does not
 * do it anyhow. Source: docs/wire.md section 2, behaviour of a WGTCP kernel peer. */
#include "client/daemon/kernel.h"

#include <string.h>

/* The kernel calls again by itself; only after this its peer is made anew, which makes it dial again. To
 * another WGTCP kernel it takes some 10 s after the link is up. */
#define ANEW_MS 12000

void kernel_native_dress(struct kernel_peer *peer)
{
	struct uapi_device device = { 0 };

	peer->bare = false;
	if (kernel_add_wanted(&device, peer, NULL)) {
		device.peers[0].update_only = true;
		if (kernel_add_nudge(&device, peer))
			kernel_set(peer->run, &device);
	}
	uapi_device_free(&device);
	explicit_bzero(&device, sizeof(device));
}

void kernel_native_session(struct kernel_peer *peer)
{
	if (peer->bare)
		kernel_native_dress(peer);
}

bool kernel_native_is_moving(const struct kernel_peer *peer)
{
	const struct backend_run *run = peer->run;

	return run->native.used && mono_is_set(run->native.moved_at) &&
	       (run->native.switching ||
		       (mono_is_set(peer->anew) && mono_since_ms(run->now, run->native.moved_at) < ANEW_MS));
}

static void anew(struct kernel_peer *peer)
{
	if (mono_is_set(peer->anew) && mono_since_ms(peer->run->now, peer->anew) < ANEW_MS)
		return;
	if (kernel_path_go(peer, KERNEL_PATH_DIRECT, KERNEL_ANEW) == 0)
		peer->bare = peer->run->native.transport == TRANSPORT_TCP;
}

/* The kernel dials by itself as soon as it has the peer, and calls by its own timers. */
void kernel_native_act(struct kernel_peer *peer, const struct fallback_action *action)
{
	size_t i;

	if (peer->run->native.switching)
		return;
	if (action->what & FALLBACK_DIAL_TCP)
		peer->due |= KERNEL_DUE_CONNECTED;
	if (action->what & (FALLBACK_INITIATE_UDP | FALLBACK_INITIATE_TCP))
		anew(peer);
	if (action->what & (FALLBACK_NUDGE_TCP | FALLBACK_NUDGE_UDP))
		kernel_path_go(peer, KERNEL_PATH_DIRECT, KERNEL_NUDGE);
	for (i = 0; i < action->echo_count; i++)
		if (action->echoes[i].carrier == kernel_path_carrier(peer))
			kernel_echo_send(peer, action->echoes[i].id, action->echoes[i].full);
}
