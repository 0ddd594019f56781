/* SPDX-License-Identifier: MIT */
/* Macs and cookies: bound to source address and port, for 120 s, each reply used once. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/base/bytes.h"
#include "core/noise/cookie.h"

#include <string.h>

#define MS 1000000ull

static const struct endpoint home = { .address = { .family = IP_V4, .bytes = { 192, 0, 2, 1 } },
	.port = 51820 };
static uint8_t public_key[KEY_LEN];

static int setup(void **state)
{
	(void)state;
	if (!crypto_init())
		return -1;
	random_fill(public_key, sizeof(public_key));
	return 0;
}

static struct mono at(uint64_t ms)
{
	return (struct mono){ 5000 * MS + ms * MS };
}

static void initiation_make(struct initiation *out)
{
	random_fill(out, sizeof(*out));
	put_le32(out->type, MESSAGE_INITIATION);
}

/* The maker has a cookie from home, as of 0 ms. */
static void cookie_obtain(struct cookie_checker *checker, struct cookie_maker *maker)
{
	struct initiation message;
	struct cookie_reply reply;

	cookie_checker_init(checker, public_key);
	cookie_maker_init(maker, public_key);
	initiation_make(&message);
	cookie_maker_sign(maker, (uint8_t *)&message, sizeof(message), at(0));
	assert_true(secret_is_zero(message.mac2, MAC_LEN));
	assert_int_equal(cookie_checker_check(checker, (uint8_t *)&message, sizeof(message), &home, at(0)),
		MAC_VALID_WITHOUT_COOKIE);
	cookie_reply_create(checker, (uint8_t *)&message, sizeof(message), &home, at(0), &reply);
	assert_int_equal(message_classify((uint8_t *)&reply, sizeof(reply)), MESSAGE_COOKIE_REPLY);
	assert_memory_equal(reply.receiver_index, message.sender_index, 4);
	assert_true(cookie_reply_consume(maker, &reply, at(0)));
}

static void cookie_covers_the_source(void **state)
{
	static const struct {
		struct endpoint source;
		enum mac_state want;
	} table[] = {
		{ { { IP_V4, { 192, 0, 2, 1 } }, 51820, 0 }, MAC_VALID_WITH_COOKIE },
		{ { { IP_V4, { 192, 0, 2, 1 } }, 51821, 0 }, MAC_VALID_WITHOUT_COOKIE },
		{ { { IP_V4, { 192, 0, 2, 1 } }, 51820 ^ 0x100, 0 }, MAC_VALID_WITHOUT_COOKIE },
		{ { { IP_V4, { 192, 0, 2, 2 } }, 51820, 0 }, MAC_VALID_WITHOUT_COOKIE },
		{ { { IP_V4, { 193, 0, 2, 1 } }, 51820, 0 }, MAC_VALID_WITHOUT_COOKIE },
		{ { { IP_V6, { 192, 0, 2, 1 } }, 51820, 0 }, MAC_VALID_WITHOUT_COOKIE },
	};
	struct cookie_checker checker;
	struct cookie_maker maker;
	struct initiation message;

	(void)state;
	cookie_obtain(&checker, &maker);
	initiation_make(&message);
	cookie_maker_sign(&maker, (uint8_t *)&message, sizeof(message), at(1));
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		assert_int_equal(cookie_checker_check(&checker, (uint8_t *)&message, sizeof(message),
					 &table[i].source, at(1)),
			table[i].want);
}

static void cookie_covers_all_of_an_ipv6_source(void **state)
{
	struct endpoint source = { .address = { .family = IP_V6, .bytes = { 0x20, 1, 0xd, 0xb8 } },
		.port = 1 };
	struct cookie_checker checker;
	struct cookie_maker maker;
	struct initiation message;
	struct cookie_reply reply;

	(void)state;
	cookie_checker_init(&checker, public_key);
	cookie_maker_init(&maker, public_key);
	initiation_make(&message);
	cookie_maker_sign(&maker, (uint8_t *)&message, sizeof(message), at(0));
	cookie_reply_create(&checker, (uint8_t *)&message, sizeof(message), &source, at(0), &reply);
	assert_true(cookie_reply_consume(&maker, &reply, at(0)));
	cookie_maker_sign(&maker, (uint8_t *)&message, sizeof(message), at(0));
	assert_int_equal(cookie_checker_check(&checker, (uint8_t *)&message, sizeof(message), &source, at(0)),
		MAC_VALID_WITH_COOKIE);
	for (size_t i = 0; i < 16; i++) {
		source.address.bytes[i] ^= 1;
		assert_int_equal(
			cookie_checker_check(&checker, (uint8_t *)&message, sizeof(message), &source, at(0)),
			MAC_VALID_WITHOUT_COOKIE);
		source.address.bytes[i] ^= 1;
	}
}

