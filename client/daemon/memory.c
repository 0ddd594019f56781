/* SPDX-License-Identifier: MIT */
/* A small table. Used by ways.c; read and written by manager.c. */
#include "client/daemon/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_LEN 96
/* What is known already is written again only so often: good networks are met every day. */
#define REFRESH_S 3600

void memory_init(struct memory *memory)
{
	memset(memory, 0, sizeof(*memory));
	random_fill(memory->key, sizeof(memory->key));
}

static bool hex_parse(const char *text, uint8_t *out, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	for (i = 0; i < 2 * len; i++) {
		const char *digit = text[i] ? strchr(digits, text[i]) : NULL;

		if (!digit)
			return false;
		out[i / 2] = (uint8_t)(out[i / 2] << 4 | (digit - digits));
	}
	return true;
}

static void hex_write(const uint8_t *bytes, size_t len, char *out)
{
	size_t i;

	for (i = 0; i < len; i++)
		snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

static bool parse_entry(const char *line, struct memory_entry *out)
{
	struct memory_entry entry = { 0 };
	char hex[2 * MAC_LEN + 1], word[8];
	int end = 0;

	if (sscanf(line, "%32s %7s %" SCNu64 "%n", hex, word, &entry.seen_s, &end) != 3 || line[end] ||
		strlen(hex) != 2 * MAC_LEN || !hex_parse(hex, entry.id, MAC_LEN))
		return false;
	if (!strcmp(word, "good"))
		entry.what = FALLBACK_MEMORY_GOOD;
	else if (!strcmp(word, "blocked"))
		entry.what = FALLBACK_MEMORY_BLOCKED;
	else
		return false;
	*out = entry;
	return true;
}

void memory_parse(struct memory *memory, const char *text)
{
	struct memory parsed = { 0 };
	bool has_key = false;

	while (*text) {
		size_t len = strcspn(text, "\n");
		char line[LINE_LEN];

		if (len < sizeof(line)) {
			memcpy(line, text, len);
			line[len] = 0;
			if (!strncmp(line, "key ", 4) && len == 4 + 2 * KEY_LEN)
				has_key = hex_parse(line + 4, parsed.key, KEY_LEN);
			else if (parsed.count < MEMORY_ENTRIES &&
				 parse_entry(line, &parsed.entries[parsed.count]))
				parsed.count++;
			secret_wipe(line, sizeof(line));
		}
		text += len + (text[len] == '\n');
	}
	if (has_key)
		*memory = parsed;
	else
		memory_init(memory);
	secret_wipe(&parsed, sizeof(parsed));
}

char *memory_write(const struct memory *memory)
{
	size_t room = LINE_LEN * (memory->count + 2), used, i;
	char *text = calloc(1, room), id[2 * MAC_LEN + 1];

	if (!text)
		return NULL;
	strcpy(text, "key ");
	hex_write(memory->key, KEY_LEN, text + 4);
	strcat(text, "\n");
	used = strlen(text);
	for (i = 0; i < memory->count; i++) {
		const struct memory_entry *entry = &memory->entries[i];

		hex_write(entry->id, MAC_LEN, id);
		used += (size_t)snprintf(text + used, room - used, "%s %s %" PRIu64 "\n", id,
			entry->what == FALLBACK_MEMORY_GOOD ? "good" : "blocked", entry->seen_s);
	}
	return text;
}

void memory_text_free(char *text)
{
	if (text)
		secret_wipe(text, strlen(text));
	free(text);
}

static void make_id(const struct memory *memory, const uint8_t *network, size_t network_len,
	const uint8_t peer[KEY_LEN], uint8_t id[MAC_LEN])
{
	mac2parts(id, memory->key, KEY_LEN, peer, KEY_LEN, network, network_len);
}

static const struct memory_entry *find(const struct memory *memory, const uint8_t id[MAC_LEN])
{
	size_t i;

	for (i = 0; i < memory->count; i++)
		if (!memcmp(memory->entries[i].id, id, MAC_LEN))
			return &memory->entries[i];
	return NULL;
}

enum fallback_memory memory_get(const struct memory *memory, const uint8_t *network, size_t network_len,
	const uint8_t peer[KEY_LEN], uint64_t now_s)
{
	const struct memory_entry *entry;
	uint8_t id[MAC_LEN];
	uint64_t age_s;

	make_id(memory, network, network_len, peer, id);
	entry = find(memory, id);
	if (!entry)
		return FALLBACK_MEMORY_UNKNOWN;
	age_s = now_s > entry->seen_s ? now_s - entry->seen_s : 0; /* the clock may have gone back */
	return age_s <= (entry->what == FALLBACK_MEMORY_GOOD ? MEMORY_GOOD_S : MEMORY_BLOCKED_S)
		       ? entry->what
		       : FALLBACK_MEMORY_UNKNOWN;
}

bool memory_put(struct memory *memory, const uint8_t *network, size_t network_len,
	const uint8_t peer[KEY_LEN], enum fallback_memory what, uint64_t now_s)
{
	struct memory_entry *entry, fresh = { .what = what, .seen_s = now_s };
	size_t i;

	make_id(memory, network, network_len, peer, fresh.id);
	entry = (struct memory_entry *)find(memory, fresh.id);
	if (entry && entry->what == what && now_s >= entry->seen_s && now_s - entry->seen_s < REFRESH_S)
		return false;
	if (!entry && memory->count < MEMORY_ENTRIES) {
		entry = &memory->entries[memory->count++];
	} else if (!entry) {
		entry = &memory->entries[0];
		for (i = 1; i < memory->count; i++)
			if (memory->entries[i].seen_s < entry->seen_s)
				entry = &memory->entries[i];
	}
	*entry = fresh;
	return true;
}
