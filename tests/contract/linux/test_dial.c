/* SPDX-License-Identifier: MIT */
/* Dialling several endpoints. The clock is a number; only the connections are real. */
#include "platform/linux/dial.h"

#include "platform/linux/sockets.h"
#include "tests/contract/cmocka_all.h"
#include "tests/contract/linux/namespace.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define SILENT "10.92.0.2:40060" /* behind a device that nobody reads */
#define LISTENS "127.0.0.1:40060"
#define REFUSES "127.0.0.1:40061"
#define NO_ROUTE "192.0.2.1:40060"

static const uint8_t key[DIAL_KEY_LEN] = { 1, 2, 3 };
static struct dialler *dialler;

static void start(uint64_t attempt, const char *const *texts, struct mono now)
{
	struct endpoint endpoints[DIAL_ENDPOINTS_MAX];
	size_t count = 0;

	for (; texts[count]; count++)
		endpoints[count] = endpoint_of(texts[count]);
	assert_int_equal(dial_start(dialler, key, attempt, endpoints, count, 0, now), 0);
}

/* Looks at the time `now`, twice with a rest for the network in between. */
static bool look(struct mono now, struct dial_result *result)
{
	if (dial_next(dialler, now, result))
		return true;
	readable(dialler_handle(dialler), 30);
	return dial_next(dialler, now, result);
}

static void the_first_that_stands_is_kept(void **state)
{
	static const struct {
		const char *endpoints[4];
		uint64_t before_ms, at_ms; /* no result at the first, one at the second */
		int error;
	} cases[] = {
		{ { LISTENS }, UINT64_MAX, 0, 0 },
		{ { REFUSES }, UINT64_MAX, 0, ECONNREFUSED },
		{ { NO_ROUTE }, UINT64_MAX, 0, ENETUNREACH },
		/* A refusal costs no waiting. */
		{ { REFUSES, NO_ROUTE, LISTENS }, UINT64_MAX, 0, 0 },
		{ { REFUSES, NO_ROUTE, REFUSES }, UINT64_MAX, 0, ECONNREFUSED },
		/* A silent one has a head start of 250 ms. */
		{ { SILENT, LISTENS }, 249, 250, 0 },
		{ { SILENT, SILENT, LISTENS }, 499, 500, 0 },
		/* And no more than 10 s in all. */
		{ { SILENT }, 9999, 10000, ETIMEDOUT },
		{ { SILENT, REFUSES }, 9999, 10000, ETIMEDOUT },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct mono begin = { 1000000000 };
		struct dial_result result;
		bool done = false;

		start(i, cases[i].endpoints, begin);
		/* As the front does: looks at each deadline. */
		struct mono before = mono_add_ms(begin, cases[i].before_ms);
		for (struct mono now = begin; cases[i].before_ms != UINT64_MAX && !mono_reached(now, before);
			now = mono_min(before, dialler_deadline(dialler)))
			assert_false(look(now, &result));
		if (cases[i].before_ms != UINT64_MAX)
			assert_false(look(before, &result));
		for (int n = 0; n < 3 && !done; n++)
			done = look(mono_add_ms(begin, cases[i].at_ms), &result);
		assert_true(done);
		assert_true(result.attempt == i);
		assert_memory_equal(result.public_key, key, sizeof(key));
		assert_int_equal(result.error, cases[i].error);
		assert_int_equal(result.fd >= 0, cases[i].error == 0);
		if (result.fd >= 0)
			close(result.fd);
		assert_false(look(mono_add_ms(begin, 20000), &result));
		assert_true(dialler_deadline(dialler).ns == MONO_NEVER.ns);
	}
}

static void a_dial_can_be_taken_back(void **state)
{
	struct mono begin = { 1000000000 };
	struct dial_result result;

	(void)state;
	start(1, (const char *const[]){ SILENT, NULL }, begin);
	assert_false(look(begin, &result));
	dial_cancel(dialler, key, 2); /* another one */
	assert_true(dialler_deadline(dialler).ns != MONO_NEVER.ns);
	dial_cancel(dialler, key, 1);
	assert_true(dialler_deadline(dialler).ns == MONO_NEVER.ns);
	assert_false(look(mono_add_ms(begin, 20000), &result));
	/* A new dial takes the place of the old one of that peer. */
	start(3, (const char *const[]){ SILENT, NULL }, begin);
	start(4, (const char *const[]){ REFUSES, NULL }, begin);
	assert_true(look(begin, &result));
	assert_true(result.attempt == 4);
	assert_false(look(mono_add_ms(begin, 20000), &result));
}

/* Beside the first, each with its own number: none takes another's place. */
static void further_dials_stand_beside(void **state)
{
	struct mono begin = { 1000000000 };
	struct endpoint listens = endpoint_of(LISTENS), silent = endpoint_of(SILENT);
	struct dial_result result;
	bool came[8] = { false };

	(void)state;
	start(1, (const char *const[]){ LISTENS, NULL }, begin);
	for (uint64_t attempt = 2; attempt < 6; attempt++)
		assert_int_equal(dial_start_further(dialler, key, attempt, &listens, 1, 0, begin), 0);
	assert_int_equal(dial_start_further(dialler, key, 6, &silent, 1, 0, begin), 0);
	dial_cancel(dialler, key, 3);
	/* A new first one replaces the first alone. */
	start(7, (const char *const[]){ LISTENS, NULL }, begin);
	for (int n = 0; n < 8; n++)
		if (look(begin, &result)) {
			assert_true(result.attempt < 8 && !came[result.attempt]);
			came[result.attempt] = true;
			assert_true(result.fd >= 0);
			close(result.fd);
		}
	assert_true(!came[1] && came[2] && !came[3] && came[4] && came[5] && !came[6] && came[7]);
	dial_cancel(dialler, key, 6);
	assert_true(dialler_deadline(dialler).ns == MONO_NEVER.ns);
}

static void there_is_a_limit_of_dials(void **state)
{
	struct endpoint silent = endpoint_of(SILENT);
	struct mono now = { 1000000000 };
	uint8_t other[DIAL_KEY_LEN] = { 0 };
	int err = 0, count = 0;

	(void)state;
	assert_int_equal(dial_start(dialler, key, 1, &silent, 0, 0, now), -EDESTADDRREQ);
	for (; count < 5000 && !err; count++) {
		other[0] = (uint8_t)count;
		other[1] = (uint8_t)(count >> 8);
		err = dial_start(dialler, other, 1, &silent, 1, 0, now);
	}
	assert_int_equal(err, -EBUSY);
	assert_in_range(count, 100, 1000);
	dial_cancel_all(dialler);
	assert_int_equal(dial_start(dialler, key, 1, &silent, 1, 0, now), 0);
	dial_cancel_all(dialler);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_that_stands_is_kept),
		cmocka_unit_test(a_dial_can_be_taken_back),
		cmocka_unit_test(further_dials_stand_beside),
		cmocka_unit_test(there_is_a_limit_of_dials),
	};
	struct socket_pair listener;

	close(namespace_new());
	int device = namespace_tun("silent", "10.92.0.1/24", NULL);
	assert_int_equal(sockets_open_listeners(40060, 0, &listener), 0);
	assert_int_equal(dialler_open(&dialler), 0);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	dialler_close(dialler);
	sockets_close(&listener);
	close(device);
	return failed;
}
