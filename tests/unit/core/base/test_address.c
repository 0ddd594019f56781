/* SPDX-License-Identifier: MIT */
/* Text of addresses, prefixes and endpoints: what is read, and how it is written. */
#include "core/base/address.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* An exact copy on the heap, so that a read past the end is noticed. */
static char *exact(const char *text)
{
	size_t len = strlen(text);
	char *copy = malloc(len ? len : 1);

	assert_non_null(copy);
	memcpy(copy, text, len);
	return copy;
}

static const struct {
	const char *text, *written; /* NULL: refused */
} addresses[] = {
	{ "0.0.0.0", "0.0.0.0" },
	{ "255.255.255.255", "255.255.255.255" },
	{ "192.0.2.1", "192.0.2.1" },
	{ "", NULL },
	{ "1.2.3", NULL },
	{ "1.2.3.", NULL },
	{ ".1.2.3", NULL },
	{ "1..2.3", NULL },
	{ "1.2.3.4.5", NULL },
	{ "1.2.3.4.", NULL },
	{ "256.2.3.4", NULL },
	{ "1.2.3.256", NULL },
	{ "01.2.3.4", NULL },
	{ "1.2.3.00", NULL },
	{ "1.2.3.4 ", NULL },
	{ " 1.2.3.4", NULL },
	{ "0x1.2.3.4", NULL },
	{ "+1.2.3.4", NULL },
	{ "::", "::" },
	{ "::1", "::1" },
	{ "1::", "1::" },
	{ "2001:DB8:0:0:0:0:0:1", "2001:db8::1" },
	{ "2001:db8::0001", "2001:db8::1" },
	/* RFC 5952 4.2.2: one group alone is not shortened; 4.2.3: the longest run, the first of equals. */
	{ "2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1" },
	{ "2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1" },
	{ "2001:0:0:1:0:0:0:1", "2001:0:0:1::1" },
	{ "0:0:1:2:3:4:5:6", "::1:2:3:4:5:6" },
	{ "1:2:3:4:5:6:0:0", "1:2:3:4:5:6::" },
	{ "1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0" },
	{ "::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8" },
	{ "::ffff:192.0.2.1", "::ffff:192.0.2.1" },
	{ "::ffff:c000:201", "::ffff:192.0.2.1" },
	{ "64:ff9b::192.0.2.33", "64:ff9b::c000:221" },
	{ "1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304" },
	{ "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff" },
	{ ":", NULL },
	{ ":::", NULL },
	{ "1:", NULL },
	{ ":1", NULL },
	{ "1:2:3:4:5:6:7", NULL },
	{ "1:2:3:4:5:6:7:8:9", NULL },
	{ "1:2:3:4:5:6:7:8:", NULL },
	{ "1:2:3:4::5:6:7:8", NULL },
	{ "1::2::3", NULL },
	{ "12345::", NULL },
	{ "g::", NULL },
	{ "::1.2.3", NULL },
	{ "1.2.3.4::", NULL },
	{ "1:2:3:4:5:6:7:1.2.3.4", NULL },
	{ "::1%1", NULL },
	{ "[::1]", NULL },
};

static void addresses_as_text(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
		struct ip_address address = { .family = IP_V4, .bytes = { 9 } }, again;
		char *text = exact(addresses[i].text), written[ENDPOINT_TEXT_LEN];
		bool ok = ip_address_parse(text, strlen(addresses[i].text), &address);

		free(text);
		if (ok != (addresses[i].written != NULL))
			fail_msg("%s", addresses[i].text);
		if (!ok) {
			assert_int_equal(address.bytes[0], 9); /* untouched */
			continue;
		}
		assert_string_equal(ip_address_write(&address, written), addresses[i].written);
		assert_true(ip_address_parse(written, strlen(written), &again));
		assert_true(ip_address_equal(&address, &again));
	}
}

static const struct {
	const char *text, *written, *network;
} prefixes[] = {
	{ "10.0.0.2/24", "10.0.0.2/24", "10.0.0.0/24" },
	{ "10.0.0.2", "10.0.0.2/32", "10.0.0.2/32" },
	{ "255.255.255.255/0", "255.255.255.255/0", "0.0.0.0/0" },
	{ "255.255.255.255/9", "255.255.255.255/9", "255.128.0.0/9" },
	{ "255.255.255.255/31", "255.255.255.255/31", "255.255.255.254/31" },
	{ "fd00::2/64", "fd00::2/64", "fd00::/64" },
	{ "fd00::2", "fd00::2/128", "fd00::2/128" },
	{ "ffff:ffff::1/17", "ffff:ffff::1/17", "ffff:8000::/17" },
	{ "::/0", "::/0", "::/0" },
	{ "10.0.0.2/33", NULL, NULL },
	{ "10.0.0.2/", NULL, NULL },
	{ "10.0.0.2/024", NULL, NULL },
	{ "10.0.0.2/-1", NULL, NULL },
	{ "10.0.0.2/24/24", NULL, NULL },
	{ "/24", NULL, NULL },
	{ "fd00::/129", NULL, NULL },
	{ "fd00::/99999999999999999999", NULL, NULL },
};

