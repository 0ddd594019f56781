/* SPDX-License-Identifier: MIT */
/* TCP connections: unknown ones under tight bounds (admission.c), known ones bound to a link, of which the
 * youngest that has shown itself authentic is sent on (docs/wire.md 2). A connection that says something wrong
 * before it has shown who it is is held unread until its time is over, never closed at once: a WGTCP peer would
 * redial without a pause. */
#include "client/engine/state.h"

#include <errno.h>
#include <stdlib.h>

#define PIECES_MAX ENGINE_BATCH
#define WAITING_MAX (2 * ENGINE_BATCH)

static void list_add(struct stream_list *list, struct stream *stream)
{
	stream->next = NULL;
	stream->previous = list->tail;
	if (list->tail)
		list->tail->next = stream;
	else
		list->head = stream;
	list->tail = stream;
	list->count++;
}

static void list_remove(struct stream_list *list, struct stream *stream)
{
	if (stream->previous)
		stream->previous->next = stream->next;
	else
		list->head = stream->next;
	if (stream->next)
		stream->next->previous = stream->previous;
	else
		list->tail = stream->previous;
	stream->next = stream->previous = NULL;
	list->count--;
}

void stream_watch(struct engine *engine, struct stream *stream)
{
	/* Who is not read is still noticed when it goes. */
	uint32_t what = (stream->muted || stream->held ? LOOP_ERROR : LOOP_READ) | (stream->out.packets.count ? LOOP_WRITE : 0u);

	loop_watch_tcp(engine->ports.loop, stream->tcp, what, &stream->token);
	stream->watching_write = stream->out.packets.count > 0;
}

struct stream *stream_new(struct engine *engine, struct tcp *tcp, bool dialled)
{
	struct stream *stream = calloc(1, sizeof(*stream));

	if (!stream) {
		tcp_close(tcp);
		return NULL;
	}
	stream->token.kind = TOKEN_STREAM;
	stream->engine = engine;
	stream->tcp = tcp;
	stream->dialled = dialled;
	stream->born = engine->now;
	/* Whom we have dialled may begin with a large packet of a session that goes on. */
	record_stream_init(&stream->in, dialled ? RECORD_MAX_LEN : RECORD_UNKNOWN_LIMIT);
	list_add(&engine->unknown, stream);
	stream_watch(engine, stream);
	return stream;
}

void stream_close(struct engine *engine, struct stream *stream)
{
	struct link *link = stream->link;
	struct packet_list rest = { 0 };

	if (stream->token.kind == TOKEN_DEAD)
		return;
	stream->token.kind = TOKEN_DEAD;
	loop_watch_tcp(engine->ports.loop, stream->tcp, 0, NULL);
	if (stream->ended)
		tcp_abort(stream->tcp);
	else
		tcp_close(stream->tcp);
	stream->tcp = NULL;
	record_queue_clear(&stream->out, &rest);
	packet_give_list(engine->pool, &rest);
	packet_give_list(engine->pool, &stream->copies);
	hold_flush(engine, stream);
	record_stream_free(&stream->in);
	list_remove(link ? &engine->known : &engine->unknown, stream);
	stream->next = engine->dead_streams;
	engine->dead_streams = stream;
	if (link) {
		parallel_gone(link, stream);
		link_stream_gone(link, stream);
	}
	admission_leave(engine, stream, false);
}

void streams_free_dead(struct engine *engine)
{
	for (struct stream *stream; (stream = engine->dead_streams);) {
		engine->dead_streams = stream->next;
		free(stream);
	}
}

void stream_bind(struct engine *engine, struct stream *stream, struct link *link)
{
	if (stream->link == link)
		return;
	list_remove(stream->link ? &engine->known : &engine->unknown, stream);
	if (stream->link)
		parallel_gone(stream->link, stream);
	if (stream->link && stream->link->stream == stream)
		stream->link->stream = NULL;
	stream->link = link;
	list_add(&engine->known, stream);
	admission_leave(engine, stream, true);
}

void stream_promote(struct engine *engine, struct stream *stream)
{
	struct link *link = stream->link;

	if (link->stream == stream)
		return;
	/* Only forward: what is still under way on an older connection does not take the path back to it. */
	if (link->stream && link->stream->born.ns > stream->born.ns)
		return;
	link->stream = stream;
	for (struct stream *other = engine->known.head; other; other = other->next) {
		if (other->link != link || other == stream)
			continue;
		parallel_leave(link, other);
		other->stalled = false;
		if (!mono_is_set(other->retire))
			other->retire = mono_add_ms(engine->now, RETIRE_MS);
	}
	parallel_join(link, stream);
}

