/* SPDX-License-Identifier: MIT */
/* A machine and a daemon in memory: the ports that the command line stands on (console, ipc, daemon_start),
 * and what to answer to which method. For tests of whole commands. */
#ifndef WGTCP_TESTS_UNIT_CLIENT_CLI_FAKE_H
#define WGTCP_TESTS_UNIT_CLIENT_CLI_FAKE_H

#include "client/rpc/server.h"

struct fake {
	/* the machine */
	bool terminal, utf8, colour, admin;
	uint32_t width, height;
	const char *file_path, *file_text; /* the one file that there is ("-" for standard input) */
	size_t file_len;                   /* 0: strlen of file_text */
	int file_error;                    /* instead of it */
	uint64_t now;
	/* the daemon */
	int connect_error; /* until daemon_start has succeeded */
	int start_error;
	int starts;
	int unlock_error;
	int unlocks; /* without a daemon */
	uint32_t unlocked_for_s;
	/* Called for each request; answers on server. */
	void (*answer)(struct rpc_server *server, const struct rpc_request *request);
	int interrupt_after; /* Ctrl-C comes instead of the n-th wait, from 1; 0: never */
	bool silent;         /* it never answers */
	const char *beside;  /* a text that comes beside its answer */
	/* what was seen */
	char out[1 << 18], err[1 << 18];
	size_t out_len, err_len;
	char socket_path[256];
	struct rpc_request requests[8]; /* without what pointers pointed to */
	char last_text[4096];
	size_t request_count;
	bool caught;
	int list_error;
	int write_error; /* for the next file that is written */
	char written_path[256], written[4096];
};

extern struct fake fake;

/* Runs a command line given as words that end with NULL; returns the exit code. */
int fake_run(const char *const words[]);
/* Forgets everything. */
void fake_reset(void);

#endif
