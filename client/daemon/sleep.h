/* SPDX-License-Identifier: MIT */
/* Tells when this machine has slept: by logind's signal where there is one, and by its clocks, one of which
 * stands still meanwhile. Nothing here wakes an idle machine. Main thread. */
#ifndef WGTCP_CLIENT_DAEMON_SLEEP_H
#define WGTCP_CLIENT_DAEMON_SLEEP_H

struct bus;
struct sleep_watch;

/* resumed: from the main loop, once for each sleep. */
struct sleep_watch *sleep_watch_new(struct bus *bus, void (*resumed)(void *user), void *user);
/* NULL is allowed. */
void sleep_watch_free(struct sleep_watch *watch);
/* Something has happened, so the machine is awake anyhow: looks at the clocks. */
void sleep_watch_look(struct sleep_watch *watch);

#endif
