/* SPDX-License-Identifier: MIT */
/* The server part in memory: between engines, and in front of a scripted server with scripted clients. */
#include "tests/unit/client/relay/stage.h"

#include "core/base/bytes.h"
#include "core/base/packet.h"
#include "core/carrier/record.h"
#include "core/noise/cookie.h"
#include "core/port/clock.h"
#include "core/port/tcp.h"
#include "core/port/udp.h"
#include "tests/contract/cmocka_all.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- between engines ---- */

static void open_engines(struct stage *stage, const char *transport)
{
	const struct endpoint relay = stage_endpoint(stage->relay, STAGE_TCP_PORT);
	char lines[256], udp[ENDPOINT_TEXT_LEN], tcp[ENDPOINT_TEXT_LEN];
	const struct endpoint server = stage_endpoint(stage->server.host, STAGE_PORT);

	stage_start_relay_server(stage);
	stage_start_engine(stage, &stage->server, false, "transport=udp\nextensions=off\n");
	stage_add_peer(stage, &stage->server, &stage->client, "");
	snprintf(lines, sizeof(lines), "transport=%s\n", transport);
	stage_start_engine(stage, &stage->client, false, lines);
	host_set_dial(stage->client.host, stage->server.public_key, &relay);
	snprintf(lines, sizeof(lines), "endpoint=%s\ntcp_endpoint=%s\n", endpoint_write(&server, udp),
		endpoint_write(&relay, tcp));
	stage_add_peer(stage, &stage->client, &stage->server, lines);
	host_down(stage->client.host, &(struct seam_message){ .kind = SEAM_START });
}

static void a_session_through_the_relay(void **state)
{
	const struct way blocked = { .delay_us = 10000, .drop_udp = true };
	struct relay_stats stats;
	struct uapi_peer peer;
	struct stage stage;

	(void)state;
	stage_open(&stage, 10000);
	stage_way(stage.client.host, stage.server.host, &blocked);
	open_engines(&stage, "auto");
	stage_run(&stage, 4000); /* also over the time in which nobody answers a hello */
	peer = stage_peer(&stage, &stage.client);
	assert_string_equal(peer.state, "up");
	assert_int_equal(peer.carrier, CARRIER_TCP);
	assert_int_equal(stage_exchange(&stage, 200, 5, NULL), 400);
	/* The server knows nothing of TCP. */
	peer = stage_peer(&stage, &stage.server);
	assert_int_equal(peer.carrier, CARRIER_UDP);
	assert_true(ip_address_equal(&peer.endpoint.address, host_address(stage.relay)));
	relay_server_stats(stage.relay_server, &stats);
	assert_int_equal(stats.known, 1);
	assert_int_equal(stats.unknown, 0);
	assert_int_equal(stats.dropped, 0);
	assert_int_equal(stats.refused, 0);
	assert_int_equal(relay_server_target(stage.relay_server), RELAY_TARGET_ANSWERS);
	stage_close(&stage);
}

static void the_session_survives_switches(void **state)
{
	struct stage stage;
	uint64_t handshake;

	(void)state;
	stage_open(&stage, 10000);
	open_engines(&stage, "udp");
	assert_int_equal(stage_exchange(&stage, 20, 10, NULL), 40);
	handshake = stage_peer(&stage, &stage.client).last_handshake_s;
	for (int turn = 0; turn < 6; turn++) {
		uint64_t gap;

		stage_set(&stage, &stage.client, turn % 2 ? "transport=udp\n" : "transport=tcp\n");
		assert_true(stage_exchange(&stage, 100, 10, &gap) >= 190);
		assert_in_range(gap, 0, 200);
		assert_int_equal(
			stage_peer(&stage, &stage.client).carrier, turn % 2 ? CARRIER_UDP : CARRIER_TCP);
	}
	assert_int_equal(stage_peer(&stage, &stage.client).last_handshake_s, handshake);
	stage_close(&stage);
}

