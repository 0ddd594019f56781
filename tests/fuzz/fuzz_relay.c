/* SPDX-License-Identifier: MIT */
/* The relay's server part in memory, between strangers that say anything and a server that answers anything.
 * The input is a list of steps: a byte that says what and on which connection, a byte of length (times 8),
 * and bytes.
 *
 * Nothing may crash, spin or be left over, whole records must come out on TCP, never a cookie reply, and a
 * server must get nothing but WireGuard messages. */
#include "client/relay/relay.h"

#include "core/base/bytes.h"
#include "core/carrier/record.h"
#include "core/noise/cookie.h"
#include "core/noise/message.h"
#include "core/port/datagram.h"
#include "core/port/tcp.h"
#include "platform/fake/world.h"

#include <stdlib.h>
#include <string.h>

#define CONNECTIONS 4
#define TURNS_MAX 1000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct scene {
	struct world *world;
	struct host *client, *relay, *server;
	struct relay_server *relay_server;
	struct tcp *tcp[CONNECTIONS];
	struct record_stream in[CONNECTIONS];
	struct datagram *answers; /* the server's end of the newest flow */
	struct cookie_maker signer;
	uint16_t port;
};

static void run(struct scene *scene, uint64_t ms)
{
	struct mono end = mono_add_ms(world_now(scene->world), ms);

	for (;;) {
		for (int turns = 0;
			host_ready(scene->relay) ||
			mono_reached(world_now(scene->world), relay_server_deadline(scene->relay_server));
			turns++) {
			if (turns == TURNS_MAX || relay_server_turn(scene->relay_server))
				abort();
			world_advance(scene->world, world_now(scene->world));
		}
		if (mono_reached(world_now(scene->world), end))
			return;
		world_advance(
			scene->world, mono_min(end, mono_min(world_next(scene->world),
							    relay_server_deadline(scene->relay_server))));
	}
}

/* What has come to a client: whole records of messages that a server may send. */
static void look_at_client(struct scene *scene, size_t which)
{
	uint8_t bytes[4096], *input, *message;
	size_t left, len;
	long got;

	if (!scene->tcp[which])
		return;
	while ((got = tcp_receive(scene->tcp[which], bytes, sizeof(bytes))) > 0) {
		enum record_state state;

		input = bytes;
		left = (size_t)got;
		while ((state = record_stream_next(&scene->in[which], &input, &left, &message, &len)) ==
			RECORD_COMPLETE) {
			enum message_type type = message_classify(message, len);

			if (type == MESSAGE_NONE || type == MESSAGE_COOKIE_REPLY)
				abort();
		}
		if (state == RECORD_INVALID)
			abort();
	}
	if (!got) {
		tcp_close(scene->tcp[which]);
		scene->tcp[which] = NULL;
		record_stream_free(&scene->in[which]);
	}
}

static void look_at_server(struct scene *scene)
{
	static uint8_t bytes[DATAGRAM_ROOM];
	size_t segment;
	long got;

	while (scene->answers && (got = datagram_receive(scene->answers, bytes, sizeof(bytes), &segment)) > 0)
		for (size_t at = 0; at < (size_t)got; at += segment) {
			size_t len = (size_t)got - at < segment ? (size_t)got - at : segment;
			enum message_type type = message_classify(bytes + at, len);

			if (type == MESSAGE_NONE || type == MESSAGE_COOKIE_REPLY)
				abort();
		}
}

static void connect_one(struct scene *scene, size_t which)
{
	const struct endpoint relay = { .address = *host_address(scene->relay), .port = 443 };

	if (scene->tcp[which])
		return;
	scene->tcp[which] = host_connect(scene->client, &relay, ++scene->port);
	record_stream_init(&scene->in[which], RECORD_MAX_LEN);
}

static void say(struct scene *scene, size_t which, const uint8_t *bytes, size_t len)
{
	const struct tcp_piece piece = { bytes, len };

	if (scene->tcp[which] && len)
		(void)tcp_send(scene->tcp[which], &piece, 1);
}

