/* SPDX-License-Identifier: MIT */
/* Connected UDP sockets between hosts. */
#include "platform/fake/internal.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_PORT 30000

static struct datagram *make(struct host *host, uint16_t port, const struct endpoint *remote)
{
	struct datagram *datagram = calloc(1, sizeof(*datagram));

	assert(datagram);
	datagram->host = host;
	datagram->port = port ? port : (uint16_t)(FIRST_PORT + host->next_port++ % 20000);
	datagram->remote = *remote;
	datagram->next = host->datagrams;
	host->datagrams = datagram;
	return datagram;
}

int host_make_datagram(struct host *host, uint16_t port, const struct endpoint *remote)
{
	return handle_make(OBJECT_DATAGRAM, make(host, port, remote));
}

struct datagram *datagram_find(const struct host *host, uint16_t port, const struct endpoint *remote)
{
	for (struct datagram *datagram = host->datagrams; datagram; datagram = datagram->next)
		if (datagram->port == port && endpoint_equal(&datagram->remote, remote))
			return datagram;
	return NULL;
}

int datagram_adopt(int handle, struct datagram **out)
{
	*out = handle_take(handle, OBJECT_DATAGRAM);
	return *out ? 0 : -EBADF;
}

int datagram_open(struct loop *loop, const struct ip_address *local, const struct endpoint *remote,
	struct datagram **out)
{
	(void)local;
	*out = make(loop->host, 0, remote);
	return 0;
}

void datagram_close(struct datagram *datagram)
{
	if (!datagram)
		return;
	for (struct datagram **at = &datagram->host->datagrams; *at; at = &(*at)->next)
		if (*at == datagram) {
			*at = datagram->next;
			break;
		}
	chunks_clear(&datagram->in);
	free(datagram);
}

long datagram_receive(struct datagram *datagram, uint8_t *out, size_t size, size_t *segment)
{
	struct chunk *chunk;
	long len;

	if (datagram->error) {
		int error = datagram->error;

		datagram->error = 0;
		return error;
	}
	chunk = chunks_pop(&datagram->in);
	if (!chunk)
		return -EAGAIN;
	assert(chunk->len <= size);
	memcpy(out, chunk->bytes, chunk->len);
	*segment = chunk->len;
	len = (long)chunk->len;
	/* Those of one size come together, as a kernel merges them. */
	while (chunk->len == *segment && datagram->in.head && datagram->in.head->len <= *segment &&
		datagram->in.head->len && (size_t)len + *segment <= size) {
		free(chunk);
		chunk = chunks_pop(&datagram->in);
		memcpy(out + len, chunk->bytes, chunk->len);
		len += (long)chunk->len;
	}
	free(chunk);
	return len;
}

/* The wires carry none. */
uint8_t datagram_ecn(const struct datagram *datagram)
{
	(void)datagram;
	return 0;
}

int datagram_send(struct datagram *datagram, const struct datagram_piece *pieces, size_t count)
{
	int error = datagram->error;

	datagram->error = 0;
	for (size_t i = 0; i < count; i++)
		wire_send(datagram->host, datagram->port, &datagram->remote, pieces[i].data, pieces[i].len);
	return error;
}
