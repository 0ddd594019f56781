/* SPDX-License-Identifier: MIT */
/* Two tunnels in memory and a clock that is a number: what the tests of this folder share. Each side acts on
 * what its tunnel tells it as an engine would, and a message arrives in the same instant unless the way is
 * cut. */
#ifndef WGTCP_TESTS_UNIT_CORE_TUNNEL_WORLD_H
#define WGTCP_TESTS_UNIT_CORE_TUNNEL_WORLD_H

#include "core/noise/message.h"
#include "core/tunnel/tunnel.h"

#define MESSAGE_MAX 2048
#define WALL_START 1700000000u

struct message {
	uint8_t bytes[MESSAGE_MAX];
	size_t len;
};

struct side {
	struct tunnel *tunnel;
	struct peer *peer; /* the other side */
	struct endpoint at;
	uint8_t private_key[KEY_LEN], public_key[KEY_LEN];
	bool waits;       /* one packet waits for a session */
	unsigned sent[5]; /* by message type; [0]: keepalives, which are not in [4] */
	unsigned got_data, gave_up, zeroed;
	uint32_t got_id; /* of the last packet */
};

struct world {
	struct side side[2]; /* side 0 has the smaller public key */
	uint64_t ms;
	int64_t wall_offset_s[2];
	bool cut[2]; /* what this side sends is lost */
	struct packet_pool *pool;
};

void world_init(struct world *world);
void world_free(struct world *world);
struct mono world_now(const struct world *world);
struct wall world_wall(const struct world *world, int side);

/* Single steps; each makes one message and sends it nowhere. */
enum verdict make_initiation(struct world *world, int side, struct message *out);
enum verdict make_response(struct world *world, int side, struct message *out);
enum verdict make_keepalive(struct world *world, int side, struct message *out);
/* An IPv4 packet of len bytes from this side's address to the other's, with id in its payload. */
size_t inner_write(int side, uint32_t id, size_t len, uint8_t *out);
enum verdict make_data(struct world *world, int side, uint32_t id, size_t len, struct message *out);
/* Any plaintext at all. */
enum verdict make_plain(struct world *world, int side, const uint8_t *plain, size_t len, struct message *out);

/* The message comes in at side `to` by `carrier` from `source`; inner, unless NULL, gets the inner packet. */
enum verdict take_from(struct world *world, int to, enum carrier carrier, const struct endpoint *source,
	const struct message *message, struct received *out, struct message *inner);
/* The same by UDP from where the other side is. */
enum verdict take(struct world *world, int to, const struct message *message, struct received *out);

/* As an engine would: sends it, or lets it wait and wants a handshake. */
void send_data(struct world *world, int side, uint32_t id);
/* A handshake that side begins, and its confirmation, whatever is cut. */
void world_connect(struct world *world, int side);
/* Lets time pass up to ms, with all that falls due. */
void world_run(struct world *world, uint64_t ms);
/* All but the clock goes on; both sides have nothing more to do ever. */
bool world_idle(const struct world *world);

#endif
