/* SPDX-License-Identifier: MIT */
/* One TCP connection as a carrier of messages: what has come in of a record, and what waits to go out.
 * Internal to client/relay; both of its roles use it. */
#ifndef WGTCP_CLIENT_RELAY_CHANNEL_H
#define WGTCP_CLIENT_RELAY_CHANNEL_H

#include "client/relay/pool.h"
#include "core/carrier/codel.h"
#include "core/carrier/record.h"
#include "core/carrier/record_queue.h"

struct loop;
struct tcp;

/* What waits for a peer that does not read: more is dropped, as on any full way. */
#define CHANNEL_WAITING_BYTES (256u << 10)
#define CHANNEL_WAITING_PACKETS 512
#define CHANNEL_WAITING_SHORT 32 /* while the pool is short */

struct channel {
	struct tcp *tcp; /* NULL: closed */
	bool ended;      /* by the peer, or so it seems: closed by RST then */
	struct record_stream in;
	struct packet_list waiting; /* whole messages that may still be dropped */
	struct record_queue out;    /* on their way into the socket */
	struct codel codel;
	struct codel_settings delay;
	uint32_t watched;
};

/* Takes the connection. limit: of the records that come in. */
void channel_open(struct channel *channel, struct tcp *tcp, size_t limit);
void channel_close(struct channel *channel, struct loop *loop, struct pool *pool);
/* Watches for LOOP_ERROR, with reading for LOOP_READ, and for LOOP_WRITE while something waits. */
void channel_watch(struct channel *channel, struct loop *loop, bool reading, void *token);
/* Copies a message behind those that wait; false: dropped. */
bool channel_push(
	struct channel *channel, struct pool *pool, const uint8_t *message, size_t len, struct mono now);
/* Writes what the socket takes. 0, or -errno: the connection is dead. */
int channel_flush(struct channel *channel, struct pool *pool, struct mono now);
/* Bytes read (1..size), 0 at the peer's end, -EAGAIN, or -errno: the connection is dead. */
long channel_read(struct channel *channel, uint8_t *out, size_t size);
/* After the last message of a read: a record that was large leaves no large buffer behind. */
void channel_trim(struct channel *channel);

#endif
