/* SPDX-License-Identifier: MIT */
/* A bring-up as steps, each with its undo. A step that fails says why in tunnel->failure and leaves nothing
 * itself. */
#include "client/daemon/second.h"

#include "client/daemon/journal.h"
#include "core/port/net_config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRYING_TCP_MS 300

enum step_result tunnel_fail(struct tunnel *tunnel, enum rpc_cause cause)
{
	tunnel->failure.cause = cause;
	return STEP_FAILED;
}

static struct profile *profile_of(struct tunnel *tunnel)
{
	return &tunnel->loaded.profile;
}

/* ---- the profile ---- */

static void warn_of_what_is_missing(struct tunnel *tunnel)
{
	char text[RPC_SENTENCE_LEN];

	if (tunnel->loaded.exposed) {
		snprintf(text, sizeof(text),
			"everybody on this machine can read the keys in %.200s: `chmod 600` it",
			tunnel->loaded.path);
		tunnel_warn(tunnel, text);
	}
}

static void warn_of_profile(struct tunnel *tunnel)
{
	const struct profile_warnings *warnings = &tunnel->loaded.warnings;
	char text[RPC_SENTENCE_LEN];
	size_t i;

	for (i = 0; i < warnings->count; i++) {
		snprintf(text, sizeof(text), "line %u: %s", warnings->items[i].line,
			warnings->items[i].sentence);
		tunnel_warn(tunnel, warnings->items[i].line ? text : warnings->items[i].sentence);
	}
	if (warnings->left_off) {
		snprintf(text, sizeof(text), "%zu more like these", warnings->left_off);
		tunnel_warn(tunnel, text);
	}
	warn_of_what_is_missing(tunnel);
}

static void undo_profile(void *context)
{
	struct tunnel *tunnel = context;

	second_free(tunnel);
	loaded_free(&tunnel->loaded);
	free(tunnel->peers);
	tunnel->peers = NULL;
}

static enum step_result do_profile(void *context)
{
	struct tunnel *tunnel = context;
	struct rpc_tunnel view;
	size_t i;

	if (tunnel_is_managed(tunnel))
		tunnel_take_given(tunnel);
	else if (!profiles_load(tunnel->daemon->profiles, tunnel->name, &tunnel->loaded, &tunnel->failure))
		return STEP_FAILED;
	tunnel->peers = calloc(profile_of(tunnel)->peer_count + 1, sizeof(*tunnel->peers));
	if (!tunnel->peers || !view_init(&view, tunnel->name, profile_of(tunnel))) {
		rpc_error_set(&tunnel->failure, RPC_CODE_OTHER, "memory is short");
		undo_profile(tunnel);
		return STEP_FAILED;
	}
	view.state = tunnel->view.state;
	view.since = tunnel->view.since;
	memcpy(view.managed_by, tunnel->view.managed_by, sizeof(view.managed_by));
	if (tunnel->wishes.has_transport)
		view.transport = tunnel->wishes.transport;
	for (i = 0; i < profile_of(tunnel)->peer_count; i++)
		tunnel->peers[i].transport = tunnel->wishes.has_transport
						     ? tunnel->wishes.transport
						     : profile_peer_transport(profile_of(tunnel), i);
	tunnel->view.warnings = (struct rpc_texts){ 0 };
	rpc_tunnel_free(&tunnel->view);
	tunnel->view = view;
	warn_of_profile(tunnel);
	tunnel_warn_of_shared_key(tunnel);
	if (!tunnel_keys_fit(tunnel)) {
		undo_profile(tunnel);
		return tunnel_fail(tunnel, RPC_CAUSE_CONFIG);
	}
	if (tunnel_choose_backend(tunnel) != STEP_DONE || second_prepare(tunnel) != STEP_DONE) {
		undo_profile(tunnel);
		return STEP_FAILED;
	}
	return STEP_DONE;
}

void tunnel_warn_if_changed(struct tunnel *tunnel)
{
	const struct rpc_texts *texts = tunnel_warnings(tunnel);
	struct rpc_error error = { 0 };
	struct loaded now = { 0 };
	char text[RPC_SENTENCE_LEN];
	size_t i;

	if (tunnel_is_managed(tunnel) || !tunnel->loaded.text ||
		!profiles_load(tunnel->daemon->profiles, tunnel->name, &now, &error)) {
		rpc_error_free(&error);
		return;
	}
	snprintf(text, sizeof(text),
		"the profile has changed since: `wgtcp-cli down %s` and `wgtcp-cli up %s` put it into force",
		tunnel->name, tunnel->name);
	for (i = 0; i < texts->count && strcmp(texts->items[i], text) != 0; i++)
		;
	if (i == texts->count &&
		(now.len != tunnel->loaded.len || memcmp(now.text, tunnel->loaded.text, now.len) != 0))
		tunnel_warn(tunnel, text);
	loaded_free(&now);
}

