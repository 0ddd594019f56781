/* SPDX-License-Identifier: MIT */
/* Keeps the place of a TCP server that is not running: whoever connects gets no answer yet, neither yes nor
 * no, and the owner hears of it. If the server is started now, the caller's own repetition of its first
 * packet (after a second) finds it. Only what comes in by one interface, for one address. */
#ifndef WGTCP_CORE_PORT_KNOCK_H
#define WGTCP_CORE_PORT_KNOCK_H

#include "core/base/address.h"

struct knock;

/* interface: index. 0; -EADDRINUSE: some server has that place; -EPERM; other -errno. */
int knock_open(uint32_t interface, const struct ip_address *address, uint16_t port, struct knock **out);
/* From here on the system refuses connections there, unless a server is. NULL is allowed. */
void knock_close(struct knock *knock);
/* Readable when somebody has called. */
int knock_handle(const struct knock *knock);
/* Takes what waits. Whether somebody called. */
bool knock_take(struct knock *knock);

#endif
