/* SPDX-License-Identifier: MIT */
/* One client of the UAPI socket and its stream to the engine. */
#ifndef WGTCP_PLATFORM_LINUX_RELAY_CLIENT_H
#define WGTCP_PLATFORM_LINUX_RELAY_CLIENT_H

#include "core/base/time.h"

#include <stddef.h>

#define RELAY_SLOW_MS 10000
#define RELAY_OUT_BYTES 16384

enum client_state {
	CLIENT_READING,   /* the client's next request; nothing under way */
	CLIENT_JUDGED,    /* a SET stands whole in `in`: the front decides */
	CLIENT_PASSING,   /* request to the engine */
	CLIENT_ANSWERING, /* answer to the client */
};

struct client {
	enum client_state state;
	int socket;     /* to the client */
	int stream;     /* to the engine */
	int engine_end; /* yet to be given to the engine; else -1 */
	char *in;       /* what the client sent; holds keys, so it is wiped */
	size_t in_len, in_room;
	size_t searched;    /* bytes of in known not to end a request */
	size_t request_len; /* of the request under way */
	size_t passed;
	char out[RELAY_OUT_BYTES]; /* may hold keys as well */
	size_t out_len, out_sent;
	char last;         /* byte of the answer seen last */
	bool answered;     /* the end of the answer is in out */
	struct mono since; /* of the last progress */
};

/* NULL when memory is short. Takes both descriptors. */
struct client *client_new(int socket, int stream, int engine_end, struct mono now);
void client_free(struct client *client);
/* Each does what can be done now. False: drop the client. */
bool client_step(struct client *client, struct mono now);
void client_pass(struct client *client, struct mono now);
void client_refuse(struct client *client, int error, struct mono now);
/* What to wait for: POLLIN and POLLOUT of either descriptor. */
short client_socket_events(const struct client *client);
short client_stream_events(const struct client *client);
/* When it is too slow; MONO_NEVER while nothing is under way. */
struct mono client_deadline(const struct client *client);

#endif
