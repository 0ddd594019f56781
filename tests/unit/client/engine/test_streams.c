/* SPDX-License-Identifier: MIT */
/* Several streams to one peer, with whole engines in memory on virtual time. */
#include "tests/unit/client/engine/simulation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FLOWS 8
#define NUMBERS 100000

/* Too short for streams that are opened before anything is known. */
static const struct sim_settings by_tcp = { .delay_us = 9000, .client_extra = "transport=tcp\n" };

/* What came out, counted by number. */
static uint8_t *seen;

static int reset_seen(void **state)
{
	(void)state;
	free(seen);
	seen = calloc(1, NUMBERS);
	return seen ? 0 : -1;
}

static int free_seen(void **state)
{
	(void)state;
	free(seen);
	seen = NULL;
	return 0;
}

static uint32_t next_number;

/* For so long, a packet of each flow and way each 2 ms; the number of packets sent to the server. */
static uint32_t traffic(struct simulation *sim, uint64_t ms, size_t len)
{
	uint32_t number, sent = 0;

	for (uint64_t passed = 0; passed < ms; passed += 2) {
		for (uint16_t flow = 0; flow < FLOWS; flow++) {
			assert_true(next_number < NUMBERS);
			sim_send_flow(
				sim, &sim->client, &sim->server, (uint16_t)(1000 + flow), next_number++, len);
			sim_send_flow(sim, &sim->server, &sim->client, (uint16_t)(2000 + flow), NUMBERS, len);
			sent++;
		}
		sim_run(sim, 2);
		while (sim_take(&sim->server, &number))
			if (number < NUMBERS)
				seen[number]++;
		while (sim_take(&sim->client, &number))
			;
	}
	return sent;
}

/* Up to this number (excluded) all have come; how many are missing from `first` on. None came twice. */
static uint32_t missing(uint32_t first, uint32_t end)
{
	uint32_t count = 0;

	for (uint32_t i = first; i < end; i++) {
		assert_in_range(seen[i], 0, 1);
		count += !seen[i];
	}
	return count;
}

static void open_lossy(struct simulation *sim, const struct sim_settings *settings)
{
	next_number = 0;
	sim_open(sim, settings);
	sim_start(sim);
	assert_in_range(sim_run_until_state(sim, "up", 3000), 0, 2900);
	assert_in_range(host_streams(sim->client.host), 1, settings->delay_us < 10000 ? 1 : 8);
	host_lossy_streams(sim->client.host, true);
	host_lossy_streams(sim->server.host, true);
}

static size_t used(const struct host *host, uint64_t least)
{
	size_t count = 0;

	for (size_t i = 0; i < host_streams(host); i++)
		count += host_stream_bytes(host, i) >= least;
	return count;
}

/* Streams join, flows spread over them, both ways, and nothing is lost or doubled. */
static void loss_opens_streams(void **state)
{
	struct simulation sim;

	(void)state;
	open_lossy(&sim, &by_tcp);
	traffic(&sim, 3000, 1000);
	assert_int_equal(host_streams(sim.client.host), 8);
	assert_int_equal(host_streams(sim.server.host), 8);
	traffic(&sim, 2000, 1000);
	assert_true(used(sim.client.host, 200) >= 6);
	assert_true(used(sim.server.host, 200) >= 6);
	sim_run(&sim, 1000);
	traffic(&sim, 2, 1000);
	assert_int_equal(missing(0, next_number - 2 * FLOWS), 0);
	sim_close(&sim);
}

static void a_clean_path_has_one(void **state)
{
	struct simulation sim;

	(void)state;
	open_lossy(&sim, &by_tcp);
	host_lossy_streams(sim.client.host, false);
	host_lossy_streams(sim.server.host, false);
	traffic(&sim, 3000, 1000);
	assert_int_equal(host_streams(sim.client.host), 1);
	sim_close(&sim);
}

