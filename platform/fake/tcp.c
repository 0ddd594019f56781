/* SPDX-License-Identifier: MIT */
/* Streams between hosts: in order and whole, late where the way loses or blocks, dead after TCP_USER_TIMEOUT. And the
 * front's dialling. */
#include "platform/fake/internal.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RETRANSMIT_US 200000

static struct tcp *stream_make(struct host *host, const struct endpoint *remote)
{
	struct tcp *tcp = calloc(1, sizeof(*tcp));

	assert(tcp);
	tcp->host = host;
	tcp->remote = *remote;
	tcp->held = true;
	tcp->next = host->world->streams;
	host->world->streams = tcp;
	return tcp;
}

int tcp_adopt(int handle, struct tcp **out)
{
	*out = handle_take(handle, OBJECT_TCP);
	return *out ? 0 : -EBADF;
}

void tcp_abort(struct tcp *tcp)
{
	tcp_close(tcp);
}

const struct endpoint *tcp_remote(const struct tcp *tcp)
{
	return &tcp->remote;
}

/* Takes what is under way to the other side, in order: one event for each stream at a time. */
static void pump(struct world *world, void *subject, struct chunk *none, struct host *from, struct host *to)
{
	struct tcp *sender = subject, *receiver = sender->other;
	bool blocked = sender->stalled || world_way(from, to)->drop_tcp || world_way(to, from)->drop_tcp;
	uint64_t wait_us = RETRANSMIT_US;

	sender->pumping = false;
	if (sender->reset || sender->timed_out || (!sender->out.count && !sender->closing))
		return;
	if (blocked) {
		if (!mono_is_set(sender->stuck))
			sender->stuck = world->now;
		if (mono_since_ms(world->now, sender->stuck) >= FAKE_USER_TIMEOUT_MS) {
			sender->timed_out = true;
			chunks_clear(&sender->out);
			return;
		}
	} else {
		sender->stuck = MONO_UNSET;
		while (sender->out.head && mono_reached(world->now, sender->out.head->due)) {
			struct chunk *chunk = chunks_pop(&sender->out);

			sender->metrics.acked_bytes += chunk->len;
			sender->metrics.delivered++;

			if (receiver->held)
				chunks_push(&receiver->in, chunk);
			else
				free(chunk);
		}
		if (!sender->out.head) {
			receiver->ended |= sender->closing;
			return;
		}
		wait_us = mono_since_ns(sender->out.head->due, world->now) / 1000 + 1;
	}
	sender->pumping = true;
	world_schedule(world, wait_us, pump, sender, none, from, to);
}

static void start_pump(struct tcp *tcp, uint64_t wait_us)
{
	if (tcp->pumping)
		return;
	tcp->pumping = true;
	world_schedule(tcp->host->world, wait_us, pump, tcp, NULL, tcp->host, tcp->other->host);
}

void tcp_close(struct tcp *tcp)
{
	tcp->held = false;
	tcp->closing = true;
	chunks_clear(&tcp->in);
	/* The world keeps it until its own end, since events may name it. */
	start_pump(tcp, world_way(tcp->host, tcp->other->host)->delay_us);
}

void tcp_end(struct tcp *tcp)
{
	tcp->closing = true;
	start_pump(tcp, world_way(tcp->host, tcp->other->host)->delay_us);
}

long tcp_receive(struct tcp *tcp, uint8_t *out, size_t size)
{
	size_t got = 0;

	if (tcp->reset)
		return -ECONNRESET;
	if (tcp->timed_out)
		return -ETIMEDOUT;
	while (tcp->in.head && got < size) {
		struct chunk *chunk = tcp->in.head;
		size_t part = chunk->len - chunk->at < size - got ? chunk->len - chunk->at : size - got;

		memcpy(out + got, chunk->bytes + chunk->at, part);
		got += part;
		chunk->at += part;
		if (chunk->at == chunk->len)
			free(chunks_pop(&tcp->in));
	}
	return got ? (long)got : tcp->ended ? 0 : -EAGAIN;
}

