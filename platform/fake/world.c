/* SPDX-License-Identifier: MIT */
/* Time, events, hosts and what the tests may do to them. */
#include "platform/fake/internal.h"

#include "core/port/clock.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct world *the_world;

/* ---- byte strings ---- */

struct chunk *chunk_new(const void *bytes, size_t len)
{
	struct chunk *chunk = calloc(1, sizeof(*chunk) + len);

	assert(chunk);
	chunk->len = len;
	memcpy(chunk->bytes, bytes, len);
	return chunk;
}

void chunks_push(struct chunks *chunks, struct chunk *chunk)
{
	chunk->next = NULL;
	if (chunks->tail)
		chunks->tail->next = chunk;
	else
		chunks->head = chunk;
	chunks->tail = chunk;
	chunks->count++;
	chunks->len += chunk->len;
}

struct chunk *chunks_pop(struct chunks *chunks)
{
	struct chunk *chunk = chunks->head;

	if (!chunk)
		return NULL;
	chunks->head = chunk->next;
	if (!chunks->head)
		chunks->tail = NULL;
	chunks->count--;
	chunks->len -= chunk->len;
	return chunk;
}

void chunks_clear(struct chunks *chunks)
{
	for (struct chunk *chunk; (chunk = chunks_pop(chunks));)
		free(chunk);
}

/* ---- handles: what the seam passes, as descriptors are ---- */

int handle_make(enum object_kind kind, void *object)
{
	for (int i = 0; i < 1024; i++)
		if (the_world->handles[i].kind == OBJECT_FREE) {
			the_world->handles[i].kind = kind;
			the_world->handles[i].object = object;
			return i;
		}
	return -1;
}

void *handle_take(int handle, enum object_kind kind)
{
	if (handle < 0 || handle >= 1024 || the_world->handles[handle].kind != kind)
		return NULL;
	the_world->handles[handle].kind = OBJECT_FREE;
	return the_world->handles[handle].object;
}

/* ---- events ---- */

static bool earlier(const struct event *a, const struct event *b)
{
	return a->at.ns != b->at.ns ? a->at.ns < b->at.ns : a->order < b->order;
}

static void swap(struct event *a, struct event *b)
{
	struct event other = *a;

	*a = *b;
	*b = other;
}

void world_schedule(struct world *world, uint64_t delay_us,
	void (*happen)(struct world *, void *, struct chunk *, struct host *, struct host *), void *subject,
	struct chunk *chunk, struct host *from, struct host *to)
{
	if (world->event_count == world->event_room) {
		world->event_room = world->event_room ? world->event_room * 2 : 256;
		world->events = realloc(world->events, world->event_room * sizeof(*world->events));
		assert(world->events);
	}
	size_t at = world->event_count++;

	world->events[at] = (struct event){ mono_add_ns(world->now, delay_us * 1000), ++world->orders, happen, subject,
		chunk, from, to };
	for (; at && earlier(&world->events[at], &world->events[(at - 1) / 2]); at = (at - 1) / 2)
		swap(&world->events[at], &world->events[(at - 1) / 2]);
}

static struct event take_first(struct world *world)
{
	struct event first = world->events[0];
	size_t at = 0;

	world->events[0] = world->events[--world->event_count];
	for (;;) {
		size_t least = at, left = 2 * at + 1, right = left + 1;

		if (left < world->event_count && earlier(&world->events[left], &world->events[least]))
			least = left;
		if (right < world->event_count && earlier(&world->events[right], &world->events[least]))
			least = right;
		if (least == at)
			return first;
		swap(&world->events[at], &world->events[least]);
		at = least;
	}
}

struct mono world_next(const struct world *world)
{
	return world->event_count ? world->events[0].at : MONO_NEVER;
}

void world_advance(struct world *world, struct mono to)
{
	while (world->event_count && mono_reached(to, world->events[0].at)) {
		struct event event = take_first(world);

		world->now = mono_max(world->now, event.at);
		event.happen(world, event.subject, event.chunk, event.from, event.to);
	}
	world->now = mono_max(world->now, to);
}

