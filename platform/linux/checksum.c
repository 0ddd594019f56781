/* SPDX-License-Identifier: MIT */
/* The Internet checksum: which way of adding is used, the portable one, and the rest. Any thread. Source: RFC
 * 1071.
 *
 * Words of 32 bits are added in lanes of 64 bits, so that no carry is lost and the compiler can use whatever
 * vectors every machine has. */
#include "platform/linux/checksum.h"

#include "platform/linux/checksum_kinds.h"

#include <stdatomic.h>
#include <string.h>

#define LANES 4
#define STEP_BYTES (2 * LANES * sizeof(uint64_t))

typedef uint64_t vector __attribute__((vector_size(LANES * sizeof(uint64_t))));

/* 32 bits of headroom in each lane: enough for 4 GB. */
static uint64_t add_steps(const uint8_t *bytes, size_t steps)
{
	const vector low = { UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX };
	vector a = { 0 }, b = { 0 };
	uint64_t sum = 0;

	for (; steps; steps--, bytes += STEP_BYTES) {
		vector x, y;

		memcpy(&x, bytes, sizeof(x));
		memcpy(&y, bytes + sizeof(x), sizeof(y));
		a += (x & low) + (x >> 32);
		b += (y & low) + (y >> 32);
	}
	a += b;
	for (size_t i = 0; i < LANES; i++)
		sum += a[i];
	return sum;
}

/* Room for the carries of further additions. */
static uint64_t shrink(uint64_t sum)
{
	return (sum & UINT32_MAX) + (sum >> 32);
}

uint64_t checksum_add_portable(uint64_t sum, const uint8_t *bytes, size_t len)
{
	size_t steps = len / STEP_BYTES;

	if (steps) {
		sum += add_steps(bytes, steps);
		bytes += steps * STEP_BYTES;
		len -= steps * STEP_BYTES;
	}
	for (; len >= 4; len -= 4, bytes += 4) {
		uint32_t word;
		memcpy(&word, bytes, 4);
		sum += word;
	}
	if (len >= 2) {
		uint16_t word;
		memcpy(&word, bytes, 2);
		sum += word;
		bytes += 2;
		len -= 2;
	}
	if (len) {
		uint8_t padded[2] = { bytes[0], 0 };
		uint16_t word;
		memcpy(&word, padded, 2);
		sum += word;
	}
	return sum;
}

/* Written once, to the same value by whoever comes first. */
static checksum_add_function *_Atomic chosen;

static checksum_add_function *choose(void)
{
	struct checksum_kind kinds[CHECKSUM_KINDS_MAX];
	size_t count = checksum_vector_kinds(kinds);

	chosen = count ? kinds[count - 1].add : checksum_add_portable;
	return chosen;
}

uint64_t checksum_add(uint64_t sum, const uint8_t *bytes, size_t len)
{
	checksum_add_function *add = atomic_load_explicit(&chosen, memory_order_relaxed);

	return (add ? add : choose())(shrink(sum), bytes, len);
}

uint64_t checksum_pseudo(
	const uint8_t *source, const uint8_t *destination, size_t address_len, uint8_t protocol, uint32_t len)
{
	const uint8_t rest[8] = { (uint8_t)(len >> 24), (uint8_t)(len >> 16), (uint8_t)(len >> 8),
		(uint8_t)len, 0, 0, 0, protocol };
	uint64_t sum = checksum_add(0, source, address_len);

	sum = checksum_add(sum, destination, address_len);
	return checksum_add(sum, rest, sizeof(rest));
}

uint16_t checksum_fold(uint64_t sum)
{
	sum = shrink(shrink(sum));
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)((sum & 0xffff) + (sum >> 16));
}

void checksum_put(uint8_t *field, uint16_t folded)
{
	memcpy(field, &folded, sizeof(folded));
}
