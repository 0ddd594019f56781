/* SPDX-License-Identifier: MIT */
/* Arbitrary orders of events, and a small world in which carriers come and go: the observer's rules always
 * hold, and the machine always ends up where the world lets it. Seeded; the seed of a failure is printed. */
#include "tests/unit/core/carrier/observer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define MS 1000000ull
#define QUEUE_MAX 256

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* ---- any event at any time ---- */

static void any_order(void **unused)
{
	(void)unused;
	for (uint64_t seed = 1; seed <= 400; seed++) {
		uint64_t state = seed * 0x9e3779b97f4a7c15ull;
		struct fallback_settings settings = {
			.transport = (enum transport)(seed % 3),
			.udp = random_next(&state) % 8 != 0,
			.tcp = random_next(&state) % 8 != 0,
			.memory = (enum fallback_memory)(seed / 3 % 3),
			.seed = seed,
		};
		struct observer observer;
		struct mono now = { 1000 * MS };
		uint64_t id = 0;

		observer_init(&observer, &settings);
		for (int i = 0; i < 2000; i++) {
			struct fallback_event event = {
				.kind = (enum fallback_event_kind)(
					random_next(&state) % (FALLBACK_RETRY_UDP + 1)),
				.carrier = random_next(&state) % 2 ? CARRIER_UDP : CARRIER_TCP,
				.trusted = random_next(&state) % 2,
				.handshake = random_next(&state) % 2,
				.rtt_us = (uint32_t)(random_next(&state) % 300000),
				.echo_id = random_next(&state) % 4 ? id : random_next(&state),
			};
			struct mono deadline = fallback_deadline(observer.fallback);

			if (random_next(&state) % 2)
				event.kind = FALLBACK_TICK;
			if (event.kind == FALLBACK_STOP && random_next(&state) % 8)
				event.kind = FALLBACK_START;
			if (event.kind == FALLBACK_SETTINGS) {
				settings.transport = (enum transport)(random_next(&state) % 3);
				settings.memory = (enum fallback_memory)(random_next(&state) % 3);
				if (random_next(&state) % 8 == 0)
					settings.udp = !settings.udp;
				if (random_next(&state) % 8 == 0)
					settings.tcp = !settings.tcp;
				event.settings = &settings;
			}
			if (event.kind == FALLBACK_TICK && deadline.ns != MONO_NEVER.ns &&
				random_next(&state) % 4)
				now = mono_max(now, deadline);
			else
				now = mono_add_ns(now, random_next(&state) % (500 * MS));

			struct fallback_action action = observer_step(&observer, &event, now);

			if (action.echo_count)
				id = action.echoes[random_next(&state) % action.echo_count].id;
		}
		observer_free(&observer);
	}
}

/* ---- a world ---- */

struct world {
	struct observer observer;
	struct fallback_settings settings;
	struct mono now;
	uint64_t delay_ms; /* one way */
	uint64_t traffic_ms;
	bool udp_out, udp_in, udp_data, udp_large, tcp, sends;
	uint64_t initiation;   /* the newest */
	enum carrier follower; /* where the other side sends */
	bool echoes;
	struct {
		struct mono at;
		struct fallback_event event;
		uint64_t initiation;
		uint64_t dial;
	} coming[QUEUE_MAX];
	size_t count;
	uint64_t dial;
	struct mono silent_since; /* nothing has passed since; unset: something does */
	uint64_t longest_silence_ms;
	unsigned moves, states; /* changes seen */
};

static void world_init(struct world *world, enum transport transport, uint64_t seed)
{
	memset(world, 0, sizeof(*world));
	world->settings =
		(struct fallback_settings){ .transport = transport, .udp = true, .tcp = true, .seed = seed };
	observer_init(&world->observer, &world->settings);
	world->now = (struct mono){ 1000 * MS };
	world->delay_ms = 20;
	world->traffic_ms = 10;
	world->udp_out = world->udp_in = world->udp_data = world->udp_large = world->tcp = true;
	world->sends = world->echoes = true;
}

