/* SPDX-License-Identifier: MIT */
#include "tests/unit/client/relay/stage.h"

#include "core/base/bytes.h"
#include "core/crypto/crypto.h"
#include "core/port/tcp.h"
#include "tests/contract/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TURNS_MAX 5000 /* at one instant */
#define IP_UDP_LEN 28

static void hex(const uint8_t key[32], char out[65])
{
	for (size_t i = 0; i < 32; i++)
		snprintf(out + 2 * i, 3, "%02x", key[i]);
}

struct endpoint stage_endpoint(const struct host *host, uint16_t port)
{
	return (struct endpoint){ .address = *host_address(host), .port = port };
}

void stage_way(struct host *a, struct host *b, const struct way *way)
{
	world_set_way(a, b, way);
	world_set_way(b, a, way);
}

void stage_open(struct stage *stage, uint32_t delay_us)
{
	const struct way way = { .delay_us = delay_us };
	const struct way near = { .delay_us = 50 };

	memset(stage, 0, sizeof(*stage));
	assert_true(crypto_init());
	stage->world = world_new(1);
	stage->client.host = world_add_host(stage->world, "192.0.2.1");
	stage->server.host = world_add_host(stage->world, "192.0.2.2");
	stage->relay = world_add_host(stage->world, "192.0.2.3");
	stage->client.inner = "10.9.0.2";
	stage->server.inner = "10.9.0.1";
	stage_way(stage->client.host, stage->server.host, &way);
	stage_way(stage->client.host, stage->relay, &way);
	stage_way(stage->server.host, stage->relay, &near);
	for (int i = 0; i < 2; i++) {
		struct stage_engine *engine = i ? &stage->server : &stage->client;

		dh_generate(engine->private_key);
		dh_public(engine->public_key, engine->private_key);
	}
}

void stage_close(struct stage *stage)
{
	stage_stop_relay_server(stage);
	relay_client_free(stage->relay_client);
	engine_free(stage->client.engine);
	engine_free(stage->server.engine);
	world_free(stage->world);
}

static bool turn_engine(struct stage *stage, struct stage_engine *engine)
{
	if (!engine->engine || (!host_ready(engine->host) && !mono_reached(world_now(stage->world),
								     engine_deadline(engine->engine))))
		return false;
	assert_int_equal(engine_turn(engine->engine), 0);
	return true;
}

static bool relay_ready(const struct stage *stage, struct mono deadline)
{
	return host_ready(stage->relay) || mono_reached(world_now(stage->world), deadline);
}

static void turn_all(struct stage *stage)
{
	bool again = true;

	for (int turns = 0; again; turns++) {
		assert_true(turns < TURNS_MAX);
		again = turn_engine(stage, &stage->client);
		again |= turn_engine(stage, &stage->server);
		if (stage->relay_server && relay_ready(stage, relay_server_deadline(stage->relay_server))) {
			assert_int_equal(relay_server_turn(stage->relay_server), 0);
			again = true;
		}
		if (stage->relay_client && relay_ready(stage, relay_client_deadline(stage->relay_client))) {
			assert_int_equal(relay_client_turn(stage->relay_client), 0);
			again = true;
		}
		world_advance(stage->world, world_now(stage->world));
	}
}

void stage_run(struct stage *stage, uint64_t ms)
{
	struct mono end = mono_add_ms(world_now(stage->world), ms);

	for (;;) {
		turn_all(stage);
		if (mono_reached(world_now(stage->world), end))
			return;
		struct mono next = mono_min(end, world_next(stage->world));

		if (stage->client.engine)
			next = mono_min(next, engine_deadline(stage->client.engine));
		if (stage->server.engine)
			next = mono_min(next, engine_deadline(stage->server.engine));
		if (stage->relay_server)
			next = mono_min(next, relay_server_deadline(stage->relay_server));
		if (stage->relay_client)
			next = mono_min(next, relay_client_deadline(stage->relay_client));
		world_advance(stage->world, next);
	}
}

static char *ask(struct stage *stage, struct stage_engine *engine, const char *text)
{
	char *answer;

	host_ask(engine->host, text);
	turn_all(stage);
	answer = host_answer(engine->host);
	assert_non_null(answer);
	return answer;
}

