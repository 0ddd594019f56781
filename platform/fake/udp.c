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
	(void)world;
	(void)subject;
	(void)from;
	if (to->udp && to->udp->port == chunk->path.local.bytes[15] * 256u + chunk->path.local.bytes[14]) {
		chunk->path.local = to->address;
		chunks_push(&to->udp->in, chunk);
	} else {
		free(chunk);
	}
}

static void refused(struct world *world, void *subject, struct chunk *chunk, struct host *from, struct host *to)
{
	(void)world;
	(void)subject;
	(void)to;
	if (from->udp) {
		from->udp->error.remote = chunk->path.remote;
		from->udp->error.waiting = true;
	}
	free(chunk);
}

static void send_one(struct udp *udp, const struct udp_path *path, const struct packet *packet)
{
	struct host *from = udp->host, *to = world_find(from->world, &path->remote.address);
	const struct way *way = to ? world_way(from, to) : NULL;
	struct chunk *chunk;

	from->counts.datagrams++;
	if (!to || way->drop_udp || world_chance(from->world, way->loss_ppm) ||
		(way->drop_udp_over && packet->len > way->drop_udp_over) ||
		(way->drop_udp_data && packet->len && packet->data[0] == TYPE_DATA))
		return;
	chunk = chunk_new(packet->data, packet->len);
	if (way->reject_udp) {
		chunk->path.remote = path->remote;
		world_schedule(from->world, 2 * (uint64_t)way->delay_us, refused, NULL, chunk, from, to);
		return;
	}
	chunk->path.remote = (struct endpoint){ .address = from->address, .port = udp->port };
	/* The port it is for rides in the unused end of the local address until it arrives. */
	chunk->path.local.bytes[15] = (uint8_t)(path->remote.port >> 8);
	chunk->path.local.bytes[14] = (uint8_t)path->remote.port;
	world_schedule(from->world, way->delay_us, arrive, NULL, chunk, from, to);
}

int udp_send(struct udp *udp, struct udp_path *path, struct packet *const *packets, size_t count, size_t *sent)
{
	for (size_t i = 0; i < count; i++)
		send_one(udp, path, packets[i]);
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
