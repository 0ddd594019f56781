/* SPDX-License-Identifier: MIT */
/* core/port/tcp.h on any platform. */
#include "core/port/tcp.h"

#include "tests/contract/cmocka_all.h"
#include "tests/contract/rig.h"

#include <errno.h>
#include <string.h>

struct ends {
	struct tcp *tcp[2];
};

static void ends_open(struct ends *ends, enum ip_family family)
{
	int handles[2];

	rig_tcp(family, handles);
	for (int i = 0; i < 2; i++)
		assert_int_equal(tcp_adopt(handles[i], &ends->tcp[i]), 0);
}

/* Waits for one end to become ready for `what`. */
static void await(struct tcp *tcp, uint32_t what)
{
	assert_int_equal(loop_watch_tcp(rig_loop(), tcp, what, tcp), 0);
	assert_int_equal(rig_wait(NULL) & what, what);
	assert_int_equal(loop_watch_tcp(rig_loop(), tcp, 0, NULL), 0);
}

static void receive_exactly(struct tcp *tcp, uint8_t *out, size_t len)
{
	for (size_t at = 0; at < len;) {
		long n = tcp_receive(tcp, out + at, len - at);

		if (n == -EAGAIN)
			await(tcp, LOOP_READ);
		else
			assert_true(n > 0);
		at += n > 0 ? (size_t)n : 0;
	}
}

static void pieces_arrive_as_one_stream(void **state)
{
	static const struct tcp_piece pieces[] = { { (const uint8_t *)"head", 4 }, { (const uint8_t *)"", 0 },
		{ (const uint8_t *)"payload", 7 } };
	uint8_t got[11];
	struct ends ends;

	(void)state;
	for (int family = 0; family < 2; family++) {
		ends_open(&ends, family ? IP_V6 : IP_V4);
		assert_int_equal(tcp_remote(ends.tcp[0])->address.family, family ? IP_V6 : IP_V4);
		assert_int_not_equal(tcp_remote(ends.tcp[0])->port, 0);
		assert_int_equal(tcp_receive(ends.tcp[1], got, sizeof(got)), -EAGAIN);
		assert_int_equal(tcp_send(ends.tcp[0], pieces, 3), 11);
		receive_exactly(ends.tcp[1], got, sizeof(got));
		assert_memory_equal(got, "headpayload", 11);
		tcp_close(ends.tcp[0]);
		tcp_close(ends.tcp[1]);
	}
}

static void a_full_stream_says_so_and_goes_on(void **state)
{
	static uint8_t block[65536], got[65536];
	const struct tcp_piece piece = { block, sizeof(block) };
	struct ends ends;
	size_t taken = 0, arrived = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(block); i++)
		block[i] = (uint8_t)(i % 251);
	ends_open(&ends, IP_V4);
	for (long n; (n = tcp_send(ends.tcp[0], &piece, 1)) != -EAGAIN; taken += (size_t)n) {
		assert_true(n > 0);
		/* The unsent part is bounded: this must end. */
		assert_true(taken < (64u << 20));
		if ((size_t)n < sizeof(block)) {
			taken += (size_t)n;
			break;
		}
	}
	while (arrived < taken) {
		size_t part = taken - arrived < sizeof(got) ? taken - arrived : sizeof(got);
		receive_exactly(ends.tcp[1], got, part);
		for (size_t i = 0; i < part; i++)
			assert_int_equal(got[i], block[(arrived + i) % sizeof(block)]);
		arrived += part;
	}
	await(ends.tcp[0], LOOP_WRITE);
	assert_true(tcp_send(ends.tcp[0], &piece, 1) > 0);
	tcp_close(ends.tcp[0]);
	tcp_close(ends.tcp[1]);
}

static void close_ends_the_stream_after_its_bytes(void **state)
{
	const struct tcp_piece piece = { (const uint8_t *)"last", 4 };
	uint8_t got[8];
	struct ends ends;

	(void)state;
	ends_open(&ends, IP_V4);
	/* Bytes that the closing side has not read must not destroy what it has sent. */
	assert_int_equal(tcp_send(ends.tcp[1], &piece, 1), 4);
	assert_int_equal(tcp_send(ends.tcp[0], &piece, 1), 4);
	await(ends.tcp[0], LOOP_READ);
	tcp_close(ends.tcp[0]);
	receive_exactly(ends.tcp[1], got, 4);
	assert_memory_equal(got, "last", 4);
	await(ends.tcp[1], LOOP_READ);
	assert_int_equal(tcp_receive(ends.tcp[1], got, sizeof(got)), 0);
	/* Writing on leads to an error in the end, not to a signal. */
	for (int i = 0; i < 100; i++) {
		long n = tcp_send(ends.tcp[1], &piece, 1);
		if (n < 0 && n != -EAGAIN)
			break;
		assert_int_not_equal(i, 99);
		rig_wait(NULL);
	}
	tcp_close(ends.tcp[1]);
}

static void listener_accepts_what_connects(void **state)
{
	struct tcp_listener *listener;
	struct tcp *near, *far, *none;
	struct endpoint bound;

	(void)state;
	assert_int_equal(tcp_listener_adopt(rig_listener(IP_V6, &bound), &listener), 0);
	assert_int_equal(tcp_accept(listener, &far), -EAGAIN);
	assert_int_equal(tcp_adopt(rig_connect(&bound), &near), 0);
	assert_int_equal(loop_watch_listener(rig_loop(), listener, LOOP_READ, &bound), 0);
	void *token;
	assert_int_equal(rig_wait(&token) & LOOP_READ, LOOP_READ);
	assert_ptr_equal(token, &bound);
	assert_int_equal(tcp_accept(listener, &far), 0);
	assert_int_equal(tcp_accept(listener, &none), -EAGAIN);
	assert_true(endpoint_equal(tcp_remote(near), &bound));
	loop_watch_listener(rig_loop(), listener, 0, NULL);
	tcp_close(near);
	tcp_close(far);
	tcp_listener_close(listener);
}

static void metrics_are_plausible(void **state)
{
	struct tcp_metrics metrics;
	uint8_t got[4];
	struct ends ends;

	(void)state;
	ends_open(&ends, IP_V4);
	assert_int_equal(tcp_send(ends.tcp[0], &(struct tcp_piece){ (const uint8_t *)"ping", 4 }, 1), 4);
	receive_exactly(ends.tcp[1], got, 4);
	assert_int_equal(tcp_metrics(ends.tcp[0], &metrics), 0);
	assert_in_range(metrics.rtt_us, 1, 1000000);
	assert_int_equal(metrics.unsent, 0);
	tcp_close(ends.tcp[0]);
	tcp_close(ends.tcp[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_arrive_as_one_stream),
		cmocka_unit_test(a_full_stream_says_so_and_goes_on),
		cmocka_unit_test(close_ends_the_stream_after_its_bytes),
		cmocka_unit_test(listener_accepts_what_connects),
		cmocka_unit_test(metrics_are_plausible),
	};

	rig_open();
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	rig_close();
	return failed;
}
