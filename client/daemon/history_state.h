/* SPDX-License-Identifier: MIT */
/* What a history holds. Only for history.c and history_text.c. */
#ifndef WGTCP_CLIENT_DAEMON_HISTORY_STATE_H
#define WGTCP_CLIENT_DAEMON_HISTORY_STATE_H

#include "client/daemon/history.h"

struct history_point {
	uint64_t time, rx_bytes, tx_bytes, rx_max_bps, tx_max_bps;
	uint64_t rtt_sum_us;
	uint32_t rtt_count, rtt_max_us, echoes, lost;
};

struct history_line {
	struct history_point *points; /* oldest first */
	size_t count, room;
	uint64_t behind; /* readings lie behind the newest point since this one's time; 0: they do not */
};

struct history_tunnel {
	char name[HISTORY_NAME_LEN];
	struct history_line lines[2]; /* by enum rpc_resolution */
};

struct history {
	struct history_tunnel tunnels[HISTORY_TUNNELS_MAX];
	size_t count;
};

/* Made if there is none; the one that was used longest ago gives way. */
struct history_tunnel *history_tunnel(struct history *history, const char *name);
/* A new one at the end, the oldest gives way; NULL when memory is short. */
struct history_point *history_point(struct history_line *line, uint64_t time);
void history_drop_oldest(struct history_line *line, size_t count);

#endif
