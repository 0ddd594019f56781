/* SPDX-License-Identifier: MIT */
/* The trie against a list that is searched from end to end, with random operations. */
#include "core/tunnel/allowed_ips.h"

#include "core/base/bytes.h"
#include "core/tunnel/peer.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

/* The linker puts these before the ones of libc (--wrap): blocks in use. */
static size_t blocks;
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);
void __real_free(void *block);
void __wrap_free(void *block);

void *__wrap_calloc(size_t count, size_t size)
{
	blocks++;
	return __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	blocks += !old;
	return __real_realloc(old, size);
}

void __wrap_free(void *block)
{
	blocks -= block != NULL;
	__real_free(block);
}

#define PEERS 5
#define PREFIXES_MAX 512

/* xorshift64*, so that a failure can be had again. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 2685821657736338717ull;
}

struct model {
	struct {
		struct ip_prefix prefix;
		struct peer *peer;
	} entries[PREFIXES_MAX];
	size_t count;
};

static size_t model_find(const struct model *model, const struct ip_prefix *network)
{
	size_t i = 0;

	while (i < model->count &&
		(model->entries[i].prefix.bits != network->bits ||
			!ip_address_equal(&model->entries[i].prefix.address, &network->address)))
		i++;
	return i;
}

/* Keeps the order, which is that of insertion for each peer. */
static void model_remove(struct model *model, size_t at)
{
	memmove(&model->entries[at], &model->entries[at + 1],
		(model->count - at - 1) * sizeof(model->entries[0]));
	model->count--;
}

static void model_insert(struct model *model, const struct ip_prefix *network, struct peer *peer)
{
	size_t at = model_find(model, network);

	if (at < model->count) {
		if (model->entries[at].peer == peer)
			return;
		model_remove(model, at);
	}
	model->entries[model->count].prefix = *network;
	model->entries[model->count++].peer = peer;
}

static struct peer *model_lookup(const struct model *model, const struct ip_address *address)
{
	struct peer *best = NULL;
	int bits = -1;

	for (size_t i = 0; i < model->count; i++) {
		if (model->entries[i].prefix.bits > bits &&
			ip_prefix_contains(&model->entries[i].prefix, address)) {
			bits = model->entries[i].prefix.bits;
			best = model->entries[i].peer;
		}
	}
	return best;
}

/* Few distinct bits, so that prefixes lie inside each other, and repeat. */
static struct ip_prefix random_prefix(uint64_t *random)
{
	struct ip_prefix prefix = { .address.family = next_random(random) & 1 ? IP_V4 : IP_V6 };
	unsigned most = prefix.address.family == IP_V4 ? 32 : 128;

	for (unsigned i = 0; i < most / 8; i++)
		prefix.address.bytes[i] =
			(uint8_t)(next_random(random) & next_random(random) & next_random(random));
	prefix.bits = (uint8_t)(next_random(random) % (most + 1));
	if (next_random(random) % 4 == 0)
		prefix.bits = (uint8_t)(next_random(random) % 9);
	return prefix;
}

static void same_list(const struct allowed_ips *table, const struct model *model, const struct peer *peer)
{
	struct ip_prefix prefix;
	size_t cursor = 0;

	for (size_t i = 0; i < model->count; i++) {
		if (model->entries[i].peer != peer)
			continue;
		assert_true(allowed_ips_next(table, peer, &cursor, &prefix));
		assert_int_equal(prefix.bits, model->entries[i].prefix.bits);
		assert_true(ip_address_equal(&prefix.address, &model->entries[i].prefix.address));
	}
	assert_false(allowed_ips_next(table, peer, &cursor, &prefix));
}

static void run_random(uint64_t seed, size_t steps, size_t most)
{
	static struct peer peers[PEERS];
	static struct model model;
	size_t before = blocks;
	struct allowed_ips *table = allowed_ips_new();
	uint64_t random = seed;

	memset(peers, 0, sizeof(peers));
	model.count = 0;
	assert_non_null(table);
	for (size_t step = 0; step < steps; step++) {
		struct peer *peer = &peers[next_random(&random) % PEERS];
		struct ip_prefix prefix = random_prefix(&random), network;
		uint64_t what = next_random(&random) % 100;

		if (model.count > 0 && next_random(&random) % 2) /* one that is there */
			prefix = model.entries[next_random(&random) % model.count].prefix;
		network = ip_prefix_network(&prefix);
		if (what < 60 && model.count < most) {
			assert_true(allowed_ips_insert(table, &prefix, peer));
			model_insert(&model, &network, peer);
		} else if (what < 98) {
			size_t at = model_find(&model, &network);
			bool there = at < model.count && model.entries[at].peer == peer;

			assert_int_equal(allowed_ips_remove(table, &prefix, peer), there);
			if (there)
				model_remove(&model, at);
		} else {
			allowed_ips_remove_peer(table, peer);
			for (size_t i = model.count; i-- > 0;) {
				if (model.entries[i].peer == peer)
					model_remove(&model, i);
			}
		}
		for (int i = 0; i < 4; i++) {
			struct ip_address address = random_prefix(&random).address;

			if (i == 3)
				address = prefix.address;
			assert_ptr_equal(allowed_ips_lookup(table, address.family, address.bytes),
				model_lookup(&model, &address));
		}
		/* The table, a list for each peer, and fewer than two nodes a prefix. */
		assert_in_range(blocks - before, 1, 1 + PEERS + 2 * model.count);
		if (step % 64 == 0)
			same_list(table, &model, peer);
	}
	for (size_t i = 0; i < PEERS; i++) {
		same_list(table, &model, &peers[i]);
		if (i % 2)
			allowed_ips_remove_peer(table, &peers[i]);
	}
	allowed_ips_free(table);
	for (size_t i = 0; i < PEERS; i++)
		assert_null(peers[i].allowed.nodes);
}