/* A peer without the capability would retire the older connection at each new one. */
static void a_peer_without_the_capability_gets_one(void **state)
{
	struct sim_settings settings = by_tcp;
	struct simulation sim;

	(void)state;
	settings.server_extra = "extensions=off\n";
	open_lossy(&sim, &settings);
	traffic(&sim, 3000, 1000);
	assert_int_equal(host_streams(sim.client.host), 1);
	assert_int_equal(host_counts(sim.client.host).dials, 1);
	sim_close(&sim);
}

/* On a long path several are opened at once, and closed when it was clean. */
static void a_long_path_begins_with_several(void **state)
{
	struct sim_settings settings = by_tcp;
	struct simulation sim;

	(void)state;
	settings.delay_us = 30000;
	open_lossy(&sim, &settings);
	host_lossy_streams(sim.client.host, false);
	host_lossy_streams(sim.server.host, false);
	traffic(&sim, 2000, 1000);
	assert_int_equal(host_streams(sim.client.host), 8);
	traffic(&sim, 3000, 1000);
	sim_run(&sim, 40000);
	assert_int_equal(host_streams(sim.client.host), 1);
	traffic(&sim, 1000, 1000);
	assert_int_equal(host_streams(sim.client.host), 1);
	sim_close(&sim);
}

static void idle_streams_are_closed(void **state)
{
	struct simulation sim;

	(void)state;
	open_lossy(&sim, &by_tcp);
	traffic(&sim, 2000, 1000);
	assert_int_equal(host_streams(sim.client.host), 8);
	host_lossy_streams(sim.client.host, false);
	host_lossy_streams(sim.server.host, false);
	sim_run(&sim, 60000);
	assert_int_equal(host_streams(sim.client.host), 1);
	assert_int_equal(host_streams(sim.server.host), 1);
	uint32_t first = next_number;
	traffic(&sim, 1000, 1000);
	sim_run(&sim, 500);
	traffic(&sim, 2, 1000);
	assert_int_equal(missing(first, next_number - 2 * FLOWS), 0);
	assert_string_equal(sim_peer(&sim, &sim.client).state, "up");
	sim_close(&sim);
}

/* One breaks, or stands still: what was on its way is lost, the flows go on by the others. The first one is
 * also the one that handshakes take. */
static void a_dead_stream_moves_its_flows(void **state)
{
	for (size_t which = 0; which < 8; which += 7)
		for (int stall = 0; stall < 2; stall++) {
			struct simulation sim;
			uint32_t first, broken;

			(void)state;
			reset_seen(NULL);
			open_lossy(&sim, &by_tcp);
			traffic(&sim, 2000, 1000);
			assert_int_equal(host_streams(sim.client.host), 8);
			broken = next_number;
			if (stall)
				host_stall_stream(sim.client.host, which, true);
			else
				host_reset_stream(sim.client.host, which);
			traffic(&sim, stall ? 1500 : 100, 1000);
			first = next_number;
			traffic(&sim, 1000, 1000);
			sim_run(&sim, 500);
			traffic(&sim, 2, 1000);
			print_message("%s %zu: %u of %u missing, then %u\n", stall ? "stall" : "reset", which,
				missing(broken, first), first - broken,
				missing(first, next_number - 2 * FLOWS));
			assert_int_equal(missing(first, next_number - 2 * FLOWS), 0);
			assert_true(missing(broken, first) < (first - broken) / 4);
			assert_string_equal(sim_peer(&sim, &sim.client).state, "up");
			traffic(&sim, 3000, 1000);
			assert_true(host_streams(sim.client.host) >= 7);
			sim_close(&sim);
		}
}

