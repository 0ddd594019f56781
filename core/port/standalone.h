/* SPDX-License-Identifier: MIT */
/* An engine without a daemon: two processes, the dialler, which keeps its privileges and runs the front, and
 * the engine, which has only its end of the seam. */
#ifndef WGTCP_CORE_PORT_STANDALONE_H
#define WGTCP_CORE_PORT_STANDALONE_H

#include <stdbool.h>

struct standalone_settings {
	const char *program; /* what messages begin with */
	const char *interface;
	const char *uapi_directory;  /* as in front.h */
	const char *state_directory; /* where the newest handshake timestamp is kept; NULL: nowhere */
	const char *
		engine_socket; /* an engine that the service manager starts waits there; NULL: it is forked */
	bool foreground;       /* else it returns once all is ready, and goes on in the background */
	int (*engine)(int seam_handle); /* the engine process's main; 0 or -errno */
};

/* The exit code: 0 ended as told (or is ready, in the background), 1 after one sentence on stderr. Ends on
 * SIGTERM and SIGINT or their like, when the interface is deleted, and when the engine dies. */
int standalone_run(const struct standalone_settings *settings);

/* The other end: the main of a process whose only given socket waits for a dialler. As standalone_run. */
int standalone_serve(const char *program, int (*engine)(int seam_handle));

#endif