static void come(struct world *world, enum fallback_event_kind kind, enum carrier carrier, uint64_t echo_id)
{
	assert_true(world->count < QUEUE_MAX);
	world->coming[world->count].at = mono_add_ms(world->now, 2 * world->delay_ms);
	world->coming[world->count].initiation = world->initiation;
	world->coming[world->count].dial = world->dial;
	world->coming[world->count].event = (struct fallback_event){
		.kind = kind,
		.carrier = carrier,
		.echo_id = echo_id,
		.trusted = true,
		.rtt_us = (uint32_t)(2 * world->delay_ms * 1000),
	};
	world->count++;
}

static bool goes_out(const struct world *world, enum carrier carrier)
{
	if (carrier == CARRIER_UDP)
		return world->udp_out;
	return world->tcp && world->observer.link == SEEN_CONNECTED;
}

static void act(struct world *world, const struct fallback_action *action)
{
	if (action->what & (FALLBACK_INITIATE_UDP | FALLBACK_INITIATE_TCP)) {
		enum carrier carrier = action->what & FALLBACK_INITIATE_UDP ? CARRIER_UDP : CARRIER_TCP;

		world->initiation++;
		if (goes_out(world, carrier)) {
			world->follower = carrier;
			come(world, FALLBACK_RESPONSE, carrier, 0);
			if (world->echoes)
				come(world, FALLBACK_ECHO_TARGET, carrier, 0);
		}
	}
	if (action->what & FALLBACK_DIAL_TCP) {
		world->dial++;
		come(world, world->tcp ? FALLBACK_TCP_CONNECTED : FALLBACK_TCP_FAILED, CARRIER_TCP, 0);
	}
	if (action->what & FALLBACK_CLOSE_TCP)
		world->dial++;
	if ((action->what & FALLBACK_NUDGE_TCP) && goes_out(world, CARRIER_TCP))
		world->follower = CARRIER_TCP;
	if ((action->what & FALLBACK_NUDGE_UDP) && goes_out(world, CARRIER_UDP) && world->udp_data)
		world->follower = CARRIER_UDP;
	for (size_t i = 0; i < action->echo_count; i++) {
		const struct fallback_echo *echo = &action->echoes[i];
		bool udp = echo->carrier == CARRIER_UDP;

		if (!goes_out(world, echo->carrier) || (udp && !world->udp_data))
			continue;
		if (udp && echo->full && !world->udp_large)
			continue;
		world->follower = echo->carrier;
		if (world->echoes)
			come(world, FALLBACK_ECHO_REPLY, echo->carrier, echo->id);
	}
	if (action->what & FALLBACK_CARRIER)
		world->moves++;
}

static void feed(struct world *world, struct fallback_event event)
{
	enum fallback_state before = fallback_state(world->observer.fallback);
	struct fallback_action action = observer_step(&world->observer, &event, world->now);

	world->states += fallback_state(world->observer.fallback) != before;
	act(world, &action);
}

static bool arrives(const struct world *world, size_t i)
{
	const struct fallback_event *event = &world->coming[i].event;

	switch (event->kind) {
	case FALLBACK_TCP_CONNECTED:
	case FALLBACK_TCP_FAILED:
		return world->coming[i].dial == world->dial;
	case FALLBACK_ECHO_TARGET:
	case FALLBACK_ECHO_REPLY:
		if (event->carrier == CARRIER_UDP && !world->udp_data)
			return false;
		break;
	default: /* the other kinds never come from the world */
		break;
	}
	if (event->carrier == CARRIER_UDP)
		return world->udp_in;
	return world->tcp && world->observer.link == SEEN_CONNECTED && world->coming[i].dial == world->dial;
}

/* Data both ways, as far as it passes. */
static void traffic(struct world *world)
{
	enum carrier carrier = fallback_carrier(world->observer.fallback);
	bool passes = carrier != CARRIER_NONE && goes_out(world, carrier) &&
		      (carrier != CARRIER_UDP || (world->udp_data && world->udp_in));

	if (!world->sends)
		return;
	if (carrier != CARRIER_NONE)
		feed(world, (struct fallback_event){ .kind = FALLBACK_SENT, .carrier = carrier });
	if (passes) {
		world->follower = carrier;
		feed(world, (struct fallback_event){ .kind = FALLBACK_RECEIVED, .carrier = carrier });
		world->silent_since = MONO_UNSET;
		return;
	}
	if (!mono_is_set(world->silent_since))
		world->silent_since = world->now;
	if (mono_since_ms(world->now, world->silent_since) > world->longest_silence_ms)
		world->longest_silence_ms = mono_since_ms(world->now, world->silent_since);
}

