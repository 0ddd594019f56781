/* SPDX-License-Identifier: MIT */
#include "tests/unit/core/carrier/observer.h"

#include <stdio.h>
#include <stdlib.h>

#define MUST(condition)                                                                                      \
	do {                                                                                                 \
		if (!(condition)) {                                                                          \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                      \
			abort();                                                                             \
		}                                                                                            \
	} while (0)

struct reported {
	enum fallback_state state;
	enum fallback_cause cause;
	enum fallback_reason reason;
	enum fallback_verified verified;
	enum fallback_udp udp;
	enum carrier carrier;
};

static struct reported report(const struct fallback *fallback)
{
	return (struct reported){
		.state = fallback_state(fallback),
		.cause = fallback_cause(fallback),
		.reason = fallback_reason(fallback),
		.verified = fallback_verified(fallback),
		.udp = fallback_udp(fallback),
		.carrier = fallback_carrier(fallback),
	};
}

void observer_init(struct observer *observer, const struct fallback_settings *settings)
{
	*observer = (struct observer){ .fallback = fallback_new(settings), .settings = *settings };
	MUST(observer->fallback);
}

void observer_free(struct observer *observer)
{
	fallback_free(observer->fallback);
}

static void follow_link(struct observer *observer, const struct fallback_event *event)
{
	if (event->kind == FALLBACK_TCP_CONNECTED)
		observer->link = SEEN_CONNECTED;
	if (event->kind == FALLBACK_TCP_FAILED && observer->link == SEEN_DIALING)
		observer->link = SEEN_NONE;
	if (event->kind == FALLBACK_TCP_CLOSED && observer->link == SEEN_CONNECTED)
		observer->link = SEEN_NONE;
}

static void check_echoes(struct observer *observer, const struct fallback_action *action)
{
	MUST(!(action->what & FALLBACK_ECHO) == !action->echo_count);
	MUST(action->echo_count <= 4);
	for (size_t i = 0; i < action->echo_count; i++) {
		const struct fallback_echo *echo = &action->echoes[i];

		MUST(echo->id != 0);
		if (!observer->first_id)
			observer->first_id = echo->id;
		else
			MUST(echo->id - observer->first_id > observer->last_id - observer->first_id);
		observer->last_id = echo->id;
		MUST(echo->carrier == CARRIER_UDP || echo->carrier == CARRIER_TCP);
		if (echo->carrier == CARRIER_TCP)
			MUST(observer->link == SEEN_CONNECTED &&
				observer->settings.transport != TRANSPORT_UDP);
		else
			MUST(observer->settings.transport != TRANSPORT_TCP && observer->settings.udp);
	}
}

struct fallback_action observer_step(
	struct observer *observer, const struct fallback_event *event, struct mono now)
{
	const struct fallback *fallback = observer->fallback;
	struct reported before = report(fallback), after;
	struct fallback_action action;
	uint32_t what;

	if (event->kind == FALLBACK_SETTINGS)
		observer->settings = *event->settings;
	follow_link(observer, event);
	action = fallback_step(observer->fallback, event, now);
	what = action.what;
	after = report(fallback);
	observer->steps++;

	/* No busy loop. */
	MUST(fallback_deadline(fallback).ns > now.ns);

	/* Forced transports are obeyed. */
	if (observer->settings.transport == TRANSPORT_UDP)
		MUST(!(what & (FALLBACK_DIAL_TCP | FALLBACK_INITIATE_TCP | FALLBACK_NUDGE_TCP)));
	if (observer->settings.transport == TRANSPORT_TCP || !observer->settings.udp)
		MUST(!(what & (FALLBACK_INITIATE_UDP | FALLBACK_NUDGE_UDP)));
	if (!observer->settings.tcp)
		MUST(!(what & FALLBACK_DIAL_TCP));

	/* In the order of the bits. */
	if (what & FALLBACK_INITIATE_TCP)
		MUST(observer->link == SEEN_CONNECTED);
	if (what & FALLBACK_DIAL_TCP) {
		MUST(observer->link == SEEN_NONE);
		observer->link = SEEN_DIALING;
	}
	if (what & FALLBACK_CLOSE_TCP) {
		MUST(observer->link != SEEN_NONE && !(what & FALLBACK_DIAL_TCP));
		observer->link = SEEN_NONE;
	}
	if (what & FALLBACK_NUDGE_TCP)
		MUST(observer->link == SEEN_CONNECTED);
	MUST(!(what & FALLBACK_NUDGE_TCP) || !(what & FALLBACK_NUDGE_UDP));
	check_echoes(observer, &action);

	/* Initiations keep their distance. */
	MUST(!(what & FALLBACK_INITIATE_UDP) || !(what & FALLBACK_INITIATE_TCP));
	if (what & (FALLBACK_INITIATE_UDP | FALLBACK_INITIATE_TCP)) {
		MUST(!mono_is_set(observer->initiated) || now.ns - observer->initiated.ns >= 20 * 1000000);
		observer->initiated = now;
	}

	/* What is shown, and that it is shown. */
	MUST(!(what & FALLBACK_CARRIER) == (before.carrier == after.carrier));
	before.carrier = after.carrier;
	MUST(!(what & FALLBACK_REPORT) ==
		(before.state == after.state && before.cause == after.cause &&
			before.reason == after.reason && before.verified == after.verified &&
			before.udp == after.udp));
	if (after.carrier == CARRIER_TCP)
		MUST(observer->link == SEEN_CONNECTED);
	if (after.state == FALLBACK_STATE_UP || after.state == FALLBACK_STATE_DEGRADED)
		MUST(after.cause == FALLBACK_CAUSE_NONE && after.verified != FALLBACK_VERIFIED_NONE);
	if (what & FALLBACK_REMEMBER)
		MUST(after.udp == FALLBACK_UDP_OK || after.udp == FALLBACK_UDP_BLOCKED);
	return action;
}
