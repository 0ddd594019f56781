/* SPDX-License-Identifier: MIT */
/* ICMP echoes through one interface: whether inner packets pass, small and full-size, both ways. For tunnels
 * whose packets something else moves; an engine makes its own. Source: RFC 792, RFC 4443. */
#ifndef WGTCP_CORE_PORT_ECHO_H
#define WGTCP_CORE_PORT_ECHO_H

#include "core/base/address.h"

struct echo;

/* Of a whole packet with its IP header. */
#define ECHO_SIZE_SMALL 84

/* interface: index. -EPERM; -EAFNOSUPPORT: the system has no such family; other -errno. */
int echo_open(enum ip_family family, uint32_t interface, struct echo **out);
/* NULL is allowed. */
void echo_close(struct echo *echo);
int echo_handle(const struct echo *echo);
/* Sends one of `size` bytes, IP header and all, at least ECHO_SIZE_SMALL, never in fragments. source may be
 * unset. Never blocks. 0, or -errno (-EMSGSIZE: larger than the interface takes). */
int echo_send(struct echo *echo, const struct ip_address *source, const struct ip_address *target,
	uint64_t id, size_t size);
/* The id of the next reply to one of ours. 0, -EAGAIN, or -errno. */
int echo_receive(struct echo *echo, uint64_t *id);

#endif
