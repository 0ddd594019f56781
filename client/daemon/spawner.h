/* SPDX-License-Identifier: MIT */
/* The child of wgtcpd that starts programs for it: forked first of all, before threads and GLib, so that what
 * it forks in turn is small and holds nothing of the daemon's. It starts only programs of a fixed list with
 * fixed arguments, which it opened when it started; a request names one by number, never by path. No shell.
 *
 * Requests and reports are of one fixed size, on a socketpair that keeps their bounds. A request to start
 * carries two descriptors: what the program is given (an engine or a relay its seam, as 3; resolvconf its text, as 0),
 * and its log (2). The probe is no program but a copy of the spawner without any privilege (probe.h), and is
 * given two sockets. */
#ifndef WGTCP_CLIENT_DAEMON_SPAWNER_H
#define WGTCP_CLIENT_DAEMON_SPAWNER_H

#include <stdint.h>
#include <sys/types.h>

enum spawner_kind {
	/* down: daemon to spawner */
	SPAWNER_START_ENGINE = 1, /* id; two descriptors: seam, log */
	SPAWNER_KILL,             /* id: end it */
	SPAWNER_RESOLVCONF_SET,   /* id, name: of the interface; two descriptors: text, log */
	SPAWNER_RESOLVCONF_CLEAR, /* the same; the text is not read */
	SPAWNER_START_PROBE,      /* id; two descriptors: requests, questions */
	SPAWNER_START_RELAY,      /* id; two descriptors: seam, log */
	SPAWNER_START_IPERF,      /* id, name: of the interface, address; two descriptors: nothing, log */
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
	char name[16];
	char address[48]; /* numeric */
};

/* Forks the spawner. 0 with *handle (non-blocking) for spawner_send and spawner_receive, or -errno. The child
 * does not return from here: it ends when the handle and its copies are closed, and all its children with it.
 */
int spawner_fork(int *handle, pid_t *pid);

/* handles: the two descriptors that go with it, NULL with SPAWNER_KILL; they stay the caller's. 0 or -errno.
 */
int spawner_send(int handle, const struct spawner_message *message, const int handles[2]);
/* 0; -EAGAIN: nothing waits; -EPIPE: the spawner is gone. */
int spawner_receive(int handle, struct spawner_message *out);

#endif
