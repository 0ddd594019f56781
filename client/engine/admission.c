/* SPDX-License-Identifier: MIT */
/* Who of those that connect is heard, how long, and who goes when all places are taken. Called by turn.c and
 * stream.c, on the engine's thread.
 *
 * A stranger is read, or, over the share or the rate of its source, held unread. None is closed at once: a
 * WGTCP peer would redial without a pause. Whoever says something authentic leaves all this and is never
 * counted again. Source: docs/architecture.md, What bounds what. */
#include "client/engine/state.h"

#include <errno.h>

#define ACCEPT_ROUNDS 64
/* How long a listener rests that met a system without handles or memory. */
#define PAUSE_MS 250
/* Somebody is held: a place, or a token of its source, may be free by then. */
#define HELD_LOOK_MS 50

bool admission_init(struct engine *engine)
{
	size_t handles = engine->ports.handles, most = UNKNOWN_STREAMS_MAX;

	/* Half of the handles stay for peers, whom strangers must not keep out. */
	if (handles && handles / 2 < most)
		most = handles / 2 > UNKNOWN_SOURCE_MAX ? handles / 2 : UNKNOWN_SOURCE_MAX;
	engine->unknown_max = most;
	engine->admission_at = MONO_NEVER;
	/* One more: who is taken in before another goes. */
	engine->sources = sources_new(most + 1);
	engine->arrivals = limit_new();
	return engine->sources && engine->arrivals;
}

void admission_wipe(struct engine *engine)
{
	sources_free(engine->sources);
	limit_free(engine->arrivals);
}

static bool pressed(const struct engine *engine)
{
	return engine->unknown.count > engine->unknown_max / 2;
}

static struct mono end_of(const struct engine *engine, const struct stream *stream)
{
	struct mono in_all = mono_add_ms(stream->born, UNKNOWN_STREAM_MS), since;

	if (stream->muted || stream->held)
		return in_all;
	since = mono_is_set(stream->last_in) ? stream->last_in : stream->born;
	return mono_min(in_all, mono_add_ms(since, pressed(engine) ? UNKNOWN_PRESSED_MS : UNKNOWN_SILENT_MS));
}

static void look_by(struct engine *engine, struct mono when)
{
	engine->admission_at = mono_min(engine->admission_at, when);
}

struct mono admission_deadline(const struct engine *engine)
{
	return engine->admission_at;
}

static void rest(struct engine *engine, struct listener_socket *socket)
{
	socket->paused = true;
	loop_watch_listener(engine->ports.loop, socket->listener, 0, NULL);
	look_by(engine, mono_add_ms(engine->now, PAUSE_MS));
}

static void wake(struct engine *engine)
{
	for (int i = 0; i < 2; i++) {
		struct listener_socket *socket = &engine->listeners[i];

		if (!socket->listener || !socket->paused)
			continue;
		socket->paused = false;
		loop_watch_listener(engine->ports.loop, socket->listener, LOOP_READ, &socket->token);
	}
}

/* The oldest of the source that has the most; one of a source that was authentic before only if there is no
 * other. */
static struct stream *victim_of(const struct engine *engine)
{
	struct stream *victim = NULL;
	uint32_t most = 0;

	for (struct stream *stream = engine->unknown.head; stream; stream = stream->next) {
		if (!stream->source)
			continue;
		uint32_t count = stream->source->read + stream->source->held;

		if (victim && (stream->welcome > victim->welcome ||
				      (stream->welcome == victim->welcome && count <= most)))
			continue;
		victim = stream;
		most = count;
	}
	return victim;
}

/* A place among those that are read, if the source has one to give. */
static bool may_be_read(struct engine *engine, const struct stream *stream)
{
	return stream->source->read < UNKNOWN_SOURCE_MAX &&
	       limit_allow(engine->arrivals, &tcp_remote(stream->tcp)->address, engine->now);
}

static void take_in(struct engine *engine, struct tcp *tcp)
{
	struct source *source = sources_enter(engine->sources, &tcp_remote(tcp)->address);
	struct stream *stream = stream_new(engine, tcp, false);

	if (!stream) { /* memory is short; the connection is closed */
		if (source)
			sources_leave(engine->sources, source);
		return;
	}
	if (!source) { /* there are as many sources as places: not reached */
		stream_close(engine, stream);
		return;
	}
	stream->source = source;
	stream->welcome = sources_remembers(engine->sources, source);
	stream->held = source->held || !may_be_read(engine, stream); /* nobody overtakes */
	if (stream->held) {
		source->held++;
		engine->held_count++;
		look_by(engine, mono_add_ms(engine->now, HELD_LOOK_MS));
	} else {
		source->read++;
	}
	stream_watch(engine, stream);
	look_by(engine, end_of(engine, stream));
	/* Those that came while there was room may have to go earlier now. */
	if (pressed(engine))
		look_by(engine, mono_add_ms(engine->now, PAUSE_MS));
}

void admission_accept(struct engine *engine, struct listener_socket *socket)
{
	for (int round = 0; round < ACCEPT_ROUNDS; round++) {
		struct tcp *tcp;
		int error = tcp_accept(socket->listener, &tcp);

		if (error == -EAGAIN)
			return;
		if (error == -EMFILE || error == -ENFILE) {
			/* Strangers make room for each other before the listener rests. */
			struct stream *victim = victim_of(engine);

			if (victim) {
				stream_close(engine, victim);
				error = tcp_accept(socket->listener, &tcp);
			}
			if (error == -EAGAIN)
				return;
		}
		if (error) {
			rest(engine, socket);
			return;
		}
		if (engine->unknown.count >= engine->unknown_max) {
			struct stream *victim = victim_of(engine);

			if (victim)
				stream_close(engine, victim);
		}
		take_in(engine, tcp);
	}
}

void admission_leave(struct engine *engine, struct stream *stream, bool authentic)
{
	struct source *source = stream->source;

	if (!source)
		return;
	stream->source = NULL;
	if (authentic)
		sources_remember(engine->sources, source);
	if (stream->held) {
		source->held--;
		engine->held_count--;
	} else {
		source->read--;
	}
	sources_leave(engine->sources, source);
}

void admission_tick(struct engine *engine)
{
	struct mono next = MONO_NEVER;

	engine->admission_at = MONO_NEVER;
	for (struct stream *stream = engine->unknown.head, *after; stream; stream = after) {
		after = stream->next;
		if (stream->source && mono_reached(engine->now, end_of(engine, stream)))
			stream_close(engine, stream);
	}
	/* Oldest first. Closing has changed what the others may have. */
	for (struct stream *stream = engine->unknown.head; stream; stream = stream->next) {
		if (!stream->source)
			continue;
		if (stream->held && may_be_read(engine, stream)) {
			stream->held = false;
			engine->held_count--;
			stream->source->held--;
			stream->source->read++;
			/* What it may have said while nobody listened counts from now. */
			stream->last_in = engine->now;
			stream_watch(engine, stream);
		}
		next = mono_min(next, end_of(engine, stream));
	}
	look_by(engine, next);
	if (engine->held_count)
		look_by(engine, mono_add_ms(engine->now, HELD_LOOK_MS));
	wake(engine);
}
