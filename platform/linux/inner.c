/* SPDX-License-Identifier: MIT */
/* The IP header of an inner packet that may be cut or merged. Pure. Source: RFC 791, RFC 8200. */
#include "platform/linux/inner.h"

#include "core/base/bytes.h"

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
