/* SPDX-License-Identifier: MIT */
/* Endpoints as the socket calls want them, and back. */
#ifndef WGTCP_PLATFORM_LINUX_SOCKADDR_H
#define WGTCP_PLATFORM_LINUX_SOCKADDR_H

#include "core/base/address.h"

#include <netinet/in.h>
#include <sys/socket.h>

union sockaddr_any {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_storage storage;
};

/* The length for the socket call; 0 for an unset endpoint. */
socklen_t sockaddr_from_endpoint(union sockaddr_any *out, const struct endpoint *endpoint);
/* IP_NONE for a family that is not ours. A mapped IPv4 address becomes IPv4. */
struct endpoint sockaddr_to_endpoint(const union sockaddr_any *address);

#endif
