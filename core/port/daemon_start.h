/* SPDX-License-Identifier: MIT */
/* Starting wgtcpd from the command line, where no service manager has done it. */
#ifndef WGTCP_CORE_PORT_DAEMON_START_H
#define WGTCP_CORE_PORT_DAEMON_START_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Starts the wgtcpd that stands beside our own binary, else the one where it is installed, listening on
 * socket_path, as a process of its own that outlives us, and waits until that socket answers, wait_ms at
 * most. 0; -ENOENT: there is no wgtcpd; -ETIMEDOUT: it runs and does not answer; -ECHILD: it ended at once;
 * else -errno. Its messages go to *log_path ("" if nowhere), size bytes. */
int daemon_start(const char *socket_path, uint32_t wait_ms, char *log_path, size_t size);

/* Ends the kill switch, or opens it for so many seconds (0: ends it), where no daemon does: by a wgtcpd that
 * does only that. 0; -ENOENT: there is no wgtcpd; -ECHILD: it could not, and *said is why ("": it did not
 * say); else -errno. */
int daemon_unlock(uint32_t for_s, char *said, size_t size);

/* How a person starts it for good, for a sentence: "`sudo systemctl start wgtcpd`", or what it is where there is no
 * systemd. */
const char *daemon_start_advice(void);

#endif
