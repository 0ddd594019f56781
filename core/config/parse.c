/* SPDX-License-Identifier: MIT */
/* The profile parser: lines to sections to keys, then what only a whole section or file can tell.
 * Source: wg-quick(8), wg(8). Stricter than they are where they would silently take the last of two values.
 */
#include "core/config/parse.h"

#include "core/base/text.h"
#include "core/base/wipe.h"
#include "core/config/error.h"
#include "core/config/keys.h"
#include "core/config/warn.h"

#include <stdlib.h>
#include <string.h>

/* A longer "key" is no key, and may be a secret that lost its line. */
#define KEY_NAME_MAX 24

struct parser {
	struct profile profile;
	struct profile_error error;
	struct profile_line line;
	unsigned section;                /* PROFILE_IN_INTERFACE, PROFILE_IN_PEER, or 0 before the first */
	struct profile_peer *peer;       /* of the section, or NULL */
	unsigned seen[PROFILE_KEYS_MAX]; /* by the index of the key: the line in this section */
	struct profile_places places;
};

static const char *section_name(unsigned section)
{
	return section == PROFILE_IN_PEER ? "[Peer]" : "[Interface]";
}

static unsigned seen_line(const struct parser *parser, const char *name)
{
	return parser->seen[profile_key_find(name, strlen(name)) - profile_keys];
}

static bool fail_no_memory(struct parser *parser)
{
	return profile_fail(&parser->error, parser->line.number, 1,
		"there is not enough memory to read the profile: close something and try again");
}

static unsigned column_of(const struct parser *parser, const char *at)
{
	return (unsigned)(at - parser->line.start) + 1;
}

static bool check_mtu(struct parser *parser)
{
	struct profile *profile = &parser->profile;

	for (size_t i = 0; i < profile->address_count && profile->mtu; i++)
		if (profile->addresses[i].address.family == IP_V6 && profile->mtu < 1280)
			return profile_fail(&parser->error, seen_line(parser, "MTU"), 1,
				"MTU is %u, but IPv6 needs at least 1280 and Address has an IPv6 address: "
				"set MTU = 1280 or more",
				(unsigned)profile->mtu);
	return true;
}

/* What is wrong with the section that ends here. */
static bool finish_section(struct parser *parser)
{
	if (parser->section == PROFILE_IN_PEER) {
		if (!seen_line(parser, "PublicKey"))
			return profile_fail(&parser->error, parser->peer->line, 1,
				"this [Peer] has no PublicKey: add the line PublicKey = KEY with the key of "
				"the other side");
		return true;
	}
	if (parser->section == PROFILE_IN_INTERFACE) {
		if (!seen_line(parser, "PrivateKey"))
			return profile_fail(&parser->error, parser->places.interface, 1,
				"[Interface] has no PrivateKey: add the line PrivateKey = KEY (`wgtcp-cli "
				"genkey` makes one)");
		return check_mtu(parser);
	}
	return true;
}

static bool start_section(struct parser *parser)
{
	const struct profile_line *line = &parser->line;
	unsigned column = column_of(parser, line->key);
	char quote[PROFILE_QUOTE_LEN];

	if (!finish_section(parser))
		return false;
	memset(parser->seen, 0, sizeof(parser->seen));
	if (text_equal_nocase(line->key, line->key_len, "Interface")) {
		if (parser->places.interface)
			return profile_fail(&parser->error, line->number, column,
				"there are two [Interface] sections, the first in line %u: a profile has "
				"one, so delete one of them",
				parser->places.interface);
		parser->section = PROFILE_IN_INTERFACE;
		parser->places.interface = line->number;
		parser->peer = NULL;
		return true;
	}
	if (!text_equal_nocase(line->key, line->key_len, "Peer"))
		return profile_fail(&parser->error, line->number, column,
			"there is no section [%s]: a profile has one [Interface], and a [Peer] for each "
			"peer%s",
			profile_quote(line->key, line->key_len, quote),
			text_equal_nocase(line->key, line->key_len, "Peers") ? "; did you mean [Peer]?" : "");
	parser->peer = profile_add_peer(&parser->profile);
	if (!parser->peer)
		return fail_no_memory(parser);
	parser->peer->line = line->number;
	parser->section = PROFILE_IN_PEER;
	return true;
}

