/* SPDX-License-Identifier: MIT */
/* Messages wait in a queue from which CoDel drops when it stands (a sealed message can not be marked), and go
 * into the socket in bursts no larger than pays. Nothing waits for anybody. Source: RFC 8289, docs/wire.md
 * section 2. */
#include "client/relay/channel.h"

#include "core/port/loop.h"
#include "core/port/tcp.h"

#include <errno.h>
#include <string.h>

#define PIECES_MAX 64
/* A write of this size keeps the socket's queue short and is large enough to pay. */
#define BURST_BYTES (48u << 10)
#define TARGET_US 5000
#define INTERVAL_US 100000
#define SMALL_BYTES 1500
#define KEPT_ROOM 4096

/* RFC 8289, 4: an interval long enough for the inner flows to notice, a target that is a small part of it. */
static struct codel_settings settings_for(const struct tcp *tcp)
{
	struct codel_settings settings = {
		.target_us = TARGET_US, .interval_us = INTERVAL_US, .small_bytes = SMALL_BYTES
	};
	struct tcp_metrics metrics;

	if (tcp_metrics(tcp, &metrics))
		return settings;
	if (metrics.rtt_us / 8 > settings.target_us)
		settings.target_us = metrics.rtt_us / 8;
	if (metrics.rtt_us > INTERVAL_US / 2 && metrics.rtt_us < UINT32_MAX / 2)
		settings.interval_us = metrics.rtt_us * 2;
	return settings;
}

void channel_open(struct channel *channel, struct tcp *tcp, size_t limit)
{
	*channel = (struct channel){ .tcp = tcp, .delay = settings_for(tcp) };
	record_stream_init(&channel->in, limit);
}

void channel_close(struct channel *channel, struct loop *loop, struct pool *pool)
{
	struct packet_list rest = { 0 };

	if (!channel->tcp)
		return;
	loop_watch_tcp(loop, channel->tcp, 0, NULL);
	if (channel->ended)
		tcp_abort(channel->tcp);
	else
		tcp_close(channel->tcp);
	channel->tcp = NULL;
	record_stream_free(&channel->in);
	record_queue_clear(&channel->out, &rest);
	pool_give_list(pool, &rest);
	pool_give_list(pool, &channel->waiting);
}

void channel_watch(struct channel *channel, struct loop *loop, bool reading, void *token)
{
	bool writing = channel->out.packets.count || channel->waiting.count;
	uint32_t what = LOOP_ERROR | (reading ? LOOP_READ : 0u) | (writing ? LOOP_WRITE : 0u);

	if (what == channel->watched)
		return;
	loop_watch_tcp(loop, channel->tcp, what, token);
	channel->watched = what;
}

bool channel_push(
	struct channel *channel, struct pool *pool, const uint8_t *message, size_t len, struct mono now)
{
	size_t packets_max = pool_is_short(pool, len) ? CHANNEL_WAITING_SHORT : CHANNEL_WAITING_PACKETS;
	struct packet *packet;

	if (len < RECORD_MESSAGE_MIN || len > RECORD_MESSAGE_MAX || channel->waiting.count >= packets_max ||
		channel->waiting.len + len > CHANNEL_WAITING_BYTES)
		return false;
	packet = pool_take(pool, len);
	if (!packet)
		return false;
	memcpy(packet->data, message, len);
	packet->len = (uint32_t)len;
	packet->queued = now;
	packet_list_push(&channel->waiting, packet);
	return true;
}

/* The next burst. */
static void fill(struct channel *channel, struct pool *pool, struct mono now)
{
	size_t bytes = 0;

	for (struct packet *packet; channel->out.packets.count < PIECES_MAX && bytes < BURST_BYTES &&
				    (packet = packet_list_pop(&channel->waiting));) {
		if (codel_strikes(&channel->codel, &channel->delay, now, packet->queued,
			    (uint32_t)channel->waiting.len)) {
			pool_give(pool, packet);
			continue;
		}
		bytes += packet->len;
		record_queue_push(&channel->out, packet);
	}
	if (!channel->waiting.count)
		codel_empty(&channel->codel);
}

int channel_flush(struct channel *channel, struct pool *pool, struct mono now)
{
	for (;;) {
		struct packet_list done = { 0 };
		struct tcp_piece pieces[PIECES_MAX];
		size_t count = 0, len = 0, skip = channel->out.sent_of_first;

		if (!channel->out.packets.count)
			fill(channel, pool, now);
		if (!channel->out.packets.count)
			return 0;
		for (struct packet *packet = channel->out.packets.head; packet; packet = packet->next) {
			pieces[count].data = packet->data + skip;
			pieces[count].len = packet->len - skip;
			len += pieces[count++].len;
			skip = 0;
		}
		long sent = tcp_send(channel->tcp, pieces, count);

		if (sent < 0)
			return sent == -EAGAIN ? 0 : (int)sent;
		record_queue_sent(&channel->out, (size_t)sent, &done);
		pool_give_list(pool, &done);
		if (sent < (long)len)
			return 0;
	}
}

long channel_read(struct channel *channel, uint8_t *out, size_t size)
{
	long got = tcp_receive(channel->tcp, out, size);

	channel->ended = got == 0;
	return got;
}

void channel_trim(struct channel *channel)
{
	if (!channel->in.len && channel->in.room > KEPT_ROOM)
		record_stream_free(&channel->in);
}
