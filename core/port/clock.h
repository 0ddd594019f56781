/* SPDX-License-Identifier: MIT */
#ifndef WGTCP_CORE_PORT_CLOCK_H
#define WGTCP_CORE_PORT_CLOCK_H

#include "core/base/time.h"

struct clock;

/* Counts sleep (CLOCK_BOOTTIME on Linux). */
struct mono clock_now(struct clock *clock);
struct wall clock_wall(struct clock *clock);

#endif
