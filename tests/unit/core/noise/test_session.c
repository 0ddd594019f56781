/* SPDX-License-Identifier: MIT */
/* Transport data: the wire, authenticity before the replay window, counters and ages that end a session. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/base/bytes.h"
#include "core/noise/session.h"
#include "tests/unit/core/crypto/hex.h"

#define MS 1000000ull
#define HEADER_LEN 16

struct ends {
	struct session *initiator, *responder;
	uint8_t initiator_send[KEY_LEN];
};

static struct mono at(uint64_t ms)
{
	return (struct mono){ 7000 * MS + ms * MS };
}

static void ends_make(struct ends *ends)
{
	struct transport_keys i = { .local_index = 0x01020304, .remote_index = 0xa0b0c0d0 }, r;

	random_fill(i.send, KEY_LEN);
	random_fill(i.receive, KEY_LEN);
	memcpy(r.send, i.receive, KEY_LEN);
	memcpy(r.receive, i.send, KEY_LEN);
	memcpy(ends->initiator_send, i.send, KEY_LEN);
	r.local_index = i.remote_index;
	r.remote_index = i.local_index;
	ends->initiator = session_new(&i, true, 1, REPLAY_BITS_SMALL, at(0));
	ends->responder = session_new(&r, false, 1, REPLAY_BITS_LARGE, at(0));
	assert_non_null(ends->initiator);
	assert_non_null(ends->responder);
}

static void ends_free(struct ends *ends)
{
	session_free(ends->initiator);
	session_free(ends->responder);
	session_free(NULL);
}

/* The linker puts these before the real ones (--wrap). */
static unsigned allowed = UINT32_MAX;
void *__real_secret_new(size_t size);
void *__wrap_secret_new(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

void *__wrap_secret_new(size_t size)
{
	return allowed && allowed-- ? __real_secret_new(size) : NULL;
}

void *__wrap_calloc(size_t count, size_t size)
{
	return allowed && allowed-- ? __real_calloc(count, size) : NULL;
}

static int setup(void **state)
{
	(void)state;
	return crypto_init() ? 0 : -1;
}

static void packets_pass_both_ways(void **state)
{
	static const size_t lens[] = { 0, 16, 32, 96, 1280, 1420, 1424, 9000, 65504 - 32 };
	static uint8_t message[65536], plain[65536], want[65536];
	struct ends ends;
	uint64_t counter;

	(void)state;
	ends_make(&ends);
	random_fill(want, sizeof(want));
	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		size_t len = lens[i];

		memcpy(message + HEADER_LEN, want, len);
		assert_int_equal(session_seal(ends.initiator, message + HEADER_LEN, len, at(i)), SESSION_OK);
		assert_hex(message, 8, "04000000d0c0b0a0");
		assert_true(get_le64(message + 8) == i);
		/* To another place, then back in place. */
		assert_int_equal(
			session_open(ends.responder, plain, message, len + 32, &counter, at(i)), SESSION_OK);
		assert_true(counter == i);
		assert_memory_equal(plain, want, len);

		memcpy(message + HEADER_LEN, want, len);
		assert_int_equal(session_seal(ends.responder, message + HEADER_LEN, len, at(i)), SESSION_OK);
		assert_hex(message, 8, "0400000004030201");
		assert_int_equal(session_open(ends.initiator, message + HEADER_LEN, message, len + 32,
					 &counter, at(i)),
			SESSION_OK);
		assert_true(counter == i);
		assert_memory_equal(message + HEADER_LEN, want, len);
	}
	ends_free(&ends);
}

