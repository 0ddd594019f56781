/* SPDX-License-Identifier: MIT */
/* Policy routing, as a full tunnel needs it: two rules for each family. 0 or -errno. */
#ifndef WGTCP_CORE_PORT_NET_RULE_H
#define WGTCP_CORE_PORT_NET_RULE_H

#include "core/base/address.h"

/* "Packets without this mark are looked up in the table of the same number", so that the tunnel's own
 * packets, which carry it, go past the tunnel; and before that "the main table is asked for everything but
 * what stands for its default route", so that the local network stays where it is (and a network that hands
 * out halves of everything as routes takes nothing away). One tunnel that takes all at a time. The table must
 * hold its routes before the rules are added, and be emptied after they are removed. */
int net_full_tunnel_add(enum ip_family family, uint32_t mark);
/* The same for a tunnel that takes some prefixes, among them the one that its own server is in. It is asked
 * before one that takes all. */
int net_part_tunnel_add(enum ip_family family, uint32_t mark);
/* Removes what either of them added. Removing what is not there is done. */
int net_full_tunnel_remove(enum ip_family family, uint32_t mark);
/* Whether both rules of that family are there, of either kind. */
bool net_tunnel_rules_are_there(enum ip_family family, uint32_t mark);
/* A prefix that is as good as everything of its family: a default route, or what is used to outdo one. */
bool net_takes_all(const struct ip_prefix *prefix);
/* Whether a rule of that family asks this table: it is somebody's already. */
bool net_table_in_use(enum ip_family family, uint32_t table);

#endif
