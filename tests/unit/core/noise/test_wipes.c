/* SPDX-License-Identifier: MIT */
/* Secrets are wiped on every path: what was worked out on the way is counted when it goes, whether a step
 * succeeds or not. Counted are buffers with the length of a key, a cookie or a state; what kdf wipes of its
 * own is not. */
#include "core/base/bytes.h"
#include "core/noise/cookie.h"
#include "core/noise/handshake.h"
#include "core/noise/session.h"
#include "tests/contract/cmocka_all.h"

#include <string.h>

/* The linker puts these before the real ones (--wrap). */
static unsigned states, keys, cookies, sessions;
static bool in_kdf;
void __real_secret_wipe(void *secret, size_t len);
void __wrap_secret_wipe(void *secret, size_t len);
void __real_kdf(uint8_t out1[HASH_LEN], uint8_t *out2, uint8_t *out3, const uint8_t key[HASH_LEN],
	const void *input, size_t input_len);
void __wrap_kdf(uint8_t out1[HASH_LEN], uint8_t *out2, uint8_t *out3, const uint8_t key[HASH_LEN],
	const void *input, size_t input_len);

void __wrap_secret_wipe(void *secret, size_t len)
{
	if (!in_kdf) {
		states += len == sizeof(struct handshake);
		keys += len == KEY_LEN;
		cookies += len == COOKIE_LEN;
		sessions += len == sizeof(struct session);
	}
	__real_secret_wipe(secret, len);
}

void __wrap_kdf(uint8_t out1[HASH_LEN], uint8_t *out2, uint8_t *out3, const uint8_t key[HASH_LEN],
	const void *input, size_t input_len)
{
	in_kdf = true;
	__real_kdf(out1, out2, out3, key, input, input_len);
	in_kdf = false;
}

static void wiped(const char *what, unsigned states_wanted, unsigned keys_wanted)
{
	if (states != states_wanted || keys != keys_wanted)
		fail_msg("%s: %u states and %u keys were wiped, not %u and %u", what, states, keys,
			states_wanted, keys_wanted);
	states = keys = 0;
}

static void of_the_handshake(void **state)
{
	static const uint8_t timestamp[TAI64N_LEN] = { 0x40, 0, 0, 0, 0x60 };
	struct noise_identity i = { .private_key = { 1 } }, r = { .private_key = { 2 } };
	struct noise_remote of_i = { .preshared_key = { 3 } }, of_r = { .preshared_key = { 3 } },
			    nobody = { 0 };
	struct handshake mine, theirs, none;
	struct initiation initiation;
	struct response response;
	struct transport_keys first, second;
	uint8_t caller[KEY_LEN], told[TAI64N_LEN];

	(void)state;
	noise_identity_complete(&i);
	noise_identity_complete(&r);
	memcpy(of_i.public_key, i.public_key, KEY_LEN);
	memcpy(of_r.public_key, r.public_key, KEY_LEN);
	assert_true(noise_remote_complete(&of_i, &r));
	assert_true(noise_remote_complete(&of_r, &i));
	states = keys = 0;

	assert_false(handshake_create_initiation(&none, &i, &nobody, 1, timestamp, &initiation));
	wiped("initiation to nobody", 1, 3); /* dh_shared has wiped its output, too */
	assert_true(handshake_create_initiation(&mine, &i, &of_r, 1, timestamp, &initiation));
	wiped("initiation", 1, 2);
	initiation.sealed_static[0] ^= 1;
	assert_false(handshake_open_static(&theirs, &r, &initiation, caller));
	wiped("forged static key", 1, 3);
	initiation.sealed_static[0] ^= 1;
	assert_true(handshake_open_static(&theirs, &r, &initiation, caller));
	wiped("static key", 1, 3);
	initiation.sealed_timestamp[0] ^= 1;
	assert_false(handshake_open_timestamp(&theirs, &of_i, &initiation, told));
	wiped("forged timestamp", 1, 1);
	initiation.sealed_timestamp[0] ^= 1;
	assert_true(handshake_open_timestamp(&theirs, &of_i, &initiation, told));
	wiped("timestamp", 1, 1);
	assert_true(handshake_create_response(&theirs, &of_i, 2, &response, &first));
	wiped("response", 2, 4);
	assert_true(secret_is_zero(&theirs, sizeof(theirs)));
	response.sealed_nothing[0] ^= 1;
	assert_false(handshake_consume_response(&mine, &i, &of_r, &response, &second));
	wiped("forged response", 1, 4);
	response.sealed_nothing[0] ^= 1;
	assert_true(handshake_consume_response(&mine, &i, &of_r, &response, &second));
	wiped("response taken", 1, 4);
	handshake_wipe(&mine);
	wiped("the state itself", 1, 0);
	assert_true(secret_is_zero(&mine, sizeof(mine)));
}

static void of_sessions_and_cookies(void **state)
{
	const struct endpoint source = { { IP_V4, { 192, 0, 2, 1 } }, 51820, 0 };
	const struct mono now = { 1000 };
	const struct transport_keys some = { { 1 }, { 2 }, 3, 4 };
	struct cookie_checker checker;
	struct cookie_maker maker;
	struct initiation message = { .type = { 1 } };
	struct cookie_reply reply;

	(void)state;
	sessions = 0;
	session_free(session_new(&some, true, 1, REPLAY_BITS_SMALL, now));
	assert_int_equal(sessions, 1);

	cookie_checker_init(&checker, some.send);
	cookie_maker_init(&maker, some.send);
	cookie_maker_sign(&maker, (uint8_t *)&message, sizeof(message), now);
	cookies = 0;
	cookie_reply_create(&checker, (uint8_t *)&message, sizeof(message), &source, now, &reply);
	assert_int_equal(cookies, 1);
	assert_true(cookie_reply_consume(&maker, &reply, now));
	assert_int_equal(cookies, 2);
	assert_false(cookie_reply_consume(&maker, &reply, now));
	cookies = 0;
	cookie_maker_sign(&maker, (uint8_t *)&message, sizeof(message), now);
	assert_int_equal(cookie_checker_check(&checker, (uint8_t *)&message, sizeof(message), &source, now),
		MAC_VALID_WITH_COOKIE);
	/* The cookie, and the mac that it makes. */
	assert_int_equal(cookies, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_the_handshake),
		cmocka_unit_test(of_sessions_and_cookies),
	};

	assert_true(crypto_init());
	return cmocka_run_group_tests(tests, NULL, NULL);
}
