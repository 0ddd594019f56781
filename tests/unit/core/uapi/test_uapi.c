/* SPDX-License-Identifier: MIT */
/* The UAPI as text: each good SET is written back in the one order that we use, each bad one is refused
 * whole. */
#include "core/uapi/uapi.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define HEX "e07bff958c7139b2ed975f0ee2d5ce80eb014521d5b9046d8439b52be209f962"
#define HEX2 "b817eb129313dc08770b59690946c9cbb3493c7424e3bab6423e430aef73dd5e"
#define ZERO "0000000000000000000000000000000000000000000000000000000000000000"
#define PEER "public_key=" HEX "\n"

static const struct {
	const char *text;
	enum uapi_kind kind;
	size_t len;
} requests[] = {
	{ "", UAPI_INCOMPLETE, 0 },
	{ "g", UAPI_INCOMPLETE, 0 },
	{ "get=1", UAPI_INCOMPLETE, 0 },
	{ "get=1\n", UAPI_INCOMPLETE, 0 },
	{ "get=1\n\n", UAPI_GET, 7 },
	{ "get=1\n\nget=1\n\n", UAPI_GET, 7 },
	{ "get=1\nx", UAPI_UNKNOWN, 0 },
	{ "get=2\n\n", UAPI_UNKNOWN, 0 },
	{ "get=1\r\n\r\n", UAPI_UNKNOWN, 0 },
	{ "s", UAPI_INCOMPLETE, 0 },
	{ "set=1\n", UAPI_INCOMPLETE, 0 },
	{ "set=1\n\n", UAPI_SET, 7 },
	{ "set=1\nfwmark=0\n", UAPI_INCOMPLETE, 0 },
	{ "set=1\nfwmark=0\n\nget=1\n\n", UAPI_SET, 16 },
	{ "set=2\n\n", UAPI_UNKNOWN, 0 },
	{ "\n", UAPI_UNKNOWN, 0 },
	{ "GET / HTTP/1.1\r\n", UAPI_UNKNOWN, 0 },
	{ "sget=1\n\n", UAPI_UNKNOWN, 0 },
};

static void requests_are_told_apart(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		size_t len = 0;

		if (uapi_request(requests[i].text, strlen(requests[i].text), &len) != requests[i].kind ||
			len != requests[i].len)
			fail_msg("%zu: %s", i, requests[i].text);
	}
}

static void endless_request_is_given_up(void **state)
{
	size_t len = UAPI_TEXT_MAX, request_len;
	char *text = malloc(len);

	(void)state;
	assert_non_null(text);
	memset(text, 'x', len);
	memcpy(text, "set=1\n", 6);
	assert_int_equal(uapi_request(text, len - 1, &request_len), UAPI_INCOMPLETE);
	assert_int_equal(uapi_request(text, len, &request_len), UAPI_UNKNOWN);
	free(text);
}

