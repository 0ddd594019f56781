/* SPDX-License-Identifier: MIT */
/* States, figures and news as people read them. */
#include "gui/model/diagnosis.h"
#include "gui/model/news.h"
#include "gui/model/service.h"
#include "gui/model/units.h"
#include "gui/model/words.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

static void test_a_sentence_for_every_state(void **state)
{
	static const struct {
		struct rpc_tunnel tunnel;
		const char *words;
	} rows[] = {
		{ { .state = RPC_STATE_DOWN, .cause = RPC_CAUSE_PEER_UNREACHABLE }, "Not connected" },
		{ { .state = RPC_STATE_CONNECTING }, "Connecting…" },
		{ { .state = RPC_STATE_CONNECTING, .cause = RPC_CAUSE_NO_NETWORK },
			"Connecting…: there is no network" },
		{ { .state = RPC_STATE_VERIFYING, .carrier = CARRIER_UDP }, "Checking that data passes…" },
		{ { .state = RPC_STATE_UP, .carrier = CARRIER_UDP, .reason = RPC_REASON_UDP_WORKS },
			"Connected over UDP" },
		{ { .state = RPC_STATE_UP, .carrier = CARRIER_TCP, .reason = RPC_REASON_UDP_SILENT },
			"Connected over TCP: this network blocks UDP" },
		{ { .state = RPC_STATE_UP, .carrier = CARRIER_TCP, .reason = RPC_REASON_CHOSEN },
			"Connected over TCP, as you chose" },
		{ { .state = RPC_STATE_UP, .carrier = CARRIER_TCP, .reason = RPC_REASON_REMEMBERED },
			"Connected over TCP: this network blocked UDP before" },
		{ { .state = RPC_STATE_UP, .carrier = CARRIER_UDP, .reason = RPC_REASON_REMEMBERED },
			"Connected over UDP" },
		{ { .state = RPC_STATE_UP }, "Connected" },
		{ { .state = RPC_STATE_DEGRADED, .carrier = CARRIER_UDP, .reason = RPC_REASON_UDP_NO_LARGE },
			"Connected over UDP, but not everything passes: here UDP loses full-size packets" },
		{ { .state = RPC_STATE_RECONNECTING, .cause = RPC_CAUSE_NO_NETWORK },
			"Connection lost, reconnecting…: there is no network" },
		{ { .state = RPC_STATE_FAILED, .cause = RPC_CAUSE_CAPTIVE_PORTAL },
			"Could not connect: this network wants you to log in first" },
	};
	char out[WORDS_LEN];

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		words_sentence(&rows[i].tunnel, NULL, out, sizeof(out));
		assert_string_equal(out, rows[i].words);
	}
}

static void test_a_step_says_what_is_tried(void **state)
{
	struct rpc_tunnel tunnel = { .state = RPC_STATE_CONNECTING };
	enum rpc_step step = RPC_STEP_TRYING_TCP;
	char out[WORDS_LEN];

	(void)state;
	words_sentence(&tunnel, &step, out, sizeof(out));
	assert_string_equal(out, "Trying TCP…");
}

/* A word that nobody translated into a sentence would leave a hole in the window. */
static void test_no_word_of_the_protocol_is_without_words(void **state)
{
	(void)state;
	for (int i = RPC_CAUSE_NONE + 1; rpc_cause_words[i]; i++) {
		assert_true(words_cause((enum rpc_cause)i)[0]);
		assert_true(words_cure((enum rpc_cause)i)[0]);
	}
	for (int i = RPC_REASON_CHOSEN; rpc_reason_words[i]; i++) {
		if (i != RPC_REASON_UDP_WORKS)
			assert_true(words_reason((enum rpc_reason)i, CARRIER_TCP)[0]);
	}
	for (int i = RPC_BACKEND_NONE + 1; rpc_backend_words[i]; i++)
		assert_true(words_backend((enum rpc_backend)i)[0]);
	for (int i = 0; rpc_verified_words[i]; i++)
		assert_true(words_verified((enum rpc_verified)i)[0]);
	for (int i = 0; rpc_step_words[i]; i++)
		assert_true(words_step((enum rpc_step)i)[0]);
	for (int i = 0; rpc_transport_words[i]; i++)
		assert_true(words_transport((enum transport)i)[0]);
}

