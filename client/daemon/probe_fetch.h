/* SPDX-License-Identifier: MIT */
/* One HTTP request past the tunnel, redirects not followed, by libcurl. Inside the probe process. */
#ifndef WGTCP_CLIENT_DAEMON_PROBE_FETCH_H
#define WGTCP_CLIENT_DAEMON_PROBE_FETCH_H

#include "client/daemon/probe.h"

#include <poll.h>
#include <stddef.h>

#define FETCH_HANDLES_MAX 16
#define FETCH_BODY_MAX 16384

struct fetch;

struct fetch_result {
	long status;                   /* of HTTP; 0: no answer */
	bool says_online;              /* the header that NetworkManager's checkers look for */
	char redirect[PROBE_TEXT_LEN]; /* absolute; "" if it is none */
	char body[FETCH_BODY_MAX + 1];
	size_t body_len;
};

/* request: search and servers, for the name in url. secure: only https. NULL: this address can not be asked.
 */
struct fetch *fetch_new(const struct probe_message *request, const char *url, bool secure);
void fetch_free(struct fetch *fetch);
bool fetch_is_over(const struct fetch *fetch);
const struct fetch_result *fetch_result(const struct fetch *fetch);
/* As look_up_wait and look_up_turn. */
size_t fetch_wait(struct fetch *fetch, struct pollfd *out, int *timeout_ms);
void fetch_turn(struct fetch *fetch, const struct pollfd *ready, size_t count);

#endif
