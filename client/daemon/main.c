/* SPDX-License-Identifier: MIT */
/* wgtcpd: makes the parts, runs the loop, takes them apart. The spawner is forked first of all. */
#include "client/daemon/address_book.h"
#include "client/daemon/background.h"
#include "client/daemon/bus.h"
#include "client/daemon/children.h"
#include "client/daemon/daemon.h"
#include "client/daemon/dns.h"
#include "client/daemon/file.h"
#include "client/daemon/journal.h"
#include "client/daemon/leftovers.h"
#include "client/daemon/listener.h"
#include "client/daemon/lockdown.h"
#include "client/daemon/manager.h"
#include "client/daemon/memory.h"
#include "client/daemon/once.h"
#include "client/daemon/options.h"
#include "client/daemon/prober.h"
#include "client/daemon/profiles.h"
#include "client/daemon/record.h"
#include "client/daemon/service_manager.h"
#include "client/daemon/spawner.h"
#include "client/daemon/surroundings.h"
#include "client/daemon/timestamp.h"
#include "core/port/net_config.h"
#include "core/port/privileges.h"
#include "core/port/process.h"
#include "core/port/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <glib.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct running {
	struct daemon daemon;
	GMainLoop *loop;
	int socket; /* handed over by the service manager; -1 */
	int code;
};

/* The state folder, locked: one daemon for each. The lock goes with the descriptor. */
static int open_state(const char *path)
{
	int folder, lock, error = folder_make(path, 0700);

	if (error) {
		fprintf(stderr, "wgtcpd: %s cannot be made: %s: name another one with --state-dir\n", path,
			strerror(-error));
		return -1;
	}
	folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	lock = folder < 0 ? -1 : openat(folder, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (lock < 0) {
		fprintf(stderr, "wgtcpd: %s cannot be used: %s\n", path, strerror(errno));
		return -1;
	}
	if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
		fprintf(stderr,
			"wgtcpd: another wgtcpd is running with %s: end it first, or take another "
			"--state-dir\n",
			path);
		return -1;
	}
	return folder; /* lock stays open until the process ends */
}

static void ended(void *user)
{
	struct running *running = user;

	g_main_loop_quit(running->loop);
}

static void stop(struct running *running)
{
	manager_stop(running->daemon.manager, ended, running);
}

static gboolean signalled(gpointer user)
{
	struct running *running = user;

	journal_say(running->daemon.journal, JOURNAL_INFO, NULL, "told to end");
	stop(running);
	return G_SOURCE_CONTINUE;
}

static void spawner_lost(void *user)
{
	struct running *running = user;

	journal_say(running->daemon.journal, JOURNAL_ERROR, NULL,
		"the spawner process is gone: no tunnel can be kept, so wgtcpd ends: start it again");
	running->code = 1;
	stop(running);
}

static void lockdown_changed(void *user)
{
	struct running *running = user;

	manager_lockdown_changed(running->daemon.manager);
}

/* The kill switch of a tunnel that is about to come by itself is on before it is up. */
static void hold(struct daemon *daemon, const char *name, const struct profile *profile)
{
	char why[KILL_SWITCH_WHY_LEN];

	if (profile->kill_switch && lockdown_hold(daemon->lockdown, name, profile->kill_switch_lan, why))
		journal_say(daemon->journal, JOURNAL_ERROR, name,
			"the kill switch cannot be put in place: %s", why);
}

/* What the last daemon left shut in was not taken down by anybody: it comes back, or would be shut in for
 * ever. */
static void resume(struct daemon *daemon)
{
	struct lockdown_file held = *lockdown_file(daemon->lockdown);
	size_t i;

	for (i = 0; i < held.count; i++)
		manager_auto_connect(daemon->manager, held.holds[i].name, "the kill switch is on for it");
}

