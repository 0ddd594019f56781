/* SPDX-License-Identifier: MIT */
/* A tunnel's life: up, down, and why. */
#include "client/daemon/second.h"

#include "client/daemon/children.h"
#include "client/daemon/journal.h"
#include "client/daemon/portal.h"
#include "client/daemon/lockdown.h"
#include "core/port/net_config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* After so many seconds without an answer its cause may be guessed. */
#define LIKELY_S 10

void daemon_out_of_memory(void)
{
	static const char text[] = "wgtcpd: memory is short: it ends here; close other programs and start it again\n";

	(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
	_exit(1);
}

struct mono daemon_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (struct mono){ (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec };
}

const char *tunnel_name(const struct tunnel *tunnel)
{
	return tunnel->name;
}

enum tunnel_phase tunnel_phase(const struct tunnel *tunnel)
{
	return tunnel->phase;
}

const struct rpc_tunnel *tunnel_view(const struct tunnel *tunnel)
{
	return tunnel->first || second_carries(tunnel) ? second_view(tunnel) : &tunnel->view;
}

const struct stats *tunnel_stats(const struct tunnel *tunnel)
{
	return &second_carrier(tunnel)->stats;
}

struct mono tunnel_read_at(const struct tunnel *tunnel)
{
	return second_carrier(tunnel)->read;
}

uint32_t tunnel_mark(const struct tunnel *tunnel)
{
	return tunnel->fwmark;
}

bool tunnel_has_kernel_link(const struct tunnel *tunnel)
{
	return tunnel->kernel_link;
}

uint32_t tunnel_kernel_link(const struct tunnel *tunnel)
{
	return tunnel->run ? tunnel->backend->interface_index(tunnel->run) : 0;
}

uint32_t tunnel_interface_index(const struct tunnel *tunnel)
{
	return tunnel->run ? tunnel->backend->interface_index(tunnel->run) : 0;
}

uint32_t tunnel_rules_mark(const struct tunnel *tunnel)
{
	return tunnel->rules ? tunnel->fwmark : 0;
}

bool tunnel_is_persistent(const struct tunnel *tunnel)
{
	return tunnel->wishes.persistent;
}

bool tunnel_is_managed(const struct tunnel *tunnel)
{
	return tunnel->managed_by[0] != 0;
}

const struct client *tunnel_owner(const struct tunnel *tunnel)
{
	return tunnel->owner;
}

const struct rpc_texts *tunnel_warnings(const struct tunnel *tunnel)
{
	return &tunnel->warnings;
}

const struct tunnel *tunnel_lent_to(const struct tunnel *tunnel)
{
	return tunnel->first;
}

const struct tunnel *tunnel_in_use(const struct tunnel *tunnel)
{
	return second_carrier(tunnel);
}

bool tunnel_has_children(const struct tunnel *tunnel)
{
	const struct children *children = tunnel->daemon->children;

	return children_has(children, tunnel->name) ||
	       (tunnel->second_name[0] && children_has(children, tunnel->second_name));
}

bool tunnel_unsettled(const struct tunnel *tunnel)
{
	/* One that is only tried beside may take its time. */
	if (tunnel->parked && tunnel->phase == TUNNEL_RUNNING)
		return false;
	return tunnel->phase == TUNNEL_STARTING || tunnel->switching ||
	       (tunnel->phase == TUNNEL_RUNNING && tunnel->view.state != RPC_STATE_UP);
}

static void free_texts(struct rpc_texts *texts)
{
	size_t i;

	for (i = 0; i < texts->count; i++)
		free(texts->items[i]);
	free(texts->items);
	*texts = (struct rpc_texts){ 0 };
}

void tunnel_warn(struct tunnel *tunnel, const char *text)
{
	struct rpc_texts *texts = &tunnel->warnings;
	char **items = realloc(texts->items, (texts->count + 1) * sizeof(*items));
	char *copy = items ? strdup(text) : NULL;

	if (items)
		texts->items = items;
	if (copy)
		texts->items[texts->count++] = copy;
	/* The view shows the same texts, and does not own them. */
	tunnel->view.warnings = *texts;
}

void tunnel_unwarn(struct tunnel *tunnel, const char *text)
{
	struct rpc_texts *texts = &tunnel->warnings;
	size_t i, kept = 0;

	for (i = 0; i < texts->count; i++) {
		if (strcmp(texts->items[i], text) != 0)
			texts->items[kept++] = texts->items[i];
		else
			free(texts->items[i]);
	}
	if (kept == texts->count)
		return;
	texts->count = kept;
	tunnel->view.warnings = *texts;
}

static void free_view(struct tunnel *tunnel)
{
	tunnel->view.warnings = (struct rpc_texts){ 0 };
	rpc_tunnel_free(&tunnel->view);
}

/* What stands in the status while it is down. */
static void reset_view(struct tunnel *tunnel, enum rpc_state state)
{
	char display_name[RPC_NAME_LEN];

	snprintf(display_name, sizeof(display_name), "%s",
		tunnel->view.display_name[0] ? tunnel->view.display_name : tunnel->name);
	free_view(tunnel);
	snprintf(tunnel->view.managed_by, sizeof(tunnel->view.managed_by), "%s", tunnel->managed_by);
	snprintf(tunnel->view.name, sizeof(tunnel->view.name), "%s", tunnel->name);
	snprintf(tunnel->view.profile, sizeof(tunnel->view.profile), "%s", tunnel->name);
	memcpy(tunnel->view.display_name, display_name, sizeof(display_name));
	tunnel->view.state = state;
	tunnel_show_kill_switch(tunnel);
}

static void say_state(struct tunnel *tunnel)
{
	const struct rpc_tunnel *view = &tunnel->view;
	const char *carrier = view->carrier == CARRIER_TCP   ? " over TCP"
			      : view->carrier == CARRIER_UDP ? " over UDP"
							     : "";
	enum journal_level level = view->state == RPC_STATE_FAILED ? JOURNAL_ERROR : JOURNAL_INFO;

	if (view->cause != RPC_CAUSE_NONE)
		journal_say(tunnel->daemon->journal, level, tunnel->name, "%s%s: %s",
			rpc_state_words[view->state], carrier, rpc_cause_words[view->cause]);
	else if (view->state == RPC_STATE_FAILED)
		journal_say(tunnel->daemon->journal, level, tunnel->name, "failed: it took too long");
	else if (view->reason != RPC_REASON_NONE &&
		 (view->carrier == CARRIER_TCP || view->state == RPC_STATE_DEGRADED))
		journal_say(tunnel->daemon->journal, level, tunnel->name, "%s%s: %s",
			rpc_state_words[view->state], carrier, rpc_reason_words[view->reason]);
	else
		journal_say(tunnel->daemon->journal, level, tunnel->name, "%s%s",
			rpc_state_words[view->state], carrier);
}

void tunnel_tell(struct tunnel *tunnel, const struct rpc_tunnel *before)
{
	if (!view_differs(before, &tunnel->view))
		return;
	if (before->state != tunnel->view.state) {
		tunnel->view.since = (uint64_t)time(NULL);
	} else {
		tunnel->view.since = before->since;
	}
	if (before->state != tunnel->view.state || before->cause != tunnel->view.cause ||
		before->carrier != tunnel->view.carrier)
		say_state(tunnel);
	tunnel->events->changed(tunnel, tunnel->user);
	second_wake(tunnel);
}

struct tunnel *tunnel_new(
	struct daemon *daemon, const char *name, const struct tunnel_events *events, void *user)
{
	struct tunnel *tunnel = g_new0(struct tunnel, 1);

	tunnel->daemon = daemon;
	tunnel->events = events;
	tunnel->user = user;
	g_strlcpy(tunnel->name, name, sizeof(tunnel->name));
	steps_init(&tunnel->steps, tunnel_steps, tunnel_step_count, tunnel);
	reset_view(tunnel, RPC_STATE_DOWN);
	return tunnel;
}

void tunnel_free(struct tunnel *tunnel)
{
	if (!tunnel)
		return;
	tunnel_forget_timers(tunnel);
	second_forget(tunnel);
	steps_undo(&tunnel->steps);
	free_view(tunnel);
	free_texts(&tunnel->warnings);
	rpc_error_free(&tunnel->failure);
	profile_free(&tunnel->given);
	g_free(tunnel);
}

/* All steps have been undone. error NULL: somebody wanted it down. */
static void ended(struct tunnel *tunnel, const struct rpc_error *error)
{
	struct rpc_error cancelled = { 0 };
	struct rpc_tunnel before = view_shell(&tunnel->view);
	bool starting = tunnel->phase == TUNNEL_STARTING, switching = tunnel->switching;

	tunnel->switching = false;
	tunnel_forget_timers(tunnel);
	tunnel->phase = TUNNEL_DOWN;
	tunnel->configured = tunnel->restarted = false;
	tunnel->queried = tunnel->query_again = false;
	tunnel->owner = NULL;
	profile_free(&tunnel->given);
	memset(&tunnel->stats, 0, sizeof(tunnel->stats));
	reset_view(tunnel, error ? RPC_STATE_FAILED : RPC_STATE_DOWN);
	free_texts(&tunnel->warnings);
	tunnel_forget_shared_key(tunnel);
	if (error) {
		tunnel->view.cause = error->cause;
		snprintf(tunnel->view.message, sizeof(tunnel->view.message), "%s", error->message);
	}
	tunnel_tell(tunnel, &before);
	if (!error)
		rpc_error_set(
			&cancelled, RPC_CODE_CANCELLED, "%s was taken down before it was up", tunnel->name);
	if (starting)
		tunnel->events->decided(tunnel, error ? error : &cancelled, tunnel->user);
	if (switching)
		tunnel->events->switched(tunnel, error ? error : &cancelled, tunnel->user);
	rpc_error_free(&cancelled);
}

void tunnel_step(struct tunnel *tunnel)
{
	struct rpc_error failure;

	switch (steps_resume(&tunnel->steps)) {
	case STEP_WAITS:
		return;
	case STEP_DONE:
		tunnel->phase = TUNNEL_RUNNING;
		tunnel->events->decided(tunnel, NULL, tunnel->user);
		return;
	case STEP_FAILED:
		failure = tunnel->failure;
		tunnel->failure = (struct rpc_error){ 0 };
		failure.has_state = true;
		failure.state = RPC_STATE_FAILED;
		tunnel_tell_hold(tunnel, &failure);
		ended(tunnel, &failure);
		rpc_error_free(&failure);
		return;
	}
}

void tunnel_up(struct tunnel *tunnel, const struct tunnel_wishes *wishes)
{
	struct rpc_tunnel before = view_shell(&tunnel->view);

	tunnel->wishes = *wishes;
	profile_free(&tunnel->given);
	tunnel->managed_by[0] = 0;
	tunnel->owner = wishes->owner;
	if (wishes->given) {
		tunnel->given = *wishes->given;
		explicit_bzero(wishes->given, sizeof(*wishes->given));
		g_strlcpy(tunnel->managed_by, wishes->managed_by, sizeof(tunnel->managed_by));
	}
	tunnel->wishes.given = NULL;
	tunnel->wishes.managed_by = NULL;
	tunnel->phase = TUNNEL_STARTING;
	tunnel->deaths = 0;
	tunnel->second_name[0] = 0;
	reset_view(tunnel, RPC_STATE_CONNECTING);
	tunnel_tell(tunnel, &before);
	tunnel->events->progress(tunnel, RPC_STEP_STARTING, NULL, tunnel->user);
	if (!tunnel->first)
		portal_watch_forget(tunnel->daemon->portal);
	tunnel_step(tunnel);
}

void tunnel_down(struct tunnel *tunnel, const struct rpc_error *error)
{
	struct rpc_error why = { 0 };

	if (error) {
		why = *error; /* it may lie in what is undone */
		why.notes = (struct rpc_notes){ 0 };
	}
	/* What broke by itself stays shut; what a person takes down is let go. */
	tunnel->keep_hold = error && (tunnel->phase == TUNNEL_RUNNING || tunnel->held);
	steps_undo(&tunnel->steps);
	if (error)
		tunnel_tell_hold(tunnel, &why);
	else if (!tunnel->daemon->ending && !tunnel->first)
		lockdown_release(tunnel->daemon->lockdown, tunnel->name);
	ended(tunnel, error ? &why : NULL);
}

bool tunnel_settle_for_less(struct tunnel *tunnel)
{
	struct rpc_tunnel before = view_shell(&tunnel->view);

	if (tunnel->phase != TUNNEL_STARTING || !tunnel->configured ||
		!view_any_up(&tunnel->view, &tunnel->loaded.profile))
		return false;
	if (tunnel_is_managed(tunnel) && tunnel_set_rules(tunnel) != STEP_DONE) {
		rpc_error_free(&tunnel->failure);
		return false;
	}
	tunnel->phase = TUNNEL_RUNNING;
	tunnel->steps.waits = false; /* the last step is to wait for what has now been given up */
	view_call_partly(&tunnel->view, &tunnel->loaded.profile);
	tunnel_tell(tunnel, &before);
	tunnel->events->decided(tunnel, NULL, tunnel->user);
	return true;
}

void tunnel_timeout_error(const struct tunnel *tunnel, uint32_t timeout_ms, struct rpc_error *error)
{
	const struct rpc_tunnel *view = &tunnel->view;
	const char *missing = tunnel->names ? names_missing(tunnel->names) : NULL;
	enum rpc_cause cause = view->cause == RPC_CAUSE_NONE && missing ? RPC_CAUSE_DNS_FAILED : view->cause;
	unsigned s = (timeout_ms + 500) / 1000;

	switch (cause) {
	case RPC_CAUSE_NO_NETWORK:
		if (view->message[0])
			rpc_error_set(error, RPC_CODE_TIMED_OUT, "%s is not up after %u s: %s", tunnel->name,
				s, view->message);
		else
			rpc_error_set(error, RPC_CODE_TIMED_OUT,
				"%s is not up after %u s: there is no route to its server, so this machine "
				"is not "
				"connected to a network: connect it first",
				tunnel->name, s);
		error->cause = RPC_CAUSE_NO_NETWORK;
		return;
	case RPC_CAUSE_DNS_FAILED:
		rpc_error_set(error, RPC_CODE_TIMED_OUT,
			"%s is not up after %u s: the name %.200s cannot be looked up: check Endpoint and "
			"this machine's DNS",
			tunnel->name, s, missing ? missing : "of its endpoint");
		error->cause = RPC_CAUSE_DNS_FAILED;
		return;
	case RPC_CAUSE_HANDSHAKE_REFUSED:
	case RPC_CAUSE_PEER_UNREACHABLE:
		rpc_error_set(error, RPC_CODE_PEER_UNREACHABLE, "%s", view->message);
		error->cause = view->cause;
		return;
	case RPC_CAUSE_CAPTIVE_PORTAL:
		rpc_error_set(error, RPC_CODE_CAPTIVE_PORTAL, "%s", view->message);
		error->cause = view->cause;
		return;
	case RPC_CAUSE_NONE:
	case RPC_CAUSE_CLOCK:
	case RPC_CAUSE_PERMISSION:
	case RPC_CAUSE_BUSY:
	case RPC_CAUSE_CONFIG:
		break;
	}
	rpc_error_set(error, RPC_CODE_TIMED_OUT,
		"%s is not up after %u s: no answer yet on the carriers tried so far: give it more time with "
		"--timeout",
		tunnel->name, s);
	error->cause = view->cause;
	/* Not yet the whole time that a connect has, and yet: a server that takes the connection and says
	 * nothing does not know us, and one that does neither is not there. */
	if (error->cause == RPC_CAUSE_NONE && s >= LIKELY_S && tunnel->run)
		error->cause = tunnel->backend->has_dialled && tunnel->backend->has_dialled(tunnel->run)
				       ? RPC_CAUSE_HANDSHAKE_REFUSED
				       : RPC_CAUSE_PEER_UNREACHABLE;
}
