/* SPDX-License-Identifier: MIT */
/* What this machine says of itself: links, routes, leftovers, clock, kernel, kill switch. Called by
 * diagnose.c. */
#include "client/daemon/diagnose_state.h"

#include "client/daemon/backend.h"
#include "client/daemon/keep.h"
#include "client/daemon/lockdown.h"
#include "client/daemon/manager.h"
#include "client/daemon/tunnel_state.h"
#include "core/port/net_config.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* "a, b", each name once. */
static void add_name(char list[DIAGNOSE_LIST_LEN], const char *name)
{
	size_t len = strlen(list), name_len = strlen(name);
	const char *at;

	for (at = list; (at = strstr(at, name)); at++)
		if ((at == list || at[-1] == ' ') && (at[name_len] == ',' || !at[name_len]))
			return;
	snprintf(list + len, DIAGNOSE_LIST_LEN - len, "%s%s", len ? ", " : "", name);
}

/* A tunnel is no way out of the machine. */
static bool is_tunnel(struct daemon *daemon, const char *name)
{
	struct net_link link;

	return net_link_find(daemon->net, name, &link) == 0 && (link.tun || link.wireguard);
}

static void look_at_address(const struct sockaddr *address, struct diagnose_facts *facts)
{
	if (address->sa_family == AF_INET) {
		const struct sockaddr_in *in = (const void *)address;

		facts->v4.address |= ntohl(in->sin_addr.s_addr) >> 16 != 0xa9fe; /* RFC 3927 */
	} else if (address->sa_family == AF_INET6) {
		const struct sockaddr_in6 *in = (const void *)address;

		facts->v6.address |= !IN6_IS_ADDR_LINKLOCAL(&in->sin6_addr);
	}
}

static void look_at_links(struct daemon *daemon, struct diagnose_facts *facts)
{
	struct ifaddrs *list, *at;
	bool up;

	if (getifaddrs(&list) != 0)
		return;
	for (at = list; at; at = at->ifa_next) {
		if ((at->ifa_flags & IFF_LOOPBACK) || is_tunnel(daemon, at->ifa_name))
			continue;
		up = (at->ifa_flags & IFF_UP) && (at->ifa_flags & IFF_RUNNING);
		add_name(up ? facts->links_up : facts->links_down, at->ifa_name);
		if (up && at->ifa_addr)
			look_at_address(at->ifa_addr, facts);
	}
	freeifaddrs(list);
}

/* Past a tunnel that takes everything. */
static void look_for_mark(struct tunnel *tunnel, void *user)
{
	uint32_t *mark = user;

	if (tunnel_rules_mark(tunnel))
		*mark = tunnel_rules_mark(tunnel);
}

static void look_at_route(struct daemon *daemon, enum ip_family of, struct diagnose_family *family)
{
	struct ip_address outside = keep_outside(of);
	uint32_t interface, mtu, mark = 0;

	keep_is_passed(daemon, of, family->past);
	manager_each(daemon->manager, look_for_mark, &mark);
	family->route = net_route_lookup(daemon->net, &outside, mark, &interface, &mtu) == 0;
	if (family->route) {
		char name[IF_NAMESIZE] = "";

		snprintf(family->interface, sizeof(family->interface), "%s",
			if_indextoname(interface, name) ? name : "an interface");
	}
}

static bool is_down(const struct daemon *daemon, const char *name)
{
	const struct tunnel *tunnel = manager_find(daemon->manager, name);

	return !tunnel || tunnel_phase(tunnel) == TUNNEL_DOWN;
}

static void look_at_leftovers(struct daemon *daemon, struct diagnose_facts *facts)
{
	static const char *const ours[] = { DIAGNOSE_INTERFACE, KERNEL_PROBE_INTERFACE };
	struct profile_file *files = NULL;
	size_t count = profiles_list(daemon->profiles, &files), i;
	struct net_link link;

	for (i = 0; i < count; i++) {
		if (!is_down(daemon, files[i].name) || net_link_find(daemon->net, files[i].name, &link) != 0)
			continue;
		add_name(facts->leftovers, files[i].name);
		facts->taken |= !strcmp(files[i].name, facts->name);
	}
	free(files);
	for (i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		if (net_link_find(daemon->net, ours[i], &link) == 0)
			add_name(facts->leftovers, ours[i]);
}

static void look_at_running(struct tunnel *tunnel, void *user)
{
	struct diagnose_facts *facts = user;

	facts->any_running |= tunnel_phase(tunnel) == TUNNEL_RUNNING;
}

static void choose(struct diagnose *diagnose)
{
	const struct profile *profile = &diagnose->loaded.profile;
	struct choose_facts facts = choose_look(profile, diagnose->transports);

	facts.wish = backend_wish(profile);
	facts.kernel = diagnose->facts.kernel;
	diagnose->facts.choice = choose_backend(&facts);
}

void diagnose_look(struct diagnose *diagnose)
{
	struct daemon *daemon = diagnose->daemon;
	struct diagnose_facts *facts = &diagnose->facts;

	look_at_links(daemon, facts);
	look_at_route(daemon, IP_V4, &facts->v4);
	look_at_route(daemon, IP_V6, &facts->v6);
	backend_ask_kernel(daemon, &facts->kernel);
	if (facts->name[0])
		choose(diagnose);
	look_at_leftovers(daemon, facts);
	manager_each(daemon->manager, look_at_running, facts);
	facts->kill_switch = lockdown_state(daemon->lockdown);
	facts->now_s = (uint64_t)time(NULL);
	facts->mark_s = daemon->timestamp_floor.s;
}
