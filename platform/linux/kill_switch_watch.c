/* SPDX-License-Identifier: MIT */
/* The part of core/port/kill_switch.h that listens. The daemon's thread. */
#include "core/port/kill_switch.h"

#include "platform/linux/kill_switch_text.h"
#include "platform/linux/nftables.h"
#include "platform/linux/nftables_watch.h"

/* The same thing by the port's name. */
static struct nftables_watch *inner(const struct kill_switch_watch *watch)
{
	return (struct nftables_watch *)watch;
}

int kill_switch_watch_open(struct kill_switch_watch **out)
{
	struct nftables_watch *watch;
	int err = nftables_watch_open(&watch);

	if (!err)
		*out = (struct kill_switch_watch *)watch;
	return err;
}

void kill_switch_watch_close(struct kill_switch_watch *watch)
{
	nftables_watch_close(inner(watch));
}

int kill_switch_watch_handle(const struct kill_switch_watch *watch)
{
	return nftables_watch_handle(inner(watch));
}

bool kill_switch_watch_take(struct kill_switch_watch *watch)
{
	return nftables_watch_take(inner(watch), KILL_SWITCH_TABLE);
}

bool kill_switch_is_there(void)
{
	return nftables_run("list chain inet " KILL_SWITCH_TABLE " " KILL_SWITCH_LAST_CHAIN "\n", NULL, 0) ==
	       0;
}