static void responder_waits_for_proof(void **state)
{
	uint8_t message[32], forged[32], plain[1];
	struct ends ends;
	uint64_t counter;

	(void)state;
	ends_make(&ends);
	assert_true(session_may_send(ends.initiator, at(0)));
	assert_true(ends.initiator->confirmed && ends.initiator->initiator);
	assert_false(session_may_send(ends.responder, at(0)));
	assert_int_equal(session_seal(ends.responder, message + HEADER_LEN, 0, at(0)), SESSION_EXPIRED);
	assert_true(ends.responder->send_counter == 0);

	assert_int_equal(session_seal(ends.initiator, message + HEADER_LEN, 0, at(0)), SESSION_OK);
	memcpy(forged, message, sizeof(forged));
	forged[31] ^= 1;
	assert_int_equal(
		session_open(ends.responder, plain, forged, sizeof(forged), &counter, at(0)), SESSION_FORGED);
	assert_false(ends.responder->confirmed);
	assert_int_equal(
		session_open(ends.responder, plain, message, sizeof(message), &counter, at(0)), SESSION_OK);
	assert_true(ends.responder->confirmed);
	assert_true(session_may_send(ends.responder, at(0)));
	ends_free(&ends);
}

static void replay_is_judged_after_authenticity(void **state)
{
	uint8_t message[48], forged[48], plain[16];
	struct ends ends;
	uint64_t counter = 77;

	(void)state;
	ends_make(&ends);
	memset(message, 0, sizeof(message));
	assert_int_equal(session_seal(ends.initiator, message + HEADER_LEN, 16, at(0)), SESSION_OK);

	/* A counter far ahead that nobody sealed must not push the window past the real ones. */
	memcpy(forged, message, sizeof(forged));
	put_le64(forged + 8, 1ull << 40);
	assert_int_equal(
		session_open(ends.responder, plain, forged, sizeof(forged), &counter, at(0)), SESSION_FORGED);
	assert_true(ends.responder->replay.newest == 0);
	assert_true(counter == 77);

	assert_int_equal(
		session_open(ends.responder, plain, message, sizeof(message), &counter, at(0)), SESSION_OK);
	assert_true(counter == 0);
	counter = 77;
	assert_int_equal(session_open(ends.responder, plain, message, sizeof(message), &counter, at(0)),
		SESSION_REPLAYED);
	assert_true(counter == 77);

	/* Each byte but type and index is covered; a forged copy of a seen packet counts as forged. */
	for (size_t i = 8; i < sizeof(message); i++) {
		memcpy(forged, message, sizeof(forged));
		forged[i] ^= 1;
		assert_int_equal(session_open(ends.responder, plain, forged, sizeof(forged), &counter, at(0)),
			SESSION_FORGED);
	}
	for (size_t len = 0; len < sizeof(message); len++)
		assert_int_equal(
			session_open(ends.responder, plain, message, len, &counter, at(0)), SESSION_FORGED);
	/* Our own packet, sent back to us. */
	assert_int_equal(session_open(ends.initiator, plain, message, sizeof(message), &counter, at(0)),
		SESSION_FORGED);
	ends_free(&ends);
}

static void late_packets_pass_within_the_window(void **state)
{
	static uint8_t messages[200][32];
	uint8_t plain[1];
	struct ends ends;
	uint64_t counter;

	(void)state;
	ends_make(&ends);
	for (size_t i = 0; i < 200; i++)
		assert_int_equal(
			session_seal(ends.initiator, messages[i] + HEADER_LEN, 0, at(0)), SESSION_OK);
	for (size_t i = 200; i-- > 0;) {
		assert_int_equal(
			session_open(ends.responder, plain, messages[i], 32, &counter, at(0)), SESSION_OK);
		assert_true(counter == i);
	}
	ends_free(&ends);
}

