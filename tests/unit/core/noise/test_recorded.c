/* SPDX-License-Identifier: MIT */
/* Messages recorded from wireguard-go (Debian 12) with throw-away keys: its initiation to us, its response to
 * ours with our handshake as it was when we sent it, a keepalive of that session, and its cookie reply under
 * load. So what is understood here was written by another implementation. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/base/bytes.h"
#include "core/noise/cookie.h"
#include "core/noise/session.h"
#include "core/noise/tai64n.h"
#include "tests/unit/core/crypto/hex.h"

static struct noise_identity self;
static struct noise_remote remote;

static int setup(void **state)
{
	(void)state;
	if (!crypto_init())
		return -1;
	from_hex(self.private_key, KEY_LEN,
		"38adafb2b0fedaa6d72a3a91582093223edc2575d08c0c05a397750ecf8a084b");
	noise_identity_complete(&self);
	from_hex(remote.public_key, KEY_LEN,
		"c56832c0be88267404ed8594407c75b6f6f72eedab5d63bce020376b26e1683b");
	from_hex(remote.preshared_key, KEY_LEN,
		"d3afea9e50ba865201fc60e74eb89f08120967b904ff8424d08fa24923e3adf2");
	return noise_remote_complete(&remote, &self) ? 0 : -1;
}

static void its_initiation_is_opened(void **state)
{
	struct endpoint source = { .address = { .family = IP_V4, .bytes = { 127, 0, 0, 1 } }, .port = 51999 };
	uint8_t public_key[KEY_LEN], timestamp[TAI64N_LEN];
	struct cookie_checker checker;
	struct initiation in;
	struct handshake hs;

	(void)state;
	from_hex((uint8_t *)&in, sizeof(in),
		"01000000d479bb0b4d4d07b52e49843549c2783373268518fe8746ff3531e3fcbeb9e502f7621e3ac10ff27cb007"
		"7e"
		"470b4e85686b89679e7b9d3fd4515158f1b99ffd913a7b3b0081c3164568829d6c107ccb98b3da26b16a89e8a6d9"
		"75"
		"24e1a65f666c556f9e302b218cef196deb19ad9e426c273d9f817dbaab6373d5b522fbdeefba0000000000000000"
		"00"
		"00000000000000");
	assert_int_equal(message_classify((uint8_t *)&in, sizeof(in)), MESSAGE_INITIATION);
	cookie_checker_init(&checker, self.public_key);
	assert_int_equal(
		cookie_checker_check(&checker, (uint8_t *)&in, sizeof(in), &source, (struct mono){ 1 }),
		MAC_VALID_WITHOUT_COOKIE);
	assert_true(handshake_open_static(&hs, &self, &in, public_key));
	assert_memory_equal(public_key, remote.public_key, KEY_LEN);
	assert_int_equal(hs.remote_index, 0x0bbb79d4);
	assert_true(handshake_open_timestamp(&hs, &remote, &in, timestamp));
	assert_hex(timestamp, sizeof(timestamp), "400000006b0df88038000000");
}

static void its_response_and_data_are_opened(void **state)
{
	struct handshake hs = { .local_index = 0x01020304 };
	struct response in;
	struct transport_keys keys;
	uint8_t keepalive[32], plain[1];
	uint64_t counter = 99;

	(void)state;
	from_hex(hs.hash, HASH_LEN, "d4e4846aed846cf14ed90c59c849d0b6bd8b1d3cc33bc96398056ba0dacd1f7b");
	from_hex(hs.chaining_key, HASH_LEN,
		"7b9b7b269bf035b82bf632084ae3f91e0bed6c48d42ca3b927f01e16285b7206");
	from_hex(hs.ephemeral_private, KEY_LEN,
		"0824d132a3f5d0e854990a87a9b496c4ea0f708df19b3dcefbdc715df627434c");
	from_hex((uint8_t *)&in, sizeof(in),
		"02000000354fe0e304030201e938e4210d2dcf7392dfeb3737e1f8df99268e61da98a1deac98b1afc6fce576e38d"
		"5c"
		"0c2aafbaf71f63d9c731a7596c7aa371e750a3c8cfab55f92dfc61e71d00000000000000000000000000000000");
	assert_int_equal(message_classify((uint8_t *)&in, sizeof(in)), MESSAGE_RESPONSE);
	assert_true(handshake_consume_response(&hs, &self, &remote, &in, &keys));
	assert_int_equal(keys.remote_index, 0xe3e04f35);

	struct session *session = session_new(&keys, true, 1, REPLAY_BITS_SMALL, (struct mono){ 1 });

	assert_non_null(session);
	from_hex(keepalive, sizeof(keepalive),
		"040000000403020100000000000000008c8eb1f074ff6d8d62b1fb46dfa507de");
	assert_int_equal(message_classify(keepalive, sizeof(keepalive)), MESSAGE_DATA);
	assert_int_equal(
		session_open(session, plain, keepalive, sizeof(keepalive), &counter, (struct mono){ 2 }),
		SESSION_OK);
	assert_true(counter == 0);
	session_free(session);
}

static void its_cookie_is_opened(void **state)
{
	struct cookie_maker maker;
	struct cookie_reply in;

	(void)state;
	cookie_maker_init(&maker, remote.public_key);
	from_hex(maker.last_mac1, MAC_LEN, "4809ba46e39a374d54fc01058121eaa0");
	maker.sent_mac1 = true;
	from_hex((uint8_t *)&in, sizeof(in),
		"030000004f100000e44c0e931f20d408ce009e515e3e59a53bea7c7d120496c1c0206392126f5a2f2060502524f6"
		"a1"
		"2d5968f98746e22490fc070fbf8fe0829c");
	assert_int_equal(message_classify((uint8_t *)&in, sizeof(in)), MESSAGE_COOKIE_REPLY);
	assert_true(cookie_reply_consume(&maker, &in, (struct mono){ 1 }));
	/* Signed with this, our next initiation was answered while the load lasted. */
	assert_hex(maker.cookie, COOKIE_LEN, "9e147d4a6635f53d618938c2062d55bf");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_initiation_is_opened),
		cmocka_unit_test(its_response_and_data_are_opened),
		cmocka_unit_test(its_cookie_is_opened),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
