/* SPDX-License-Identifier: MIT */
/* The daemon's history: filled in from readings, written rarely and whole, read at the start. Main thread. */
#ifndef WGTCP_CLIENT_DAEMON_RECORD_H
#define WGTCP_CLIENT_DAEMON_RECORD_H

#include "client/daemon/history.h"

struct daemon;
struct record;

/* Reads what an earlier daemon left. */
struct record *record_new(struct daemon *daemon);
/* Writes what is new. NULL is allowed. */
void record_free(struct record *record);
void record_add(struct record *record, const char *name, const struct history_reading *reading);
/* The profile was deleted. */
void record_forget(struct record *record, const char *name);

#endif
