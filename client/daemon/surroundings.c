/* SPDX-License-Identifier: MIT */
/* Used by main.c and manager.c. */
#include "client/daemon/surroundings.h"
#include "client/daemon/bus.h"
#include "client/daemon/daemon.h"
#include "client/daemon/journal.h"
#include "client/daemon/manager.h"
#include "client/daemon/network_manager.h"
#include "client/daemon/on_demand.h"
#include "client/daemon/portal.h"
#include "client/daemon/sleep.h"
#include "core/port/net_identity.h"

#include <glib.h>
#include <string.h>

/* One change of network comes as many. */
#define SETTLE_MS 300
/* Time for NetworkManager to answer, before AutoConnect is decided. */
#define FIRST_LOOK_MS 1000

struct surroundings {
	struct daemon *daemon;
	struct sleep_watch *sleep;
	struct network_manager *manager;
	struct on_demand *on_demand;
	struct on_demand_place place;
	guint settle;
};

static struct on_demand_place look_around(const struct surroundings *surroundings)
{
	static const struct ip_address outside[2] = {
		/* The dummy address of RFC 7600 and the documentation prefix (RFC 3849): nothing is sent
		   there. */
		{ .family = IP_V4, .bytes = { 192, 0, 0, 8 } },
		{ .family = IP_V6, .bytes = { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 } },
	};
	uint32_t mark = manager_outside_mark(surroundings->daemon->manager);
	struct on_demand_place place = { 0 };
	struct net_gateway gateway;
	size_t i;
	int len;

	place.ssid_len = network_manager_ssid(surroundings->manager, place.ssid);
	for (i = 0; i < 2; i++) {
		if (net_gateway(&outside[i], mark, &gateway) != 0 ||
			manager_has_interface(surroundings->daemon->manager, gateway.interface))
			continue;
		place.connected = true;
		place.gateways[i] = gateway.address;
		memcpy(place.hardware[i], gateway.hardware, gateway.hardware_len);
		place.hardware_len[i] = gateway.hardware_len;
		if (gateway.hardware_len == 0)
			net_identity_learn(&outside[i], mark);
		len = place.ssid_len ? 0 : net_ssid(gateway.interface, place.ssid);
		if (len > 0)
			place.ssid_len = (size_t)len;
	}
	return place;
}

/* A hardware address that has only become known is no other network. */
static bool is_same(const struct on_demand_place *a, const struct on_demand_place *b)
{
	size_t i;

	if (a->connected != b->connected || a->ssid_len != b->ssid_len ||
		memcmp(a->ssid, b->ssid, a->ssid_len) != 0)
		return false;
	for (i = 0; i < 2; i++)
		if (!ip_address_equal(&a->gateways[i], &b->gateways[i]) ||
			(a->hardware_len[i] && b->hardware_len[i] &&
				(a->hardware_len[i] != b->hardware_len[i] ||
					memcmp(a->hardware[i], b->hardware[i], a->hardware_len[i]) != 0)))
			return false;
	return true;
}

static gboolean settled(gpointer user)
{
	struct surroundings *surroundings = user;
	struct on_demand_place place = look_around(surroundings);
	bool same = is_same(&place, &surroundings->place);

	surroundings->settle = 0;
	surroundings->place = place;
	if (!same)
		portal_watch_forget(surroundings->daemon->portal);
	on_demand_look(surroundings->on_demand, &place);
	return G_SOURCE_REMOVE;
}

static void settle_later(struct surroundings *surroundings, guint ms)
{
	if (!surroundings->settle)
		surroundings->settle = g_timeout_add(ms, settled, surroundings);
}

void surroundings_network_changed(struct surroundings *surroundings)
{
	if (!surroundings)
		return;
	sleep_watch_look(surroundings->sleep);
	settle_later(surroundings, SETTLE_MS);
}

static void tell_resumed(struct tunnel *tunnel, void *user)
{
	(void)user;
	tunnel_resumed(tunnel);
}

static void resumed(void *user)
{
	struct surroundings *surroundings = user;

	journal_say(surroundings->daemon->journal, JOURNAL_INFO, NULL, "the machine is awake again");
	manager_each(surroundings->daemon->manager, tell_resumed, NULL);
	settle_later(surroundings, SETTLE_MS);
}

static void network_manager_changed(void *user)
{
	struct surroundings *surroundings = user;

	portal_watch_look(surroundings->daemon->portal);
	settle_later(surroundings, SETTLE_MS);
}

static void tell_portal(struct tunnel *tunnel, void *user)
{
	(void)user;
	tunnel_portal_changed(tunnel);
}

static void portal_changed(void *user)
{
	struct surroundings *surroundings = user;
	const char *url;
	bool captive = portal_is_captive(surroundings->daemon->portal, &url);

	journal_say(surroundings->daemon->journal, JOURNAL_INFO, NULL,
		captive ? "a captive portal is in the way" : "no captive portal is in the way any more");
	manager_each(surroundings->daemon->manager, tell_portal, NULL);
}

struct surroundings *surroundings_new(struct daemon *daemon)
{
	struct surroundings *surroundings = g_new0(struct surroundings, 1);

	surroundings->daemon = daemon;
	surroundings->manager = network_manager_new(daemon->bus, network_manager_changed, surroundings);
	surroundings->sleep = sleep_watch_new(daemon->bus, resumed, surroundings);
	surroundings->on_demand = on_demand_new(daemon);
	daemon->portal = portal_watch_new(daemon, surroundings->manager, portal_changed, surroundings);
	settle_later(surroundings, FIRST_LOOK_MS);
	return surroundings;
}

void surroundings_free(struct surroundings *surroundings)
{
	if (!surroundings)
		return;
	if (surroundings->settle)
		g_source_remove(surroundings->settle);
	portal_watch_free(surroundings->daemon->portal);
	surroundings->daemon->portal = NULL;
	on_demand_free(surroundings->on_demand);
	sleep_watch_free(surroundings->sleep);
	network_manager_free(surroundings->manager);
	g_free(surroundings);
}
