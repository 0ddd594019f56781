/* SPDX-License-Identifier: MIT */
/* Bursts of TCP in one message: when they go out whole, when they must not, and that nothing of them is lost. With whole
 * engines in memory on virtual time. */
#include "tests/unit/client/engine/simulation.h"

#include "client/engine/state.h"
#include "core/base/bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PROTOCOL_TCP 6
#define HEADER 40
#define SEGMENT 1380
#define BURST_PAYLOAD (40 * SEGMENT + 100)
#define PORT 1000

/* What has come out at the server: bytes of one flow, which must follow each other. */
struct flow {
	uint32_t sent, got;
	uint64_t packets;
	bool disordered; /* several streams: they need not follow each other */
};

static uint8_t byte_at(uint32_t at)
{
	return (uint8_t)(at * 2654435761u >> 24);
}

static void send_burst(struct simulation *sim, struct flow *flow, uint16_t segment)
{
	static uint8_t packet[HEADER + BURST_PAYLOAD];

	memset(packet, 0, HEADER);
	sim_ip_header(&sim->client, &sim->server, PROTOCOL_TCP, packet, sizeof(packet));
	put_be16(packet + 20, PORT);
	put_be16(packet + 22, PORT);
	put_be32(packet + 24, flow->sent);
	packet[32] = 5 << 4;
	packet[33] = 0x10;
	for (uint32_t i = 0; i < BURST_PAYLOAD; i++)
		packet[HEADER + i] = byte_at(flow->sent + i);
	host_send_burst(sim->client.host, packet, sizeof(packet), segment);
	flow->sent += BURST_PAYLOAD;
}

static void take(struct simulation *sim, struct flow *flow)
{
	static uint8_t packet[65536];
	size_t len;

	while ((len = host_take_inner(sim->server.host, packet, sizeof(packet)))) {
		if (packet[9] != PROTOCOL_TCP || len < HEADER)
			continue;
		assert_int_equal(get_be16(packet + 2), len);
		uint32_t sequence = get_be32(packet + 24);

		assert_true(flow->disordered || sequence == flow->got);
		for (size_t i = HEADER; i < len; i++)
			assert_int_equal(packet[i], byte_at(sequence++));
		flow->got += (uint32_t)(len - HEADER);
		flow->packets++;
	}
}

/* A burst each 10 ms for so long. */
static void traffic(struct simulation *sim, struct flow *flow, uint64_t ms)
{
	for (uint64_t passed = 0; passed < ms; passed += 10) {
		send_burst(sim, flow, SEGMENT);
		sim_run(sim, 10);
		take(sim, flow);
	}
	sim_run(sim, 500);
	take(sim, flow);
}

static void begin(struct simulation *sim, const struct sim_settings *settings, bool server_bursts)
{
	sim_open(sim, settings);
	host_has_bursts(sim->client.host, true);
	host_has_bursts(sim->server.host, server_bursts);
	sim_start(sim);
	assert_in_range(sim_run_until_state(sim, "up", 5000), 0, 4900);
}

static uint64_t whole(const struct simulation *sim)
{
	return host_counts(sim->server.host).bursts;
}

static const struct sim_settings by_tcp = { .delay_us = 1000, .client_extra = "transport=tcp\n" };

static void a_clean_tcp_path_takes_them_whole(void **state)
{
	struct simulation sim;
	struct flow flow = { 0 };

	(void)state;
	begin(&sim, &by_tcp, true);
	traffic(&sim, &flow, 1000); /* the first are cut, until both have been looked at */
	assert_int_equal(flow.got, flow.sent);
	uint64_t before = whole(&sim), packets = flow.packets;

	assert_true(before >= 50);
	traffic(&sim, &flow, 1000);
	assert_int_equal(flow.got, flow.sent);
	assert_int_equal(whole(&sim) - before, 100);
	assert_int_equal(flow.packets - packets, 100);
	sim_close(&sim);
}

