/* SPDX-License-Identifier: MIT */
/* The daemon's side of the spawner: programs that run for it, on the GLib main loop. Main thread. */
#ifndef WGTCP_CLIENT_DAEMON_CHILDREN_H
#define WGTCP_CLIENT_DAEMON_CHILDREN_H

#include "client/daemon/journal.h"
#include "core/base/address.h"

#include <stdint.h>
#include <sys/types.h>

struct children;

/* handle: from spawner_fork; closed by children_free. lost: called once if the spawner dies. */
struct children *children_new(int handle, struct journal *journal, void (*lost)(void *user), void *user);
void children_free(struct children *children);

enum child_kind { CHILD_ENGINE, CHILD_RELAY, CHILD_RESOLVCONF, CHILD_PROBE, CHILD_IPERF };

/* Starts an engine or a relay on this seam; what it writes to standard error goes to the journal under `tunnel`. Its id, or 0 when the spawner cannot be reached. seam stays the caller's.
 * exited: called once, when it has ended or could not be started (error: errno, else 0). It is not called
 * after children_forget. */
uint32_t children_start(struct children *children, enum child_kind kind, int seam, const char *tunnel,
	void (*exited)(int error, void *user), void *user);
/* Runs resolvconf for the tunnel's interface: set: with this text, else to clear. exited: error 0 if it ended well. Else
 * as children_start. */
uint32_t children_start_resolvconf(struct children *children, const char *tunnel, bool set, const char *text,
	void (*exited)(int error, void *user), void *user);
/* Starts the probe on these two sockets, which stay the caller's. It is nobody's: it counts for no tunnel. */
uint32_t children_start_probe(
	struct children *children, const int handles[2], void (*exited)(int error, void *user), void *user);
/* Starts a speed test server on that address, for what comes by that interface; what it says is not kept, since it names
 * the peers' addresses. As children_start. */
uint32_t children_start_iperf(struct children *children, const char *tunnel, const char *interface,
	const struct ip_address *address, void (*exited)(int error, void *user), void *user);
/* Ends it at once; `exited` follows as ever. */
void children_kill(struct children *children, uint32_t id);
/* Nobody wants to hear of it any more: an engine is given 2 s to end by itself (its seam has been closed), then it
 * is killed; resolvconf is let finish. */
void children_forget(struct children *children, uint32_t id);
/* Whether any child of this tunnel is still there. */
bool children_has(const struct children *children, const char *tunnel);
/* Called each time a child has gone. */
void children_watch(struct children *children, void (*changed)(void *user), void *user);
/* Number and start time, each child of a tunnel in turn: for the leftovers file. 0 while it is not known yet. False at
 * the end. */
bool children_next(const struct children *children, size_t *cursor, pid_t *pid, uint64_t *start_time);
/* The processes that move the packets of one tunnel, in turn. False at the end. */
bool children_next_of(const struct children *children, const char *tunnel, size_t *cursor, pid_t *pid);

#endif
