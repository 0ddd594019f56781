/* SPDX-License-Identifier: MIT */
#include "gui/window/archive.h"

#include "core/base/text.h"
#include "core/base/wipe.h"

#include <stdlib.h>
#include <string.h>
#include <zip.h>

bool archive_is_zip(const char *bytes, size_t len)
{
	/* The head of a file in it, or, of an empty archive, its end. */
	return len >= 4 && (!memcmp(bytes, "PK\3\4", 4) || !memcmp(bytes, "PK\5\6", 4));
}

static bool is_profile(const char *name)
{
	size_t len = strlen(name);
	const char *base = strrchr(name, '/');

	base = base ? base + 1 : name;
	/* "._x.conf" is what a Mac adds to an archive. */
	return len > 5 && text_equal_nocase(name + len - 5, 5, ".conf") && base[0] != '.';
}

/* A file's text with a NUL behind it, to be wiped and freed; NULL: it cannot be read. */
static char *read_file(zip_t *zip, zip_uint64_t index, size_t size)
{
	zip_file_t *file = zip_fopen_index(zip, index, 0);
	char *text = file ? malloc(size + 1) : NULL;

	if (text && zip_fread(file, text, size) != (zip_int64_t)size) {
		memory_wipe(text, size);
		free(text);
		text = NULL;
	}
	if (text)
		text[size] = '\0';
	if (file)
		zip_fclose(file);
	return text;
}

int archive_each(const char *bytes, size_t len, size_t max,
	void (*each)(const char *name, const char *text, size_t text_len, void *user), void *user, unsigned *left_out)
{
	zip_source_t *source;
	zip_error_t error;
	zip_int64_t entries;
	size_t total = 0;
	zip_t *zip;
	int count = 0;

	*left_out = 0;
	zip_error_init(&error);
	source = zip_source_buffer_create(bytes, len, 0, &error);
	zip = source ? zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error) : NULL;
	zip_error_fini(&error);
	if (!zip) {
		zip_source_free(source);
		return -1;
	}
	entries = zip_get_num_entries(zip, 0);
	for (zip_int64_t i = 0; i < entries; i++) {
		zip_stat_t stat;
		char *text;

		if (zip_stat_index(zip, (zip_uint64_t)i, 0, &stat) || !(stat.valid & ZIP_STAT_NAME) ||
			!(stat.valid & ZIP_STAT_SIZE) || !is_profile(stat.name))
			continue;
		if (stat.size > max || total + stat.size > ARCHIVE_BYTES_MAX || count == ARCHIVE_FILES_MAX) {
			++*left_out;
			continue;
		}
		text = read_file(zip, (zip_uint64_t)i, (size_t)stat.size);
		if (!text) {
			++*left_out;
			continue;
		}
		each(stat.name, text, (size_t)stat.size, user);
		memory_wipe(text, (size_t)stat.size);
		free(text);
		total += (size_t)stat.size;
		count++;
	}
	zip_discard(zip);
	return count;
}
