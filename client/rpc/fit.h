/* SPDX-License-Identifier: MIT */
/* Results and notices that would be longer than a line may be, made shorter in the ways that protocol.md
 * names. Pure. */
#ifndef WGTCP_CLIENT_RPC_FIT_H
#define WGTCP_CLIENT_RPC_FIT_H

#include "client/rpc/message.h"

/* Writes a line of at most RPC_LINE_MAX bytes. 0; -EMSGSIZE: it does not fit whatever is left out; -ENOMEM.
 */
int fit_result(const struct rpc_id *id, const struct rpc_result *result, struct message *out);
int fit_notice(const struct rpc_notice *notice, struct message *out);
/* A result as --json prints it, with nothing left out. */
struct json_object *fit_result_json(const struct rpc_result *result);

#endif