/* ---- names ---- */

static void undo_names(void *context)
{
	struct tunnel *tunnel = context;

	names_free(tunnel->names);
	tunnel->names = NULL;
}

static void add_name(struct tunnel *tunnel, const struct profile_host *host)
{
	char name[PROFILE_HOST_LEN];

	device_host(host, name);
	if (name[0])
		names_add(tunnel->names, name);
}

static bool any_way(const struct tunnel *tunnel)
{
	size_t i;

	for (i = 0; i < tunnel->loaded.profile.peer_count; i++)
		if (endpoint_is_set(&tunnel->peers[i].way.udp) || tunnel->peers[i].way.tcp_count)
			return true;
	return false;
}

static bool no_route(const struct tunnel *tunnel)
{
	static const struct ip_address outside[] = {
		/* Documentation prefixes (RFC 5737, 3849): nothing is sent there. */
		{ .family = IP_V4, .bytes = { 192, 0, 2, 1 } },
		{ .family = IP_V6, .bytes = { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 } },
	};
	uint32_t interface, mtu;
	size_t i;

	for (i = 0; i < 2; i++)
		if (net_route_lookup(tunnel->daemon->net, &outside[i], 0, &interface, &mtu) == 0)
			return false;
	return true;
}

/* The routes of a full tunnel would swallow the look-up of its own server's name, so that comes first. */
static enum step_result do_names(void *context)
{
	struct tunnel *tunnel = context;
	struct profile *profile = profile_of(tunnel);
	struct rpc_tunnel before = view_shell(&tunnel->view);
	const char *missing;
	size_t i, j;

	if (!tunnel->names) {
		tunnel->names = names_new(tunnel->daemon, tunnel->fwmark, tunnel_names_changed, tunnel);
		for (i = 0; i < profile->peer_count; i++) {
			add_name(tunnel, &profile->peers[i].endpoint);
			for (j = 0; j < profile->peers[i].tcp_endpoint_count; j++)
				add_name(tunnel, &profile->peers[i].tcp_endpoints[j]);
		}
	}
	if (!names_settled(tunnel->names)) {
		tunnel->events->progress(tunnel, RPC_STEP_RESOLVING, NULL, tunnel->user);
		return STEP_WAITS;
	}
	tunnel_find_ways(tunnel);
	missing = names_missing(tunnel->names);
	if (!missing || any_way(tunnel))
		return STEP_DONE;
	/* Not one name is known. The look-ups go on; DNS may not be ready yet (a start at boot). */
	tunnel->view.cause = no_route(tunnel) ? RPC_CAUSE_NO_NETWORK : RPC_CAUSE_DNS_FAILED;
	if (tunnel->view.cause == RPC_CAUSE_DNS_FAILED && tunnel_look_for_portal(tunnel)) {
		tunnel_explain_portal(tunnel, tunnel->view.message, sizeof(tunnel->view.message));
		tunnel_tell(tunnel, &before);
		return tunnel_stop_for_portal(tunnel) ? STEP_FAILED : STEP_WAITS;
	}
	tunnel->events->progress(tunnel,
		tunnel->view.cause == RPC_CAUSE_NO_NETWORK ? RPC_STEP_WAITING_FOR_NETWORK
							   : RPC_STEP_RESOLVING,
		missing, tunnel->user);
	tunnel_tell(tunnel, &before);
	return STEP_WAITS;
}

/* ---- the interface and its engine ---- */

static void undo_interface(void *context)
{
	struct tunnel *tunnel = context;

	tunnel->backend->destroy(tunnel->run);
	tunnel->run = NULL;
	tunnel->configured = false;
	tunnel->kernel_link = false;
}

static enum step_result do_interface(void *context)
{
	struct tunnel *tunnel = context;
	struct backend_settings settings = { .interface = tunnel->name,
		.timestamp_floor = tunnel->daemon->timestamp_floor,
		.events = &tunnel_backend_events,
		.user = tunnel };
	struct net_link link;
	int error;

