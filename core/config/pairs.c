/* SPDX-License-Identifier: MIT */
/* See pairs.h. Reading goes by the table of keys; writing goes over the lines of the written text, so that
 * there is one place that knows how each value is written. */
#include "core/config/pairs.h"

#include "core/base/text.h"
#include "core/base/wipe.h"
#include "core/config/error.h"
#include "core/config/keys.h"
#include "core/config/write.h"

#include <stdlib.h>
#include <string.h>

static const char name_key[] = "Name";

static bool is_name(const char *key)
{
	return text_equal_nocase(key, strlen(key), name_key);
}

static const struct profile_key *find(const char *key, bool peer)
{
	const struct profile_key *found = profile_key_find(key, strlen(key));

	return found && found->sections & (peer ? PROFILE_IN_PEER : PROFILE_IN_INTERFACE) ? found : NULL;
}

static enum profile_pair_kind kind_of(const struct profile_key *key)
{
	if (key->flags & PROFILE_KEY_SECRET)
		return PROFILE_PAIR_SECRET;
	if (key->flags & PROFILE_KEY_HOOK)
		return PROFILE_PAIR_REPEATED;
	return key->flags & PROFILE_KEY_LIST ? PROFILE_PAIR_LIST : PROFILE_PAIR_ONE;
}

enum profile_pair_kind profile_pair_kind(const char *key, bool peer)
{
	const struct profile_key *found = find(key, peer);

	if (is_name(key))
		return PROFILE_PAIR_ONE;
	return found ? kind_of(found) : PROFILE_PAIR_NONE;
}

const char *profile_pair_key(size_t index)
{
	if (index == 0)
		return name_key;
	return index <= profile_key_count ? profile_keys[index - 1].name : NULL;
}

/* ---- setting ---- */

static bool check_bytes(
	const char *key, const char *value, size_t len, bool comment, struct profile_error *error)
{
	struct profile_error wrong = { 0 };

	for (size_t i = 0; i < len; i++) {
		if ((uint8_t)value[i] < 0x20 || value[i] == 0x7f)
			return profile_fail(error, 0, 0,
				"the value of %s has a control character (0x%02x): delete it, also if it is "
				"a line break",
				key, (uint8_t)value[i]);
		if (value[i] == '#' && !comment)
			return profile_fail(error, 0, 0,
				"the value of %s has a #, which begins a comment in a profile: leave it out",
				key);
	}
	if (profile_text_check(value, len, &wrong))
		return true;
	return profile_fail(error, 0, 0, "the value of %s is not UTF-8 text, or too long: correct it", key);
}

static bool set_name(
	struct profile *profile, size_t peer, const char *value, size_t len, struct profile_error *error)
{
	char *name = peer == PROFILE_EDIT_INTERFACE ? profile->name : profile->peers[peer].name;

	if (len >= PROFILE_DISPLAY_NAME_LEN)
		return profile_fail(error, 0, 0, "the name is longer than %d bytes: take a shorter one",
			PROFILE_DISPLAY_NAME_LEN - 1);
	memcpy(name, value, len);
	name[len] = 0;
	return true;
}

bool profile_pair_set(struct profile *profile, size_t peer, const char *key, const char *value, size_t len,
	struct profile_error *error)
{
	bool in_peer = peer != PROFILE_EDIT_INTERFACE;
	const struct profile_key *found = find(key, in_peer);
	struct profile_line line = {
		.start = value, .end = value + len, .next = value + len, .value = value
	};
	struct profile_reading reading = { profile, in_peer ? &profile->peers[peer] : NULL, &line, found,
		error };
	char quote[PROFILE_QUOTE_LEN];

	if (!found && !is_name(key))
		return profile_fail(error, 0, 0, "there is no key \"%s\" in %s: delete it",
			profile_quote(key, strlen(key), quote), in_peer ? "[Peer]" : "[Interface]");
	if (!check_bytes(found ? found->name : name_key, value, len,
		    !found || found->flags & PROFILE_KEY_HOOK, error))
		return false;
	while (len && text_is_blank(value[0])) {
		value++;
		len--;
	}
	while (len && text_is_blank(value[len - 1]))
		len--;
	line.value = line.start = value;
	line.value_len = line.whole_len = len;
	if (!found)
		return set_name(profile, peer, value, len, error);
	if (len == 0)
		return found->flags & PROFILE_KEY_LIST ||
		       profile_fail(error, 0, 0, "%s has no value: write one as %s, or leave the key out",
			       found->name, found->example);
	if (!found->read(&reading, value, len)) {
		error->line = error->column = 0;
		return false;
	}
	return true;
}

