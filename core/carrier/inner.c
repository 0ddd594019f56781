/* SPDX-License-Identifier: MIT */
/* Flow hash and ECN bits of inner IP packets, for queue.c and for the engine's loop (RFC 6040).
 * Sources: RFC 791, RFC 8200, RFC 3168, RFC 6040, RFC 1624. */
#include "core/carrier/inner.h"

#include "core/base/bytes.h"
#include "core/carrier/queue.h"

enum {
	IPV4_MIN = 20,
	IPV4_TOS = 1,
	IPV4_CHECKSUM = 10,
	IPV4_FRAGMENT_BITS = 0x3fff, /* more fragments, and the offset */
	IPV6_LEN = 40,
	PROTOCOL_HOP_BY_HOP = 0,
	PROTOCOL_TCP = 6,
	PROTOCOL_UDP = 17,
	PROTOCOL_ROUTING = 43,
	PROTOCOL_FRAGMENT = 44,
	PROTOCOL_DESTINATION = 60,
	PROTOCOL_DCCP = 33,
	PROTOCOL_SCTP = 132,
	PROTOCOL_UDPLITE = 136,
	EXTENSIONS_MAX = 4,
};

/* 4, 6, or 0: no whole IP header. */
static int version(const uint8_t *inner, size_t len)
{
	if (len >= IPV4_MIN && inner[0] >> 4 == 4)
		return 4;
	if (len >= IPV6_LEN && inner[0] >> 4 == 6)
		return 6;
	return 0;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9fb21c651e98df25);
	return hash ^ hash >> 29;
}

/* The ports of a transport header at `offset`, 0 where the protocol has none or they are cut off. */
static uint32_t ports(const uint8_t *inner, size_t len, size_t offset, uint8_t protocol)
{
	if (len < offset + 4)
		return 0;
	switch (protocol) {
	case PROTOCOL_TCP:
	case PROTOCOL_UDP:
	case PROTOCOL_DCCP:
	case PROTOCOL_SCTP:
	case PROTOCOL_UDPLITE:
		return get_be32(inner + offset);
	}
	return 0;
}

static uint64_t hash_v4(const uint8_t *inner, size_t len, uint64_t hash)
{
	uint8_t protocol = inner[9];
	bool fragment = get_be16(inner + 6) & IPV4_FRAGMENT_BITS;

	hash = mix(hash, get_be64(inner + 12));
	hash = mix(hash, protocol);
	if (!fragment)
		hash = mix(hash, ports(inner, len, (size_t)(inner[0] & 15) * 4, protocol));
	return hash;
}

static uint64_t hash_v6(const uint8_t *inner, size_t len, uint64_t hash)
{
	uint8_t protocol = inner[6];
	size_t offset = IPV6_LEN;
	bool fragment = false;

	for (int i = 0; i < EXTENSIONS_MAX && len >= offset + 8; i++) {
		if (protocol == PROTOCOL_FRAGMENT) {
			fragment = true; /* and its number stands for the protocol, alike in all of them */
			break;
		}
		if (protocol != PROTOCOL_HOP_BY_HOP && protocol != PROTOCOL_ROUTING &&
			protocol != PROTOCOL_DESTINATION)
			break;
		protocol = inner[offset];
		offset += 8 + (size_t)inner[offset + 1] * 8;
	}
	for (size_t i = 8; i < IPV6_LEN; i += 8)
		hash = mix(hash, get_be64(inner + i));
	hash = mix(hash, protocol);
	if (!fragment)
		hash = mix(hash, ports(inner, len, offset, protocol));
	return hash;
}

uint32_t inner_flow_hash(const uint8_t *inner, size_t len, uint64_t seed)
{
	uint64_t hash = seed;

	switch (version(inner, len)) {
	case 4:
		hash = hash_v4(inner, len, hash);
		break;
	case 6:
		hash = hash_v6(inner, len, hash);
		break;
	}
	hash = mix(hash, len ? inner[0] >> 4 : 0);
	return (uint32_t)(hash >> 32);
}

uint8_t inner_ecn(const uint8_t *inner, size_t len)
{
	switch (version(inner, len)) {
	case 4:
		return inner[IPV4_TOS] & 3;
	case 6:
		return inner[1] >> 4 & 3; /* low bits of the traffic class */
	}
	return INNER_NOT_ECT;
}

static void set_ecn(uint8_t *inner, size_t len, uint8_t ecn)
{
	switch (version(inner, len)) {
	case 4: {
		uint16_t before = get_be16(inner);

		inner[IPV4_TOS] = (uint8_t)((inner[IPV4_TOS] & ~3) | ecn);

		/* HC' = ~(~HC + ~m + m'), RFC 1624. */
		uint32_t sum = (uint16_t)~get_be16(inner + IPV4_CHECKSUM);

		sum += (uint16_t)~before;
		sum += get_be16(inner);
		sum = (sum & 0xffff) + (sum >> 16);
		sum = (sum & 0xffff) + (sum >> 16);
		put_be16(inner + IPV4_CHECKSUM, (uint16_t)~sum);
		break;
	}
	case 6:
		inner[1] = (uint8_t)((inner[1] & ~0x30) | ecn << 4);
		break;
	}
}

bool inner_mark_ce(uint8_t *inner, size_t len)
{
	uint8_t ecn = inner_ecn(inner, len);

	if (ecn == INNER_NOT_ECT)
		return false;
	if (ecn != INNER_CE)
		set_ecn(inner, len, INNER_CE);
	return true;
}

bool inner_ecn_combine(uint8_t *inner, size_t len, uint8_t outer)
{
	uint8_t ecn = inner_ecn(inner, len);

	/* RFC 6040, figure 4. */
	switch (outer & 3) {
	case INNER_CE:
		if (ecn == INNER_NOT_ECT)
			return !version(inner, len);
		if (ecn != INNER_CE)
			set_ecn(inner, len, INNER_CE);
		return true;
	case INNER_ECT_1:
		if (ecn == INNER_ECT_0)
			set_ecn(inner, len, INNER_ECT_1);
		return true;
	}
	return true;
}
