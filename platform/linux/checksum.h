/* SPDX-License-Identifier: MIT */
/* The Internet checksum (RFC 1071), as fast as portable C gets. Sums are kept in the machine's own byte
 * order: a sum of 16-bit words is the same in either order but for a swap, so nothing is swapped until it is
 * stored. */
#ifndef WGTCP_PLATFORM_LINUX_CHECKSUM_H
#define WGTCP_PLATFORM_LINUX_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* Adds bytes to a sum; any length and alignment, but only the last piece may have an odd length. */
uint64_t checksum_add(uint64_t sum, const uint8_t *bytes, size_t len);
/* The pseudo header of TCP and UDP: addresses of 4 or 16 bytes, the protocol, the length of header and
 * payload. */
uint64_t checksum_pseudo(const uint8_t *source, const uint8_t *destination, size_t address_len,
	uint8_t protocol, uint32_t len);
/* Folded to 16 bits, not inverted. */
uint16_t checksum_fold(uint64_t sum);
/* Stores what checksum_fold gave. */
void checksum_put(uint8_t *field, uint16_t folded);

#endif