/* The new relay knows no index and no source; the session goes on all the same. */
static void the_session_survives_a_new_relay(void **state)
{
	struct relay_stats stats;
	struct stage stage;
	uint64_t handshake, gap;

	(void)state;
	stage_open(&stage, 10000);
	open_engines(&stage, "tcp");
	assert_true(stage_exchange(&stage, 50, 10, NULL) > 90);
	handshake = stage_peer(&stage, &stage.client).last_handshake_s;
	stage_stop_relay_server(&stage);
	stage_run(&stage, 100);
	stage_start_relay_server(&stage);
	stage_exchange(&stage, 300, 10, &gap);
	assert_in_range(gap, 0, 2000);
	assert_int_equal(stage_exchange(&stage, 100, 10, NULL), 200);
	assert_int_equal(stage_peer(&stage, &stage.client).last_handshake_s, handshake);
	relay_server_stats(stage.relay_server, &stats);
	assert_int_equal(stats.known, 1);
	stage_close(&stage);
}

static void the_server_goes_and_comes_back(void **state)
{
	const struct way refused = { .delay_us = 50, .reject_udp = true }, open = { .delay_us = 50 };
	struct relay_stats stats;
	struct stage stage;

	(void)state;
	stage_open(&stage, 10000);
	stage_way(stage.relay, stage.server.host, &refused);
	open_engines(&stage, "tcp");
	stage_run(&stage, 3000);
	assert_int_equal(relay_server_target(stage.relay_server), RELAY_TARGET_REFUSES);
	relay_server_stats(stage.relay_server, &stats);
	assert_int_equal(stats.known, 0);
	assert_true(stats.unknown >= 1);
	stage_way(stage.relay, stage.server.host, &open);
	stage_run(&stage, 8000);
	assert_int_equal(relay_server_target(stage.relay_server), RELAY_TARGET_ANSWERS);
	assert_int_equal(stage_exchange(&stage, 20, 10, NULL), 40);
	stage_close(&stage);
}

/* ---- scripted ---- */

struct script {
	struct stage stage;
	struct udp *server;
	struct packet_pool *pool;
	struct cookie_maker signer;
	struct udp_path from; /* of the newest datagram that the server took */
	uint16_t next_port;
};

static void script_open(struct script *script)
{
	memset(script, 0, sizeof(*script));
	stage_open(&script->stage, 1000);
	stage_start_relay_server(&script->stage);
	assert_int_equal(udp_adopt(host_make_udp(script->stage.server.host, STAGE_PORT), &script->server), 0);
	script->pool = packet_pool_new(4, 65535);
	cookie_maker_init(&script->signer, script->stage.server.public_key);
	script->next_port = 1000;
}

static void script_close(struct script *script)
{
	packet_pool_free(script->pool);
	stage_close(&script->stage);
	/* The world has freed the server's port. */
}

static struct tcp *script_connect(struct script *script)
{
	const struct endpoint relay = stage_endpoint(script->stage.relay, STAGE_TCP_PORT);
	struct tcp *tcp = host_connect(script->stage.client.host, &relay, script->next_port++);

	assert_non_null(tcp);
	stage_run(&script->stage, 5);
	return tcp;
}

static void say_bytes(struct script *script, struct tcp *tcp, const void *bytes, size_t len)
{
	const struct tcp_piece piece = { bytes, len };

	assert_int_equal(tcp_send(tcp, &piece, 1), len);
	stage_run(&script->stage, 5);
}

static void say(struct script *script, struct tcp *tcp, const void *message, size_t len)
{
	uint8_t record[RECORD_HEADER_LEN + 4096];

	record_write_header(record, len);
	memcpy(record + RECORD_HEADER_LEN, message, len);
	say_bytes(script, tcp, record, RECORD_HEADER_LEN + len);
}

