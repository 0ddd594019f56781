/* SPDX-License-Identifier: MIT */
/* The service's connection to wgtcpd, in GLib's main loop. It is not opened again when it is lost, since the
 * tunnel ends with it. One thread. */
#ifndef WGTCP_CLIENT_NM_WIRE_H
#define WGTCP_CLIENT_NM_WIRE_H

#include "client/rpc/conn.h"

struct wire;

struct wire_events {
	/* An answer or a notice. */
	void (*event)(struct rpc_event *event, void *user);
	/* The daemon is gone. wire_close may be called in it. */
	void (*lost)(void *user);
};

/* 0 or -errno: -ENOENT, -ECONNREFUSED: no daemon. */
int wire_open(const char *path, const struct wire_events *events, void *user, struct wire **out);
/* NULL is allowed. */
void wire_close(struct wire *wire);
/* The request's id, or -errno as rpc_conn_request. */
int64_t wire_ask(struct wire *wire, const struct rpc_request *request);

#endif
