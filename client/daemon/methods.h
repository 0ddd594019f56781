/* SPDX-License-Identifier: MIT */
/* What each method of client/rpc/protocol.md does. Main thread.
 * Files: methods.c (who may do what, and the small ones), methods_tunnel.c, methods_profile.c,
 * methods_lockdown.c, methods_server.c; `diagnose` is diagnose.c's, `speedtest.*` are speed.c's, `history` is
 * record.c's. */
#ifndef WGTCP_CLIENT_DAEMON_METHODS_H
#define WGTCP_CLIENT_DAEMON_METHODS_H

#include "client/daemon/journal.h"
#include "client/daemon/listener.h"

struct daemon;

/* Answers request, now or later; it stays the caller's. */
void methods_handle(struct daemon *daemon, struct client *client, const struct rpc_request *request);
void methods_log_entry(const struct journal_line *line, struct rpc_log *out);

/* ---- between the files ---- */
void method_up(struct daemon *daemon, struct client *client, const struct rpc_request *request);
void method_down(struct daemon *daemon, struct client *client, const struct rpc_request *request);
void method_status(struct daemon *daemon, struct client *client, const struct rpc_request *request);
/* What there is to know of the kill switch; what it holds is on the heap: methods_lockdown_free. */
void methods_lockdown(const struct daemon *daemon, struct rpc_lockdown *out);
void methods_lockdown_free(struct rpc_lockdown *view);
/* The answer to tunnel.status, with what is known now. */
void method_status_answer(struct daemon *daemon, struct client *client, const struct rpc_id *id,
	const char *name, uint32_t from);
void method_switch(struct daemon *daemon, struct client *client, const struct rpc_request *request);
void method_unlock(struct daemon *daemon, struct client *client, const struct rpc_request *request);
void method_diagnose(struct daemon *daemon, struct client *client, const struct rpc_request *request);
void method_speedtest_prepare(
	struct daemon *daemon, struct client *client, const struct rpc_request *request);
void method_speedtest_end(struct daemon *daemon, struct client *client, const struct rpc_request *request);
void method_history(struct daemon *daemon, struct client *client, const struct rpc_request *request);
void method_list(struct daemon *daemon, struct client *client, const struct rpc_request *request);
void method_import(struct daemon *daemon, struct client *client, const struct rpc_request *request);
void method_export(struct daemon *daemon, struct client *client, const struct rpc_request *request);
void method_delete(struct daemon *daemon, struct client *client, const struct rpc_request *request);
void method_set(struct daemon *daemon, struct client *client, const struct rpc_request *request);
void method_server(struct daemon *daemon, struct client *client, const struct rpc_request *request);

#endif
