/* SPDX-License-Identifier: MIT */
/* Input by lines, output by what the socket takes. */
#include "client/rpc/lines.h"

#include "client/rpc/types.h"
#include "core/base/wipe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* realloc would leave a copy of what may be a key behind. */
static bool grow(char **bytes, size_t start, size_t len, size_t *room, size_t wanted)
{
	size_t next = *room ? *room : 1024;
	char *larger;

	if (wanted <= *room)
		return true;
	while (next < wanted)
		next *= 2;
	larger = malloc(next);
	if (!larger)
		return false;
	if (len)
		memcpy(larger + start, *bytes + start, len);
	if (*bytes)
		memory_wipe(*bytes, *room);
	free(*bytes);
	*bytes = larger;
	*room = next;
	return true;
}

int lines_feed(struct lines *lines, const char *bytes, size_t len)
{
	if (len > RPC_LINE_MAX)
		return -EMSGSIZE;
	if (lines->start) {
		size_t rest = lines->len - lines->start;

		memmove(lines->bytes, lines->bytes + lines->start, rest);
		memory_wipe(lines->bytes + rest, lines->start);
		lines->scanned -= lines->start;
		lines->start = lines->wiped = 0;
		lines->len = rest;
	}
	if (!grow(&lines->bytes, 0, lines->len, &lines->room, lines->len + len))
		return -ENOMEM;
	if (len)
		memcpy(lines->bytes + lines->len, bytes, len);
	lines->len += len;
	/* The caller has taken every whole line, so what was here before is one line's beginning. */
	const char *newline = lines->len > lines->scanned ? memchr(lines->bytes + lines->scanned, '\n',
								    lines->len - lines->scanned)
							  : NULL;

	if (!newline && lines->len >= RPC_LINE_MAX)
		return -EMSGSIZE;
	if (newline && (size_t)(newline - lines->bytes) + 1 > RPC_LINE_MAX)
		return -EMSGSIZE;
	return 0;
}

static bool is_blank(const char *line, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r')
			return false;
	}
	return true;
}

const char *lines_next(struct lines *lines, size_t *len)
{
	/* The line given out last: the next bytes may come late, and it may hold a key. */
	if (lines->wiped < lines->start)
		memory_wipe(lines->bytes + lines->wiped, lines->start - lines->wiped);
	lines->wiped = lines->start;
	while (lines->scanned < lines->len) {
		const char *line = lines->bytes + lines->start;
		const char *newline =
			memchr(lines->bytes + lines->scanned, '\n', lines->len - lines->scanned);

		if (!newline) {
			lines->scanned = lines->len;
			break;
		}
		*len = (size_t)(newline - line);
		lines->start = lines->scanned = (size_t)(newline - lines->bytes) + 1;
		if (!is_blank(line, *len))
			return line;
	}
	return NULL;
}

void lines_wipe(struct lines *lines)
{
	if (lines->bytes)
		memory_wipe(lines->bytes, lines->room);
	free(lines->bytes);
	*lines = (struct lines){ 0 };
}

void outbox_add(struct outbox *outbox, const char *bytes, size_t len)
{
	if (outbox->failed)
		return;
	if (outbox->len + len > RPC_OUTPUT_MAX)
		goto fail;
	if (outbox->start + outbox->len + len > outbox->room && outbox->start) {
		memmove(outbox->bytes, outbox->bytes + outbox->start, outbox->len);
		outbox->start = 0;
	}
	if (!grow(&outbox->bytes, outbox->start, outbox->len, &outbox->room,
		    outbox->start + outbox->len + len))
		goto fail;
	memcpy(outbox->bytes + outbox->start + outbox->len, bytes, len);
	outbox->len += len;
	return;
fail:
	outbox_wipe(outbox);
	outbox->failed = true;
}

void outbox_sent(struct outbox *outbox, size_t len)
{
	if (len > outbox->len)
		len = outbox->len;
	if (!len)
		return;
	memory_wipe(outbox->bytes + outbox->start, len);
	outbox->start += len;
	outbox->len -= len;
	if (!outbox->len)
		outbox->start = 0;
}

void outbox_wipe(struct outbox *outbox)
{
	if (outbox->bytes)
		memory_wipe(outbox->bytes, outbox->room);
	free(outbox->bytes);
	*outbox = (struct outbox){ 0 };
}