/* An initiation that nobody but the receiver can tell from an authentic one. */
static void make_initiation(struct script *script, uint8_t out[148])
{
	random_fill(out, 148);
	put_le32(out, MESSAGE_INITIATION);
	cookie_maker_sign(&script->signer, out, 148, world_now(script->stage.world));
	memset(out + 132, 0, 16);
}

static void make_data(uint8_t *out, size_t len, uint32_t number)
{
	memset(out, 0, len);
	put_le32(out, MESSAGE_DATA);
	put_le32(out + 16, number);
}

/* The next datagram that reached the server; 0: none. */
static size_t server_takes(struct script *script, uint8_t *out, size_t room)
{
	struct udp_datagram datagram;

	if (udp_receive(script->server, &datagram, 1) < 1)
		return 0;
	assert_true(datagram.len <= room);
	memcpy(out, datagram.data, datagram.len);
	script->from = datagram.path;
	return datagram.len;
}

static void server_says(struct script *script, const void *message, size_t len)
{
	struct packet *packet = packet_take(script->pool);
	size_t sent;

	memcpy(packet->data, message, len);
	packet->len = (uint32_t)len;
	assert_int_equal(udp_send(script->server, &script->from, &packet, 1, &sent), 0);
	packet_give(script->pool, packet);
	stage_run(&script->stage, 5);
}

/* The next record's message; 0: none. */
static size_t client_takes(struct tcp *tcp, uint8_t *out, size_t room)
{
	static uint8_t bytes[RECORD_MAX_LEN + 8];
	long got = tcp_receive(tcp, bytes, RECORD_HEADER_LEN);

	if (got < RECORD_HEADER_LEN)
		return 0;
	struct record record = record_parse(bytes, RECORD_HEADER_LEN);

	assert_int_equal(record.state, RECORD_PARTIAL);
	for (size_t have = RECORD_HEADER_LEN; have < record.record; have += (size_t)got) {
		got = tcp_receive(tcp, bytes + have, record.record - have);
		assert_true(got > 0);
	}
	assert_true(record.len <= room);
	memcpy(out, bytes + record.message, record.len);
	return record.len;
}

static bool is_closed(struct tcp *tcp)
{
	uint8_t byte;

	return tcp_receive(tcp, &byte, 1) == 0;
}

static void make_known(struct script *script, struct tcp *tcp)
{
	uint8_t message[148];

	make_initiation(script, message);
	say(script, tcp, message, 148);
	assert_int_equal(server_takes(script, message, sizeof(message)), 148);
	make_data(message, 92, 0);
	put_le32(message, MESSAGE_RESPONSE);
	server_says(script, message, 92);
	assert_int_equal(client_takes(tcp, message, sizeof(message)), 92);
}