static void run_for(struct world *world, uint64_t ms)
{
	struct mono end = mono_add_ms(world->now, ms);
	struct mono next_traffic = mono_add_ms(world->now, world->traffic_ms);

	for (;;) {
		struct mono next =
			mono_min(fallback_deadline(world->observer.fallback), mono_min(end, next_traffic));

		for (size_t i = 0; i < world->count; i++)
			next = mono_min(next, world->coming[i].at);
		world->now = next;
		if (mono_reached(next, end))
			return;
		for (size_t i = 0; i < world->count;) {
			struct fallback_event event = world->coming[i].event;
			bool here = arrives(world, i);

			if (!mono_reached(world->now, world->coming[i].at)) {
				i++;
				continue;
			}
			if (event.kind == FALLBACK_RESPONSE &&
				world->coming[i].initiation != world->initiation)
				event.kind = FALLBACK_SUPERSEDED;
			memmove(&world->coming[i], &world->coming[i + 1],
				(world->count - i - 1) * sizeof(world->coming[0]));
			world->count--;
			if (here)
				feed(world, event);
		}
		if (mono_reached(world->now, next_traffic)) {
			traffic(world);
			next_traffic = mono_add_ms(world->now, world->traffic_ms);
		}
		feed(world, (struct fallback_event){ .kind = FALLBACK_TICK });
	}
}

static void expect(const struct world *world, enum fallback_state state, enum carrier carrier)
{
	if (fallback_state(world->observer.fallback) != state ||
		fallback_carrier(world->observer.fallback) != carrier)
		print_error("at %llu ms: %s, carrier %d\n", (unsigned long long)(world->now.ns / MS - 1000),
			fallback_state_name(fallback_state(world->observer.fallback)),
			(int)fallback_carrier(world->observer.fallback));
	assert_int_equal(fallback_state(world->observer.fallback), state);
	assert_int_equal(fallback_carrier(world->observer.fallback), carrier);
}

static void start(struct world *world)
{
	feed(world, (struct fallback_event){ .kind = FALLBACK_START });
}

static void choose(struct world *world, enum transport transport)
{
	world->settings.transport = transport;
	feed(world, (struct fallback_event){ .kind = FALLBACK_SETTINGS, .settings = &world->settings });
}

static void set_udp(struct world *world, bool works)
{
	world->udp_in = world->udp_out = works;
}

static void whatever_the_world_allows(void **unused)
{
	(void)unused;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		uint64_t state = seed * 0x9e3779b97f4a7c15ull;
		struct world world;

		world_init(&world, TRANSPORT_AUTO, seed);
		start(&world);
		for (int i = 0; i < 30; i++) {
			world.udp_out = random_next(&state) % 3;
			world.udp_in = random_next(&state) % 3;
			world.udp_data = random_next(&state) % 4;
			world.udp_large = random_next(&state) % 4;
			world.tcp = random_next(&state) % 3;
			if (!world.tcp && world.observer.link == SEEN_CONNECTED)
				feed(&world, (struct fallback_event){ .kind = FALLBACK_TCP_CLOSED });
			world.sends = random_next(&state) % 3;
			if (random_next(&state) % 8 == 0)
				feed(&world, (struct fallback_event){ .kind = FALLBACK_NETWORK_LOST });
			if (random_next(&state) % 4 == 0)
				feed(&world, (struct fallback_event){ .kind = FALLBACK_NETWORK_CHANGED });
			if (random_next(&state) % 8 == 0)
				feed(&world, (struct fallback_event){ .kind = FALLBACK_NO_SESSION });
			if (random_next(&state) % 4 == 0)
				choose(&world, (enum transport)(random_next(&state) % 3));
			run_for(&world, random_next(&state) % 20000);
		}
		/* TCP alone: there within a slow round. */
		choose(&world, TRANSPORT_AUTO);
		feed(&world, (struct fallback_event){ .kind = FALLBACK_NETWORK_CHANGED });
		world.udp_out = world.udp_in = false;
		world.udp_data = world.udp_large = world.tcp = world.sends = true;
		run_for(&world, 70 * 1000);
		expect(&world, FALLBACK_STATE_UP, CARRIER_TCP);
		assert_int_equal(fallback_verified(world.observer.fallback), FALLBACK_VERIFIED_FULL);
		/* UDP again: a change of network lifts every bar. */
		set_udp(&world, true);
		feed(&world, (struct fallback_event){ .kind = FALLBACK_NETWORK_CHANGED });
		run_for(&world, 5 * 1000);
		expect(&world, FALLBACK_STATE_UP, CARRIER_UDP);
		observer_free(&world.observer);
	}
}

