/* SPDX-License-Identifier: MIT */
/* How long the fallback machine waits: before it dials again, and before it tries UDP again. Source:
 * docs/fallback.md. */
#ifndef WGTCP_CORE_CARRIER_FALLBACK_WAIT_H
#define WGTCP_CORE_CARRIER_FALLBACK_WAIT_H

#include "core/base/time.h"

#define RETURN_FLAPS_MAX 3

/* A seeded source of jitter; nothing secret hangs on it. */
struct jitter {
	uint64_t state;
};

/* ms, at most `percent` more or less. */
uint64_t jitter_ms(struct jitter *jitter, uint64_t ms, unsigned percent);

/* 0.25 s after the first failure, doubling to 30 s. */
uint64_t redial_wait_ms(struct jitter *jitter, uint32_t failures);

/* When to go back to UDP. All zero at the start. */
struct udp_return {
	uint64_t wait_ms;                    /* 0: the shortest */
	struct mono returned;                /* when UDP last came back; unset: it has not, or it held */
	struct mono flaps[RETURN_FLAPS_MAX]; /* the newest failures soon after a return; a ring */
	unsigned flap_count;                 /* in all */
	bool barred;                         /* TCP until the network changes */
};

/* How long from now to the next trial. */
uint64_t udp_return_wait_ms(const struct udp_return *schedule, struct jitter *jitter);
void udp_return_trial_failed(struct udp_return *schedule);
void udp_return_succeeded(struct udp_return *schedule, struct mono now);
/* UDP, in use until now, has failed. */
void udp_return_lost(struct udp_return *schedule, struct mono now);

#endif
