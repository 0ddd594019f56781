/* SPDX-License-Identifier: MIT */
/* Goes by words: runs of the characters that keys, addresses and host names are made of. What looks like one of them is
 * replaced even where it is none (a file's name, say): to leave a secret is worse than to hide a word. */
#include "gui/model/redact.h"

#include "core/base/address.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_CHARACTERS 44
#define KEY_HEX_CHARACTERS 64

void redact_text_add(struct redact_text *out, const char *bytes, size_t len)
{
	if (out->failed)
		return;
	if (out->len + len + 1 > out->room) {
		size_t room = (out->len + len + 1) * 2;
		char *text = realloc(out->text, room);

		if (!text) {
			out->failed = true;
			return;
		}
		out->text = text;
		out->room = room;
	}
	memcpy(out->text + out->len, bytes, len);
	out->len += len;
	out->text[out->len] = '\0';
}

void redact_text_free(struct redact_text *out)
{
	free(out->text);
	*out = (struct redact_text){ 0 };
}

/* ---- the words that stand in place ---- */

static void add_replacement(
	struct redactor *redactor, enum redact_kind kind, const char *word, size_t len, struct redact_text *out)
{
	static const char *const names[] = { "key", "address", "host", "tunnel" };
	unsigned number = 0;
	char text[32];
	int text_len;

	for (size_t i = 0; i < redactor->seen_count; i++) {
		if (redactor->seen[i].kind != kind)
			continue;
		number++;
		if (strlen(redactor->seen[i].word) == len && !memcmp(redactor->seen[i].word, word, len))
			goto found;
	}
	number++;
	if (redactor->seen_count == REDACT_SEEN_MAX || len >= REDACT_WORD_LEN) {
		number = 0; /* no room to remember it */
	} else {
		redactor->seen[redactor->seen_count].kind = kind;
		memcpy(redactor->seen[redactor->seen_count].word, word, len);
		redactor->seen[redactor->seen_count].word[len] = '\0';
		redactor->seen_count++;
	}
found:
	text_len = number ? snprintf(text, sizeof(text), "%s-%u", names[kind], number)
			  : snprintf(text, sizeof(text), "%s", names[kind]);
	redact_text_add(out, text, (size_t)text_len);
}

void redact_tunnel(struct redactor *redactor, const char *name)
{
	struct redact_text none = { 0 };
	size_t len = strlen(name);

	if (!len)
		return;
	add_replacement(redactor, REDACT_TUNNEL, name, len, &none);
	redact_text_free(&none);
}

/* ---- what words are ---- */

static bool is_word_byte(unsigned char c)
{
	return isalnum(c) || (c && strchr("+/=.:-_%[]", c));
}

static bool is_key(const char *word, size_t len)
{
	size_t i;

	if (len == KEY_HEX_CHARACTERS) {
		for (i = 0; i < len && isxdigit((unsigned char)word[i]); i++)
			;
		return i == len;
	}
	if (len != KEY_CHARACTERS || word[len - 1] != '=')
		return false;
	for (i = 0; i + 1 < len; i++) {
		if (!isalnum((unsigned char)word[i]) && word[i] != '+' && word[i] != '/')
			return false;
	}
	return true;
}

/* A numeric address, perhaps in brackets, perhaps with a scope. */
static bool is_address(const char *word, size_t len)
{
	struct ip_address address;
	const char *scope;

	if (len >= 2 && word[0] == '[' && word[len - 1] == ']') {
		word++;
		len -= 2;
	}
	scope = memchr(word, '%', len);
	if (scope)
		len = (size_t)(scope - word);
	return ip_address_parse(word, len, &address);
}

/* Two labels or more, the last of letters: "vpn.example.com". */
static bool is_host(const char *word, size_t len)
{
	size_t last = 0, dots = 0;

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)word[i];

		if (c == '.') {
			if (i == last)
				return false;
			dots++;
			last = i + 1;
		} else if (!isalnum(c) && c != '-' && c != '_') {
			return false;
		}
	}
	return dots && len - last >= 2 && isalpha((unsigned char)word[last]);
}

