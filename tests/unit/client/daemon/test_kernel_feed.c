/* SPDX-License-Identifier: MIT */
/* What the kernel's counters tell of a peer. Bytes: initiation 148, response 92, keepalive 32, a ping 128
 * (docs/wire.md 1). */
#include "client/daemon/kernel_feed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void counters_as_news(void **state)
{
	static const struct {
		const char *name;
		uint64_t rx, tx; /* more than before */
		bool handshake;  /* its time has changed */
		uint16_t keepalive_s;
		uint64_t elapsed_ms;
		struct kernel_news news;
	} cases[] = {
		{ "nothing", 0, 0, false, 0, 50, { 0 } },
		{ "an initiation goes out", 0, 148, false, 0, 50, { .asked = true } },
		{ "three of them", 0, 3 * 148, false, 0, 12000, { .asked = true } },
		{ "the response, and the keepalive that confirms", 92, 32, true, 0, 50,
			{ .session = true, .received = true } },
		{ "all of a handshake in one reading", 92, 148 + 32, true, 0, 50,
			{ .session = true, .received = true, .asked = true } },
		{ "the peer's initiation, and our response", 148, 92, false, 0, 50, { .received = true } },
		{ "and its first packet, and our answer", 148 + 128, 92 + 128, true, 0, 50,
			{ .session = true, .received = true, .data = true, .asked = true } },
		{ "a ping goes out", 0, 128, false, 0, 50, { .asked = true } },
		{ "and comes back", 128, 0, false, 0, 50, { .received = true, .data = true } },
		{ "a keepalive goes out", 0, 32, false, 25, 1000, { 0 } },
		{ "two, one of them passive", 0, 64, false, 25, 1000, { 0 } },
		{ "a ping that is as long as four keepalives", 0, 128, false, 25, 1000, { .asked = true } },
		{ "four keepalives in their time", 0, 128, false, 1, 2000, { 0 } },
		{ "keepalives of a minute", 0, 4 * 32, false, 25, 60000, { 0 } },
		{ "a keepalive comes", 32, 0, false, 0, 1000, { .received = true, .data = true } },
		{ "one more than handshakes", 92 + 32, 32, true, 0, 1000,
			{ .session = true, .received = true, .data = true } },
		{ "much", 1000000, 50000, false, 0, 1000, { .received = true, .data = true, .asked = true } },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kernel_counts before = { .handshake_s = 7, .rx_bytes = 1000, .tx_bytes = 2000 };
		struct kernel_counts after = { .handshake_s = 7,
			.handshake_ns = cases[i].handshake ? 5 : 0,
			.rx_bytes = 1000 + cases[i].rx,
			.tx_bytes = 2000 + cases[i].tx };
		struct kernel_news news =
			kernel_feed(&before, &after, cases[i].keepalive_s, cases[i].elapsed_ms);

		if (news.session != cases[i].news.session || news.received != cases[i].news.received ||
			news.data != cases[i].news.data || news.asked != cases[i].news.asked)
			fail_msg("%s: session %d, received %d, data %d, asked %d", cases[i].name,
				news.session, news.received, news.data, news.asked);
	}
}

static void a_peer_that_somebody_made_anew(void **state)
{
	const struct kernel_counts before = { .handshake_s = 7, .rx_bytes = 1000, .tx_bytes = 2000 };
	const struct kernel_counts after = { .handshake_s = 0, .rx_bytes = 0, .tx_bytes = 148 };
	struct kernel_news news = kernel_feed(&before, &after, 0, 50);

	(void)state;
	assert_false(news.session);
	assert_false(news.received);
	assert_true(news.asked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counters_as_news),
		cmocka_unit_test(a_peer_that_somebody_made_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
