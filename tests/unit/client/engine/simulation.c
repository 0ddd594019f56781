/* SPDX-License-Identifier: MIT */
#include "tests/unit/client/engine/simulation.h"

#include "core/base/bytes.h"
#include "core/crypto/crypto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TURNS_MAX 2000 /* at one instant */
#define IP_LEN 20
#define IP_UDP_LEN 28
#define PROTOCOL_UDP 17

static void hex(const uint8_t key[32], char out[65])
{
	for (size_t i = 0; i < 32; i++)
		snprintf(out + 2 * i, 3, "%02x", key[i]);
}

static void turn_all(struct simulation *sim)
{
	struct side *sides[] = { &sim->client, &sim->server };
	bool again = true;

	for (int turns = 0; again; turns++) {
		assert_true(turns < TURNS_MAX);
		again = false;
		for (size_t i = 0; i < 2; i++) {
			if (!host_ready(sides[i]->host) &&
				!mono_reached(world_now(sim->world), engine_deadline(sides[i]->engine)))
				continue;
			assert_int_equal(engine_turn(sides[i]->engine), 0);
			again = true;
		}
		world_advance(sim->world, world_now(sim->world));
	}
}

void sim_run(struct simulation *sim, uint64_t ms)
{
	struct mono end = mono_add_ms(world_now(sim->world), ms);

	for (;;) {
		turn_all(sim);
		if (mono_reached(world_now(sim->world), end))
			return;
		struct mono next = mono_min(end, world_next(sim->world));

		next = mono_min(next, engine_deadline(sim->client.engine));
		next = mono_min(next, engine_deadline(sim->server.engine));
		world_advance(sim->world, next);
	}
}

static char *ask(struct simulation *sim, struct side *side, const char *text)
{
	char *answer;

	host_ask(side->host, text);
	turn_all(sim);
	answer = host_answer(side->host);
	assert_non_null(answer);
	return answer;
}

void sim_set(struct simulation *sim, struct side *side, const char *lines)
{
	char *text = malloc(strlen(lines) + 16), *answer;

	sprintf(text, "set=1\n%s\n", lines);
	answer = ask(sim, side, text);
	assert_string_equal(answer, "errno=0\n\n");
	free(answer);
	free(text);
}

struct uapi_peer sim_peer(struct simulation *sim, struct side *side)
{
	char *answer = ask(sim, side, "get=1\n\n");
	struct uapi_device device;
	struct uapi_peer peer;

	assert_int_equal(uapi_parse_get(answer, strlen(answer), &device), 0);
	assert_int_equal(device.peer_count, 1);
	peer = device.peers[0];
	peer.allowed_ips = NULL;
	uapi_device_free(&device);
	free(answer);
	return peer;
}

static void configure(struct simulation *sim, struct side *side, struct side *other, bool endpoint, bool preshared,
	const char *extra, const char *peer_extra)
{
	char private_key[65], public_key[65], where[ENDPOINT_TEXT_LEN], text[2048];
	struct endpoint remote = { .address = *host_address(other->host), .port = SIM_PORT };

	hex(side->private_key, private_key);
	hex(other->public_key, public_key);
	snprintf(text, sizeof(text),
		"private_key=%s\n%spublic_key=%s\n%s%s%s%s"
		"allowed_ip=%s/32\n%s",
		private_key, extra ? extra : "", public_key,
		preshared ? "preshared_key=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n" : "",
		endpoint ? "endpoint=" : "", endpoint ? endpoint_write(&remote, where) : "", endpoint ? "\n" : "",
		other->inner, peer_extra ? peer_extra : "");
	host_set_dial(side->host, other->public_key, &remote);
	sim_set(sim, side, text);
}

void sim_open(struct simulation *sim, const struct sim_settings *settings)
{
	struct side *sides[] = { &sim->client, &sim->server };
	struct way way = { .delay_us = settings->delay_us };

	assert_true(crypto_init());
	sim->world = world_new(1);
	sim->client.host = world_add_host(sim->world, "192.0.2.1");
	sim->server.host = world_add_host(sim->world, "192.0.2.2");
	sim->client.inner = "10.9.0.2";
	sim->server.inner = "10.9.0.1";
	sim_way(sim, &way);
	for (size_t i = 0; i < 2; i++) {
		struct side *side = sides[i];
		struct engine_ports ports = {
			.clock = host_clock(side->host), .loop = host_loop(side->host), .seam = host_seam(side->host),
			.handles = side == &sim->server ? settings->server_handles : 0
		};

		dh_generate(side->private_key);
		dh_public(side->public_key, side->private_key);
		side->engine = engine_new(&ports);
		assert_non_null(side->engine);
		host_start(side->host, SIM_PORT, 1420, side == &sim->server);
	}
	configure(sim, &sim->client, &sim->server, true, settings->preshared, settings->client_extra,
		settings->client_peer_extra);
	configure(sim, &sim->server, &sim->client, settings->server_endpoint, settings->preshared,
		settings->server_extra, settings->server_peer_extra);
}

