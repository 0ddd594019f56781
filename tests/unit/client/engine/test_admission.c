/* SPDX-License-Identifier: MIT */
/* Strangers that connect: who is read, how long each may stay, who goes, and that none of them keeps a peer
 * out. */
#include "tests/unit/client/engine/simulation.h"

#include "client/engine/state.h"
#include "core/carrier/record.h"
#include "core/port/tcp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Half of these are places for strangers. */
#define HANDLES 128
#define PLACES 64
#define SOURCES 6

static const struct sim_settings settings = { .delay_us = 1000, .server_handles = HANDLES };

struct stranger {
	struct tcp *tcp;
	uint64_t since_ms, closed_ms; /* 0: still open */
};

struct scene {
	struct simulation sim;
	struct host *sources[SOURCES];
	struct stranger strangers[512];
	size_t count;
	uint64_t ms;
	uint16_t port;
};

static void scene_open(struct scene *scene)
{
	memset(scene, 0, sizeof(*scene));
	sim_open(&scene->sim, &settings);
	for (int i = 0; i < SOURCES; i++) {
		char address[16];

		snprintf(address, sizeof(address), "203.0.113.%d", i + 1);
		scene->sources[i] = world_add_host(scene->sim.world, address);
	}
	scene->port = 2000;
}

static void scene_close(struct scene *scene)
{
	for (size_t i = 0; i < scene->count; i++)
		tcp_close(scene->strangers[i].tcp);
	sim_close(&scene->sim);
}

/* Lets time pass and notes whose connection the server has ended. */
static void scene_run(struct scene *scene, uint64_t ms)
{
	for (uint64_t end = scene->ms + ms; scene->ms < end; scene->ms += 10) {
		sim_run(&scene->sim, 10);
		for (size_t i = 0; i < scene->count; i++) {
			struct stranger *stranger = &scene->strangers[i];
			uint8_t byte;

			if (!stranger->closed_ms && tcp_receive(stranger->tcp, &byte, 1) == 0)
				stranger->closed_ms = scene->ms + 10;
		}
	}
}

static struct stranger *connects_from(struct scene *scene, struct host *from)
{
	struct endpoint server = { .address = *host_address(scene->sim.server.host), .port = SIM_PORT };
	struct stranger *stranger = &scene->strangers[scene->count++];

	stranger->tcp = host_connect(from, &server, scene->port++);
	stranger->since_ms = scene->ms;
	assert_non_null(stranger->tcp);
	scene_run(scene, 10);
	return stranger;
}

static struct stranger *connects(struct scene *scene, int source)
{
	return connects_from(scene, scene->sources[source]);
}

static void says(struct stranger *stranger, const void *bytes, size_t len)
{
	const struct tcp_piece piece = { bytes, len };

	assert_int_equal(tcp_send(stranger->tcp, &piece, 1), len);
}

static uint64_t age(const struct stranger *stranger)
{
	return stranger->closed_ms - stranger->since_ms;
}

static void by_tcp_in(struct scene *scene, uint64_t at_most_ms)
{
	uint64_t took;

	sim_set(&scene->sim, &scene->sim.client, "transport=tcp\n");
	sim_start(&scene->sim);
	took = sim_run_until_state(&scene->sim, "up", at_most_ms);
	scene->ms += took < at_most_ms ? took : at_most_ms;
	if (took > at_most_ms)
		fail_msg("not up within %u ms", (unsigned)at_most_ms);
	print_message("up after %u ms\n", (unsigned)took);
}

/* What is said, and when the connection ends. */
static void strangers_have_their_time(void **state)
{
	static uint8_t bad_mac[RECORD_HEADER_LEN + 148] = { 0 };
	static struct scene scene;
	struct stranger *silent, *junk, *forger, *drip;

	(void)state;
	record_write_header(bad_mac, 148);
	bad_mac[RECORD_HEADER_LEN] = 1;
	scene_open(&scene);
	silent = connects(&scene, 0);
	junk = connects(&scene, 1);
	forger = connects(&scene, 2);
	drip = connects(&scene, 3);
	says(junk, "GET / HTTP/1.1\r\n\r\n", 18);
	says(forger, bad_mac, sizeof(bad_mac));
	for (int second = 0; second < 9; second++) {
		says(drip, bad_mac + second, 1);
		scene_run(&scene, 1000);
	}
	scene_run(&scene, 3000);
	assert_in_range(age(silent), 5900, 6200);
	assert_in_range(age(junk), 9900, 10200);
	assert_in_range(age(forger), 9900, 10200);
	assert_in_range(age(drip), 9800, 10200);
	scene_close(&scene);
}

/* More than half of the places are taken, by some of each source. */
static void a_crowd_presses(void **state)
{
	static struct scene scene;

	(void)state;
	scene_open(&scene);
	for (int i = 0; i < 36; i++)
		connects(&scene, i % SOURCES);
	scene_run(&scene, 9000);
	/* The first ones go after 3 s, until no more than half are left, which have the ordinary time. */
	for (int i = 0; i < 4; i++)
		assert_in_range(age(&scene.strangers[i]), 2900, 3700);
	for (int i = 0; i < 36; i++)
		assert_in_range(age(&scene.strangers[i]), 2700, 6300);
	scene_close(&scene);
}