void stream_mute(struct engine *engine, struct stream *stream)
{
	stream->muted = true;
	record_stream_free(&stream->in);
	record_stream_init(&stream->in, RECORD_UNKNOWN_LIMIT);
	stream_watch(engine, stream);
}

bool stream_has_room(const struct stream *stream)
{
	return stream->token.kind != TOKEN_DEAD && !stream->out.packets.count;
}

void stream_queue(struct stream *stream, struct packet *packet)
{
	stream->spoken = true;
	record_queue_push(&stream->out, packet);
}

/* Forgets what the socket has taken. */
static void written(struct engine *engine, struct stream *stream, size_t len)
{
	struct packet_list done = { 0 };

	record_queue_sent(&stream->out, len, &done);
	packet_give_list(engine->pool, &done);
}

void stream_write(struct engine *engine, struct stream *stream)
{
	while (stream->out.packets.count) {
		struct tcp_piece pieces[PIECES_MAX];
		size_t count = 0, len = 0, skip = stream->out.sent_of_first;

		for (struct packet *packet = stream->out.packets.head; packet && count < PIECES_MAX; packet = packet->next) {
			pieces[count].data = packet->data + skip;
			pieces[count].len = packet->len - skip;
			len += pieces[count++].len;
			skip = 0;
		}
		long sent = tcp_send(stream->tcp, pieces, count);

		if (sent < 0 && sent != -EAGAIN) {
			stream_close(engine, stream);
			return;
		}
		if (sent > 0) {
			written(engine, stream, (size_t)sent);
			stream->full_since = MONO_UNSET;
		}
		if (sent < (long)len) {
			if (!mono_is_set(stream->full_since))
				stream->full_since = engine->now;
			break;
		}
	}
	if (stream->watching_write != (stream->out.packets.count > 0))
		stream_watch(engine, stream);
}

void stream_send(struct engine *engine, struct stream *stream, struct packet *packet)
{
	/* A peer that does not read gets no more handshakes and echoes piled up than a batch. */
	if (stream->token.kind == TOKEN_DEAD || stream->out.packets.count >= WAITING_MAX) {
		packet_give(engine->pool, packet);
		return;
	}
	stream_queue(stream, packet);
	if (!stream->watching_write)
		stream_write(engine, stream);
}

static void read_stream(struct engine *engine, struct stream *stream)
{
	for (int round = 0; round < 4 && stream->token.kind != TOKEN_DEAD && !stream->muted && !stream->held; round++) {
		long got = tcp_receive(stream->tcp, engine->stream_bytes, STREAM_READ_LEN);

		if (got == -EAGAIN)
			return;
		if (got <= 0) {
			stream->ended = true;
			stream_close(engine, stream);
			return;
		}
		uint8_t *input = engine->stream_bytes, *message;
		size_t left = (size_t)got, len;
		enum record_state state;

		stream->last_in = engine->now;
		while ((state = record_stream_next(&stream->in, &input, &left, &message, &len)) == RECORD_COMPLETE)
			if (!inbound_record(stream, message, len))
				return;
		if (state == RECORD_INVALID) {
			if (stream->authentic)
				stream_close(engine, stream);
			else
				stream_mute(engine, stream);
			return;
		}
		if (got < (long)STREAM_READ_LEN)
			return;
	}
}

void stream_ready(struct engine *engine, struct stream *stream, uint32_t what)
{
	if (what & LOOP_WRITE)
		stream_write(engine, stream);
	if (stream->token.kind != TOKEN_DEAD && (stream->muted || stream->held) && (what & LOOP_ERROR))
		stream_close(engine, stream); /* the peer has gone: nothing to hold any longer */
	if (stream->token.kind != TOKEN_DEAD && (what & (LOOP_READ | LOOP_ERROR)))
		read_stream(engine, stream);
	if (stream->token.kind != TOKEN_DEAD && stream->link && stream_has_room(stream))
		outbound_flush(stream->link);
}

void streams_tick(struct engine *engine)
{
	for (struct stream *stream = engine->known.head, *next; stream; stream = next) {
		next = stream->next;
		if (mono_is_set(stream->retire) && mono_reached(engine->now, stream->retire))
			stream_close(engine, stream);
	}
}

struct mono streams_deadline(const struct engine *engine)
{
	struct mono deadline = MONO_NEVER;

	for (const struct stream *stream = engine->known.head; stream; stream = stream->next)
		if (mono_is_set(stream->retire))
			deadline = mono_min(deadline, stream->retire);
	return deadline;
}
