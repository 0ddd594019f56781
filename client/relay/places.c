/* SPDX-License-Identifier: MIT */
#include "client/relay/places.h"

#include <assert.h>
#include <stdlib.h>

static void list_add(struct places_list *list, struct connection *connection)
{
	connection->next = NULL;
	connection->previous = list->tail;
	if (list->tail)
		list->tail->next = connection;
	else
		list->head = connection;
	list->tail = connection;
	list->count++;
}

static void list_remove(struct places_list *list, struct connection *connection)
{
	if (connection->previous)
		connection->previous->next = connection->next;
	else
		list->head = connection->next;
	if (connection->next)
		connection->next->previous = connection->previous;
	else
		list->tail = connection->previous;
	connection->next = connection->previous = NULL;
	list->count--;
}

bool places_init(struct places *places, size_t unknown_max, size_t known_max)
{
	*places = (struct places){ .unknown_max = unknown_max, .known_max = known_max };
	/* What is closed in a turn stays with the dead for its length. */
	places->room = unknown_max + known_max + PLACES_DEAD_ROOM;
	places->all = calloc(places->room, sizeof(*places->all));
	places->sources = sources_new(places->room);
	if (places->all && places->sources)
		return true;
	places_wipe(places);
	return false;
}

void places_wipe(struct places *places)
{
	assert(!places->unknown.count && !places->known.count && !places->dead.count);
	free(places->all);
	sources_free(places->sources);
	*places = (struct places){ 0 };
}

/* The number in its source that a connection of this standing is counted in. */
static uint32_t *counted_in(struct source *source, enum standing standing)
{
	switch (standing) {
	case STANDING_HELD:
		return &source->held;
	case STANDING_SILENT:
	case STANDING_MUTED:
	case STANDING_SPOKEN:
		return &source->read;
	case STANDING_KNOWN:
		return &source->known;
	case STANDING_FREE:
	case STANDING_DEAD:
		break;
	}
	return NULL;
}

bool places_are_used_up(const struct places *places)
{
	return !places->free_list && places->used == places->room;
}

struct connection *places_take(struct places *places, const struct ip_address *address, struct mono now)
{
	struct connection *connection = places->free_list;
	struct source *source;
	bool untouched = !connection;

	if (places->unknown.count >= places->unknown_max || places_are_used_up(places))
		return NULL;
	source = sources_enter(places->sources, address);
	if (!source)
		return NULL;
	if (untouched)
		connection = &places->all[places->used++];
	else
		places->free_list = connection->next;
	*connection = (struct connection){
		.token = { TOKEN_CONNECTION },
		.flow = { .token = { TOKEN_FLOW }, .connection = connection },
		.standing = source->read < PLACES_SOURCE_MAX ? STANDING_SILENT : STANDING_HELD,
		.source = source,
		.welcome = sources_remembers(places->sources, source),
		.born = now,
	};
	(*counted_in(source, connection->standing))++;
	list_add(&places->unknown, connection);
	return connection;
}

struct connection *places_victim_unknown(const struct places *places)
{
	struct connection *victim = NULL;
	uint32_t most = 0;

	if (places->unknown.count < places->unknown_max)
		return NULL;
	for (struct connection *connection = places->unknown.head; connection;
		connection = connection->next) {
		uint32_t count = connection->source->read + connection->source->held;

		if (victim && (connection->welcome > victim->welcome ||
				      (connection->welcome == victim->welcome && count <= most)))
			continue;
		victim = connection;
		most = count;
	}
	return victim;
}

struct connection *places_victim_known(const struct places *places)
{
	struct connection *victim = places->known.head;

	if (places->known.count < places->known_max)
		return NULL;
	for (struct connection *connection = victim; connection; connection = connection->next)
		if (connection->last_answer.ns < victim->last_answer.ns)
			victim = connection;
	return victim;
}

void places_move(struct places *places, struct connection *connection, enum standing standing)
{
	(*counted_in(connection->source, connection->standing))--;
	(*counted_in(connection->source, standing))++;
	if ((connection->standing == STANDING_KNOWN) != (standing == STANDING_KNOWN)) {
		list_remove(connection->standing == STANDING_KNOWN ? &places->known : &places->unknown,
			connection);
		list_add(standing == STANDING_KNOWN ? &places->known : &places->unknown, connection);
	}
	connection->standing = standing;
	if (standing == STANDING_KNOWN)
		sources_remember(places->sources, connection->source);
}

void places_bury(struct places *places, struct connection *connection)
{
	(*counted_in(connection->source, connection->standing))--;
	list_remove(connection->standing == STANDING_KNOWN ? &places->known : &places->unknown, connection);
	list_add(&places->dead, connection);
	connection->standing = STANDING_DEAD;
	sources_leave(places->sources, connection->source);
	connection->source = NULL;
}

void places_free_dead(struct places *places)
{
	for (struct connection *connection; (connection = places->dead.head);) {
		list_remove(&places->dead, connection);
		connection->standing = STANDING_FREE;
		connection->next = places->free_list;
		places->free_list = connection;
	}
}

struct connection *places_unhold(struct places *places, struct source *source)
{
	if (!source->held || source->read >= PLACES_SOURCE_MAX)
		return NULL;
	for (struct connection *connection = places->unknown.head; connection; connection = connection->next)
		if (connection->source == source && connection->standing == STANDING_HELD) {
			places_move(places, connection, STANDING_SILENT);
			return connection;
		}
	return NULL;
}

struct mono places_end(const struct places *places, const struct connection *connection)
{
	bool pressed = places->unknown.count > places->unknown_max / 2;
	struct mono in_all = mono_add_ms(connection->born, PLACES_UNKNOWN_MS);

	switch (connection->standing) {
	case STANDING_HELD:
	case STANDING_MUTED:
		return in_all;
	case STANDING_SILENT:
		return mono_min(in_all, mono_add_ms(mono_max(connection->born, connection->last_in),
						pressed ? PLACES_PRESSED_MS : PLACES_SILENT_MS));
	case STANDING_SPOKEN:
		/* Nobody else waits for its place: it may be idle, with a session that lives. */
		if (pressed || connection->source->held)
			return in_all;
		return mono_add_ms(connection->last_in, PLACES_SPOKEN_MS);
	case STANDING_KNOWN:
		return mono_add_ms(connection->last_answer, PLACES_KNOWN_MS);
	case STANDING_FREE:
	case STANDING_DEAD:
		break;
	}
	return MONO_NEVER;
}
