/* SPDX-License-Identifier: MIT */
/* Bursts of TCP in one message: where segmentation is left to the device the kernel hands over up to 64 KB at once, and
 * on a stream nothing asks for packets of the MTU. So both sides work once instead of forty-five times, and leave the inner
 * checksum, which the tag makes needless.
 *
 * What may be behind a stream, such as a relay that sends its records on by UDP, does not show at its address. So the
 * capability belongs to the connection that the hello came on, and is said by TCP only: a relay's other side says its hello
 * by UDP. Bursts go out while nothing is lost and nothing is held (pace.c, hold.c): where a path is slow, a queue must
 * be able to tell packets apart. Called by the engine's loop. Source: docs/wire.md 5; virtio 1.2, 5.1.6. */
#include "client/engine/state.h"

/* 4 MiB at most, touched only as far as it is used; when it is short, bursts are cut. */
#define BURSTS_KEPT 64
#define BURST_ROOM (64u << 10)

void bursts_add_room(struct packet_pool *pool)
{
	(void)packet_pool_add_bursts(pool, BURSTS_KEPT, BURST_ROOM);
}

uint32_t bursts_offer(const struct engine *engine, struct stream *stream)
{
	if (!stream)
		return 0;
	stream->asked = true;
	return engine->tun && tun_has_bursts(engine->tun) ? CAPABILITY_BURSTS : 0;
}

void bursts_take_hello(struct stream *stream, uint32_t capabilities)
{
	stream->bursts = capabilities & CAPABILITY_BURSTS;
}

bool bursts_may_come(const struct stream *stream)
{
	const struct engine *engine = stream->engine;

	return stream->asked && engine->tun && tun_has_bursts(engine->tun);
}

static void set_whole(struct link *link, bool whole)
{
	struct engine *engine = link->engine;

	if (link->whole == whole)
		return;
	link->whole = whole;
	engine->whole_links += whole ? 1 : (size_t)-1;
	if (engine->tun)
		tun_read_whole(engine->tun, engine->whole_links > 0);
}

void bursts_stop(struct link *link)
{
	set_whole(link, false);
}

void bursts_look(struct link *link)
{
	struct engine *engine = link->engine;
	bool whole = engine->extensions && link_carrier(link) == CARRIER_TCP && !pace_lossy(link) && !pace_loses(link);
	uint32_t taking = 0;

	for (size_t i = 0; i < STREAMS_MAX; i++) {
		struct stream *stream = link->parallel.lanes[i];

		if (!stream)
			continue;
		if (link->leads && link->hello_shown && !stream->asked && stream->authentic)
			echo_say_hello(link, stream);
		taking += stream->bursts && !stream->stamping;
	}
	set_whole(link, whole && taking && taking == link->parallel.count);
}

void bursts_cut(struct link *link, struct packet *burst)
{
	struct engine *engine = link->engine;
	struct packet_list cut = { 0 };

	tun_cut(engine->tun, burst, engine->pool, &cut);
	queue_prepend(link->queue, &cut);
}
