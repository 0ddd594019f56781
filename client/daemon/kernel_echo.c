/* SPDX-License-Identifier: MIT */
/* Echoes to a peer's ProbeAddress, since the kernel sends no extension messages. */
#include "client/daemon/kernel.h"

#include <errno.h>
#include <glib-unix.h>
#include <string.h>

/* docs/wire.md section 1. */
#define DATA_OVERHEAD 32
#define PADDING 16
#define REPEAT_MS 80

/* Bytes of the WireGuard message that carries such a packet. */
static size_t message_len(size_t packet, size_t mtu)
{
	size_t padded = (packet + PADDING - 1) / PADDING * PADDING;

	return (padded < mtu ? padded : mtu) + DATA_OVERHEAD;
}

static struct kernel_ping *find(struct backend_run *run, uint64_t id, struct kernel_peer **peer)
{
	size_t i, n;

	for (i = 0; id && i < run->peer_count; i++)
		for (n = 0; n < KERNEL_PINGS; n++)
			if (run->peers[i].pings[n].id == id) {
				*peer = &run->peers[i];
				return &run->peers[i].pings[n];
			}
	return NULL;
}

/* During a trial of UDP both carriers bring answers: one came by UDP if a message large enough did. */
static bool came_by_udp(const struct kernel_peer *peer, const struct kernel_ping *ping)
{
	return peer->udp_in_trial && peer->udp_largest >= ping->size;
}

static void answered(struct kernel_peer *peer, struct kernel_ping *ping, enum carrier carrier)
{
	struct fallback_event event = {
		.kind = FALLBACK_ECHO_REPLY, .carrier = carrier, .echo_id = ping->id
	};

	peer->rtt_us = (uint32_t)(mono_since_ns(ping->answered, ping->sent) / 1000);
	*ping = (struct kernel_ping){ 0 };
	kernel_peer_step(peer, &event);
}

void kernel_echo_deliver(struct kernel_peer *peer)
{
	size_t i;

	for (i = 0; i < KERNEL_PINGS; i++) {
		struct kernel_ping *ping = &peer->pings[i];

		if (!ping->id || !mono_is_set(ping->answered))
			continue;
		if (peer->path != KERNEL_PATH_RELAY_BOTH)
			answered(peer, ping, kernel_path_carrier(peer));
		else if (came_by_udp(peer, ping))
			answered(peer, ping, CARRIER_UDP);
		else if (mono_since_ms(peer->run->now, ping->answered) >= KERNEL_HEARSAY_MS)
			answered(peer, ping, CARRIER_TCP);
	}
}

static gboolean ready(gint fd, GIOCondition condition, gpointer user)
{
	struct backend_run *run = user;
	struct echo *echo = run->echo[0] && echo_handle(run->echo[0]) == fd ? run->echo[0] : run->echo[1];
	struct kernel_peer *peer;
	struct kernel_ping *ping;
	uint64_t id;

	(void)condition;
	run->now = daemon_now();
	while (echo && echo_receive(echo, &id) == 0) {
		ping = find(run, id, &peer);
		if (!ping)
			continue;
		if (!mono_is_set(ping->answered))
			ping->answered = run->now;
		kernel_echo_deliver(peer);
	}
	kernel_soon(run);
	return G_SOURCE_CONTINUE;
}

static struct echo *echo_for(struct backend_run *run, enum ip_family family)
{
	size_t i = family == IP_V6;

	if (!run->echo[i] && echo_open(family, run->index, &run->echo[i]) == 0)
		run->echo_source[i] = g_unix_fd_add(echo_handle(run->echo[i]), G_IO_IN, ready, run);
	return run->echo[i];
}

static void send(struct kernel_peer *peer, struct kernel_ping *ping)
{
	struct backend_run *run = peer->run;
	struct echo *echo = echo_for(run, peer->probe_target.family);
	size_t size = ECHO_SIZE_SMALL;
	struct net_link link;

	if (!echo || net_link_find(run->daemon->net, run->interface, &link) != 0)
		return;
	if (ping->full && link.mtu > size)
		size = link.mtu;
	ping->again = run->now;
	ping->size = message_len(size, link.mtu);
	if (echo_send(echo, &peer->probe_source, &peer->probe_target, ping->id, size) == 0)
		peer->own_tx += ping->size;
}

void kernel_echo_send(struct kernel_peer *peer, uint64_t id, bool full)
{
	struct kernel_ping *ping = &peer->pings[peer->next_ping % KERNEL_PINGS]; /* the oldest gives way */

	if (peer->probe_target.family == IP_NONE)
		return;
	peer->next_ping++;
	*ping = (struct kernel_ping){ .id = id, .sent = peer->run->now, .full = full };
	send(peer, ping);
}

void kernel_echo_repeat(struct kernel_peer *peer)
{
	struct kernel_ping *ping;

	if (peer->path != KERNEL_PATH_RELAY_BOTH || !peer->next_ping)
		return;
	ping = &peer->pings[(peer->next_ping - 1) % KERNEL_PINGS];
	if (ping->id && mono_since_ms(peer->run->now, ping->again) >= REPEAT_MS)
		send(peer, ping);
}

void kernel_echo_close(struct backend_run *run)
{
	size_t i;

	for (i = 0; i < 2; i++) {
		if (run->echo_source[i])
			g_source_remove(run->echo_source[i]);
		echo_close(run->echo[i]);
		run->echo_source[i] = 0;
		run->echo[i] = NULL;
	}
}
