/* SPDX-License-Identifier: MIT */
/* The kill switch as nftables' commands. Pure. */
#ifndef WGTCP_PLATFORM_LINUX_KILL_SWITCH_TEXT_H
#define WGTCP_PLATFORM_LINUX_KILL_SWITCH_TEXT_H

#include "core/port/kill_switch.h"

#define KILL_SWITCH_TABLE "wgtcp_kill_switch"
#define KILL_SWITCH_LAST_CHAIN "forward"

/* The whole transaction, freed with free(); NULL when memory is short. */
char *kill_switch_text(const struct kill_switch *settings);

#endif
