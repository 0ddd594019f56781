/* SPDX-License-Identifier: MIT */
/* See edit.h. Two passes over the lines: the first finds the place, the second copies. The result is parsed
 * before it is handed out, so an edit can never make a profile that `up` would refuse. */
#include "core/config/edit.h"

#include "core/base/text.h"
#include "core/config/error.h"
#include "core/config/keys.h"
#include "core/config/write.h"

#include <stdlib.h>
#include <string.h>

static const char name_key[] = "Name";

struct edit {
	const struct profile_key *key; /* NULL: "# Name =" */
	size_t peer;
	const char *value; /* NULL: take the key away */
	/* Found by the first pass. */
	bool section_found, key_found, crlf;
	const char *insert_at; /* a new line goes behind the line that ends here */
	/* The result. */
	char *bytes;
	size_t len;
};

/* Follows sections while lines go by. */
struct cursor {
	size_t peers; /* seen so far */
	bool inside;  /* the line is in the section of the edit */
	bool begun;   /* some section has begun */
};

unsigned profile_key_sections(const char *key)
{
	const struct profile_key *found = profile_key_find(key, strlen(key));

	if (text_equal_nocase(key, strlen(key), name_key))
		return PROFILE_IN_INTERFACE | PROFILE_IN_PEER;
	return found ? found->sections : 0;
}

static bool is_hook(const struct edit *edit)
{
	return edit->key && edit->key->flags & PROFILE_KEY_HOOK;
}

/* Whether the line is the header of the edit's section. */
static bool step_section(struct cursor *cursor, const struct profile_line *line, const struct edit *edit)
{
	bool interface;

	if (line->kind != PROFILE_LINE_SECTION)
		return false;
	cursor->begun = true;
	interface = text_equal_nocase(line->key, line->key_len, "Interface");
	cursor->inside =
		edit->peer == PROFILE_EDIT_INTERFACE ? interface : !interface && cursor->peers == edit->peer;
	cursor->peers += !interface;
	return cursor->inside;
}

static bool is_edited(const struct cursor *cursor, const struct profile_line *line, const struct edit *edit)
{
	/* The tunnel's name may stand ahead of all sections. */
	if (!edit->key)
		return line->kind == PROFILE_LINE_NAME &&
		       (cursor->inside || (!cursor->begun && edit->peer == PROFILE_EDIT_INTERFACE));
	if (!cursor->inside)
		return false;
	return line->kind == PROFILE_LINE_PAIR &&
	       text_equal_nocase(line->key, line->key_len, edit->key->name);
}

static void find_place(struct edit *edit, const char *text, size_t len)
{
	struct profile_line line = { 0 };
	struct cursor cursor = { 0 };

	while (profile_line_next(text, len, &line)) {
		bool header = step_section(&cursor, &line, edit);

		if (header) {
			edit->section_found = true;
			edit->crlf = line.end != line.next && *line.end == '\r';
		}
		if (is_edited(&cursor, &line, edit))
			edit->key_found = true;
		/* A name goes first in its section, a key behind the last one. */
		if (header || (cursor.inside && edit->key && line.kind == PROFILE_LINE_PAIR))
			edit->insert_at = line.next;
	}
}

static void add(struct edit *edit, const char *bytes, size_t len)
{
	memcpy(edit->bytes + edit->len, bytes, len);
	edit->len += len;
}

static void add_line_end(struct edit *edit)
{
	if (edit->crlf)
		add(edit, "\r\n", 2);
	else
		add(edit, "\n", 1);
}

static void add_new_line(struct edit *edit)
{
	const char *name = edit->key ? edit->key->name : name_key;

	if (edit->bytes[edit->len - 1] != '\n')
		add_line_end(edit);
	if (!edit->key)
		add(edit, "# ", 2);
	add(edit, name, strlen(name));
	add(edit, " = ", 3);
	add(edit, edit->value, strlen(edit->value));
	add_line_end(edit);
}

static void add_changed_line(struct edit *edit, const struct profile_line *line)
{
	size_t old_len = is_hook(edit) ? line->whole_len : line->value_len;
	const char *rest = line->value + old_len;

	add(edit, line->start, (size_t)(line->value - line->start));
	if (old_len == 0 && line->value[-1] == '=')
		add(edit, " ", 1);
	add(edit, edit->value, strlen(edit->value));
	if (*edit->value && rest < line->end && *rest == '#')
		add(edit, " ", 1);
	add(edit, rest, (size_t)(line->next - rest));
}

