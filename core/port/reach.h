/* SPDX-License-Identifier: MIT */
/* Whether an endpoint can be reached at all, without saying anything to it: for a diagnosis. By TCP a
 * connection that is closed again; by UDP one empty datagram, to which a peer says nothing, so that only an
 * error is news. */
#ifndef WGTCP_CORE_PORT_REACH_H
#define WGTCP_CORE_PORT_REACH_H

#include "core/base/address.h"
#include "core/base/carrier.h"

struct reach;

/* Begins; never blocks. 0, or -errno, which is then the answer: -ENETUNREACH, ... */
int reach_open(enum carrier carrier, const struct endpoint *endpoint, uint32_t mark, struct reach **out);
/* NULL is allowed. */
void reach_close(struct reach *reach);
/* 0: a TCP connection stands; -EINPROGRESS: nothing has come back yet; else the -errno that did:
 * -ECONNREFUSED, -EHOSTUNREACH, ... The same again once it is known. */
int reach_look(struct reach *reach);

#endif
