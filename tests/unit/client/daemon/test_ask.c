/* SPDX-License-Identifier: MIT */
/* Inner echoes to peers that there are, and to ones that there are not. */
#include "tests/contract/cmocka_all.h"

#include "client/daemon/ask.h"

static void decided(struct mono sent, uint32_t rtt_us, void *user)
{
	(void)sent;
	(void)rtt_us;
	++*(unsigned *)user;
}

/* The other profile of a pair may have fewer peers than the one by which they were counted. */
static void a_peer_that_is_not_there(void **state)
{
	const struct ask_target nobody = { 0 };
	struct latency_figures figures = { .echoes = 1 };
	struct mono now = { 1000000000000 };
	unsigned told = 0;
	struct asker *asker = asker_new(1, &nobody, 1);

	(void)state;
	for (size_t peer = 0; peer < 3; peer++) {
		asker_probe(asker, peer, now, decided, &told);
		asker_beat(asker, peer, now);
		asker_read(asker, peer, now, &figures);
		assert_int_equal(figures.echoes, 0);
	}
	asker_quiet(asker);
	asker_free(asker);
	assert_int_equal(told, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_peer_that_is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
