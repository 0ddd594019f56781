/* SPDX-License-Identifier: MIT */
/* Who has a place, who goes, and by what address a server knows a source. */
#include "client/relay/places.h"

#include "tests/contract/cmocka_all.h"

#include <string.h>

static struct ip_address address(const char *text)
{
	struct ip_address out;

	assert_true(ip_address_parse(text, strlen(text), &out));
	return out;
}

static struct ip_address numbered(uint32_t number)
{
	return (struct ip_address){ .family = IP_V4,
		.bytes = { 10, (uint8_t)(number >> 16), (uint8_t)(number >> 8), (uint8_t)number } };
}

static struct mono at(uint64_t ms)
{
	return mono_add_ms((struct mono){ 1000000000 }, ms);
}

static void empty(struct places *places)
{
	while (places->unknown.head)
		places_bury(places, places->unknown.head);
	while (places->known.head)
		places_bury(places, places->known.head);
	places_free_dead(places);
	places_wipe(places);
}

static struct connection *take(struct places *places, const struct ip_address *from, uint64_t ms)
{
	struct connection *victim = places_victim_unknown(places);

	if (victim)
		places_bury(places, victim);
	struct connection *connection = places_take(places, from, at(ms));

	assert_non_null(connection);
	return connection;
}

/* The oldest of the source with the most goes; those of others stay, however many come. */
static void a_crowd_pushes_out_its_own(void **state)
{
	const struct ip_address crowd = address("192.0.2.66"), alone = address("198.51.100.1");
	struct places places;

	(void)state;
	assert_true(places_init(&places, 64, 8));
	struct connection *first = take(&places, &alone, 0);

	for (uint32_t i = 0; i < 1000; i++) {
		take(&places, &crowd, i);
		if (i % 50 == 49)
			places_free_dead(&places);
	}
	assert_int_equal(places.unknown.count, 64);
	assert_int_equal(first->standing, STANDING_SILENT);
	/* Newcomers of other sources get in, and stay while the crowd comes on. */
	struct connection *newcomer = take(&places, &(struct ip_address){ IP_V4, { 203, 0, 113, 9 } }, 2000);

	assert_int_equal(newcomer->standing, STANDING_SILENT);
	for (uint32_t i = 0; i < 200; i++)
		take(&places, &crowd, 3000 + i);
	assert_int_equal(newcomer->standing, STANDING_SILENT);
	assert_int_equal(first->standing, STANDING_SILENT);
	empty(&places);
}

static void the_welcome_go_last(void **state)
{
	const struct ip_address known = address("198.51.100.1");
	struct places places;

	(void)state;
	assert_true(places_init(&places, 16, 8));
	/* It was authentic once. */
	struct connection *before = take(&places, &known, 0);

	places_move(&places, before, STANDING_KNOWN);
	places_bury(&places, before);
	places_free_dead(&places);
	struct connection *now[4];

	for (size_t i = 0; i < 4; i++) {
		now[i] = take(&places, &known, 1);
		assert_true(now[i]->welcome);
	}
	/* Each of the others is one of its kind, and so has less than the welcome source. */
	for (uint32_t i = 0; i < 100; i++)
		assert_false(take(&places, &(struct ip_address){ IP_V4, { 10, 0, 0, (uint8_t)i } }, 2 + i)
				     ->welcome);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(now[i]->standing, STANDING_SILENT);
	empty(&places);
}

/* An IPv6 /64 is one source, an IPv4 address another. */
static void shares(void **state)
{
	struct places places;
	struct connection *held;

	(void)state;
	assert_true(places_init(&places, 64, 8));
	for (int i = 0; i < PLACES_SOURCE_MAX; i++) {
		char text[32] = "2001:db8:1:2::";

		text[14] = (char)('a' + i % 6);
		struct ip_address from = address(text);

		assert_int_equal(take(&places, &from, 0)->standing, STANDING_SILENT);
	}
	struct ip_address same = address("2001:db8:1:2:ffff::1"), other = address("2001:db8:1:3::1");

	held = take(&places, &same, 0);
	assert_int_equal(held->standing, STANDING_HELD);
	assert_int_equal(take(&places, &other, 0)->standing, STANDING_SILENT);
	/* As soon as one of them is gone, or known, the oldest that was held is read. */
	assert_null(places_unhold(&places, held->source));
	places_move(&places, places.unknown.head, STANDING_KNOWN);
	assert_ptr_equal(places_unhold(&places, held->source), held);
	assert_int_equal(held->standing, STANDING_SILENT);
	assert_null(places_unhold(&places, held->source));
	empty(&places);
}

