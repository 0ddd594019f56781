/* SPDX-License-Identifier: MIT */
/* The UAPI socket, and the streams between its clients and the engine. A request is passed on whole and
 * unchanged; the front sees each SET first and may refuse it. One request of a client is under way at a time,
 * so answers keep their order. Never blocks; the front asks for what there is to do. */
#ifndef WGTCP_PLATFORM_LINUX_RELAY_H
#define WGTCP_PLATFORM_LINUX_RELAY_H

#include "core/base/time.h"

#include <stddef.h>

#define RELAY_CLIENTS_MAX 16

struct relay;

enum relay_event_kind {
	RELAY_NOTHING,
	RELAY_STREAM, /* a new client: fd is the engine's end of its stream, the caller's to close */
	RELAY_SET, /* a SET request: answer it with relay_pass or relay_refuse before the next relay_next */
};

struct relay_event {
	enum relay_event_kind kind;
	int fd;
	const char *text; /* the relay's; until relay_pass or relay_refuse */
	size_t len;
};

/* directory/interface.sock; directory NULL: no socket, only relay_connect.
 * -EADDRINUSE: another engine lives there. A dead one's socket is replaced. */
int relay_open(const char *directory, const char *interface, struct relay **out);
/* Removes the socket. */
void relay_close(struct relay *relay);
int relay_handle(const struct relay *relay);
struct mono relay_deadline(const struct relay *relay);
void relay_next(struct relay *relay, struct mono now, struct relay_event *out);
void relay_pass(struct relay *relay, struct mono now);
void relay_refuse(struct relay *relay, int error, struct mono now);
/* A client within this process: the descriptor, or -errno. */
int relay_connect(struct relay *relay);
/* The engine is gone. */
void relay_drop_all(struct relay *relay);

#endif
