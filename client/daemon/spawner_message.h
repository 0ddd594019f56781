/* SPDX-License-Identifier: MIT */
/* The spawner's own side of spawner.h's messages. */
#ifndef WGTCP_CLIENT_DAEMON_SPAWNER_MESSAGE_H
#define WGTCP_CLIENT_DAEMON_SPAWNER_MESSAGE_H

#include "client/daemon/spawner.h"

/* As spawner_receive, with the two descriptors that came along (the caller's), or -1 and -1. -EBADMSG: not a
 * message, or with a wrong number of descriptors, which have been closed. handles NULL: none may come. */
int spawner_take(int handle, struct spawner_message *out, int handles[2]);

#endif