/* A record with a header that is right, and, for handshakes, a mac1 that is. */
static void say_message(struct scene *scene, size_t which, const uint8_t *bytes, size_t len)
{
	uint8_t record[RECORD_HEADER_LEN + 8 * 255 + 148] = { 0 }, *message = record + RECORD_HEADER_LEN;
	size_t message_len = len < RECORD_MESSAGE_MIN ? RECORD_MESSAGE_MIN : len;

	memcpy(message, bytes, len);
	if (len && bytes[0] < 4) {
		put_le32(message, bytes[0] & 1 ? MESSAGE_INITIATION : MESSAGE_RESPONSE);
		message_len = bytes[0] & 1 ? sizeof(struct initiation) : sizeof(struct response);
		cookie_maker_sign(&scene->signer, message, message_len, world_now(scene->world));
	} else {
		put_le32(message, MESSAGE_DATA);
	}
	record_write_header(record, message_len);
	say(scene, which, record, RECORD_HEADER_LEN + message_len);
}

static void answer(struct scene *scene, const uint8_t *bytes, size_t len)
{
	const struct datagram_piece piece = { .data = bytes, .len = len };

	if (scene->answers && len)
		(void)datagram_send(scene->answers, &piece, 1);
}

/* The relay's flows have ports from 30000 on, one after the other. */
static void follow_flow(struct scene *scene, uint16_t number)
{
	const struct endpoint flow = { .address = *host_address(scene->relay),
		.port = (uint16_t)(30000 + number % 8) };

	datagram_close(scene->answers);
	scene->answers = NULL;
	if (datagram_adopt(host_make_datagram(scene->server, 51820, &flow), &scene->answers))
		abort();
}

static void step(struct scene *scene, uint8_t what, const uint8_t *bytes, size_t len)
{
	size_t which = what >> 3 & 3;

	switch (what & 7) {
	case 0:
		connect_one(scene, which);
		break;
	case 1:
		say(scene, which, bytes, len);
		break;
	case 2:
	case 3:
		say_message(scene, which, bytes, len);
		break;
	case 4:
		answer(scene, bytes, len);
		break;
	case 5:
		follow_flow(scene, what >> 3);
		break;
	case 6:
		if (scene->tcp[which])
			tcp_close(scene->tcp[which]);
		scene->tcp[which] = NULL;
		record_stream_free(&scene->in[which]);
		break;
	case 7:
		run(scene, (uint64_t)(what >> 3) * 100);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct relay_settings settings = { .handles = 1000, .public_key = { 9 } };
	struct relay_ports ports;
	struct tcp_listener *listener;
	struct scene scene = { 0 };

	if (!crypto_init())
		abort();
	scene.world = world_new(1);
	scene.client = world_add_host(scene.world, "192.0.2.1");
	scene.relay = world_add_host(scene.world, "192.0.2.2");
	scene.server = world_add_host(scene.world, "192.0.2.3");
	settings.forward = (struct endpoint){ .address = *host_address(scene.server), .port = 51820 };
	ports = (struct relay_ports){ .clock = host_clock(scene.relay), .loop = host_loop(scene.relay) };
	scene.relay_server = relay_server_new(&ports, &settings);
	if (!scene.relay_server || tcp_listener_adopt(host_make_listener(scene.relay, 443), &listener) ||
		relay_server_listen(scene.relay_server, listener))
		abort();
	cookie_maker_init(&scene.signer, settings.public_key);
	follow_flow(&scene, 0);
	while (size >= 2) {
		size_t len = (size_t)data[1] * 8 < size - 2 ? (size_t)data[1] * 8 : size - 2;

		step(&scene, data[0], data + 2, len);
		run(&scene, 1);
		look_at_server(&scene);
		for (size_t i = 0; i < CONNECTIONS; i++)
			look_at_client(&scene, i);
		data += 2 + len;
		size -= 2 + len;
	}
	relay_server_free(scene.relay_server);
	datagram_close(scene.answers);
	for (size_t i = 0; i < CONNECTIONS; i++) {
		if (scene.tcp[i])
			tcp_close(scene.tcp[i]);
		record_stream_free(&scene.in[i]);
	}
	world_free(scene.world);
	return 0;
}
