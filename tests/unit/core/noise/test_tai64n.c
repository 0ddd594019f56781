/* SPDX-License-Identifier: MIT */
/* Timestamps: the label, the grid, the order, and that time never goes back. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/noise/tai64n.h"
#include "tests/unit/core/crypto/hex.h"

#define GRAIN TAI64N_GRANULE_NS

static void wall_is_written_on_the_grid(void **state)
{
	static const struct {
		struct wall wall;
		const char *want;
		uint32_t read_ns;
	} table[] = {
		{ { 0, 0 }, "400000000000000a00000000", 0 },
		{ { 1, GRAIN - 1 }, "400000000000000b00000000", 0 },
		{ { 1, GRAIN }, "400000000000000b01000000", GRAIN },
		{ { 1, GRAIN + 1 }, "400000000000000b01000000", GRAIN },
		{ { 1, 999999999 }, "400000000000000b3b000000", 59 * GRAIN },
		{ { 1796077686, 56 * GRAIN }, "400000006b0df88038000000",
			56 * GRAIN }, /* as wireguard-go wrote it */
		{ { 4294967296u, 5 }, "400000010000000a00000000", 0 },
	};
	uint8_t timestamp[TAI64N_LEN];
	struct wall back;

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		tai64n_write(table[i].wall, timestamp);
		assert_hex(timestamp, sizeof(timestamp), table[i].want);
		assert_true(tai64n_read(timestamp, &back));
		assert_true(back.s == table[i].wall.s);
		assert_int_equal(back.ns, table[i].read_ns);
	}
}

static void nonsense_is_not_read(void **state)
{
	static const struct {
		const char *timestamp;
		bool want;
	} table[] = {
		{ "400000000000000a00000000", true }, { "400000000000000900000000", false }, /* 1969 */
		{ "000000000000000000000000", false }, { "7fffffffffffffff00000000", true },
		{ "800000000000000000000000", false }, /* reserved */
		{ "ffffffffffffffffffffffff", false }, { "400000000000000a3b9ac9ff", true },
		{ "400000000000000a3b9aca00", false }, /* a second of nanoseconds */
	};
	uint8_t timestamp[TAI64N_LEN];

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct wall wall = { 77, 77 };

		from_hex(timestamp, sizeof(timestamp), table[i].timestamp);
		assert_int_equal(tai64n_read(timestamp, &wall), table[i].want);
		if (!table[i].want)
			assert_true(wall.s == 77 && wall.ns == 77);
	}
}

static void later_compares_greater(void **state)
{
	static const struct wall rising[] = { { 0, 0 }, { 0, GRAIN }, { 0, 59 * GRAIN }, { 1, 0 }, { 255, 0 },
		{ 256, 0 }, { 4294967295u, 0 }, { 4294967296u, 0 } };
	uint8_t a[TAI64N_LEN], b[TAI64N_LEN];
	const size_t count = sizeof(rising) / sizeof(rising[0]);

	(void)state;
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < count; j++) {
			tai64n_write(rising[i], a);
			tai64n_write(rising[j], b);
			int order = tai64n_compare(a, b);

			assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
		}
}

static void time_never_goes_back(void **state)
{
	static const struct {
		struct wall wall, floor, want;
	} table[] = {
		{ { 100, 0 }, { 0, 0 }, { 100, 0 } },
		{ { 100, GRAIN + 5 }, { 100, 0 }, { 100, GRAIN } },
		{ { 100, GRAIN + 5 }, { 100, GRAIN }, { 100, 2 * GRAIN } }, /* within the same grain */
		{ { 100, GRAIN + 5 }, { 100, GRAIN + 5 }, { 100, 2 * GRAIN } },
		{ { 100, GRAIN + 5 }, { 100, 3 * GRAIN - 1 }, { 100, 3 * GRAIN } },
		{ { 50, 0 }, { 100, 0 }, { 100, GRAIN } },      /* the clock went back */
		{ { 50, 0 }, { 100, 59 * GRAIN }, { 101, 0 } }, /* over the end of a second */
		{ { 50, 0 }, { 100, 999999999 }, { 101, 0 } },
		{ { 99, 5 * GRAIN }, { 100, GRAIN }, { 100, 2 * GRAIN } }, /* back, with more of its second gone */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct wall next = tai64n_after(table[i].wall, table[i].floor);
		uint8_t written[TAI64N_LEN], before[TAI64N_LEN];

		assert_true(next.s == table[i].want.s);
		assert_int_equal(next.ns, table[i].want.ns);
		tai64n_write(next, written);
		tai64n_write(table[i].floor, before);
		assert_true(tai64n_compare(written, before) > 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wall_is_written_on_the_grid),
		cmocka_unit_test(nonsense_is_not_read),
		cmocka_unit_test(later_compares_greater),
		cmocka_unit_test(time_never_goes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
