/* SPDX-License-Identifier: MIT */
/* Status for people. Pure. */
#ifndef WGTCP_CLIENT_CLI_STATUS_TEXT_H
#define WGTCP_CLIENT_CLI_STATUS_TEXT_H

#include "client/cli/text.h"
#include "client/rpc/types.h"

struct status_style {
	uint32_t width; /* columns; 0: no limit */
	bool colour;
	uint64_t now; /* Unix time, s */
};

void status_text_tunnel(const struct rpc_tunnel *tunnel, const struct status_style *style, struct text *out);
/* With an empty line between tunnels that are more than one line. */
/* The kill switch in one sentence; nothing while it is off. */
void lockdown_text(const struct rpc_lockdown *lockdown, const struct status_style *style, struct text *out);
void status_text(const struct rpc_status *status, const struct status_style *style, struct text *out);
void list_text(const struct rpc_list *list, const struct status_style *style, struct text *out);

#endif