static void auto_connect(struct daemon *daemon)
{
	struct profile_file *files;
	size_t count = profiles_list(daemon->profiles, &files), i;

	for (i = 0; i < count; i++) {
		struct rpc_error error = { 0 };
		struct loaded loaded;

		if (!profiles_load(daemon->profiles, files[i].name, &loaded, &error)) {
			rpc_error_free(&error);
			continue;
		}
		/* Those that name networks: on_demand.c. */
		if (loaded.profile.auto_connect && loaded.profile.trusted_networks.count == 0) {
			hold(daemon, files[i].name, &loaded.profile);
			manager_auto_connect(daemon->manager, files[i].name, "AutoConnect");
		}
		loaded_free(&loaded);
	}
	free(files);
}

static struct address_book *load_address_book(int state_folder)
{
	struct address_book *book = g_new0(struct address_book, 1);
	struct stat info;
	char *text;
	size_t len;

	if (file_read(state_folder, ADDRESS_BOOK_FILE, ADDRESS_BOOK_TEXT_MAX, &text, &len, &info) == 0) {
		address_book_parse(book, text);
		file_free(text, len);
	}
	return book;
}

static struct memory *load_memory(int state_folder)
{
	struct memory *memory = g_new0(struct memory, 1);
	struct stat info;
	char *text;
	size_t len;

	if (file_read(state_folder, MEMORY_FILE, MEMORY_TEXT_MAX, &text, &len, &info) == 0) {
		memory_parse(memory, text);
		file_free(text, len);
	} else {
		memory_init(memory);
	}
	return memory;
}

/* 0, or the process's exit code. */
static int open_all(struct running *running, const struct options *options, int spawner)
{
	struct daemon *daemon = &running->daemon;
	const char *second = strcmp(options->config_folder, DEFAULT_CONFIG_FOLDER) ? NULL : PROFILES_WG_QUICK;
	int error, spare;

	daemon->journal = journal_new(true);
	daemon->profiles = profiles_new(options->config_folder, second);
	if (!daemon->journal || !daemon->profiles)
		daemon_out_of_memory();
	if (!crypto_init()) {
		fputs("wgtcpd: the crypto libraries do not work on this processor\n", stderr);
		return 1;
	}
	daemon->lockdown = lockdown_new(daemon->state_handle, daemon->journal, lockdown_changed, running);
	leftovers_clean(daemon->state_handle, DAEMON_UAPI_FOLDER, daemon->journal);
	spare = leftovers_spare_open(daemon->state_handle, false);
	if (spare >= 0) {
		leftovers_clean(spare, DAEMON_UAPI_FOLDER, daemon->journal);
		close(spare);
	}
	/* Engines of a daemon that died are somebody else's by now: that was the last that took more. No
	 * thread runs yet. */
	error = privileges_keep(PRIVILEGES_MANAGER);
	if (error) {
		journal_say(daemon->journal, JOURNAL_ERROR, NULL, "privileges cannot be given up: %s",
			strerror(-error));
		close(spawner);
		return 1;
	}
	daemon->timestamp_floor = timestamp_load(daemon->state_handle);
	daemon->memory = load_memory(daemon->state_handle);
	daemon->address_book = load_address_book(daemon->state_handle);
	daemon->record = record_new(daemon);
	error = net_config_open(&daemon->net);
	if (error) {
		journal_say(daemon->journal, JOURNAL_ERROR, NULL, "the network cannot be configured: %s",
			strerror(-error));
		close(spawner);
		return 1;
	}
	daemon->children = children_new(spawner, daemon->journal, spawner_lost, running);
	daemon->bus = bus_new();
	daemon->dns = dns_new(daemon);
	daemon->prober = prober_new(daemon);
	daemon->manager = manager_new(daemon);
	daemon->surroundings = surroundings_new(daemon);
	error = listener_open(daemon, options->socket, running->socket, &daemon->listener);
	if (error) {
		journal_say(daemon->journal, JOURNAL_ERROR, NULL, "%s cannot be listened on: %s: %s",
			options->socket, strerror(-error),
			error == -EADDRINUSE ? "another wgtcpd is running"
			: error == -EPERM ? "its folder can be changed by others, who could put a socket of "
					    "theirs there: "
					    "`chown root` it and `chmod go-w` it"
					  : "name another one with --socket");
		return 1;
	}
	return 0;
}