static bool is_number(const char *word, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (!isdigit((unsigned char)word[i]))
			return false;
	}
	return len > 0;
}

static bool kind_of(const char *word, size_t len, enum redact_kind *kind)
{
	if (is_key(word, len))
		*kind = REDACT_KEY;
	else if (is_address(word, len))
		*kind = REDACT_ADDRESS;
	else if (is_host(word, len))
		*kind = REDACT_HOST;
	else
		return false;
	return true;
}

/* "10.0.0.1:51820", "[fd00::1]:51820", "10.0.0.0/8": whatever stands before the number. */
static bool add_with_number(struct redactor *redactor, const char *word, size_t len, struct redact_text *out)
{
	enum redact_kind kind;
	size_t cut;

	for (cut = len; cut > 0 && word[cut - 1] != ':' && word[cut - 1] != '/'; cut--)
		;
	if (cut < 2 || !is_number(word + cut, len - cut) || !kind_of(word, cut - 1, &kind))
		return false;
	add_replacement(redactor, kind, word, cut - 1, out);
	redact_text_add(out, word + cut - 1, len - cut + 1);
	return true;
}

/* One run of word bytes: whole, with a number behind it, or part by part ("key=...", a path). */
static void add_word(struct redactor *redactor, const char *word, size_t len, struct redact_text *out)
{
	enum redact_kind kind;
	size_t tail, cut;

	/* Marks at the end belong to the sentence. */
	for (tail = 0; tail < len && strchr(".:,-", word[len - 1 - tail]); tail++)
		;
	len -= tail;
	while (len) {
		if (kind_of(word, len, &kind)) {
			add_replacement(redactor, kind, word, len, out);
			cut = len;
		} else if (add_with_number(redactor, word, len, out)) {
			cut = len;
		} else {
			for (cut = 0; cut < len && !strchr("=:/[]", word[cut]); cut++)
				;
			if (cut && cut < len && kind_of(word, cut, &kind))
				add_replacement(redactor, kind, word, cut, out);
			else
				redact_text_add(out, word, cut);
			if (cut < len)
				redact_text_add(out, word + cut++, 1);
		}
		word += cut;
		len -= cut;
	}
	redact_text_add(out, word, tail);
}

/* The longest name of a tunnel that stands at text as a word of its own; 0: none. */
static size_t tunnel_at(const struct redactor *redactor, const char *text, size_t len)
{
	size_t best = 0;

	for (size_t i = 0; i < redactor->seen_count; i++) {
		size_t name_len = strlen(redactor->seen[i].word);

		if (redactor->seen[i].kind != REDACT_TUNNEL || name_len > len || name_len <= best ||
			memcmp(text, redactor->seen[i].word, name_len) != 0)
			continue;
		if (name_len == len || !isalnum((unsigned char)text[name_len]))
			best = name_len;
	}
	return best;
}

void redact(struct redactor *redactor, const char *text, size_t len, struct redact_text *out)
{
	size_t at = 0;

	while (at < len) {
		bool starts = at == 0 || !isalnum((unsigned char)text[at - 1]);
		size_t run = starts ? tunnel_at(redactor, text + at, len - at) : 0;

		if (run) {
			add_replacement(redactor, REDACT_TUNNEL, text + at, run, out);
			at += run;
			continue;
		}
		for (run = 0; at + run < len && is_word_byte((unsigned char)text[at + run]); run++) {
			/* A name inside a path or behind a mark is found on its own. */
			if (run && !isalnum((unsigned char)text[at + run - 1]) &&
				tunnel_at(redactor, text + at + run, len - at - run))
				break;
		}
		if (run) {
			add_word(redactor, text + at, run, out);
			at += run;
		} else {
			redact_text_add(out, text + at, 1);
			at++;
		}
	}
}
