/* SPDX-License-Identifier: MIT */
/* Two or more engines in one world, driven on virtual time. */
#ifndef WGTCP_TESTS_UNIT_CLIENT_ENGINE_SIMULATION_H
#define WGTCP_TESTS_UNIT_CLIENT_ENGINE_SIMULATION_H

#include "client/engine/engine.h"
#include "core/uapi/uapi.h"
#include "platform/fake/world.h"

#define SIM_PORT 51820

struct side {
	struct host *host;
	struct engine *engine;
	uint8_t private_key[32], public_key[32];
	const char *inner; /* "10.9.0.1" */
};

struct simulation {
	struct world *world;
	struct side client, server;
};

struct sim_settings {
	const char *client_extra; /* UAPI lines for the client's interface, for the client's peer */
	const char *client_peer_extra;
	const char *server_extra, *server_peer_extra;
	uint32_t delay_us;        /* one way */
	bool preshared;
	bool server_endpoint;     /* the server knows where the client is, too */
	size_t server_handles;    /* 0: more than it wants */
};

/* Both interfaces up and configured; nothing sent yet. */
void sim_open(struct simulation *sim, const struct sim_settings *settings);
void sim_close(struct simulation *sim);
/* Lets ms of virtual time pass. Fails the test when an engine spins without time passing. */
void sim_run(struct simulation *sim, uint64_t ms);
/* Until the client's peer is in `state` ("up") or ms have passed; the milliseconds it took, or UINT64_MAX. */
uint64_t sim_run_until_state(struct simulation *sim, const char *state, uint64_t ms);
void sim_start(struct simulation *sim); /* SEAM_START on the client */
void sim_set(struct simulation *sim, struct side *side, const char *lines);
/* One peer of a side as UAPI tells it. */
struct uapi_peer sim_peer(struct simulation *sim, struct side *side);
/* Both ways between client and server. */
void sim_way(struct simulation *sim, const struct way *way);
void sim_way_one(struct simulation *sim, bool to_server, const struct way *way);
/* The 20 bytes of an IPv4 header between the inner addresses of two sides, without its checksum. */
void sim_ip_header(const struct side *from, const struct side *to, uint8_t protocol, uint8_t *packet, size_t len);
/* Sends an inner UDP packet with this number and total length from one side to the other. */
void sim_send(struct simulation *sim, struct side *from, struct side *to, uint32_t number, size_t len);
/* The same from a certain source port: another flow. */
void sim_send_flow(struct simulation *sim, struct side *from, struct side *to, uint16_t port, uint32_t number, size_t len);
/* The next number that came out at a side; false: none. */
bool sim_take(struct side *side, uint32_t *number);
/* Sends `count` numbered packets each way, one each gap_ms, and returns how many arrived at the end (both ways);
 * *longest_gap_ms: the longest time without any arrival at the server. */
size_t sim_exchange(struct simulation *sim, size_t count, uint64_t gap_ms, uint64_t *longest_gap_ms);

#endif
