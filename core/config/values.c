/* SPDX-License-Identifier: MIT */
/* See values.h. Here live most of the sentences that people read; none may hold the value of a secret key. */
#include "core/config/values.h"

#include "core/base/text.h"
#include "core/base/wipe.h"
#include "core/config/error.h"
#include "core/config/key_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool profile_value_fail(struct profile_reading *reading, const char *at, const char *format, ...)
{
	va_list arguments;

	reading->error->line = reading->line->number;
	reading->error->column = (unsigned)(at - reading->line->start) + 1;
	va_start(arguments, format);
	vsnprintf(reading->error->sentence, sizeof(reading->error->sentence), format, arguments);
	va_end(arguments);
	return false;
}

bool profile_value_no_memory(struct profile_reading *reading, const char *at)
{
	return profile_value_fail(
		reading, at, "there is not enough memory to read the profile: close something and try again");
}

bool profile_value_number(struct profile_reading *reading, const char *value, size_t len, uint32_t min,
	uint32_t max, uint32_t *out)
{
	char quote[PROFILE_QUOTE_LEN];
	uint64_t number;

	if (!text_parse_decimal(value, len, min, max, &number))
		return profile_value_fail(reading, value,
			"%s is \"%s\", but must be a whole number from %u to %u: for example %s = %s",
			reading->key->name, profile_quote(value, len, quote), (unsigned)min, (unsigned)max,
			reading->key->name, reading->key->example);
	*out = (uint32_t)number;
	return true;
}

static bool hexadecimal_parse(const char *text, size_t len, uint32_t *out)
{
	uint32_t number = 0;

	if (len < 3 || len > 10 || text[0] != '0' || text_lower(text[1]) != 'x')
		return false;
	for (size_t i = 2; i < len; i++) {
		if (text_hex_digit(text[i]) < 0)
			return false;
		number = number << 4 | (uint32_t)text_hex_digit(text[i]);
	}
	*out = number;
	return true;
}

bool profile_value_number_or_off(
	struct profile_reading *reading, const char *value, size_t len, uint32_t max, uint32_t *out)
{
	char quote[PROFILE_QUOTE_LEN];
	uint64_t number;
	uint32_t hexadecimal;

	if (text_equal_nocase(value, len, "off"))
		number = 0;
	else if (max == UINT32_MAX && hexadecimal_parse(value, len, &hexadecimal))
		number = hexadecimal;
	else if (!text_parse_decimal(value, len, 0, max, &number))
		return profile_value_fail(reading, value,
			"%s is \"%s\", but must be off or a number from 0 to %u%s: for example %s = %s",
			reading->key->name, profile_quote(value, len, quote), (unsigned)max,
			max == UINT32_MAX ? " (0x... for hexadecimal)" : "", reading->key->name,
			reading->key->example);
	*out = (uint32_t)number;
	return true;
}

bool profile_value_switch(struct profile_reading *reading, const char *value, size_t len, bool *out)
{
	static const char *const names[] = { "off", "on", "false", "true", "no", "yes" };
	char quote[PROFILE_QUOTE_LEN];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!text_equal_nocase(value, len, names[i]))
			continue;
		*out = i % 2 == 1;
		return true;
	}
	return profile_value_fail(reading, value, "%s is \"%s\", but must be on or off: write %s = %s",
		reading->key->name, profile_quote(value, len, quote), reading->key->name,
		reading->key->example);
}

bool profile_value_word(struct profile_reading *reading, const char *value, size_t len,
	const char *const *names, size_t count, size_t *out)
{
	char quote[PROFILE_QUOTE_LEN], known[64] = "";
	size_t at = 0;

	for (size_t i = 0; i < count; i++) {
		if (!text_equal_nocase(value, len, names[i]))
			continue;
		*out = i;
		return true;
	}
	for (size_t i = 0; i < count && at < sizeof(known); i++)
		at += (size_t)snprintf(known + at, sizeof(known) - at, "%s%s",
			i == 0 ? "" : (i + 1 == count ? " or " : ", "), names[i]);
	return profile_value_fail(reading, value, "%s is \"%s\", but must be %s: for example %s = %s",
		reading->key->name, profile_quote(value, len, quote), known, reading->key->name,
		reading->key->example);
}

bool profile_value_key(
	struct profile_reading *reading, const char *value, size_t len, uint8_t out[PROFILE_KEY_LEN])
{
	const char *name = reading->key->name;

