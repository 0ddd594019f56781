/* SPDX-License-Identifier: MIT */
/* What the subcommands share: what was asked, where output goes, and how an error becomes a sentence and an
 * exit code. */
#ifndef WGTCP_CLIENT_CLI_CLI_H
#define WGTCP_CLIENT_CLI_CLI_H

#include "client/cli/args.h"
#include "client/cli/text.h"
#include "client/rpc/client.h"
#include "core/port/console.h"

enum cli_exit {
	CLI_DONE = 0,
	CLI_OTHER = 1,
	CLI_USAGE = 2,
	CLI_NOT_UP = 3,
	CLI_NOT_PERMITTED = 4,
	CLI_NO_SUCH_TUNNEL = 5,
	CLI_TIMED_OUT = 6,
	CLI_PEER_UNREACHABLE = 7,
	CLI_CAPTIVE_PORTAL = 8,
	CLI_INTERRUPTED = 130,
};

struct cli {
	struct args args; /* words[0] is the command */
	const struct command *command;
	const char *socket_path;
	bool json;
	struct rpc_client *client; /* once connected */
};

struct command {
	const char *name;
	const char *usage;           /* what follows the name: "NAME [--transport T]" */
	const char *summary;         /* for the list of all */
	const char *details;         /* for its own help */
	uint32_t options;            /* beside OPTIONS_ALWAYS */
	size_t words_min, words_max; /* after the command's name */
	enum cli_exit (*run)(struct cli *cli);
};

/* All of them, in the order of --help; ended by a NULL name. */
extern const struct command commands[];

/* The whole program. */
int cli_main(int argc, char *const argv[]);

/* ---- output (output.c) ---- */

#if defined(__GNUC__)
#define CLI_PRINTF(at, first) __attribute__((format(printf, at, first)))
#else
#define CLI_PRINTF(at, first)
#endif

void cli_out(const char *format, ...) CLI_PRINTF(1, 2);
void cli_err(const char *format, ...) CLI_PRINTF(1, 2);
/* "wgtcp-cli: SENTENCE." on standard error, and the same as JSON on standard output when --json was given.
 * Returns code as what the program ends with. */
enum cli_exit cli_fail(const struct cli *cli, enum cli_exit code, const char *format, ...) CLI_PRINTF(3, 4);
/* The same for a wrong command line, with where to find the right one. */
enum cli_exit cli_usage(const struct cli *cli, const char *format, ...) CLI_PRINTF(2, 3);
/* Prints and frees what rpc_json_* made. */
enum cli_exit cli_print_json(char *json);
void cli_warn(const char *text);
/* Each as "FILE:LINE: KIND TEXT" on standard error, as compilers write it; kind is "" or "warning: ". */
void cli_tell_notes(const char *file, const char *kind, const struct rpc_notes *notes);

/* ---- the daemon (session.c) ---- */

/* Connects; CLI_DONE, or what to end with after it said why. may_start: as root, starts the daemon if none
 * runs. */
enum cli_exit cli_connect(struct cli *cli, bool may_start);
/* Connects, asks and waits. On CLI_DONE *result is the caller's to free. Errors are told. A tunnel that is
 * not known by name is looked for by the name that people see. */
enum cli_exit cli_ask(
	struct cli *cli, struct rpc_request *request, uint32_t timeout_ms, struct rpc_result *result);
/* Tells an error of the daemon about request. */
enum cli_exit cli_tell_error(
	struct cli *cli, const struct rpc_request *request, const struct rpc_error *error);
/* What a code of the daemon's is as an exit code; 0 is CLI_DONE. */
enum cli_exit cli_exit_of(int32_t code);
/* Tells why rpc_client_* failed with err (0: no answer in time). */
enum cli_exit cli_tell_lost(const struct cli *cli, int err);
/* Where request names a tunnel by the name that people see, puts its NAME there; true if it did. */
bool cli_resolve_name(struct cli *cli, struct rpc_request *request);
/* The result of tunnel.list, and of tunnel.status, with all tunnels and peers, also where they come in
 * several messages. */
enum cli_exit cli_ask_list(struct cli *cli, struct rpc_result *result);
enum cli_exit cli_ask_status(struct cli *cli, const char *name, struct rpc_result *result);

/* Ordinary requests are answered at once. */
#define CLI_ANSWER_MS 10000

/* ---- names (name.c), pure ---- */

/* NAME from what a person typed where a tunnel is meant: "office", "office.conf", "./some/where/office.conf".
 * False when nothing is left, or it is too long. */
bool name_from_word(const char *word, char out[RPC_NAME_LEN]);
/* A file as sentences call it: "-" is "standard input". */
const char *cli_shown_path(const char *path);
/* The last part of a path, as import tells the daemon what the file was called. */
const char *name_of_file(const char *path);

/* ---- the commands ---- */

enum cli_exit run_up(struct cli *cli);
enum cli_exit run_down(struct cli *cli);
enum cli_exit run_switch(struct cli *cli);
enum cli_exit run_status(struct cli *cli);
enum cli_exit run_list(struct cli *cli);
enum cli_exit run_import(struct cli *cli);
enum cli_exit run_export(struct cli *cli);
enum cli_exit run_delete(struct cli *cli);
enum cli_exit run_set(struct cli *cli);
enum cli_exit run_speedtest(struct cli *cli);
enum cli_exit run_doctor(struct cli *cli);
enum cli_exit run_unlock(struct cli *cli);
enum cli_exit run_logs(struct cli *cli);
/* Ahead of all else, since the words may be half written. */
enum cli_exit cli_complete(struct cli *cli, int count, char *const words[]);
extern const char *const complete_keys[];
/* Of import. */
enum cli_exit run_migration(struct cli *cli, const char *from);
enum cli_exit run_server(struct cli *cli);
enum cli_exit run_genkey(struct cli *cli);
enum cli_exit run_pubkey(struct cli *cli);
enum cli_exit run_genpsk(struct cli *cli);
enum cli_exit run_version(struct cli *cli);
enum cli_exit run_help(struct cli *cli);

/* Help for one command, or for all (NULL). */
void help_write(const struct command *command, struct text *out);

#endif
