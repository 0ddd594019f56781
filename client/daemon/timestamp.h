/* SPDX-License-Identifier: MIT */
/* The newest TAI64N timestamp that a handshake of ours has used, kept over restarts: a server ignores older
 * ones, so it must not go back with the clock (docs/wire.md 1). */
#ifndef WGTCP_CLIENT_DAEMON_TIMESTAMP_H
#define WGTCP_CLIENT_DAEMON_TIMESTAMP_H

#include "core/base/time.h"

#define TIMESTAMP_FILE "timestamp"

/* {0} when there is none, or the file makes no sense. */
struct wall timestamp_load(int state_folder);
/* 0 or -errno. */
int timestamp_save(int state_folder, const struct wall *newest);

#endif
