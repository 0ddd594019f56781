/* SPDX-License-Identifier: MIT */
/* Engines and relays in one world, driven on virtual time. */
#ifndef WGTCP_TESTS_UNIT_CLIENT_RELAY_STAGE_H
#define WGTCP_TESTS_UNIT_CLIENT_RELAY_STAGE_H

#include "client/engine/engine.h"
#include "client/relay/relay.h"
#include "core/uapi/uapi.h"
#include "platform/fake/world.h"

struct stage_engine {
	struct host *host;
	struct engine *engine;
	uint8_t private_key[32], public_key[32];
	const char *inner;
};

struct stage {
	struct world *world;
	struct stage_engine client, server;
	struct host *relay; /* the relay's host */
	struct relay_server *relay_server;
	struct relay_client *relay_client;
};

#define STAGE_PORT 51820
#define STAGE_TCP_PORT 443

/* A world of three hosts: client 192.0.2.1, server 192.0.2.2, relay 192.0.2.3. Nothing runs yet. */
void stage_open(struct stage *stage, uint32_t delay_us);
void stage_close(struct stage *stage);
void stage_start_engine(
	struct stage *stage, struct stage_engine *engine, bool listen, const char *interface_lines);
/* peer_lines: of the other as this one's peer. */
void stage_add_peer(struct stage *stage, struct stage_engine *engine, const struct stage_engine *other,
	const char *peer_lines);
void stage_set(struct stage *stage, struct stage_engine *engine, const char *lines);
struct uapi_peer stage_peer(struct stage *stage, struct stage_engine *engine);
/* The server part on the relay's host, in front of the server. */
void stage_start_relay_server(struct stage *stage);
void stage_stop_relay_server(struct stage *stage);
/* Lets ms of virtual time pass. Fails the test when something spins without time passing. */
void stage_run(struct stage *stage, uint64_t ms);
/* Both ways between two hosts. */
void stage_way(struct host *a, struct host *b, const struct way *way);
/* One numbered packet each way every gap_ms; how many arrived. *longest_gap_ms (if not NULL): without any at
 * the server. */
size_t stage_exchange(struct stage *stage, size_t count, uint64_t gap_ms, uint64_t *longest_gap_ms);
struct endpoint stage_endpoint(const struct host *host, uint16_t port);

#endif
