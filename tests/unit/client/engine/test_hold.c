/* SPDX-License-Identifier: MIT */
/* Constant delay by stamps: what a receiver behind a path that loses sees of bulk TCP, and what is left
 * alone. */
#include "tests/unit/client/engine/simulation.h"

#include "client/engine/state.h"
#include "core/base/bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define DELAY_US 30000
#define STEP_MS 2
#define STEPS 1000 /* less than what makes a path known */
#define STEPS_MAX 1900
#define PROTOCOL_TCP 6
#define PROTOCOL_UDP 17

struct spread {
	uint64_t least_ms, most_ms;
	uint32_t arrived, disordered;
};

static void send(struct simulation *sim, uint8_t protocol, uint32_t number, size_t len)
{
	uint8_t packet[1400] = { 0 };

	sim_ip_header(&sim->client, &sim->server, protocol, packet, len);
	put_be16(packet + 20, 1000);
	put_be16(packet + 22, 2000);
	packet[32] = 5 << 4; /* data offset of TCP */
	put_be32(packet + 40, number);
	host_send_inner(sim->client.host, packet, len);
}

/* One packet each step over a TCP carrier that has stood quiet_ms without any; how long they took from the
 * second quarter on. */
static struct spread run(const char *server_extra, uint32_t loss_ppm, uint8_t protocol, size_t len,
	uint32_t steps, uint32_t quiet_ms)
{
	struct sim_settings settings = {
		.delay_us = DELAY_US, .client_extra = "transport=tcp\n", .server_extra = server_extra
	};
	struct way way = { .delay_us = DELAY_US, .loss_ppm = loss_ppm };
	struct spread spread = { .least_ms = UINT64_MAX };
	struct mono sent[STEPS_MAX];
	struct simulation sim;
	uint8_t packet[1400];
	uint32_t next = 0;

	sim_open(&sim, &settings);
	sim_start(&sim);
	assert_in_range(sim_run_until_state(&sim, "up", 5000), 0, 4000);
	sim_run(&sim, quiet_ms);
	sim_way_one(&sim, true, &way);
	for (uint32_t i = 0; i < steps + 200; i++) {
		if (i < steps) {
			sent[i] = world_now(sim.world);
			send(&sim, protocol, i, len);
		}
		sim_run(&sim, STEP_MS);
		while (host_take_inner(sim.server.host, packet, sizeof(packet))) {
			uint32_t number = get_be32(packet + 40);
			uint64_t took;

			assert_true(number < steps);
			took = mono_since_ms(world_now(sim.world), sent[number]);
			spread.arrived++;
			spread.disordered += number < next;
			next = number + 1;
			if (number < steps / 4)
				continue;
			spread.least_ms = took < spread.least_ms ? took : spread.least_ms;
			spread.most_ms = took > spread.most_ms ? took : spread.most_ms;
		}
	}
	sim_close(&sim);
	print_message("%u of %u arrived, %u out of order, after %u to %u ms\n", spread.arrived, steps,
		spread.disordered, (unsigned)spread.least_ms, (unsigned)spread.most_ms);
	assert_int_equal(spread.arrived, steps);
	return spread;
}

static void bulk_comes_at_a_constant_delay(void **state)
{
	struct spread held, bare;

	(void)state;
	held = run(NULL, 10000, PROTOCOL_TCP, 1200, STEPS, 0);
	bare = run("extensions=off\n", 10000, PROTOCOL_TCP, 1200, STEPS, 0);
	/* Twice lost in a row is rare, and comes late here, too. */
	assert_in_range(held.least_ms, 85, 95);
	assert_in_range(held.most_ms, 85, 105);
	assert_int_equal(held.disordered, 0);
	assert_in_range(bare.least_ms, 30, 34);
	assert_in_range(bare.most_ms, 85, 200);
}

static void datagrams_are_left_alone(void **state)
{
	struct spread spread;

	(void)state;
	spread = run(NULL, 0, PROTOCOL_UDP, 1200, STEPS, 0);
	assert_in_range(spread.most_ms, 30, 34);
}

/* A flow of small packets is held while it is young, and then no more. */
static void what_is_not_bulk_is_left_alone_later(void **state)
{
	struct spread spread;

	(void)state;
	spread = run(NULL, 0, PROTOCOL_TCP, 100, STEPS_MAX, 0);
	assert_in_range(spread.least_ms, 30, 34);
	assert_in_range(spread.most_ms, 85, 95);
}

/* On a clean path that stands and has carried little nobody waits twice, bulk or not. */
static void an_old_stream_holds_nothing(void **state)
{
	struct spread spread;

	(void)state;
	spread = run(NULL, 0, PROTOCOL_TCP, 1200, STEPS, 11000);
	assert_in_range(spread.most_ms, 30, 34);
}

/* Whatever a peer calls its time, nothing is held longer than the constant. */
static void a_stamp_may_be_anything(void **state)
{
	const struct mono now = { 1000000000000 };
	static const uint64_t ahead[][2] = {
		{ (UINT64_C(1) << 63) - 10, 0 - (UINT64_C(1) << 62) },
		{ UINT64_C(1) << 63, 1 },
		{ UINT64_MAX, UINT64_C(1) << 62 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(ahead) / sizeof(ahead[0]); i++) {
		struct engine *engine = calloc(1, sizeof(*engine));
		struct link *link = calloc(1, sizeof(*link));
		struct stream *stream = calloc(1, sizeof(*stream));
		struct packet *packet;

		assert_true(engine && link && stream);
		engine->now = now;
		engine->pool = packet_pool_new(2048, 2048);
		*link = (struct link){ .engine = engine, .pace.rtt_us = DELAY_US };
		stream->engine = engine;
		stream->link = link;
		hold_take_stamp(link, stream, now.ns + ahead[i][0]);
		hold_take_stamp(link, stream, now.ns + ahead[i][1]);
		packet = packet_take(engine->pool);
		memset(packet->data, 0, 1400);
		packet->data[0] = 0x45;
		packet->data[9] = PROTOCOL_TCP;
		packet->data[32] = 5 << 4;
		packet->len = 1400;
		if (hold_take(stream, packet)) {
			assert_true(packet->queued.ns <= now.ns + DELAY_US * UINT64_C(1000));
			packet_list_pop(&stream->held_packets);
		}
		packet_give(engine->pool, packet);
		packet_pool_free(engine->pool);
		free(link->hold);
		free(stream);
		free(link);
		free(engine);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bulk_comes_at_a_constant_delay),
		cmocka_unit_test(datagrams_are_left_alone),
		cmocka_unit_test(what_is_not_bulk_is_left_alone_later),
		cmocka_unit_test(an_old_stream_holds_nothing),
		cmocka_unit_test(a_stamp_may_be_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
