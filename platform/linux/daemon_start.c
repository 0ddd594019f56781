/* SPDX-License-Identifier: MIT */
/* core/port/daemon_start.h on Linux: fork, a session of its own, exec. Nothing of the caller's environment is
 * handed on: what a person happens to have set must not decide how a root process runs. */
#include "core/port/daemon_start.h"

#include "core/port/ipc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATH_ROOM 512
#define POLL_MS 20
/* A log that is larger than this at a start begins anew. */
#define LOG_MAX (1 << 20)

/* Against the folder of our own binary; the last is how a build tree lies. */
static const char *const beside[] = { "", "../sbin/", "../libexec/wgtcp/", "../daemon/" };
static const char *const installed[] = { "/usr/sbin/wgtcpd", "/usr/local/sbin/wgtcpd",
	"/usr/libexec/wgtcp/wgtcpd", "/usr/local/libexec/wgtcp/wgtcpd" };

static bool find_daemon(char *out, size_t size)
{
	char own[PATH_ROOM];
	ssize_t len = readlink("/proc/self/exe", own, sizeof(own) - 1);

	if (len > 0) {
		own[len] = '\0';
		char *slash = strrchr(own, '/');

		if (slash)
			slash[1] = '\0';
		for (size_t i = 0; slash && i < sizeof(beside) / sizeof(beside[0]); i++) {
			if ((size_t)snprintf(out, size, "%s%swgtcpd", own, beside[i]) < size &&
				!access(out, X_OK))
				return true;
		}
	}
	for (size_t i = 0; i < sizeof(installed) / sizeof(installed[0]); i++) {
		if ((size_t)snprintf(out, size, "%s", installed[i]) < size && !access(out, X_OK))
			return true;
	}
	return false;
}

/* A file of ours beside the socket for what the daemon says on its standard error, else /dev/null. */
static int open_log(const char *socket_path, char *path, size_t size)
{
	const char *slash = strrchr(socket_path, '/');
	int dir_len = slash ? (int)(slash - socket_path) : 0;
	struct stat stat;
	int fd = -1;

	if (slash && (size_t)snprintf(path, size, "%.*s", dir_len, socket_path) < size)
		mkdir(path, 0755); /* only if it is missing */
	if (slash && (size_t)snprintf(path, size, "%.*s/wgtcpd.log", dir_len, socket_path) < size)
		fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	/* In a folder that others may write to, it may be theirs. */
	if (fd >= 0 && (fstat(fd, &stat) || !S_ISREG(stat.st_mode) || stat.st_uid != geteuid())) {
		close(fd);
		fd = -1;
	}
	if (fd >= 0 && stat.st_size > LOG_MAX && ftruncate(fd, 0)) {
		close(fd);
		fd = -1;
	}
	if (fd < 0) {
		path[0] = '\0';
		fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	}
	return fd;
}

/* In the child; does not return. */
static void become(const char *binary, char *const arguments[], int log)
{
	char *const environment[] = {
		(char *)"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", NULL
	};
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	umask(022);
	if (setsid() < 0 || chdir("/") || null < 0 || dup2(null, STDIN_FILENO) < 0 ||
		dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0)
		_exit(127);
	close_range(3, ~0u, 0);
	execve(binary, arguments, environment);
	_exit(127);
}

static void become_daemon(const char *binary, const char *socket_path, int log)
{
	char *const arguments[] = { (char *)"wgtcpd", (char *)"--foreground", (char *)"--socket",
		(char *)socket_path, NULL };

	become(binary, arguments, log);
}

/* In the child; does not return. Its messages go to `said`. */
static void become_unlock(const char *binary, const char *seconds, int said)
{
	char *arguments[] = { (char *)"wgtcpd", (char *)"--unlock", NULL, NULL, NULL };

	if (seconds[0]) {
		arguments[2] = (char *)"--for";
		arguments[3] = (char *)seconds;
	}
	become(binary, arguments, said);
}

int daemon_unlock(uint32_t for_s, char *said, size_t size)
{
	char binary[PATH_ROOM], seconds[16] = "";
	int ends[2], status, err = 0;
	size_t len = 0;
	ssize_t got;
	pid_t pid;

	said[0] = '\0';
	if (!find_daemon(binary, sizeof(binary)))
		return -ENOENT;
	if (for_s)
		snprintf(seconds, sizeof(seconds), "%u", for_s);
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (pid < 0)
		err = -errno;
	if (!pid)
		become_unlock(binary, seconds, ends[1]);
	close(ends[1]);
	while (!err && len + 1 < size &&
		((got = read(ends[0], said + len, size - 1 - len)) > 0 || (got < 0 && errno == EINTR)))
		len += got > 0 ? (size_t)got : 0;
	close(ends[0]);
	if (err)
		return err;
	said[len] = '\0';
	said[strcspn(said, "\n")] = '\0';
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -ECHILD;
}

const char *daemon_start_advice(void)
{
	/* Where systemd runs, as sd_booted(3) tells it. */
	return access("/run/systemd/system", F_OK) ? "`sudo wgtcpd`" : "`sudo systemctl start wgtcpd`";
}

/* 0: the socket answers; -ENOENT or -ECONNREFUSED: not yet. */
static int try_socket(const char *path)
{
	struct ipc *ipc;
	int err = ipc_connect(path, &ipc);

	if (!err)
		ipc_close(ipc);
	return err;
}

int daemon_start(const char *socket_path, uint32_t wait_ms, char *log_path, size_t size)
{
	struct timespec pause = { .tv_nsec = POLL_MS * 1000000L };
	char binary[PATH_ROOM], absolute[PATH_ROOM];
	int log, status, err;
	pid_t pid;

	log_path[0] = '\0';
	/* The daemon runs in "/". */
	if (socket_path[0] == '/')
		absolute[0] = '\0';
	else if (!getcwd(absolute, sizeof(absolute) - 1))
		return -errno;
	else
		strcat(absolute, "/");
	if (strlen(absolute) + strlen(socket_path) >= sizeof(absolute))
		return -ENAMETOOLONG;
	strcat(absolute, socket_path);
	if (!find_daemon(binary, sizeof(binary)))
		return -ENOENT;
	log = open_log(absolute, log_path, size);
	if (log < 0)
		return -errno;
	pid = fork();
	if (pid < 0) {
		err = -errno;
		close(log);
		return err;
	}
	if (!pid)
		become_daemon(binary, absolute, log);
	close(log);
	for (uint32_t waited = 0; waited < wait_ms; waited += POLL_MS) {
		err = try_socket(absolute);
		if (!err || (err != -ENOENT && err != -ECONNREFUSED))
			return err;
		/* Another one, started at the same time, may have won and made ours end: look once more. */
		if (waitpid(pid, &status, WNOHANG) == pid)
			return try_socket(absolute) ? -ECHILD : 0;
		nanosleep(&pause, NULL);
	}
	return -ETIMEDOUT;
}
