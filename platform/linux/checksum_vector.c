/* SPDX-License-Identifier: MIT */
/* The Internet checksum with the vectors of x86-64, for processors that have them at run time. Words of 32
 * bits are added in lanes of 64 bits, so that no carry is lost. Pure. Source: RFC 1071. */
#include "platform/linux/checksum_kinds.h"

#ifdef __x86_64__

#include <immintrin.h>

__attribute__((target("avx2"))) static uint64_t add_avx2(uint64_t sum, const uint8_t *bytes, size_t len)
{
	const __m256i low = _mm256_set1_epi64x(UINT32_MAX);
	__m256i even = _mm256_setzero_si256(), odd = _mm256_setzero_si256();
	__m256i even2 = _mm256_setzero_si256(), odd2 = _mm256_setzero_si256();
	uint64_t lanes[4];

	for (; len >= 64; len -= 64, bytes += 64) {
		__m256i x = _mm256_loadu_si256((const __m256i *)(const void *)bytes);
		__m256i y = _mm256_loadu_si256((const __m256i *)(const void *)(bytes + 32));

		even = _mm256_add_epi64(even, _mm256_and_si256(x, low));
		odd = _mm256_add_epi64(odd, _mm256_srli_epi64(x, 32));
		even2 = _mm256_add_epi64(even2, _mm256_and_si256(y, low));
		odd2 = _mm256_add_epi64(odd2, _mm256_srli_epi64(y, 32));
	}
	even = _mm256_add_epi64(_mm256_add_epi64(even, even2), _mm256_add_epi64(odd, odd2));
	_mm256_storeu_si256((__m256i *)(void *)lanes, even);
	return checksum_add_portable(sum + lanes[0] + lanes[1] + lanes[2] + lanes[3], bytes, len);
}

__attribute__((target("avx512f,avx512bw"))) static uint64_t add_avx512(
	uint64_t sum, const uint8_t *bytes, size_t len)
{
	const __m512i low = _mm512_set1_epi64(UINT32_MAX);
	__m512i even = _mm512_setzero_si512(), odd = _mm512_setzero_si512();
	__m512i even2 = _mm512_setzero_si512(), odd2 = _mm512_setzero_si512();

	for (; len >= 128; len -= 128, bytes += 128) {
		__m512i x = _mm512_loadu_si512(bytes), y = _mm512_loadu_si512(bytes + 64);

		even = _mm512_add_epi64(even, _mm512_and_si512(x, low));
		odd = _mm512_add_epi64(odd, _mm512_srli_epi64(x, 32));
		even2 = _mm512_add_epi64(even2, _mm512_and_si512(y, low));
		odd2 = _mm512_add_epi64(odd2, _mm512_srli_epi64(y, 32));
	}
	while (len) {
		size_t take = len < 64 ? len : 64;
		/* What lies behind the end is not read, and counts as zero. */
		__m512i x = _mm512_maskz_loadu_epi8(~UINT64_C(0) >> (64 - take), bytes);

		even = _mm512_add_epi64(even, _mm512_and_si512(x, low));
		odd = _mm512_add_epi64(odd, _mm512_srli_epi64(x, 32));
		bytes += take;
		len -= take;
	}
	even = _mm512_add_epi64(_mm512_add_epi64(even, even2), _mm512_add_epi64(odd, odd2));
	return sum + (uint64_t)_mm512_reduce_add_epi64(even);
}

size_t checksum_vector_kinds(struct checksum_kind out[CHECKSUM_KINDS_MAX])
{
	size_t count = 0;

	if (__builtin_cpu_supports("avx2"))
		out[count++] = (struct checksum_kind){ "AVX2", add_avx2 };
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw"))
		out[count++] = (struct checksum_kind){ "AVX-512", add_avx512 };
	return count;
}

#else

size_t checksum_vector_kinds(struct checksum_kind out[CHECKSUM_KINDS_MAX])
{
	(void)out;
	return 0;
}

#endif
