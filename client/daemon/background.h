/* SPDX-License-Identifier: MIT */
/* Going into the background, where no service manager does it. */
#ifndef WGTCP_CLIENT_DAEMON_BACKGROUND_H
#define WGTCP_CLIENT_DAEMON_BACKGROUND_H

/* Forks. The first process waits until the other one says that it is ready, or ends, and then exits (0, or
 * 1): it does not return. The other one goes on, in a session of its own. 0 or -errno; *ready is for
 * background_ready. */
int background_enter(int *ready);
/* Lets go of the terminal. */
void background_ready(int ready);

#endif