/* What strangers say, and when their connection ends. */
static void strangers(void **state)
{
	static const struct {
		const char *name;
		enum {
			SILENT,
			ONE_BYTE,
			DRIP,
			BAD_HEADER,
			LONG_RECORD,
			BAD_MAC,
			COOKIE,
			NONSENSE,
			GOOD
		} what;
		uint64_t open_ms, closed_ms; /* still open at the first, closed at the second */
		bool reaches_server;
	} cases[] = {
		{ "says nothing", SILENT, 5900, 6200, false },
		{ "a part of a record, then nothing", ONE_BYTE, 5900, 6200, false },
		{ "a byte each second", DRIP, 9800, 11000, false },
		{ "bad header", BAD_HEADER, 9900, 10200, false },
		{ "a record longer than a stranger may send", LONG_RECORD, 5900, 6200, false },
		{ "initiation with a bad mac1", BAD_MAC, 9900, 10200, false },
		{ "cookie reply", COOKIE, 9900, 10200, false },
		{ "not WireGuard", NONSENSE, 9900, 10200, false },
		{ "initiation that the server does not answer", GOOD, 179000, 181000, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t message[2048] = { 0 }, header[RECORD_HEADER_LEN];
		struct script script;
		struct tcp *tcp;
		uint64_t passed = 10;

		print_message("%s\n", cases[i].name);
		script_open(&script);
		tcp = script_connect(&script);
		make_initiation(&script, message);
		record_write_header(header, 148);
		switch (cases[i].what) {
		case SILENT:
			break;
		case ONE_BYTE:
			say_bytes(&script, tcp, header, 1);
			break;
		case DRIP:
			for (int second = 0; second < 9; second++) {
				say_bytes(&script, tcp, second < 8 ? header + second : message, 1);
				stage_run(&script.stage, 995);
				passed += 1000;
			}
			break;
		case BAD_HEADER:
			say_bytes(&script, tcp, "GET / HTTP/1.1\r\n\r\n", 18);
			break;
		case LONG_RECORD:
			make_data(message, 2000, 0);
			say(&script, tcp, message, 2000);
			break;
		case BAD_MAC:
			message[100] ^= 1;
			say(&script, tcp, message, 148);
			break;
		case COOKIE:
			put_le32(message, MESSAGE_COOKIE_REPLY);
			say(&script, tcp, message, 64);
			break;
		case NONSENSE:
			message[1] = 1;
			say(&script, tcp, message, 148);
			break;
		case GOOD:
			say(&script, tcp, message, 148);
			break;
		}
		assert_int_equal(
			server_takes(&script, message, sizeof(message)) > 0, cases[i].reaches_server);
		stage_run(&script.stage, cases[i].open_ms - passed);
		assert_false(is_closed(tcp));
		stage_run(&script.stage, cases[i].closed_ms - cases[i].open_ms);
		assert_true(is_closed(tcp));
		script_close(&script);
	}
}

/* Until the server has answered, a connection gets what one source may have; then all. */
static void data_of_a_session_that_the_relay_has_not_seen(void **state)
{
	uint8_t message[2048];
	struct script script;
	struct tcp *tcp;
	size_t taken = 0;

	(void)state;
	script_open(&script);
	tcp = script_connect(&script);
	for (uint32_t i = 0; i < 30; i++) {
		uint8_t record[RECORD_HEADER_LEN + 64];
		const struct tcp_piece piece = { record, sizeof(record) };

		record_write_header(record, 64);
		make_data(record + RECORD_HEADER_LEN, 64, i);
		assert_int_equal(tcp_send(tcp, &piece, 1), sizeof(record));
	}
	stage_run(&script.stage, 5);
	for (; server_takes(&script, message, sizeof(message)); taken++)
		assert_int_equal(get_le32(message + 16), taken);
	assert_int_equal(taken, 5);
	make_data(message, 32, 0);
	server_says(&script, message, 32);
	assert_int_equal(client_takes(tcp, message, sizeof(message)), 32);
	for (uint32_t i = 0; i < 200; i++) {
		make_data(message, 1452, i);
		say(&script, tcp, message, 1452);
	}
	for (taken = 0; server_takes(&script, message, sizeof(message)); taken++)
		assert_int_equal(get_le32(message + 16), taken);
	assert_int_equal(taken, 200);
	script_close(&script);
}

/* Where somebody was authentic before, a client that comes back may send what it has under way. */
static void a_client_that_comes_back(void **state)
{
	uint8_t message[148];
	struct script script;
	struct tcp *tcp;
	size_t taken = 0;

	(void)state;
	script_open(&script);
	tcp = script_connect(&script);
	make_known(&script, tcp);
	tcp = script_connect(&script);
	for (uint32_t i = 0; i < 100; i++) {
		uint8_t record[RECORD_HEADER_LEN + 64];
		const struct tcp_piece piece = { record, sizeof(record) };

		record_write_header(record, 64);
		make_data(record + RECORD_HEADER_LEN, 64, i);
		assert_int_equal(tcp_send(tcp, &piece, 1), sizeof(record));
	}
	stage_run(&script.stage, 5);
	for (; server_takes(&script, message, sizeof(message)); taken++)
		assert_int_equal(get_le32(message + 16), taken);
	assert_in_range(taken, 64 + 4, 64 + 5);
	script_close(&script);
}

/* It is passed over, without being kept, and a small one behind it goes on. */
static void large_data_of_a_session_that_the_relay_has_not_seen(void **state)
{
	uint8_t message[2048];
	struct script script;
	struct tcp *tcp;

	(void)state;
	script_open(&script);
	tcp = script_connect(&script);
	make_data(message, 1452, 1);
	say(&script, tcp, message, 1452);
	make_data(message, 80, 2);
	say(&script, tcp, message, 80);
	assert_int_equal(server_takes(&script, message, sizeof(message)), 80);
	server_says(&script, message, 80);
	make_data(message, 1452, 3);
	say(&script, tcp, message, 1452);
	assert_int_equal(server_takes(&script, message, sizeof(message)), 1452);
	assert_int_equal(get_le32(message + 16), 3);
	script_close(&script);
}

/* A cookie reply never goes to TCP: the relay answers it, once, and signs what comes after with it. */
static void cookies(void **state)
{
	uint8_t initiation[148], got[148], response[92] = { 0 };
	struct cookie_checker checker;
	struct cookie_reply reply;
	struct relay_stats stats;
	struct script script;
	struct mono now;
	struct tcp *tcp;

	(void)state;
	script_open(&script);
	cookie_checker_init(&checker, script.stage.server.public_key);
	tcp = script_connect(&script);
	make_initiation(&script, initiation);
	say(&script, tcp, initiation, 148);
	assert_int_equal(server_takes(&script, got, sizeof(got)), 148);
	assert_memory_equal(got, initiation, 148);
	now = world_now(script.stage.world);
	cookie_reply_create(&checker, got, 148, &script.from.remote, now, &reply);
	server_says(&script, &reply, sizeof(reply));
	/* The same again, but for mac2. */
	assert_int_equal(server_takes(&script, got, sizeof(got)), 148);
	assert_memory_equal(got, initiation, 132);
	assert_int_equal(
		cookie_checker_check(&checker, got, 148, &script.from.remote, now), MAC_VALID_WITH_COOKIE);
	assert_int_equal(client_takes(tcp, got, sizeof(got)), 0);
	relay_server_stats(script.stage.relay_server, &stats);
	assert_int_equal(stats.cookies, 1);
	assert_int_equal(stats.known, 0); /* it proves nothing: anybody gets one */
	/* A server that goes on wanting one is not asked again and again. */
	cookie_reply_create(&checker, got, 148, &script.from.remote, now, &reply);
	for (int i = 0; i < 3; i++)
		server_says(&script, &reply, sizeof(reply));
	assert_int_equal(server_takes(&script, got, sizeof(got)), 0);
	/* One that was forged changes nothing. */
	random_fill(&reply, sizeof(reply));
	put_le32(reply.type, MESSAGE_COOKIE_REPLY);
	server_says(&script, &reply, sizeof(reply));
	/* The next initiation has it from the start. */
	stage_run(&script.stage, 1000);
	make_initiation(&script, initiation);
	say(&script, tcp, initiation, 148);
	assert_int_equal(server_takes(&script, got, sizeof(got)), 148);
	assert_int_equal(
		cookie_checker_check(&checker, got, 148, &script.from.remote, world_now(script.stage.world)),
		MAC_VALID_WITH_COOKIE);
	put_le32(response, MESSAGE_RESPONSE);
	server_says(&script, response, sizeof(response));
	assert_int_equal(client_takes(tcp, got, sizeof(got)), 92);
	relay_server_stats(script.stage.relay_server, &stats);
	assert_int_equal(stats.known, 1);
	script_close(&script);
}

/* What it holds for one that does not read has a bound; what arrives is whole and in order. */
static void a_client_that_does_not_read(void **state)
{
	uint8_t message[2048];
	struct script script;
	struct relay_stats stats;
	struct tcp *tcp;
	uint32_t last = 0, count = 0;

	(void)state;
	script_open(&script);
	tcp = script_connect(&script);
	make_known(&script, tcp);
	/* The fake network stops: nothing more leaves the relay's socket. */
	stage_way(script.stage.client.host, script.stage.relay,
		&(struct way){ .delay_us = 1000, .drop_tcp = true });
	for (uint32_t i = 1; i <= 1500; i++) {
		make_data(message, 1452, i);
		struct packet *packet = packet_take(script.pool);
		size_t sent;

		memcpy(packet->data, message, 1452);
		packet->len = 1452;
		udp_send(script.server, &script.from, &packet, 1, &sent);
		packet_give(script.pool, packet);
		if (i % 50 == 0)
			stage_run(&script.stage, 1);
	}
	relay_server_stats(script.stage.relay_server, &stats);
	assert_true(stats.dropped > 500);
	stage_way(script.stage.client.host, script.stage.relay, &(struct way){ .delay_us = 1000 });
	stage_run(&script.stage, 1000);
	while (client_takes(tcp, message, sizeof(message))) {
		assert_true(get_le32(message + 16) > last);
		last = get_le32(message + 16);
		count++;
		stage_run(&script.stage, 1);
	}
	/* Socket and queue: some 256 KiB each, as far as CoDel leaves it. */
	assert_in_range(count, 170, 380);
	make_data(message, 64, 9999);
	server_says(&script, message, 64);
	stage_run(&script.stage, 10);
	assert_int_equal(client_takes(tcp, message, sizeof(message)), 64);
	script_close(&script);
}

static void datagrams_of_every_size(void **state)
{
	static const size_t lens[] = { 32, 48, 1452, 2048, 2049, 9000, 65507 };
	static uint8_t message[65536], got[65536];
	struct script script;
	struct tcp *tcp;

	(void)state;
	script_open(&script);
	tcp = script_connect(&script);
	make_known(&script, tcp);
	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		random_fill(message, lens[i]);
		put_le32(message, MESSAGE_DATA);
		server_says(&script, message, lens[i]);
		stage_run(&script.stage, 10);
		assert_int_equal(client_takes(tcp, got, sizeof(got)), lens[i]);
		assert_memory_equal(got, message, lens[i]);
	}
	/* Too short for WireGuard, and what is not WireGuard: not passed on. */
	server_says(&script, message, 31);
	memset(message, 0xff, 64);
	server_says(&script, message, 64);
	assert_int_equal(client_takes(tcp, got, sizeof(got)), 0);
	script_close(&script);
}

