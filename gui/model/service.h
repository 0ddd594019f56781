/* SPDX-License-Identifier: MIT */
/* How it stands between us and wgtcpd, in words, with the cure. Pure but for the language. */
#ifndef WGTCP_GUI_MODEL_SERVICE_H
#define WGTCP_GUI_MODEL_SERVICE_H

#include "client/rpc/words.h"

#include <stddef.h>

enum service_state {
	SERVICE_CONNECTING,   /* the first try is under way */
	SERVICE_READY,
	SERVICE_NOT_RUNNING,  /* nobody listens */
	SERVICE_LOST,         /* it ended while we were connected */
	SERVICE_FORBIDDEN,    /* the socket does not let us in */
	SERVICE_INCOMPATIBLE, /* what listens speaks otherwise */
	SERVICE_BROKEN,       /* another error */
};

/* err: as of connect: 0 or -errno. */
enum service_state service_state_of(int err);

struct service_words {
	const char *title;
	const char *text;    /* a sentence or two */
	const char *command; /* to be typed by an administrator; "" for none */
};

struct service_words service_words(enum service_state state);
/* For a person who may look, but not change. user: the account's name. command is written as one that names it. */
void service_group_command(const char *user, char *out, size_t size);

#endif
