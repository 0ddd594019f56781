/* SPDX-License-Identifier: MIT */
/* CoDel for one flow: whether the packet that now leaves has to pay for a standing queue. Source: RFC
 * 8289, 5. */
#ifndef WGTCP_CORE_CARRIER_CODEL_H
#define WGTCP_CORE_CARRIER_CODEL_H

#include "core/base/time.h"

/* All zero at the start. */
struct codel {
	struct mono first_above; /* when the sojourn time will have been above target for an interval; unset:
				    below */
	struct mono strike_next; /* while striking: when the next packet pays */
	uint32_t count;          /* strikes since striking began */
	uint32_t last_count;     /* count when striking last began */
	bool striking;
};

struct codel_settings {
	uint32_t target_us, interval_us;
	uint32_t small_bytes; /* a backlog of no more than one packet is never a standing queue */
};

/* Call once for each packet as it leaves its flow; backlog is what stays behind it. True: drop or mark it.
 * The caller that drops goes on with the next packet at once. */
bool codel_strikes(struct codel *codel, const struct codel_settings *settings, struct mono now,
	struct mono queued, uint32_t backlog);
/* The flow has run empty. */
void codel_empty(struct codel *codel);

#endif
