/* SPDX-License-Identifier: MIT */
/* Reads an inner packet's IP header. Called for each packet, both ways. Source: RFC 791, RFC 8200. */
#include "core/tunnel/ip_header.h"

#include "core/base/bytes.h"

#define IPV4_HEADER_LEN 20
#define IPV6_HEADER_LEN 40

bool ip_header_parse(const uint8_t *packet, size_t len, struct ip_header *out)
{
	struct ip_header header;
	uint32_t least;

	if (len == 0)
		return false;
	if (packet[0] >> 4 == 4 && len >= IPV4_HEADER_LEN) {
		least = (packet[0] & 0x0fu) * 4;
		header = (struct ip_header){ IP_V4, get_be16(packet + 2), packet + 12, packet + 16 };
		if (least < IPV4_HEADER_LEN)
			return false;
	} else if (packet[0] >> 4 == 6 && len >= IPV6_HEADER_LEN) {
		least = IPV6_HEADER_LEN;
		header = (struct ip_header){ IP_V6, least + get_be16(packet + 4), packet + 8, packet + 24 };
	} else {
		return false;
	}
	if (header.len < least || header.len > len)
		return false;
	*out = header;
	return true;
}