static void test_shapes_and_switches(void **state)
{
	static const struct {
		enum rpc_state state;
		enum words_shape shape;
		bool on, passes;
	} rows[] = {
		{ RPC_STATE_DOWN, WORDS_SHAPE_OFF, false, false },
		{ RPC_STATE_CONNECTING, WORDS_SHAPE_BUSY, true, false },
		{ RPC_STATE_VERIFYING, WORDS_SHAPE_BUSY, true, false },
		{ RPC_STATE_UP, WORDS_SHAPE_ON, true, true },
		{ RPC_STATE_DEGRADED, WORDS_SHAPE_ATTENTION, true, true },
		{ RPC_STATE_RECONNECTING, WORDS_SHAPE_BUSY, true, false },
		{ RPC_STATE_FAILED, WORDS_SHAPE_ATTENTION, false, false },
	};

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		assert_int_equal(words_shape(rows[i].state), rows[i].shape);
		assert_int_equal(words_is_on(rows[i].state), rows[i].on);
		assert_int_equal(words_passes(rows[i].state), rows[i].passes);
	}
}

static void test_figures(void **state)
{
	static const struct {
		void (*write)(uint64_t value, char *out, size_t size);
		uint64_t value;
		const char *words;
	} rows[] = {
		{ units_bytes, 0, "0 B" },
		{ units_bytes, 1023, "1023 B" },
		{ units_bytes, 1024, "1.0 KiB" },
		{ units_bytes, 102400, "100 KiB" },
		{ units_bytes, 1048575, "1.0 MiB" },
		{ units_bytes, UINT64_MAX, "16.0 EiB" },
		{ units_rate, 0, "0 bit/s" },
		{ units_rate, 999, "999 bit/s" },
		{ units_rate, 1200000, "1.2 Mbit/s" },
		{ units_rate, 999999, "1.0 Mbit/s" },
		{ units_rate, 123456789, "123 Mbit/s" },
		{ units_rate_short, 0, "0" },
		{ units_rate_short, 2500, "2.5k" },
		{ units_rate_short, 20000000, "20M" },
		{ units_rate_short, 500000, "500k" },
		{ units_rtt, 420, "0.4 ms" },
		{ units_rtt, 9949, "9.9 ms" },
		{ units_rtt, 9950, "10 ms" },
		{ units_rtt, 23400, "23 ms" },
		{ units_rtt, 1250000, "1.2 s" },
		{ units_duration, 0, "0 s" },
		{ units_duration, 59, "59 s" },
		{ units_duration, 125, "2 min 5 s" },
		{ units_duration, 3840, "1 h 4 min" },
		{ units_duration, 266400, "3 d 2 h" },
	};
	char out[UNITS_LEN];

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		rows[i].write(rows[i].value, out, sizeof(out));
		assert_string_equal(out, rows[i].words);
	}
}

static void test_ago(void **state)
{
	static const struct {
		uint64_t then, now;
		const char *words;
	} rows[] = {
		{ 0, 1000, "never" },
		{ 999, 1000, "just now" },
		{ 1010, 1000, "just now" }, /* the clock went back */
		{ 992, 1000, "8 s ago" },
		{ 1000, 8200, "2 h 0 min ago" },
	};
	char out[UNITS_LEN];

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		units_ago(rows[i].then, rows[i].now, out, sizeof(out));
		assert_string_equal(out, rows[i].words);
	}
}

/* One tunnel's life: each change is told once, and what was so before is not told at all. */
static void test_news_are_told_once(void **state)
{
	static const struct {
		enum rpc_state state;
		enum carrier carrier;
		enum rpc_cause cause;
		enum news_kind news;
	} rows[] = {
		{ RPC_STATE_UP, CARRIER_UDP, RPC_CAUSE_NONE, NEWS_NONE }, /* it was up when we started */
		{ RPC_STATE_UP, CARRIER_UDP, RPC_CAUSE_NONE, NEWS_NONE },
		{ RPC_STATE_VERIFYING, CARRIER_TCP, RPC_CAUSE_NONE, NEWS_NONE },
		{ RPC_STATE_UP, CARRIER_TCP, RPC_CAUSE_NONE, NEWS_CARRIER },
		{ RPC_STATE_DEGRADED, CARRIER_TCP, RPC_CAUSE_NONE, NEWS_NONE },
		{ RPC_STATE_UP, CARRIER_TCP, RPC_CAUSE_NONE, NEWS_NONE },
		{ RPC_STATE_RECONNECTING, CARRIER_NONE, RPC_CAUSE_NO_NETWORK, NEWS_LOST },
		{ RPC_STATE_RECONNECTING, CARRIER_NONE, RPC_CAUSE_PEER_UNREACHABLE, NEWS_NONE },
		{ RPC_STATE_FAILED, CARRIER_NONE, RPC_CAUSE_PEER_UNREACHABLE, NEWS_NONE }, /* told as lost */
		{ RPC_STATE_CONNECTING, CARRIER_NONE, RPC_CAUSE_NONE, NEWS_NONE },
		{ RPC_STATE_UP, CARRIER_UDP, RPC_CAUSE_NONE, NEWS_CONNECTED },
		{ RPC_STATE_DOWN, CARRIER_NONE, RPC_CAUSE_NONE, NEWS_NONE }, /* as the person wanted */
		{ RPC_STATE_CONNECTING, CARRIER_NONE, RPC_CAUSE_NONE, NEWS_NONE },
		{ RPC_STATE_FAILED, CARRIER_NONE, RPC_CAUSE_PEER_UNREACHABLE, NEWS_FAILED },
		{ RPC_STATE_CONNECTING, CARRIER_NONE, RPC_CAUSE_NONE, NEWS_NONE },
		{ RPC_STATE_FAILED, CARRIER_NONE, RPC_CAUSE_CAPTIVE_PORTAL, NEWS_PORTAL },
		{ RPC_STATE_FAILED, CARRIER_NONE, RPC_CAUSE_CAPTIVE_PORTAL, NEWS_NONE },
		{ RPC_STATE_UP, CARRIER_UDP, RPC_CAUSE_NONE, NEWS_CONNECTED },
		{ RPC_STATE_RECONNECTING, CARRIER_NONE, RPC_CAUSE_CAPTIVE_PORTAL,
			NEWS_PORTAL }, /* moved to a hotel */
	};
	struct news news = { 0 };

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct rpc_tunnel tunnel = {
			.state = rows[i].state, .carrier = rows[i].carrier, .cause = rows[i].cause
		};
		enum news_kind kind = news_step(&news, &tunnel);

		if (kind != rows[i].news)
			fail_msg("row %zu: news %d instead of %d", i, kind, rows[i].news);
	}
}