	if (net_link_find(tunnel->daemon->net, tunnel->name, &link) == 0) {
		rpc_error_set(&tunnel->failure, RPC_CODE_BUSY,
			"there is an interface called %s already, and it is not ours: end what made it "
			"(`wg-quick down "
			"%s`?), or import the profile under another name",
			tunnel->name, tunnel->name);
		return tunnel_fail(tunnel, RPC_CAUSE_BUSY);
	}
	/* It would outlive a daemon that is killed. */
	tunnel->kernel_link = backend_is_kernel(tunnel->backend);
	if (tunnel->kernel_link)
		manager_leftovers_changed(tunnel->daemon->manager);
	error = tunnel->backend->create(tunnel->daemon, &settings, &tunnel->run);
	tunnel->kernel_link &= error == 0;
	if (tunnel->kernel_link)
		manager_leftovers_changed(tunnel->daemon->manager);
	switch (error) {
	case 0:
		break;
	case -EPERM:
	case -EACCES:
		rpc_error_set(&tunnel->failure, RPC_CODE_NOT_PERMITTED,
			"wgtcpd may not make network interfaces: run it as root");
		return tunnel_fail(tunnel, RPC_CAUSE_PERMISSION);
	case -EADDRINUSE:
		rpc_error_set(&tunnel->failure, RPC_CODE_BUSY,
			"%s/%s.sock is in use by another program: end that first", DAEMON_UAPI_FOLDER,
			tunnel->name);
		return tunnel_fail(tunnel, RPC_CAUSE_BUSY);
	case -EOPNOTSUPP:
		tunnel->daemon->kernel = (struct kernel_probe){ 0 };
		rpc_error_set(&tunnel->failure, RPC_CODE_OTHER,
			"the kernel has lost its WireGuard (the module was unloaded): `wgtcp-cli up %s` "
			"again takes "
			"what is there now",
			tunnel->name);
		return tunnel_fail(tunnel, RPC_CAUSE_CONFIG);
	case -ENOENT:
	case -ENODEV:
		rpc_error_set(&tunnel->failure, RPC_CODE_OTHER,
			"/dev/net/tun is missing: `modprobe tun`, or give this container the device");
		return tunnel_fail(tunnel, RPC_CAUSE_CONFIG);
	default:
		rpc_error_set(&tunnel->failure, RPC_CODE_OTHER, "interface %s cannot be made: %s",
			tunnel->name, strerror(-error));
		return tunnel_fail(tunnel, RPC_CAUSE_CONFIG);
	}
	tunnel->lived = daemon_now();
	snprintf(tunnel->view.interface, sizeof(tunnel->view.interface), "%s", tunnel->name);
	tunnel->view.backend = tunnel->backend->name;
	return STEP_DONE;
}

int tunnel_configure(struct tunnel *tunnel)
{
	struct profile *profile = profile_of(tunnel);
	struct device_way *ways = calloc(profile->peer_count + 1, sizeof(*ways));
	enum transport *transports = calloc(profile->peer_count + 1, sizeof(*transports));
	struct uapi_device device = { 0 };
	int error = -ENOMEM;
	size_t i;

	if (!ways || !transports)
		goto out;
	tunnel_find_ways(tunnel);
	for (i = 0; i < profile->peer_count; i++) {
		ways[i] = tunnel->peers[i].way;
		transports[i] = tunnel->peers[i].transport;
	}
	if (device_build(profile, ways, transports, tunnel->fwmark, tunnel->view.transport, &device))
		error = tunnel->backend->configure(tunnel->run, &device);
	uapi_device_free(&device);
	explicit_bzero(&device, sizeof(device));
out:
	free(ways);
	free(transports);
	return error;
}

/* Waits for the answer: tunnel->configured, or tunnel->failure (alive.c). */
static enum step_result do_configure(void *context)
{
	struct tunnel *tunnel = context;
	int error;

	if (tunnel->configured)
		return STEP_DONE;
	if (tunnel->failure.code)
		return STEP_FAILED;
	tunnel->fwmark = tunnel_choose_mark(tunnel);
	error = tunnel_configure(tunnel);
	if (error) {
		rpc_error_set(&tunnel->failure, RPC_CODE_OTHER, "%s cannot be configured: %s", tunnel->name,
			strerror(-error));
		return STEP_FAILED;
	}
	return STEP_WAITS;
}

/* ---- the peers ---- */

void tunnel_send_probes(struct tunnel *tunnel)
{
	const struct profile *profile = profile_of(tunnel);
	size_t i;

	/* The kernel sends them from an address, which a managed tunnel gets when it is up; the engine makes
	 * its own. */
	tunnel->probes_wait = backend_is_kernel(tunnel->backend) && tunnel_is_let_go(tunnel);
	for (i = 0; i < profile->peer_count && !tunnel->probes_wait; i++) {
		struct seam_message probe = { .kind = SEAM_PROBE };

		if (!tunnel_inside(tunnel, i, &probe.source, &probe.target))
			continue;
		memcpy(probe.public_key, profile->peers[i].public_key, sizeof(probe.public_key));
		probe.flag = profile->peers[i].probe_address.family != IP_NONE;
		tunnel->backend->send(tunnel->run, &probe);
	}
}

