/* SPDX-License-Identifier: MIT */
/* The spawner process: see spawner.h. One thread, no GLib. */
#include "client/daemon/spawner_message.h"
#include "client/daemon/probe.h"
#include "client/daemon/process.h"
#include "client/daemon/resolvconf.h"
#include "client/daemon/speed.h"
#include "core/port/child.h"
#include "core/port/privileged_socket.h"
#include "core/port/privileges.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILDREN_MAX 256
#define SEAM_HANDLE 3
/* The spawner's own. */
#define MESSAGES_HANDLE 3
#define SOCKETS_HANDLE 4

/* The fixed list. Descriptors of the files are opened once, at the start. */
static char *const engine_arguments[] = { "wgtcp-engine", "--inherited", NULL };
static char *const relay_arguments[] = { "wgtcp-relay", "--inherited", NULL };

struct child {
	uint32_t id; /* 0: free */
	pid_t pid;
};

struct spawner {
	int handle, signals, engine, relay;
	struct identity identities[IDENTITY_PROBE + 1];
	struct child children[CHILDREN_MAX];
};

/* Next to the daemon, as installed or in the build's tree, else where the build says that it is installed. */
static int open_program(const char *name, const char *build_folder)
{
	char self[PATH_MAX], path[PATH_MAX + 64];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;
	int fd = -1;

	if (len > 0) {
		self[len] = 0;
		slash = strrchr(self, '/');
		if (slash)
			*slash = 0;
		snprintf(path, sizeof(path), "%s/%s", self, name);
		fd = open(path, O_PATH | O_CLOEXEC);
		if (fd >= 0)
			return fd;
		snprintf(path, sizeof(path), "%s/../%s/%s", self, build_folder, name);
		fd = open(path, O_PATH | O_CLOEXEC);
		if (fd >= 0)
			return fd;
	}
	snprintf(path, sizeof(path), "%s/%s", WGTCP_LIBEXECDIR, name);
	fd = open(path, O_PATH | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "%s/%s", WGTCP_BINDIR, name);
	return open(path, O_PATH | O_CLOEXEC);
}

/* Moves a descriptor out of the way of those that the program gets; -1 stays -1. */
static int move_up(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, 10);
}

static void close_from(unsigned int first)
{
	if (syscall(SYS_close_range, first, ~0u, 0) != 0) {
		long limit = sysconf(_SC_OPEN_MAX), fd;

		for (fd = (long)first; fd < limit; fd++)
			close((int)fd);
	}
}

/* How one of the list is started. */
struct launch {
	int program;      /* opened; -1: path counts, since a script can not be run by its descriptor */
	const char *path; /* absolute */
	char *const *arguments;
	bool reads; /* its first descriptor is its standard input, else SEAM_HANDLE */
	const struct identity
		*identity; /* NULL: stays root, without any capability that the spawner has not */
	bool lasts;  /* ends with the spawner, which ends with the daemon; else it is let finish what it does
		      */
	mode_t mask; /* of the files that it makes */
	bool confined; /* it speaks with peers, so it gets what child.h says */
};

