/* SPDX-License-Identifier: MIT */
/* A diagnosis for people. Pure. */
#ifndef WGTCP_CLIENT_CLI_DOCTOR_TEXT_H
#define WGTCP_CLIENT_CLI_DOCTOR_TEXT_H

#include "client/cli/status_text.h"

/* One line a check, with its cure below it, and the sum at the end. */
void doctor_text(const struct rpc_diagnosis *diagnosis, const struct status_style *style, struct text *out);

#endif
