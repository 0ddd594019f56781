/* SPDX-License-Identifier: MIT */
/* The client part in memory: an engine plays the kernel, another the server, and the test the daemon. */
#include "tests/unit/client/relay/stage.h"

#include "core/base/bytes.h"
#include "core/carrier/fallback.h"
#include "core/port/relay_seam.h"
#include "tests/contract/cmocka_all.h"

#include <stdio.h>
#include <string.h>

#define LOOPBACK_PORT 40001

/* What the relay has said so far. */
struct heard {
	uint32_t news[16];
	uint64_t first_ms[16];
	uint32_t received[3], sent[3];
	uint8_t received_types[3];
	uint32_t ready;
};

struct rig {
	struct stage stage;
	struct mono began;
	struct heard heard;
};

static void listen_up(struct rig *rig)
{
	struct seam_message message;

	while (host_up(rig->stage.relay, &message)) {
		switch (message.kind) {
		case SEAM_READY:
			rig->heard.ready++;
			continue;
		case SEAM_RELAY_NEWS:
			if (!rig->heard.news[message.value]++)
				rig->heard.first_ms[message.value] =
					mono_since_ms(world_now(rig->stage.world), rig->began);
			break;
		case SEAM_RELAY_SEEN: {
			struct relay_seen seen = relay_seen_read(&message);

			rig->heard.received[seen.carrier] += seen.received;
			rig->heard.sent[seen.carrier] += seen.sent;
			rig->heard.received_types[seen.carrier] |= seen.received_types;
			break;
		}
		default:
			fail_msg("message %u", message.kind);
		}
		assert_memory_equal(message.public_key, rig->stage.server.public_key, 32);
	}
}

static void run(struct rig *rig, uint64_t ms)
{
	for (uint64_t passed = 0; passed < ms; passed += 5) {
		stage_run(&rig->stage, 5);
		listen_up(rig);
	}
}

static void say(struct rig *rig, enum seam_kind kind, uint32_t value, int handle)
{
	struct seam_message message = { .kind = kind, .value = value };

	memcpy(message.public_key, rig->stage.server.public_key, 32);
	host_down_handle(rig->stage.relay, &message, handle);
}

static void use(struct rig *rig, enum relay_use how)
{
	say(rig, SEAM_RELAY_USE, how, -1);
	run(rig, 5);
}

static const char *kernel_peer(struct rig *rig, char lines[128])
{
	const struct endpoint loopback = stage_endpoint(rig->stage.relay, LOOPBACK_PORT);
	char text[ENDPOINT_TEXT_LEN];

	snprintf(lines, 128, "endpoint=%s\n", endpoint_write(&loopback, text));
	return lines;
}

/* As the daemon sets a peer up; nothing is sent yet. */
static void rig_open(struct rig *rig, enum fallback_memory memory)
{
	struct stage *stage = &rig->stage;
	struct relay_ports ports;
	char lines[128];

	memset(rig, 0, sizeof(*rig));
	stage_open(stage, 10000);
	stage_way(stage->client.host, stage->relay, &(struct way){ .delay_us = 20 });
	stage_way(stage->server.host, stage->relay, &(struct way){ .delay_us = 10000 });
	ports = (struct relay_ports){ .clock = host_clock(stage->relay), .loop = host_loop(stage->relay) };
	stage->relay_client = relay_client_new(&ports, host_seam(stage->relay));
	assert_non_null(stage->relay_client);
	stage_start_engine(stage, &stage->server, true, "extensions=off\n");
	stage_add_peer(stage, &stage->server, &stage->client, "");
	stage_start_engine(stage, &stage->client, false, "transport=udp\nextensions=off\n");
	stage_add_peer(stage, &stage->client, &stage->server, kernel_peer(rig, lines));
	const struct endpoint kernel = stage_endpoint(stage->client.host, STAGE_PORT);
	const struct endpoint server = stage_endpoint(stage->server.host, STAGE_PORT);

	host_set_dial(stage->relay, stage->server.public_key, &server);
	say(rig, SEAM_RELAY_PEER, 0, host_make_datagram(stage->relay, LOOPBACK_PORT, &kernel));
	say(rig, SEAM_RELAY_UDP, 0, host_make_datagram(stage->relay, 0, &server));
	say(rig, SEAM_MEMORY, memory, -1);
	rig->began = world_now(stage->world);
}

