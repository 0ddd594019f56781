/* SPDX-License-Identifier: MIT */
/* core/port/udp.h on any platform. */
#include "core/port/udp.h"

#include "tests/contract/cmocka_all.h"
#include "tests/contract/rig.h"

#include <string.h>

#define PACKETS_MAX 300

struct ends {
	struct udp *udp[2];
	struct endpoint at[2];
	struct packet_pool *pool;
	struct packet *packets[PACKETS_MAX];
	size_t count;
};

static void ends_open(struct ends *ends, enum ip_family family)
{
	memset(ends, 0, sizeof(*ends));
	for (int i = 0; i < 2; i++)
		assert_int_equal(udp_adopt(rig_udp(family, &ends->at[i]), &ends->udp[i]), 0);
	ends->pool = packet_pool_new(PACKETS_MAX, 2048);
	assert_non_null(ends->pool);
	assert_int_equal(loop_watch_udp(rig_loop(), ends->udp[1], LOOP_READ, ends), 0);
}

static void ends_close(struct ends *ends)
{
	loop_watch_udp(rig_loop(), ends->udp[1], 0, NULL);
	for (size_t i = 0; i < ends->count; i++)
		packet_give(ends->pool, ends->packets[i]);
	packet_pool_free(ends->pool);
	for (int i = 0; i < 2; i++)
		udp_close(ends->udp[i]);
}

static void add(struct ends *ends, size_t len, uint8_t ecn)
{
	struct packet *packet = packet_take(ends->pool);

	assert_non_null(packet);
	for (size_t i = 0; i < len; i++)
		packet->data[i] = (uint8_t)(i * 7 + ends->count * 13);
	packet->len = (uint32_t)len;
	packet->ecn = ecn;
	ends->packets[ends->count++] = packet;
}

/* Sends all and expects all, in order, in calls of at most max. */
static void pass_all(struct ends *ends, size_t max)
{
	struct udp_path path = { .remote = ends->at[1] };
	struct udp_datagram got[UDP_BATCH];
	size_t sent = 0, arrived = 0;

	assert_int_equal(udp_send(ends->udp[0], &path, ends->packets, ends->count, &sent), 0);
	assert_int_equal(sent, ends->count);
	while (arrived < ends->count) {
		int n = udp_receive(ends->udp[1], got, max);

		assert_true(n >= 0 && (size_t)n <= max);
		if (n == 0)
			assert_int_equal(rig_wait(NULL) & LOOP_READ, LOOP_READ);
		for (int i = 0; i < n; i++, arrived++) {
			const struct packet *want = ends->packets[arrived];

			assert_int_equal(got[i].len, want->len);
			assert_memory_equal(got[i].data, want->data, want->len);
			assert_int_equal(got[i].ecn, want->ecn);
			assert_true(endpoint_equal(&got[i].path.remote, &ends->at[0]));
			assert_true(ip_address_equal(&got[i].path.local, &ends->at[1].address));
			got[i].data[0] ^= 1; /* it is ours to write to */
		}
	}
	assert_int_equal(udp_receive(ends->udp[1], got, max), 0);
}

static void one_datagram_with_its_path(void **state)
{
	struct ends ends;

	(void)state;
	for (int i = 0; i < 2; i++) {
		ends_open(&ends, i ? IP_V6 : IP_V4);
		assert_int_equal(udp_family(ends.udp[0]), i ? IP_V6 : IP_V4);
		add(&ends, 148, 0);
		pass_all(&ends, UDP_BATCH);
		ends_close(&ends);
	}
}

