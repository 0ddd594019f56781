/* SPDX-License-Identifier: MIT */
/* Bytes cut into lines, and bytes that wait to be sent. Both are bounded, and wiped as they go. Pure.
 * Only client/rpc and its tests include this. */
#ifndef WGTCP_CLIENT_RPC_LINES_H
#define WGTCP_CLIENT_RPC_LINES_H

#include <stdbool.h>
#include <stddef.h>

struct lines {
	char *bytes;
	size_t len, room;
	size_t start;   /* of the first line not yet given out */
	size_t scanned; /* no newline before this */
	size_t wiped;   /* what was given out before this is zero */
};

/* At most RPC_LINE_MAX bytes at a time. 0; -EMSGSIZE: a line is too long; -ENOMEM. The lines taken before are
 * gone. */
int lines_feed(struct lines *lines, const char *bytes, size_t len);
/* The next line that is not blank, without its newline, valid until the next call of either; NULL: none yet.
 */
const char *lines_next(struct lines *lines, size_t *len);
void lines_wipe(struct lines *lines);

struct outbox {
	char *bytes;
	size_t start, len, room;
	bool failed; /* more than RPC_OUTPUT_MAX waited, or memory was short */
};

void outbox_add(struct outbox *outbox, const char *bytes, size_t len);
void outbox_sent(struct outbox *outbox, size_t len);
void outbox_wipe(struct outbox *outbox);

#endif
