/* SPDX-License-Identifier: MIT */
/* Policy routing, as a full tunnel needs it: two rules for each family. 0 or -errno. */
#ifndef WGTCP_CORE_PORT_NET_RULE_H
#define WGTCP_CORE_PORT_NET_RULE_H

#include "core/base/address.h"

/* "Packets without this mark are looked up in the table of the same number", so that the tunnel's own
 * packets, which carry it, go past the tunnel; and before that "the main table is asked for everything but
 * its default route", so that the local network stays where it is. One full tunnel at a time: the first rule
 * is the same for all. The table must hold its default route before the rules are added, and be emptied after
 * they are removed. */
int net_full_tunnel_add(enum ip_family family, uint32_t mark);
/* Removing what is not there is done. */
int net_full_tunnel_remove(enum ip_family family, uint32_t mark);
/* Whether a rule of that family asks this table: it is somebody's already. */
bool net_table_in_use(enum ip_family family, uint32_t table);

#endif
