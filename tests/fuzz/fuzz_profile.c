/* SPDX-License-Identifier: MIT */
/* Any text as a profile: what is read is written so that it reads back to the same profile, what is refused
 * comes with a whole sentence, and an edit of one key keeps the rest. */
#include "core/config/edit.h"
#include "core/config/name.h"
#include "core/config/parse.h"
#include "core/config/write.h"
#include "tests/unit/core/config/equal.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

static void check_error(const struct profile_error *error)
{
	check(error->line > 0 && error->column > 0 && error->sentence[0] && !strchr(error->sentence, '\n'));
}

static void check_round_trip(const struct profile *profile)
{
	struct profile_error error;
	struct profile again;
	size_t len;
	char *text = profile_write(profile, false, &len);

	check(text != NULL);
	if (len <= PROFILE_TEXT_MAX) { /* a short text can grow when it is written in full */
		check(profile_parse("again", text, len, &again, &error, NULL));
		check(same_profiles(profile, &again));
		profile_free(&again);
	}
	profile_text_free(text, len);
}

static void check_edit(const char *text, size_t len, const struct profile *profile)
{
	struct profile_error error = { 0 };
	struct profile changed;
	char *edited;
	size_t edited_len;

	if (profile_edit("edit", text, len, PROFILE_EDIT_INTERFACE, "PrivateKey", PROFILE_HIDDEN, &edited,
		    &edited_len, &error)) {
		check(edited_len == len && memcmp(edited, text, len) == 0);
		profile_text_free(edited, edited_len);
	}
	if (!profile_edit("edit", text, len, PROFILE_EDIT_INTERFACE, "FwMark", "77", &edited, &edited_len,
		    &error)) {
		check_error(&error);
		return;
	}
	check(profile_parse("edited", edited, edited_len, &changed, &error, NULL));
	check(changed.fwmark == 77);
	changed.fwmark = profile->fwmark;
	check(same_profiles(profile, &changed));
	profile_free(&changed);
	profile_text_free(edited, edited_len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct profile_error error = { 0 };
	struct profile_warnings warnings;
	struct profile profile;
	struct ip_address address;
	char file_name[64] = "", name[PROFILE_NAME_LEN];

	memcpy(file_name, data, size < sizeof(file_name) - 1 ? size : sizeof(file_name) - 1);
	profile_name_derive(file_name, name);
	check(profile_name_valid(name, strlen(name)));
	if (!profile_parse("fuzz", text, size, &profile, &error, &warnings)) {
		check_error(&error);
		return 0;
	}
	check_round_trip(&profile);
	check_edit(text, size, &profile);
	for (size_t i = 0; i < profile.peer_count; i++)
		profile_probe_address(&profile, i, &address);
	profile_free(&profile);
	return 0;
}
