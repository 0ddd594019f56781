/* SPDX-License-Identifier: MIT */
/* What a process may do for its user's sake and beyond it. A process only ever gives up: each call is made
 * once, before there are threads, and nothing of it can be taken back. */
#ifndef WGTCP_CORE_PORT_PRIVILEGES_H
#define WGTCP_CORE_PORT_PRIVILEGES_H

/* What is kept. Every kind also gives up gaining anything by starting a program, and leaves no core dump. */
enum privileges {
	/* Interfaces, routes, rules and marks. The user stays root, since profiles, state and the socket's
	 * folder are root's: as their owner it needs no privilege to get at them, and can get at nobody
	 * else's. */
	PRIVILEGES_MANAGER,
	/* To start programs as other users and to end them; and what privileged_socket.h does for the
	 * manager: ports below 1024, and ICMP questions into a kernel's tunnel. */
	PRIVILEGES_SPAWNER,
	/* The manager's and ports below 1024: an engine's without a daemon, which it ends. */
	PRIVILEGES_DIALLER,
	PRIVILEGES_NONE,
};

/* 0 or -errno; on failure the process should not go on. One that never had a privilege keeps none and that is
 * no failure. */
int privileges_keep(enum privileges which);

/* Whom a program that has parted with all privileges runs as. */
struct identity {
	unsigned int user, group;
};

enum identity_of {
	IDENTITY_ENGINE, /* user wgtcp-engine */
	IDENTITY_RELAY,  /* user wgtcp-relay */
	IDENTITY_PROBE,  /* user wgtcp-probe */
};

/* Where the system has no such user (nobody installed the package's sysusers.d file): a number of its own
 * from the end of the range that service managers give out for the time of a service, and that nobody has. */
struct identity identity_find(enum identity_of whose);
/* Takes on the identity, and no privilege stays. 0; -EPERM: this process may not; -EINVAL: this user
 * namespace has no such user. It has no privilege then either, but is who it was. */
int identity_become(const struct identity *identity);

#endif