static void agrees_with_the_model(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++)
		run_random(seed * 0x9e3779b97f4a7c15, 2000, seed % 3 == 0 ? 16 : PREFIXES_MAX - 1);
}

static void host_bits_are_ignored_and_prefixes_move(void **state)
{
	struct peer first = { 0 }, second = { 0 };
	struct allowed_ips *table = allowed_ips_new();
	struct ip_prefix out, prefix = { { IP_V4, { 10, 1, 2, 3 } }, 8 };
	size_t cursor = 0;

	(void)state;
	assert_true(allowed_ips_insert(table, &prefix, &first));
	assert_ptr_equal(allowed_ips_lookup(table, IP_V4, (uint8_t[]){ 10, 255, 0, 1 }), &first);
	assert_null(allowed_ips_lookup(table, IP_V4, (uint8_t[]){ 11, 0, 0, 1 }));
	assert_null(allowed_ips_lookup(table, IP_V6, (uint8_t[16]){ 10 }));
	assert_true(allowed_ips_next(table, &first, &cursor, &out));
	assert_int_equal(out.address.bytes[1], 0);
	assert_false(allowed_ips_remove(table, &prefix, &second));
	assert_true(allowed_ips_insert(table, &prefix, &second)); /* moves */
	cursor = 0;
	assert_false(allowed_ips_next(table, &first, &cursor, &out));
	assert_ptr_equal(allowed_ips_lookup(table, IP_V4, (uint8_t[]){ 10, 9, 9, 9 }), &second);
	prefix.bits = 33;
	assert_false(allowed_ips_insert(table, &prefix, &first));
	assert_false(allowed_ips_remove(table, &prefix, &second));
	prefix.address.family = IP_NONE;
	prefix.bits = 0;
	assert_false(allowed_ips_insert(table, &prefix, &first));
	allowed_ips_remove_peer(table, &second);
	assert_null(allowed_ips_lookup(table, IP_V4, (uint8_t[]){ 10, 9, 9, 9 }));
	allowed_ips_free(table);
}

static void a_walk_survives_removals(void **state)
{
	struct peer peer = { 0 };
	struct allowed_ips *table = allowed_ips_new();
	struct ip_prefix prefix = { { IP_V4, { 10 } }, 32 };
	size_t cursor = 0, seen = 0;

	(void)state;
	for (uint8_t i = 0; i < 100; i++) {
		prefix.address.bytes[3] = i;
		assert_true(allowed_ips_insert(table, &prefix, &peer));
	}
	while (allowed_ips_next(table, &peer, &cursor, &prefix)) {
		seen++;
		assert_true(allowed_ips_remove(table, &prefix, &peer));
	}
	assert_int_equal(seen, 100);
	assert_null(peer.allowed.nodes);
	allowed_ips_free(table);
}

static void forty_thousand_prefixes(void **state)
{
	struct peer peers[2] = { { .usable = false } };
	struct allowed_ips *table = allowed_ips_new();
	struct ip_prefix prefix = { { IP_V4, { 0 } }, 28 };
	size_t cursor = 0, seen = 0;

	(void)state;
	for (uint32_t i = 0; i < 40000; i++) {
		put_be32(prefix.address.bytes, i * 2654435761u & ~15u);
		assert_true(allowed_ips_insert(table, &prefix, &peers[i & 1]));
	}
	for (uint32_t i = 0; i < 40000; i++) {
		put_be32(prefix.address.bytes, (i * 2654435761u & ~15u) | 7);
		assert_ptr_equal(allowed_ips_lookup(table, IP_V4, prefix.address.bytes), &peers[i & 1]);
	}
	/* All of them move, then go one by one. */
	while (allowed_ips_next(table, &peers[0], &cursor, &prefix))
		assert_true(allowed_ips_insert(table, &prefix, &peers[1]));
	for (cursor = 0; allowed_ips_next(table, &peers[1], &cursor, &prefix); seen++)
		assert_true(allowed_ips_remove(table, &prefix, &peers[1]));
	assert_int_equal(seen, 40000);
	allowed_ips_free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_the_model),
		cmocka_unit_test(host_bits_are_ignored_and_prefixes_move),
		cmocka_unit_test(a_walk_survives_removals),
		cmocka_unit_test(forty_thousand_prefixes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