static void close_all(struct daemon *daemon)
{
	listener_close(daemon->listener);
	daemon->listener = NULL;
	surroundings_free(daemon->surroundings);
	daemon->surroundings = NULL;
	manager_free(daemon->manager);
	daemon->manager = NULL;
	record_free(daemon->record);
	prober_free(daemon->prober);
	dns_free(daemon->dns);
	bus_free(daemon->bus);
	children_free(daemon->children);
	net_config_close(daemon->net);
	profiles_free(daemon->profiles);
	lockdown_free(daemon->lockdown);
	journal_free(daemon->journal);
	if (daemon->memory)
		secret_wipe(daemon->memory, sizeof(*daemon->memory));
	g_free(daemon->memory);
	g_free(daemon->address_book);
}

static int run(const struct options *options)
{
	struct running running = { 0 };
	int spawner, ready = -1, error = 0;
	pid_t spawner_pid;

	umask(022);
	running.socket = options->foreground ? service_manager_socket() : -1;
	/* For the engines. */
	process_allow_locked_memory();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	if (!options->foreground)
		error = background_enter(&ready);
	if (!error)
		error = chdir("/") == 0 ? spawner_fork(&spawner, &spawner_pid) : -errno;
	if (error) {
		fprintf(stderr, "wgtcpd: cannot start: %s\n", strerror(-error));
		return 1;
	}
	running.daemon.config_folder = options->config_folder;
	running.daemon.state_folder = options->state_folder;
	running.daemon.state_handle = open_state(options->state_folder);
	if (running.daemon.state_handle < 0)
		return 1;
	running.code = open_all(&running, options, spawner);
	if (running.code == 0) {
		running.loop = g_main_loop_new(NULL, FALSE);
		g_unix_signal_add(SIGTERM, signalled, &running);
		g_unix_signal_add(SIGINT, signalled, &running);
		journal_say(
			running.daemon.journal, JOURNAL_INFO, NULL, "version %s is running", WGTCP_VERSION);
		if (ready >= 0)
			background_ready(ready);
		service_manager_ready();
		auto_connect(&running.daemon);
		resume(&running.daemon);
		g_main_loop_run(running.loop);
		g_main_loop_unref(running.loop);
	}
	close_all(&running.daemon);
	return running.code;
}

static int run_once(const struct options *options)
{
	int folder, error = folder_make(options->state_folder, 0700);

	if (error) {
		fprintf(stderr, "wgtcpd: %s cannot be made: %s\n", options->state_folder, strerror(-error));
		return 1;
	}
	switch (options->task) {
	case OPTIONS_RUN:
		break;
	case OPTIONS_RESTORE:
		/* With the lock: a daemon that runs sees to it itself. */
		folder = open_state(options->state_folder);
		return folder < 0 ? 1 : once_restore(options, folder);
	case OPTIONS_UNLOCK:
		folder = open(options->state_folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		return once_unlock(options, folder);
	}
	return 1;
}

int main(int argc, char **argv)
{
	char *socket, *config_folder, *state_folder;
	struct options options;
	int code;

	streams_hold();
	if (!options_parse(argc, argv, &options, &code))
		return code;
	/* The daemon leaves the folder that it was started in. */
	options.socket = socket = g_canonicalize_filename(options.socket, NULL);
	options.config_folder = config_folder = g_canonicalize_filename(options.config_folder, NULL);
	options.state_folder = state_folder = g_canonicalize_filename(options.state_folder, NULL);
	code = options.task == OPTIONS_RUN ? run(&options) : run_once(&options);
	g_free(socket);
	g_free(config_folder);
	g_free(state_folder);
	return code;
}
