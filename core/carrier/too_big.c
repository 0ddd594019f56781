/* SPDX-License-Identifier: MIT */
/* ICMP errors for inner packets that are too large. Called by the engine's loop on the way out. Sources: RFC
 * 792, RFC 1191, RFC 1122 3.2.2, RFC 4443 2.4 and 3.2. */
#include "core/carrier/too_big.h"

#include "core/base/internet_sum.h"

#include <string.h>

enum {
	IPV4_LEN = 20,
	IPV6_LEN = 40,
	ICMP_LEN = 8,
	QUOTE4_MAX = 548,  /* of the packet in question: an error of 576 bytes in all */
	QUOTE6_MAX = 1232, /* of 1280 */
	PROTOCOL_ICMP = 1,
	PROTOCOL_ICMP6 = 58,
	HOPS = 64,
};

static bool one_host4(const uint8_t address[4])
{
	return address[0] != 0 && address[0] < 224;
}

static bool answer4(const struct packet *inner, uint32_t mtu, struct packet *answer)
{
	const uint8_t *in = inner->data;
	size_t header = (size_t)(in[0] & 15) * 4, quote = inner->len < QUOTE4_MAX ? inner->len : QUOTE4_MAX;
	size_t len = IPV4_LEN + ICMP_LEN + quote;
	uint8_t *out = answer->data, *icmp = out + IPV4_LEN;

	if (header < IPV4_LEN || inner->len <= header || (get_be16(in + 6) & 0x1fff) || !one_host4(in + 12) ||
		!one_host4(in + 16) || len > answer->room)
		return false;
	/* Of ICMP only questions and their answers are asked back about (RFC 1122). */
	if (in[9] == PROTOCOL_ICMP && in[header] != 8 && in[header] != 0)
		return false;
	memset(out, 0, IPV4_LEN + ICMP_LEN);
	out[0] = 0x45;
	put_be16(out + 2, (uint16_t)len);
	out[8] = HOPS;
	out[9] = PROTOCOL_ICMP;
	memcpy(out + 12, in + 16, 4); /* on behalf of whom it was sent to */
	memcpy(out + 16, in + 12, 4);
	put_be16(out + 10, (uint16_t)~internet_sum(out, IPV4_LEN, 0));
	icmp[0] = 3;
	icmp[1] = 4;
	put_be16(icmp + 6, (uint16_t)(mtu > UINT16_MAX ? UINT16_MAX : mtu));
	memcpy(icmp + ICMP_LEN, in, quote);
	put_be16(icmp + 2, (uint16_t)~internet_sum(icmp, ICMP_LEN + quote, 0));
	answer->len = (uint32_t)len;
	return true;
}

static bool answer6(const struct packet *inner, uint32_t mtu, struct packet *answer)
{
	const uint8_t *in = inner->data;
	size_t quote = inner->len < QUOTE6_MAX ? inner->len : QUOTE6_MAX, len = IPV6_LEN + ICMP_LEN + quote;
	uint8_t *out = answer->data, *icmp = out + IPV6_LEN;
	static const uint8_t none[16];

	if (inner->len <= IPV6_LEN || in[8] == 0xff || in[24] == 0xff ||
		memcmp(in + 8, none, sizeof(none)) == 0 || len > answer->room)
		return false;
	if (in[6] == PROTOCOL_ICMP6 && in[IPV6_LEN] < 128)
		return false;
	memset(out, 0, IPV6_LEN + ICMP_LEN);
	out[0] = 6 << 4;
	put_be16(out + 4, (uint16_t)(ICMP_LEN + quote));
	out[6] = PROTOCOL_ICMP6;
	out[7] = HOPS;
	memcpy(out + 8, in + 24, 16);
	memcpy(out + 24, in + 8, 16);
	icmp[0] = 2;
	put_be32(icmp + 4, mtu);
	memcpy(icmp + ICMP_LEN, in, quote);
	put_be16(icmp + 2, (uint16_t)~internet_sum(icmp, ICMP_LEN + quote,
				   internet_sum(out + 8, 32, (uint32_t)(ICMP_LEN + quote) + PROTOCOL_ICMP6)));
	answer->len = (uint32_t)len;
	return true;
}

bool too_big_answer(const struct packet *inner, uint32_t mtu, struct packet *answer)
{
	if (inner->len >= IPV4_LEN && inner->data[0] >> 4 == 4)
		return answer4(inner, mtu, answer);
	if (inner->len >= IPV6_LEN && inner->data[0] >> 4 == 6)
		return answer6(inner, mtu, answer);
	return false;
}