/* All break at once: a new path is made, and fills up again. */
static void all_streams_broken(void **state)
{
	struct simulation sim;
	uint32_t first;

	(void)state;
	open_lossy(&sim, &by_tcp);
	traffic(&sim, 2000, 1000);
	host_reset_streams(sim.client.host);
	traffic(&sim, 2000, 1000);
	first = next_number;
	traffic(&sim, 2000, 1000);
	sim_run(&sim, 500);
	traffic(&sim, 2, 1000);
	assert_int_equal(missing(first, next_number - 2 * FLOWS), 0);
	assert_int_equal(host_streams(sim.client.host), 8);
	assert_int_equal(host_streams(sim.server.host), 8);
	sim_close(&sim);
}

/* Small packets go out twice and come out once. */
static void small_packets_twice(void **state)
{
	struct simulation sim;
	uint64_t before, large, small;

	(void)state;
	open_lossy(&sim, &by_tcp);
	traffic(&sim, 2000, 1000);
	before = host_counts(sim.client.host).stream_bytes;
	uint32_t first = next_number, count = traffic(&sim, 500, 305);

	large = (host_counts(sim.client.host).stream_bytes - before) / count;
	before = host_counts(sim.client.host).stream_bytes;
	count = traffic(&sim, 500, 300);
	small = (host_counts(sim.client.host).stream_bytes - before) / count;
	print_message("305 bytes cost %u on the wire, 300 cost %u\n", (unsigned)large, (unsigned)small);
	assert_in_range(large, 340, 500);
	assert_in_range(small, 650, 900);
	sim_run(&sim, 500);
	traffic(&sim, 2, 1000);
	assert_int_equal(missing(first, next_number - 2 * FLOWS), 0);
	sim_close(&sim);
}

/* A person changes the carrier, and all streams follow. */
static void switches_with_streams(void **state)
{
	struct sim_settings settings = by_tcp;
	struct simulation sim;

	(void)state;
	settings.client_extra = "transport=auto\n";
	next_number = 0;
	sim_open(&sim, &settings);
	sim_start(&sim);
	sim_run(&sim, 2000);
	for (int i = 0; i < 3; i++) {
		sim_set(&sim, &sim.client, "transport=tcp\n");
		sim_run(&sim, 500);
		host_lossy_streams(sim.client.host, true);
		traffic(&sim, 1500, 1000);
		assert_true(host_streams(sim.client.host) >= 2);
		assert_int_equal(sim_peer(&sim, &sim.client).carrier, CARRIER_TCP);
		assert_int_equal(sim_peer(&sim, &sim.server).carrier, CARRIER_TCP);
		host_lossy_streams(sim.client.host, false);
		sim_set(&sim, &sim.client, "transport=udp\n");
		traffic(&sim, 1000, 1000);
		assert_int_equal(sim_peer(&sim, &sim.client).carrier, CARRIER_UDP);
		assert_int_equal(sim_peer(&sim, &sim.server).carrier, CARRIER_UDP);
		sim_run(&sim, 3000);
		assert_int_equal(host_streams(sim.client.host), 0);
	}
	sim_run(&sim, 500);
	traffic(&sim, 2, 1000);
	print_message("%u of %u missing\n", missing(0, next_number - 2 * FLOWS), next_number);
	assert_int_equal(missing(0, next_number - 2 * FLOWS), 0);
	sim_close(&sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(loss_opens_streams, reset_seen),
		cmocka_unit_test_setup(a_clean_path_has_one, reset_seen),
		cmocka_unit_test_setup(a_peer_without_the_capability_gets_one, reset_seen),
		cmocka_unit_test_setup(a_long_path_begins_with_several, reset_seen),
		cmocka_unit_test_setup(idle_streams_are_closed, reset_seen),
		cmocka_unit_test_setup(a_dead_stream_moves_its_flows, reset_seen),
		cmocka_unit_test_setup(all_streams_broken, reset_seen),
		cmocka_unit_test_setup(small_packets_twice, reset_seen),
		cmocka_unit_test_setup(switches_with_streams, reset_seen),
	};

	return cmocka_run_group_tests(tests, NULL, free_seen);
}
