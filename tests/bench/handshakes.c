/* SPDX-License-Identifier: MIT */
/* wgtcp-bench-handshakes: how many handshakes one core answers in a second, and how many it makes whole. The
 * core's code without sockets: messages go from hand to hand and the clock is a number, so that no limit for
 * strangers is met. One thread. Called by tests/bench/run. */
#include "core/tunnel/tunnel.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SPACING_MS 25 /* two initiations of one peer, and far below what counts as load */

struct side {
	struct tunnel *tunnel;
	struct peer *peer;
	struct packet *message, *scratch;
};

/* Of this thread's work: what else the machine does does not count. */
static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "wgtcp-bench-handshakes: %s failed\n", what);
	exit(1);
}

static void make_pair(struct side side[2], struct packet_pool *pool)
{
	uint8_t private_key[KEY_LEN], public_key[2][KEY_LEN];

	for (int i = 0; i < 2; i++) {
		dh_generate(private_key);
		dh_public(public_key[i], private_key);
		side[i].tunnel = tunnel_new();
		must(side[i].tunnel, "memory");
		tunnel_set_private_key(side[i].tunnel, private_key);
		side[i].message = packet_take(pool);
		side[i].scratch = packet_take(pool);
	}
	for (int i = 0; i < 2; i++) {
		side[i].peer = tunnel_peer_add(side[i].tunnel, public_key[1 - i]);
		must(side[i].peer, "a peer");
	}
}

/* Makes count handshakes and tells the seconds that each side took. */
static void measure(struct side side[2], unsigned long count, double took[2])
{
	const struct endpoint source = { .address = { .family = IP_V4, .bytes = { 192, 0, 2, 1 } },
		.port = 51820 };
	struct mono now = { 1000000000 };
	struct wall wall = { .s = 1700000000 };
	struct received received;

	for (unsigned long i = 0; i < count; i++) {
		double start = seconds_now(), middle, end;

		now = mono_add_ms(now, SPACING_MS);
		wall.ns += SPACING_MS * 1000000;
		wall.s += wall.ns / 1000000000;
		wall.ns %= 1000000000;
		must(tunnel_create_initiation(side[0].tunnel, side[0].peer, now, wall, side[0].message) ==
				VERDICT_OK,
			"an initiation");
		middle = seconds_now();
		must(tunnel_receive(side[1].tunnel, CARRIER_UDP, &source, side[0].message->data,
			     side[0].message->len, now, wall, side[1].scratch, &received) == VERDICT_OK &&
				received.kind == RECEIVED_INITIATION,
			"taking the initiation");
		must(tunnel_create_response(side[1].tunnel, side[1].peer, now, side[1].message) == VERDICT_OK,
			"a response");
		end = seconds_now();
		took[1] += end - middle;
		took[0] += middle - start;
		must(tunnel_receive(side[0].tunnel, CARRIER_UDP, &source, side[1].message->data,
			     side[1].message->len, now, wall, side[0].scratch, &received) == VERDICT_OK &&
				received.kind == RECEIVED_RESPONSE,
			"taking the response");
		took[0] += seconds_now() - end;
	}
}

int main(int argc, char **argv)
{
	unsigned long count = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
	struct packet_pool *pool;
	struct side side[2];
	double took[2] = { 0 };

	if (!count) {
		fputs("usage: wgtcp-bench-handshakes COUNT\n", stderr);
		return 2;
	}
	must(crypto_init(), "the self-test of the crypto libraries");
	pool = packet_pool_new(4, 2048);
	must(pool, "memory");
	make_pair(side, pool);
	measure(side, count, took);
	printf("{\"count\": %lu, \"answered_per_s\": %.0f, \"initiated_per_s\": %.0f, \"aead\": \"%s\"}\n",
		count, (double)count / took[1], (double)count / took[0], crypto_aead_name());
	for (int i = 0; i < 2; i++) {
		tunnel_free(side[i].tunnel);
		packet_give(pool, side[i].message);
		packet_give(pool, side[i].scratch);
	}
	packet_pool_free(pool);
	return 0;
}