/* ---- the whole ---- */

static bool is_zero(const uint8_t key[PROFILE_KEY_LEN])
{
	static const uint8_t zero[PROFILE_KEY_LEN];

	return memcmp(key, zero, PROFILE_KEY_LEN) == 0;
}

static bool check_peer(const struct profile *profile, size_t peer, struct profile_error *error)
{
	const uint8_t *key = profile->peers[peer].public_key;

	if (is_zero(key))
		return profile_fail(error, 0, 0,
			"peer %lu has no PublicKey: give it the key of the other side",
			(unsigned long)peer + 1);
	if (memcmp(key, profile->private_key, PROFILE_KEY_LEN) == 0)
		return profile_fail(error, 0, 0,
			"PublicKey of peer %lu is the profile's own PrivateKey: put the public key of the "
			"other side there",
			(unsigned long)peer + 1);
	for (size_t i = 0; i < peer; i++)
		if (memcmp(key, profile->peers[i].public_key, PROFILE_KEY_LEN) == 0)
			return profile_fail(error, 0, 0,
				"peers %lu and %lu have the same PublicKey: join them, or correct one key",
				(unsigned long)i + 1, (unsigned long)peer + 1);
	return true;
}

bool profile_pairs_check(const struct profile *profile, struct profile_error *error)
{
	if (is_zero(profile->private_key))
		return profile_fail(error, 0, 0, "there is no PrivateKey: `wgtcp-cli genkey` makes one");
	for (size_t i = 0; i < profile->address_count && profile->mtu; i++)
		if (profile->addresses[i].address.family == IP_V6 && profile->mtu < 1280)
			return profile_fail(error, 0, 0,
				"MTU is %u, but IPv6 needs at least 1280 and Address has an IPv6 address: "
				"set MTU to 1280 or more",
				(unsigned)profile->mtu);
	for (size_t i = 0; i < profile->peer_count; i++)
		if (!check_peer(profile, i, error))
			return false;
	return true;
}

/* ---- writing ---- */

/* A list that is being put together from its lines. */
struct joined {
	char *text;
	size_t len;
};

static bool join(struct joined *joined, const struct profile_line *line, size_t len)
{
	char *text = malloc(joined->len + len + 3);

	if (!text)
		return false;
	if (joined->len) {
		memcpy(text, joined->text, joined->len);
		memcpy(text + joined->len, ", ", 2);
		joined->len += 2;
	}
	memcpy(text + joined->len, line->value, len);
	joined->len += len;
	text[joined->len] = 0;
	free(joined->text);
	joined->text = text;
	return true;
}

static void wipe(struct joined *joined)
{
	if (joined->text)
		memory_wipe(joined->text, joined->len);
	free(joined->text);
	*joined = (struct joined){ 0 };
}

static bool goes_on(
	const char *text, size_t len, const struct profile_line *line, const struct profile_key *key)
{
	struct profile_line next = *line;

	return key->flags & PROFILE_KEY_LIST && profile_line_next(text, len, &next) &&
	       next.kind == PROFILE_LINE_PAIR && profile_key_find(next.key, next.key_len) == key;
}

bool profile_pairs_each(const struct profile *profile,
	bool (*one)(size_t peer, const char *key, const char *value, void *user), void *user)
{
	size_t len, peer = PROFILE_EDIT_INTERFACE;
	char *text = profile_write(profile, false, &len);
	struct profile_line line = { 0 };
	struct joined value = { 0 };
	bool ok = text != NULL;

	while (ok && profile_line_next(text, len, &line)) {
		const struct profile_key *key = NULL;

		if (line.kind == PROFILE_LINE_SECTION && text_equal_nocase(line.key, line.key_len, "Peer"))
			peer = peer == PROFILE_EDIT_INTERFACE ? 0 : peer + 1;
		if (line.kind == PROFILE_LINE_PAIR)
			key = profile_key_find(line.key, line.key_len);
		if (!key && line.kind != PROFILE_LINE_NAME)
			continue;
		ok = join(&value, &line,
			key && key->flags & PROFILE_KEY_HOOK ? line.whole_len : line.value_len);
		if (!ok || (key && goes_on(text, len, &line, key)))
			continue;
		ok = one(peer, key ? key->name : name_key, value.text, user);
		wipe(&value);
	}
	wipe(&value);
	profile_text_free(text, text ? len : 0);
	return ok;
}
