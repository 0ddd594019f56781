/* SPDX-License-Identifier: MIT */
/* Text of numeric addresses, written by hand so that the core needs no resolver and no socket header, and so
 * that every platform accepts exactly the same text. Pure; any thread. Source: RFC 4291 section 2.2 (text of
 * IPv6), RFC 5952 (the one way to write it). */
#include "core/base/address.h"

#include "core/base/bytes.h"
#include "core/base/text.h"

#include <stdio.h>
#include <string.h>

#define IPV6_GROUPS 8

size_t ip_address_len(const struct ip_address *address)
{
	switch (address->family) {
	case IP_NONE:
		return 0;
	case IP_V4:
		return 4;
	case IP_V6:
		return 16;
	}
	return 0;
}

bool ip_address_equal(const struct ip_address *a, const struct ip_address *b)
{
	return a->family == b->family && memcmp(a->bytes, b->bytes, ip_address_len(a)) == 0;
}

bool endpoint_equal(const struct endpoint *a, const struct endpoint *b)
{
	return a->port == b->port && a->scope_id == b->scope_id && ip_address_equal(&a->address, &b->address);
}

bool ip_prefix_contains(const struct ip_prefix *prefix, const struct ip_address *address)
{
	size_t whole = prefix->bits / 8;
	unsigned rest = prefix->bits % 8;

	if (prefix->address.family != address->family || prefix->bits > 8 * ip_address_len(address))
		return false;
	if (memcmp(prefix->address.bytes, address->bytes, whole) != 0)
		return false;
	return rest == 0 || (prefix->address.bytes[whole] ^ address->bytes[whole]) >> (8 - rest) == 0;
}

struct ip_prefix ip_prefix_network(const struct ip_prefix *prefix)
{
	struct ip_prefix network = *prefix;
	size_t len = ip_address_len(&network.address);
	size_t whole = network.bits / 8;

	if (whole >= len)
		return network;
	network.address.bytes[whole] &= (uint8_t)(0xff00u >> (network.bits % 8));
	memset(network.address.bytes + whole + 1, 0, len - whole - 1);
	return network;
}

static bool ipv4_parse(const char *text, size_t len, uint8_t out[4])
{
	uint8_t bytes[4];
	size_t at = 0;

	for (size_t i = 0; i < 4; i++) {
		const char *dot = i < 3 ? memchr(text + at, '.', len - at) : text + len;
		size_t part_len;
		uint64_t value;

		if (!dot)
			return false;
		part_len = (size_t)(dot - text) - at;
		if (!text_parse_decimal(text + at, part_len, 0, 255, &value))
			return false;
		bytes[i] = (uint8_t)value;
		at += part_len + (i < 3);
	}
	memcpy(out, bytes, sizeof(bytes));
	return true;
}

/* Groups are collected from the left; where "::" stood, the groups behind it move to the right end. */
static bool ipv6_parse(const char *text, size_t len, uint8_t out[16])
{
	uint8_t bytes[16] = { 0 };
	size_t count = 0, at = 0, gap = SIZE_MAX, behind;

	if (len >= 2 && text[0] == ':' && text[1] == ':') {
		gap = 0;
		at = 2;
	}
	while (at < len) {
		size_t digits = 0;
		uint32_t value = 0;

		while (at + digits < len && digits < 5 && text_hex_digit(text[at + digits]) >= 0) {
			value = value << 4 | (uint32_t)text_hex_digit(text[at + digits]);
			digits++;
		}
		if (at + digits < len && text[at + digits] == '.') { /* the last 32 bits as a dotted quad */
			if (count > IPV6_GROUPS - 2 || !ipv4_parse(text + at, len - at, bytes + 2 * count))
				return false;
			count += 2;
			break;
		}
		if (digits == 0 || digits > 4 || count == IPV6_GROUPS)
			return false;
		put_be16(bytes + 2 * count++, (uint16_t)value);
		at += digits;
		if (at == len)
			break;
		if (text[at++] != ':' || at == len)
			return false;
		if (text[at] == ':') {
			if (gap != SIZE_MAX)
				return false;
			gap = count;
			at++;
		}
	}
	if (gap == SIZE_MAX ? count != IPV6_GROUPS : count >= IPV6_GROUPS)
		return false;
	if (gap != SIZE_MAX) {
		behind = 2 * (count - gap);
		memmove(bytes + 16 - behind, bytes + 2 * gap, behind);
		memset(bytes + 2 * gap, 0, 16 - behind - 2 * gap);
	}
	memcpy(out, bytes, sizeof(bytes));
	return true;
}

bool ip_address_parse(const char *text, size_t len, struct ip_address *out)
{
	struct ip_address address = { 0 };

	if (len == 0)
		return false;
	if (memchr(text, ':', len)) {
		address.family = IP_V6;
		if (!ipv6_parse(text, len, address.bytes))
			return false;
	} else {
		address.family = IP_V4;
		if (!ipv4_parse(text, len, address.bytes))
			return false;
	}
	*out = address;
	return true;
}

bool ip_prefix_parse(const char *text, size_t len, struct ip_prefix *out)
{
	const char *slash = len ? memchr(text, '/', len) : NULL;
	size_t address_len = slash ? (size_t)(slash - text) : len;
	struct ip_prefix prefix = { 0 };
	uint64_t bits, max;

	if (!ip_address_parse(text, address_len, &prefix.address))
		return false;
	bits = max = 8 * ip_address_len(&prefix.address);
	if (slash && !text_parse_decimal(slash + 1, len - address_len - 1, 0, max, &bits))
		return false;
	prefix.bits = (uint8_t)bits;
	*out = prefix;
	return true;
}

