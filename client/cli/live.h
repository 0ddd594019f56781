/* SPDX-License-Identifier: MIT */
/* What `status --watch` knows of each tunnel's last five minutes, and how it is drawn. Pure. */
#ifndef WGTCP_CLIENT_CLI_LIVE_H
#define WGTCP_CLIENT_CLI_LIVE_H

#include "client/cli/status_text.h"
#include "client/rpc/types.h"

#define LIVE_SAMPLES 300

struct live_tunnel {
	char name[RPC_NAME_LEN];
	struct rpc_sample samples[LIVE_SAMPLES]; /* oldest first */
	size_t count;
};

struct live {
	struct live_tunnel *tunnels; /* owned */
	size_t count;
};

void live_free(struct live *live);
/* Adds what a stats notice brings. */
void live_take(struct live *live, const struct rpc_notice *notice);
void live_forget(struct live *live, const char *name);
/* The graphs of one tunnel, below its status; nothing where nothing is known. utf8: blocks, else ASCII. */
void live_text(const struct live *live, const char *name, const struct status_style *style, bool utf8,
	struct text *out);
/* "office: 1.2 Mbit/s down, 3.4 kbit/s up, round trip 20 ms": for those who read lines. */
void live_line(const struct rpc_notice *notice, struct text *out);
/* The text cut to so many lines (0: no limit), each line ending in "clear to the end of the line". */
void live_screen(const char *text, size_t lines, struct text *out);

#endif
