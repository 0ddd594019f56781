/* SPDX-License-Identifier: MIT */
/* Whole engines, loop and fallback included, in memory on virtual time. */
#include "tests/unit/client/engine/simulation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct sim_settings plain = { .delay_us = 10000 };

/* ---- first connect ---- */

static void test_udp_open_sends_no_dial(void **state)
{
	struct simulation sim;
	struct uapi_peer peer;

	(void)state;
	sim_open(&sim, &plain);
	sim_start(&sim);
	assert_in_range(sim_run_until_state(&sim, "up", 1000), 0, 500);
	peer = sim_peer(&sim, &sim.client);
	assert_int_equal(peer.carrier, CARRIER_UDP);
	assert_string_equal(peer.verified, "full");
	assert_string_equal(peer.udp_state, "ok");
	sim_run(&sim, 5000);
	assert_int_equal(host_counts(sim.client.host).dials, 0);
	assert_int_equal(sim_exchange(&sim, 50, 10, NULL), 100);
	sim_close(&sim);
}

struct connect_case {
	const char *name;
	struct way there, back;
	uint64_t at_most_ms;
	enum carrier carrier;
	const char *verified;
};

static void test_first_connect(void **state)
{
	static const struct connect_case cases[] = {
		{ "open", { .delay_us = 10000 }, { .delay_us = 10000 }, 500, CARRIER_UDP, "full" },
		{ "open, slow", { .delay_us = 250000 }, { .delay_us = 250000 }, 2500, CARRIER_NONE, "full" },
		{ "dropped", { .delay_us = 10000, .drop_udp = true }, { .delay_us = 10000, .drop_udp = true }, 1500,
			CARRIER_TCP, "full" },
		{ "rejected", { .delay_us = 10000, .reject_udp = true }, { .delay_us = 10000 }, 700, CARRIER_TCP, "full" },
		{ "way back dropped", { .delay_us = 10000 }, { .delay_us = 10000, .drop_udp = true }, 3000, CARRIER_TCP,
			"full" },
		{ "way there dropped", { .delay_us = 10000, .drop_udp = true }, { .delay_us = 10000 }, 3000, CARRIER_TCP,
			"full" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct simulation sim;
		struct uapi_peer peer;
		uint64_t took;

		sim_open(&sim, &plain);
		sim_way_one(&sim, true, &cases[i].there);
		sim_way_one(&sim, false, &cases[i].back);
		sim_start(&sim);
		took = sim_run_until_state(&sim, "up", cases[i].at_most_ms);
		if (took > cases[i].at_most_ms)
			fail_msg("%s: not up: %s, %s", cases[i].name, sim_peer(&sim, &sim.client).state,
				sim_peer(&sim, &sim.client).reason);
		peer = sim_peer(&sim, &sim.client);
		print_message("%s: up after %u ms\n", cases[i].name, (unsigned)took);
		if (cases[i].carrier != CARRIER_NONE && peer.carrier != cases[i].carrier)
			fail_msg("%s: on the wrong carrier %d (%s)", cases[i].name, (int)peer.carrier, peer.reason);
		if (strcmp(peer.verified, cases[i].verified))
			fail_msg("%s: verified %s", cases[i].name, peer.verified);
		sim_close(&sim);
	}
}

/* Handshakes pass, what matters does not: with somebody inside who answers, UDP is not called good. */
static void test_data_dropped(void **state)
{
	static const struct {
		const char *name;
		struct way way;
		bool answers, extensions;
		enum carrier carrier;
		const char *verified, *reason;
	} cases[] = {
		{ "all data, hello known later", { .drop_udp_data = true }, true, true, CARRIER_TCP, "full", "udp-no-data" },
		{ "all data, only ping", { .drop_udp_data = true }, true, false, CARRIER_TCP, "full", "udp-no-data" },
		{ "large, our peer", { .drop_udp_over = 1300 }, true, true, CARRIER_TCP, "full", "udp-no-large" },
		{ "large, only ping", { .drop_udp_over = 1300 }, true, false, CARRIER_TCP, "full", "udp-no-large" },
		{ "nothing, nobody answers", { 0 }, false, false, CARRIER_UDP, "handshake", NULL },
		{ "all data, nobody answers", { .drop_udp_data = true }, false, false, CARRIER_UDP, "handshake", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sim_settings settings = plain;
		struct simulation sim;
		struct uapi_peer peer;
		struct way way = cases[i].way;
		struct seam_message probe = { .kind = SEAM_PROBE };
		uint64_t took;

		settings.server_extra = cases[i].extensions ? NULL : "extensions=off\n";
		way.delay_us = 10000;
		sim_open(&sim, &settings);
		sim_way(&sim, &way);
		host_answer_pings(sim.server.host, cases[i].answers);
		memcpy(probe.public_key, sim.server.public_key, 32);
		assert_true(ip_address_parse("10.9.0.2", 8, &probe.source));
		assert_true(ip_address_parse("10.9.0.1", 8, &probe.target));
		host_down(sim.client.host, &probe);
		sim_start(&sim);
		took = sim_run_until_state(&sim, "up", 10000);
		peer = sim_peer(&sim, &sim.client);
		print_message("%s: %s after %d ms, carrier %d, verified %s, reason %s, udp %s\n", cases[i].name, peer.state,
			(int)took, (int)peer.carrier, peer.verified, peer.reason, peer.udp_state);
		assert_int_equal(peer.carrier, cases[i].carrier);
		assert_string_equal(peer.verified, cases[i].verified);
		if (cases[i].reason)
			assert_string_equal(peer.reason, cases[i].reason);
		sim_close(&sim);
	}
}

/* The same in the middle of a session: handshakes still pass, so only an echo can tell. */
static void test_data_stops_passing_later(void **state)
{
	(void)state;
	for (int both_send = 0; both_send < 2; both_send++) {
		struct simulation sim;
		struct way way = { .delay_us = 1000, .drop_udp_data = true };
		uint64_t took = 0;

		sim_open(&sim, &plain);
		sim_start(&sim);
		assert_in_range(sim_run_until_state(&sim, "up", 1000), 0, 500);
		sim_exchange(&sim, 100, 10, NULL);
		sim_way(&sim, &way);
		while (took < 25000 && sim_peer(&sim, &sim.client).carrier != CARRIER_TCP) {
			sim_send(&sim, &sim.client, &sim.server, 0, 100);
			if (both_send)
				sim_send(&sim, &sim.server, &sim.client, 0, 100);
			sim_run(&sim, 100);
			took += 100;
		}
		print_message("on TCP after %u ms: %s\n", (unsigned)took, sim_peer(&sim, &sim.client).reason);
		assert_in_range(took, 5000, 12000);
		sim_close(&sim);
	}
}

static void test_both_dropped_fails(void **state)
{
	struct simulation sim;
	struct way way = { .delay_us = 10000, .drop_udp = true, .drop_tcp = true };

	(void)state;
	sim_open(&sim, &plain);
	sim_way(&sim, &way);
	sim_start(&sim);
	assert_in_range(sim_run_until_state(&sim, "failed", 30000), 19000, 21000);
	assert_string_equal(sim_peer(&sim, &sim.client).cause, "peer-unreachable");
	way.drop_tcp = false;
	sim_way(&sim, &way);
	assert_in_range(sim_run_until_state(&sim, "up", 100000), 0, 90000);
	sim_close(&sim);
}

/* ---- while running ---- */

static void test_moves_to_tcp_and_back(void **state)
{
	struct simulation sim;
	struct way way = { .delay_us = 10000, .drop_udp = true };
	uint64_t gap;

	(void)state;
	sim_open(&sim, &plain);
	sim_start(&sim);
	assert_in_range(sim_run_until_state(&sim, "up", 1000), 0, 500);
	sim_way(&sim, &way);
	sim_exchange(&sim, 1200, 10, &gap);
	print_message("gap when UDP is blocked: %u ms\n", (unsigned)gap);
	assert_in_range(gap, 1, 10000);
	assert_int_equal(sim_peer(&sim, &sim.client).carrier, CARRIER_TCP);
	assert_string_equal(sim_peer(&sim, &sim.client).udp_state, "blocked");
	way.drop_udp = false;
	sim_way(&sim, &way);
	sim_exchange(&sim, 15000, 10, &gap);
	assert_int_equal(sim_peer(&sim, &sim.client).carrier, CARRIER_UDP);
	assert_in_range(gap, 0, 200);
	sim_close(&sim);
}

static void test_switching_by_word_loses_nothing(void **state)
{
	struct simulation sim;
	uint32_t number, next[2] = { 0 };

	(void)state;
	sim_open(&sim, &plain);
	sim_start(&sim);
	assert_in_range(sim_run_until_state(&sim, "up", 1000), 0, 500);
	for (uint32_t i = 0; i < 20000; i++) {
		/* A switch each second, rekeys in between. */
		if (i % 100 == 50)
			sim_set(&sim, &sim.client, i % 200 == 50 ? "transport=tcp\n" : "transport=udp\n");
		sim_send(&sim, &sim.client, &sim.server, i, 500);
		sim_send(&sim, &sim.server, &sim.client, i, 500);
		sim_run(&sim, 10);
		/* Between the carriers packets may overtake each other; none may be missing for long. */
		while (sim_take(&sim.server, &number))
			next[0]++;
		while (sim_take(&sim.client, &number))
			next[1]++;
	}
	sim_run(&sim, 1000);
	while (sim_take(&sim.server, &number))
		next[0]++;
	while (sim_take(&sim.client, &number))
		next[1]++;
	print_message("200 switches: %u and %u of 20000 arrived\n", next[0], next[1]);
	assert_int_equal(next[0], 20000);
	assert_int_equal(next[1], 20000);
	sim_close(&sim);
}

static void test_forced_carriers_are_obeyed(void **state)
{
	static const struct {
		const char *extra;
		bool udp_blocked;
	} cases[] = {
		{ "transport=udp\n", false },
		{ "transport=udp\n", true },
		{ "transport=tcp\n", false },
		{ "transport=tcp\n", true },
	};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct sim_settings settings = plain;
		struct simulation sim;
		struct way way = { .delay_us = 10000, .drop_udp = cases[i].udp_blocked };

		settings.client_extra = cases[i].extra;
		sim_open(&sim, &settings);
		sim_way(&sim, &way);
		sim_start(&sim);
		sim_exchange(&sim, 1000, 50, NULL);
		if (strstr(cases[i].extra, "udp"))
			assert_int_equal(host_counts(sim.client.host).dials, 0);
		else
			assert_int_equal(host_counts(sim.client.host).datagrams, 0);
		if (strstr(cases[i].extra, "tcp"))
			assert_string_equal(sim_peer(&sim, &sim.client).state, "up");
		sim_close(&sim);
	}
}

static void test_half_open_tcp_is_redialled(void **state)
{
	struct sim_settings settings = plain;
	struct simulation sim;
	struct way way = { .delay_us = 10000, .drop_udp = true };
	uint64_t gap;

	(void)state;
	settings.client_extra = "transport=tcp\n";
	sim_open(&sim, &settings);
	sim_start(&sim);
	assert_in_range(sim_run_until_state(&sim, "up", 1000), 0, 700);
	way.drop_tcp = true;
	sim_way(&sim, &way);
	sim_exchange(&sim, 200, 50, NULL);
	way.drop_tcp = false;
	sim_way(&sim, &way);
	sim_exchange(&sim, 400, 50, &gap);
	assert_in_range(gap, 0, 10000);
	assert_string_equal(sim_peer(&sim, &sim.client).state, "up");
	sim_close(&sim);
}

static void test_reset_streams_recover(void **state)
{
	struct sim_settings settings = plain;
	struct simulation sim;
	uint64_t gap;

	(void)state;
	settings.client_extra = "transport=tcp\n";
	sim_open(&sim, &settings);
	sim_start(&sim);
	assert_in_range(sim_run_until_state(&sim, "up", 1000), 0, 700);
	for (int i = 0; i < 50; i++) {
		host_reset_streams(sim.client.host);
		sim_exchange(&sim, 100, 10, &gap);
		assert_in_range(gap, 0, 400);
	}
	sim_close(&sim);
}

/* Both have an endpoint for the other, only one can dial: whichever key is the smaller one. */
static void test_endpoints_on_both_sides(void **state)
{
	(void)state;
	for (int smaller = 0; smaller < 2; smaller++) {
		struct sim_settings settings = plain;
		struct simulation sim;
		struct way way = { .delay_us = 10000, .drop_udp = true };
		uint64_t gap;

		settings.server_endpoint = true;
		for (;;) {
			sim_open(&sim, &settings);
			if ((memcmp(sim.client.public_key, sim.server.public_key, 32) < 0) == (smaller == 0))
				break;
			sim_close(&sim);
		}
		sim_start(&sim);
		host_down(sim.server.host, &(struct seam_message){ .kind = SEAM_START });
		sim_exchange(&sim, 500, 10, NULL);
		assert_int_equal(sim_peer(&sim, &sim.client).carrier, CARRIER_UDP);
		assert_int_equal(sim_peer(&sim, &sim.server).carrier, CARRIER_UDP);
		sim_way(&sim, &way);
		sim_exchange(&sim, 3000, 10, &gap);
		print_message("%s has the smaller key: %u ms until over TCP\n", smaller ? "server" : "client", (unsigned)gap);
		assert_in_range(gap, 0, 12000);
		assert_in_range(sim_exchange(&sim, 200, 10, NULL), 390, 410);
		sim_close(&sim);
	}
}

/* The peer calls first, by either carrier, while we have an endpoint and have not asked for anything. */
static void test_called_while_down(void **state)
{
	(void)state;
	for (int tcp = 0; tcp < 2; tcp++) {
		struct sim_settings settings = plain;
		struct simulation sim;
		size_t arrived = 0;
		uint32_t number;

		settings.server_endpoint = true;
		settings.client_extra = tcp ? "transport=tcp\n" : NULL;
		sim_open(&sim, &settings);
		sim_start(&sim);
		sim_run(&sim, 200);
		for (uint32_t i = 0; i < 20; i++) {
			sim_send(&sim, &sim.server, &sim.client, i, 100);
			sim_run(&sim, 100);
			while (sim_take(&sim.client, &number))
				arrived++;
		}
		assert_int_equal(arrived, 20);
		sim_close(&sim);
	}
}

/* ---- a long day ---- */

static void test_idle_is_silent(void **state)
{
	struct simulation sim;
	uint64_t before;

	(void)state;
	sim_open(&sim, &plain);
	sim_start(&sim);
	assert_in_range(sim_run_until_state(&sim, "up", 1000), 0, 500);
	sim_run(&sim, 30000);
	before = host_counts(sim.client.host).datagrams;
	sim_run(&sim, 3600000);
	assert_int_equal(host_counts(sim.client.host).datagrams, before);
	/* And it works again at once. */
	assert_true(sim_exchange(&sim, 50, 20, NULL) >= 95);
	sim_close(&sim);
}

static void test_rekeys_with_loss(void **state)
{
	struct simulation sim;
	struct way way = { .delay_us = 20000, .loss_ppm = 50000 };
	size_t arrived;

	(void)state;
	sim_open(&sim, &plain);
	sim_way(&sim, &way);
	sim_start(&sim);
	sim_run(&sim, 10000);
	arrived = sim_exchange(&sim, 12000, 50, NULL);
	print_message("5 %% loss, 10 minutes: %zu of 24000 arrived\n", arrived);
	assert_true(arrived > 22000);
	assert_int_equal(sim_peer(&sim, &sim.client).carrier, CARRIER_UDP);
	sim_close(&sim);
}

static void test_clock_back_an_hour(void **state)
{
	struct simulation sim;

	(void)state;
	sim_open(&sim, &plain);
	sim_start(&sim);
	assert_in_range(sim_run_until_state(&sim, "up", 1000), 0, 500);
	host_shift_wall(sim.client.host, -3600);
	assert_true(sim_exchange(&sim, 6000, 50, NULL) > 11900); /* over two rekeys */
	sim_close(&sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_udp_open_sends_no_dial),
		cmocka_unit_test(test_first_connect),
		cmocka_unit_test(test_data_dropped),
		cmocka_unit_test(test_data_stops_passing_later),
		cmocka_unit_test(test_both_dropped_fails),
		cmocka_unit_test(test_moves_to_tcp_and_back),
		cmocka_unit_test(test_switching_by_word_loses_nothing),
		cmocka_unit_test(test_forced_carriers_are_obeyed),
		cmocka_unit_test(test_half_open_tcp_is_redialled),
		cmocka_unit_test(test_reset_streams_recover),
		cmocka_unit_test(test_endpoints_on_both_sides),
		cmocka_unit_test(test_called_while_down),
		cmocka_unit_test(test_idle_is_silent),
		cmocka_unit_test(test_rekeys_with_loss),
		cmocka_unit_test(test_clock_back_an_hour),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