static const struct {
	const char *name, *text, *written; /* NULL: refused; "": as text */
} sets[] = {
	{ "empty", "set=1\n\n", "" },
	{ "what wg sends",
		"set=1\nprivate_key=" HEX2 "\nlisten_port=5\nfwmark=16\n" PEER "preshared_key=" ZERO
		"\nendpoint=[2001:db8::1]:51820\npersistent_keepalive_interval=0\nreplace_allowed_ips="
		"true\nallowed_ip=10.0.0.0/8\nallowed_ip=::/0\n\n",
		"" },
	{ "what wg setconf sends", "set=1\nreplace_peers=true\n" PEER "replace_allowed_ips=true\n\n", "" },
	{ "remove", "set=1\n" PEER "remove=true\n\n", "" },
	{ "update only, remove one prefix",
		"set=1\n" PEER "update_only=true\nallowed_ip=-10.0.0.0/8\nallowed_ip=10.1.0.0/16\n\n", "" },
	{ "protocol version", "set=1\n" PEER "protocol_version=1\n\n", "set=1\n" PEER "\n" },
	{ "hex in capitals",
		"set=1\npublic_key=E07BFF958C7139B2ED975F0EE2D5CE80EB014521D5B9046D8439B52BE209F962\n\n",
		"set=1\n" PEER "\n" },
	{ "our keys",
		"set=1\ntransport=auto\ntcp_listen_port=443\nextensions=off\n" PEER
		"transport=tcp\ntcp_endpoint=192.0.2.1:443\ntcp_endpoint=[fe80::1%3]:80\nudp_port=53\nudp_"
		"port=443\n\n",
		"" },
	{ "our lists emptied", "set=1\n" PEER "tcp_endpoint=\nudp_port=\n\n", "" },
	{ "same peer twice", "set=1\n" PEER "remove=true\n" PEER "endpoint=192.0.2.1:1\n\n", "" },
	{ "prefix without length", "set=1\n" PEER "allowed_ip=10.0.0.1\n\n",
		"set=1\n" PEER "allowed_ip=10.0.0.1/32\n\n" },
	{ "last value counts", "set=1\nlisten_port=1\nlisten_port=2\n\n", "set=1\nlisten_port=2\n\n" },
	{ "no header", "fwmark=0\n\n", NULL },
	{ "no blank line", "set=1\nfwmark=0\n", NULL },
	{ "bytes after the blank line", "set=1\nfwmark=0\n\nx", NULL },
	{ "two blank lines", "set=1\n\n\n", NULL },
	{ "unknown key", "set=1\ncolour=1\n\n", NULL },
	{ "no equals sign", "set=1\nfwmark\n\n", NULL },
	{ "no name", "set=1\n=1\n\n", NULL },
	{ "capitals", "set=1\nFwmark=0\n\n", NULL },
	{ "blank", "set=1\nfwmark= 0\n\n", NULL },
	{ "peer's key before a peer", "set=1\nallowed_ip=10.0.0.0/8\n\n", NULL },
	{ "interface's key after a peer", "set=1\n" PEER "fwmark=0\n\n", NULL },
	{ "key of GET", "set=1\n" PEER "rx_bytes=0\n\n", NULL },
	{ "errno", "set=1\nerrno=0\n\n", NULL },
	{ "flag false", "set=1\nreplace_peers=false\n\n", NULL },
	{ "flag empty", "set=1\n" PEER "remove=\n\n", NULL },
	{ "short key", "set=1\nprivate_key=00\n\n", NULL },
	{ "key with a wrong digit",
		"set=1\nprivate_key=g07bff958c7139b2ed975f0ee2d5ce80eb014521d5b9046d8439b52be209f962\n\n",
		NULL },
	{ "port too large", "set=1\nlisten_port=65536\n\n", NULL },
	{ "port negative", "set=1\nlisten_port=-1\n\n", NULL },
	{ "mark in hex", "set=1\nfwmark=0x10\n\n", NULL },
	{ "mark too large", "set=1\nfwmark=4294967296\n\n", NULL },
	{ "keepalive too large", "set=1\n" PEER "persistent_keepalive_interval=65536\n\n", NULL },
	{ "keepalive off", "set=1\n" PEER "persistent_keepalive_interval=off\n\n", NULL },
	{ "endpoint name", "set=1\n" PEER "endpoint=example.com:1\n\n", NULL },
	{ "endpoint empty", "set=1\n" PEER "endpoint=\n\n", NULL },
	{ "prefix too long", "set=1\n" PEER "allowed_ip=10.0.0.0/33\n\n", NULL },
	{ "prefix only a minus", "set=1\n" PEER "allowed_ip=-\n\n", NULL },
	{ "protocol version 2", "set=1\n" PEER "protocol_version=2\n\n", NULL },
	{ "transport unknown", "set=1\ntransport=quic\n\n", NULL },
	{ "extensions unknown", "set=1\nextensions=true\n\n", NULL },
	{ "emptied after one", "set=1\n" PEER "tcp_endpoint=192.0.2.1:443\ntcp_endpoint=\n\n", NULL },
	{ "one after emptied", "set=1\n" PEER "udp_port=\nudp_port=53\n\n", NULL },
	{ "udp port 0", "set=1\n" PEER "udp_port=0\n\n", NULL },
	{ "nine udp ports",
		"set=1\n" PEER "udp_port=1\nudp_port=2\nudp_port=3\nudp_port=4\nudp_port=5\nudp_port=6\nudp_"
			       "port=7\nudp_port=8\nudp_port=9\n\n",
		NULL },
	{ "bad after good", "set=1\nprivate_key=" HEX2 "\n" PEER "allowed_ip=10.0.0.0/8\nendpoint=x\n\n",
		NULL },
};

static void sets_are_read_and_written(void **state)
{
	static const struct uapi_device zero;

	(void)state;
	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		struct uapi_device device;
		struct uapi_text text = { 0 };
		const char *written = sets[i].written && !*sets[i].written ? sets[i].text : sets[i].written;
		int error = uapi_parse_set(sets[i].text, strlen(sets[i].text), &device);

		if (error != (written ? 0 : -EINVAL))
			fail_msg("%s: %d", sets[i].name, error);
		if (error) {
			assert_memory_equal(&device, &zero, sizeof(zero));
			continue;
		}
		assert_true(uapi_write_set(&text, &device));
		if (text.len != strlen(written) || memcmp(text.bytes, written, text.len) != 0)
			fail_msg("%s: wrote %.*s", sets[i].name, (int)text.len, text.bytes);
		uapi_text_free(&text);
		uapi_device_free(&device);
	}
}