/* A name too long is cut, since a comment is never an error; the first one of a section counts. */
static void take_name(const struct parser *parser, char name[PROFILE_DISPLAY_NAME_LEN])
{
	const char *value = parser->line.value;
	size_t len = parser->line.value_len;

	if (name[0])
		return;
	if (len >= PROFILE_DISPLAY_NAME_LEN) {
		len = PROFILE_DISPLAY_NAME_LEN - 1;
		while (len > 0 && ((uint8_t)value[len] & 0xc0) == 0x80) /* not half a UTF-8 character */
			len--;
		while (len > 0 && text_is_blank(value[len - 1]))
			len--;
	}
	memcpy(name, value, len);
	name[len] = 0;
}

static bool fail_other(struct parser *parser)
{
	const struct profile_line *line = &parser->line;
	const char *start = line->start;

	while (start < line->end && text_is_blank(*start))
		start++;
	if (*start == '[')
		return profile_fail(&parser->error, line->number, column_of(parser, start),
			"a section must stand alone in its line, as [Interface] or [Peer]: put what follows "
			"into the next line");
	return profile_fail(&parser->error, line->number, column_of(parser, start),
		"the line is not KEY = VALUE: complete it, or put # before it if it is a comment");
}

static bool fail_unknown_key(struct parser *parser)
{
	const struct profile_line *line = &parser->line;
	unsigned column = column_of(parser, line->key);
	const char *nearest;
	char quote[PROFILE_QUOTE_LEN];

	if (line->key_len > KEY_NAME_MAX)
		return fail_other(parser);
	for (size_t i = 0; i < line->key_len; i++) {
		if (text_is_blank(line->key[i]))
			return fail_other(parser);
		if ((uint8_t)line->key[i] >= 0x80)
			return profile_fail(&parser->error, line->number, column,
				"the key has a character that no key has, as text pasted from a web page "
				"may: type the key again");
	}
	if (text_equal_nocase(line->key, line->key_len, "Name"))
		return profile_fail(&parser->error, line->number, column,
			"Name is not a key of wg-quick's format: write it as a comment, # Name = ...");
	nearest = profile_key_nearest(line->key, line->key_len, parser->section);
	if (!nearest)
		nearest =
			profile_key_nearest(line->key, line->key_len, PROFILE_IN_INTERFACE | PROFILE_IN_PEER);
	profile_quote(line->key, line->key_len, quote);
	if (nearest)
		return profile_fail(&parser->error, line->number, column,
			"there is no key \"%s\": did you mean %s?", quote, nearest);
	return profile_fail(&parser->error, line->number, column,
		"there is no key \"%s\": delete the line, or put # before it", quote);
}

static bool fail_value(struct parser *parser, const struct profile_key *key, const char *value, size_t len)
{
	size_t lost_len;
	const char *lost = profile_lost_line(value, len, &lost_len);

	if (!lost)
		return false;
	return profile_fail(&parser->error, parser->line.number, column_of(parser, lost),
		"in the value of %s stands \"%.*s\": a line break was probably lost before it, so start a "
		"new line there",
		key->name, (int)lost_len, lost);
}

static void note_places(struct parser *parser, const struct profile_key *key)
{
	if (text_equal(key->name, strlen(key->name), "DNS"))
		parser->places.dns = parser->line.number;
	else if (text_equal(key->name, strlen(key->name), "SaveConfig"))
		parser->places.save_config = parser->line.number;
	else if (key->flags & PROFILE_KEY_HOOK && !parser->places.hook)
		parser->places.hook = parser->line.number;
}

static bool read_pair(struct parser *parser)
{
	const struct profile_line *line = &parser->line;
	const struct profile_key *key = profile_key_find(line->key, line->key_len);
	struct profile_reading reading = { &parser->profile, parser->peer, line, key, &parser->error };
	unsigned column = column_of(parser, line->key);
	size_t value_len;

	if (!key)
		return fail_unknown_key(parser);
	if (!parser->section)
		return profile_fail(&parser->error, line->number, column,
			"%s stands before the first section: put the line [%s] before it", key->name,
			key->sections & PROFILE_IN_INTERFACE ? "Interface" : "Peer");
	if (!(key->sections & parser->section))
		return profile_fail(&parser->error, line->number, column,
			"%s belongs into %s, not into %s: move the line there", key->name,
			section_name(key->sections), section_name(parser->section));
	if (parser->seen[key - profile_keys] && !(key->flags & (PROFILE_KEY_LIST | PROFILE_KEY_HOOK)))
		return profile_fail(&parser->error, line->number, column,
			"%s stands twice in this section, first in line %u: delete one of the two lines",
			key->name, parser->seen[key - profile_keys]);
	parser->seen[key - profile_keys] = line->number;
	note_places(parser, key);
	value_len = key->flags & PROFILE_KEY_HOOK ? line->whole_len : line->value_len;
	if (value_len == 0) {
		if (key->flags & PROFILE_KEY_LIST)
			return true;
		return profile_fail(&parser->error, line->number, column_of(parser, line->value),
			"%s has no value: write %s = %s, or delete the line", key->name, key->name,
			key->example);
	}
	return key->read(&reading, line->value, value_len) || fail_value(parser, key, line->value, value_len);
}

