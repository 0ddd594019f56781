/* SPDX-License-Identifier: MIT */
/* How much handshake work we do for strangers: the measure of load, and a token bucket for each source.
 * Fixed memory. Source: WireGuard paper 5.3; figures as the common implementations have them. */
#ifndef WGTCP_CORE_TUNNEL_LIMIT_H
#define WGTCP_CORE_TUNNEL_LIMIT_H

#include "core/base/address.h"
#include "core/base/time.h"

/* ---- load ---- */

/* An initiation costs some 150 us of Curve25519, so this is 4 % of a core: far from an overload, and more
 * than the clients of one server send by themselves. */
#define LOAD_INITIATIONS_PER_S 256
/* Once high, it stays so this long: a flood that comes in waves finds no gap. */
#define LOAD_HOLD_MS 1000

/* All zero: no load. */
struct load {
	struct mono window;     /* start of the second being counted */
	uint32_t count, before; /* initiations in it, and in the second before */
	struct mono high_until;
};

/* One more initiation with a valid mac1 came in. */
void load_note(struct load *load, struct mono now);
/* More than LOAD_INITIATIONS_PER_S in the last second, now or up to LOAD_HOLD_MS ago. */
bool load_is_high(const struct load *load, struct mono now);

/* ---- per source ---- */

#define LIMIT_PER_S 20
#define LIMIT_BURST 5

struct limit;

/* NULL when memory is short. */
struct limit *limit_new(void);
void limit_free(struct limit *limit);
/* Takes one handshake from the source's bucket (an IPv4 address, or an IPv6 /64, which one person commonly
 * has all of). Call only for a source that is proved, by a cookie or by TCP: others could spend somebody
 * else's tokens. */
bool limit_allow(struct limit *limit, const struct ip_address *source, struct mono now);

#endif
