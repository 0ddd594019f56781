/* SPDX-License-Identifier: MIT */
/* The choice between the carriers: a table of events, its clock a number. */
#include "client/relay/race.h"

#include "tests/contract/cmocka_all.h"

/* Event kinds behind the last. */
#define USE(use) (RACE_CLOSE + 1 + (use))

#define U 1 /* datagrams go by UDP */
#define T 2 /* by TCP */

struct row {
	uint32_t ms;
	int event;
	uint32_t what;
	int ways;
};

struct story {
	const char *name;
	enum relay_use use;
	enum fallback_memory memory;
	struct row rows[16];
};

static const struct story stories[] = {
	{ "UDP answers: nothing is dialled", RELAY_USE_RACE, FALLBACK_MEMORY_UNKNOWN,
		{
			{ 0, RACE_INITIATION, 0, U },
			{ 20, RACE_UDP_ANSWER, RACE_DROP_TCP | RACE_TELL_UDP_WINS, U },
			{ 5000, RACE_TICK, 0, U },
		} },
	{ "UDP is silent: a copy by TCP, and a fresh one when that gives nothing", RELAY_USE_RACE,
		FALLBACK_MEMORY_UNKNOWN,
		{
			{ 0, RACE_INITIATION, 0, U }, { 299, RACE_TICK, 0, U },
			{ 300, RACE_TICK, RACE_DIAL, U }, { 320, RACE_TCP_CONNECTED, 0, U },
			{ 519, RACE_TICK, 0, U }, { 520, RACE_TICK, RACE_SEND_HELD, T },
			{ 819, RACE_TICK, 0, T }, { 820, RACE_TICK, RACE_WANT_FRESH, T },
			{ 850, RACE_INITIATION, 0, T },
			{ 5000, RACE_TICK, 0, T }, /* it went by TCP alone: nothing to ask for */
			{ 5001, RACE_TCP_ANSWER, RACE_TELL_TCP_WINS, T },
			{ 5002, RACE_UDP_ANSWER, 0, T }, /* late */
		} },
	{ "the copy is answered", RELAY_USE_RACE, FALLBACK_MEMORY_UNKNOWN,
		{
			{ 0, RACE_INITIATION, 0, U },
			{ 300, RACE_TICK, RACE_DIAL, U },
			{ 310, RACE_TCP_CONNECTED, 0, U },
			{ 510, RACE_TICK, RACE_SEND_HELD, T },
			{ 530, RACE_TCP_ANSWER, RACE_TELL_TCP_WINS, T },
			{ 5000, RACE_TICK, 0, T },
			{ 120000, RACE_INITIATION, 0, T }, /* the next handshake needs no race */
			{ 120020, RACE_TCP_ANSWER, 0, T },
		} },
	{ "UDP answers after the copy has gone", RELAY_USE_RACE, FALLBACK_MEMORY_UNKNOWN,
		{
			{ 0, RACE_INITIATION, 0, U },
			{ 300, RACE_TICK, RACE_DIAL, U },
			{ 310, RACE_TCP_CONNECTED, 0, U },
			{ 510, RACE_TICK, RACE_SEND_HELD, T },
			{ 520, RACE_UDP_ANSWER, RACE_DROP_TCP | RACE_TELL_UDP_WINS, U },
			{ 5000, RACE_TICK, 0, U },
		} },
	{ "UDP answers while the dial is under way", RELAY_USE_RACE, FALLBACK_MEMORY_UNKNOWN,
		{
			{ 0, RACE_INITIATION, 0, U },
			{ 300, RACE_TICK, RACE_DIAL, U },
			{ 310, RACE_UDP_ANSWER, RACE_DROP_TCP | RACE_TELL_UDP_WINS, U },
			{ 5000, RACE_TICK, 0, U },
		} },
	{ "UDP is rejected: no waiting", RELAY_USE_RACE, FALLBACK_MEMORY_UNKNOWN,
		{
			{ 0, RACE_INITIATION, 0, U },
			{ 10, RACE_UDP_FAILED, RACE_DIAL, U },
			{ 30, RACE_TCP_CONNECTED, RACE_SEND_HELD, T },
			{ 50, RACE_TCP_ANSWER, RACE_TELL_TCP_WINS, T },
		} },
	{ "blocked before: TCP at once", RELAY_USE_RACE, FALLBACK_MEMORY_BLOCKED,
		{
			{ 0, RACE_INITIATION, RACE_DIAL, U },
			{ 20, RACE_TCP_CONNECTED, 0, U },
			{ 219, RACE_TICK, 0, U },
			{ 220, RACE_TICK, RACE_SEND_HELD, T },
		} },
	{ "good before: 2 s", RELAY_USE_RACE, FALLBACK_MEMORY_GOOD,
		{
			{ 0, RACE_INITIATION, 0, U },
			{ 1999, RACE_TICK, 0, U },
			{ 2000, RACE_TICK, RACE_DIAL, U },
		} },
	{ "a cookie reply by UDP: the kernel comes again with it", RELAY_USE_RACE, FALLBACK_MEMORY_UNKNOWN,
		{
			{ 0, RACE_INITIATION, 0, U },
			{ 20, RACE_UDP_COOKIE, 0, U },
			{ 300, RACE_TICK, RACE_DIAL, U },
			{ 310, RACE_TCP_CONNECTED, 0, U },
			{ 5100, RACE_INITIATION, 0, U },
			{ 5120, RACE_UDP_ANSWER, RACE_DROP_TCP | RACE_TELL_UDP_WINS, U },
		} },
	{ "the dial fails: again with back-off, UDP goes on", RELAY_USE_RACE, FALLBACK_MEMORY_UNKNOWN,
		{
			{ 0, RACE_INITIATION, 0, U },
			{ 300, RACE_TICK, RACE_DIAL, U },
			{ 310, RACE_TCP_FAILED, 0, U },
			{ 500, RACE_TICK, 0, U },
			{ 620, RACE_TICK, RACE_DIAL, U },
			{ 630, RACE_TCP_FAILED, 0, U },
			{ 1000, RACE_TICK, 0, U },
			{ 1300, RACE_TICK, RACE_DIAL, U },
		} },
	{ "a stream that is closed before it showed anything: UDP again", RELAY_USE_RACE,
		FALLBACK_MEMORY_UNKNOWN,
		{
			{ 0, RACE_INITIATION, 0, U },
			{ 300, RACE_TICK, RACE_DIAL, U },
			{ 310, RACE_TCP_CONNECTED, 0, U },
			{ 510, RACE_TICK, RACE_SEND_HELD, T },
			{ 520, RACE_TCP_CLOSED, RACE_DIAL, U },
			{ 530, RACE_TCP_CONNECTED, 0, U },
			{ 540, RACE_TCP_CLOSED, 0, U }, /* not at once for ever */
			{ 700, RACE_TICK, 0, U },
			{ 1200, RACE_TICK, RACE_DIAL, U },
		} },
	{ "UDP won, and an initiation is unanswered later: the race begins anew", RELAY_USE_RACE,
		FALLBACK_MEMORY_UNKNOWN,
		{
			{ 0, RACE_INITIATION, 0, U },
			{ 20, RACE_UDP_ANSWER, RACE_DROP_TCP | RACE_TELL_UDP_WINS, U },
			{ 120000, RACE_INITIATION, 0, U },
			{ 120300, RACE_TICK, RACE_DIAL, U },
			{ 120310, RACE_TCP_CONNECTED, 0, U },
			{ 120510, RACE_TICK, RACE_SEND_HELD, T },
			{ 120530, RACE_TCP_ANSWER, RACE_TELL_TCP_WINS, T },
		} },
	{ "udp is obeyed", RELAY_USE_UDP, FALLBACK_MEMORY_BLOCKED,
		{
			{ 0, RACE_INITIATION, 0, U },
			{ 10, RACE_UDP_FAILED, 0, U },
			{ 20000, RACE_INITIATION, 0, U },
			{ 40000, RACE_NETWORK, 0, U },
		} },
	{ "tcp is obeyed, and dialled again", RELAY_USE_TCP, FALLBACK_MEMORY_GOOD,
		{
			{ 0, RACE_TICK, RACE_DIAL, T },
			{ 10, RACE_INITIATION, 0, T },
			{ 20, RACE_TCP_CONNECTED, RACE_SEND_HELD, T },
			{ 2000, RACE_TICK, 0, T }, /* never went by UDP: no fresh one is wanted */
			{ 2010, RACE_TCP_ANSWER, 0, T },
			{ 3000, RACE_TCP_CLOSED, RACE_DIAL, T },
			{ 3010, RACE_TCP_FAILED, 0, T },
			{ 3020, RACE_NETWORK, RACE_DIAL, T },
			{ 3030, RACE_TCP_CONNECTED, 0, T },
			{ 4000, RACE_CLOSE, RACE_DIAL, T },
		} },
	{ "both, and back to one", RELAY_USE_TCP, FALLBACK_MEMORY_UNKNOWN,
		{
			{ 0, RACE_TICK, RACE_DIAL, T },
			{ 20, RACE_TCP_CONNECTED, 0, T },
			{ 1000, USE(RELAY_USE_BOTH), 0, U | T },
			{ 1010, RACE_INITIATION, 0, U | T },
			{ 1020, RACE_UDP_ANSWER, 0, U | T },
			{ 1500, USE(RELAY_USE_UDP), 0, U },
			{ 1600, RACE_TCP_CLOSED, 0, U },
			{ 1700, USE(RELAY_USE_TCP), RACE_DIAL, T },
			{ 1710, USE(RELAY_USE_UDP), RACE_DROP_TCP, U },
		} },
	{ "from the race to tcp, on the stream that has won", RELAY_USE_RACE, FALLBACK_MEMORY_UNKNOWN,
		{
			{ 0, RACE_INITIATION, 0, U },
			{ 300, RACE_TICK, RACE_DIAL, U },
			{ 310, RACE_TCP_CONNECTED, 0, U },
			{ 510, RACE_TICK, RACE_SEND_HELD, T },
			{ 530, RACE_TCP_ANSWER, RACE_TELL_TCP_WINS, T },
			{ 540, USE(RELAY_USE_TCP), 0, T },
			{ 9000, RACE_TICK, 0, T },
		} },
};

