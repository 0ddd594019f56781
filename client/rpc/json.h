/* SPDX-License-Identifier: MIT */
/* Results as text, for --json. Compact, one line, no newline at the end. Heap; the caller wipes and frees by
 * rpc_json_free. NULL when memory is short. */
#ifndef WGTCP_CLIENT_RPC_JSON_H
#define WGTCP_CLIENT_RPC_JSON_H

#include "client/rpc/types.h"

/* Never leaves anything out: not bound by a line's length. */
char *rpc_json_result(const struct rpc_result *result);
/* {"version":1,"error":{...}} */
char *rpc_json_error(const struct rpc_error *error);
char *rpc_json_notice(const struct rpc_notice *notice);
/* {"version":1,"key":"value"} */
char *rpc_json_pair(const char *key, const char *value);
void rpc_json_free(char *text);

#endif