static void prefixes_as_text(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		struct ip_prefix prefix, network;
		char *text = exact(prefixes[i].text), written[PREFIX_TEXT_LEN];
		bool ok = ip_prefix_parse(text, strlen(prefixes[i].text), &prefix);

		free(text);
		if (ok != (prefixes[i].written != NULL))
			fail_msg("%s", prefixes[i].text);
		if (!ok)
			continue;
		assert_string_equal(ip_prefix_write(&prefix, written), prefixes[i].written);
		network = ip_prefix_network(&prefix);
		assert_string_equal(ip_prefix_write(&network, written), prefixes[i].network);
		assert_true(ip_prefix_contains(&prefix, &prefix.address));
		assert_true(ip_prefix_contains(&network, &prefix.address));
	}
}

static const struct {
	const char *prefix, *address;
	bool inside;
} contained[] = {
	{ "10.0.0.0/24", "10.0.0.255", true },
	{ "10.0.0.7/24", "10.0.0.255", true },
	{ "10.0.0.0/24", "10.0.1.0", false },
	{ "10.0.0.0/25", "10.0.0.128", false },
	{ "10.0.0.1/32", "10.0.0.1", true },
	{ "10.0.0.1/32", "10.0.0.0", false },
	{ "0.0.0.0/0", "255.1.2.3", true },
	{ "0.0.0.0/0", "::1", false },
	{ "::/0", "10.0.0.1", false },
	{ "fd00::/8", "fdff::1", true },
	{ "fd00::/9", "fd80::1", false },
};

static void prefixes_contain(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(contained) / sizeof(contained[0]); i++) {
		struct ip_prefix prefix;
		struct ip_address address;

		assert_true(ip_prefix_parse(contained[i].prefix, strlen(contained[i].prefix), &prefix));
		assert_true(ip_address_parse(contained[i].address, strlen(contained[i].address), &address));
		if (ip_prefix_contains(&prefix, &address) != contained[i].inside)
			fail_msg("%s in %s", contained[i].address, contained[i].prefix);
	}
}

static const struct {
	const char *text, *written;
} endpoints[] = {
	{ "192.0.2.1:51820", "192.0.2.1:51820" },
	{ "192.0.2.1:1", "192.0.2.1:1" },
	{ "[2001:db8::1]:65535", "[2001:db8::1]:65535" },
	{ "[fe80::1%3]:51820", "[fe80::1%3]:51820" },
	{ "[fe80::1%4294967295]:51820", "[fe80::1%4294967295]:51820" },
	{ "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:fff0%4294967295]:65535",
		"[ffff:ffff:ffff:ffff:ffff:ffff:ffff:fff0%4294967295]:65535" },
	{ "", NULL },
	{ ":1", NULL },
	{ "192.0.2.1", NULL },
	{ "192.0.2.1:", NULL },
	{ "192.0.2.1:0", NULL },
	{ "192.0.2.1:65536", NULL },
	{ "192.0.2.1:051", NULL },
	{ "192.0.2.1:1 ", NULL },
	{ "[192.0.2.1]:1", NULL },
	{ "2001:db8::1:1", NULL },
	{ "[2001:db8::1]", NULL },
	{ "[2001:db8::1]1", NULL },
	{ "[2001:db8::1:1", NULL },
	{ "[]:1", NULL },
	{ "[%1]:1", NULL },
	{ "[fe80::1%]:1", NULL },
	{ "[fe80::1%0]:1", NULL },
	{ "[fe80::1%eth0]:1", NULL },
	{ "[fe80::1%4294967296]:1", NULL },
	{ "example.com:1", NULL },
};

static void endpoints_as_text(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(endpoints) / sizeof(endpoints[0]); i++) {
		struct endpoint endpoint, again;
		char *text = exact(endpoints[i].text), written[ENDPOINT_TEXT_LEN];
		bool ok = endpoint_parse(text, strlen(endpoints[i].text), &endpoint);

		free(text);
		if (ok != (endpoints[i].written != NULL))
			fail_msg("%s", endpoints[i].text);
		if (!ok)
			continue;
		assert_string_equal(endpoint_write(&endpoint, written), endpoints[i].written);
		assert_true(endpoint_parse(written, strlen(written), &again));
		assert_true(endpoint_equal(&endpoint, &again));
		again.port ^= 1;
		assert_false(endpoint_equal(&endpoint, &again));
		again = endpoint;
		again.scope_id ^= 1;
		assert_false(endpoint_equal(&endpoint, &again));
	}
}

static void unset_values(void **state)
{
	const struct ip_address address = { 0 };
	const struct ip_prefix prefix = { 0 };
	const struct endpoint endpoint = { 0 };
	char text[ENDPOINT_TEXT_LEN], prefix_text[PREFIX_TEXT_LEN];

	(void)state;
	assert_string_equal(ip_address_write(&address, text), "(none)");
	assert_string_equal(ip_prefix_write(&prefix, prefix_text), "(none)");
	assert_string_equal(endpoint_write(&endpoint, text), "(none)");
	assert_false(endpoint_is_set(&endpoint));
	assert_int_equal(ip_address_len(&address), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_as_text),
		cmocka_unit_test(prefixes_as_text),
		cmocka_unit_test(prefixes_contain),
		cmocka_unit_test(endpoints_as_text),
		cmocka_unit_test(unset_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