static uint32_t step(struct race *race, int event, struct mono now)
{
	struct race_event given = { .kind = (enum race_event_kind)event, .rtt_us = 10000 };

	if (event > RACE_CLOSE)
		given = (struct race_event){ .kind = RACE_USE,
			.use = (enum relay_use)(event - RACE_CLOSE - 1) };
	return race_step(race, &given, now);
}

static void run(const struct story *story)
{
	struct race race;
	uint32_t done = 0;

	print_message("%s\n", story->name);
	race_init(&race, 7);
	race_set_memory(&race, story->memory);
	done = step(&race, USE((int)story->use), (struct mono){ 1000000000 });
	for (size_t i = 0; i < 16 && (i == 0 || story->rows[i].ms); i++) {
		const struct row *row = &story->rows[i];
		struct mono now = mono_add_ms((struct mono){ 1000000000 }, row->ms);
		uint32_t what = step(&race, row->event, now) | done;
		int ways = (race_uses_udp(&race) ? U : 0) | (race_uses_tcp(&race) ? T : 0);

		done = 0;
		if (what != row->what || ways != row->ways)
			fail_msg("%s: at %u ms: does %u instead of %u, goes %d instead of %d", story->name,
				row->ms, what, row->what, ways, row->ways);
		/* Nothing that is due stays due. */
		assert_false(mono_reached(now, race_deadline(&race)));
	}
}