/* "[addr]" or "[addr%N]", without the brackets. */
static bool bracketed_parse(const char *text, size_t len, struct endpoint *out)
{
	const char *percent = len ? memchr(text, '%', len) : NULL;
	size_t address_len = percent ? (size_t)(percent - text) : len;
	uint64_t scope = 0;

	if (!ip_address_parse(text, address_len, &out->address) || out->address.family != IP_V6)
		return false;
	if (percent && !text_parse_decimal(percent + 1, len - address_len - 1, 1, UINT32_MAX, &scope))
		return false;
	out->scope_id = (uint32_t)scope;
	return true;
}

bool endpoint_parse(const char *text, size_t len, struct endpoint *out)
{
	struct endpoint endpoint = { 0 };
	size_t colon = len;
	uint64_t port;

	while (colon > 0 && text[colon - 1] != ':')
		colon--;
	if (colon == 0) /* no colon at all; otherwise it stands before `colon` */
		return false;
	if (!text_parse_decimal(text + colon, len - colon, 1, UINT16_MAX, &port))
		return false;
	colon--;
	if (colon >= 2 && text[0] == '[' && text[colon - 1] == ']') {
		if (!bracketed_parse(text + 1, colon - 2, &endpoint))
			return false;
	} else if (!ip_address_parse(text, colon, &endpoint.address) || endpoint.address.family != IP_V4) {
		return false;
	}
	endpoint.port = (uint16_t)port;
	*out = endpoint;
	return true;
}

/* The longest run of at least two zero groups, the first of equals (RFC 5952 section 4.2); len 0 when there
 * is none. */
static void longest_zero_run(const uint8_t bytes[16], size_t *start, size_t *run_len)
{
	size_t at = 0;

	*start = *run_len = 0;
	while (at < IPV6_GROUPS) {
		size_t end = at;

		while (end < IPV6_GROUPS && get_be16(bytes + 2 * end) == 0)
			end++;
		if (end - at >= 2 && end - at > *run_len) {
			*start = at;
			*run_len = end - at;
		}
		at = end + 1;
	}
}

static size_t ipv4_write(const uint8_t bytes[4], char *out, size_t room)
{
	return (size_t)snprintf(out, room, "%u.%u.%u.%u", bytes[0], bytes[1], bytes[2], bytes[3]);
}

static void ipv6_write(const uint8_t bytes[16], char *out, size_t room)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	size_t start, run_len, at = 0;

	if (memcmp(bytes, mapped, sizeof(mapped)) == 0) { /* RFC 5952 section 5 */
		at = (size_t)snprintf(out, room, "::ffff:");
		ipv4_write(bytes + 12, out + at, room - at);
		return;
	}
	longest_zero_run(bytes, &start, &run_len);
	for (size_t i = 0; i < IPV6_GROUPS; i++) {
		if (run_len && i == start) {
			at += (size_t)snprintf(out + at, room - at, "::");
			i += run_len - 1;
			continue;
		}
		at += (size_t)snprintf(out + at, room - at, "%s%x",
			i > 0 && !(run_len && i == start + run_len) ? ":" : "",
			(unsigned)get_be16(bytes + 2 * i));
	}
}

char *ip_address_write(const struct ip_address *address, char out[ENDPOINT_TEXT_LEN])
{
	switch (address->family) {
	case IP_NONE:
		snprintf(out, ENDPOINT_TEXT_LEN, "(none)");
		break;
	case IP_V4:
		ipv4_write(address->bytes, out, ENDPOINT_TEXT_LEN);
		break;
	case IP_V6:
		ipv6_write(address->bytes, out, ENDPOINT_TEXT_LEN);
		break;
	}
	return out;
}

char *ip_prefix_write(const struct ip_prefix *prefix, char out[PREFIX_TEXT_LEN])
{
	char address[ENDPOINT_TEXT_LEN];

	ip_address_write(&prefix->address, address);
	if (prefix->address.family == IP_NONE)
		snprintf(out, PREFIX_TEXT_LEN, "%.40s", address);
	else
		snprintf(out, PREFIX_TEXT_LEN, "%.46s/%u", address, (unsigned)prefix->bits);
	return out;
}

char *endpoint_write(const struct endpoint *endpoint, char out[ENDPOINT_TEXT_LEN])
{
	char address[ENDPOINT_TEXT_LEN];

	ip_address_write(&endpoint->address, address);
	if (endpoint->address.family == IP_NONE)
		snprintf(out, ENDPOINT_TEXT_LEN, "%.40s", address);
	else if (endpoint->address.family == IP_V4)
		snprintf(out, ENDPOINT_TEXT_LEN, "%.40s:%u", address, (unsigned)endpoint->port);
	else if (endpoint->scope_id)
		snprintf(out, ENDPOINT_TEXT_LEN, "[%.46s%%%lu]:%u", address,
			(unsigned long)endpoint->scope_id, (unsigned)endpoint->port);
	else
		snprintf(out, ENDPOINT_TEXT_LEN, "[%.46s]:%u", address, (unsigned)endpoint->port);
	return out;
}
