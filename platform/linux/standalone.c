/* SPDX-License-Identifier: MIT */
/* An engine without a daemon. The caller becomes the dialler (in the background: its child does), and its
 * child the engine. Each has one thread. */
#include "core/port/standalone.h"

#include "core/port/front.h"
#include "core/port/privileges.h"
#include "core/port/process.h"
#include "core/port/sandbox.h"
#include "platform/linux/engine_socket.h"
#include "platform/linux/timestamp_mark.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SEAM_HANDLE 3
#define STOP_WAIT_MS 2000

static int complain(const struct standalone_settings *settings, const char *sentence)
{
	fprintf(stderr, "%s: %s\n", settings->program, sentence);
	return 1;
}

static int complain_open(const struct standalone_settings *settings, int err)
{
	const char *name = settings->interface;
	char sentence[256];

	switch (-err) {
	case EPERM:
	case EACCES:
		snprintf(sentence, sizeof(sentence),
			"making the device %s needs root (or CAP_NET_ADMIN); run it with sudo.", name);
		break;
	case EBUSY:
		snprintf(sentence, sizeof(sentence),
			"there is already an interface %s; remove it with `ip link delete %s`, or choose "
			"another name.",
			name, name);
		break;
	case EADDRINUSE:
		snprintf(sentence, sizeof(sentence),
			"another engine already serves %s (%s/%s.sock); stop that one first.", name,
			settings->uapi_directory, name);
		break;
	case EINVAL:
	case ENAMETOOLONG:
		snprintf(sentence, sizeof(sentence),
			"\"%.32s\" can not be the name of an interface; use 1 to 15 letters, digits or _=+.-",
			name);
		break;
	case ENODEV:
	case ENXIO:
		snprintf(sentence, sizeof(sentence),
			"this kernel has no TUN devices; load the module with `modprobe tun`.");
		break;
	default:
		snprintf(sentence, sizeof(sentence), "%s could not be set up: %s.", name, strerror(-err));
	}
	return complain(settings, sentence);
}

static void discard(int from, int to)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = from; null >= 0 && fd <= to; fd++)
		if (fd != null)
			dup2(null, fd);
	if (null > to)
		close(null);
}

