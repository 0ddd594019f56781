/* SPDX-License-Identifier: MIT */
/* wgtcp-engine: the engine below wgtcpd (--inherited), or alone as a drop-in for other userspace
 * implementations. Alone it is two processes: the dialler, which keeps its privileges and runs the front, and
 * its child, the engine, which has only the seam. Each has one thread. */
#include "client/engine/engine.h"
#include "core/port/front.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define UAPI_DIRECTORY "/var/run/wireguard"
#define SEAM_HANDLE 3
#define STOP_WAIT_MS 2000

static const char help[] =
	"wgtcp-engine - WireGuard in userspace, over UDP and TCP\n"
	"\n"
	"usage: wgtcp-engine [-f|--foreground] IFNAME\n"
	"       wgtcp-engine --inherited\n"
	"       wgtcp-engine --version | --help\n"
	"\n"
	"Makes the TUN device IFNAME and its configuration socket " UAPI_DIRECTORY "/IFNAME.sock,\n"
	"and then runs in the background. Configure it with wg(8), or have wg-quick(8) do it all:\n"
	"\n"
	"  WG_QUICK_USERSPACE_IMPLEMENTATION=wgtcp-engine wg-quick up NAME\n"
	"\n"
	"  -f, --foreground  stay in the foreground (also with WG_PROCESS_FOREGROUND=1 in the environment)\n"
	"      --inherited   take the device and all sockets from wgtcpd by descriptor 3\n"
	"\n"
	"It ends on SIGTERM or SIGINT, and when the device is deleted (ip link delete IFNAME).\n";

static int complain(const char *sentence)
{
	fprintf(stderr, "wgtcp-engine: %s\n", sentence);
	return 1;
}

static int complain_open(const char *interface, int err)
{
	switch (-err) {
	case EPERM:
	case EACCES:
		fprintf(stderr,
			"wgtcp-engine: making the device %s needs root (or CAP_NET_ADMIN); run it with "
			"sudo.\n",
			interface);
		break;
	case EBUSY:
		fprintf(stderr,
			"wgtcp-engine: there is already an interface %s; remove it with `ip link delete %s`, "
			"or choose "
			"another name.\n",
			interface, interface);
		break;
	case EADDRINUSE:
		fprintf(stderr,
			"wgtcp-engine: another engine already serves %s (%s/%s.sock); stop that one first.\n",
			interface, UAPI_DIRECTORY, interface);
		break;
	case EINVAL:
	case ENAMETOOLONG:
		fprintf(stderr,
			"wgtcp-engine: \"%s\" can not be the name of an interface; use 1 to 15 letters, "
			"digits or "
			"_=+.-\n",
			interface);
		break;
	case ENOENT:
	case ENODEV:
	case ENXIO:
		fprintf(stderr, "wgtcp-engine: this kernel has no TUN devices; load the module with "
				"`modprobe tun`.\n");
		break;
	default:
		fprintf(stderr, "wgtcp-engine: %s could not be set up: %s.\n", interface, strerror(-err));
	}
	return 1;
}

static int run_inherited(void)
{
	int err;

	signal(SIGPIPE, SIG_IGN);
	err = engine_run_inherited(SEAM_HANDLE);
	if (err)
		fprintf(stderr, "wgtcp-engine: the engine stopped: %s.\n", strerror(-err));
	return err ? 1 : 0;
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
static pid_t start_engine(int handle, bool foreground)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	if (handle != SEAM_HANDLE && dup2(handle, SEAM_HANDLE) < 0)
		_exit(1);
	close_range(SEAM_HANDLE + 1, ~0u, 0);
	/* A background service must not keep the terminal, or a pipe that somebody reads to its end. */
	if (!foreground)
		discard(0, 2);
	/* Ctrl-C reaches both processes; the dialler then stops the engine in order. */
	signal(SIGINT, SIG_IGN);
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_NAME, "wgtcp-engine");
	_exit(run_inherited());
}

