/* SPDX-License-Identifier: MIT */
/* core/port/kill_switch.h by one nftables table. The daemon's thread. */
#include "platform/linux/kill_switch_text.h"

#include "platform/linux/nftables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int run(const char *commands, char why[KILL_SWITCH_WHY_LEN])
{
	char said[120] = "";
	int err = nftables_run(commands, said, sizeof(said));

	switch (-err) {
	case 0:
		break;
	case EPERM:
		snprintf(why, KILL_SWITCH_WHY_LEN, "only root may change the packet filter");
		break;
	case EOPNOTSUPP:
		snprintf(why, KILL_SWITCH_WHY_LEN,
			"this kernel lacks a part of nftables that is needed (%s): `modprobe nf_tables "
			"nft_reject_inet`",
			said);
		break;
	default:
		snprintf(why, KILL_SWITCH_WHY_LEN, "nftables says: %s", said[0] ? said : strerror(-err));
		break;
	}
	return err;
}

int kill_switch_set(const struct kill_switch *settings, char why[KILL_SWITCH_WHY_LEN])
{
	char *text = kill_switch_text(settings);
	int err;

	if (!text) {
		snprintf(why, KILL_SWITCH_WHY_LEN, "memory is short");
		return -ENOMEM;
	}
	err = run(text, why);
	free(text);
	return err;
}

int kill_switch_remove(char why[KILL_SWITCH_WHY_LEN])
{
	return run("add table inet " KILL_SWITCH_TABLE "\ndelete table inet " KILL_SWITCH_TABLE "\n", why);
}