long tcp_send(struct tcp *tcp, const struct tcp_piece *pieces, size_t count)
{
	struct world *world = tcp->host->world;
	long sent = 0;

	if (tcp->reset)
		return -EPIPE;
	if (tcp->timed_out)
		return -ETIMEDOUT;
	for (size_t i = 0; i < count && tcp->out.len < FAKE_STREAM_ROOM; i++) {
		const struct way *way = world_way(tcp->host, tcp->other->host);
		struct chunk *chunk = chunk_new(pieces[i].data, pieces[i].len);
		uint64_t delay_us = way->delay_us;

		/* A lost segment comes one round trip later, and all behind it wait for it. */
		if (world_chance(world, way->loss_ppm))
			delay_us += way->delay_us + (uint64_t)world_way(tcp->other->host, tcp->host)->delay_us;
		chunk->due = mono_add_ns(world->now, delay_us * 1000);
		chunks_push(&tcp->out, chunk);
		tcp->host->counts.stream_bytes += pieces[i].len;
		tcp->metrics.sent_segments += 1 + pieces[i].len / 1448;
		if (tcp->host->lossy_streams)
			tcp->metrics.retransmits = tcp->metrics.sent_segments / FAKE_LOST_ONE_IN;
		sent += (long)pieces[i].len;
	}
	if (!sent)
		return -EAGAIN;
	start_pump(tcp, world_way(tcp->host, tcp->other->host)->delay_us);
	return sent;
}

int tcp_metrics(const struct tcp *tcp, struct tcp_metrics *out)
{
	*out = tcp->metrics;
	out->rtt_us = out->min_rtt_us =
		world_way(tcp->host, tcp->other->host)->delay_us + world_way(tcp->other->host, tcp->host)->delay_us;
	out->unacked = (uint32_t)tcp->out.count;
	return 0;
}

uint32_t tcp_tune(struct tcp *tcp, uint32_t what)
{
	(void)tcp;
	return what;
}

void tcp_set_unsent(struct tcp *tcp, uint32_t bytes)
{
	(void)tcp;
	(void)bytes;
}

void tcp_set_pacing(struct tcp *tcp, uint64_t bytes_per_second)
{
	(void)tcp;
	(void)bytes_per_second;
}

/* The n-th of the host's connections that stand, oldest first. */
static struct tcp *nth(const struct host *host, size_t number)
{
	size_t count = host_streams(host);

	for (struct tcp *tcp = host->world->streams; tcp; tcp = tcp->next)
		if (tcp->host == host && tcp->held && !tcp->reset && !tcp->ended && --count == number)
			return tcp;
	return NULL;
}

size_t host_streams(const struct host *host)
{
	size_t count = 0;

	for (const struct tcp *tcp = host->world->streams; tcp; tcp = tcp->next)
		count += tcp->host == host && tcp->held && !tcp->reset && !tcp->ended;
	return count;
}

void host_stall_stream(struct host *host, size_t number, bool stall)
{
	struct tcp *tcp = nth(host, number);

	assert(tcp);
	tcp->stalled = tcp->other->stalled = stall;
}

void host_reset_stream(struct host *host, size_t number)
{
	struct tcp *tcp = nth(host, number);

	assert(tcp);
	tcp->reset = tcp->other->reset = true;
}

uint64_t host_stream_bytes(const struct host *host, size_t number)
{
	const struct tcp *tcp = nth(host, number);

	assert(tcp);
	return tcp->metrics.sent_segments;
}

void host_lossy_streams(struct host *host, bool lossy)
{
	host->lossy_streams = lossy;
}

void host_reset_streams(struct host *host)
{
	for (struct tcp *tcp = host->world->streams; tcp; tcp = tcp->next) {
		if (tcp->host != host)
			continue;
		tcp->reset = true;
		tcp->other->reset = true;
	}
}

/* ---- listening and dialling ---- */

int tcp_listener_adopt(int handle, struct tcp_listener **out)
{
	*out = handle_take(handle, OBJECT_LISTENER);
	return *out ? 0 : -EBADF;
}

