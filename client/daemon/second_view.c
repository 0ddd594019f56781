/* SPDX-License-Identifier: MIT */
/* What there is to know of two tunnels that are one for everybody outside, and how they look from there. See
 * second.h. */
#include "client/daemon/second_state.h"

#include <stdio.h>
#include <string.h>

bool second_carries(const struct tunnel *tunnel)
{
	return tunnel->second && tunnel->second->tunnel && tunnel->second->pair.second;
}

struct tunnel *second_mate(const struct tunnel *tunnel)
{
	if (tunnel->first)
		return tunnel->first;
	return tunnel->second ? tunnel->second->tunnel : NULL;
}

bool second_switches(const struct tunnel *tunnel)
{
	return tunnel->second && tunnel->second->switching;
}

struct tunnel *second_carrier(const struct tunnel *tunnel)
{
	return second_carries(tunnel) ? tunnel->second->tunnel : (struct tunnel *)tunnel;
}

bool second_hopes(const struct tunnel *tunnel)
{
	const struct second *second = tunnel->second;

	return second && !second->failed && second->pair.wish != PROFILE_PAIR_FIRST;
}

static const struct rpc_tunnel *lent_view(struct second *second, const struct tunnel *lent)
{
	struct rpc_tunnel *view = &second->lent;

	*view = (struct rpc_tunnel){ 0 };
	snprintf(view->name, sizeof(view->name), "%s", lent->name);
	snprintf(view->profile, sizeof(view->profile), "%s", lent->name);
	snprintf(view->display_name, sizeof(view->display_name), "%s", lent->view.display_name);
	snprintf(view->message, sizeof(view->message), "in use as the FallbackProfile of %s",
		second->first->name);
	return view;
}

const struct rpc_tunnel *second_view(const struct tunnel *tunnel)
{
	struct second *second = tunnel->first ? tunnel->first->second : tunnel->second;
	struct rpc_tunnel *view = &second->shown;

	if (tunnel->first)
		return lent_view(second, tunnel);
	*view = second->tunnel->view;
	memcpy(view->name, tunnel->view.name, sizeof(view->name));
	memcpy(view->display_name, tunnel->view.display_name, sizeof(view->display_name));
	snprintf(view->profile, sizeof(view->profile), "%s", second->name);
	view->kill_switch = tunnel->view.kill_switch;
	view->udp = tunnel->view.udp;
	view->warnings = tunnel->warnings;
	return view;
}