static void all_stories(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(stories) / sizeof(stories[0]); i++)
		run(&stories[i]);
}

/* A fresh initiation is wanted when the copy has had two round trips, or 300 ms where that is longer. */
static void a_copy_has_two_round_trips(void **state)
{
	static const struct {
		uint32_t rtt_ms, wanted_ms;
	} cases[] = { { 10, 300 }, { 150, 300 }, { 151, 302 }, { 400, 800 }, { 1000, 2000 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct mono start = { 1000000000 }, sent = mono_add_ms(start, 3000);
		struct race_event connected = { .kind = RACE_TCP_CONNECTED,
			.rtt_us = cases[i].rtt_ms * 1000 };
		struct race race;
		uint32_t what;

		race_init(&race, 7);
		step(&race, USE((int)RELAY_USE_RACE), start);
		step(&race, RACE_INITIATION, start);
		assert_int_equal(step(&race, RACE_TICK, mono_add_ms(start, 300)), RACE_DIAL);
		race_step(&race, &connected, mono_add_ms(start, 2800));
		assert_int_equal(step(&race, RACE_TICK, sent), RACE_SEND_HELD);
		what = step(&race, RACE_TICK, mono_add_ms(sent, cases[i].wanted_ms - 1));
		assert_int_equal(what, 0);
		what = step(&race, RACE_TICK, mono_add_ms(sent, cases[i].wanted_ms));
		assert_int_equal(what, RACE_WANT_FRESH);
	}
}

/* Any events in any order: no packet on a carrier that was forbidden, no deadline that stays, and what is
 * asked for makes sense. */
static void any_events(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (int life = 0; life < 300; life++) {
		struct mono now = { 1000000000 };
		bool stands = false, dialling = false;
		struct race race;

		race_init(&race, (uint64_t)life);
		for (int i = 0; i < 300; i++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			int event = (int)(random >> 33) % (USE(RELAY_USE_BOTH) + 1);

			now = mono_add_ms(now, (random >> 50) % 700);
			/* What can not happen is not said. */
			if ((event == RACE_TCP_FAILED && !dialling) ||
				(event == RACE_TCP_CLOSED && !stands) ||
				(event == RACE_TCP_CONNECTED && !dialling) ||
				(event == RACE_TCP_ANSWER && !stands))
				event = RACE_TICK;
			if (event == RACE_TCP_CONNECTED)
				stands = true;
			if (event == RACE_TCP_CONNECTED || event == RACE_TCP_FAILED)
				dialling = false;
			if (event == RACE_TCP_CLOSED)
				stands = false;
			if (event == RACE_CLOSE)
				stands = dialling = false;
			uint32_t what = step(&race, event, now);

			if (what & RACE_DROP_TCP)
				stands = dialling = false;
			if (what & RACE_DIAL) {
				assert_false(stands || dialling);
				assert_int_not_equal(race.use, RELAY_USE_UDP);
				dialling = true;
			}
			if (what & RACE_SEND_HELD) {
				assert_true(stands);
				assert_int_not_equal(race.use, RELAY_USE_UDP);
			}
			assert_true(race_uses_udp(&race) || race_uses_tcp(&race));
			assert_true(race.use != RELAY_USE_TCP || !race_uses_udp(&race));
			assert_true(race.use != RELAY_USE_UDP || !race_uses_tcp(&race));
			assert_int_equal(race.tcp, stands     ? RACE_TCP_STANDS
						   : dialling ? RACE_TCP_DIALLING
							      : RACE_TCP_NONE);
			assert_false(mono_reached(now, race_deadline(&race)));
			/* Whoever must have TCP is on the way to it. */
			if (race_uses_tcp(&race) && !stands && !dialling)
				assert_true(mono_is_set(race.dial_at));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_stories),
		cmocka_unit_test(a_copy_has_two_round_trips),
		cmocka_unit_test(any_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
