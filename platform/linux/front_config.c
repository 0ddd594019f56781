/* SPDX-License-Identifier: MIT */
/* What the front knows of its interface. The front's thread. Pure but for memory. */
#include "platform/linux/front_config.h"

#include <stdlib.h>
#include <string.h>

void front_config_wipe(struct front_config *config)
{
	free(config->peers);
	*config = (struct front_config){ 0 };
}

void front_config_interface(struct front_config *config, const struct uapi_device *request)
{
	if (request->has_listen_port)
		config->listen_port = request->listen_port;
	if (request->has_tcp_listen_port)
		config->tcp_listen_port = request->tcp_listen_port;
	if (request->has_fwmark)
		config->fwmark = request->fwmark;
	if (request->has_transport)
		config->transport = request->transport;
}

static struct front_peer *find(const struct front_config *config, const uint8_t public_key[UAPI_KEY_LEN])
{
	for (size_t i = 0; i < config->peer_count; i++)
		if (memcmp(config->peers[i].public_key, public_key, UAPI_KEY_LEN) == 0)
			return &config->peers[i];
	return NULL;
}

const struct front_peer *front_config_find(
	const struct front_config *config, const uint8_t public_key[UAPI_KEY_LEN])
{
	return find(config, public_key);
}

static struct front_peer *add(struct front_config *config, const uint8_t public_key[UAPI_KEY_LEN])
{
	if (config->peer_count == config->peer_room) {
		size_t room = config->peer_room ? config->peer_room * 2 : 8;
		struct front_peer *peers = realloc(config->peers, room * sizeof(*peers));

		if (!peers)
			return NULL;
		config->peers = peers;
		config->peer_room = room;
	}
	struct front_peer *peer = &config->peers[config->peer_count++];
	memset(peer, 0, sizeof(*peer));
	memcpy(peer->public_key, public_key, UAPI_KEY_LEN);
	return peer;
}

static bool apply_peer(struct front_config *config, const struct uapi_peer *request)
{
	struct front_peer *peer = find(config, request->public_key);

	if (request->remove) {
		if (peer)
			*peer = config->peers[--config->peer_count];
		return true;
	}
	if (!peer && request->update_only)
		return true;
	if (!peer)
		peer = add(config, request->public_key);
	if (!peer)
		return false;
	if (request->has_endpoint)
		peer->endpoint = request->endpoint;
	if (request->has_tcp_endpoints) {
		peer->tcp_count = request->tcp_endpoint_count;
		memcpy(peer->tcp, request->tcp_endpoints, sizeof(peer->tcp));
	}
	if (request->has_transport) {
		peer->has_transport = true;
		peer->transport = request->transport;
	}
	return true;
}

bool front_config_peers(struct front_config *config, const struct uapi_device *request)
{
	bool ok = true;

	if (request->replace_peers)
		config->peer_count = 0;
	for (size_t i = 0; i < request->peer_count; i++)
		ok = apply_peer(config, &request->peers[i]) && ok;
	return ok;
}

static enum transport transport_of(const struct front_config *config, const struct front_peer *peer)
{
	return peer->has_transport ? peer->transport : config->transport;
}

size_t front_config_dial(const struct front_config *config, const struct front_peer *peer,
	struct endpoint out[UAPI_ENDPOINTS_MAX])
{
	if (transport_of(config, peer) == TRANSPORT_UDP)
		return 0;
	if (peer->tcp_count) {
		memcpy(out, peer->tcp, peer->tcp_count * sizeof(*out));
		return peer->tcp_count;
	}
	if (!endpoint_is_set(&peer->endpoint))
		return 0;
	out[0] = peer->endpoint;
	return 1;
}

static bool allows(enum transport transport, enum transport carrier)
{
	return transport == TRANSPORT_AUTO || transport == carrier;
}

bool front_config_uses(
	const struct front_config *config, const struct uapi_device *request, enum transport carrier)
{
	if (allows(config->transport, carrier))
		return true;
	/* The interface is bound to the other carrier; a peer of its own mind may still need this one. */
	for (size_t i = 0; i < config->peer_count; i++)
		if (config->peers[i].has_transport && allows(config->peers[i].transport, carrier))
			return true;
	for (size_t i = 0; request && i < request->peer_count; i++)
		if (request->peers[i].has_transport && !request->peers[i].remove &&
			allows(request->peers[i].transport, carrier))
			return true;
	return false;
}

uint16_t front_config_tcp_port(const struct front_config *config)
{
	return config->tcp_listen_port ? config->tcp_listen_port : config->listen_port;
}