static void cookie_lasts_120_s(void **state)
{
	static const struct {
		uint64_t sign_ms, check_ms;
		bool mac2_set;
		enum mac_state want;
	} table[] = {
		{ 0, 0, true, MAC_VALID_WITH_COOKIE },
		{ 60000, 60000, true, MAC_VALID_WITH_COOKIE },
		{ 119999, 119999, true, MAC_VALID_WITH_COOKIE },
		{ 119999, 120000, true, MAC_VALID_WITHOUT_COOKIE },  /* the secret is over */
		{ 120000, 119999, false, MAC_VALID_WITHOUT_COOKIE }, /* the cookie is over */
		{ 120000, 120000, false, MAC_VALID_WITHOUT_COOKIE },
		{ 900000, 900000, false, MAC_VALID_WITHOUT_COOKIE },
	};
	struct cookie_checker checker;
	struct cookie_maker maker;
	struct initiation message;

	(void)state;
	cookie_obtain(&checker, &maker);
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		initiation_make(&message);
		cookie_maker_sign(&maker, (uint8_t *)&message, sizeof(message), at(table[i].sign_ms));
		assert_int_equal(!secret_is_zero(message.mac2, MAC_LEN), table[i].mac2_set);
		assert_int_equal(cookie_checker_check(&checker, (uint8_t *)&message, sizeof(message), &home,
					 at(table[i].check_ms)),
			table[i].want);
	}
}

static void secret_changes_after_120_s(void **state)
{
	struct cookie_checker checker;
	struct cookie_maker maker;
	struct initiation message;
	struct cookie_reply reply;
	uint8_t first[COOKIE_LEN];

	(void)state;
	cookie_obtain(&checker, &maker);
	memcpy(first, maker.cookie, sizeof(first));
	initiation_make(&message);
	/* The same source gets the same cookie until then. */
	cookie_maker_sign(&maker, (uint8_t *)&message, sizeof(message), at(119999));
	cookie_reply_create(&checker, (uint8_t *)&message, sizeof(message), &home, at(119999), &reply);
	assert_true(cookie_reply_consume(&maker, &reply, at(119999)));
	assert_memory_equal(first, maker.cookie, sizeof(first));
	cookie_maker_sign(&maker, (uint8_t *)&message, sizeof(message), at(120000));
	cookie_reply_create(&checker, (uint8_t *)&message, sizeof(message), &home, at(120000), &reply);
	assert_true(cookie_reply_consume(&maker, &reply, at(120000)));
	assert_memory_not_equal(first, maker.cookie, sizeof(first));
}

