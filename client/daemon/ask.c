/* SPDX-License-Identifier: MIT */
/* Used by alive.c and speed.c. */
#include "client/daemon/ask.h"

#include "client/daemon/daemon.h"
#include "core/port/echo.h"

#include <glib-unix.h>
#include <glib.h>
#include <string.h>

/* 10 a second, and each is decided after 2 s. */
#define PROBES_KEPT 32

struct asker {
	uint32_t interface;
	struct echo *echo[2]; /* IPv4, IPv6: opened when they are needed */
	guint source[2];
	uint64_t last_id;
	struct ask_target *targets;
	struct latency *latencies;
	size_t count;
	struct latency_echo probes[PROBES_KEPT];
	unsigned next_probe;
	ask_decided *decided;
	void *user;
};

struct asker *asker_new(uint32_t interface, const struct ask_target *targets, size_t count)
{
	struct asker *asker = g_new0(struct asker, 1);

	asker->interface = interface;
	asker->count = count;
	asker->targets = g_memdup2(targets, count * sizeof(*targets));
	asker->latencies = g_new0(struct latency, count);
	return asker;
}

void asker_free(struct asker *asker)
{
	size_t i;

	if (!asker)
		return;
	for (i = 0; i < 2; i++) {
		if (asker->source[i])
			g_source_remove(asker->source[i]);
		echo_close(asker->echo[i]);
	}
	g_free(asker->targets);
	g_free(asker->latencies);
	g_free(asker);
}

static void decide(struct asker *asker, struct latency_echo *probe, uint32_t rtt_us)
{
	struct mono sent = probe->sent;

	probe->id = 0;
	if (asker->decided)
		asker->decided(sent, rtt_us, asker->user);
}

static void take(struct asker *asker, uint64_t id, struct mono now)
{
	size_t i;

	for (i = 0; i < PROBES_KEPT; i++)
		if (asker->probes[i].id == id) {
			uint64_t us = mono_since_ns(now, asker->probes[i].sent) / 1000;

			decide(asker, &asker->probes[i], us ? (uint32_t)us : 1);
			return;
		}
	for (i = 0; i < asker->count; i++)
		if (latency_answered(&asker->latencies[i], id, now))
			return;
}

static gboolean ready(gint fd, GIOCondition condition, gpointer user)
{
	struct asker *asker = user;
	size_t family = asker->echo[0] && echo_handle(asker->echo[0]) == fd ? 0 : 1;
	struct mono now = daemon_now();
	uint64_t id;

	(void)condition; /* an error is taken out by reading it */
	while (echo_receive(asker->echo[family], &id) == 0)
		take(asker, id, now);
	return G_SOURCE_CONTINUE;
}

/* The id of what was sent, or 0. */
static uint64_t send_one(struct asker *asker, size_t peer)
{
	const struct ask_target *to;
	size_t family;

	/* Whoever counts peers by the other profile of a pair may know more of them. */
	if (peer >= asker->count)
		return 0;
	to = &asker->targets[peer];
	family = to->target.family == IP_V6;
	if (to->target.family == IP_NONE)
		return 0;
	if (!asker->echo[family]) {
		if (echo_open(to->target.family, asker->interface, &asker->echo[family]) != 0)
			return 0;
		asker->source[family] =
			g_unix_fd_add(echo_handle(asker->echo[family]), G_IO_IN, ready, asker);
	}
	asker->last_id++;
	/* A send that fails is one that nobody answers. */
	echo_send(asker->echo[family], &to->source, &to->target, asker->last_id, ECHO_SIZE_SMALL);
	return asker->last_id;
}

void asker_beat(struct asker *asker, size_t peer, struct mono now)
{
	uint64_t id;

	if (peer >= asker->count || !latency_due(&asker->latencies[peer], now))
		return;
	id = send_one(asker, peer);
	if (id)
		latency_sent(&asker->latencies[peer], id, now);
}

void asker_read(const struct asker *asker, size_t peer, struct mono now, struct latency_figures *out)
{
	if (peer < asker->count)
		latency_read(&asker->latencies[peer], now, out);
	else
		*out = (struct latency_figures){ 0 };
}

void asker_probe(struct asker *asker, size_t peer, struct mono now, ask_decided *decided, void *user)
{
	struct latency_echo *place = &asker->probes[asker->next_probe % PROBES_KEPT];
	uint64_t id;
	unsigned i;

	asker->decided = decided;
	asker->user = user;
	/* The oldest first. */
	for (i = 0; i < PROBES_KEPT; i++) {
		struct latency_echo *probe = &asker->probes[(asker->next_probe + i) % PROBES_KEPT];

		if (probe->id && mono_since_ms(now, probe->sent) >= LATENCY_LOST_MS)
			decide(asker, probe, 0);
	}
	if (place->id)
		decide(asker, place, 0);
	id = send_one(asker, peer);
	if (!id)
		return;
	*place = (struct latency_echo){ .id = id, .sent = now };
	asker->next_probe++;
}

void asker_quiet(struct asker *asker)
{
	asker->decided = NULL;
	memset(asker->probes, 0, sizeof(asker->probes));
}