/* Over its share and over its rate a source waits; nobody is closed at once, and peers are not kept waiting.
 */
static void a_source_has_a_share(void **state)
{
	static struct scene scene;
	size_t early = 0;

	(void)state;
	scene_open(&scene);
	for (int i = 0; i < 30; i++)
		connects(&scene, 0);
	by_tcp_in(&scene, 500);
	scene_run(&scene, 5000);
	for (int i = 0; i < 30; i++)
		early += scene.strangers[i].closed_ms != 0;
	assert_int_equal(early, 0);
	scene_run(&scene, 6000);
	for (int i = 0; i < 30; i++)
		assert_in_range(age(&scene.strangers[i]), 5900, 10300);
	/* Those beyond the share of 16 were held, as long as any stranger may stay. */
	for (int i = 16; i < 22; i++)
		assert_in_range(age(&scene.strangers[i]), 9900, 10300);
	scene_close(&scene);
}

/* All places are taken: the oldest of the source that has the most goes, however many come. */
static void when_full_the_crowd_pushes_out_its_own(void **state)
{
	static struct scene scene;
	struct stranger *alone;

	(void)state;
	scene_open(&scene);
	alone = connects(&scene, 1);
	for (int i = 0; i < 200; i++)
		connects(&scene, 0);
	assert_int_equal(alone->closed_ms, 0);
	/* The first of the crowd made room, those that came last are there. */
	for (int i = 1; i < 100; i++)
		assert_true(scene.strangers[i].closed_ms != 0);
	assert_int_equal(scene.strangers[200].closed_ms, 0);
	by_tcp_in(&scene, 500);
	scene_close(&scene);
}

/* A source that was authentic before keeps its places, though it has the most. */
static void the_welcome_go_last(void **state)
{
	static struct scene scene;
	struct stranger *welcome[20];

	(void)state;
	scene_open(&scene);
	by_tcp_in(&scene, 500);
	for (size_t i = 0; i < 20; i++)
		welcome[i] = connects_from(&scene, scene.sim.client.host);
	for (int i = 0; i < 90; i++)
		connects(&scene, i % SOURCES);
	for (size_t i = 0; i < 20; i++)
		assert_int_equal(welcome[i]->closed_ms, 0);
	assert_true(scene.strangers[20].closed_ms != 0);
	scene_close(&scene);
}

/* A stranger that sends what might be authentic for ever is not listened to for ever. */
static void maybe_is_not_for_ever(void **state)
{
	static uint8_t data[RECORD_HEADER_LEN + 32] = { 0 };
	static struct scene scene;
	struct stranger *stranger;

	(void)state;
	record_write_header(data, 32);
	data[RECORD_HEADER_LEN] = 4;
	data[RECORD_HEADER_LEN + 4] = 77;
	scene_open(&scene);
	stranger = connects(&scene, 0);
	for (int i = 0; i < 900 && !stranger->closed_ms; i++) {
		says(stranger, data, sizeof(data));
		scene_run(&scene, 10);
	}
	assert_int_equal(stranger->closed_ms, 0);
	scene_run(&scene, 2000);
	assert_in_range(age(stranger), 9900, 10200);
	by_tcp_in(&scene, 500);
	scene_close(&scene);
}

/* A peer that does not read holds no more of the pool than a little, and the others have the rest. */
static void who_does_not_read_holds_little(void **state)
{
	static struct scene scene;
	struct way way = { .delay_us = 1000, .drop_tcp = true };
	size_t left, most = 0;

	(void)state;
	scene_open(&scene);
	by_tcp_in(&scene, 500);
	left = packet_pool_left(scene.sim.server.engine->pool);
	sim_way(&scene.sim, &way);
	for (uint32_t ms = 0; ms < 8000; ms++) {
		sim_send(&scene.sim, &scene.sim.server, &scene.sim.client, ms, 1300);
		sim_run(&scene.sim, 1);
		if (ms > 3000 && left - packet_pool_left(scene.sim.server.engine->pool) > most)
			most = left - packet_pool_left(scene.sim.server.engine->pool);
	}
	print_message("%zu packets wait for it\n", most);
	/* With what is sealed on its way into the socket: 512 KiB. */
	assert_in_range(most, 1, 256);
	scene_close(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strangers_have_their_time),
		cmocka_unit_test(a_crowd_presses),
		cmocka_unit_test(a_source_has_a_share),
		cmocka_unit_test(when_full_the_crowd_pushes_out_its_own),
		cmocka_unit_test(the_welcome_go_last),
		cmocka_unit_test(maybe_is_not_for_ever),
		cmocka_unit_test(who_does_not_read_holds_little),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
