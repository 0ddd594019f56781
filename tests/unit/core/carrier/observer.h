/* SPDX-License-Identifier: MIT */
/* Steps a fallback machine and checks, at each step, what must hold whatever happens. Used by the tables, the
 * random test and the fuzz target. A breach ends the program. */
#ifndef WGTCP_TESTS_OBSERVER_H
#define WGTCP_TESTS_OBSERVER_H

#include "core/carrier/fallback.h"

enum seen_link { SEEN_NONE, SEEN_DIALING, SEEN_CONNECTED };

struct observer {
	struct fallback *fallback;
	struct fallback_settings settings;
	enum seen_link link;
	struct mono initiated;
	uint64_t first_id, last_id; /* ids are given out in order, so these two tell whether one is new */
	uint64_t steps;
};

void observer_init(struct observer *observer, const struct fallback_settings *settings);
void observer_free(struct observer *observer);
struct fallback_action observer_step(
	struct observer *observer, const struct fallback_event *event, struct mono now);

#endif
