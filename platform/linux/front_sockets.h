/* SPDX-License-Identifier: MIT */
/* The sockets of one interface, as its configuration wants them. */
#ifndef WGTCP_PLATFORM_LINUX_FRONT_SOCKETS_H
#define WGTCP_PLATFORM_LINUX_FRONT_SOCKETS_H

#include "platform/linux/front_config.h"
#include "platform/linux/sockets.h"

struct front_sockets {
	struct socket_pair udp, listeners;
	uint16_t udp_asked; /* what udp was opened for; 0: any port */
	uint32_t mark;
};

#define FRONT_SOCKETS_NONE ((struct front_sockets){ .udp = SOCKET_PAIR_NONE, .listeners = SOCKET_PAIR_NONE })

enum { FRONT_UDP_CHANGED = 1, FRONT_LISTENERS_CHANGED = 2 };

/* Opens what is missing, closes what is not wanted any more, keeps the rest: sets *changed, or answers -errno
 * (-EADDRINUSE) with all as it was. request: peers that are about to be added, or NULL. */
int front_sockets_fit(struct front_sockets *sockets, const struct front_config *config,
	const struct uapi_device *request, uint32_t *changed);
void front_sockets_close(struct front_sockets *sockets);

#endif