/* However TCP cuts the stream, the same datagrams come out. */
static void every_split(void **state)
{
	static const size_t lens[] = { 148, 32, 1452, 80 };
	uint8_t stream[4096], got[2048];
	size_t len = 0;
	struct script script;
	struct tcp *tcp;

	(void)state;
	script_open(&script);
	tcp = script_connect(&script);
	make_known(&script, tcp);
	for (size_t i = 1; i < 4; i++) {
		record_write_header(stream + len, lens[i]);
		make_data(stream + len + RECORD_HEADER_LEN, lens[i], (uint32_t)i);
		len += RECORD_HEADER_LEN + lens[i];
	}
	for (size_t cut = 1; cut < len; cut++) {
		const struct tcp_piece parts[] = { { stream, cut }, { stream + cut, len - cut } };

		assert_int_equal(tcp_send(tcp, &parts[0], 1), cut);
		stage_run(&script.stage, 2);
		assert_int_equal(tcp_send(tcp, &parts[1], 1), len - cut);
		stage_run(&script.stage, 2);
		for (size_t i = 1; i < 4; i++) {
			assert_int_equal(server_takes(&script, got, sizeof(got)), lens[i]);
			assert_int_equal(get_le32(got + 16), i);
		}
		assert_int_equal(server_takes(&script, got, sizeof(got)), 0);
	}
	script_close(&script);
}