static void usual_signals(void)
{
	sigset_t none;

	signal(SIGTERM, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* In the new process: takes on exactly the descriptors, signals and environment that a program gets. */
static void become(const struct launch *launch, int given, int log, int failure)
{
	char *const environment[] = { "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", NULL };
	uint64_t start_time;
	int program, null, error;

	program = launch->program < 0 ? -1 : move_up(launch->program);
	given = move_up(given);
	log = move_up(log);
	failure = move_up(failure);
	/* Told by itself and first: where /proc hides what other users run, nobody else can read it later. */
	start_time = process_start_time(getpid());
	(void)!write(failure, &start_time, sizeof(start_time));
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if ((program < 0 && launch->program >= 0) || given < 0 || log < 0 || failure < 0 || null < 0 ||
		dup2(launch->reads ? given : null, 0) < 0 || dup2(launch->reads ? log : null, 1) < 0 ||
		dup2(log, 2) < 0 || (!launch->reads && dup2(given, SEAM_HANDLE) < 0))
		goto failed;
	/* program and failure go by themselves with the exec; so that nothing else is left over: */
	if ((program >= 0 && dup3(program, 4, O_CLOEXEC) < 0) || dup3(failure, 5, O_CLOEXEC) < 0)
		goto failed;
	if (launch->reads) {
		close(SEAM_HANDLE);
		close(4);
	}
	close_from(6);
	failure = 5;
	usual_signals();
	if (launch->confined && child_confine() != 0)
		goto failed;
	/* Where no user can be taken on, it stays without privileges who it was, and says so itself. */
	if (launch->identity) {
		error = identity_become(launch->identity);
		if (error && error != -EINVAL && error != -EPERM) {
			errno = -error;
			goto failed;
		}
	}
	/* It never gains a privilege by an exec. A change of user takes the signal back, so it comes after.
	 */
	if ((launch->lasts && prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) ||
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		goto failed;
	umask(launch->mask);
	if (launch->program >= 0)
		syscall(SYS_execveat, 4, "", launch->arguments, environment, AT_EMPTY_PATH);
	else
		execve(launch->path, launch->arguments, environment);
failed:
	error = errno;
	(void)!write(failure, &error, sizeof(error));
	_exit(127);
}

/* All of it, or less at the end. */
static size_t read_all(int fd, void *out, size_t size)
{
	size_t len = 0;
	ssize_t n;

	while (len < size && ((n = read(fd, (char *)out + len, size - len)) > 0 || (n < 0 && errno == EINTR)))
		len += n > 0 ? (size_t)n : 0;
	return len;
}

/* 0 with *pid and *start_time, or an errno. Waits until the program runs or could not be run. */
static int start(const struct launch *launch, const int handles[2], pid_t *pid, uint64_t *start_time)
{
	pid_t parent = getpid(), child;
	int failure[2], error = 0;
	uint64_t began = 0;

	if (launch->program < 0 && !launch->path)
		return ENOENT;
	if (pipe2(failure, O_CLOEXEC) != 0)
		return errno;
	child = fork();
	if (child == 0) {
		if (getppid() != parent)
			_exit(127);
		become(launch, handles[0], handles[1], failure[1]);
	}
	if (child < 0)
		error = errno;
	close(failure[1]);
	if (child > 0) {
		if (read_all(failure[0], &began, sizeof(began)) != sizeof(began))
			began = 0;
		if (read_all(failure[0], &error, sizeof(error)) != sizeof(error))
			error = 0;
		if (error)
			waitpid(child, NULL, 0);
	}
	close(failure[0]);
	if (!error) {
		*pid = child;
		*start_time = began;
	}
	return error;
}

static int start_on_seam(int program, char *const arguments[], const struct identity *identity,
	const int handles[2], pid_t *pid, uint64_t *start_time)
{
	const struct launch launch = {
		.program = program, .arguments = arguments, .identity = identity, .lasts = true, .mask = 077
	};

	/* Without a program `start` would run its path. */
	return program < 0 ? ENOENT : start(&launch, handles, pid, start_time);
}

static int start_resolvconf(
	const struct spawner_message *message, const int handles[2], pid_t *pid, uint64_t *start_time)
{
	struct resolvconf_command command;
	struct launch launch = { .program = -1, .reads = true, .mask = 022 };

	/* The name comes from the daemon, which has checked it; it is still not trusted with an option. */
	if (!memchr(message->name, 0, sizeof(message->name)) ||
		!resolvconf_command(message->name, message->kind == SPAWNER_RESOLVCONF_SET, &command))
		return ENOENT;
	launch.path = command.path;
	launch.arguments = command.arguments;
	return start(&launch, handles, pid, start_time);
}

/* A speed test server: on this address, for what comes by this interface only. */
static int start_iperf(
	const struct spawner_message *message, const int handles[2], pid_t *pid, uint64_t *start_time)
{
	static const char *const paths[] = { "/usr/bin/iperf3", "/usr/local/bin/iperf3" };
	char interface[sizeof(message->name)], address[sizeof(message->address)], port[8];
	char *const arguments[] = { "iperf3", "--server", "--port", port, "--bind", address, "--bind-dev",
		interface, "--rcv-timeout", "20000", NULL };
	struct launch launch = { .program = -1,
		.arguments = arguments,
		.reads = true,
		.lasts = true,
		.mask = 077,
		.confined = true };
	unsigned char bytes[16];
	size_t i;

	memcpy(interface, message->name, sizeof(interface));
	memcpy(address, message->address, sizeof(address));
	if (!interface[0] || interface[0] == '-' || !memchr(interface, 0, sizeof(interface)) ||
		!memchr(address, 0, sizeof(address)) ||
		(inet_pton(AF_INET, address, bytes) != 1 && inet_pton(AF_INET6, address, bytes) != 1))
		return EINVAL;
	snprintf(port, sizeof(port), "%d", SPEED_PORT);
	for (i = 0; i < sizeof(paths) / sizeof(paths[0]) && !launch.path; i++)
		if (access(paths[i], X_OK) == 0)
			launch.path = paths[i];
	return launch.path ? start(&launch, handles, pid, start_time) : ENOENT;
}

static int start_probe(const struct identity *identity, const int handles[2], pid_t *pid)
{
	pid_t parent = getpid(), child = fork();
	int requests, questions, null, i;

	if (child > 0)
		*pid = child;
	if (child != 0)
		return child < 0 ? errno : 0;
	if (getppid() != parent || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
		_exit(127);
	requests = move_up(handles[0]);
	questions = move_up(handles[1]);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (i = 0; i < 3; i++)
		if (dup2(null, i) < 0)
			_exit(127);
	if (dup3(requests, 3, O_CLOEXEC) < 0 || dup3(questions, 4, O_CLOEXEC) < 0)
		_exit(127);
	close_from(5);
	usual_signals();
	probe_run(3, 4, identity);
}

static struct child *find(struct spawner *spawner, uint32_t id)
{
	size_t i;

	for (i = 0; i < CHILDREN_MAX; i++)
		if (spawner->children[i].id == id)
			return &spawner->children[i];
	return NULL;
}

static void report(struct spawner *spawner, struct spawner_message message)
{
	/* Blocking: a report must not be lost, and the daemon always reads. */
	if (spawner_send(spawner->handle, &message, NULL) == -EPIPE)
		_exit(0);
}

static void start_child(struct spawner *spawner, const struct spawner_message *message, const int handles[2])
{
	uint32_t id = message->id;
	struct child *child = id && handles[0] >= 0 && !find(spawner, id) ? find(spawner, 0) : NULL;
	uint64_t start_time = 0;
	pid_t pid = 0;
	int error;

	if (!child)
		error = handles[0] < 0 || !id ? EINVAL : EMFILE;
	else if (message->kind == SPAWNER_START_ENGINE)
		error = start_on_seam(spawner->engine, engine_arguments,
			&spawner->identities[IDENTITY_ENGINE], handles, &pid, &start_time);
	else if (message->kind == SPAWNER_START_RELAY)
		error = start_on_seam(spawner->relay, relay_arguments, &spawner->identities[IDENTITY_RELAY],
			handles, &pid, &start_time);
	else if (message->kind == SPAWNER_START_IPERF)
		error = start_iperf(message, handles, &pid, &start_time);
	else if (message->kind == SPAWNER_START_PROBE)
		error = start_probe(&spawner->identities[IDENTITY_PROBE], handles, &pid);
	else
		error = start_resolvconf(message, handles, &pid, &start_time);
	if (error) {
		report(spawner,
			(struct spawner_message){ .kind = SPAWNER_FAILED, .id = id, .status = error });
		return;
	}
	*child = (struct child){ id, pid };
	report(spawner, (struct spawner_message){
				.kind = SPAWNER_STARTED, .id = id, .pid = pid, .start_time = start_time });
}

static void reap(struct spawner *spawner)
{
	pid_t pid;
	int status;
	size_t i;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (i = 0; i < CHILDREN_MAX; i++) {
			struct child child = spawner->children[i];

			if (!child.id || child.pid != pid)
				continue;
			spawner->children[i] = (struct child){ 0 };
			report(spawner, (struct spawner_message){ .kind = SPAWNER_EXITED,
						.id = child.id,
						.pid = pid,
						.status = status });
		}
}

static void end_children(struct spawner *spawner)
{
	size_t i;

	for (i = 0; i < CHILDREN_MAX; i++)
		if (spawner->children[i].id)
			kill(spawner->children[i].pid, SIGKILL);
}

static void obey(struct spawner *spawner)
{
	struct spawner_message message;
	struct child *child;
	int handles[2];

	switch (spawner_take(spawner->handle, &message, handles)) {
	case 0:
		break;
	case -EAGAIN:
	case -EBADMSG:
		return;
	default: /* an errno: the daemon is gone */
		end_children(spawner);
		_exit(0);
	}
	switch ((enum spawner_kind)message.kind) {
	case SPAWNER_START_ENGINE:
	case SPAWNER_START_RELAY:
	case SPAWNER_START_PROBE:
	case SPAWNER_START_IPERF:
	case SPAWNER_RESOLVCONF_SET:
	case SPAWNER_RESOLVCONF_CLEAR:
		start_child(spawner, &message, handles);
		break;
	case SPAWNER_KILL:
		child = message.id ? find(spawner, message.id) : NULL;
		if (child)
			kill(child->pid, SIGKILL);
		break;
	case SPAWNER_STARTED:
	case SPAWNER_FAILED:
	case SPAWNER_EXITED:
		break;
	}
	if (handles[0] >= 0) {
		close(handles[0]);
		close(handles[1]);
	}
}

static _Noreturn void run(struct spawner *spawner)
{
	struct pollfd wait[3] = { { .fd = spawner->handle, .events = POLLIN },
		{ .fd = spawner->signals, .events = POLLIN }, { .fd = SOCKETS_HANDLE, .events = POLLIN } };
	struct signalfd_siginfo info;

	for (;;) {
		if (poll(wait, 3, -1) < 0)
			continue;
		if (wait[1].revents && read(spawner->signals, &info, sizeof(info)) > 0)
			reap(spawner);
		if (wait[2].revents && privileged_socket_serve(SOCKETS_HANDLE) != 0)
			wait[2].fd = -1; /* the end of the other one is told at once, too */
		if (wait[0].revents)
			obey(spawner);
	}
}

int spawner_fork(int *handle, pid_t *pid)
{
	struct spawner *spawner;
	sigset_t children;
	int pair[2], sockets[2], error, i;
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return -errno;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) {
		error = -errno;
		close(pair[0]);
		close(pair[1]);
		return error;
	}
	/* The daemon would wait for the spawner's word for ever. */
	child = fcntl(pair[0], F_SETFL, O_NONBLOCK) == 0 ? fork() : -1;
	if (child < 0) {
		error = -errno;
		for (i = 0; i < 2; i++) {
			close(pair[i]);
			close(sockets[i]);
		}
		return error;
	}
	if (child > 0) {
		close(pair[1]);
		close(sockets[1]);
		privileged_socket_use(sockets[0]);
		*handle = pair[0];
		*pid = child;
		return 0;
	}
	/* The daemon's lock and whatever else it had open is none of ours. */
	pair[1] = move_up(pair[1]);
	sockets[1] = move_up(sockets[1]);
	if (dup3(pair[1], MESSAGES_HANDLE, O_CLOEXEC) < 0 || dup3(sockets[1], SOCKETS_HANDLE, O_CLOEXEC) < 0)
		_exit(1);
	close_from(SOCKETS_HANDLE + 1);
	prctl(PR_SET_NAME, "wgtcpd-spawner");
	/* A signal to the whole group means the daemon, which takes its tunnels down first. */
	signal(SIGTERM, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&children);
	sigaddset(&children, SIGCHLD);
	sigprocmask(SIG_BLOCK, &children, NULL);
	spawner = calloc(1, sizeof(*spawner));
	if (!spawner)
		_exit(1);
	spawner->handle = MESSAGES_HANDLE;
	spawner->engine = open_program("wgtcp-engine", "engine");
	spawner->relay = open_program("wgtcp-relay", "relay");
	spawner->signals = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
	for (i = 0; i <= IDENTITY_PROBE; i++)
		spawner->identities[i] = identity_find((enum identity_of)i);
	if (spawner->signals < 0 || privileges_keep(PRIVILEGES_SPAWNER) != 0)
		_exit(1);
	run(spawner);
}