static void age_ends_a_session(void **state)
{
	static const struct {
		uint64_t ms;
		enum session_outcome want;
	} table[] = {
		{ 0, SESSION_OK },
		{ 120000, SESSION_OK }, /* a new one is due, this one still works */
		{ 179999, SESSION_OK },
		{ 180000, SESSION_EXPIRED },
		{ 180001, SESSION_EXPIRED },
		{ 540000, SESSION_EXPIRED },
	};
	uint8_t spare[6][32], message[32], plain[1];
	struct ends ends;
	uint64_t counter;

	(void)state;
	ends_make(&ends);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(session_seal(ends.initiator, spare[i] + HEADER_LEN, 0, at(0)), SESSION_OK);
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct mono now = at(table[i].ms);

		assert_int_equal(session_may_send(ends.initiator, now), table[i].want == SESSION_OK);
		assert_int_equal(session_seal(ends.initiator, message + HEADER_LEN, 0, now), table[i].want);
		assert_int_equal(
			session_open(ends.responder, plain, spare[i], 32, &counter, now), table[i].want);
	}
	ends_free(&ends);
}

static void counters_end_a_session(void **state)
{
	static const struct {
		uint64_t counter;
		enum session_outcome want;
	} table[] = {
		{ REKEY_AFTER_MESSAGES, SESSION_OK },
		{ REJECT_AFTER_MESSAGES - 1, SESSION_OK },
		{ REJECT_AFTER_MESSAGES, SESSION_EXPIRED },
		{ UINT64_MAX, SESSION_EXPIRED },
	};
	uint8_t message[32], plain[1];
	struct ends ends;
	uint64_t counter;

	(void)state;
	assert_true(REJECT_AFTER_MESSAGES == 0xffffffffffffdfffu); /* 2^64 - 2^13 - 1 */
	ends_make(&ends);
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		ends.initiator->send_counter = table[i].counter;
		assert_int_equal(session_may_send(ends.initiator, at(0)), table[i].want == SESSION_OK);
		assert_int_equal(session_seal(ends.initiator, message + HEADER_LEN, 0, at(0)), table[i].want);
		assert_true(ends.initiator->send_counter == table[i].counter + (table[i].want == SESSION_OK));

		/* And one that the other side sealed all the same. */
		memset(message, 0, sizeof(message));
		message[0] = 4;
		put_le64(message + 8, table[i].counter);
		aead_seal_once(message + HEADER_LEN, ends.initiator_send, table[i].counter, NULL, 0, NULL, 0);
		assert_int_equal(
			session_open(ends.responder, plain, message, 32, &counter, at(0)), table[i].want);
	}
	ends_free(&ends);
}

static void a_session_is_what_it_was_made_of(void **state)
{
	const struct transport_keys keys = { { 1 }, { 2 }, 0x01020304, 0xa0b0c0d0 };
	struct session *session = session_new(&keys, true, 77, REPLAY_BITS_SMALL, at(5));

	(void)state;
	assert_non_null(session);
	assert_int_equal(session->local_index, 0x01020304);
	assert_int_equal(session->remote_index, 0xa0b0c0d0);
	assert_int_equal(session->order, 77);
	assert_int_equal(session->born.ns, at(5).ns);
	assert_int_equal(session->send_counter, 0);
	assert_int_equal(session->replay.bits, REPLAY_BITS_SMALL);
	session_free(session);
}

/* At whatever place: no session, and nothing is left behind (which the sanitized run sees). */
static void short_memory_makes_none(void **state)
{
	const struct transport_keys keys = { { 1 }, { 2 }, 3, 4 };
	struct session *session = NULL;
	unsigned places = 0;

	(void)state;
	for (; !session; places++) {
		allowed = places;
		session = session_new(&keys, true, 1, REPLAY_BITS_SMALL, at(0));
		allowed = UINT32_MAX;
		assert_true(places < 20);
	}
	assert_true(places >= 2);
	session_free(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_pass_both_ways),
		cmocka_unit_test(responder_waits_for_proof),
		cmocka_unit_test(replay_is_judged_after_authenticity),
		cmocka_unit_test(late_packets_pass_within_the_window),
		cmocka_unit_test(age_ends_a_session),
		cmocka_unit_test(counters_end_a_session),
		cmocka_unit_test(a_session_is_what_it_was_made_of),
		cmocka_unit_test(short_memory_makes_none),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
