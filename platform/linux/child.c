/* SPDX-License-Identifier: MIT */
/* core/port/child.h on Linux. A server that speaks with the program may have taken it over, so: uid nobody
 * where we are root; no new privileges; none of our descriptors, signals or environment; sockets of IP only,
 * so that neither the daemon's socket nor the desktop's is within reach (seccomp); a bound on memory. Any
 * thread that does not wait for children of others. Source: seccomp(2), prctl(2). */
#include "core/port/child.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define GRACE_MS 200
/* A sanitizer keeps terabytes of addresses in reserve, and the program is not there yet when the bound is
 * set. */
#if defined(__SANITIZE_ADDRESS__)
#define MEMORY_BYTES RLIM_INFINITY
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MEMORY_BYTES RLIM_INFINITY
#endif
#endif
#ifndef MEMORY_BYTES
#define MEMORY_BYTES (1ull << 30)
#endif
/* Where there is no user nobody: the kernel's own overflow id. */
#define NOBODY 65534

static const char *const folders[] = { "/usr/bin", "/usr/local/bin", "/bin" };

struct child {
	pid_t pid;
	int out;
};

struct identity {
	bool change;
	uid_t uid;
	gid_t gid;
};

static struct identity identity_of_child(void)
{
	struct identity identity = { .change = geteuid() == 0, .uid = NOBODY, .gid = NOBODY };
	const struct passwd *nobody = identity.change ? getpwnam("nobody") : NULL;

	if (nobody && nobody->pw_uid && nobody->pw_gid) {
		identity.uid = nobody->pw_uid;
		identity.gid = nobody->pw_gid;
	}
	return identity;
}

static bool become(const struct identity *identity)
{
	if (!identity->change)
		return true;
	return !setgroups(0, NULL) && !setresgid(identity->gid, identity->gid, identity->gid) &&
	       !setresuid(identity->uid, identity->uid, identity->uid);
}

/* Made before the fork, since it takes memory. */
static scmp_filter_ctx make_filter(void)
{
	static const int others[] = { SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv),
		SCMP_SYS(process_vm_writev), SCMP_SYS(pidfd_open), SCMP_SYS(pidfd_getfd), SCMP_SYS(kill),
		SCMP_SYS(tkill), SCMP_SYS(io_uring_setup), SCMP_SYS(bpf), SCMP_SYS(perf_event_open),
		SCMP_SYS(userfaultfd), SCMP_SYS(add_key), SCMP_SYS(request_key), SCMP_SYS(keyctl),
		SCMP_SYS(unshare), SCMP_SYS(setns), SCMP_SYS(socketpair), SCMP_SYS(rt_sigqueueinfo),
		SCMP_SYS(rt_tgsigqueueinfo), SCMP_SYS(pidfd_send_signal) };
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	int err = filter ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < sizeof(others) / sizeof(others[0]); i++)
		err = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), others[i], 0);
	for (unsigned family = 0; !err && family < AF_MAX; family++) {
		/* An int to the kernel, a whole register to the filter: what stands above it counts for
		 * nothing, or a family with a bit up there would not be known again. */
		const struct scmp_arg_cmp is = {
			.arg = 0, .op = SCMP_CMP_MASKED_EQ, .datum_a = 0xffffffffu, .datum_b = family
		};

		if (family != AF_INET && family != AF_INET6)
			err = seccomp_rule_add_array(
				filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), SCMP_SYS(socket), 1, &is);
	}
	if (err && filter) {
		seccomp_release(filter);
		filter = NULL;
	}
	return filter;
}

static int confine(const struct identity *identity, scmp_filter_ctx filter)
{
	const struct rlimit memory = { MEMORY_BYTES, MEMORY_BYTES }, none = { 0, 0 };
	/* abort() is a signal to itself; of nobody else. */
	const struct scmp_arg_cmp other = {
		.arg = 0, .op = SCMP_CMP_NE, .datum_a = (scmp_datum_t)getpid(), .datum_b = 0
	};
	int err = seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(tgkill), 1, &other);

	if (err)
		return err;
	if (!become(identity) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || setrlimit(RLIMIT_AS, &memory) ||
		setrlimit(RLIMIT_CORE, &none))
		return -errno;
	return seccomp_load(filter);
}