void tunnel_start_peers(struct tunnel *tunnel)
{
	tunnel_send_probes(tunnel);
	tunnel_tell_memory(tunnel, true);
	tunnel->backend->send(tunnel->run, &(struct seam_message){ .kind = SEAM_START });
}

static gboolean trying_tcp(gpointer user)
{
	struct tunnel *tunnel = user;

	tunnel->trying_tcp = 0;
	if (tunnel->phase == TUNNEL_STARTING && tunnel->view.state == RPC_STATE_CONNECTING &&
		tunnel->view.cause == RPC_CAUSE_NONE)
		tunnel->events->progress(tunnel, RPC_STEP_TRYING_TCP, NULL, tunnel->user);
	return G_SOURCE_REMOVE;
}

static void undo_start(void *context)
{
	tunnel_keep_stop(context);
}

static enum step_result do_start(void *context)
{
	struct tunnel *tunnel = context;

	tunnel_keep_start(tunnel);
	tunnel_start_peers(tunnel);
	tunnel_query(tunnel);
	second_start(tunnel);
	if (view_decided(&tunnel->view, profile_of(tunnel)) == RPC_STATE_UP)
		return STEP_DONE; /* nobody to call */
	tunnel->events->progress(tunnel,
		tunnel->view.transport == TRANSPORT_TCP ? RPC_STEP_TRYING_TCP : RPC_STEP_TRYING_UDP, NULL,
		tunnel->user);
	if (tunnel->view.transport == TRANSPORT_AUTO)
		tunnel->trying_tcp = g_timeout_add(TRYING_TCP_MS, trying_tcp, tunnel);
	return STEP_DONE;
}

/* Into a tunnel whose addresses somebody else sets when it is up, traffic is led then, and just before he is
 * told: what began earlier would keep the address of another interface, and what begins later would pass the
 * tunnel by. */
static enum step_result do_rules(void *context)
{
	return tunnel_is_managed(context) ? STEP_DONE : tunnel_set_rules(context);
}

static enum step_result do_settle(void *context)
{
	struct tunnel *tunnel = context;
	struct rpc_tunnel before = view_shell(&tunnel->view);
	enum rpc_state decided = view_decided(&tunnel->view, profile_of(tunnel));

	if (second_carries(tunnel)) {
		tunnel_forget_timers(tunnel);
		return STEP_DONE;
	}
	if (decided != RPC_STATE_UP && tunnel_stop_for_portal(tunnel))
		return STEP_FAILED;
	if (decided == RPC_STATE_FAILED && second_hopes(tunnel))
		return STEP_WAITS;
	if (decided == RPC_STATE_CONNECTING || (decided == RPC_STATE_FAILED && tunnel->wishes.persistent))
		return STEP_WAITS;
	if (tunnel->trying_tcp) {
		g_source_remove(tunnel->trying_tcp);
		tunnel->trying_tcp = 0;
	}
	if (decided == RPC_STATE_FAILED) {
		rpc_error_set(&tunnel->failure, RPC_CODE_PEER_UNREACHABLE, "%s",
			tunnel->view.message[0] ? tunnel->view.message : "no peer answers");
		return tunnel_fail(tunnel, tunnel->view.cause);
	}
	if (tunnel_is_managed(tunnel) && tunnel_set_rules(tunnel) != STEP_DONE)
		return STEP_FAILED;
	if (profile_of(tunnel)->peer_count == 0 || tunnel->view.state == RPC_STATE_CONNECTING)
		tunnel->view.state = RPC_STATE_UP; /* not asked about yet, since there is nobody to call */
	view_call_partly(&tunnel->view, profile_of(tunnel));
	tunnel_tell(tunnel, &before);
	return STEP_DONE;
}

const struct step tunnel_steps[] = {
	{ "profile", do_profile, undo_profile },
	{ "mark", tunnel_set_mark, tunnel_unset_mark },
	{ "names", do_names, undo_names },
	{ "interface", do_interface, undo_interface },
	{ "configure", do_configure, NULL },
	{ "kill switch", tunnel_set_kill_switch, tunnel_unset_kill_switch },
	/* These go with the interface, and need no undo, but for the last. */
	{ "addresses", tunnel_set_addresses, NULL },
	{ "link", tunnel_set_link, NULL },
	{ "routes", tunnel_set_routes, NULL },
	{ "rules", do_rules, tunnel_unset_rules },
	{ "speed test server", tunnel_set_speed_server, tunnel_unset_speed_server },
	{ "start", do_start, undo_start },
	{ "dns", tunnel_set_dns, tunnel_unset_dns }, /* while the peers are being called */
	{ "settle", do_settle, NULL },
};
const size_t tunnel_step_count = sizeof(tunnel_steps) / sizeof(tunnel_steps[0]);
