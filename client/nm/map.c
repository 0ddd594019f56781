/* SPDX-License-Identifier: MIT */
/* See map.h. Used by the service (as root, on what any user may have written), the plugin and the editors. */
#include "client/nm/map.h"

#include "core/base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PEER "peer-"
#define FLAGS "-flags"
#define REPEATS_MAX 100

/* An entry's name taken apart. */
struct place {
	const struct nm_entry *entry;
	size_t peer;     /* from 0, or PROFILE_EDIT_INTERFACE */
	const char *key; /* of the profile */
	unsigned number; /* of one that is repeated, from 1; else 0 */
	bool flags;      /* how a secret is stored */
	enum profile_pair_kind kind;
};

__attribute__((format(printf, 2, 3))) static bool fail(struct profile_error *error, const char *format, ...)
{
	va_list arguments;

	error->line = error->column = 0;
	va_start(arguments, format);
	vsnprintf(error->sentence, sizeof(error->sentence), format, arguments);
	va_end(arguments);
	return false;
}

/* "AllowedIPs" to "allowed-ips". */
static size_t hyphenate(const char *key, char *out)
{
	size_t len = 0;

	for (size_t i = 0; key[i]; i++) {
		char lower = text_lower(key[i]);

		if (i && lower != key[i] && text_lower(key[i - 1]) == key[i - 1])
			out[len++] = '-';
		out[len++] = lower;
	}
	out[len] = 0;
	return len;
}

void nm_map_key(const char *key, size_t peer, char out[NM_MAP_KEY_LEN])
{
	int len = peer == PROFILE_EDIT_INTERFACE
			  ? 0
			  : snprintf(out, NM_MAP_KEY_LEN, PEER "%lu.", (unsigned long)peer + 1);

	hyphenate(key, out + len);
}

static const char *find_key(const char *name, size_t len)
{
	char hyphenated[NM_MAP_KEY_LEN];
	const char *key;

	for (size_t i = 0; (key = profile_pair_key(i)); i++)
		if (hyphenate(key, hyphenated) == len && memcmp(hyphenated, name, len) == 0)
			return key;
	return NULL;
}

/* "peer-N.": how long it is, 0 when name does not begin like that. */
static size_t take_peer(const char *name, size_t *peer)
{
	const char *digits = name + strlen(PEER), *dot = strchr(name, '.');
	uint64_t number;

	if (strncmp(name, PEER, strlen(PEER)) != 0 || !dot || dot < digits ||
		!text_parse_decimal(digits, (size_t)(dot - digits), 1, NM_MAP_PEERS_MAX, &number))
		return 0;
	*peer = (size_t)number - 1;
	return (size_t)(dot + 1 - name);
}

/* False: there is no such entry. */
static bool take_apart(const char *name, struct place *out)
{
	struct place place = { .peer = PROFILE_EDIT_INTERFACE };
	const char *rest, *dot;
	size_t len, flags_len = strlen(FLAGS);
	uint64_t number;

	rest = name + take_peer(name, &place.peer);
	len = strlen(rest);
	dot = strchr(rest, '.');
	if (dot) {
		if (!text_parse_decimal(dot + 1, strlen(dot + 1), 1, REPEATS_MAX, &number))
			return false;
		place.number = (unsigned)number;
		len = (size_t)(dot - rest);
	} else if (len > flags_len && !strcmp(rest + len - flags_len, FLAGS)) {
		place.flags = true;
		len -= flags_len;
	}
	place.key = find_key(rest, len);
	if (!place.key)
		return false;
	place.kind = profile_pair_kind(place.key, place.peer != PROFILE_EDIT_INTERFACE);
	if (place.kind == PROFILE_PAIR_NONE || (place.number != 0) != (place.kind == PROFILE_PAIR_REPEATED) ||
		(place.flags && place.kind != PROFILE_PAIR_SECRET))
		return false;
	*out = place;
	return true;
}

bool nm_map_is_secret(const char *key, size_t *peer)
{
	struct place place;

	if (!take_apart(key, &place) || place.kind != PROFILE_PAIR_SECRET || place.flags)
		return false;
	*peer = place.peer;
	return true;
}

/* ---- reading ---- */

/* Of one key in the order of its numbers; everything else in any order, but always the same. */
static int compare(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	if (a->peer != b->peer)
		return a->peer + 1 < b->peer + 1 ? -1 : 1; /* the interface first */
	if (a->key != b->key)
		return strcmp(a->key, b->key);
	return (a->number > b->number) - (a->number < b->number);
}