static void hundred_switches_lose_nothing(void **unused)
{
	struct world world;

	(void)unused;
	world_init(&world, TRANSPORT_AUTO, 1);
	start(&world);
	run_for(&world, 5000);
	world.longest_silence_ms = 0;
	world.moves = 0;
	for (int i = 0; i < 50; i++) {
		choose(&world, TRANSPORT_TCP);
		run_for(&world, 100 + (uint64_t)i * 60);
		expect(&world, FALLBACK_STATE_UP, CARRIER_TCP);
		choose(&world, TRANSPORT_UDP);
		expect(&world, FALLBACK_STATE_UP, CARRIER_UDP);
		run_for(&world, 100 + (uint64_t)i * 60);
		expect(&world, FALLBACK_STATE_UP, CARRIER_UDP);
	}
	assert_int_equal(world.moves, 100);
	assert_in_range(world.longest_silence_ms, 0, 20);
	observer_free(&world.observer);
}

static void udp_cut_for_a_while(void **unused)
{
	struct world world;

	(void)unused;
	world_init(&world, TRANSPORT_AUTO, 1);
	start(&world);
	run_for(&world, 30 * 1000);
	expect(&world, FALLBACK_STATE_UP, CARRIER_UDP);
	set_udp(&world, false);
	run_for(&world, 10 * 1000);
	expect(&world, FALLBACK_STATE_UP, CARRIER_TCP);
	assert_int_equal(fallback_reason(world.observer.fallback), FALLBACK_REASON_UDP_SILENT);
	set_udp(&world, true);
	run_for(&world, 70 * 1000);
	expect(&world, FALLBACK_STATE_UP, CARRIER_UDP);
	assert_int_equal(world.moves, 3);
	observer_free(&world.observer);
}

/* UDP that works for trials and dies each time: three times, then no more; a person still can. */
static void flapping_udp(void **unused)
{
	struct world world;
	unsigned returns = 0;

	(void)unused;
	world_init(&world, TRANSPORT_AUTO, 1);
	world.traffic_ms = 200;
	start(&world);
	run_for(&world, 10 * 1000);
	for (int s = 0; s < 3 * 3600; s++) {
		enum carrier before = fallback_carrier(world.observer.fallback);

		set_udp(&world, before != CARRIER_UDP);
		run_for(&world, 1000);
		if (before == CARRIER_TCP && fallback_carrier(world.observer.fallback) == CARRIER_UDP)
			returns++;
	}
	assert_int_equal(returns, 3);
	expect(&world, FALLBACK_STATE_UP, CARRIER_TCP);
	assert_int_equal(fallback_reason(world.observer.fallback), FALLBACK_REASON_UDP_FLAPPING);
	set_udp(&world, true);
	feed(&world, (struct fallback_event){ .kind = FALLBACK_RETRY_UDP });
	run_for(&world, 1000);
	expect(&world, FALLBACK_STATE_UP, CARRIER_UDP);
	observer_free(&world.observer);
}

