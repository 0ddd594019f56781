/* SPDX-License-Identifier: MIT */
/* What one run of `iperf3 --json` says. The text comes from a program that has spoken with a server, so
 * nothing in it is trusted: it is bounded in length and depth, and what is missing, negative or not finite
 * counts as not said. Pure. Source: iperf3(1); the JSON of iperf 3.1 to 3.17. */
#ifndef WGTCP_CLIENT_SPEEDTEST_REPORT_H
#define WGTCP_CLIENT_SPEEDTEST_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* More than that is no honest report: ours asks for no intervals. */
#define SPEEDTEST_REPORT_MAX (1u << 20)

enum speedtest_direction { SPEEDTEST_DOWN, SPEEDTEST_UP, SPEEDTEST_BOTH };

/* One way, as its receiver saw it. */
struct speedtest_flow {
	bool present;
	uint64_t bps, bytes;
	bool has_retransmits; /* TCP, and the sender's system counts them */
	uint64_t retransmits;
	bool has_loss; /* UDP */
	uint64_t packets, lost;
	uint32_t jitter_us;
};

enum speedtest_trouble {
	SPEEDTEST_FINE,
	SPEEDTEST_NO_SERVER,  /* refused: nothing listens there */
	SPEEDTEST_NO_ANSWER,  /* nothing comes back from there */
	SPEEDTEST_BUSY,       /* the server is in another test */
	SPEEDTEST_LOST,       /* the connection to the server broke in the middle */
	SPEEDTEST_NO_PROGRAM, /* there is no iperf3 on this machine */
	SPEEDTEST_NOT_IPERF,  /* what answers there, or what runs here, does not speak iperf3's language */
	SPEEDTEST_ENDLESS,    /* it did not end when it should have */
	SPEEDTEST_OTHER,      /* see text */
};

struct speedtest_report {
	struct speedtest_flow down, up;
	bool has_cpu;
	uint32_t cpu_here_permille, cpu_there_permille; /* of one processor, iperf3's own */
	enum speedtest_trouble trouble;
	char text[200]; /* iperf3's own words about it, printable; "" if there are none */
};

/* Always fills *out in; what is no report is trouble SPEEDTEST_NOT_IPERF. */
void speedtest_report_read(
	const char *text, size_t len, enum speedtest_direction direction, struct speedtest_report *out);
/* iperf3's words as trouble. */
enum speedtest_trouble speedtest_trouble_of(const char *error);

#endif
