/* SPDX-License-Identifier: MIT */
/* Used by test.c. libiperf is not linked: it ends the process on an error and keeps state from run to run. */
#include "client/speedtest/run.h"

#include "core/port/child.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONNECT_MS "5000"
/* For connecting, for a slow start on the other side, and for handing over results on a line that is full. */
#define EXTRA_MS 15000

struct speedtest_run {
	struct child *child;
	enum speedtest_direction direction;
	uint64_t deadline_ms;
	char *text;
	size_t len, room;
};

int speedtest_run_open(const struct speedtest_target *target, const struct speedtest_order *order,
	uint64_t now_ms, struct speedtest_run **out)
{
	struct speedtest_target to = *target;
	char port[12], streams[12], duration[12], rate[24];
	char *arguments[32] = { "iperf3", "--client", to.address, "--port", port, "--bind", to.source,
		"--bind-dev", to.interface, "--json", "--interval", "0", "--time", duration, "--parallel",
		streams, "--connect-timeout", CONNECT_MS };
	size_t count = 18;
	struct speedtest_run *run = calloc(1, sizeof(*run));
	int err;

	if (!run)
		return -ENOMEM;
	snprintf(port, sizeof(port), "%u", (unsigned)to.port);
	snprintf(streams, sizeof(streams), "%u", (unsigned)order->streams);
	snprintf(duration, sizeof(duration), "%u", (unsigned)order->duration_s);
	snprintf(rate, sizeof(rate), "%llu", (unsigned long long)order->rate_bps);
	if (order->direction == SPEEDTEST_DOWN)
		arguments[count++] = "--reverse";
	else if (order->direction == SPEEDTEST_BOTH)
		arguments[count++] = "--bidir";
	if (order->udp) {
		arguments[count++] = "--udp";
		arguments[count++] = "--bitrate";
		arguments[count++] = rate;
	}
	run->direction = order->direction;
	run->deadline_ms = now_ms + order->duration_s * 1000u + EXTRA_MS;
	err = child_start("iperf3", arguments, &run->child);
	if (err) {
		free(run);
		return err;
	}
	*out = run;
	return 0;
}

int speedtest_run_handle(const struct speedtest_run *run)
{
	return child_handle(run->child);
}

static bool make_room(struct speedtest_run *run)
{
	size_t room = run->room ? 2 * run->room : 8192;
	char *text;

	if (run->len < run->room)
		return true;
	text = realloc(run->text, room);
	if (!text)
		return false;
	run->text = text;
	run->room = room;
	return true;
}

static bool end_with(struct speedtest_report *report, enum speedtest_trouble trouble, const char *text)
{
	*report = (struct speedtest_report){ .trouble = trouble };
	snprintf(report->text, sizeof(report->text), "%s", text);
	return true;
}

bool speedtest_run_step(struct speedtest_run *run, uint64_t now_ms, struct speedtest_report *report)
{
	for (;;) {
		long len;

		if (!make_room(run))
			return end_with(report, SPEEDTEST_OTHER, "memory is short");
		len = child_read(run->child, run->text + run->len, run->room - run->len);
		if (len == -EAGAIN)
			break;
		if (len == 0) {
			speedtest_report_read(run->text, run->len, run->direction, report);
			return true;
		}
		if (len < 0)
			return end_with(report, SPEEDTEST_OTHER, strerror((int)-len));
		run->len += (size_t)len;
		if (run->len > SPEEDTEST_REPORT_MAX)
			return end_with(report, SPEEDTEST_NOT_IPERF, "its report is longer than a megabyte");
	}
	if (now_ms >= run->deadline_ms)
		return end_with(report, SPEEDTEST_ENDLESS, "");
	return false;
}

void speedtest_run_close(struct speedtest_run *run)
{
	if (!run)
		return;
	child_end(run->child);
	free(run->text);
	free(run);
}