	if (profile_key_parse(value, len, out))
		return true;
	if (text_equal(value, len, PROFILE_HIDDEN))
		return profile_value_fail(reading, value,
			"%s is hidden in this text: export the profile as root to get the key itself, or put "
			"the key here",
			name);
	for (size_t i = 0; i < len; i++) {
		char c = value[i];

		if (text_hex_digit(c) >= 0 || (c >= 'g' && c <= 'z') || (c >= 'G' && c <= 'Z') || c == '+' ||
			c == '/' || (c == '=' && i + 1 == len))
			continue;
		return profile_value_fail(reading, value + i,
			"%s has a character that no key has (number %lu): copy the whole key again, 44 "
			"letters, digits, + and / with = at the end",
			name, (unsigned long)i + 1);
	}
	if (len == PROFILE_KEY_TEXT_LEN - 1 && value[len - 1] != '=')
		return profile_value_fail(reading, value,
			"%s lacks the = at its end: a key has 44 characters, the last is =", name);
	if (len == 2 * (size_t)PROFILE_KEY_LEN)
		return profile_value_fail(reading, value,
			"%s has 64 characters, perhaps hexadecimal: write it in base64, 44 characters, as wg "
			"genkey does",
			name);
	if (len != PROFILE_KEY_TEXT_LEN)
		return profile_value_fail(reading, value,
			"%s has %lu characters, but a key has 44: copy the whole key again", name,
			(unsigned long)len);
	return profile_value_fail(reading, value,
		"%s is not a key, since its end cannot stand for 32 bytes: copy the whole key again, with = "
		"at the end",
		name);
}

bool profile_value_prefix(
	struct profile_reading *reading, const char *value, size_t len, struct ip_prefix *out)
{
	const char *name = reading->key->name, *slash = len ? memchr(value, '/', len) : NULL;
	char quote[PROFILE_QUOTE_LEN];
	struct ip_address address;

	if (ip_prefix_parse(value, len, out))
		return true;
	profile_quote(value, len, quote);
	if (!slash || !ip_address_parse(value, (size_t)(slash - value), &address))
		return profile_value_fail(reading, value,
			"%s has \"%s\", which is no IP address with prefix length: write it as in %s = %s",
			name, quote, name, reading->key->example);
	if (memchr(slash, '.', len - (size_t)(slash - value)))
		return profile_value_fail(reading, slash + 1,
			"%s has \"%s\" with a netmask: write the number of its one bits, for example /24 for "
			"255.255.255.0",
			name, quote);
	return profile_value_fail(reading, slash + 1,
		"%s has \"%s\", but behind the / must stand a number from 0 to %u: for example %s", name,
		quote, address.family == IP_V4 ? 32 : 128, address.family == IP_V4 ? "/24" : "/64");
}

bool profile_domain_valid(const char *text, size_t len)
{
	size_t label = 0;

	if (len > 1 && text[len - 1] == '.')
		len--;
	if (len == 0 || len > 253)
		return false;
	for (size_t i = 0; i < len; i++) {
		char c = text_lower(text[i]);

		if (c == '.' ? label == 0
			     : !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
				       (c == '-' && label > 0)))
			return false;
		label = c == '.' ? 0 : label + 1;
		if (label > 63)
			return false;
	}
	return label > 0;
}

/* Only digits and dots: meant as an IPv4 address. */
static bool looks_like_ipv4(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] != '.' && (text[i] < '0' || text[i] > '9'))
			return false;
	return true;
}

/* "2001:db8::1" or "fe80::1%eth0". */
static bool ipv6_host_valid(const char *text, size_t len)
{
	const char *percent = len ? memchr(text, '%', len) : NULL;
	size_t address_len = percent ? (size_t)(percent - text) : len,
	       scope_len = percent ? len - address_len - 1 : 0;
	struct ip_address address;

	if (!ip_address_parse(text, address_len, &address) || address.family != IP_V6)
		return false;
	if (!percent)
		return true;
	return scope_len > 0 && scope_len < 16 && profile_domain_valid(percent + 1, scope_len);
}