static void ends(void **state)
{
	static const struct {
		enum standing standing;
		uint64_t last_in_ms, last_answer_ms, end_ms, end_pressed_ms;
	} rows[] = {
		{ STANDING_SILENT, 0, 0, 6000, 3000 },
		{ STANDING_SILENT, 2000, 0, 8000, 5000 },
		{ STANDING_SILENT, 9000, 0, 10000, 10000 },
		{ STANDING_MUTED, 1000, 0, 10000, 10000 },
		{ STANDING_HELD, 0, 0, 10000, 10000 },
		{ STANDING_SPOKEN, 1000, 0, 181000, 10000 },
		{ STANDING_KNOWN, 5000, 7000, 3607000, 3607000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct ip_address from = address("192.0.2.1");
		struct places places;

		assert_true(places_init(&places, 16, 8));
		struct connection *connection = take(&places, &from, 0);

		if (rows[i].last_in_ms)
			connection->last_in = at(rows[i].last_in_ms);
		connection->last_answer = at(rows[i].last_answer_ms);
		if (rows[i].standing != STANDING_SILENT)
			places_move(&places, connection, rows[i].standing);
		if (rows[i].standing == STANDING_HELD)
			connection->source->held = 1;
		assert_int_equal(places_end(&places, connection).ns, at(rows[i].end_ms).ns);
		for (uint32_t other = 0; other < 9; other++) {
			struct ip_address stranger = numbered(other);

			take(&places, &stranger, 0);
		}
		assert_int_equal(places_end(&places, connection).ns, at(rows[i].end_pressed_ms).ns);
		empty(&places);
	}
}

static void the_known_that_is_idle_for_longest_goes(void **state)
{
	struct places places;
	struct connection *connections[8];

	(void)state;
	assert_true(places_init(&places, 16, 8));
	for (uint32_t i = 0; i < 8; i++) {
		struct ip_address from = numbered(i);

		assert_null(places_victim_known(&places));
		connections[i] = take(&places, &from, i);
		places_move(&places, connections[i], STANDING_KNOWN);
		connections[i]->last_answer = at(100 + i * 37 % 11);
	}
	struct connection *victim = places_victim_known(&places);

	assert_non_null(victim);
	for (size_t i = 0; i < 8; i++)
		assert_true(victim->last_answer.ns <= connections[i]->last_answer.ns);
	empty(&places);
}

/* Nothing is left over, whatever comes and goes, and the counts of each source stay true. */
static void any_comings_and_goings(void **state)
{
	struct places places;
	uint64_t random = 1;

	(void)state;
	assert_true(places_init(&places, 64, 32));
	for (int i = 0; i < 100000; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		uint32_t choice = (uint32_t)(random >> 33);
		struct ip_address from = numbered(choice % 40 / 7);
		struct connection *connection = choice & 1 ? places.unknown.head : places.unknown.tail;

		switch (choice / 64 % 5) {
		case 0:
		case 1:
			take(&places, &from, 0);
			break;
		case 2:
			if (connection)
				places_bury(&places, connection);
			break;
		case 3:
			if (connection && places_victim_known(&places))
				places_bury(&places, places_victim_known(&places));
			if (connection)
				places_move(&places, connection, STANDING_KNOWN);
			break;
		case 4:
			if (connection && places_unhold(&places, connection->source))
				assert_true(connection->source->read <= PLACES_SOURCE_MAX);
			break;
		}
		if (i % 8 == 0)
			places_free_dead(&places);
		if (i % 1000)
			continue;
		for (connection = places.unknown.head; connection; connection = connection->next) {
			uint32_t read = 0, held = 0;

			for (struct connection *other = places.unknown.head; other; other = other->next) {
				read += other->source == connection->source &&
					other->standing != STANDING_HELD;
				held += other->source == connection->source &&
					other->standing == STANDING_HELD;
			}
			assert_int_equal(connection->source->read, read);
			assert_int_equal(connection->source->held, held);
		}
	}
	empty(&places);
}

static void loopback_addresses(void **state)
{
	struct sources *sources = sources_new(4096);
	size_t same = 0;
	struct ip_address last = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 4000; i++) {
		struct ip_address from = numbered(i);
		struct source *source = sources_enter(sources, &from);
		struct ip_address local;

		source->read = 1;
		local = source_loopback(source);
		assert_int_equal(local.family, IP_V4);
		assert_int_equal(local.bytes[0], 127);
		assert_in_range(local.bytes[1], 1, 254);
		assert_in_range(local.bytes[3], 1, 254);
		assert_ptr_equal(sources_enter(sources, &from), source);
		same += ip_address_equal(&local, &last);
		last = local;
	}
	assert_int_equal(same, 0);
	sources_free(sources);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_crowd_pushes_out_its_own),
		cmocka_unit_test(the_welcome_go_last),
		cmocka_unit_test(shares),
		cmocka_unit_test(ends),
		cmocka_unit_test(the_known_that_is_idle_for_longest_goes),
		cmocka_unit_test(any_comings_and_goings),
		cmocka_unit_test(loopback_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
