/* SPDX-License-Identifier: MIT */
/* Endpoints as the socket calls want them, and back. Pure. */
#include "platform/linux/sockaddr.h"

#include <string.h>

socklen_t sockaddr_from_endpoint(union sockaddr_any *out, const struct endpoint *endpoint)
{
	switch (endpoint->address.family) {
	case IP_V4:
		memset(&out->v4, 0, sizeof(out->v4));
		out->v4.sin_family = AF_INET;
		out->v4.sin_port = htons(endpoint->port);
		memcpy(&out->v4.sin_addr, endpoint->address.bytes, 4);
		return sizeof(out->v4);
	case IP_V6:
		memset(&out->v6, 0, sizeof(out->v6));
		out->v6.sin6_family = AF_INET6;
		out->v6.sin6_port = htons(endpoint->port);
		out->v6.sin6_scope_id = endpoint->scope_id;
		memcpy(&out->v6.sin6_addr, endpoint->address.bytes, 16);
		return sizeof(out->v6);
	case IP_NONE:
		break;
	}
	return 0;
}

struct endpoint sockaddr_to_endpoint(const union sockaddr_any *address)
{
	struct endpoint out = { 0 };

	if (address->any.sa_family == AF_INET) {
		out.address.family = IP_V4;
		memcpy(out.address.bytes, &address->v4.sin_addr, 4);
		out.port = ntohs(address->v4.sin_port);
	} else if (address->any.sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&address->v6.sin6_addr)) {
		out.address.family = IP_V4;
		memcpy(out.address.bytes, address->v6.sin6_addr.s6_addr + 12, 4);
		out.port = ntohs(address->v6.sin6_port);
	} else if (address->any.sa_family == AF_INET6) {
		out.address.family = IP_V6;
		memcpy(out.address.bytes, &address->v6.sin6_addr, 16);
		out.port = ntohs(address->v6.sin6_port);
		/* The kernel fills the scope in for link-local addresses only; elsewhere it would make equal
		 * endpoints differ. */
		if (IN6_IS_ADDR_LINKLOCAL(&address->v6.sin6_addr))
			out.scope_id = address->v6.sin6_scope_id;
	}
	return out;
}
