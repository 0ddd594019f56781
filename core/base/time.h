/* SPDX-License-Identifier: MIT */
/* Time as values: the core has no clock, it is told `now` once per loop turn. */
#ifndef WGTCP_CORE_BASE_TIME_H
#define WGTCP_CORE_BASE_TIME_H

#include <stdbool.h>
#include <stdint.h>

/* A reading of a clock that never goes back and goes on during sleep, in nanoseconds since some origin.
 * 0 is never a reading: a field that holds it has not been set. */
struct mono {
	uint64_t ns;
};

/* Unix time. May jump either way. */
struct wall {
	uint64_t s;
	uint32_t ns;
};

#define MONO_UNSET ((struct mono){ 0 })
#define MONO_NEVER ((struct mono){ UINT64_MAX })

static inline bool mono_is_set(struct mono t)
{
	return t.ns != 0;
}

/* Saturates at MONO_NEVER. */
static inline struct mono mono_add_ns(struct mono t, uint64_t ns)
{
	return t.ns > UINT64_MAX - ns ? MONO_NEVER : (struct mono){ t.ns + ns };
}

static inline struct mono mono_add_ms(struct mono t, uint64_t ms)
{
	return ms > UINT64_MAX / 1000000 ? MONO_NEVER : mono_add_ns(t, ms * 1000000);
}

/* How long ago `then` was; 0 if it lies ahead. */
static inline uint64_t mono_since_ns(struct mono now, struct mono then)
{
	return now.ns > then.ns ? now.ns - then.ns : 0;
}

static inline uint64_t mono_since_ms(struct mono now, struct mono then)
{
	return mono_since_ns(now, then) / 1000000;
}

static inline bool mono_reached(struct mono now, struct mono deadline)
{
	return now.ns >= deadline.ns;
}

static inline struct mono mono_min(struct mono a, struct mono b)
{
	return a.ns < b.ns ? a : b;
}

static inline struct mono mono_max(struct mono a, struct mono b)
{
	return a.ns > b.ns ? a : b;
}

#endif
