/* SPDX-License-Identifier: MIT */
/* What the front knows of its interface, from the SET requests that went through it: ports, mark, transport,
 * and where each peer may be dialled. No keys but public ones. */
#ifndef WGTCP_PLATFORM_LINUX_FRONT_CONFIG_H
#define WGTCP_PLATFORM_LINUX_FRONT_CONFIG_H

#include "core/uapi/uapi.h"

struct front_peer {
	uint8_t public_key[UAPI_KEY_LEN];
	struct endpoint endpoint;
	size_t tcp_count;
	struct endpoint tcp[UAPI_ENDPOINTS_MAX];
	bool has_transport;
	enum transport transport;
};

struct front_config {
	uint16_t listen_port, tcp_listen_port; /* as asked for; 0: none */
	uint32_t fwmark;
	enum transport transport;
	struct front_peer *peers;
	size_t peer_count, peer_room;
};

void front_config_wipe(struct front_config *config);
/* The interface's part of a request. */
void front_config_interface(struct front_config *config, const struct uapi_device *request);
/* The peers' part. False when memory is short. */
bool front_config_peers(struct front_config *config, const struct uapi_device *request);
/* NULL: unknown. */
const struct front_peer *front_config_find(
	const struct front_config *config, const uint8_t public_key[UAPI_KEY_LEN]);
/* Where the peer's TCP carrier listens; the count, 0: nowhere, or TCP is not wanted. */
size_t front_config_dial(const struct front_config *config, const struct front_peer *peer,
	struct endpoint out[UAPI_ENDPOINTS_MAX]);
/* Whether this carrier may be used by any peer. request (may be NULL): as if its peers were there as well. */
bool front_config_uses(
	const struct front_config *config, const struct uapi_device *request, enum transport carrier);
/* The port to listen on for TCP; 0: do not. */
uint16_t front_config_tcp_port(const struct front_config *config);

#endif