/* The child that becomes the engine: nothing of the front but its end of the seam. */
static pid_t start_engine(
	const struct standalone_settings *settings, const struct identity *identity, int handle)
{
	pid_t parent = getpid(), pid = fork();
	sigset_t none;

	if (pid)
		return pid;
	if (handle != SEAM_HANDLE && dup2(handle, SEAM_HANDLE) < 0)
		_exit(1);
	close_range(SEAM_HANDLE + 1, ~0u, 0);
	/* A background service must not keep the terminal, or a pipe that somebody reads to its end. */
	if (!settings->foreground)
		discard(0, 2);
	/* It shuts itself in; it is somebody else from the first on. A failure is told there. */
	(void)identity_become(identity);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
		_exit(1);
	/* Ctrl-C reaches both processes; the dialler then stops the engine in order. */
	signal(SIGINT, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	int err = settings->engine(SEAM_HANDLE);
	if (err)
		fprintf(stderr, "%s: the engine stopped: %s.\n", settings->program, strerror(-err));
	_exit(err ? 1 : 0);
}

/* Gives the engine's end of the seam to a process that is there already. 0, or -1 after a sentence. */
static pid_t hand_over(const struct standalone_settings *settings, int handle)
{
	char sentence[256];
	int err = engine_socket_give(settings->engine_socket, handle);

	if (!err)
		return 0;
	snprintf(sentence, sizeof(sentence), "no engine takes over at %.100s: %s.", settings->engine_socket,
		strerror(-err));
	complain(settings, sentence);
	return -1;
}

/* In the background the engine's own words reach nobody. */
static void say_lacks(const struct standalone_settings *settings)
{
	char lacks[SANDBOX_LACKS_LEN];

	if (settings->foreground)
		return;
	sandbox_lacks(lacks);
	if (lacks[0])
		fprintf(stderr, "%s: the engine runs without %s.\n", settings->program, lacks);
}

/* Ends the engine: it is asked, and after a while made to. */
static void stop_engine(struct front *front, pid_t pid)
{
	const struct seam_message stop = { .kind = SEAM_STOP };
	const struct timespec pause = { .tv_nsec = 10000000 };

	(void)front_send(front, &stop);
	/* Somebody else's child ends when the seam does. */
	if (pid == 0)
		return;
	for (int waited_ms = 0; waited_ms < STOP_WAIT_MS; waited_ms += 10) {
		if (waitpid(pid, NULL, WNOHANG) != 0)
			return;
		nanosleep(&pause, NULL);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

enum ending { GO_ON, END, END_ENGINE_GONE };

/* Takes what the front has to tell. ready: the write end of the waiting parent's pipe, -1 once it has been
 * told. */
static enum ending take_events(const struct standalone_settings *settings, struct front *front, int *ready)
{
	struct front_event event;

	while (front_turn(front, &event) > 0) {
		switch (event.kind) {
		case FRONT_READY:
			if (*ready >= 0) {
				(void)!write(*ready, "", 1);
				close(*ready);
				*ready = -1;
				discard(0, 2);
			}
			break;
		case FRONT_LINK_GONE:
			return END;
		case FRONT_ENGINE_GONE:
			return END_ENGINE_GONE;
		case FRONT_MARK:
			/* A machine that can keep nothing still has a tunnel. */
			if (settings->state_directory)
				(void)timestamp_mark_write(
					settings->state_directory, settings->interface, event.wall);
			break;
		case FRONT_NOTHING:
		case FRONT_PEER_CHANGED:
		case FRONT_REMEMBER:
		case FRONT_RESOLVE:
		case FRONT_NETWORK:
			break; /* of use to a daemon only */
		}
	}
	return GO_ON;
}

/* ready: as in take_events; -1 in the foreground. */
static int run_dialler(const struct standalone_settings *settings, int ready)
{
	struct front_settings wanted = { .interface = settings->interface,
		.uapi_directory = settings->uapi_directory };
	struct front *front = NULL;
	struct identity identity = identity_find(IDENTITY_ENGINE);
	enum ending ending = GO_ON;
	int handle, signals, err;
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGINT);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	signal(SIGPIPE, SIG_IGN);
	signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals < 0)
		return complain(settings, "signals could not be set up.");
	if (settings->state_directory)
		wanted.timestamp_floor = timestamp_mark_read(settings->state_directory, settings->interface);
	err = front_open(&wanted, &front, &handle);
	if (err)
		return complain_open(settings, err);
	say_lacks(settings);
	process_allow_locked_memory();
	pid_t engine = settings->engine_socket ? hand_over(settings, handle)
					       : start_engine(settings, &identity, handle);
	close(handle);
	/* What it no longer needs to become: somebody else. */
	if (engine >= 0 && privileges_keep(PRIVILEGES_DIALLER) != 0) {
		stop_engine(front, engine);
		front_close(front);
		return complain(settings, "privileges could not be given up.");
	}
	if (engine < 0) {
		front_close(front);
		return complain(settings, "a process for the engine could not be started.");
	}
	while (ending == GO_ON) {
		struct pollfd wait[2] = { { .fd = front_handle(front), .events = POLLIN },
			{ .fd = signals, .events = POLLIN } };

		if (poll(wait, 2, -1) < 0 && errno != EINTR)
			break;
		ending = wait[1].revents ? END : take_events(settings, front, &ready);
	}
	if (ending == END_ENGINE_GONE)
		complain(settings, settings->foreground
					   ? "the engine ended by itself."
					   : "the engine ended by itself; run it with -f to see why.");
	stop_engine(front, engine);
	front_close(front);
	return ending == END ? 0 : 1;
}

/* Returns to the caller's shell when all is ready, with the dialler in the background. */
static int run_in_background(const struct standalone_settings *settings)
{
	int ready[2];
	char byte;
	ssize_t n;

	if (pipe2(ready, O_CLOEXEC) < 0)
		return complain(settings, "a pipe could not be made.");
	pid_t pid = fork();
	if (pid < 0)
		return complain(settings, "a process for the dialler could not be started.");
	if (pid == 0) {
		close(ready[0]);
		setsid();
		if (chdir("/") < 0)
			_exit(1);
		exit(run_dialler(settings, ready[1]));
	}
	close(ready[1]);
	do
		n = read(ready[0], &byte, 1);
	while (n < 0 && errno == EINTR);
	close(ready[0]);
	if (n == 1)
		return 0;
	/* It has ended, and has said why. */
	waitpid(pid, NULL, 0);
	return 1;
}

int standalone_run(const struct standalone_settings *settings)
{
	return settings->foreground ? run_dialler(settings, -1) : run_in_background(settings);
}

int standalone_serve(const char *program, int (*engine)(int seam_handle))
{
	int seam, err = engine_socket_take(&seam);

	if (err == -EBADF) {
		fprintf(stderr, "%s: --activated needs one listening socket from the service manager.\n",
			program);
		return 1;
	}
	if (!err)
		err = engine(seam);
	if (err)
		fprintf(stderr, "%s: the engine stopped: %s.\n", program, strerror(-err));
	return err ? 1 : 0;
}
