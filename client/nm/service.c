/* SPDX-License-Identifier: MIT */
/* See service.h. It takes the connection's values apart, hands them to the daemon in fields, and the device
 * that comes back to NetworkManager; then it tells each of the other's end. It is root and yet writes no file
 * and sets nothing. */
#include "client/nm/service.h"

#include "client/nm/connection.h"
#include "client/nm/handover.h"
#include "client/nm/ip_config.h"
#include "client/nm/link_watch.h"
#include "client/nm/names.h"
#include "client/nm/wire.h"
#include "core/config/name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Before the 20 s after which a person is to know; the daemon's own word comes then. */
#define UP_MS 18000
/* NetworkManager takes one configuration in before the next. */
#define BARE_MS 150

struct _WgtcpService {
	NMVpnServicePlugin parent;
	struct wire *wire;
	struct profile profile;
	char name[PROFILE_NAME_LEN];
	char spare[PROFILE_NAME_LEN]; /* to be taken when the name is somebody else's; "": it is taken */
	int64_t up;                   /* the request under way; 0: none */
	bool handed_over;
	struct link_watch *link;
	guint again; /* source: the whole configuration is due */
	bool failed; /* it ends because of `failure`, which is yet to be said */
	NMVpnPluginFailure failure;
	struct rpc_tunnel tunnel; /* as it was told last, without peers and warnings */
	struct rpc_peer gateway;
	struct rpc_texts routes;
};

#define WGTCP_TYPE_SERVICE (wgtcp_service_get_type())
G_DECLARE_FINAL_TYPE(WgtcpService, wgtcp_service, WGTCP, SERVICE, NMVpnServicePlugin)
G_DEFINE_TYPE(WgtcpService, wgtcp_service, NM_TYPE_VPN_SERVICE_PLUGIN)

static void forget_routes(WgtcpService *service)
{
	for (size_t i = 0; i < service->routes.count; i++)
		free(service->routes.items[i]);
	free(service->routes.items);
	service->routes = (struct rpc_texts){ 0 };
}

/* The tunnel ends with the connection to the daemon. */
static void let_go(WgtcpService *service)
{
	wire_close(service->wire);
	service->wire = NULL;
	link_watch_free(service->link);
	service->link = NULL;
	if (service->again)
		g_source_remove(service->again);
	service->again = 0;
	service->up = 0;
	service->handed_over = false;
	service->gateway = (struct rpc_peer){ 0 };
	forget_routes(service);
	profile_free(&service->profile);
}

static void end(WgtcpService *service, NMVpnPluginFailure reason)
{
	service->failed = true;
	service->failure = reason;
	nm_vpn_service_plugin_disconnect(NM_VPN_SERVICE_PLUGIN(service), NULL);
}

/* ---- handing over ---- */

static const char *carrier_sentence(const struct rpc_tunnel *tunnel)
{
	if (tunnel->carrier == CARRIER_UDP)
		return "The tunnel uses UDP.";
	if (tunnel->carrier != CARRIER_TCP)
		return NULL;
	return tunnel->reason == RPC_REASON_CHOSEN
		       ? "The tunnel uses TCP, as chosen."
		       : "The tunnel uses TCP, since UDP does not get through here.";
}

/* routes: NULL: only what stands in for it. */
static void hand_over(WgtcpService *service, const struct rpc_texts *routes)
{
	NMVpnServicePlugin *plugin = NM_VPN_SERVICE_PLUGIN(service);
	struct rpc_tunnel tunnel = service->tunnel;
	GVariant *v4, *v6;

	tunnel.peers = &service->gateway;
	tunnel.peer_count = 1;
	nm_vpn_service_plugin_set_config(
		plugin, ip_config_generic(&service->profile, &tunnel, carrier_sentence(&tunnel)));
	v4 = ip_config_family(&service->profile, IP_V4, routes);
	v6 = ip_config_family(&service->profile, IP_V6, routes);
	if (v4)
		nm_vpn_service_plugin_set_ip4_config(plugin, v4);
	if (v6)
		nm_vpn_service_plugin_set_ip6_config(plugin, v6);
	service->handed_over = true;
}

static gboolean whole_again(gpointer user)
{
	WgtcpService *service = user;

	service->again = 0;
	hand_over(service, &service->routes);
	return G_SOURCE_REMOVE;
}

/* The link was down (a switch of the kernel's WGTCP does that) and has lost its routes. NetworkManager takes
 * what vanished for what somebody else took away, and sets it again only when it has not been in the
 * configuration meanwhile. */
static void link_is_back(void *user)
{
	WgtcpService *service = user;

	g_message("%s: the link was down: its configuration is handed over again", service->name);
	hand_over(service, NULL);
	if (!service->again)
		service->again = g_timeout_add(BARE_MS, whole_again, service);
}

