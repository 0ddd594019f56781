/* SPDX-License-Identifier: MIT */
/* The IP header of an inner packet that may be cut or merged, and the sums that depend on it. Pure. Source: RFC 791, RFC 8200,
 * RFC 9293 3.1. */
#include "platform/linux/inner.h"

#include "core/base/bytes.h"
#include "platform/linux/checksum.h"

size_t inner_ip_header(const uint8_t *bytes, size_t len, uint8_t *protocol)
{
	if (len >= IPV4_LEN && bytes[0] == 0x45) {
		if (get_be16(bytes + IPV4_TOTAL) != len || (get_be16(bytes + IPV4_FRAGMENT) & 0xbfff))
			return 0;
		*protocol = bytes[IPV4_PROTOCOL];
		return IPV4_LEN;
	}
	if (len >= IPV6_LEN && bytes[0] >> 4 == 6) {
		if ((size_t)get_be16(bytes + IPV6_PAYLOAD) + IPV6_LEN != len)
			return 0;
		*protocol = bytes[IPV6_NEXT];
		return IPV6_LEN;
	}
	return 0;
}

uint64_t inner_pseudo_sum(const uint8_t *ip, uint8_t protocol, uint32_t len)
{
	return ip[0] >> 4 == 4 ? checksum_pseudo(ip + IPV4_SOURCE, ip + IPV4_DESTINATION, 4, protocol, len)
			       : checksum_pseudo(ip + IPV6_SOURCE, ip + IPV6_DESTINATION, 16, protocol, len);
}

void inner_set_ip_checksum(uint8_t *ip)
{
	if (ip[0] >> 4 != 4)
		return;
	put_be16(ip + IPV4_CHECKSUM, 0);
	checksum_put(ip + IPV4_CHECKSUM, (uint16_t)~checksum_fold(checksum_add(0, ip, IPV4_LEN)));
}
