/* SPDX-License-Identifier: MIT */
/* "Why does it not work?", answered from what the daemon says of a tunnel: one line for each thing that must be right, in
 * the order in which they depend on each other. Pure but for the language. */
#ifndef WGTCP_GUI_MODEL_WHY_H
#define WGTCP_GUI_MODEL_WHY_H

#include "gui/model/service.h"
#include "gui/model/status_model.h"

enum why_mark {
	WHY_GOOD,
	WHY_BAD,     /* this is it, or part of it */
	WHY_UNKNOWN, /* nothing is known of it, since it was not tried or what comes before it is bad */
};

#define WHY_TEXT_LEN 768

struct why_line {
	enum why_mark mark;
	const char *title;
	char text[WHY_TEXT_LEN];
};

#define WHY_LINES_MAX 8

/* How many lines were written. now: Unix time, s. */
size_t why_lines(enum service_state service, const struct status_model *model, const struct model_tunnel *tunnel,
	uint64_t now, struct why_line out[WHY_LINES_MAX]);

#endif