static void remember(WgtcpService *service, const struct rpc_tunnel *tunnel)
{
	service->tunnel = *tunnel;
	service->tunnel.peers = NULL;
	service->tunnel.peer_count = 0;
	service->tunnel.warnings = (struct rpc_texts){ 0 };
	for (size_t i = 0; i < tunnel->peer_count; i++)
		if (tunnel->peers[i].endpoint[0]) {
			service->gateway = tunnel->peers[i];
			return;
		}
}

/* ---- what the daemon says ---- */

static int64_t ask_up(WgtcpService *service)
{
	struct rpc_request request = {
		.method = RPC_METHOD_TUNNEL_UP, .timeout_ms = UP_MS, .has_given = true
	};
	int64_t id = -1;

	snprintf(request.name, sizeof(request.name), "%s", service->name);
	snprintf(request.managed_by, sizeof(request.managed_by), NM_WGTCP_MANAGER);
	if (handover_write(&service->profile, &request.given))
		id = wire_ask(service->wire, &request);
	rpc_request_free(&request);
	return id;
}

static void on_up(WgtcpService *service, struct rpc_moved *moved)
{
	struct rpc_request watch = { .method = RPC_METHOD_WATCH };

	for (size_t i = 0; i < moved->warnings.count; i++)
		g_message("%s: %s", service->name, moved->warnings.items[i]);
	remember(service, &moved->tunnel);
	forget_routes(service);
	service->routes = moved->routes;
	moved->routes = (struct rpc_texts){ 0 };
	g_message("%s: up on %s%s", service->name, moved->tunnel.interface,
		moved->tunnel.carrier == CARRIER_TCP ? " over TCP" : "");
	hand_over(service, &service->routes);
	service->link = link_watch_new(moved->tunnel.interface, link_is_back, service);
	wire_ask(service->wire, &watch);
}

static NMVpnPluginFailure failure_of(const struct rpc_error *error)
{
	switch (error->cause) {
	case RPC_CAUSE_HANDSHAKE_REFUSED:
		return NM_VPN_PLUGIN_FAILURE_LOGIN_FAILED;
	case RPC_CAUSE_CONFIG:
		return NM_VPN_PLUGIN_FAILURE_BAD_IP_CONFIG;
	case RPC_CAUSE_NONE:
	case RPC_CAUSE_NO_NETWORK:
	case RPC_CAUSE_CAPTIVE_PORTAL:
	case RPC_CAUSE_DNS_FAILED:
	case RPC_CAUSE_PEER_UNREACHABLE:
	case RPC_CAUSE_CLOCK:
	case RPC_CAUSE_PERMISSION:
	case RPC_CAUSE_BUSY:
		break;
	}
	return NM_VPN_PLUGIN_FAILURE_CONNECT_FAILED;
}

static void on_error(WgtcpService *service, const struct rpc_error *error)
{
	if (error->code == RPC_CODE_EXISTS && service->spare[0]) {
		memcpy(service->name, service->spare, sizeof(service->name));
		service->spare[0] = 0;
		service->up = ask_up(service);
		if (service->up > 0)
			return;
	}
	g_warning("%s: %s", service->name, error->message);
	end(service, failure_of(error));
}

static void on_state(WgtcpService *service, const struct rpc_tunnel *tunnel, bool gone)
{
	struct rpc_tunnel before = service->tunnel;

	if (strcmp(tunnel->name, service->name) != 0 || !service->handed_over)
		return;
	if (gone || tunnel->state == RPC_STATE_DOWN || tunnel->state == RPC_STATE_FAILED) {
		/* A peer that does not answer any more is called for as long as the tunnel is wanted. */
		if (!gone && tunnel->interface[0])
			return;
		g_warning("%s: the tunnel is down%s%s", service->name, tunnel->message[0] ? ": " : "",
			tunnel->message);
		end(service, NM_VPN_PLUGIN_FAILURE_CONNECT_FAILED);
		return;
	}
	remember(service, tunnel);
	if (tunnel->state != before.state)
		g_message("%s: %s%s%s", service->name, rpc_state_words[tunnel->state],
			tunnel->message[0] ? ": " : "", tunnel->message);
	if ((tunnel->carrier == before.carrier || tunnel->carrier == CARRIER_NONE) &&
		tunnel->mtu == before.mtu)
		return;
	if (tunnel->carrier != before.carrier)
		g_message("%s: now over %s: %s", service->name, rpc_carrier_words[tunnel->carrier],
			rpc_reason_words[tunnel->reason]);
	if (!service->again)
		hand_over(service, &service->routes);
}

static void on_event(struct rpc_event *event, void *user)
{
	WgtcpService *service = user;

	switch (event->kind) {
	case RPC_EVENT_RESULT:
		if (event->id == service->up && event->result.method == RPC_METHOD_TUNNEL_UP) {
			service->up = 0;
			on_up(service, &event->result.moved);
		}
		return;
	case RPC_EVENT_ERROR:
		if (event->id == service->up || !event->id)
			on_error(service, &event->error);
		return;
	case RPC_EVENT_NOTICE:
		if (event->notice.kind == RPC_NOTICE_STATE)
			on_state(service, &event->notice.state.tunnel, event->notice.state.gone);
		return;
	}
}

