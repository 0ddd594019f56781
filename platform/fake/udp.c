/* SPDX-License-Identifier: MIT */
/* Datagrams between hosts. */
#include "platform/fake/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TYPE_DATA 4

int udp_adopt(int handle, struct udp **out)
{
	*out = handle_take(handle, OBJECT_UDP);
	return *out ? 0 : -EBADF;
}

void udp_close(struct udp *udp)
{
	chunks_clear(&udp->in);
	chunks_clear(&udp->lent);
	if (udp->host->udp == udp)
		udp->host->udp = NULL;
	free(udp);
}

enum ip_family udp_family(const struct udp *udp)
{
	return udp->host->address.family;
}

int udp_receive(struct udp *udp, struct udp_datagram *out, size_t max)
{
	size_t count = 0;

	chunks_clear(&udp->lent);
	for (struct chunk *chunk; count < max && (chunk = chunks_pop(&udp->in)); count++) {
		out[count] = (struct udp_datagram){ chunk->bytes, chunk->len, chunk->path, 0 };
		chunks_push(&udp->lent, chunk);
	}
	return (int)count;
}

static void arrive(struct world *world, void *subject, struct chunk *chunk, struct host *from, struct host *to)
{
	uint16_t port = (uint16_t)(chunk->path.local.bytes[15] * 256u + chunk->path.local.bytes[14]);
	struct datagram *datagram = datagram_find(to, port, &chunk->path.remote);

	(void)world;
	(void)subject;
	(void)from;
	if (datagram) {
		chunks_push(&datagram->in, chunk);
	} else if (to->udp && to->udp->port == port) {
		chunk->path.local = to->address;
		chunks_push(&to->udp->in, chunk);
	} else {
		free(chunk);
	}
}

static void refused(struct world *world, void *subject, struct chunk *chunk, struct host *from, struct host *to)
{
	uint16_t port = (uint16_t)(chunk->path.local.bytes[15] * 256u + chunk->path.local.bytes[14]);
	struct datagram *datagram = datagram_find(from, port, &chunk->path.remote);

	(void)world;
	(void)subject;
	(void)to;
	if (datagram) {
		datagram->error = -ECONNREFUSED;
	} else if (from->udp) {
		from->udp->error.remote = chunk->path.remote;
		from->udp->error.waiting = true;
	}
	free(chunk);
}

/* The port a datagram is about rides in the unused end of the local address until it arrives. */
static void put_port(struct chunk *chunk, uint16_t port)
{
	chunk->path.local.bytes[15] = (uint8_t)(port >> 8);
	chunk->path.local.bytes[14] = (uint8_t)port;
}

void wire_send(struct host *from, uint16_t port, const struct endpoint *remote, const uint8_t *bytes, size_t len)
{
	struct host *to = world_find(from->world, &remote->address);
	const struct way *way = to ? world_way(from, to) : NULL;
	struct chunk *chunk;

	from->counts.datagrams++;
	if (!to || way->drop_udp || world_chance(from->world, way->loss_ppm) ||
		(way->drop_udp_over && len > way->drop_udp_over) ||
		(way->drop_udp_data && len && bytes[0] == TYPE_DATA))
		return;
	chunk = chunk_new(bytes, len);
	if (way->reject_udp) {
		chunk->path.remote = *remote;
		put_port(chunk, port);
		world_schedule(from->world, 2 * (uint64_t)way->delay_us, refused, NULL, chunk, from, to);
		return;
	}
	chunk->path.remote = (struct endpoint){ .address = from->address, .port = port };
	put_port(chunk, remote->port);
	world_schedule(from->world, way->delay_us, arrive, NULL, chunk, from, to);
}

int udp_send(struct udp *udp, struct udp_path *path, struct packet *const *packets, size_t count, size_t *sent)
{
	for (size_t i = 0; i < count; i++)
		wire_send(udp->host, udp->port, &path->remote, packets[i]->data, packets[i]->len);
	*sent = count;
	return 0;
}

int udp_error(struct udp *udp, struct endpoint *remote)
{
	if (!udp->error.waiting)
		return 0;
	udp->error.waiting = false;
	*remote = udp->error.remote;
	return -ECONNREFUSED;
}
