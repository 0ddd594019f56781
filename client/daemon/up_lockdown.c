/* SPDX-License-Identifier: MIT */
/* The steps of a bring-up that are about what may pass: the mark of the tunnel's own packets, and the kill
 * switch. Called by up.c. */
#include "client/daemon/second.h"

#include "client/daemon/journal.h"
#include "client/daemon/lockdown.h"
#include "core/port/net_rule.h"

#include <stdio.h>
#include <string.h>

/* The system's own tables: default, main, local. */
#define SYSTEM_TABLE_FIRST 253
#define SYSTEM_TABLE_LAST 255

static bool takes_any(const struct tunnel *tunnel)
{
	return tunnel_takes_all(tunnel, IP_V4) || tunnel_takes_all(tunnel, IP_V6);
}

bool tunnel_is_full(const struct tunnel *tunnel)
{
	return tunnel->phase != TUNNEL_DOWN && tunnel->claims_all;
}

void tunnel_unset_mark(void *context)
{
	struct tunnel *tunnel = context;

	lockdown_forget(tunnel->daemon->lockdown, tunnel->name);
	tunnel->claims_all = false;
	tunnel->fwmark = 0;
}

/* Before anything is sent: look-ups of names carry the mark too. */
enum step_result tunnel_set_mark(void *context)
{
	struct tunnel *tunnel = context;
	const char *other = manager_full_tunnel(tunnel->daemon->manager, tunnel);

	if (takes_any(tunnel) && other) {
		rpc_error_set(&tunnel->failure, RPC_CODE_BUSY,
			"%s takes all traffic already, and only one tunnel can: `wgtcp-cli down %s` first",
			other, other);
		return tunnel_fail(tunnel, RPC_CAUSE_BUSY);
	}
	tunnel->fwmark = 0;
	tunnel->fwmark = tunnel_choose_mark(tunnel);
	if ((takes_any(tunnel) || tunnel->second) && tunnel->fwmark >= SYSTEM_TABLE_FIRST &&
		tunnel->fwmark <= SYSTEM_TABLE_LAST) {
		rpc_error_set(&tunnel->failure, RPC_CODE_CONFIG,
			"FwMark = %u is the number of a table of the system's own: leave FwMark out, or take "
			"another "
			"number",
			tunnel->fwmark);
		tunnel->fwmark = 0;
		return tunnel_fail(tunnel, RPC_CAUSE_CONFIG);
	}
	tunnel->claims_all = takes_any(tunnel);
	tunnel->held = lockdown_holds(tunnel->daemon->lockdown, tunnel->name);
	tunnel->keep_hold = tunnel->held;
	tunnel->suspended = lockdown_state(tunnel->daemon->lockdown) == RPC_KILL_SWITCH_OPEN;
	/* It may be on already, from before a restart or for another tunnel. */
	lockdown_let_pass(tunnel->daemon->lockdown, tunnel->name, tunnel->fwmark);
	tunnel_show_kill_switch(tunnel);
	return STEP_DONE;
}

static void warn_of_kill_switch(struct tunnel *tunnel)
{
	int unsaved = lockdown_unsaved(tunnel->daemon->lockdown);
	char text[RPC_SENTENCE_LEN];

	snprintf(text, sizeof(text),
		"the kill switch is on: until `wgtcp-cli down %s` or `wgtcp-cli unlock` nothing leaves this "
		"machine past the "
		"tunnel, also when the tunnel breaks%s, and nobody outside reaches it "
		"(ssh)%s",
		tunnel->name, unsaved ? "" : " and after a restart",
		tunnel->loaded.profile.kill_switch_lan
			? ", but for the local network"
			: "; KillSwitchAllowLan = on lets the local network be reached");
	tunnel_warn(tunnel, text);
	if (unsaved) {
		snprintf(text, sizeof(text),
			"the kill switch could not be written down in the state folder (%s), so it ends when "
			"wgtcpd or this machine is started again: make that folder writable, then `wgtcp-cli "
			"down %s` and up",
			strerror(-unsaved), tunnel->name);
		tunnel_warn(tunnel, text);
	}
	if (!tunnel_takes_all(tunnel, IP_V4))
		tunnel_warn(tunnel, "AllowedIPs does not hold everything, so with KillSwitch = on what is "
				    "not in it cannot be reached at "
				    "all: add 0.0.0.0/0 and ::/0, or set KillSwitch = off");
}

void tunnel_unset_kill_switch(void *context)
{
	struct tunnel *tunnel = context;

	if (!tunnel->keep_hold && !tunnel->daemon->ending && !tunnel->first)
		lockdown_release(tunnel->daemon->lockdown, tunnel->name);
}

/* Before the first address and the first route. */
enum step_result tunnel_set_kill_switch(void *context)
{
	struct tunnel *tunnel = context;
	const struct profile *profile = &tunnel->loaded.profile;
	char why[KILL_SWITCH_WHY_LEN] = "";

	/* By now it is known whether it needs one. */
	lockdown_let_pass(tunnel->daemon->lockdown, tunnel->name, tunnel->fwmark);
	if (tunnel->first)
		return STEP_DONE; /* that one's covers both */
	if (!profile->kill_switch) {
		/* It held, and its profile does not want that any more. */
		lockdown_release(tunnel->daemon->lockdown, tunnel->name);
		tunnel->keep_hold = false;
		tunnel_show_kill_switch(tunnel);
		return STEP_DONE;
	}
	if (lockdown_hold(tunnel->daemon->lockdown, tunnel->name, profile->kill_switch_lan, why)) {
		rpc_error_set(&tunnel->failure, RPC_CODE_OTHER,
			"the kill switch cannot be put in place: %s; or set KillSwitch = off", why);
		return tunnel_fail(tunnel, RPC_CAUSE_CONFIG);
	}
	tunnel_show_kill_switch(tunnel);
	warn_of_kill_switch(tunnel);
	return STEP_DONE;
}

void tunnel_tell_hold(const struct tunnel *tunnel, struct rpc_error *why)
{
	size_t len = strlen(why->message);

	if (lockdown_holds(tunnel->daemon->lockdown, tunnel->name))
		snprintf(why->message + len, sizeof(why->message) - len,
			"; the kill switch stays on, so nothing leaves this machine: `wgtcp-cli up %s` tries "
			"again, "
			"`wgtcp-cli down %s` ends it",
			tunnel->name, tunnel->name);
}

void tunnel_show_kill_switch(struct tunnel *tunnel)
{
	tunnel->view.kill_switch = lockdown_holds(tunnel->daemon->lockdown, tunnel->name)
					   ? lockdown_state(tunnel->daemon->lockdown)
					   : RPC_KILL_SWITCH_OFF;
}

void tunnel_lockdown_changed(struct tunnel *tunnel)
{
	struct rpc_tunnel before = view_shell(&tunnel->view);

	tunnel_suspend(tunnel, lockdown_state(tunnel->daemon->lockdown) == RPC_KILL_SWITCH_OPEN);
	tunnel_show_kill_switch(tunnel);
	tunnel_tell(tunnel, &before);
}
