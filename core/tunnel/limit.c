/* SPDX-License-Identifier: MIT */
/* Load and rate limit of handshakes. Called by receive.c. The table keeps a keyed hash for each source rather
 * than the source; a set that is full gives up its longest unused entry, so the worst that an attacker with
 * very many addresses gains is that some bucket starts full again. Source: WireGuard paper 5.3. */
#include "core/tunnel/limit.h"

#include "core/crypto/crypto.h"
#include "core/tunnel/sources.h"

#include <stdlib.h>
#include <string.h>

#define SECOND_NS 1000000000ull
#define TOKEN_NS (SECOND_NS / LIMIT_PER_S)
#define BUCKET_NS (TOKEN_NS * LIMIT_BURST)

#define SETS 1024
#define WAYS 4

struct bucket {
	uint64_t source;    /* keyed hash; 0: free */
	uint64_t credit_ns; /* TOKEN_NS are one handshake */
	struct mono last;
};

struct limit {
	uint8_t key[16];
	struct bucket buckets[SETS][WAYS];
};

static void load_turn(struct load *load, struct mono now)
{
	uint64_t age = mono_since_ns(now, load->window);

	if (!mono_is_set(load->window))
		age = 2 * SECOND_NS;
	if (age < SECOND_NS)
		return;
	load->before = age < 2 * SECOND_NS ? load->count : 0;
	load->count = 0;
	load->window = age < 2 * SECOND_NS ? mono_add_ns(load->window, SECOND_NS) : now;
}

void load_note(struct load *load, struct mono now)
{
	load_turn(load, now);
	if (load->count < UINT32_MAX)
		load->count++;
	/* The part of the second before that still lies within the last second. */
	uint64_t left = SECOND_NS - mono_since_ns(now, load->window);
	uint64_t last_second = load->count + load->before * left / SECOND_NS;

	if (last_second > LOAD_INITIATIONS_PER_S)
		load->high_until = mono_add_ms(now, LOAD_HOLD_MS);
}

bool load_is_high(const struct load *load, struct mono now)
{
	return now.ns < load->high_until.ns;
}

struct limit *limit_new(void)
{
	struct limit *limit = calloc(1, sizeof(*limit));

	if (limit)
		random_fill(limit->key, sizeof(limit->key));
	return limit;
}

void limit_free(struct limit *limit)
{
	free(limit);
}

bool limit_allow(struct limit *limit, const struct ip_address *source, struct mono now)
{
	uint64_t hash = source_hash(limit->key, source);
	struct bucket *set = limit->buckets[hash % SETS], *bucket = &set[0];

	for (size_t way = 0; way < WAYS; way++) {
		if (set[way].source == hash) {
			bucket = &set[way];
			break;
		}
		if (set[way].last.ns < bucket->last.ns) /* free ones were used at 0 */
			bucket = &set[way];
	}
	if (bucket->source != hash)
		*bucket = (struct bucket){ hash, BUCKET_NS, now };

	uint64_t credit = bucket->credit_ns + mono_since_ns(now, bucket->last);

	bucket->credit_ns = credit < BUCKET_NS ? credit : BUCKET_NS;
	bucket->last = now;
	if (bucket->credit_ns < TOKEN_NS)
		return false;
	bucket->credit_ns -= TOKEN_NS;
	return true;
}
