/* SPDX-License-Identifier: MIT */
/* Connecting to a peer that may have several endpoints: one after the other with a short head start each, the
 * first that stands is kept (RFC 8305, section 5). Never blocks; the front asks for results. */
#ifndef WGTCP_PLATFORM_LINUX_DIAL_H
#define WGTCP_PLATFORM_LINUX_DIAL_H

#include "core/base/address.h"
#include "core/base/time.h"

#define DIAL_ENDPOINTS_MAX 8
#define DIAL_KEY_LEN 32

struct dialler;

struct dial_result {
	uint8_t public_key[DIAL_KEY_LEN];
	uint64_t attempt;
	int fd;    /* connected, the caller's; -1: failed */
	int error; /* errno of the last endpoint, ETIMEDOUT after 10 s */
};

int dialler_open(struct dialler **out);
void dialler_close(struct dialler *dialler);
/* Becomes readable when dial_next may have something. */
int dialler_handle(const struct dialler *dialler);
struct mono dialler_deadline(const struct dialler *dialler);

/* 0, or -errno: then there will be no result. A dial to the same peer that is under way is given up,
 * but for those that were started as further ones. */
int dial_start(struct dialler *dialler, const uint8_t public_key[DIAL_KEY_LEN], uint64_t attempt,
	const struct endpoint *endpoints, size_t count, uint32_t mark, struct mono now);
/* The same beside whatever other dial to this peer is under way: a further connection. */
int dial_start_further(struct dialler *dialler, const uint8_t public_key[DIAL_KEY_LEN], uint64_t attempt,
	const struct endpoint *endpoints, size_t count, uint32_t mark, struct mono now);
void dial_cancel(struct dialler *dialler, const uint8_t public_key[DIAL_KEY_LEN], uint64_t attempt);
void dial_cancel_all(struct dialler *dialler);
/* The next dial that has ended; false: none now. */
bool dial_next(struct dialler *dialler, struct mono now, struct dial_result *out);

#endif
