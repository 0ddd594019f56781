/* SPDX-License-Identifier: MIT */
/* Bytes as events: two an event, kind and argument, the argument's high bits being the time since the last
 * one. The observer checks each step. */
#include "tests/unit/core/carrier/observer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct fallback_settings make_settings(uint8_t byte)
{
	return (struct fallback_settings){
		.transport = (enum transport)(byte % 3),
		.udp = !(byte & 16),
		.tcp = !(byte & 32),
		.memory = (enum fallback_memory)(byte / 3 % 3),
		.last_rtt_ms = byte & 64 ? 250 : 0,
		.seed = byte,
	};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* To the next deadline, or a number of ms. */
	static const unsigned waits[] = { 0, 0, 1, 50, 400, 2500, 15000, 120000 };
	struct fallback_settings settings;
	struct observer observer;
	struct mono now = { 1000000000 };
	uint64_t id = 0;

	if (!size)
		return 0;
	settings = make_settings(data[0]);
	observer_init(&observer, &settings);
	for (size_t i = 1; i + 1 < size; i += 2) {
		uint8_t argument = data[i + 1];
		struct fallback_event event = {
			.kind = (enum fallback_event_kind)(data[i] % (FALLBACK_RETRY_UDP + 1)),
			.carrier = argument & 1 ? CARRIER_TCP : CARRIER_UDP,
			.trusted = argument & 2,
			.handshake = argument & 4,
			.rtt_us = (argument & 31) * 20000u,
			.echo_id = id - (argument >> 1 & 3),
			.settings = &settings,
		};
		struct mono end = mono_add_ms(now, waits[argument >> 5]);
		struct fallback_action action;

		if (argument >> 5 == 1 && fallback_deadline(observer.fallback).ns != MONO_NEVER.ns)
			end = mono_max(now, fallback_deadline(observer.fallback));
		for (struct mono next; next = fallback_deadline(observer.fallback), next.ns < end.ns;) {
			const struct fallback_event tick = { .kind = FALLBACK_TICK };

			now = next;
			action = observer_step(&observer, &tick, now);
			if (action.echo_count)
				id = action.echoes[action.echo_count - 1].id;
		}
		now = end;
		if (event.kind == FALLBACK_SETTINGS)
			settings = make_settings(argument);
		action = observer_step(&observer, &event, now);
		if (action.echo_count)
			id = action.echoes[action.echo_count - 1].id;
	}
	observer_free(&observer);
	return 0;
}