void stage_set(struct stage *stage, struct stage_engine *engine, const char *lines)
{
	char text[2048], *answer;

	snprintf(text, sizeof(text), "set=1\n%s\n", lines);
	answer = ask(stage, engine, text);
	assert_string_equal(answer, "errno=0\n\n");
	free(answer);
}

struct uapi_peer stage_peer(struct stage *stage, struct stage_engine *engine)
{
	char *answer = ask(stage, engine, "get=1\n\n");
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

void stage_start_engine(
	struct stage *stage, struct stage_engine *engine, bool listen, const char *interface_lines)
{
	struct engine_ports ports = { .clock = host_clock(engine->host),
		.loop = host_loop(engine->host),
		.seam = host_seam(engine->host) };
	char key[65], text[1024];

	engine->engine = engine_new(&ports);
	assert_non_null(engine->engine);
	host_start(engine->host, STAGE_PORT, 1420, listen);
	hex(engine->private_key, key);
	snprintf(text, sizeof(text), "private_key=%s\n%s", key, interface_lines);
	stage_set(stage, engine, text);
}

void stage_add_peer(struct stage *stage, struct stage_engine *engine, const struct stage_engine *other,
	const char *peer_lines)
{
	char key[65], text[1024];

	hex(other->public_key, key);
	snprintf(text, sizeof(text), "public_key=%s\n%sallowed_ip=%s/32\n", key, peer_lines, other->inner);
	stage_set(stage, engine, text);
}

void stage_start_relay_server(struct stage *stage)
{
	const struct relay_ports ports = { .clock = host_clock(stage->relay),
		.loop = host_loop(stage->relay) };
	struct relay_settings settings = { .forward = stage_endpoint(stage->server.host, STAGE_PORT),
		.handles = SIZE_MAX };
	struct tcp_listener *listener;

	memcpy(settings.public_key, stage->server.public_key, 32);
	stage->relay_server = relay_server_new(&ports, &settings);
	assert_non_null(stage->relay_server);
	assert_int_equal(tcp_listener_adopt(host_make_listener(stage->relay, STAGE_TCP_PORT), &listener), 0);
	assert_int_equal(relay_server_listen(stage->relay_server, listener), 0);
}

void stage_stop_relay_server(struct stage *stage)
{
	relay_server_free(stage->relay_server);
	stage->relay_server = NULL;
}

static void send_inner(struct stage_engine *from, struct stage_engine *to, uint32_t number)
{
	uint8_t packet[200] = { 0x45 };
	struct ip_address address;

	put_be16(packet + 2, sizeof(packet));
	packet[8] = 64;
	packet[9] = 17;
	assert_true(ip_address_parse(from->inner, strlen(from->inner), &address));
	memcpy(packet + 12, address.bytes, 4);
	assert_true(ip_address_parse(to->inner, strlen(to->inner), &address));
	memcpy(packet + 16, address.bytes, 4);
	put_be16(packet + 24, sizeof(packet) - 20);
	put_be32(packet + IP_UDP_LEN, number);
	host_send_inner(from->host, packet, sizeof(packet));
}

static size_t take_inner(struct stage_engine *engine)
{
	uint8_t packet[2048];
	size_t count = 0;

	while (host_take_inner(engine->host, packet, sizeof(packet)))
		count++;
	return count;
}

size_t stage_exchange(struct stage *stage, size_t count, uint64_t gap_ms, uint64_t *longest_gap_ms)
{
	struct mono last = world_now(stage->world);
	size_t arrived = 0;
	uint64_t longest = 0;

	for (size_t i = 0; i < count; i++) {
		send_inner(&stage->client, &stage->server, (uint32_t)i);
		send_inner(&stage->server, &stage->client, (uint32_t)i);
		stage_run(stage, gap_ms);
		arrived += take_inner(&stage->client);
		size_t now = take_inner(&stage->server);

		if (now) {
			uint64_t gap = mono_since_ms(world_now(stage->world), last);

			longest = gap > longest ? gap : longest;
			last = world_now(stage->world);
		}
		arrived += now;
	}
	/* What is under way. */
	stage_run(stage, 1000);
	arrived += take_inner(&stage->client) + take_inner(&stage->server);
	if (longest_gap_ms)
		*longest_gap_ms = longest;
	return arrived;
}
