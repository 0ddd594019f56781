/* SPDX-License-Identifier: MIT */
/* CoDel's timing against a table worked out by hand: interval 100 ms, target 5 ms, one packet each ms. */
#include "core/carrier/codel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define MS 1000000ull

static const struct codel_settings settings = {
	.target_us = 5000, .interval_us = 100000, .small_bytes = 1500
};

static bool packet_at(struct codel *codel, uint64_t ms, uint64_t sojourn_us, uint32_t backlog)
{
	struct mono now = { (10000 + ms) * MS };

	return codel_strikes(codel, &settings, now, (struct mono){ now.ns - sojourn_us * 1000 }, backlog);
}

static void standing_queue(void **unused)
{
	/* 100, then each 100 / sqrt(n) later: 200, 270.7, 328.4, 378.4, 423.2, 464.0, 501.8, 537.1, 570.5 */
	static const uint64_t strikes[] = { 100, 200, 271, 329, 379, 424, 464, 502, 538, 571 };
	struct codel codel = { 0 };
	size_t next = 0;

	(void)unused;
	for (uint64_t ms = 0; ms < 600; ms++) {
		bool struck = packet_at(&codel, ms, 50000, 100000);

		if (struck)
			assert_true(next < 10);
		assert_int_equal(struck, next < 10 && strikes[next] == ms);
		next += struck;
	}
	assert_int_equal(next, 10);

	/* It drains, and stands again soon: goes on at 9 of the 10, so 100, then 33.3, 31.6 ms. */
	assert_false(packet_at(&codel, 600, 1000, 100000));
	for (uint64_t ms = 700; ms < 870; ms++)
		assert_int_equal(packet_at(&codel, ms, 50000, 100000), ms == 800 || ms == 834 || ms == 865);

	/* Long after: from the start. */
	assert_false(packet_at(&codel, 900, 1000, 100000));
	for (uint64_t ms = 5000; ms < 5250; ms++)
		assert_int_equal(packet_at(&codel, ms, 50000, 100000), ms == 5100 || ms == 5200);
}

static void no_standing_queue(void **unused)
{
	static const struct {
		uint64_t sojourn_us, dip_ms; /* one packet each dip_ms with a short sojourn; 0: none */
		uint32_t backlog;
	} rows[] = {
		{ 4999, 0, 100000 },
		{ 50000, 0, 1500 }, /* one packet waits: not a queue */
		{ 50000, 100, 100000 },
		{ 50000, 7, 100000 },
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct codel codel = { 0 };

		for (uint64_t ms = 0; ms < 1000; ms++) {
			bool dip = rows[i].dip_ms && ms % rows[i].dip_ms == 0;

			assert_false(packet_at(&codel, ms, dip ? 4000 : rows[i].sojourn_us, rows[i].backlog));
		}
	}
}

static void empty_forgets_the_wait(void **unused)
{
	struct codel codel = { 0 };

	(void)unused;
	assert_false(packet_at(&codel, 0, 50000, 100000));
	codel_empty(&codel);
	assert_false(packet_at(&codel, 150, 50000, 100000));
	assert_false(packet_at(&codel, 249, 50000, 100000));
	assert_true(packet_at(&codel, 250, 50000, 100000));
}

static void extreme_settings_do_not_overflow(void **unused)
{
	static const uint32_t intervals[] = { 0, 1, UINT32_MAX };

	(void)unused;
	for (size_t i = 0; i < 3; i++) {
		const struct codel_settings extreme = { .target_us = 0, .interval_us = intervals[i] };
		struct codel codel = { 0 };
		unsigned struck = 0;

		for (uint64_t s = 0; s < 100000; s += 1000)
			struck += codel_strikes(&codel, &extreme, (struct mono){ (10 + s) * 1000 * MS },
				(struct mono){ 1 }, 1);
		assert_in_range(struck, 50, 100);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(standing_queue),
		cmocka_unit_test(no_standing_queue),
		cmocka_unit_test(empty_forgets_the_wait),
		cmocka_unit_test(extreme_settings_do_not_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