static bool find_place(const struct nm_entry *entry, struct place *place, struct profile_error *error)
{
	char shown[NM_MAP_KEY_LEN];
	uint64_t flags;

	/* It may be long, or upset a terminal. */
	snprintf(shown, sizeof(shown), "%s", entry->key);
	for (size_t i = 0; shown[i]; i++)
		if (shown[i] < 0x21 || shown[i] > 0x7e)
			shown[i] = '?';
	if (!take_apart(entry->key, place))
		return fail(error, "the connection has \"%s\", which no profile has: delete it", shown);
	place->entry = entry;
	if (place->flags && !text_parse_decimal(entry->value, strlen(entry->value), 0, 7, &flags))
		return fail(error, "%s must be a number from 0 to 7, as NetworkManager writes it", shown);
	if (place->kind == PROFILE_PAIR_SECRET && !place->flags && !entry->secret)
		return fail(error, "%s stands among the data, which everybody may read: set it as a secret",
			shown);
	if (place->kind != PROFILE_PAIR_SECRET && entry->secret)
		return fail(error, "%s is no secret: set it among the data", shown);
	return true;
}

static bool add_peers(
	struct profile *profile, const struct place *places, size_t count, struct profile_error *error)
{
	size_t peers = 0;

	for (size_t i = 0; i < count; i++)
		if (places[i].peer != PROFILE_EDIT_INTERFACE && places[i].peer + 1 > peers)
			peers = places[i].peer + 1;
	while (profile->peer_count < peers)
		if (!profile_add_peer(profile))
			return fail(error, "memory is short");
	return true;
}

static bool read_all(
	const struct place *places, size_t count, struct profile *profile, struct profile_error *error)
{
	if (!add_peers(profile, places, count, error))
		return false;
	for (size_t i = 0; i < count; i++) {
		const char *value = places[i].entry->value;

		if (!places[i].flags && !profile_pair_set(profile, places[i].peer, places[i].key, value,
						strlen(value), error))
			return false;
	}
	return true;
}

bool nm_map_read(const struct nm_entry *entries, size_t count, bool complete, struct profile *out,
	struct profile_error *error)
{
	struct place *places = calloc(count + 1, sizeof(*places));
	struct profile profile;
	bool ok = places != NULL;

	profile_init(&profile);
	if (!ok)
		fail(error, "memory is short");
	for (size_t i = 0; i < count && ok; i++)
		ok = find_place(&entries[i], &places[i], error);
	if (ok)
		qsort(places, count, sizeof(*places), compare);
	ok = ok && read_all(places, count, &profile, error) &&
	     (!complete || profile_pairs_check(&profile, error));
	free(places);
	if (ok)
		*out = profile;
	else
		profile_free(&profile);
	return ok;
}

/* ---- writing ---- */

struct writing {
	const char *last;
	unsigned number;
	bool (*one)(const char *key, const char *value, bool secret, void *user);
	void *user;
};

/* 32 zero bytes as base64. */
static bool is_zero(const char *key)
{
	size_t len = strspn(key, "A");

	return len == 43 && !strcmp(key + len, "=");
}

static bool write_one(size_t peer, const char *key, const char *value, void *user)
{
	struct writing *writing = user;
	enum profile_pair_kind kind = profile_pair_kind(key, peer != PROFILE_EDIT_INTERFACE);
	char name[NM_MAP_KEY_LEN];
	size_t len;

	if (peer != PROFILE_EDIT_INTERFACE && peer >= NM_MAP_PEERS_MAX)
		return false;
	nm_map_key(key, peer, name);
	if (kind == PROFILE_PAIR_SECRET && is_zero(value))
		return true; /* it is not known here */
	if (kind == PROFILE_PAIR_REPEATED) {
		writing->number = writing->last && !strcmp(writing->last, key) ? writing->number + 1 : 1;
		len = strlen(name);
		snprintf(name + len, sizeof(name) - len, ".%u", writing->number);
	}
	writing->last = key;
	return writing->number <= REPEATS_MAX &&
	       writing->one(name, value, kind == PROFILE_PAIR_SECRET, writing->user);
}

bool nm_map_write(const struct profile *profile,
	bool (*one)(const char *key, const char *value, bool secret, void *user), void *user)
{
	struct writing writing = { .one = one, .user = user };

	return profile_pairs_each(profile, write_one, &writing);
}