static void reply_is_used_once_and_for_the_last_message(void **state)
{
	struct cookie_checker checker, other;
	struct cookie_maker maker;
	struct initiation message, later;
	struct cookie_reply reply, forged;

	(void)state;
	cookie_checker_init(&checker, public_key);
	cookie_maker_init(&maker, public_key);
	initiation_make(&message);
	initiation_make(&later);

	/* Before anything was sent. */
	cookie_reply_create(&checker, (uint8_t *)&message, sizeof(message), &home, at(0), &reply);
	assert_false(cookie_reply_consume(&maker, &reply, at(0)));

	cookie_maker_sign(&maker, (uint8_t *)&message, sizeof(message), at(0));
	cookie_reply_create(&checker, (uint8_t *)&message, sizeof(message), &home, at(0), &reply);
	/* Each has a nonce of its own: the key is the same for all. */
	cookie_reply_create(&checker, (uint8_t *)&message, sizeof(message), &home, at(0), &forged);
	assert_memory_not_equal(forged.nonce, reply.nonce, sizeof(reply.nonce));
	assert_memory_not_equal(forged.sealed_cookie, reply.sealed_cookie, sizeof(reply.sealed_cookie));
	/* Each byte but type and index is sealed. */
	for (size_t i = offsetof(struct cookie_reply, nonce); i < sizeof(reply); i++) {
		forged = reply;
		((uint8_t *)&forged)[i] ^= 1;
		assert_false(cookie_reply_consume(&maker, &forged, at(0)));
	}
	assert_false(mono_is_set(maker.cookie_born));
	/* From somebody who does not know who we think we talk to. */
	uint8_t key[KEY_LEN] = { 1 };

	cookie_checker_init(&other, key);
	cookie_reply_create(&other, (uint8_t *)&message, sizeof(message), &home, at(0), &forged);
	assert_false(cookie_reply_consume(&maker, &forged, at(0)));
	/* A forgery does not use up the wait; the answer does. */
	assert_true(cookie_reply_consume(&maker, &reply, at(0)));
	assert_false(cookie_reply_consume(&maker, &reply, at(0)));

	/* Superseded. */
	cookie_maker_sign(&maker, (uint8_t *)&message, sizeof(message), at(0));
	cookie_reply_create(&checker, (uint8_t *)&message, sizeof(message), &home, at(0), &reply);
	cookie_maker_sign(&maker, (uint8_t *)&later, sizeof(later), at(0));
	assert_false(cookie_reply_consume(&maker, &reply, at(0)));
}

static void every_flipped_bit_breaks_a_mac(void **state)
{
	struct cookie_checker checker;
	struct cookie_maker maker;
	uint8_t message[sizeof(struct initiation)];
	const size_t lens[] = { sizeof(struct initiation), sizeof(struct response) };

	(void)state;
	cookie_obtain(&checker, &maker);
	for (size_t l = 0; l < 2; l++) {
		size_t len = lens[l];

		random_fill(message, sizeof(message));
		cookie_maker_sign(&maker, message, len, at(1));
		assert_int_equal(
			cookie_checker_check(&checker, message, len, &home, at(1)), MAC_VALID_WITH_COOKIE);
		for (size_t i = 0; i < len; i++) {
			message[i] ^= 0x20;
			assert_int_equal(cookie_checker_check(&checker, message, len, &home, at(1)),
				i < len - MAC_LEN ? MAC_INVALID : MAC_VALID_WITHOUT_COOKIE);
			message[i] ^= 0x20;
		}
	}
}

static void no_cookie_is_valid_before_one_was_given(void **state)
{
	struct cookie_checker checker;
	struct cookie_maker maker;
	struct initiation message;
	uint8_t cookie[COOKIE_LEN], port[2] = { 51820 >> 8, 51820 & 0xff };
	const uint8_t zero_secret[HASH_LEN] = { 0 };

	(void)state;
	cookie_checker_init(&checker, public_key);
	cookie_maker_init(&maker, public_key);
	initiation_make(&message);
	cookie_maker_sign(&maker, (uint8_t *)&message, sizeof(message), at(0));
	/* A guess at a checker whose secret has not been drawn yet. */
	mac2parts(cookie, zero_secret, sizeof(zero_secret), home.address.bytes, 4, port, 2);
	mac2parts(message.mac2, cookie, COOKIE_LEN, &message, offsetof(struct initiation, mac2), NULL, 0);
	assert_int_equal(cookie_checker_check(&checker, (uint8_t *)&message, sizeof(message), &home, at(0)),
		MAC_VALID_WITHOUT_COOKIE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cookie_covers_the_source),
		cmocka_unit_test(cookie_covers_all_of_an_ipv6_source),
		cmocka_unit_test(cookie_lasts_120_s),
		cmocka_unit_test(secret_changes_after_120_s),
		cmocka_unit_test(reply_is_used_once_and_for_the_last_message),
		cmocka_unit_test(every_flipped_bit_breaks_a_mac),
		cmocka_unit_test(no_cookie_is_valid_before_one_was_given),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