static bool read_line(struct parser *parser)
{
	switch (parser->line.kind) {
	case PROFILE_LINE_EMPTY:
		return true;
	case PROFILE_LINE_NAME:
		take_name(parser, parser->peer ? parser->peer->name : parser->profile.name);
		return true;
	case PROFILE_LINE_SECTION:
		return start_section(parser);
	case PROFILE_LINE_PAIR:
		return read_pair(parser);
	case PROFILE_LINE_OTHER:
		return fail_other(parser);
	}
	return true;
}

static int compare_public_keys(const void *left, const void *right)
{
	const struct profile_peer *a = *(const struct profile_peer *const *)left,
				  *b = *(const struct profile_peer *const *)right;
	int order = memcmp(a->public_key, b->public_key, PROFILE_KEY_LEN);

	return order ? order : (a->line > b->line) - (a->line < b->line);
}

static bool check_public_keys(struct parser *parser)
{
	const struct profile *profile = &parser->profile;
	const struct profile_peer **peers;
	bool ok = true;

	for (size_t i = 0; i < profile->peer_count; i++)
		if (memcmp(profile->peers[i].public_key, profile->private_key, PROFILE_KEY_LEN) == 0)
			return profile_fail(&parser->error, profile->peers[i].line, 1,
				"PublicKey of this [Peer] is the profile's own PrivateKey: put the public "
				"key of the other side there, and keep the private one to yourself");
	if (profile->peer_count < 2)
		return true;
	peers = malloc(profile->peer_count * sizeof(const struct profile_peer *));
	if (!peers)
		return fail_no_memory(parser);
	for (size_t i = 0; i < profile->peer_count; i++)
		peers[i] = &profile->peers[i];
	qsort(peers, profile->peer_count, sizeof(const struct profile_peer *), compare_public_keys);
	for (size_t i = 1; i < profile->peer_count && ok; i++)
		if (memcmp(peers[i - 1]->public_key, peers[i]->public_key, PROFILE_KEY_LEN) == 0)
			ok = profile_fail(&parser->error, peers[i]->line, 1,
				"this [Peer] has the same PublicKey as the one in line %u: join the two "
				"sections, or correct one key",
				peers[i - 1]->line);
	free(peers);
	return ok;
}

static bool parse_all(struct parser *parser, const char *text, size_t len)
{
	if (!profile_text_check(text, len, &parser->error))
		return false;
	while (profile_line_next(text, len, &parser->line))
		if (!read_line(parser))
			return false;
	if (!finish_section(parser))
		return false;
	if (!parser->places.interface)
		return profile_fail(&parser->error, 1, 1,
			"there is no [Interface] section, so this is no WireGuard profile: give a file that "
			"has [Interface] and [Peer]");
	return check_public_keys(parser);
}

bool profile_parse(const char *file_name, const char *text, size_t len, struct profile *out,
	struct profile_error *error, struct profile_warnings *warnings)
{
	struct parser parser = { .error = { .file_name = file_name } };
	struct profile_warnings found = { 0 };
	bool ok;

	profile_init(&parser.profile);
	ok = parse_all(&parser, text, len);
	if (ok && warnings && !profile_warn(&parser.profile, &parser.places, &found))
		ok = fail_no_memory(&parser);
	if (ok) {
		*out = parser.profile;
		if (warnings)
			*warnings = found;
	} else {
		*error = parser.error;
		profile_free(&parser.profile);
	}
	memory_wipe(&parser.profile, sizeof(parser.profile));
	return ok;
}
