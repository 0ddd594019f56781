/* SPDX-License-Identifier: MIT */
/* What each network did to UDP before, for each peer (docs/fallback.md: memory per network). Networks and
 * peers are kept only as a keyed hash of both, so that the file does not tell where this machine has been.
 * Pure. */
#ifndef WGTCP_CLIENT_DAEMON_MEMORY_H
#define WGTCP_CLIENT_DAEMON_MEMORY_H

#include "core/carrier/fallback.h"
#include "core/crypto/crypto.h"

#define MEMORY_FILE "networks"
#define MEMORY_ENTRIES 200
#define MEMORY_GOOD_S (30 * 86400u)
#define MEMORY_BLOCKED_S 86400u
/* Larger is no file of ours. */
#define MEMORY_TEXT_MAX 32768

struct memory_entry {
	uint8_t id[MAC_LEN];
	enum fallback_memory what;
	uint64_t seen_s; /* Unix time */
};

struct memory {
	uint8_t key[KEY_LEN]; /* made at the first start, never told */
	struct memory_entry entries[MEMORY_ENTRIES];
	size_t count;
};

/* With a new key and nothing known. */
void memory_init(struct memory *memory);
/* From the file's text; what makes no sense is passed over. Without a key in it, as memory_init. */
void memory_parse(struct memory *memory, const char *text);
/* NULL when memory is short. Free with memory_text_free, which wipes the key. */
char *memory_write(const struct memory *memory);
void memory_text_free(char *text);

/* FALLBACK_MEMORY_UNKNOWN when nothing is known, or it is too old. */
enum fallback_memory memory_get(const struct memory *memory, const uint8_t *network, size_t network_len,
	const uint8_t peer[KEY_LEN], uint64_t now_s);
/* True: the file should be written. The entry seen longest ago makes room. */
bool memory_put(struct memory *memory, const uint8_t *network, size_t network_len,
	const uint8_t peer[KEY_LEN], enum fallback_memory what, uint64_t now_s);

#endif