/* Sixteen of one source are read; the next waits until one of them is known or gone. */
static void one_source_has_its_share(void **state)
{
	uint8_t message[148], got[148];
	struct tcp *tcp[18];
	struct relay_stats stats;
	struct script script;

	(void)state;
	script_open(&script);
	for (size_t i = 0; i < 18; i++)
		tcp[i] = script_connect(&script);
	relay_server_stats(script.stage.relay_server, &stats);
	assert_int_equal(stats.held, 2);
	make_initiation(&script, message);
	say(&script, tcp[16], message, 148);
	stage_run(&script.stage, 500);
	assert_int_equal(server_takes(&script, got, sizeof(got)), 0);
	assert_false(is_closed(tcp[16]));
	/* One becomes known: the oldest that was held is read. */
	make_initiation(&script, got);
	say(&script, tcp[3], got, 148);
	assert_int_equal(server_takes(&script, got, sizeof(got)), 148);
	make_data(got, 92, 0);
	put_le32(got, MESSAGE_RESPONSE);
	server_says(&script, got, 92);
	stage_run(&script.stage, 10);
	assert_int_equal(server_takes(&script, got, sizeof(got)), 148);
	assert_memory_equal(got, message, 148);
	script_close(&script);
}

static void a_known_connection_that_breaks_its_framing_is_closed(void **state)
{
	uint8_t message[148] = { 0 }, got[148];
	struct relay_stats stats;
	struct script script;
	struct tcp *tcp;

	(void)state;
	script_open(&script);
	tcp = script_connect(&script);
	make_known(&script, tcp);
	/* A bad message inside a good record is only dropped, as on UDP. */
	say(&script, tcp, message, 100);
	assert_int_equal(server_takes(&script, got, sizeof(got)), 0);
	make_data(message, 64, 7);
	say(&script, tcp, message, 64);
	assert_int_equal(server_takes(&script, got, sizeof(got)), 64);
	say_bytes(&script, tcp, "GET / HTTP/1.1\r\n\r\n", 18);
	stage_run(&script.stage, 10);
	assert_true(is_closed(tcp));
	relay_server_stats(script.stage.relay_server, &stats);
	assert_int_equal(stats.known + stats.unknown, 0);
	script_close(&script);
}

