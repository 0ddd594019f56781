/* SPDX-License-Identifier: MIT */
/* resolv.conf's text, read and written. */
#include "client/daemon/dns_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint32_t scope_of(const char *interface)
{
	return !strcmp(interface, "eth0") ? 7 : 0;
}

/* Text; servers with their scopes, in order; search list; whether it is resolved's. */
static const struct {
	const char *text, *servers, *search;
	bool resolved;
} reads[] = {
	{ "", "", "", false },
	{ "nameserver 192.0.2.1\n", "192.0.2.1%0", "", false },
	{ "nameserver\t192.0.2.1 # near\nnameserver 2001:db8::1", "192.0.2.1%0 2001:db8::1%0", "", false },
	{ "nameserver fe80::1%eth0\n", "fe80::1%7", "", false },
	{ "nameserver fe80::1%\nnameserver fe80::1%an-interface-name-that-is-too-long-to-be-one\n", "", "",
		false },
	{ "#nameserver 192.0.2.1\n nameserver 192.0.2.2\nnameservers 192.0.2.3\nnameserver word\n", "", "",
		false },
	{ "nameserver 127.0.0.53\noptions edns0\nsearch .\n", "127.0.0.53%0", ".", true },
	{ "nameserver 127.0.0.54\n", "127.0.0.54%0", "", true },
	{ "nameserver 192.0.2.1\nnameserver 127.0.0.53\n", "192.0.2.1%0 127.0.0.53%0", "", false },
	{ "domain a.example\n", "", "a.example", false },
	{ "domain a.example\nsearch b.example\tc.example\n", "", "b.example c.example", false },
	{ "search b.example\ndomain a.example\n", "", "a.example", false },
};

static void is_read(void **state)
{
	size_t i, j;

	(void)state;
	for (i = 0; i < sizeof(reads) / sizeof(reads[0]); i++) {
		struct probe_server servers[4];
		char search[64], text[512] = "", address[ENDPOINT_TEXT_LEN], *at = text;
		size_t count = dns_text_servers(reads[i].text, servers, 4, scope_of);

		for (j = 0; j < count; j++)
			at += sprintf(at, "%s%s%%%u", j ? " " : "",
				ip_address_write(&servers[j].address, address), servers[j].scope);
		assert_string_equal(text, reads[i].servers);
		dns_text_search(reads[i].text, search, sizeof(search));
		assert_string_equal(search, reads[i].search);
		assert_int_equal(dns_text_is_resolved(reads[i].text), reads[i].resolved);
	}
}

static void no_more_than_there_is_room_for(void **state)
{
	struct probe_server servers[2];
	char search[8];

	(void)state;
	assert_int_equal(
		dns_text_servers("nameserver 192.0.2.1\nnameserver 192.0.2.2\nnameserver 192.0.2.3\n",
			servers, 2, scope_of),
		2);
	dns_text_search("search abcdefghijkl\n", search, sizeof(search));
	assert_string_equal(search, "abcdefg");
}

/* Domains with blanks between; what stood there before; what is to stand there. One server, 10.0.0.1. */
static const struct {
	const char *domains[4], *before, *text;
} writes[] = {
	{ { NULL }, NULL, "# x\nnameserver 10.0.0.1\n" },
	{ { "a.example", "b.example" }, NULL, "# x\nsearch a.example b.example\nnameserver 10.0.0.1\n" },
	{ { "~a.example", "b.example" }, NULL, "# x\nsearch b.example\nnameserver 10.0.0.1\n" },
	{ { "~a.example" }, NULL, "# x\nnameserver 10.0.0.1\n" },
	{ { NULL }, "options edns0 timeout:1\nnameserver 192.0.2.1\nsearch lan\noptions rotate",
		"# x\nnameserver 10.0.0.1\noptions edns0 timeout:1\noptions rotate\n" },
};

static void is_written(void **state)
{
	struct ip_address server = { IP_V4, { 10, 0, 0, 1 } };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(writes) / sizeof(writes[0]); i++) {
		struct profile_texts domains = { .items = (char **)writes[i].domains };
		struct dns_servers dns = { &server, 1, &domains };
		char *text;

		while (writes[i].domains[domains.count])
			domains.count++;
		text = dns_text_write("x", &dns, writes[i].before);
		assert_string_equal(text, writes[i].text);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_read),
		cmocka_unit_test(no_more_than_there_is_room_for),
		cmocka_unit_test(is_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
