/* SPDX-License-Identifier: MIT */
/* Used by test.c; any thread. */
#include "client/speedtest/verdict.h"

#include <stdio.h>

/* Less than that is what one run differs from the next by. */
#define RATE_PERCENT 15
#define LATENCY_PERCENT 30
/* And nobody feels less than that. */
#define LATENCY_US 10000

static const char *name_of(enum carrier carrier)
{
	return carrier == CARRIER_TCP ? "TCP" : "UDP";
}

static bool is_faster(uint64_t a, uint64_t b)
{
	return a > b && (a - b) * 100 > b * RATE_PERCENT;
}

static bool is_slower_to_answer(const struct speedtest_latency *a, const struct speedtest_latency *b)
{
	return a->p50_us > b->p50_us && a->p50_us - b->p50_us > LATENCY_US &&
	       (uint64_t)(a->p50_us - b->p50_us) * 100 > (uint64_t)b->p50_us * LATENCY_PERCENT;
}

/* +1: a carries more; -1: b does; 0: alike, or one way each. */
static int more_data(const struct speedtest_summary *a, const struct speedtest_summary *b)
{
	int down = is_faster(a->down_bps, b->down_bps) - is_faster(b->down_bps, a->down_bps);
	int up = is_faster(a->up_bps, b->up_bps) - is_faster(b->up_bps, a->up_bps);

	return down + up > 0 ? 1 : down + up < 0 ? -1 : 0;
}

static double mbit(const struct speedtest_summary *of)
{
	return (double)(of->down_bps + of->up_bps) / 1e6;
}

enum carrier speedtest_better(
	const struct speedtest_summary *udp, const struct speedtest_summary *tcp, char *sentence, size_t size)
{
	const struct speedtest_summary *by[] = { [CARRIER_UDP] = udp, [CARRIER_TCP] = tcp };
	bool udp_waits, tcp_waits;
	enum carrier faster, quicker;
	int more;

	if (!udp->measured || !tcp->measured) {
		snprintf(sentence, size, "%s was not measured, so there is nothing to compare.",
			!udp->measured ? "UDP" : "TCP");
		return CARRIER_NONE;
	}
	more = more_data(udp, tcp);
	udp_waits = is_slower_to_answer(&udp->loaded, &tcp->loaded);
	tcp_waits = is_slower_to_answer(&tcp->loaded, &udp->loaded);
	faster = more > 0 ? CARRIER_UDP : more < 0 ? CARRIER_TCP : CARRIER_NONE;
	quicker = tcp_waits ? CARRIER_UDP : udp_waits ? CARRIER_TCP : CARRIER_NONE;
	if (faster == CARRIER_NONE && quicker == CARRIER_NONE) {
		snprintf(sentence, size,
			"Both carriers do equally well here: leave the choice to wgtcp (it prefers UDP).");
		return CARRIER_NONE;
	}
	if (faster == CARRIER_NONE || quicker == CARRIER_NONE || faster == quicker) {
		enum carrier better = faster != CARRIER_NONE ? faster : quicker;
		enum carrier other = better == CARRIER_UDP ? CARRIER_TCP : CARRIER_UDP;

		if (faster != CARRIER_NONE)
			snprintf(sentence, size,
				"%s suits better here: it carries %.0f %% more than %s (%.1f against %.1f "
				"Mbit/s, both ways "
				"together)%s.",
				name_of(better), (mbit(by[better]) / mbit(by[other]) - 1) * 100,
				name_of(other), mbit(by[better]), mbit(by[other]),
				quicker == CARRIER_NONE ? "" : " and answers sooner under load");
		else
			snprintf(sentence, size,
				"%s suits better here: both carry the same, but under load it answers in "
				"%.0f ms "
				"and %s in %.0f ms.",
				name_of(better), by[better]->loaded.p50_us / 1e3, name_of(other),
				by[other]->loaded.p50_us / 1e3);
		return better;
	}
	snprintf(sentence, size,
		"%s carries more (%.1f against %.1f Mbit/s) and suits downloads; %s answers sooner under "
		"load (%.0f "
		"against %.0f ms) and suits calls and games.",
		name_of(faster), mbit(by[faster]), mbit(by[quicker]), name_of(quicker),
		by[quicker]->loaded.p50_us / 1e3, by[faster]->loaded.p50_us / 1e3);
	return CARRIER_NONE;
}
