/* SPDX-License-Identifier: MIT */
/* The pure parts: words of a command line, suggestions, names, sentences, and status at several widths. */
#include "client/cli/cli.h"
#include "client/cli/qr.h"
#include "client/cli/sentence.h"
#include "client/cli/status_text.h"
#include "client/cli/suggest.h"
#include "client/rpc/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_args(void **state)
{
	static const struct {
		const char *words[6];
		const char *command, *second, *transport, *lines, *follow, *error;
	} table[] = {
		{ { "up", "office" }, "up", "office", NULL, NULL, NULL, NULL },
		{ { "up", "office", "--transport", "tcp" }, "up", "office", "tcp", NULL, NULL, NULL },
		{ { "--transport=tcp", "up", "office" }, "up", "office", "tcp", NULL, NULL, NULL },
		{ { "up", "-ttcp", "office" }, "up", "office", "tcp", NULL, NULL, NULL },
		{ { "up", "-t", "tcp", "office" }, "up", "office", "tcp", NULL, NULL, NULL },
		{ { "up", "--transport=", "office" }, "up", "office", "", NULL, NULL, NULL },
		{ { "logs", "-n", "5", "-f" }, "logs", NULL, NULL, "5", "", NULL },
		{ { "logs", "-n5", "--follow" }, "logs", NULL, NULL, "5", "", NULL },
		{ { "import", "-" }, "import", "-", NULL, NULL, NULL, NULL },
		{ { "up", "--", "--transport" }, "up", "--transport", NULL, NULL, NULL, NULL },
		{ { "up", "--transport" }, .error = "--transport needs a value: --transport T" },
		{ { "up", "--trasport", "tcp" },
			.error = "'--trasport' is not an option; did you mean '--transport'?" },
		{ { "up", "--trasport=tcp" },
			.error = "'--trasport' is not an option; did you mean '--transport'?" },
		{ { "up", "--zzzzzzzz" }, .error = "'--zzzzzzzz' is not an option" },
		{ { "up", "-x" }, .error = "'-x' is not an option" },
		{ { "logs", "--follow=yes" }, .error = "--follow takes no value" },
		{ { "logs", "-fx" }, .error = "--follow takes no value" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		char *argv[8] = { (char *)(uintptr_t) "wgtcp-cli" };
		struct args_error error = { "" };
		struct args args = { 0 };
		int argc = 1;

		for (; table[i].words[argc - 1]; argc++)
			argv[argc] = (char *)(uintptr_t)table[i].words[argc - 1];
		assert_int_equal(args_parse(argc, argv, &args, &error), !table[i].error);
		if (table[i].error) {
			assert_string_equal(error.text, table[i].error);
			assert_int_equal(args.word_count, 0);
			continue;
		}
		assert_string_equal(args.words[0], table[i].command);
		assert_int_equal(args.word_count, table[i].second ? 2 : 1);
		if (table[i].second)
			assert_string_equal(args.words[1], table[i].second);
		assert_string_equal(args.values[OPTION_TRANSPORT] ? args.values[OPTION_TRANSPORT] : "(none)",
			table[i].transport ? table[i].transport : "(none)");
		assert_string_equal(args.values[OPTION_LINES] ? args.values[OPTION_LINES] : "(none)",
			table[i].lines ? table[i].lines : "(none)");
		assert_int_equal(args.values[OPTION_FOLLOW] != NULL, table[i].follow != NULL);
	}
}

static void test_numbers(void **state)
{
	static const struct {
		const char *text;
		bool good;
		uint32_t value;
	} table[] = {
		{ "1", true, 1 },
		{ "3600", true, 3600 },
		{ "0", false, 7 },
		{ "3601", false, 7 },
		{ "", false, 7 },
		{ "-1", false, 7 },
		{ "1.5", false, 7 },
		{ " 1", false, 7 },
		{ "99999999999999999999", false, 7 },
		{ NULL, true, 7 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct args args = { .values[OPTION_TIMEOUT] = table[i].text };
		struct args_error error;
		uint32_t value = 7;

		assert_int_equal(args_number(&args, OPTION_TIMEOUT, 1, 3600, &value, &error), table[i].good);
		assert_int_equal(value, table[i].value);
	}
}

static void test_durations(void **state)
{
	static const struct {
		const char *text;
		bool good;
		uint32_t value;
	} table[] = {
		{ "1", true, 1 },
		{ "90s", true, 90 },
		{ "5m", true, 300 },
		{ "2h", true, 7200 },
		{ "1d", true, 86400 },
		{ "24h", true, 86400 },
		{ "86400", true, 86400 },
		{ "86401", false, 7 },
		{ "1441m", false, 7 },
		{ "2d", false, 7 },
		{ "0m", false, 7 },
		{ "m", false, 7 },
		{ "", false, 7 },
		{ "-5m", false, 7 },
		{ "5 m", false, 7 },
		{ "5M", false, 7 },
		{ "99999999999999999999m", false, 7 },
		{ NULL, true, 7 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct args args = { .values[OPTION_FOR] = table[i].text };
		struct args_error error;
		uint32_t value = 7;

		if (args_duration(&args, OPTION_FOR, 86400, &value, &error) != table[i].good ||
			value != table[i].value)
			fail_msg("%s: %u", table[i].text, value);
	}
}

static void test_suggestions(void **state)
{
	static const char *const words[] = { "office", "home", "up", "down", "status", "wg0", NULL };
	static const struct {
		const char *typed, *nearest;
	} table[] = {
		{ "ofice", "office" },
		{ "offfice", "office" },
		{ "OFFICE", "office" },
		{ "fofice", "office" },
		{ "stauts", "status" },
		{ "dwon", "down" },
		{ "hom", "home" },
		{ "wg1", "wg0" },
		{ "pu", "up" },
		{ "x", NULL },
		{ "laboratory", NULL },
		{ "", NULL },
		{ "a-very-long-word-that-is-longer-than-forty-letters", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct suggestion suggestion;

		suggestion_start(&suggestion, table[i].typed);
		for (size_t j = 0; words[j]; j++)
			suggestion_offer(&suggestion, words[j]);
		if (!table[i].nearest)
			assert_null(suggestion.nearest);
		else
			assert_string_equal(
				suggestion.nearest ? suggestion.nearest : "(none)", table[i].nearest);
	}
}

static void test_names(void **state)
{
	static const struct {
		const char *word, *name;
	} table[] = {
		{ "office", "office" },
		{ "office.conf", "office" },
		{ "./office.conf", "office" },
		{ "/etc/wireguard/office.conf", "office" },
		{ "C:\\vpn\\office.conf", "office" },
		{ ".conf", ".conf" },
		{ "a.conf.conf", "a.conf" },
		{ "wg0.v2", "wg0.v2" },
		{ "/etc/", NULL },
		{ "", NULL },
	};
	char name[RPC_NAME_LEN], longest[RPC_NAME_LEN + 1];

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		assert_int_equal(name_from_word(table[i].word, name), table[i].name != NULL);
		if (table[i].name)
			assert_string_equal(name, table[i].name);
	}
	memset(longest, 'a', RPC_NAME_LEN);
	longest[RPC_NAME_LEN] = '\0';
	assert_false(name_from_word(longest, name));
	assert_true(name_from_word(longest + 1, name));
}

static void check(struct text *text, const char *expected)
{
	assert_string_equal(text->bytes ? text->bytes : "", expected);
	text_free(text);
}

static void test_figures(void **state)
{
	struct text text = { 0 };

	(void)state;
	sentence_duration(0, &text), check(&text, "0 s");
	sentence_duration(59, &text), check(&text, "59 s");
	sentence_duration(61, &text), check(&text, "1 min 1 s");
	sentence_duration(3599, &text), check(&text, "59 min");
	sentence_duration(3840, &text), check(&text, "1 h 4 min");
	sentence_duration(93600, &text), check(&text, "1 d 2 h");
	sentence_bytes(0, &text), check(&text, "0 B");
	sentence_bytes(1023, &text), check(&text, "1023 B");
	sentence_bytes(1024, &text), check(&text, "1.00 KiB");
	sentence_bytes(1048575, &text), check(&text, "1.00 MiB");
	sentence_bytes(12900000, &text), check(&text, "12.3 MiB");
	sentence_bytes(UINT64_MAX, &text), check(&text, "16.0 EiB");
	sentence_rate(999, &text), check(&text, "999 bit/s");
	sentence_rate(1000, &text), check(&text, "1.00 kbit/s");
	sentence_rate(999999, &text), check(&text, "1.00 Mbit/s");
	sentence_rate(8400000000, &text), check(&text, "8.40 Gbit/s");
	sentence_rtt(312, &text), check(&text, "0.3 ms");
	sentence_rtt(23456, &text), check(&text, "23 ms");
}

static void test_sentences(void **state)
{
	static const struct {
		struct rpc_tunnel tunnel;
		bool already;
		const char *text;
	} table[] = {
		{ { .name = "office",
			  .state = RPC_STATE_UP,
			  .carrier = CARRIER_TCP,
			  .reason = RPC_REASON_UDP_SILENT,
			  .verified = RPC_VERIFIED_FULL },
			false, "office is up over TCP: this network blocks UDP (verified: full)." },
		{ { .name = "office",
			  .state = RPC_STATE_UP,
			  .carrier = CARRIER_UDP,
			  .reason = RPC_REASON_UDP_WORKS,
			  .verified = RPC_VERIFIED_FULL },
			false, "office is up over UDP (verified: full)." },
		{ { .name = "office",
			  .state = RPC_STATE_UP,
			  .carrier = CARRIER_UDP,
			  .verified = RPC_VERIFIED_HANDSHAKE },
			true, "office is already up over UDP (verified: handshake)." },
		{ { .name = "office",
			  .state = RPC_STATE_UP,
			  .carrier = CARRIER_TCP,
			  .reason = RPC_REASON_CHOSEN,
			  .verified = RPC_VERIFIED_SMALL },
			false, "office is up over TCP, as chosen (verified: small)." },
		{ { .name = "hub", .state = RPC_STATE_UP }, false, "hub is up." },
		{ { .name = "office",
			  .state = RPC_STATE_DEGRADED,
			  .carrier = CARRIER_UDP,
			  .verified = RPC_VERIFIED_HANDSHAKE,
			  .message = "Large packets do not pass." },
			false,
			"office is degraded over UDP; Large packets do not pass (verified: handshake)." },
		{ { .name = "office", .state = RPC_STATE_FAILED, .cause = RPC_CAUSE_PEER_UNREACHABLE }, false,
			"office has failed: nothing comes back from the peer." },
		{ { .name = "office", .state = RPC_STATE_CONNECTING, .carrier = CARRIER_UDP }, false,
			"office is connecting." },
		{ { .name = "a\033[2Jb", .state = RPC_STATE_DOWN }, false, "a?[2Jb is down." },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct text text = { 0 };

		sentence_of_tunnel(&table[i].tunnel, table[i].already, &text);
		check(&text, table[i].text);
	}
}

static struct rpc_peer office_peer = { .public_key = "3vPzZQRTvN6mkLTNmMZxvRPjW5D6C8Jq6qUzWmQhP3Y=",
	.endpoint = "[2001:db8:85a3::8a2e:370:7334]:51820",
	.state = RPC_STATE_UP,
	.verified = RPC_VERIFIED_FULL,
	.carrier = CARRIER_TCP,
	.reason = RPC_REASON_UDP_SILENT,
	.udp = RPC_UDP_BLOCKED,
	.last_handshake = 1796079988,
	.rtt_us = 23400,
	.rx_bytes = 1290000,
	.tx_bytes = 466944,
	.rx_bps = 1200000,
	.tx_bps = 34000 };
static char *office_warnings[] = { (char *)(uintptr_t) "PostUp is not run; a systemd drop-in does the same" };

static struct rpc_tunnel office(void)
{
	return (struct rpc_tunnel){ .name = "office",
		.display_name = "B\xc3\xbcro",
		.profile = "office",
		.state = RPC_STATE_UP,
		.verified = RPC_VERIFIED_FULL,
		.reason = RPC_REASON_UDP_SILENT,
		.interface = "office",
		.backend = RPC_BACKEND_USERSPACE,
		.carrier = CARRIER_TCP,
		.transport = TRANSPORT_AUTO,
		.mtu = 1420,
		.since = 1796072560,
		.udp = RPC_UDP_BLOCKED,
		.warnings = { office_warnings, 1 },
		.peers = &office_peer,
		.peer_count = 1,
		.peers_total = 1 };
}

static void test_status(void **state)
{
	static const struct {
		struct status_style style;
		const char *text;
	} table[] = {
		{ { 0, false, 1796080000 },
			"office is up over TCP: this network blocks UDP (verified: full).\n"
			"  warning      PostUp is not run; a systemd drop-in does the same\n"
			"  name         B\xc3\xbcro\n"
			"  interface    office, MTU 1420, userspace\n"
			"  transport    auto; UDP here: blocked\n"
			"  for          2 h 4 min\n"
			"  peer         3vPzZQRTvN6mkLTNmMZxvRPjW5D6C8Jq6qUzWmQhP3Y=\n"
			"    endpoint   [2001:db8:85a3::8a2e:370:7334]:51820 (TCP)\n"
			"    handshake  12 s ago\n"
			"    round trip 23 ms\n"
			"    received   1.23 MiB, now 1.20 Mbit/s\n"
			"    sent       456 KiB, now 34.0 kbit/s\n" },
		{ { 80, true, 1796080000 },
			"office is \033[32mup\033[0m over TCP: this network blocks UDP (verified: full).\n"
			"  warning      PostUp is not run; a systemd drop-in does the same\n"
			"  name         B\xc3\xbcro\n"
			"  interface    office, MTU 1420, userspace\n"
			"  transport    auto; UDP here: blocked\n"
			"  for          2 h 4 min\n"
			"  peer         3vPzZQRTvN6mkLTNmMZxvRPjW5D6C8Jq6qUzWmQhP3Y=\n"
			"    endpoint   [2001:db8:85a3::8a2e:370:7334]:51820 (TCP)\n"
			"    handshake  12 s ago\n"
			"    round trip 23 ms\n"
			"    received   1.23 MiB, now 1.20 Mbit/s\n"
			"    sent       456 KiB, now 34.0 kbit/s\n" },
		{ { 40, false, 1796080000 }, "office is up over TCP: this network\n"
					     "  blocks UDP (verified: full).\n"
					     "  warning      PostUp is not run; a\n"
					     "               systemd drop-in does the\n"
					     "               same\n"
					     "  name         B\xc3\xbcro\n"
					     "  interface    office, MTU 1420,\n"
					     "               userspace\n"
					     "  transport    auto; UDP here: blocked\n"
					     "  for          2 h 4 min\n"
					     "  peer         3vPzZQRTvN6mkLTNmMZxvR...\n"
					     "    endpoint   [2001:db8:85a3::8a2e:370:7334]:51820\n"
					     "               (TCP)\n"
					     "    handshake  12 s ago\n"
					     "    round trip 23 ms\n"
					     "    received   1.23 MiB, now 1.20 Mbit/s\n"
					     "    sent       456 KiB, now 34.0 kbit/s\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct rpc_tunnel tunnel = office();
		struct text text = { 0 };

		status_text_tunnel(&tunnel, &table[i].style, &text);
		check(&text, table[i].text);
	}
}

/* One line for what is down, an empty line around what is not, each peer's state where there are several, and
 * what a peer that never answered shows. */
static void test_status_of_several(void **state)
{
	struct rpc_peer peers[] = { { .public_key = "A",
					    .endpoint = "192.0.2.1:1",
					    .carrier = CARRIER_UDP,
					    .state = RPC_STATE_UP,
					    .last_handshake = 1796080005 },
		{ .public_key = "B",
			.name = "Anna's laptop",
			.state = RPC_STATE_CONNECTING,
			.cause = RPC_CAUSE_PEER_UNREACHABLE } };
	struct rpc_tunnel tunnels[] = { { .name = "a" }, { .name = "b" },
		{ .name = "hub",
			.state = RPC_STATE_CONNECTING,
			.interface = "hub",
			.backend = RPC_BACKEND_USERSPACE,
			.backend_reason = "chosen",
			.transport = TRANSPORT_UDP,
			.peers = peers,
			.peer_count = 2,
			.peers_total = 9 },
		{ .name = "z" } };
	struct rpc_status status = { .tunnels = tunnels, .tunnel_count = 4 };
	struct status_style style = { 0, false, 1796080000 };
	struct text text = { 0 };

	(void)state;
	status_text(&status, &style, &text);
	check(&text, "a is down.\n"
		     "b is down.\n"
		     "\n"
		     "hub is connecting.\n"
		     "  interface    hub\n"
		     "  backend      userspace, because: chosen\n"
		     "  transport    udp; UDP here: unknown\n"
		     "  peer         A\n"
		     "    state      up over UDP\n"
		     "    endpoint   192.0.2.1:1 (UDP)\n"
		     "    handshake  0 s ago\n"
		     "    received   0 B, now 0 bit/s\n"
		     "    sent       0 B, now 0 bit/s\n"
		     "  peer         B\n"
		     "    name       Anna's laptop\n"
		     "    state      connecting; nothing comes back from the peer\n"
		     "    handshake  none yet\n"
		     "    received   0 B, now 0 bit/s\n"
		     "    sent       0 B, now 0 bit/s\n"
		     "  peers        7 more\n"
		     "\n"
		     "z is down.\n");
	status.tunnel_count = 0;
	status_text(&status, &style, &text);
	check(&text, "There is no tunnel yet; `wgtcp-cli import FILE` adds one.\n");
}

static void test_list(void **state)
{
	struct rpc_entry entries[] = {
		{ .name = "office",
			.display_name = "B\xc3\xbcro",
			.file = "/etc/wgtcp/office.conf",
			.state = RPC_STATE_UP,
			.auto_connect = true },
		{ .name = "wg0",
			.display_name = "wg0",
			.file = "/etc/wireguard/wg0.conf",
			.transport = TRANSPORT_TCP },
		{ .name = "bad", .file = "/etc/wgtcp/bad.conf", .error = "line 3: 'Adress' is not a key\n" }
	};
	struct rpc_list list = { .tunnels = entries, .tunnel_count = 3 };
	struct text text = { 0 };

	(void)state;
	list_text(&list, &(struct status_style){ 0 }, &text);
	check(&text, "office  up, auto, \"B\xc3\xbcro\", connects by itself, /etc/wgtcp/office.conf\n"
		     "wg0     down, tcp, /etc/wireguard/wg0.conf\n"
		     "bad     unusable: line 3: 'Adress' is not a key?, /etc/wgtcp/bad.conf\n");
	list_text(&list, &(struct status_style){ .width = 30, .colour = true }, &text);
	check(&text, "office  \033[32mup\033[0m, auto, \"B\xc3\xbcro\",\n"
		     "        connects by itself,\n"
		     "        /etc/wgtcp/office.conf\n"
		     "wg0     down, tcp,\n"
		     "        /etc/wireguard/wg0.conf\n"
		     "bad     unusable: line 3:\n"
		     "        'Adress' is not a\n"
		     "        key?,\n"
		     "        /etc/wgtcp/bad.conf\n");
}

static void test_characters(void **state)
{
	static const struct {
		const char *text;
		size_t len;
	} table[] = {
		{ "a", 1 },
		{ "\xc3\xbc", 2 },
		{ "\xe2\x82\xac", 3 },
		{ "\xf0\x9f\x98\x80", 4 },
		{ "\xc3", 0 },
		{ "\xc0\x80", 0 },
		{ "\xe0\x80\x80", 0 },
		{ "\xed\xa0\x80", 0 },
		{ "\xf4\x90\x80\x80", 0 },
		{ "\xf5\x80\x80\x80", 0 },
		{ "\x80", 0 },
		{ "\xff", 0 },
		{ "\xe2\x82", 0 },
	};
	struct text text = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		assert_int_equal(utf8_character_len(table[i].text), table[i].len);
	assert_int_equal(text_columns("B\xc3\xbcro"), 4);
	text_add_clean(&text, "a\033[31m\r\xc2\x9b\x7f\tB\xc3\xbcro");
	check(&text, "a?[31m???\tB\xc3\xbcro");
}

/* Square, with a quiet zone, in both alphabets; and refused when it does not fit. */
static void test_qr(void **state)
{
	static char large[3000];
	struct text text = { 0 };
	size_t lines = 0;

	(void)state;
	assert_true(qr_write("[Interface]\nPrivateKey = x\n", false, false, &text));
	for (size_t i = 0; i < text.len; i++)
		lines += text.bytes[i] == '\n';
	assert_int_equal(text.len, lines * (2 * lines + 1));
	assert_int_equal(lines, 25 + 4); /* version 2, and two modules of light on each side */
	assert_memory_equal(text.bytes, "##########", 10);
	/* The finder pattern: seven dark modules, below two light rows. */
	assert_memory_equal(text.bytes + 2 * (2 * lines + 1), "####              ##", 20);
	text_free(&text);
	assert_true(qr_write("[Interface]\nPrivateKey = x\n", true, true, &text));
	assert_memory_equal(text.bytes, "\033[97;40m\xe2\x96\x88", 11);
	text_free(&text);
	memset(large, 'a', sizeof(large) - 1);
	assert_false(qr_write(large, true, false, &text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_args),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_durations),
		cmocka_unit_test(test_suggestions),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_figures),
		cmocka_unit_test(test_sentences),
		cmocka_unit_test(test_status),
		cmocka_unit_test(test_status_of_several),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_characters),
		cmocka_unit_test(test_qr),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