static void on_lost(void *user)
{
	WgtcpService *service = user;

	g_warning("%s: wgtcpd has ended, and the tunnel with it", service->name);
	end(service, NM_VPN_PLUGIN_FAILURE_CONNECT_FAILED);
}

static const struct wire_events wire_events = { on_event, on_lost };

/* ---- what NetworkManager asks ---- */

static bool refuse(GError **error, NMVpnPluginError code, const char *sentence)
{
	g_warning("%s", sentence);
	g_set_error_literal(error, NM_VPN_PLUGIN_ERROR, (int)code, sentence);
	return false;
}

/* The interface's name from the connection's, and another one for when that is somebody else's. */
static void choose_names(WgtcpService *service, NMConnection *connection)
{
	const char *id = nm_connection_get_id(connection), *uuid = nm_connection_get_uuid(connection);

	profile_name_derive(id ? id : "", service->name);
	snprintf(service->spare, sizeof(service->spare), "nm-%.8s", uuid ? uuid : "tunnel");
	if (!service->profile.name[0] && id)
		snprintf(service->profile.name, sizeof(service->profile.name), "%.*s",
			(int)(g_utf8_offset_to_pointer(id, MIN(g_utf8_strlen(id, -1), 31)) - id), id);
}

static gboolean do_connect(NMVpnServicePlugin *plugin, NMConnection *connection, GError **error)
{
	WgtcpService *service = WGTCP_SERVICE(plugin);
	struct profile_error wrong = { 0 };
	int failure;

	let_go(service);
	if (!connection_read(connection, true, &service->profile, &wrong))
		return refuse(error, NM_VPN_PLUGIN_ERROR_BAD_ARGUMENTS, wrong.sentence);
	choose_names(service, connection);
	if (!service->profile.address_count)
		return refuse(error, NM_VPN_PLUGIN_ERROR_BAD_ARGUMENTS,
			"the connection has no Address, which NetworkManager needs: add the one that the "
			"server gave you");
	failure = wire_open(NM_WGTCP_SOCKET, &wire_events, service, &service->wire);
	if (failure)
		return refuse(error, NM_VPN_PLUGIN_ERROR_LAUNCH_FAILED,
			"wgtcpd does not run, so there is nobody to make the tunnel: `systemctl start "
			"wgtcpd`");
	service->up = ask_up(service);
	if (service->up > 0)
		return TRUE;
	let_go(service);
	return refuse(error, NM_VPN_PLUGIN_ERROR_BAD_ARGUMENTS,
		"the connection is longer than 64 KiB: join its AllowedIPs into fewer networks");
}

static gboolean do_disconnect(NMVpnServicePlugin *plugin, GError **error)
{
	WgtcpService *service = WGTCP_SERVICE(plugin);
	struct rpc_request request = { .method = RPC_METHOD_TUNNEL_DOWN };

	(void)error;
	/* libnm itself says "connect failed" of whatever ends before it was up; the last word before the end
	 * counts. */
	if (service->failed) {
		service->failed = false;
		nm_vpn_service_plugin_failure(plugin, service->failure);
	}
	if (service->wire) {
		/* Said in so many words, which also lets a kill switch go. */
		snprintf(request.name, sizeof(request.name), "%s", service->name);
		wire_ask(service->wire, &request);
	}
	let_go(service);
	return TRUE;
}

static gboolean do_need_secrets(
	NMVpnServicePlugin *plugin, NMConnection *connection, const char **setting_name, GError **error)
{
	(void)plugin;
	(void)error;
	if (!connection_missing_secret(connection))
		return FALSE;
	*setting_name = NM_SETTING_VPN_SETTING_NAME;
	return TRUE;
}

static void finalize(GObject *object)
{
	let_go(WGTCP_SERVICE(object));
	G_OBJECT_CLASS(wgtcp_service_parent_class)->finalize(object);
}

static void wgtcp_service_class_init(WgtcpServiceClass *class)
{
	NMVpnServicePluginClass *plugin = NM_VPN_SERVICE_PLUGIN_CLASS(class);

	G_OBJECT_CLASS(class)->finalize = finalize;
	plugin->connect = do_connect;
	plugin->disconnect = do_disconnect;
	plugin->need_secrets = do_need_secrets;
}

static void wgtcp_service_init(WgtcpService *service)
{
	(void)service;
}

NMVpnServicePlugin *service_new(const char *bus_name, GError **error)
{
	return g_initable_new(WGTCP_TYPE_SERVICE, NULL, error, NM_VPN_SERVICE_PLUGIN_DBUS_SERVICE_NAME,
		bus_name, NM_VPN_SERVICE_PLUGIN_DBUS_WATCH_PEER, TRUE, NULL);
}
