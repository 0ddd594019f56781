/* SPDX-License-Identifier: MIT */
/* What a tunnel does when what stands between it and its peers is not its own business: a machine that slept,
 * a portal that wants a person to log in. Used by alive.c, up.c and surroundings.c. */
#include "client/daemon/second.h"

#include "client/daemon/portal.h"

#include <stdio.h>
#include <time.h>

/* A peer that is there has answered by then, and nobody is asked anything. */
#define PATIENCE_S 1

static void ask_for_portal(const struct tunnel *tunnel)
{
	uint32_t mark = tunnel->fwmark ? tunnel->fwmark : manager_outside_mark(tunnel->daemon->manager);

	portal_watch_wanted(tunnel->daemon->portal, tunnel->loaded.profile.portal_check, mark);
}

bool tunnel_look_for_portal(struct tunnel *tunnel)
{
	const char *url;

	if (tunnel->view.since && (uint64_t)time(NULL) < tunnel->view.since + PATIENCE_S)
		return false;
	ask_for_portal(tunnel);
	if (!portal_is_captive(tunnel->daemon->portal, &url))
		return false;
	tunnel->view.cause = RPC_CAUSE_CAPTIVE_PORTAL;
	return true;
}

void tunnel_explain_portal(const struct tunnel *tunnel, char *out, size_t size)
{
	const char *url;

	portal_is_captive(tunnel->daemon->portal, &url);
	if (url[0])
		snprintf(out, size, "this network wants you to log in first: open %.300s in a browser; %s",
			url,
			tunnel->phase == TUNNEL_STARTING && !tunnel->wishes.persistent
				? "then bring the tunnel up again"
				: "the tunnel goes on by itself then");
	else
		snprintf(out, size, "this network wants you to log in first: open any page in a browser; %s",
			tunnel->phase == TUNNEL_STARTING && !tunnel->wishes.persistent
				? "then bring the tunnel up again"
				: "the tunnel goes on by itself then");
}

bool tunnel_stop_for_portal(struct tunnel *tunnel)
{
	char text[RPC_SENTENCE_LEN];

	if (tunnel->view.cause != RPC_CAUSE_CAPTIVE_PORTAL || tunnel->wishes.persistent)
		return false;
	tunnel_explain_portal(tunnel, text, sizeof(text));
	rpc_error_set(&tunnel->failure, RPC_CODE_CAPTIVE_PORTAL, "%s is not up: %s", tunnel->name, text);
	tunnel_fail(tunnel, RPC_CAUSE_CAPTIVE_PORTAL);
	return true;
}

/* Everything anew, at once: names, the race between the carriers. */
static void try_again(struct tunnel *tunnel)
{
	names_network_changed(tunnel->names);
	if (!tunnel->configured)
		return;
	second_network_changed(tunnel);
	tunnel->backend->send(tunnel->run, &(struct seam_message){ .kind = SEAM_RESUMED });
	tunnel_query(tunnel);
}

void tunnel_resumed(struct tunnel *tunnel)
{
	if (tunnel->phase != TUNNEL_DOWN && tunnel->names)
		try_again(tunnel);
}

void tunnel_portal_changed(struct tunnel *tunnel)
{
	const char *url;

	if (tunnel->phase == TUNNEL_DOWN || !tunnel->names)
		return;
	if (!portal_is_captive(tunnel->daemon->portal, &url))
		try_again(tunnel);
	else if (tunnel->configured)
		tunnel_query(tunnel);
	if (tunnel->phase == TUNNEL_STARTING && !tunnel->run)
		tunnel_step(tunnel);
}

void tunnel_wait_for_names(struct tunnel *tunnel)
{
	if (tunnel->phase == TUNNEL_STARTING && tunnel->names && !tunnel->run)
		ask_for_portal(tunnel);
}