bool world_chance(struct world *world, uint32_t ppm)
{
	/* splitmix64 */
	uint64_t z = world->random += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	z ^= z >> 31;
	return z % 1000000 < ppm;
}

/* ---- world and hosts ---- */

struct world *world_new(uint64_t seed)
{
	struct world *world = calloc(1, sizeof(*world));

	assert(world); /* one left behind by a failed test is forgotten */
	world->now = (struct mono){ 1000000000 };
	world->random = seed;
	the_world = world;
	return world;
}

static void free_host(struct host *host)
{
	for (struct down *down; (down = host->seam.down);) {
		host->seam.down = down->next;
		free(down);
	}
	for (struct up *up; (up = host->seam.up);) {
		host->seam.up = up->next;
		free(up);
	}
	if (host->tun) {
		chunks_clear(&host->tun->to_engine);
		chunks_clear(&host->tun->from_engine);
	}
	if (host->udp) {
		chunks_clear(&host->udp->in);
		chunks_clear(&host->udp->lent);
	}
	for (struct datagram *datagram; (datagram = host->datagrams);) {
		host->datagrams = datagram->next;
		chunks_clear(&datagram->in);
		free(datagram);
	}
	if (host->control) {
		chunks_clear(&host->control->to_engine);
		chunks_clear(&host->control->from_engine);
	}
	free(host->tun);
	free(host->udp);
	free(host->listener);
	free(host->control);
	free(host);
}

void world_free(struct world *world)
{
	while (world->event_count)
		free(take_first(world).chunk);
	for (struct tcp *tcp; (tcp = world->streams);) {
		world->streams = tcp->next;
		chunks_clear(&tcp->in);
		chunks_clear(&tcp->out);
		free(tcp);
	}
	for (size_t i = 0; i < world->host_count; i++)
		free_host(world->hosts[i]);
	free(world->events);
	free(world);
	the_world = NULL;
}

struct mono world_now(const struct world *world)
{
	return world->now;
}

struct host *world_add_host(struct world *world, const char *address)
{
	struct host *host = calloc(1, sizeof(*host));
	bool parsed = host && world->host_count < FAKE_HOSTS_MAX &&
		ip_address_parse(address, strlen(address), &host->address);

	assert(parsed);
	(void)parsed;
	host->world = world;
	host->number = world->host_count;
	host->clock.host = host->loop.host = host->seam.host = host;
	host->seam.down_end = &host->seam.down;
	host->seam.up_end = &host->seam.up;
	world->hosts[world->host_count++] = host;
	return host;
}

struct host *world_find(struct world *world, const struct ip_address *address)
{
	for (size_t i = 0; i < world->host_count; i++)
		if (ip_address_equal(&world->hosts[i]->address, address))
			return world->hosts[i];
	return NULL;
}

const struct way *world_way(const struct host *from, const struct host *to)
{
	return &from->world->ways[from->number][to->number];
}

void world_set_way(struct host *from, struct host *to, const struct way *way)
{
	from->world->ways[from->number][to->number] = *way;
}

const struct ip_address *host_address(const struct host *host)
{
	return &host->address;
}

void host_shift_wall(struct host *host, int64_t seconds)
{
	host->wall_shift_s += seconds;
}

struct clock *host_clock(struct host *host)
{
	return &host->clock;
}

struct loop *host_loop(struct host *host)
{
	return &host->loop;
}

struct seam *host_seam(struct host *host)
{
	return &host->seam;
}

struct host_counts host_counts(const struct host *host)
{
	return host->counts;
}

struct mono clock_now(struct clock *clock)
{
	return clock->host->world->now;
}

struct wall clock_wall(struct clock *clock)
{
	uint64_t ns = clock->host->world->now.ns;

	return (struct wall){ (uint64_t)((int64_t)(1700000000 + ns / 1000000000) + clock->host->wall_shift_s),
		(uint32_t)(ns % 1000000000) };
}
