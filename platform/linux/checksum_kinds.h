/* SPDX-License-Identifier: MIT */
/* The ways to add up bytes that checksum.c chooses from; for it and its test only. Each takes any length and
 * alignment, and a sum below 2^33. All give sums that fold to the same 16 bits. */
#ifndef WGTCP_PLATFORM_LINUX_CHECKSUM_KINDS_H
#define WGTCP_PLATFORM_LINUX_CHECKSUM_KINDS_H

#include <stddef.h>
#include <stdint.h>

typedef uint64_t checksum_add_function(uint64_t sum, const uint8_t *bytes, size_t len);

struct checksum_kind {
	const char *name;
	checksum_add_function *add;
};

checksum_add_function checksum_add_portable;
/* What this processor can do besides, the best last. The number of entries written, at most
 * CHECKSUM_KINDS_MAX. */
#define CHECKSUM_KINDS_MAX 2
size_t checksum_vector_kinds(struct checksum_kind out[CHECKSUM_KINDS_MAX]);

#endif
