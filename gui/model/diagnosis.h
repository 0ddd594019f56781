/* SPDX-License-Identifier: MIT */
/* The daemon's diagnosis in a person's language: what was looked at and how it stands. What was found and
 * what to do about it are the daemon's own sentences. Pure but for the language. */
#ifndef WGTCP_GUI_MODEL_DIAGNOSIS_H
#define WGTCP_GUI_MODEL_DIAGNOSIS_H

#include "client/rpc/types.h"

#define DIAGNOSIS_TEXT_LEN (2 * RPC_SENTENCE_LEN + RPC_NAME_LEN + 16)

/* "Large packets" */
const char *diagnosis_title(enum rpc_check_kind check);
/* "right", "wrong" */
const char *diagnosis_verdict(enum rpc_verdict verdict);
/* "Asking the server by UDP…" */
const char *diagnosis_step(enum rpc_step step);
/* What was found, of what, and on a line of its own what to do about it. */
void diagnosis_text(const struct rpc_check *check, char *out, size_t size);

#endif