/* Nothing of it by UDP, whatever the peer can; and after a switch to TCP they begin within the session. */
static void udp_has_none(void **state)
{
	struct sim_settings settings = { .delay_us = 1000, .client_extra = "transport=udp\n" };
	struct simulation sim;
	struct flow flow = { 0 };

	(void)state;
	begin(&sim, &settings, true);
	traffic(&sim, &flow, 1000);
	assert_int_equal(flow.got, flow.sent);
	assert_int_equal(whole(&sim), 0);
	sim_set(&sim, &sim.client, "transport=tcp\n");
	sim_run(&sim, 3000);
	traffic(&sim, &flow, 2000);
	assert_int_equal(flow.got, flow.sent);
	assert_true(whole(&sim) >= 100);
	/* And back: what waits is cut, nothing is lost. */
	uint64_t before;

	send_burst(&sim, &flow, SEGMENT);
	sim_set(&sim, &sim.client, "transport=udp\n");
	sim_run(&sim, 3000);
	take(&sim, &flow);
	before = whole(&sim);
	traffic(&sim, &flow, 500);
	assert_int_equal(flow.got, flow.sent);
	assert_int_equal(whole(&sim), before);
	sim_close(&sim);
}

static void a_peer_without_them_gets_packets(void **state)
{
	struct simulation sim;
	struct flow flow = { 0 };

	(void)state;
	begin(&sim, &by_tcp, false);
	traffic(&sim, &flow, 1000);
	assert_int_equal(flow.got, flow.sent);
	assert_int_equal(whole(&sim), 0);
	sim_close(&sim);
	struct sim_settings silent = by_tcp;

	silent.server_extra = "extensions=off\n";
	flow = (struct flow){ 0 };
	begin(&sim, &silent, true);
	traffic(&sim, &flow, 1000);
	assert_int_equal(flow.got, flow.sent);
	assert_int_equal(whole(&sim), 0);
	sim_close(&sim);
}

/* Where a path loses, a queue must be able to tell packets apart. */
static void a_path_that_loses_gets_packets(void **state)
{
	struct simulation sim;
	struct flow flow = { 0 };

	(void)state;
	begin(&sim, &by_tcp, true);
	traffic(&sim, &flow, 1000);
	assert_true(whole(&sim) >= 50);
	flow.disordered = true;
	host_lossy_streams(sim.client.host, true);
	host_lossy_streams(sim.server.host, true);
	traffic(&sim, &flow, 1000);
	uint64_t before = whole(&sim);

	traffic(&sim, &flow, 1000);
	assert_int_equal(whole(&sim), before);
	assert_int_equal(flow.got, flow.sent);
	sim_close(&sim);
}

/* What is too large for the peer is refused packet by packet, as by any router, whether it came in a burst or not. */
static void a_burst_of_packets_that_are_too_large_does_not_pass(void **state)
{
	struct simulation sim;
	struct flow flow = { 0 };

	(void)state;
	begin(&sim, &by_tcp, true);
	traffic(&sim, &flow, 500);
	assert_true(whole(&sim) >= 20);
	flow.got = flow.sent;
	uint64_t before = whole(&sim);
	struct flow large = flow;

	send_burst(&sim, &large, 1700);
	sim_run(&sim, 500);
	flow.disordered = true;
	take(&sim, &flow);
	assert_int_equal(whole(&sim), before);
	assert_true(flow.got < large.sent - 1700); /* but for its short end, which is none too large */
	sim_close(&sim);
}

/* A burst that comes where none was offered goes no further. */
static void nobody_is_made_to_take_one(void **state)
{
	struct simulation sim;
	struct flow flow = { 0 };

	(void)state;
	begin(&sim, &by_tcp, false);
	traffic(&sim, &flow, 500);
	/* The client is made to believe it. */
	for (struct stream *stream = sim.client.engine->known.head; stream; stream = stream->next)
		stream->bursts = true;
	traffic(&sim, &flow, 500);
	assert_int_equal(whole(&sim), 0);
	assert_true(flow.got < flow.sent);
	sim_close(&sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_clean_tcp_path_takes_them_whole),
		cmocka_unit_test(udp_has_none),
		cmocka_unit_test(a_peer_without_them_gets_packets),
		cmocka_unit_test(a_path_that_loses_gets_packets),
		cmocka_unit_test(a_burst_of_packets_that_are_too_large_does_not_pass),
		cmocka_unit_test(nobody_is_made_to_take_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
