/* SPDX-License-Identifier: MIT */
/* The sum of IP, ICMP, UDP and TCP headers. Source: RFC 1071. */
#ifndef WGTCP_CORE_BASE_INTERNET_SUM_H
#define WGTCP_CORE_BASE_INTERNET_SUM_H

#include "core/base/bytes.h"

#include <stddef.h>

/* sum and these bytes, folded to 16 bits, not inverted. Only the last piece may have an odd length. */
static inline uint32_t internet_sum(const uint8_t *bytes, size_t len, uint32_t sum)
{
	for (size_t i = 0; i + 1 < len; i += 2)
		sum += get_be16(bytes + i);
	if (len & 1)
		sum += (uint32_t)bytes[len - 1] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

#endif
