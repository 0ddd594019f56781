/* SPDX-License-Identifier: MIT */
/* Used by run.c; any thread. */
#include "client/speedtest/report.h"

#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Ours lie four deep. */
#define DEPTH_MAX 16
/* Nothing that anybody measures, and far from where a number stops fitting. */
#define NUMBER_MAX 1e15

static struct json_object *member(struct json_object *object, const char *key)
{
	struct json_object *value = NULL;

	if (!json_object_is_type(object, json_type_object))
		return NULL;
	json_object_object_get_ex(object, key, &value);
	return value;
}

/* False, and *out as it was, when it is not said. */
static bool read_number(struct json_object *object, const char *key, double *out)
{
	struct json_object *value = member(object, key);
	double number;

	if (!json_object_is_type(value, json_type_double) && !json_object_is_type(value, json_type_int))
		return false;
	number = json_object_get_double(value);
	if (!isfinite(number) || number < 0 || number > NUMBER_MAX)
		return false;
	*out = number;
	return true;
}

static uint64_t whole(struct json_object *object, const char *key)
{
	double number = 0;

	read_number(object, key, &number);
	return (uint64_t)(number + 0.5);
}

/* sent, received: names of the sums of one way; either: of iperf3's own choice between the two. */
static void read_flow(struct json_object *end, const char *sent, const char *received, const char *either,
	struct speedtest_flow *out)
{
	struct json_object *by_sender = member(end, sent), *by_receiver = member(end, received);
	struct json_object *udp = member(end, either);
	struct speedtest_flow flow = { 0 };
	double number = 0;

	if (!read_number(by_receiver, "bits_per_second", &number))
		return;
	flow.present = true;
	flow.bps = (uint64_t)(number + 0.5);
	flow.bytes = whole(by_receiver, "bytes");
	flow.has_retransmits = read_number(by_sender, "retransmits", &number);
	if (flow.has_retransmits)
		flow.retransmits = (uint64_t)number;
	if (member(udp, "lost_packets")) {
		flow.has_loss = true;
		flow.packets = whole(udp, "packets");
		flow.lost = whole(udp, "lost_packets");
		if (flow.lost > flow.packets)
			flow.lost = flow.packets;
		number = 0;
		if (read_number(udp, "jitter_ms", &number) && number < 1e6)
			flow.jitter_us = (uint32_t)(number * 1000 + 0.5);
		/* What did not arrive is no throughput, though older versions count it. */
		if (!member(by_receiver, "lost_packets") && flow.packets)
			flow.bps = flow.bps / flow.packets * (flow.packets - flow.lost);
	}
	*out = flow;
}

static bool read_permille(struct json_object *object, const char *key, uint32_t *out)
{
	double percent;

	if (!read_number(object, key, &percent) || percent > 100000)
		return false;
	*out = (uint32_t)(percent * 10 + 0.5);
	return true;
}

static void read_words(struct json_object *error, char *out, size_t size)
{
	const char *text = json_object_get_string(error);
	size_t i;

	for (i = 0; text[i] && i < size - 1; i++)
		out[i] = text[i] >= ' ' && text[i] < 127 ? text[i] : '?';
	out[i] = 0;
}

enum speedtest_trouble speedtest_trouble_of(const char *error)
{
	static const struct {
		const char *words;
		enum speedtest_trouble trouble;
	} known[] = {
		{ "Connection refused", SPEEDTEST_NO_SERVER },
		{ "server is busy", SPEEDTEST_BUSY },
		{ "access denied", SPEEDTEST_BUSY },
		{ "timed out", SPEEDTEST_NO_ANSWER },
		{ "No route to host", SPEEDTEST_NO_ANSWER },
		{ "Network is unreachable", SPEEDTEST_NO_ANSWER },
		{ "Operation now in progress", SPEEDTEST_NO_ANSWER },
		{ "No such device", SPEEDTEST_LOST },
		{ "Cannot assign requested address", SPEEDTEST_LOST },
		{ "closed unexpectedly", SPEEDTEST_LOST },
		{ "server has terminated", SPEEDTEST_LOST },
		{ "reset by peer", SPEEDTEST_LOST },
		{ "Broken pipe", SPEEDTEST_LOST },
		{ "idle timeout", SPEEDTEST_LOST },
		{ "control message", SPEEDTEST_NOT_IPERF },
		{ "unable to receive", SPEEDTEST_NOT_IPERF },
		{ "unable to read", SPEEDTEST_NOT_IPERF },
		{ "unable to exchange", SPEEDTEST_NOT_IPERF },
		{ "protocol", SPEEDTEST_NOT_IPERF },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strstr(error, known[i].words))
			return known[i].trouble;
	}
	return SPEEDTEST_OTHER;
}

static void read_root(
	struct json_object *root, enum speedtest_direction direction, struct speedtest_report *report)
{
	struct json_object *end = member(root, "end"), *error = member(root, "error");
	struct json_object *cpu = member(end, "cpu_utilization_percent");

	if (json_object_is_type(error, json_type_string)) {
		read_words(error, report->text, sizeof(report->text));
		report->trouble = speedtest_trouble_of(report->text);
		return;
	}
	switch (direction) {
	case SPEEDTEST_DOWN:
		read_flow(end, "sum_sent", "sum_received", "sum", &report->down);
		break;
	case SPEEDTEST_UP:
		read_flow(end, "sum_sent", "sum_received", "sum", &report->up);
		break;
	case SPEEDTEST_BOTH:
		read_flow(end, "sum_sent", "sum_received", "sum", &report->up);
		read_flow(end, "sum_sent_bidir_reverse", "sum_received_bidir_reverse", "sum_bidir_reverse",
			&report->down);
		break;
	}
	report->has_cpu = read_permille(cpu, "host_total", &report->cpu_here_permille);
	read_permille(cpu, "remote_total", &report->cpu_there_permille);
	if ((direction != SPEEDTEST_UP && !report->down.present) ||
		(direction != SPEEDTEST_DOWN && !report->up.present))
		report->trouble = SPEEDTEST_NOT_IPERF;
}

void speedtest_report_read(
	const char *text, size_t len, enum speedtest_direction direction, struct speedtest_report *out)
{
	struct speedtest_report report = { .trouble = SPEEDTEST_NOT_IPERF };
	struct json_tokener *tokener = len <= SPEEDTEST_REPORT_MAX ? json_tokener_new_ex(DEPTH_MAX) : NULL;
	struct json_object *root = NULL;

	if (tokener)
		root = json_tokener_parse_ex(tokener, text, (int)len);
	if (json_object_is_type(root, json_type_object)) {
		report.trouble = SPEEDTEST_FINE;
		read_root(root, direction, &report);
	}
	json_object_put(root);
	if (tokener)
		json_tokener_free(tokener);
	*out = report;
}
