/* SPDX-License-Identifier: MIT */
/* The tables that say how each struct of types.h looks on the wire. Only client/rpc includes this. */
#ifndef WGTCP_CLIENT_RPC_SHAPES_H
#define WGTCP_CLIENT_RPC_SHAPES_H

#include "client/rpc/field.h"
#include "client/rpc/types.h"

/* For params, offsets count from struct rpc_request; for results from struct rpc_result, for notices from
 * struct rpc_notice, for errors from struct rpc_error. */
const struct field *shape_of_params(enum rpc_method method);
const struct field *shape_of_result(enum rpc_method method);
const struct field *shape_of_notice(enum rpc_notice_kind kind);
extern const struct field shape_error[];
extern const struct field shape_error_data[];

#endif