/* Ends the engine: it is asked, and after a while made to. */
static void stop_engine(struct front *front, pid_t pid)
{
	const struct seam_message stop = { .kind = SEAM_STOP };
	struct timespec pause = { .tv_nsec = 10000000 };

	(void)front_send(front, &stop);
	for (int waited_ms = 0; waited_ms < STOP_WAIT_MS; waited_ms += 10) {
		if (waitpid(pid, NULL, WNOHANG) != 0)
			return;
		nanosleep(&pause, NULL);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

enum ending { GO_ON, END, END_ENGINE_GONE };

/* Takes what the front has to tell. ready: the write end of the parent's pipe, -1 once it has been told. */
static enum ending take_events(struct front *front, int *ready)
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
		case FRONT_NOTHING:
		case FRONT_PEER_CHANGED:
		case FRONT_MARK:
		case FRONT_REMEMBER:
		case FRONT_RESOLVE:
		case FRONT_NETWORK:
			break; /* of use to a daemon only */
		}
	}
	return GO_ON;
}

/* The dialler: runs the front until told to stop. ready: as in take_events; -1 in the foreground. */
static int run_dialler(const char *interface, int ready)
{
	struct front_settings settings = { .interface = interface, .uapi_directory = UAPI_DIRECTORY };
	struct front *front = NULL;
	enum ending ending = GO_ON;
	bool foreground = ready < 0;
	int handle, signals, err;
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGINT);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	signal(SIGPIPE, SIG_IGN);
	signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals < 0)
		return complain("signals could not be set up.");
	err = front_open(&settings, &front, &handle);
	if (err)
		return complain_open(interface, err);
	pid_t engine = start_engine(handle, foreground);
	close(handle);
	if (engine < 0) {
		front_close(front);
		return complain("a process for the engine could not be started.");
	}
	while (ending == GO_ON) {
		struct pollfd wait[2] = { { .fd = front_handle(front), .events = POLLIN },
			{ .fd = signals, .events = POLLIN } };

		if (poll(wait, 2, -1) < 0 && errno != EINTR)
			break;
		ending = wait[1].revents ? END : take_events(front, &ready);
	}
	if (ending == END_ENGINE_GONE)
		complain(foreground ? "the engine ended by itself; its message stands above."
				    : "the engine ended by itself; run it with -f to see why.");
	stop_engine(front, engine);
	front_close(front);
	return ending == END ? 0 : 1;
}

/* Returns to the caller's shell when all is ready, with the dialler in the background. */
static int run_in_background(const char *interface)
{
	int ready[2];
	char byte;
	ssize_t n;

	if (pipe2(ready, O_CLOEXEC) < 0)
		return complain("a pipe could not be made.");
	pid_t pid = fork();
	if (pid < 0)
		return complain("a process for the dialler could not be started.");
	if (pid == 0) {
		close(ready[0]);
		setsid();
		if (chdir("/") < 0)
			_exit(1);
		exit(run_dialler(interface, ready[1]));
	}
	close(ready[1]);
	do
		n = read(ready[0], &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n == 1)
		return 0;
	/* It has ended, and has said why. */
	waitpid(pid, NULL, 0);
	return 1;
}

int main(int argc, char **argv)
{
	const char *environment = getenv("WG_PROCESS_FOREGROUND");
	bool foreground = environment && strcmp(environment, "1") == 0;
	const char *interface = NULL;

	if (argc == 2 && strcmp(argv[1], "--inherited") == 0)
		return run_inherited();
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
			fputs(help, stdout);
			return 0;
		}
		if (strcmp(argv[i], "--version") == 0) {
			puts("wgtcp-engine " WGTCP_VERSION);
			return 0;
		}
		if (strcmp(argv[i], "-f") == 0 || strcmp(argv[i], "--foreground") == 0) {
			foreground = true;
		} else if (argv[i][0] == '-' || interface) {
			fprintf(stderr,
				"wgtcp-engine: \"%s\" is not understood here; see wgtcp-engine --help.\n",
				argv[i]);
			return 2;
		} else {
			interface = argv[i];
		}
	}
	if (!interface) {
		complain("the name of an interface is missing; see wgtcp-engine --help.");
		return 2;
	}
	return foreground ? run_dialler(interface, -1) : run_in_background(interface);
}
