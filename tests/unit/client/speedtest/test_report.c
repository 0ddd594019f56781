/* SPDX-License-Identifier: MIT */
/* What iperf3 says, as read. */
#include "tests/contract/cmocka_all.h"

#include "client/speedtest/report.h"
#include "client/speedtest/test.h"

#include <stdlib.h>
#include <string.h>

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

static struct speedtest_report read_text(const char *text, enum speedtest_direction direction)
{
	struct speedtest_report report;

	speedtest_report_read(text, strlen(text), direction, &report);
	return report;
}

static void both_ways_of_tcp(void **state)
{
	static const char text[] =
		"{\"start\":{\"version\":\"iperf 3.12\"},\"intervals\":[],\"end\":{\"streams\":[],"
		"\"sum_sent\":{\"bytes\":9,\"bits_per_second\":72.5,\"retransmits\":36,\"sender\":true},"
		"\"sum_received\":{\"bytes\":8,\"bits_per_second\":64.4,\"sender\":true},"
		"\"sum_sent_bidir_reverse\":{\"bytes\":5,\"bits_per_second\":40,\"retransmits\":10},"
		"\"sum_received_bidir_reverse\":{\"bytes\":4,\"bits_per_second\":31.9},"
		"\"cpu_utilization_percent\":{\"host_total\":80.39,\"remote_total\":6.2}}}";
	struct speedtest_report report = read_text(text, SPEEDTEST_BOTH);

	(void)state;
	assert_int_equal(report.trouble, SPEEDTEST_FINE);
	assert_int_equal(report.up.bps, 64);
	assert_int_equal(report.up.bytes, 8);
	assert_int_equal(report.up.retransmits, 36);
	assert_int_equal(report.down.bps, 32);
	assert_int_equal(report.down.retransmits, 10);
	assert_false(report.up.has_loss);
	assert_int_equal(report.cpu_here_permille, 804);
	assert_int_equal(report.cpu_there_permille, 62);
	/* The same text of a run one way. */
	report = read_text(text, SPEEDTEST_DOWN);
	assert_int_equal(report.down.bps, 64);
	assert_false(report.up.present);
}

static void datagrams(void **state)
{
	struct speedtest_report report =
		read_text("{\"end\":{\"sum\":{\"jitter_ms\":0.0165,\"lost_packets\":5,\"packets\":100},"
			  "\"sum_sent\":{\"bits_per_second\":1000},\"sum_received\":{\"bits_per_second\":950,"
			  "\"lost_packets\":5}}}",
			SPEEDTEST_UP);

	(void)state;
	assert_int_equal(report.trouble, SPEEDTEST_FINE);
	assert_int_equal(report.up.bps, 950);
	assert_int_equal(report.up.packets, 100);
	assert_int_equal(report.up.lost, 5);
	assert_int_equal(report.up.jitter_us, 17);
	assert_false(report.up.has_retransmits);
}

static void trouble(void **state)
{
	static const struct {
		const char *text;
		enum speedtest_trouble want;
	} table[] = {
		{ "{\"error\":\"unable to connect to server: Connection refused\"}", SPEEDTEST_NO_SERVER },
		{ "{\"error\":\"unable to connect to server: Connection timed out\"}", SPEEDTEST_NO_ANSWER },
		{ "{\"error\":\"error - the server is busy running a test. try again later\"}",
			SPEEDTEST_BUSY },
		{ "{\"error\":\"error - control socket has closed unexpectedly\"}", SPEEDTEST_LOST },
		{ "{\"error\":\"error - received an unknown control message\"}", SPEEDTEST_NOT_IPERF },
		{ "{\"error\":\"something new\"}", SPEEDTEST_OTHER },
		{ "", SPEEDTEST_NOT_IPERF },
		{ "iperf3: unrecognized option '--bidir'", SPEEDTEST_NOT_IPERF },
		{ "{\"end\":{\"sum_received\":{\"bits_per_second\":", SPEEDTEST_NOT_IPERF },
		{ "[1,2]", SPEEDTEST_NOT_IPERF },
		{ "{\"end\":{}}", SPEEDTEST_NOT_IPERF },
		{ "{\"end\":{\"sum_received\":{\"bits_per_second\":-1}}}", SPEEDTEST_NOT_IPERF },
		{ "{\"end\":{\"sum_received\":{\"bits_per_second\":1e300}}}", SPEEDTEST_NOT_IPERF },
		{ "{\"end\":{\"sum_received\":{\"bits_per_second\":\"9\"}}}", SPEEDTEST_NOT_IPERF },
		{ "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", SPEEDTEST_NOT_IPERF },
	};

	(void)state;
	for (size_t i = 0; i < ROWS(table); i++)
		if (read_text(table[i].text, SPEEDTEST_DOWN).trouble != table[i].want)
			fail_msg("%s", table[i].text);
}

static void words_are_printable(void **state)
{
	struct speedtest_report report = read_text("{\"error\":\"a\\u001b[2Jb\\u00e9\"}", SPEEDTEST_UP);

	(void)state;
	assert_string_equal(report.text, "a?[2Jb??");
}

static void too_long(void **state)
{
	size_t len = SPEEDTEST_REPORT_MAX + 1;
	char *text = malloc(len);
	struct speedtest_report report;

	(void)state;
	assert_non_null(text);
	memset(text, ' ', len);
	speedtest_report_read(text, len, SPEEDTEST_UP, &report);
	assert_int_equal(report.trouble, SPEEDTEST_NOT_IPERF);
	free(text);
}

/* Each kind of trouble is a sentence with place and cure. */
static void explained(void **state)
{
	static const struct speedtest_target target = { "wg0", "10.8.0.2", "10.8.0.1", 5201 };

	(void)state;
	for (int kind = SPEEDTEST_NO_SERVER; kind <= SPEEDTEST_OTHER; kind++) {
		char sentence[400];

		speedtest_explain((enum speedtest_trouble)kind, "", &target, sentence, sizeof(sentence));
		assert_true(strlen(sentence) > 40);
		if (kind != SPEEDTEST_NO_PROGRAM)
			assert_non_null(strstr(sentence, "10.8.0.1"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_ways_of_tcp),
		cmocka_unit_test(datagrams),
		cmocka_unit_test(trouble),
		cmocka_unit_test(words_are_printable),
		cmocka_unit_test(too_long),
		cmocka_unit_test(explained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
