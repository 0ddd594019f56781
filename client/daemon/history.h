/* SPDX-License-Identifier: MIT */
/* What tunnels did, by the minute for a day and by the hour for 60 days: kept over restarts in one file of at
 * most 1 MiB. Pure. Files: history.c (the points), history_text.c (the file), record.c (when it is written,
 * and the method). */
#ifndef WGTCP_CLIENT_DAEMON_HISTORY_H
#define WGTCP_CLIENT_DAEMON_HISTORY_H

#include "client/rpc/types.h"

#define HISTORY_FILE "history"
#define HISTORY_BYTES_MAX (1u << 20)
#define HISTORY_POINTS_MAX 1440 /* of each resolution: minutes of a day, hours of 60 days */
#define HISTORY_TUNNELS_MAX 64
#define HISTORY_NAME_LEN 16

struct history;

/* What was seen since the last reading. */
struct history_reading {
	uint64_t time; /* Unix time, s */
	uint64_t rx_bytes, tx_bytes;
	uint64_t rx_bps, tx_bps;
	uint32_t rtt_us;       /* 0: not measured */
	uint32_t echoes, lost; /* over the 60 s before */
};

/* NULL when memory is short. */
struct history *history_new(void);
/* NULL is allowed. */
void history_free(struct history *history);
/* True: there is something new to be written. A clock that goes back adds to the newest point; when it has
 * stayed there for a day, the points ahead of it were a wrong clock's and go. */
bool history_add(struct history *history, const char *name, const struct history_reading *reading);
void history_forget(struct history *history, const char *name);
/* The newest points that began before `before` (0: all), oldest first; at most max. */
size_t history_points(const struct history *history, const char *name, enum rpc_resolution resolution,
	uint64_t before, struct rpc_point *out, size_t max);

/* The file's text, at most HISTORY_BYTES_MAX: the oldest points are left out. Heap; NULL when memory is
 * short. */
char *history_write(struct history *history, size_t *len);
/* Into an empty history. False: that is no such text; what was read before is kept. */
bool history_read(struct history *history, const char *text, size_t len);

#endif