static bool host_fail(struct profile_reading *reading, const char *value, size_t len)
{
	const char *name = reading->key->name, *scheme = NULL, *colon;
	char quote[PROFILE_QUOTE_LEN];
	size_t colons = 0;
	struct ip_address address;

	profile_quote(value, len, quote);
	for (size_t i = 0; i + 2 < len && !scheme; i++)
		if (memcmp(value + i, "://", 3) == 0)
			scheme = value + i;
	for (size_t i = scheme ? (size_t)(scheme - value) + 3 : 0; i < len; i++)
		colons += value[i] == ':';
	if (scheme)
		return profile_value_fail(reading, value,
			"%s is \"%s\": it takes no scheme (%.*s://)%s; write only HOST:PORT, for example %s",
			name, quote, scheme - value > 10 ? 10 : (int)(scheme - value), value,
			colons > 1 ? " and one port, not two" : "", reading->key->example);
	if (value[0] != '[' && (ip_address_parse(value, len, &address) || colons > 2) && colons > 1)
		return profile_value_fail(reading, value,
			"%s is \"%s\": an IPv6 address must stand in brackets, for example "
			"[2001:db8::1]:51820",
			name, quote);
	if (value[0] != '[' && colons == 2)
		return profile_value_fail(reading, value,
			"%s is \"%s\" with two ports: write HOST:PORT with one, for example %s", name, quote,
			reading->key->example);
	colon = memchr(value, ':', len);
	if (!colon || value[len - 1] == ']' || colon == value + len - 1)
		return profile_value_fail(reading, value,
			"%s is \"%s\" without a port: write HOST:PORT, for example %s", name, quote,
			reading->key->example);
	if (colon == value)
		return profile_value_fail(reading, value,
			"%s is \"%s\" without a host: write HOST:PORT, for example %s", name, quote,
			reading->key->example);
	return profile_value_fail(reading, value,
		"%s is \"%s\", which is not HOST:PORT with a port from 1 to 65535: for example %s", name,
		quote, reading->key->example);
}

bool profile_value_host(
	struct profile_reading *reading, const char *value, size_t len, struct profile_host *out)
{
	size_t host_len = len, port_at;
	const char *host = value;
	char quote[PROFILE_QUOTE_LEN];
	uint64_t port;

	while (host_len > 0 && value[host_len - 1] != ':')
		host_len--;
	port_at = host_len;
	if (port_at == 0 || !text_parse_decimal(value + port_at, len - port_at, 1, UINT16_MAX, &port))
		return host_fail(reading, value, len);
	host_len--;
	if (host_len >= 2 && host[0] == '[' && host[host_len - 1] == ']') {
		host++;
		host_len -= 2;
		if (!ipv6_host_valid(host, host_len))
			return profile_value_fail(reading, host,
				"%s has \"%s\" in brackets, which is no IPv6 address: for example "
				"[2001:db8::1]:51820",
				reading->key->name, profile_quote(host, host_len, quote));
	} else if (host_len == 0 || memchr(host, ':', host_len)) {
		return host_fail(reading, value, len);
	} else if (looks_like_ipv4(host, host_len)) {
		struct ip_address address;

		if (!ip_address_parse(host, host_len, &address))
			return profile_value_fail(reading, host,
				"%s has the host \"%s\", which is no IPv4 address: four numbers from 0 to "
				"255, for example 192.0.2.1",
				reading->key->name, profile_quote(host, host_len, quote));
	} else if (!profile_domain_valid(host, host_len)) {
		return profile_value_fail(reading, host,
			"%s has the host \"%s\", which is no host name: letters, digits, - and . only (other "
			"scripts as xn--...)",
			reading->key->name, profile_quote(host, host_len, quote));
	}
	memcpy(out->host, host, host_len);
	out->host[host_len] = 0;
	out->port = (uint16_t)port;
	return true;
}

bool profile_value_list(struct profile_reading *reading, const char *value, size_t len, bool keep_blanks,
	bool (*one)(struct profile_reading *reading, const char *value, size_t len))
{
	const char *at = value, *end = value + len;

	for (;;) {
		const char *start, *stop;

		while (at < end && text_is_blank(*at))
			at++;
		start = at;
		while (at < end && *at != ',' && (keep_blanks || !text_is_blank(*at)))
			at++;
		stop = at;
		while (stop > start && text_is_blank(stop[-1]))
			stop--;
		if (start == stop)
			return profile_value_fail(reading, start,
				"%s has an empty element: delete the comma that is too many",
				reading->key->name);
		if (!one(reading, start, (size_t)(stop - start)))
			return false;
		while (at < end && text_is_blank(*at))
			at++;
		if (at == end)
			return true;
		if (*at == ',')
			at++;
	}
}