static void test_news_have_words(void **state)
{
	struct rpc_tunnel tunnel = {
		.state = RPC_STATE_UP, .carrier = CARRIER_TCP, .reason = RPC_REASON_UDP_SILENT
	};
	char title[NEWS_TITLE_LEN], body[NEWS_BODY_LEN];

	(void)state;
	news_words(NEWS_CARRIER, "Office", &tunnel, title, body);
	assert_string_equal(title, "Office moved to TCP");
	assert_string_equal(body, "Connected over TCP: this network blocks UDP");
	news_words(NEWS_PORTAL, "Office", &tunnel, title, body);
	assert_string_equal(title, "This network wants you to log in");
	assert_non_null(strstr(body, "login page"));
}

static void test_every_way_to_miss_the_service_has_its_cure(void **state)
{
	static const struct {
		int err;
		enum service_state state;
		const char *command;
	} rows[] = {
		{ -ENOENT, SERVICE_NOT_RUNNING, "sudo systemctl start wgtcpd" },
		{ -ECONNREFUSED, SERVICE_NOT_RUNNING, "sudo systemctl start wgtcpd" },
		{ -EPIPE, SERVICE_LOST, "sudo systemctl restart wgtcpd" },
		{ -EACCES, SERVICE_FORBIDDEN, "" }, /* service_group_command has the account's name */
		{ -EPROTO, SERVICE_INCOMPATIBLE, "sudo systemctl restart wgtcpd" },
		{ -EIO, SERVICE_BROKEN, "journalctl -u wgtcpd" },
	};
	char command[100];

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct service_words words = service_words(rows[i].state);

		assert_int_equal(service_state_of(rows[i].err), rows[i].state);
		assert_true(words.title[0] && words.text[0]);
		assert_string_equal(words.command, rows[i].command);
	}
	service_group_command("mia", command, sizeof(command));
	assert_string_equal(command, "sudo usermod -aG wgtcp mia");
}

static void test_a_line_of_a_diagnosis(void **state)
{
	static const struct {
		struct rpc_check check;
		const char *text;
	} cases[] = {
		{ { .text = "the server answers", .subject = "vpn.example:443" },
			"vpn.example:443: the server answers" },
		{ { .text = "eth0: connected" }, "eth0: connected" },
		{ { .text = "an address and a route", .cure = "nothing need be done" },
			"An address and a route\n\342\206\222 Nothing need be done" },
	};
	char text[DIAGNOSIS_TEXT_LEN];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		diagnosis_text(&cases[i].check, text, sizeof(text));
		assert_string_equal(text, cases[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_sentence_for_every_state),
		cmocka_unit_test(test_a_step_says_what_is_tried),
		cmocka_unit_test(test_no_word_of_the_protocol_is_without_words),
		cmocka_unit_test(test_shapes_and_switches),
		cmocka_unit_test(test_figures),
		cmocka_unit_test(test_ago),
		cmocka_unit_test(test_news_are_told_once),
		cmocka_unit_test(test_news_have_words),
		cmocka_unit_test(test_every_way_to_miss_the_service_has_its_cure),
		cmocka_unit_test(test_a_line_of_a_diagnosis),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
