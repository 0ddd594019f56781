/* SPDX-License-Identifier: MIT */
/* The MTU that fits: by family and carrier, the smallest of several ways, never more than the default. */
#include "client/daemon/mtu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void the_smallest_way_decides(void **state)
{
	static const struct {
		struct mtu_way ways[3];
		bool inner_ipv6;
		uint32_t mtu;
	} cases[] = {
		{ { { 0 } }, true, 1420 }, /* nothing is known */
		{ { { IP_V4, 1500, false } }, true, 1420 },
		{ { { IP_V6, 1500, false } }, true, 1420 },
		{ { { IP_V4, 1500, true } }, true, 1420 },
		{ { { IP_V6, 1500, true } }, true, 1420 },
		{ { { IP_V4, 9000, false } }, true, 1420 },
		{ { { IP_V4, 65536, true } }, true, 1420 },
		{ { { IP_V4, 1499, false } }, true, 1420 },
		{ { { IP_V4, 1480, false } }, true, 1420 },
		{ { { IP_V4, 1479, false } }, true, 1419 },
		{ { { IP_V6, 1499, false } }, true, 1419 },
		{ { { IP_V6, 1400, false } }, true, 1320 },
		{ { { IP_V4, 1400, true } }, true, 1308 },
		{ { { IP_V6, 1400, true } }, true, 1288 },
		{ { { IP_V4, 1500, false }, { IP_V6, 1400, false }, { IP_V4, 1400, false } }, true, 1320 },
		/* IPv6 needs 1280; IPv4 can do with less. */
		{ { { IP_V4, 1340, false } }, true, 1280 },
		{ { { IP_V4, 1339, false } }, true, 1280 },
		{ { { IP_V4, 1280, false } }, false, 1220 },
		{ { { IP_V4, 600, false } }, false, 576 },
		{ { { IP_V4, 0, false } }, false, 576 },
	};
	size_t i, count;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (count = 0; count < 3 && cases[i].ways[count].family != IP_NONE; count++)
			;
		if (mtu_choose(cases[i].ways, count, cases[i].inner_ipv6) != cases[i].mtu)
			fail_msg("case %zu: %u", i, mtu_choose(cases[i].ways, count, cases[i].inner_ipv6));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(the_smallest_way_decides) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
