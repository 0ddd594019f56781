/* SPDX-License-Identifier: MIT */
/* Where things stand in an inner packet, as far as taking bursts apart and merging need it (RFC 791, 8200,
 * 9293, 768). */
#ifndef WGTCP_PLATFORM_LINUX_INNER_H
#define WGTCP_PLATFORM_LINUX_INNER_H

#include <stddef.h>
#include <stdint.h>

enum {
	IPV4_LEN = 20,
	IPV4_TOS = 1,
	IPV4_TOTAL = 2,
	IPV4_ID = 4,
	IPV4_FRAGMENT = 6, /* flags and offset */
	IPV4_TTL = 8,
	IPV4_PROTOCOL = 9,
	IPV4_CHECKSUM = 10,
	IPV4_SOURCE = 12,
	IPV4_DESTINATION = 16,
	IPV6_LEN = 40,
	IPV6_PAYLOAD = 4,
	IPV6_NEXT = 6,
	IPV6_SOURCE = 8,
	IPV6_DESTINATION = 24,
	TCP_LEN = 20,
	TCP_SEQUENCE = 4,
	TCP_ACKNOWLEDGED = 8,
	TCP_OFFSET = 12,
	TCP_FLAGS = 13,
	TCP_CHECKSUM = 16,
	UDP_LEN = 8,
	UDP_LENGTH = 4,
	UDP_CHECKSUM = 6,
	/* TCP flags */
	FLAG_FIN = 0x01,
	FLAG_PSH = 0x08,
	FLAG_ACK = 0x10,
	FLAG_CWR = 0x80,
	/* protocols */
	PROTOCOL_TCP = 6,
	PROTOCOL_UDP = 17,
};

/* The length of the IP header of a packet of exactly len bytes that is neither fragment nor has options or extension
 * headers; 0: of another kind. */
size_t inner_ip_header(const uint8_t *bytes, size_t len, uint8_t *protocol);
/* The sum (checksum.h) of the pseudo header before len bytes of TCP or UDP. */
uint64_t inner_pseudo_sum(const uint8_t *ip, uint8_t protocol, uint32_t len);
/* Of a header without options; nothing for IPv6, which has none. */
void inner_set_ip_checksum(uint8_t *ip);

#endif
