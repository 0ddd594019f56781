/* SPDX-License-Identifier: MIT */
/* Sockets for the probe, which may not open marked ones itself. Inside the probe process. */
#ifndef WGTCP_CLIENT_DAEMON_PROBE_ASK_H
#define WGTCP_CLIENT_DAEMON_PROBE_ASK_H

#include <stdbool.h>
#include <stdint.h>

/* Where to ask, for all calls to come. */
void probe_ask_open(int questions);
/* A non-blocking socket with the mark of that request, or -errno. family: AF_INET or AF_INET6. Waits for the
 * daemon; ends the process if that is gone. */
int probe_ask(uint32_t id, int family, bool stream);

#endif
