/* SPDX-License-Identifier: MIT */
#include "tests/unit/core/carrier/story.h"

#include "tests/unit/core/carrier/observer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#define MS 1000000ull
#define ORIGIN_MS 1000ull

static struct mono at(uint64_t ms)
{
	return (struct mono){ (ORIGIN_MS + ms) * MS };
}

static int echo_bit(const struct fallback_echo *echo)
{
	return echo->carrier == CARRIER_UDP ? (echo->full ? UDP_FULL : UDP_SMALL)
					    : (echo->full ? TCP_FULL : TCP_SMALL);
}

struct story {
	struct observer observer;
	struct fallback_settings current;
	uint64_t newest[3][2]; /* ids of the last echo by carrier and size */
	int echoes;            /* of the last action */
};

static uint32_t step(struct story *story, const struct fallback_event *event, struct mono now)
{
	struct fallback_action action = observer_step(&story->observer, event, now);

	story->echoes = 0;
	for (size_t i = 0; i < action.echo_count; i++) {
		story->newest[action.echoes[i].carrier][action.echoes[i].full] = action.echoes[i].id;
		story->echoes |= echo_bit(&action.echoes[i]);
	}
	return action.what;
}

/* Ticks as the machine asks for them, up to one that asks for something or to `end` (which is not reached).
 */
static uint32_t tick_until(struct story *story, struct mono end, struct mono *when)
{
	const struct fallback_event tick = { .kind = FALLBACK_TICK };
	uint32_t what = 0;

	while (!what && (*when = fallback_deadline(story->observer.fallback), when->ns < end.ns))
		what = step(story, &tick, *when);
	return what;
}

static uint32_t run_row(struct story *story, const struct row *row)
{
	struct fallback_event event = {
		.kind = row->kind,
		.carrier = row->carrier,
		.trusted = row->argument == TRUSTED,
		.rtt_us = (uint32_t)row->argument * 1000,
		.settings = &story->current,
	};
	struct mono when;
	uint32_t early = tick_until(story, at(row->ms), &when);

	if (early)
		print_error(
			"at %llu ms: unexpected %x\n", (unsigned long long)(when.ns / MS - ORIGIN_MS), early);
	assert_int_equal(early, 0);
	if (row->until_ms)
		return tick_until(story, at(row->until_ms), &when);
	if (row->kind == FALLBACK_TICK)
		assert_int_equal(fallback_deadline(story->observer.fallback).ns, at(row->ms).ns);
	if (row->kind == FALLBACK_SETTINGS)
		story->current.transport = (enum transport)row->argument;
	if (row->kind == FALLBACK_ECHO_REPLY)
		event.echo_id =
			story->newest[row->argument == FULL_BY_OTHER ? UDP + TCP - row->carrier
								     : row->carrier][row->argument != SMALL];
	return step(story, &event, at(row->ms));
}

void story_run(const struct fallback_settings *settings, const struct row *rows, size_t count,
	const struct ending *ending)
{
	struct story story = { .current = *settings };
	const struct fallback *fallback;

	observer_init(&story.observer, settings);
	fallback = story.observer.fallback;
	for (size_t i = 0; i < count; i++) {
		uint32_t what = run_row(&story, &rows[i]);

		if (what != rows[i].what || story.echoes != rows[i].echoes ||
			fallback_state(fallback) != rows[i].state ||
			fallback_carrier(fallback) != rows[i].goes)
			print_error("row %zu, %llu ms: %x, echoes %x, %s, carrier %d\n", i,
				(unsigned long long)rows[i].ms, what, (unsigned)story.echoes,
				fallback_state_name(fallback_state(fallback)),
				(int)fallback_carrier(fallback));
		assert_int_equal(what, rows[i].what);
		assert_int_equal(story.echoes, rows[i].echoes);
		assert_int_equal(fallback_state(fallback), rows[i].state);
		assert_int_equal(fallback_carrier(fallback), rows[i].goes);
	}
	assert_string_equal(fallback_cause_name(fallback_cause(fallback)), ending->cause);
	assert_string_equal(fallback_reason_name(fallback_reason(fallback)), ending->reason);
	assert_string_equal(fallback_verified_name(fallback_verified(fallback)), ending->verified);
	assert_string_equal(fallback_udp_name(fallback_udp(fallback)), ending->udp);
	observer_free(&story.observer);
}