static void an_idle_connection_ends_after_an_hour(void **state)
{
	uint8_t message[64];
	struct script script;
	struct tcp *tcp;

	(void)state;
	script_open(&script);
	tcp = script_connect(&script);
	make_known(&script, tcp);
	stage_run(&script.stage, 1800000);
	make_data(message, 32, 0);
	server_says(&script, message, 32);
	assert_int_equal(client_takes(tcp, message, sizeof(message)), 32);
	stage_run(&script.stage, 3590000);
	assert_false(is_closed(tcp));
	stage_run(&script.stage, 20000);
	assert_true(is_closed(tcp));
	script_close(&script);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_session_through_the_relay),
		cmocka_unit_test(the_session_survives_switches),
		cmocka_unit_test(the_session_survives_a_new_relay),
		cmocka_unit_test(the_server_goes_and_comes_back),
		cmocka_unit_test(strangers),
		cmocka_unit_test(data_of_a_session_that_the_relay_has_not_seen),
		cmocka_unit_test(large_data_of_a_session_that_the_relay_has_not_seen),
		cmocka_unit_test(a_client_that_comes_back),
		cmocka_unit_test(cookies),
		cmocka_unit_test(a_client_that_does_not_read),
		cmocka_unit_test(datagrams_of_every_size),
		cmocka_unit_test(every_split),
		cmocka_unit_test(one_source_has_its_share),
		cmocka_unit_test(a_known_connection_that_breaks_its_framing_is_closed),
		cmocka_unit_test(an_idle_connection_ends_after_an_hour),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
