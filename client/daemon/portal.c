/* SPDX-License-Identifier: MIT */
/* Used by surroundings.c and tunnels. */
#include "client/daemon/portal.h"
#include "client/daemon/daemon.h"
#include "client/daemon/network_manager.h"
#include "client/daemon/prober.h"
#include "client/rpc/portal.h"

#include <glib.h>
#include <string.h>

/* Between two questions: while somebody may be logging in, and when it is not that. */
#define AGAIN_FIRST_MS 5000
#define AGAIN_CAPTIVE_MS 10000
#define AGAIN_MOST_MS 60000

struct portal_watch {
	struct daemon *daemon;
	struct network_manager *manager;
	void (*changed)(void *user);
	void *user;
	char check[PROBE_TEXT_LEN];
	uint32_t mark;
	struct underlay_query *underlay;
	uint32_t request;
	guint64 pause_ms;
	gint64 asked_us; /* 0: not in this network */
	bool captive;    /* as our own question told */
	char url[RPC_PORTAL_URL_LEN];
	bool told; /* what changed has told last */
};

static void tell(struct portal_watch *watch)
{
	const char *url;
	bool captive = portal_is_captive(watch, &url);

	if (captive == watch->told)
		return;
	watch->told = captive;
	watch->changed(watch->user);
}

bool portal_is_captive(const struct portal_watch *watch, const char **url)
{
	*url = "";
	if (!watch)
		return false;
	switch (network_manager_connectivity(watch->manager)) {
	case NM_CONNECTIVITY_PORTAL:
		*url = watch->captive && watch->url[0] ? watch->url
						       : network_manager_check_uri(watch->manager);
		if (!rpc_portal_url_ok(*url))
			*url = "";
		return true;
	case NM_CONNECTIVITY_FULL:
		return false;
	case NM_CONNECTIVITY_UNKNOWN:
	case NM_CONNECTIVITY_NONE:
	case NM_CONNECTIVITY_LIMITED:
		break;
	}
	*url = watch->captive ? watch->url : "";
	return watch->captive;
}

static void answered(const struct probe_message *message, void *user)
{
	struct portal_watch *watch = user;

	watch->request = 0;
	if (message->portal == PROBE_PORTAL_CAPTIVE) {
		watch->captive = true;
		g_strlcpy(watch->url, rpc_portal_url_ok(message->text) ? message->text : "",
			sizeof(watch->url));
	} else if (message->portal == PROBE_PORTAL_OPEN) {
		watch->captive = false;
	}
	/* Unknown: what was known stays; a portal does not go because its server is slow. */
	tell(watch);
}

static void underlay_found(const struct underlay *underlay, void *user)
{
	struct portal_watch *watch = user;

	watch->underlay = NULL;
	watch->request =
		prober_portal(watch->daemon->prober, watch->check, underlay, watch->mark, answered, watch);
}

static void give_up(struct portal_watch *watch)
{
	underlay_cancel(watch->underlay);
	watch->underlay = NULL;
	prober_cancel(watch->daemon->prober, watch->request);
	watch->request = 0;
}

void portal_watch_wanted(struct portal_watch *watch, const char *check, uint32_t mark)
{
	gint64 now = g_get_monotonic_time();

	if (!watch || watch->underlay || watch->request)
		return;
	if (watch->asked_us && now - watch->asked_us < (gint64)watch->pause_ms * 1000)
		return;
	watch->pause_ms =
		watch->asked_us ? MIN(2 * watch->pause_ms, watch->captive ? AGAIN_CAPTIVE_MS : AGAIN_MOST_MS)
				: AGAIN_FIRST_MS;
	watch->asked_us = now;
	network_manager_check(watch->manager);
	if (network_manager_checks(watch->manager) &&
		network_manager_connectivity(watch->manager) != NM_CONNECTIVITY_PORTAL)
		return;
	g_strlcpy(watch->check, check, sizeof(watch->check));
	watch->mark = mark;
	watch->underlay = underlay_find(watch->daemon, underlay_found, watch);
}

void portal_watch_forget(struct portal_watch *watch)
{
	if (!watch)
		return;
	give_up(watch);
	watch->asked_us = 0;
	watch->captive = false;
	watch->url[0] = 0;
	if (network_manager_connectivity(watch->manager) == NM_CONNECTIVITY_PORTAL)
		network_manager_check(watch->manager);
	tell(watch);
}

void portal_watch_look(struct portal_watch *watch)
{
	tell(watch);
}

struct portal_watch *portal_watch_new(
	struct daemon *daemon, struct network_manager *manager, void (*changed)(void *user), void *user)
{
	struct portal_watch *watch = g_new0(struct portal_watch, 1);

	watch->daemon = daemon;
	watch->manager = manager;
	watch->changed = changed;
	watch->user = user;
	return watch;
}

void portal_watch_free(struct portal_watch *watch)
{
	if (!watch)
		return;
	give_up(watch);
	g_free(watch);
}
