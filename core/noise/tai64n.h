/* SPDX-License-Identifier: MIT */
/* The timestamp of an initiation: TAI64N, 8 bytes of seconds and 4 of nanoseconds, big-endian, so that bytes
 * compare as time does. Source: WireGuard paper 5.1, 5.4.2; cr.yp.to/libtai/tai64.html. */
#ifndef WGTCP_CORE_NOISE_TAI64N_H
#define WGTCP_CORE_NOISE_TAI64N_H

#include "core/base/time.h"
#include "core/noise/message.h"

/* Nanoseconds are rounded down to this, so that a timestamp does not tell the exact clock (a side channel of
 * load). Smaller than the least distance of two initiations, 20 ms, so that the next one is still newer. */
#define TAI64N_GRANULE_NS (1u << 24)

/* wall, rounded down. wall.ns is below 1,000,000,000. */
void tai64n_write(struct wall wall, uint8_t out[TAI64N_LEN]);
/* False for a time before 1970 or nanoseconds past a second, which nobody sends by mistake. */
bool tai64n_read(const uint8_t timestamp[TAI64N_LEN], struct wall *out);
/* Below, equal to or above 0, as memcmp: any bytes compare, readable or not. */
int tai64n_compare(const uint8_t a[TAI64N_LEN], const uint8_t b[TAI64N_LEN]);
/* wall rounded down, or, where that is not newer than floor, the least time on the grid that is. */
struct wall tai64n_after(struct wall wall, struct wall floor);

#endif
