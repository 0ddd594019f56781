/* SPDX-License-Identifier: MIT */
/* TAI64N timestamps. Called by core/tunnel. Source: cr.yp.to/libtai/tai64.html. */
#include "core/noise/tai64n.h"

#include "core/base/bytes.h"

#include <string.h>

/* The label of 1970-01-01 00:00:00: TAI was ten seconds ahead then. Leap seconds since are left out by
 * everybody. */
#define TAI64_UNIX_EPOCH ((1ull << 62) + 10)
#define NS_PER_S 1000000000u

void tai64n_write(struct wall wall, uint8_t out[TAI64N_LEN])
{
	put_be64(out, TAI64_UNIX_EPOCH + wall.s);
	put_be32(out + 8, wall.ns & ~(TAI64N_GRANULE_NS - 1));
}

bool tai64n_read(const uint8_t timestamp[TAI64N_LEN], struct wall *out)
{
	uint64_t s = get_be64(timestamp);
	uint32_t ns = get_be32(timestamp + 8);

	/* Labels from 2^63 on are reserved. */
	if (s < TAI64_UNIX_EPOCH || s >= 1ull << 63 || ns >= NS_PER_S)
		return false;
	*out = (struct wall){ s - TAI64_UNIX_EPOCH, ns };
	return true;
}

int tai64n_compare(const uint8_t a[TAI64N_LEN], const uint8_t b[TAI64N_LEN])
{
	return memcmp(a, b, TAI64N_LEN);
}

struct wall tai64n_after(struct wall wall, struct wall floor)
{
	struct wall next = { wall.s, wall.ns & ~(TAI64N_GRANULE_NS - 1) };

	if (next.s > floor.s || (next.s == floor.s && next.ns > floor.ns))
		return next;
	next = (struct wall){ floor.s, (floor.ns & ~(TAI64N_GRANULE_NS - 1)) + TAI64N_GRANULE_NS };
	if (next.ns >= NS_PER_S)
		next = (struct wall){ floor.s + 1, 0 };
	return next;
}