#define ANSWER                                                                                               \
	"private_key=" HEX2                                                                                  \
	"\nlisten_port=51820\nfwmark=7\ntransport=auto\ntcp_listen_port=443\nextensions=on\n" PEER           \
	"preshared_key=" ZERO "\nendpoint=192.0.2.1:51820\npersistent_keepalive_interval=25\ntransport="     \
			      "udp\ntcp_endpoint=192.0.2.1:443\n"                                            \
	"udp_port=53\nprotocol_version=1\nlast_handshake_time_sec=1700000000\nlast_handshake_time_nsec="     \
	"999999999\n"                                                                                        \
	"rx_bytes=18446744073709551615\ntx_bytes=2\ncarrier=tcp\nstream=192.0.2.1:443\nrtt_us=1500\nstream_rtt_us=900\nudp_state=blocked\nstate="     \
	"up\ncause=none\n"                                                                                   \
	"verified=full\nreason=udp-blocked\nallowed_ip=10.0.0.0/8\n"

static const struct {
	const char *name, *text;
	int error;
} gets[] = {
	{ "full answer", ANSWER "errno=0\n\n", 0 },
	{ "nothing", "errno=0\n\n", 0 },
	{ "unknown keys are skipped", "colour=blue\n" PEER "shape=\nerrno=0\n\n", 0 },
	{ "error as we write it", "errno=-2\n\n", -2 },
	{ "error as others write it", "errno=2\n\n", -2 },
	{ "no errno", PEER "\n", -EPROTO },
	{ "empty", "", -EPROTO },
	{ "no blank line", "errno=0\n", -EPROTO },
	{ "more after it", "errno=0\n\nx", -EPROTO },
	{ "errno no number", "errno=x\n\n", -EPROTO },
	{ "errno huge", "errno=99999\n\n", -EPROTO },
	{ "bad value", PEER "rx_bytes=-1\nerrno=0\n\n", -EPROTO },
	{ "nanoseconds of a whole second", PEER "last_handshake_time_nsec=1000000000\nerrno=0\n\n", -EPROTO },
	{ "word too long", PEER "udp_state=abcdefghijklmnop\nerrno=0\n\n", -EPROTO },
	{ "word with a blank", PEER "state=a b\nerrno=0\n\n", -EPROTO },
	{ "line without equals sign", "x\nerrno=0\n\n", -EPROTO },
};

static void gets_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(gets) / sizeof(gets[0]); i++) {
		struct uapi_device device;
		int error = uapi_parse_get(gets[i].text, strlen(gets[i].text), &device);

		if (error != gets[i].error)
			fail_msg("%s: %d", gets[i].name, error);
		uapi_device_free(&device);
	}
}

static void get_is_written(void **state)
{
	static const char answer[] = ANSWER "errno=0\n\n";
	struct uapi_device device;
	struct uapi_text text = { 0 };

	(void)state;
	assert_int_equal(uapi_parse_get(answer, sizeof(answer) - 1, &device), 0);
	assert_int_equal(device.peers[0].rx_bytes, UINT64_MAX);
	assert_int_equal(device.peers[0].carrier, CARRIER_TCP);
	assert_string_equal(device.peers[0].reason, "udp-blocked");
	assert_true(uapi_write_get(&text, &device));
	assert_int_equal(text.len, sizeof(answer) - 1);
	assert_memory_equal(text.bytes, answer, text.len);
	uapi_text_free(&text);
	uapi_device_free(&device);
	assert_true(uapi_write_errno(&text, -EINVAL));
	assert_memory_equal(text.bytes, "errno=-22\n\n", 11);
	uapi_text_free(&text);
}

static void ten_thousand_allowed_ips(void **state)
{
	struct uapi_device device = { 0 }, again;
	struct uapi_text text = { 0 };

	(void)state;
	for (unsigned i = 0; i < 10000; i++) {
		struct ip_prefix prefix = { { IP_V4, { 10, 1, (uint8_t)(i >> 8), (uint8_t)i } }, 32 };

		if (i % 5000 == 0)
			assert_non_null(uapi_device_add_peer(&device));
		assert_true(uapi_peer_add_allowed_ip(&device.peers[device.peer_count - 1], &prefix, false));
	}
	assert_true(uapi_write_set(&text, &device));
	assert_int_equal(uapi_parse_set(text.bytes, text.len, &again), 0);
	assert_int_equal(again.peer_count, 2);
	assert_int_equal(again.peers[1].allowed_ip_count, 5000);
	for (size_t i = 0; i < 5000; i++)
		assert_true(ip_address_equal(&again.peers[1].allowed_ips[i].prefix.address,
			&device.peers[1].allowed_ips[i].prefix.address));
	uapi_device_free(&again);
	uapi_device_free(&device);
	uapi_text_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_are_told_apart),
		cmocka_unit_test(endless_request_is_given_up),
		cmocka_unit_test(sets_are_read_and_written),
		cmocka_unit_test(gets_are_read),
		cmocka_unit_test(get_is_written),
		cmocka_unit_test(ten_thousand_allowed_ips),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
