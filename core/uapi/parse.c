/* SPDX-License-Identifier: MIT */
/* UAPI text to struct: lines, sections and the end of a message. The two public parsers differ only in what
 * they do with a key that the table does not give them. Pure. Source: wireguard.com/xplatform.
 * `wg` 1.0.20210914 reads "errno=-22" as EINVAL and "errno=22" as an unknown error, so errors are written
 * negative; both signs are read. */
#include "core/uapi/uapi.h"

#include "core/base/text.h"
#include "core/uapi/keys.h"

#include <errno.h>
#include <string.h>

/* The line at *at without its newline; false when none is whole. *at moves behind it. */
static bool next_line(const char *text, size_t len, size_t *at, const char **line, size_t *line_len)
{
	const char *end = *at < len ? memchr(text + *at, '\n', len - *at) : NULL;

	if (!end)
		return false;
	*line = text + *at;
	*line_len = (size_t)(end - *line);
	*at += *line_len + 1;
	return true;
}

static unsigned section_of(const struct uapi_reader *reader)
{
	return reader->peer ? UAPI_IN_PEER : UAPI_IN_DEVICE;
}

enum uapi_kind uapi_request(const char *text, size_t len, size_t *request_len)
{
	static const char get[] = "get=1\n\n", set[] = "set=1\n";
	const char *line;
	size_t line_len, at = sizeof(set) - 1;

	if (len == 0)
		return UAPI_INCOMPLETE;
	if (len < sizeof(set) - 1) {
		if (memcmp(text, get, len) == 0 || memcmp(text, set, len) == 0)
			return UAPI_INCOMPLETE;
		return UAPI_UNKNOWN;
	}
	if (memcmp(text, set, sizeof(set) - 1) != 0) {
		if (len == sizeof(get) - 2)
			return memcmp(text, get, len) == 0 ? UAPI_INCOMPLETE : UAPI_UNKNOWN;
		if (memcmp(text, get, sizeof(get) - 1) != 0)
			return UAPI_UNKNOWN;
		*request_len = sizeof(get) - 1;
		return UAPI_GET;
	}
	while (next_line(text, len, &at, &line, &line_len)) {
		if (at > UAPI_TEXT_MAX)
			return UAPI_UNKNOWN;
		if (line_len == 0) {
			*request_len = at;
			return UAPI_SET;
		}
	}
	return len < UAPI_TEXT_MAX ? UAPI_INCOMPLETE : UAPI_UNKNOWN;
}

int uapi_parse_set(const char *text, size_t len, struct uapi_device *out)
{
	struct uapi_device device = { 0 };
	struct uapi_reader reader = { .device = &device };
	const char *line;
	size_t line_len, at = 0;
	int error = -EINVAL;

	*out = device;
	if (!next_line(text, len, &at, &line, &line_len) || !text_equal(line, line_len, "set=1"))
		return -EINVAL;
	while (next_line(text, len, &at, &line, &line_len) && line_len) {
		const char *equals = memchr(line, '=', line_len);
		size_t name_len = equals ? (size_t)(equals - line) : 0;
		const struct uapi_key *key = uapi_key_find(line, name_len, UAPI_OF_SET | section_of(&reader));

		error = key ? key->read(&reader, equals + 1, line_len - name_len - 1) : -EINVAL;
		if (error)
			goto out;
	}
	/* The blank line must have come, and be the last. */
	error = len >= 2 && at == len && text[len - 2] == '\n' && text[len - 1] == '\n' ? 0 : -EINVAL;
out:
	if (error)
		uapi_device_free(&device);
	else
		*out = device;
	return error;
}

/* N of "errno=N", as a negative errno whichever sign the other side gives it; 1 when it is no number. */
static int read_errno(const char *value, size_t len)
{
	bool minus = len > 0 && value[0] == '-';
	uint64_t number;

	if (!text_parse_decimal(value + minus, len - minus, 0, 4095, &number))
		return 1;
	return -(int)number;
}

int uapi_parse_get(const char *text, size_t len, struct uapi_device *out)
{
	struct uapi_device device = { 0 };
	struct uapi_reader reader = { .device = &device };
	const char *line;
	size_t line_len, at = 0;
	int error;

	*out = device;
	for (;;) {
		const char *equals;
		const struct uapi_key *key;
		size_t name_len;

		error = -EPROTO;
		if (!next_line(text, len, &at, &line, &line_len))
			goto out;
		equals = line_len ? memchr(line, '=', line_len) : NULL;
		if (!equals)
			goto out;
		name_len = (size_t)(equals - line);
		if (text_equal(line, name_len, "errno"))
			break;
		key = uapi_key_find(line, name_len, UAPI_OF_GET | section_of(&reader));
		if (!key)
			continue;
		error = key->read(&reader, equals + 1, line_len - name_len - 1);
		if (error) {
			error = error == -ENOMEM ? error : -EPROTO;
			goto out;
		}
	}
	error = read_errno(line + 6, line_len - 6);
	if (error > 0 || at + 1 != len || text[at] != '\n')
		error = -EPROTO;
out:
	if (error)
		uapi_device_free(&device);
	else
		*out = device;
	return error;
}
