/* SPDX-License-Identifier: MIT */
/* Whether another program's rule, or its routes in a table that is asked first, outdo the tunnels that take
 * everything. Asked of the kernel, not read out of its tables. Used by keep.c and diagnose_look.c. */
#include "client/daemon/keep.h"

#include "client/daemon/daemon.h"
#include "client/daemon/manager.h"
#include "client/daemon/tunnel_state.h"
#include "core/port/net_config.h"

#include <net/if.h>
#include <string.h>

struct way {
	enum ip_family family;
	uint32_t interface; /* that a packet without a mark goes out by */
	bool taken, inside; /* some tunnel takes all, and this is one */
};

static void look_for_taker(struct tunnel *tunnel, void *user)
{
	struct way *way = user;

	if (!tunnel->rules || tunnel->suspended || !tunnel->keep.on || !tunnel_takes_all(tunnel, way->family))
		return;
	way->taken = true;
	way->inside |= tunnel_interface_index(tunnel) == way->interface;
}

struct ip_address keep_outside(enum ip_family family)
{
	/* Documentation prefixes (RFC 5737, 9637): nothing is sent there. */
	static const struct ip_address v4 = { .family = IP_V4, .bytes = { 203, 0, 113, 1 } },
				       v6 = { .family = IP_V6, .bytes = { 0x3f, 0xff, [15] = 1 } };

	return family == IP_V4 ? v4 : v6;
}

bool keep_is_passed(struct daemon *daemon, enum ip_family family, char by[KEEP_PASSED_LEN])
{
	struct ip_address outside = keep_outside(family);
	struct way way = { .family = family };
	char name[IF_NAMESIZE] = "";
	uint32_t mtu;

	by[0] = 0;
	if (net_route_lookup(daemon->net, &outside, 0, &way.interface, &mtu) != 0)
		return false;
	manager_each(daemon->manager, look_for_taker, &way);
	if (!way.taken || way.inside)
		return false;
	g_strlcpy(by, if_indextoname(way.interface, name) ? name : "elsewhere", KEEP_PASSED_LEN);
	return true;
}