/* Handshakes pass, data does not, or not at full size: not called up on UDP. */
static void data_or_large_packets_lost(void **unused)
{
	(void)unused;
	for (int large = 0; large < 2; large++) {
		struct world world;

		world_init(&world, TRANSPORT_AUTO, 1);
		world.udp_data = large;
		world.udp_large = false;
		start(&world);
		if (!large)
			feed(&world,
				(struct fallback_event){ .kind = FALLBACK_ECHO_TARGET, .trusted = false });
		for (int i = 0; i < 60; i++) {
			run_for(&world, 100);
			assert_true(fallback_state(world.observer.fallback) != FALLBACK_STATE_UP ||
				    fallback_carrier(world.observer.fallback) == CARRIER_TCP);
		}
		expect(&world, FALLBACK_STATE_UP, CARRIER_TCP);
		assert_int_equal(fallback_reason(world.observer.fallback),
			large ? FALLBACK_REASON_UDP_NO_LARGE : FALLBACK_REASON_UDP_NO_DATA);
		run_for(&world, 300 * 1000);
		expect(&world, FALLBACK_STATE_UP, CARRIER_TCP);
		assert_int_equal(world.moves, 2);
		observer_free(&world.observer);
	}
}

/* Handshakes alone pass, and TCP is refused: degraded, and it stays so, whatever the transport. */
static void nothing_better_does_not_flap(void **unused)
{
	(void)unused;
	for (int i = 0; i < 4; i++) {
		struct world world;

		world_init(&world, i & 1 ? TRANSPORT_UDP : TRANSPORT_AUTO, 1);
		world.tcp = false;
		start(&world);
		run_for(&world, 10 * 1000);
		if (i & 2) {
			world.sends = false;
			run_for(&world, 60 * 1000);
			world.sends = true;
		}
		world.udp_data = false;
		run_for(&world, 20 * 1000);
		expect(&world, FALLBACK_STATE_DEGRADED, CARRIER_UDP);
		world.states = world.moves = 0;
		world.traffic_ms = 200;
		run_for(&world, 3600 * 1000);
		assert_int_equal(world.states, 0);
		assert_int_equal(world.moves, 0);
		world.udp_data = true;
		run_for(&world, 70 * 1000);
		expect(&world, FALLBACK_STATE_UP, CARRIER_UDP);
		observer_free(&world.observer);
	}
}

/* Nothing passes at all: failed after 20 s to the tick, found within a slow round once something does. */
static void nothing_passes(void **unused)
{
	struct world world;

	(void)unused;
	world_init(&world, TRANSPORT_AUTO, 1);
	set_udp(&world, false);
	world.tcp = false;
	start(&world);
	run_for(&world, 20 * 1000);
	expect(&world, FALLBACK_STATE_CONNECTING, CARRIER_NONE);
	run_for(&world, 1);
	expect(&world, FALLBACK_STATE_FAILED, CARRIER_NONE);
	assert_int_equal(fallback_cause(world.observer.fallback), FALLBACK_CAUSE_PEER_UNREACHABLE);
	world.states = 0;
	world.traffic_ms = 200;
	run_for(&world, 3600 * 1000);
	assert_int_equal(world.states, 0);
	world.tcp = true;
	run_for(&world, 67 * 1000);
	expect(&world, FALLBACK_STATE_UP, CARRIER_TCP);
	observer_free(&world.observer);
}

/* A quiet day: few steps, no visible change. */
static void idle_costs_nothing(void **unused)
{
	static const enum transport transports[] = { TRANSPORT_AUTO, TRANSPORT_UDP, TRANSPORT_TCP };

	(void)unused;
	for (size_t i = 0; i < 3; i++) {
		struct world world;

		world_init(&world, transports[i], 1);
		start(&world);
		run_for(&world, 60 * 1000);
		world.moves = 0;
		world.sends = false;
		assert_int_equal(fallback_deadline(world.observer.fallback).ns, MONO_NEVER.ns);
		run_for(&world, 600 * 1000);
		assert_int_equal(world.moves, 0);
		observer_free(&world.observer);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_order),
		cmocka_unit_test(whatever_the_world_allows),
		cmocka_unit_test(hundred_switches_lose_nothing),
		cmocka_unit_test(udp_cut_for_a_while),
		cmocka_unit_test(flapping_udp),
		cmocka_unit_test(data_or_large_packets_lost),
		cmocka_unit_test(nothing_better_does_not_flap),
		cmocka_unit_test(nothing_passes),
		cmocka_unit_test(idle_costs_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
