/* SPDX-License-Identifier: MIT */
/* What a person may paste into a request for help: versions, states and the log, redacted. In English whatever the
 * language, for those who read it. Pure. */
#ifndef WGTCP_GUI_MODEL_REPORT_H
#define WGTCP_GUI_MODEL_REPORT_H

#include "gui/model/redact.h"
#include "gui/model/status_model.h"

/* program: "wgtcp-gui 0.1.0, GTK 4.8.3". Adds to out. */
void report_write(const struct status_model *model, const struct rpc_log *log, size_t log_count, const char *program,
	struct redact_text *out);
/* One line of the log as the log view shows it, not redacted: "22:15:35 warning office: text". clock: the local time of
 * day. */
void report_log_line(const struct rpc_log *entry, const char *clock, char *out, size_t size);

#endif