static void rig_close(struct rig *rig)
{
	stage_close(&rig->stage);
}

static void call(struct rig *rig)
{
	rig->began = world_now(rig->stage.world);
	host_down(rig->stage.client.host, &(struct seam_message){ .kind = SEAM_START });
}

/* The daemon's answer to FRESH_WANTED. */
static void add_again(struct rig *rig)
{
	char key[65], lines[256], peer[128];

	for (size_t i = 0; i < 32; i++)
		snprintf(key + 2 * i, 3, "%02x", rig->stage.server.public_key[i]);
	snprintf(lines, sizeof(lines), "public_key=%s\nremove=true\n", key);
	stage_set(&rig->stage, &rig->stage.client, lines);
	stage_add_peer(&rig->stage, &rig->stage.client, &rig->stage.server, kernel_peer(rig, peer));
	host_down(rig->stage.client.host, &(struct seam_message){ .kind = SEAM_START });
}

static bool has_session(struct rig *rig)
{
	return stage_peer(&rig->stage, &rig->stage.client).last_handshake_s != 0;
}

static void first_connect(void **state)
{
	static const struct {
		const char *name;
		struct way there, back;
		enum fallback_memory memory;
		uint64_t at_most_ms;
		enum relay_news wins;
		uint32_t fresh;
		uint64_t dials_at_most;
	} cases[] = {
		{ "open", { .delay_us = 10000 }, { .delay_us = 10000 }, FALLBACK_MEMORY_UNKNOWN, 100,
			RELAY_NEWS_UDP_WINS, 0, 0 },
		{ "open, blocked before", { .delay_us = 10000 }, { .delay_us = 10000 },
			FALLBACK_MEMORY_BLOCKED, 100, RELAY_NEWS_UDP_WINS, 0, 1 },
		{ "dropped", { .delay_us = 10000, .drop_udp = true }, { .delay_us = 10000, .drop_udp = true },
			FALLBACK_MEMORY_UNKNOWN, 700, RELAY_NEWS_TCP_WINS, 0, 1 },
		{ "dropped, good before", { .delay_us = 10000, .drop_udp = true }, { .delay_us = 10000 },
			FALLBACK_MEMORY_GOOD, 2400, RELAY_NEWS_TCP_WINS, 0, 1 },
		{ "dropped, blocked before", { .delay_us = 10000, .drop_udp = true }, { .delay_us = 10000 },
			FALLBACK_MEMORY_BLOCKED, 350, RELAY_NEWS_TCP_WINS, 0, 1 },
		{ "rejected", { .delay_us = 10000, .reject_udp = true }, { .delay_us = 10000 },
			FALLBACK_MEMORY_UNKNOWN, 200, RELAY_NEWS_TCP_WINS, 0, 1 },
		{ "way back dropped", { .delay_us = 10000 }, { .delay_us = 10000, .drop_udp = true },
			FALLBACK_MEMORY_UNKNOWN, 1000, RELAY_NEWS_TCP_WINS, 1, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool udp = cases[i].wins == RELAY_NEWS_UDP_WINS;
		uint32_t fresh = 0;
		struct rig rig;

		print_message("%s\n", cases[i].name);
		rig_open(&rig, cases[i].memory);
		world_set_way(rig.stage.relay, rig.stage.server.host, &cases[i].there);
		world_set_way(rig.stage.server.host, rig.stage.relay, &cases[i].back);
		use(&rig, RELAY_USE_RACE);
		call(&rig);
		for (uint64_t ms = 0; ms < 3000; ms += 5) {
			run(&rig, 5);
			if (rig.heard.news[RELAY_NEWS_FRESH_WANTED] > fresh) {
				fresh++;
				add_again(&rig);
			}
		}
		assert_int_equal(rig.heard.news[cases[i].wins], 1);
		assert_int_equal(rig.heard.news[udp ? RELAY_NEWS_TCP_WINS : RELAY_NEWS_UDP_WINS], 0);
		assert_in_range(rig.heard.first_ms[cases[i].wins], 0, cases[i].at_most_ms);
		assert_int_equal(fresh, cases[i].fresh);
		assert_in_range(host_counts(rig.stage.relay).dials, 0, cases[i].dials_at_most);
		assert_true(has_session(&rig));
		assert_int_equal(stage_exchange(&rig.stage, 100, 5, NULL), 200);
		assert_int_equal(
			stage_peer(&rig.stage, &rig.stage.server).carrier, udp ? CARRIER_UDP : CARRIER_TCP);
		run(&rig, 200);
		assert_true(rig.heard.received_types[udp ? CARRIER_UDP : CARRIER_TCP] & RELAY_TYPE_BIT(2));
		assert_true(rig.heard.received_types[udp ? CARRIER_UDP : CARRIER_TCP] & RELAY_TYPE_BIT(4));
		assert_true(rig.heard.received[udp ? CARRIER_UDP : CARRIER_TCP] >= 100);
		assert_true(rig.heard.ready > 0);
		rig_close(&rig);
	}
}

/* Not one packet on the other carrier. */
static void forced_carriers(void **state)
{
	const struct way blocked = { .delay_us = 10000, .drop_udp = true };
	struct rig rig;

	(void)state;
	rig_open(&rig, FALLBACK_MEMORY_UNKNOWN);
	use(&rig, RELAY_USE_TCP);
	call(&rig);
	run(&rig, 500);
	assert_int_equal(stage_exchange(&rig.stage, 100, 5, NULL), 200);
	run(&rig, 200);
	assert_int_equal(rig.heard.sent[CARRIER_UDP] + rig.heard.received[CARRIER_UDP], 0);
	assert_int_equal(host_counts(rig.stage.server.host).datagrams, 0);
	assert_true(rig.heard.sent[CARRIER_TCP] >= 100);
	rig_close(&rig);

	rig_open(&rig, FALLBACK_MEMORY_BLOCKED);
	world_set_way(rig.stage.relay, rig.stage.server.host, &blocked);
	use(&rig, RELAY_USE_UDP);
	call(&rig);
	run(&rig, 20000);
	assert_int_equal(host_counts(rig.stage.relay).dials, 0);
	assert_int_equal(host_counts(rig.stage.relay).stream_bytes, 0);
	assert_true(rig.heard.sent[CARRIER_UDP] > 0);
	assert_false(has_session(&rig));
	rig_close(&rig);
}

/* The session goes on, and with BOTH nothing is lost even when UDP turns out to be blocked. */
static void switches(void **state)
{
	const struct way blocked = { .delay_us = 10000, .drop_udp = true }, open = { .delay_us = 10000 };
	uint64_t handshake, gap;
	struct rig rig;

	(void)state;
	rig_open(&rig, FALLBACK_MEMORY_UNKNOWN);
	use(&rig, RELAY_USE_TCP);
	call(&rig);
	run(&rig, 500);
	assert_int_equal(stage_exchange(&rig.stage, 20, 5, NULL), 40);
	handshake = stage_peer(&rig.stage, &rig.stage.client).last_handshake_s;
	for (int turn = 0; turn < 6; turn++) {
		use(&rig, turn % 2 ? RELAY_USE_TCP : RELAY_USE_UDP);
		assert_int_equal(stage_exchange(&rig.stage, 50, 10, &gap), 100);
		assert_in_range(gap, 0, 50);
		assert_int_equal(stage_peer(&rig.stage, &rig.stage.server).carrier,
			turn % 2 ? CARRIER_TCP : CARRIER_UDP);
	}
	/* A trial while UDP is blocked: seen, and nothing lost. */
	stage_way(rig.stage.relay, rig.stage.server.host, &blocked);
	run(&rig, 200);
	rig.heard = (struct heard){ .ready = 0 };
	use(&rig, RELAY_USE_BOTH);
	assert_int_equal(stage_exchange(&rig.stage, 50, 10, NULL), 100);
	run(&rig, 200);
	assert_true(rig.heard.sent[CARRIER_UDP] >= 50);
	assert_int_equal(rig.heard.received[CARRIER_UDP], 0);
	/* And while it is open. */
	stage_way(rig.stage.relay, rig.stage.server.host, &open);
	assert_int_equal(stage_exchange(&rig.stage, 50, 10, NULL), 100);
	run(&rig, 200);
	assert_true(rig.heard.received[CARRIER_UDP] > 0);
	assert_int_equal(stage_peer(&rig.stage, &rig.stage.client).last_handshake_s, handshake);
	rig_close(&rig);
}

/* It dials again, at once, and the session goes on as soon as something goes out. */
static void a_broken_stream(void **state)
{
	uint64_t handshake, gap;
	struct rig rig;

	(void)state;
	rig_open(&rig, FALLBACK_MEMORY_UNKNOWN);
	use(&rig, RELAY_USE_TCP);
	call(&rig);
	run(&rig, 500);
	stage_exchange(&rig.stage, 20, 5, NULL);
	handshake = stage_peer(&rig.stage, &rig.stage.client).last_handshake_s;
	rig.heard = (struct heard){ .ready = 0 };
	host_reset_streams(rig.stage.relay);
	stage_exchange(&rig.stage, 100, 10, &gap);
	assert_in_range(gap, 0, 100);
	run(&rig, 200);
	assert_int_equal(rig.heard.news[RELAY_NEWS_TCP_CONNECTED], 1);
	assert_int_equal(stage_exchange(&rig.stage, 50, 10, NULL), 100);
	assert_int_equal(stage_peer(&rig.stage, &rig.stage.client).last_handshake_s, handshake);
	rig_close(&rig);
}

/* A dial that the daemon gives up, a stream that it brings of its own accord, a peer that it takes out. */
static void the_daemon_decides(void **state)
{
	uint64_t dials;
	struct rig rig;

	(void)state;
	rig_open(&rig, FALLBACK_MEMORY_UNKNOWN);
	use(&rig, RELAY_USE_TCP);
	call(&rig);
	run(&rig, 500);
	assert_int_equal(stage_exchange(&rig.stage, 20, 5, NULL), 40);
	use(&rig, RELAY_USE_UDP);
	assert_int_equal(stage_exchange(&rig.stage, 20, 5, NULL), 40);
	rig.heard = (struct heard){ .ready = 0 };
	dials = host_counts(rig.stage.relay).dials;
	say(&rig, SEAM_RELAY_CLOSE, 0, -1);
	run(&rig, 100);
	assert_int_equal(rig.heard.news[RELAY_NEWS_TCP_CLOSED], 0); /* it knows */
	assert_int_equal(host_counts(rig.stage.relay).dials, dials);
	assert_int_equal(stage_exchange(&rig.stage, 20, 5, NULL), 40);
	/* Out: nothing passes any more, and messages about it are passed over. */
	say(&rig, SEAM_RELAY_PEER, 0, -1);
	say(&rig, SEAM_RELAY_USE, RELAY_USE_TCP, -1);
	say(&rig, SEAM_RELAY_CLOSE, 0, -1);
	run(&rig, 100);
	assert_int_equal(stage_exchange(&rig.stage, 20, 5, NULL), 0);
	assert_int_equal(host_counts(rig.stage.relay).dials, dials);
	rig_close(&rig);
}

static void more_peers_than_places(void **state)
{
	struct relay_ports ports;
	struct seam_message message = { .kind = SEAM_RELAY_PEER };
	uint32_t no_room = 0, number = 0;
	struct stage stage;

	(void)state;
	stage_open(&stage, 1000);
	ports = (struct relay_ports){ .clock = host_clock(stage.relay), .loop = host_loop(stage.relay) };
	stage.relay_client = relay_client_new(&ports, host_seam(stage.relay));
	assert_non_null(stage.relay_client);
	for (; number < RELAY_PEERS_MAX + 2; number++) {
		const struct endpoint kernel = stage_endpoint(stage.client.host, (uint16_t)(1000 + number));

		put_be32(message.public_key, number + 1);
		host_down_handle(stage.relay, &message, host_make_datagram(stage.relay, 0, &kernel));
	}
	stage_run(&stage, 10);
	while (host_up(stage.relay, &message))
		if (message.kind == SEAM_RELAY_NEWS) {
			assert_int_equal(message.value, RELAY_NEWS_NO_ROOM);
			assert_true(get_be32(message.public_key) > RELAY_PEERS_MAX);
			no_room++;
		}
	assert_int_equal(no_room, 2);
	host_down(stage.relay, &(struct seam_message){ .kind = SEAM_STOP });
	assert_int_equal(relay_client_turn(stage.relay_client), 1);
	stage_close(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_connect),
		cmocka_unit_test(forced_carriers),
		cmocka_unit_test(switches),
		cmocka_unit_test(a_broken_stream),
		cmocka_unit_test(the_daemon_decides),
		cmocka_unit_test(more_peers_than_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
