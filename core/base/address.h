/* SPDX-License-Identifier: MIT */
/* Numeric addresses as values, and their text. Nothing here resolves a name. */
#ifndef WGTCP_CORE_BASE_ADDRESS_H
#define WGTCP_CORE_BASE_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ip_family { IP_NONE = 0, IP_V4 = 4, IP_V6 = 6 };

/* An all-zero value (IP_NONE) means "no address". IPv4 uses the first 4 bytes, the rest are 0. */
struct ip_address {
	enum ip_family family;
	uint8_t bytes[16]; /* network order */
};

/* Where a carrier sends. scope_id is the interface index of a link-local IPv6 address, else 0. */
struct endpoint {
	struct ip_address address;
	uint16_t port; /* host order */
	uint32_t scope_id;
};

struct ip_prefix {
	struct ip_address address; /* as written: host bits may be set (Address = 10.0.0.2/24) */
	uint8_t bits;              /* 0..32 or 0..128 */
};

/* Enough for "[addr%4294967295]:65535" and its end. */
#define ENDPOINT_TEXT_LEN 72
#define PREFIX_TEXT_LEN 52

static inline bool endpoint_is_set(const struct endpoint *endpoint)
{
	return endpoint->address.family != IP_NONE;
}

size_t ip_address_len(const struct ip_address *address); /* 4, 16, or 0 for IP_NONE */
bool ip_address_equal(const struct ip_address *a, const struct ip_address *b);
bool endpoint_equal(const struct endpoint *a, const struct endpoint *b);
/* Whether address lies in prefix. */
bool ip_prefix_contains(const struct ip_prefix *prefix, const struct ip_address *address);
/* The prefix with its host bits cleared. */
struct ip_prefix ip_prefix_network(const struct ip_prefix *prefix);

/* Parse exactly len bytes of text; false unless all of it is one value. Dotted quad (no leading zeros, no
 * shorthand) or RFC 4291 text; a scope only as a number ("fe80::1%3") and only in an endpoint.
 * A prefix without "/N" is a host prefix. Outputs are written only on success. */
bool ip_address_parse(const char *text, size_t len, struct ip_address *out);
bool ip_prefix_parse(const char *text, size_t len, struct ip_prefix *out);
/* "192.0.2.1:51820", "[2001:db8::1]:51820", "[fe80::1%3]:51820". Port 1..65535. */
bool endpoint_parse(const char *text, size_t len, struct endpoint *out);

/* Write RFC 5952 text with its terminating NUL into a buffer of ENDPOINT_TEXT_LEN / PREFIX_TEXT_LEN; returns it.
 * "(none)" for an unset value. */
char *ip_address_write(const struct ip_address *address, char out[ENDPOINT_TEXT_LEN]);
char *ip_prefix_write(const struct ip_prefix *prefix, char out[PREFIX_TEXT_LEN]);
char *endpoint_write(const struct endpoint *endpoint, char out[ENDPOINT_TEXT_LEN]);

#endif