int child_confine(void)
{
	struct identity identity = identity_of_child();
	scmp_filter_ctx filter = make_filter();
	int err = filter ? confine(&identity, filter) : -ENOMEM;

	if (filter)
		seccomp_release(filter);
	return err;
}

static void close_from(unsigned first)
{
	if (syscall(SYS_close_range, first, ~0u, 0) != 0) {
		long limit = sysconf(_SC_OPEN_MAX);

		for (long fd = (long)first; fd < limit; fd++)
			close((int)fd);
	}
}

static void usual_signals(void)
{
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* In the new process. */
static void run(const char *path, char *const arguments[], const struct identity *identity,
	scmp_filter_ctx filter, int out, pid_t parent)
{
	char *const environment[] = { "PATH=/usr/bin:/bin", "LC_ALL=C", NULL };
	int null = open("/dev/null", O_RDWR);

	/* Ours, so that Ctrl-C in the terminal reaches us alone, who then end it in order. */
	setsid();
	if (null < 0 || dup2(out, 1) < 0 || dup2(null, 0) < 0 || dup2(null, 2) < 0 || chdir("/"))
		_exit(127);
	close_from(3);
	usual_signals();
	/* A change of identity takes the wish for a signal away, so that comes after it. */
	if (confine(identity, filter) || prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		_exit(127);
	execve(path, arguments, environment);
	_exit(127);
}

static bool find(const char *name, char *out, size_t size)
{
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		if ((size_t)snprintf(out, size, "%s/%s", folders[i], name) < size && !access(out, X_OK))
			return true;
	}
	return false;
}

int child_start(const char *name, char *const arguments[], struct child **out)
{
	struct identity identity = identity_of_child();
	scmp_filter_ctx filter = NULL;
	struct child *child = NULL;
	pid_t parent = getpid();
	char path[256];
	int pipe[2] = { -1, -1 }, err = 0;

	if (!find(name, path, sizeof(path)))
		return -ENOENT;
	child = calloc(1, sizeof(*child));
	filter = make_filter();
	if (!child || !filter) {
		err = -ENOMEM;
		goto out;
	}
	if (pipe2(pipe, O_CLOEXEC)) {
		err = -errno;
		goto out;
	}
	/* Whoever reads would wait there for ever. */
	if (fcntl(pipe[0], F_SETFL, O_NONBLOCK)) {
		err = -errno;
		goto out;
	}
	child->pid = fork();
	if (!child->pid)
		run(path, arguments, &identity, filter, pipe[1], parent);
	if (child->pid < 0) {
		err = -errno;
		goto out;
	}
	child->out = pipe[0];
	pipe[0] = -1;
	*out = child;
	child = NULL;
out:
	if (pipe[0] >= 0)
		close(pipe[0]);
	if (pipe[1] >= 0)
		close(pipe[1]);
	if (filter)
		seccomp_release(filter);
	free(child);
	return err;
}

int child_handle(const struct child *child)
{
	return child->out;
}

long child_read(struct child *child, char *out, size_t size)
{
	ssize_t len;

	do
		len = read(child->out, out, size);
	while (len < 0 && errno == EINTR);
	return len < 0 ? -errno : len;
}

static bool is_gone(pid_t pid)
{
	pid_t gone;

	do
		gone = waitpid(pid, NULL, WNOHANG);
	while (gone < 0 && errno == EINTR);
	return gone != 0;
}

void child_end(struct child *child)
{
	const struct timespec pause = { .tv_nsec = 5000000 };
	bool gone;

	if (!child)
		return;
	/* Nobody reads any more: what it still writes must not hold it up. */
	close(child->out);
	gone = is_gone(child->pid);
	if (!gone)
		kill(child->pid, SIGTERM);
	for (int waited = 0; !gone && waited < GRACE_MS; waited += 5) {
		nanosleep(&pause, NULL);
		gone = is_gone(child->pid);
	}
	if (!gone) {
		kill(child->pid, SIGKILL);
		while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	free(child);
}
