/* SPDX-License-Identifier: MIT */
/* The machine's clocks. There is only one of each, so the handle is not looked at and may be NULL. Any
 * thread. */
#include "core/port/clock.h"

#include <time.h>

struct mono clock_now(struct clock *clock)
{
	struct timespec ts;

	(void)clock;
	/* BOOTTIME goes on while the machine sleeps: sessions and NAT bindings age then too. */
	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (struct mono){ (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec };
}

struct wall clock_wall(struct clock *clock)
{
	struct timespec ts;

	(void)clock;
	clock_gettime(CLOCK_REALTIME, &ts);
	return (struct wall){ .s = (uint64_t)ts.tv_sec, .ns = (uint32_t)ts.tv_nsec };
}