static void copy_lines(struct edit *edit, const char *text, size_t len)
{
	struct profile_line line = { 0 };
	struct cursor cursor = { 0 };
	bool done = false;

	while (profile_line_next(text, len, &line)) {
		if (line.number == 1) /* a byte order mark */
			add(edit, text, (size_t)(line.start - text));
		step_section(&cursor, &line, edit);
		if (!is_edited(&cursor, &line, edit)) {
			add(edit, line.start, (size_t)(line.next - line.start));
		} else if (edit->value && !done) {
			add_changed_line(edit, &line);
			done = true;
		}
		if (line.next == edit->insert_at && edit->value && !edit->key_found)
			add_new_line(edit);
	}
}

/* What the parser could not tell from the resulting text. Nothing of the value is quoted: it may be a secret.
 */
static bool check_request(const struct edit *edit, const char *key, struct profile_error *error)
{
	unsigned wanted = edit->peer == PROFILE_EDIT_INTERFACE ? PROFILE_IN_INTERFACE : PROFILE_IN_PEER;
	unsigned sections = profile_key_sections(key);
	char quote[PROFILE_QUOTE_LEN];

	if (!sections) {
		const char *nearest =
			profile_key_nearest(key, strlen(key), PROFILE_IN_INTERFACE | PROFILE_IN_PEER);

		profile_quote(key, strlen(key), quote);
		if (nearest)
			return profile_fail(
				error, 1, 1, "there is no key \"%s\": did you mean %s?", quote, nearest);
		return profile_fail(error, 1, 1,
			"there is no key \"%s\": take one that stands in the profile, or that the manual "
			"lists",
			quote);
	}
	if (!(sections & wanted))
		return profile_fail(error, 1, 1, "%s belongs into %s: name %s instead", edit->key->name,
			sections == PROFILE_IN_PEER ? "[Peer]" : "[Interface]",
			sections == PROFILE_IN_PEER ? "the peer to change" : "no peer");
	if (!edit->section_found && wanted == PROFILE_IN_PEER)
		return profile_fail(error, 1, 1,
			"the profile has no peer number %lu: the first one is number 1",
			(unsigned long)edit->peer + 1);
	for (const char *c = edit->value; c && *c; c++) {
		if (*c == '\n' || *c == '\r')
			return profile_fail(error, 1, 1, "the value has a line break: give it in one line");
		if (*c == '#' && edit->key && !is_hook(edit))
			return profile_fail(
				error, 1, 1, "the value has a #, which starts a comment: leave it out");
	}
	return true;
}

bool profile_edit(const char *file_name, const char *text, size_t len, size_t peer, const char *key,
	const char *value, char **out, size_t *out_len, struct profile_error *error)
{
	struct edit edit = { .key = profile_key_find(key, strlen(key)), .peer = peer, .value = value };
	struct profile_error wrong = { .file_name = file_name };
	struct profile profile;
	size_t room;

	if (!profile_text_check(text, len, &wrong))
		goto fail;
	find_place(&edit, text, len);
	if (!check_request(&edit, key, &wrong))
		goto fail;
	/* Room for the value once, the key, its punctuation and two line ends. */
	room = len + (value ? strlen(value) : 0) + strlen(key) + 16;
	edit.bytes = malloc(room);
	if (!edit.bytes) {
		profile_fail(&wrong, 1, 1,
			"there is not enough memory to change the profile: close something and try again");
		goto fail;
	}
	if (value && edit.key && edit.key->flags & PROFILE_KEY_SECRET && strcmp(value, PROFILE_HIDDEN) == 0)
		add(&edit, text, len);
	else
		copy_lines(&edit, text, len);
	edit.bytes[edit.len] = 0;
	if (!profile_parse(file_name, edit.bytes, edit.len, &profile, &wrong, NULL))
		goto fail;
	profile_free(&profile);
	*out = edit.bytes;
	*out_len = edit.len;
	return true;
fail:
	profile_text_free(edit.bytes, edit.len);
	*error = wrong;
	return false;
}
