/* SPDX-License-Identifier: MIT */
/* The little of an inner packet's IP header that the tunnel needs. Pure. Source: RFC 791, RFC 8200. */
#ifndef WGTCP_CORE_TUNNEL_IP_HEADER_H
#define WGTCP_CORE_TUNNEL_IP_HEADER_H

#include "core/base/address.h"

struct ip_header {
	enum ip_family family;
	uint32_t len;                        /* of the whole packet, as its header says */
	const uint8_t *source, *destination; /* into the packet; 4 or 16 bytes */
};

/* False for anything but IPv4 or IPv6, and for a packet of fewer bytes than its header says; more is fine. */
bool ip_header_parse(const uint8_t *packet, size_t len, struct ip_header *out);

#endif