static void batches_keep_order_and_lengths(void **state)
{
	/* Equal sizes, a shorter last one, a longer one within, sizes in no order. */
	static const struct {
		size_t count, len, step, modulo;
	} cases[] = {
		{ 1, 1452, 0, 1 },
		{ 200, 1452, 0, 1 },
		{ 300, 32, 0, 1 },
		{ 150, 1200, 1, 2 },
		{ 200, 100, 37, 1000 },
		{ 65, 1452, 13, 14 },
	};
	struct ends ends;

	(void)state;
	for (size_t c = 0; c < 2 * sizeof(cases) / sizeof(cases[0]); c++) {
		size_t at = c / 2;

		ends_open(&ends, c & 1 ? IP_V6 : IP_V4);
		for (size_t i = 0; i < cases[at].count; i++)
			add(&ends, cases[at].len + i * cases[at].step % cases[at].modulo, 0);
		pass_all(&ends, UDP_BATCH);
		ends_close(&ends);
	}
}

static void ecn_travels(void **state)
{
	struct ends ends;

	(void)state;
	for (int family = 0; family < 2; family++) {
		ends_open(&ends, family ? IP_V6 : IP_V4);
		for (size_t i = 0; i < 40; i++)
			add(&ends, 500, (uint8_t)(i / 5 % 4));
		pass_all(&ends, UDP_BATCH);
		ends_close(&ends);
	}
}

/* A burst that was taken only in part makes the loop say so: nothing waits for the next datagram. */
static void small_calls_lose_nothing(void **state)
{
	struct ends ends;
	struct udp_datagram got[3];
	struct udp_path path;
	size_t sent, arrived = 0;
	void *token;

	(void)state;
	ends_open(&ends, IP_V4);
	for (size_t i = 0; i < 64; i++)
		add(&ends, 700, 0);
	path = (struct udp_path){ .remote = ends.at[1] };
	assert_int_equal(udp_send(ends.udp[0], &path, ends.packets, ends.count, &sent), 0);
	while (arrived < ends.count) {
		assert_int_equal(rig_wait(&token) & LOOP_READ, LOOP_READ);
		assert_ptr_equal(token, &ends);
		int n = udp_receive(ends.udp[1], got, 3);
		assert_in_range(n, 1, 3);
		for (int i = 0; i < n; i++)
			assert_memory_equal(got[i].data, ends.packets[arrived++]->data, 700);
	}
	ends_close(&ends);
}

static void answer_goes_back_on_the_path(void **state)
{
	struct ends ends;
	struct udp_datagram got[1];
	struct udp_path path;
	size_t sent;

	(void)state;
	ends_open(&ends, IP_V4);
	add(&ends, 100, 0);
	path = (struct udp_path){ .remote = ends.at[1] };
	assert_int_equal(udp_send(ends.udp[0], &path, ends.packets, 1, &sent), 0);
	assert_int_equal(rig_wait(NULL) & LOOP_READ, LOOP_READ);
	assert_int_equal(udp_receive(ends.udp[1], got, 1), 1);
	path = got[0].path;
	assert_int_equal(udp_send(ends.udp[1], &path, ends.packets, 1, &sent), 0);
	assert_int_equal(loop_watch_udp(rig_loop(), ends.udp[0], LOOP_READ, NULL), 0);
	assert_int_equal(rig_wait(NULL) & LOOP_READ, LOOP_READ);
	assert_int_equal(udp_receive(ends.udp[0], got, 1), 1);
	assert_true(endpoint_equal(&got[0].path.remote, &ends.at[1]));
	loop_watch_udp(rig_loop(), ends.udp[0], 0, NULL);
	ends_close(&ends);
}

static void no_error_waits_at_first(void **state)
{
	struct endpoint remote;
	struct ends ends;

	(void)state;
	ends_open(&ends, IP_V4);
	assert_int_equal(udp_error(ends.udp[0], &remote), 0);
	ends_close(&ends);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_datagram_with_its_path),
		cmocka_unit_test(batches_keep_order_and_lengths),
		cmocka_unit_test(ecn_travels),
		cmocka_unit_test(small_calls_lose_nothing),
		cmocka_unit_test(answer_goes_back_on_the_path),
		cmocka_unit_test(no_error_waits_at_first),
	};

	rig_open();
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	rig_close();
	return failed;
}
