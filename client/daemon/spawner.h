/* SPDX-License-Identifier: MIT */
/* The child of wgtcpd that starts programs for it: forked first of all, before threads and GLib, so that what
 * it forks in turn is small and holds nothing of the daemon's. It starts only programs of a fixed list with
 * fixed arguments, which it opened when it started; a request names one by number, never by path. No shell.
 *
 * Requests and reports are of one fixed size, on a socketpair that keeps their bounds. A request to start
 * carries the descriptors that the program inherits: 3 (its seam) and 2 (its log). */
#ifndef WGTCP_CLIENT_DAEMON_SPAWNER_H
#define WGTCP_CLIENT_DAEMON_SPAWNER_H

#include <stdint.h>
#include <sys/types.h>

enum spawner_kind {
	/* down: daemon to spawner */
	SPAWNER_START_ENGINE = 1, /* id; two descriptors: seam, log */
	SPAWNER_KILL,             /* id: end it */
	/* up */
	SPAWNER_STARTED, /* id, pid, start_time */
	SPAWNER_FAILED,  /* id, status: errno */
	SPAWNER_EXITED,  /* id, pid, status: as of waitpid; once for each that was started */
};

struct spawner_message {
	uint32_t kind;
	uint32_t id; /* the daemon's; not 0 */
	int32_t pid;
	int32_t status;
	uint64_t start_time; /* process.h */
};

/* Forks the spawner. 0 with *handle (non-blocking) for spawner_send and spawner_receive, or -errno. The child
 * does not return from here: it ends when the handle and its copies are closed, and all its children with it.
 */
int spawner_fork(int *handle, pid_t *pid);

/* handles: two descriptors that go with SPAWNER_START_ENGINE, else NULL; they stay the caller's. 0 or -errno.
 */
int spawner_send(int handle, const struct spawner_message *message, const int handles[2]);
/* 0; -EAGAIN: nothing waits; -EPIPE: the spawner is gone. */
int spawner_receive(int handle, struct spawner_message *out);

#endif
