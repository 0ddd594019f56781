/* SPDX-License-Identifier: MIT */
/* Test vectors as text, for the tests of core/crypto and core/noise. Include after cmocka.h. */
#ifndef WGTCP_TESTS_CRYPTO_HEX_H
#define WGTCP_TESTS_CRYPTO_HEX_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Fails the test unless hex is exactly len bytes; an out that was not filled must not pass for a vector. */
static inline void from_hex(uint8_t *out, size_t len, const char *hex)
{
	assert_int_equal(strlen(hex), 2 * len);
	for (size_t i = 0; i < len; i++) {
		unsigned int byte;

		assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
		out[i] = (uint8_t)byte;
	}
}

static inline void assert_hex(const uint8_t *got, size_t len, const char *hex)
{
	uint8_t want[2048];

	assert_true(len <= sizeof(want));
	from_hex(want, len, hex);
	assert_memory_equal(got, want, len);
}

/* 0, 1, 2 .. */
static inline void fill_sequence(uint8_t *out, size_t len, uint8_t first)
{
	for (size_t i = 0; i < len; i++)
		out[i] = (uint8_t)(first + i);
}

#endif
