/* SPDX-License-Identifier: MIT */
/* Which transport counters have been seen. Source: RFC 6479; WireGuard paper 5.4.6. */
#ifndef WGTCP_CORE_NOISE_REPLAY_H
#define WGTCP_CORE_NOISE_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 8192 bits of which one word is always being reused; the large one where streams are in use (docs/wire.md 5). */
#define REPLAY_BITS_SMALL 8192u
#define REPLAY_BITS_LARGE 65536u

struct replay {
	uint64_t newest; /* one more than the highest counter accepted; 0: none yet */
	uint64_t *words; /* bits / 64 of them, owned */
	uint32_t bits;   /* a power of two */
};

/* False when memory is short. */
bool replay_init(struct replay *replay, uint32_t bits);
void replay_free(struct replay *replay);
/* Makes it as large as a new one of `bits` would be, forgetting nothing; never smaller. False, and unchanged,
 * when memory is short. */
bool replay_widen(struct replay *replay, uint32_t bits);
/* Accepts counter once, if it is no more than bits - 64 behind the newest and below the reject limit.
 * Call only after the packet has been authenticated: a forged counter must not move the window. */
bool replay_accept(struct replay *replay, uint64_t counter);

#endif