void sim_close(struct simulation *sim)
{
	engine_free(sim->client.engine);
	engine_free(sim->server.engine);
	world_free(sim->world);
}

void sim_way_one(struct simulation *sim, bool to_server, const struct way *way)
{
	world_set_way(to_server ? sim->client.host : sim->server.host,
		to_server ? sim->server.host : sim->client.host, way);
}

void sim_way(struct simulation *sim, const struct way *way)
{
	sim_way_one(sim, true, way);
	sim_way_one(sim, false, way);
}

void sim_start(struct simulation *sim)
{
	host_down(sim->client.host, &(struct seam_message){ .kind = SEAM_START });
}

uint64_t sim_run_until_state(struct simulation *sim, const char *state, uint64_t ms)
{
	for (uint64_t passed = 0; passed <= ms; passed += 5) {
		if (!strcmp(sim_peer(sim, &sim->client).state, state))
			return passed;
		sim_run(sim, 5);
	}
	return UINT64_MAX;
}

void sim_ip_header(const struct side *from, const struct side *to, uint8_t protocol, uint8_t *packet, size_t len)
{
	struct ip_address address;

	memset(packet, 0, IP_LEN);
	packet[0] = 0x45;
	put_be16(packet + 2, (uint16_t)len);
	packet[8] = 64;
	packet[9] = protocol;
	assert_true(ip_address_parse(from->inner, strlen(from->inner), &address));
	memcpy(packet + 12, address.bytes, 4);
	assert_true(ip_address_parse(to->inner, strlen(to->inner), &address));
	memcpy(packet + 16, address.bytes, 4);
}

void sim_send(struct simulation *sim, struct side *from, struct side *to, uint32_t number, size_t len)
{
	sim_send_flow(sim, from, to, 0, number, len);
}

void sim_send_flow(struct simulation *sim, struct side *from, struct side *to, uint16_t port, uint32_t number, size_t len)
{
	uint8_t packet[2048] = { 0 };

	(void)sim;
	assert_true(len >= IP_UDP_LEN + 4 && len <= sizeof(packet));
	sim_ip_header(from, to, PROTOCOL_UDP, packet, len);
	put_be16(packet + 20, port);
	put_be16(packet + 24, (uint16_t)(len - IP_LEN));
	put_be32(packet + IP_UDP_LEN, number);
	host_send_inner(from->host, packet, len);
}

bool sim_take(struct side *side, uint32_t *number)
{
	uint8_t packet[2048];
	size_t len = host_take_inner(side->host, packet, sizeof(packet));

	if (!len)
		return false;
	assert_true(len >= IP_UDP_LEN + 4);
	*number = get_be32(packet + IP_UDP_LEN);
	return true;
}

size_t sim_exchange(struct simulation *sim, size_t count, uint64_t gap_ms, uint64_t *longest_gap_ms)
{
	struct mono last = world_now(sim->world);
	size_t arrived = 0;
	uint64_t longest = 0;
	uint32_t number;

	for (size_t i = 0; i < count; i++) {
		sim_send(sim, &sim->client, &sim->server, (uint32_t)i, 200);
		sim_send(sim, &sim->server, &sim->client, (uint32_t)i, 200);
		sim_run(sim, gap_ms);
		for (; sim_take(&sim->client, &number);)
			arrived++;
		for (; sim_take(&sim->server, &number);) {
			uint64_t gap = mono_since_ms(world_now(sim->world), last);

			longest = gap > longest ? gap : longest;
			last = world_now(sim->world);
			arrived++;
		}
	}
	if (longest_gap_ms) {
		uint64_t gap = mono_since_ms(world_now(sim->world), last);

		*longest_gap_ms = gap > longest ? gap : longest;
	}
	return arrived;
}
