/* SPDX-License-Identifier: MIT */
/* Any data map of a NetworkManager connection: names and values in turn, parted by NUL; a name that begins
 * with '!' is among the secrets. What is taken is a profile that can be written and read back by each way and
 * holds no control character; what is refused comes with a whole sentence. */
#include "client/nm/handover.h"
#include "client/nm/map.h"
#include "core/config/parse.h"
#include "core/config/write.h"
#include "tests/unit/core/config/equal.h"

#include <stdlib.h>
#include <string.h>

#define ENTRIES_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

struct copy {
	struct nm_entry entries[2048];
	size_t count;
};

static bool copy_entry(const char *key, const char *value, bool secret, void *user)
{
	struct copy *copy = user;

	for (const char *at = value; *at; at++)
		check((uint8_t)*at >= 0x20 && *at != 0x7f);
	check(copy->count < sizeof(copy->entries) / sizeof(copy->entries[0]));
	copy->entries[copy->count++] = (struct nm_entry){ strdup(key), strdup(value), secret };
	return true;
}

static void check_map(const struct profile *profile)
{
	struct copy *copy = calloc(1, sizeof(*copy));
	struct profile_error error = { 0 };
	struct profile again;

	check(copy && nm_map_write(profile, copy_entry, copy));
	check(nm_map_read(copy->entries, copy->count, true, &again, &error));
	check(same_profiles(profile, &again));
	profile_free(&again);
	for (size_t i = 0; i < copy->count; i++) {
		free((char *)(uintptr_t)copy->entries[i].key);
		free((char *)(uintptr_t)copy->entries[i].value);
	}
	free(copy);
}

static void check_text(const struct profile *profile)
{
	struct profile_error error = { 0 };
	struct profile again;
	size_t len;
	char *text = profile_write(profile, false, &len);

	check(text && profile_parse("again", text, len, &again, &error, NULL));
	check(same_profiles(profile, &again));
	profile_free(&again);
	profile_text_free(text, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 2);
	struct nm_entry entries[ENTRIES_MAX];
	struct profile_error error = { 0 };
	struct profile profile;
	struct rpc_given given;
	size_t count = 0;

	check(text != NULL);
	memcpy(text, data, size);
	text[size] = text[size + 1] = 0;
	for (size_t at = 0; at < size && count < ENTRIES_MAX; count++) {
		entries[count].secret = text[at] == '!';
		entries[count].key = text + at + entries[count].secret;
		at += strlen(text + at) + 1;
		entries[count].value = at < size ? text + at : "";
		at += strlen(entries[count].value) + 1;
	}
	if (nm_map_read(entries, count, true, &profile, &error)) {
		check_map(&profile);
		check_text(&profile);
		check(handover_write(&profile, &given));
		rpc_given_free(&given);
		profile_free(&profile);
	} else {
		check(error.sentence[0] && !strchr(error.sentence, '\n'));
		error = (struct profile_error){ 0 };
		if (nm_map_read(entries, count, false, &profile, &error))
			profile_free(&profile);
	}
	free(text);
	return 0;
}