void tcp_listener_close(struct tcp_listener *listener)
{
	if (listener->host->listener == listener)
		listener->host->listener = NULL;
	free(listener);
}

int tcp_accept(struct tcp_listener *listener, struct tcp **out)
{
	struct tcp *tcp = listener->backlog;

	if (!tcp)
		return -EAGAIN;
	listener->backlog = tcp->waiting;
	tcp->waiting = NULL;
	*out = tcp;
	return 0;
}

/* Both ends of a connection; theirs waits in the listener. */
static struct tcp *stream_pair(struct host *from, struct host *to, const struct endpoint *remote, uint16_t port)
{
	struct endpoint near = { .address = from->address, .port = port };
	struct tcp *ours = stream_make(from, remote), *theirs = stream_make(to, &near), **at;

	ours->other = theirs;
	theirs->other = ours;
	for (at = &to->listener->backlog; *at; at = &(*at)->waiting)
		;
	*at = theirs;
	return ours;
}

struct tcp *host_connect(struct host *host, const struct endpoint *remote, uint16_t port)
{
	struct host *to = world_find(host->world, &remote->address);

	if (!to || !to->listener || to->listener->port != remote->port)
		return NULL;
	return stream_pair(host, to, remote, port);
}

struct dial {
	uint8_t public_key[32];
	uint64_t attempt;
	uint16_t port;
	struct mono begun;
};

static void answer_dial(struct host *host, const struct dial *dial, struct tcp *tcp, int error)
{
	struct seam_message message = {
		.kind = tcp ? SEAM_CONNECTED : SEAM_DIAL_FAILED, .attempt = dial->attempt, .value = (uint32_t)error
	};

	memcpy(message.public_key, dial->public_key, 32);
	seam_push_down(&host->seam, &message, tcp ? handle_make(OBJECT_TCP, tcp) : -1);
}

/* The handshake of TCP is over, or it is tried again. */
static void dial_arrives(struct world *world, void *subject, struct chunk *chunk, struct host *from, struct host *to)
{
	struct dial *dial = (struct dial *)(void *)chunk->bytes;
	const struct way *there = world_way(from, to), *back = world_way(to, from);

	(void)subject;
	if (there->drop_tcp || back->drop_tcp) {
		if (mono_since_ms(world->now, dial->begun) < FAKE_SYN_TIMEOUT_MS) {
			world_schedule(world, 1000000, dial_arrives, NULL, chunk, from, to);
			return;
		}
		answer_dial(from, dial, NULL, ETIMEDOUT);
	} else if (there->refuse_tcp || !to->listener || to->listener->port != dial->port) {
		answer_dial(from, dial, NULL, ECONNREFUSED);
	} else {
		struct endpoint remote = { .address = to->address, .port = dial->port };

		answer_dial(
			from, dial, stream_pair(from, to, &remote, (uint16_t)(40000 + dial->attempt % 20000)), 0);
	}
	free(chunk);
}

bool dial_take(struct host *host, const struct seam_message *message)
{
	struct dial dial = { .attempt = message->attempt, .begun = host->world->now };

	if (message->kind == SEAM_DIAL_CANCEL)
		return true; /* the engine knows its attempt by number and refuses what comes too late */
	if (message->kind != SEAM_DIAL)
		return false;
	host->counts.dials++;
	memcpy(dial.public_key, message->public_key, 32);
	for (size_t i = 0; i < host->target_count; i++) {
		struct host *to;

		if (memcmp(host->targets[i].public_key, message->public_key, 32))
			continue;
		dial.port = host->targets[i].endpoint.port;
		to = world_find(host->world, &host->targets[i].endpoint.address);
		if (to) {
			world_schedule(host->world,
				(uint64_t)world_way(host, to)->delay_us + world_way(to, host)->delay_us, dial_arrives, NULL,
				chunk_new(&dial, sizeof(dial)), host, to);
			return true;
		}
	}
	answer_dial(host, &dial, NULL, ENETUNREACH);
	return true;
}
