/* SPDX-License-Identifier: MIT */
/* What a process can still do once it has shut itself in: each attempt in a child of its own, whose end
 * tells. */
#include "core/port/privileges.h"
#include "core/port/sandbox.h"
#include "platform/linux/sanitized.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* How an attempt may end. */
enum end { WORKS, REFUSED, KILLED };

#define NO_SANDBOX 200

static int ends[2], kept = -1;

/* Each returns -1 with errno, or not. */
static int open_file(void)
{
	return open("/etc/passwd", O_RDONLY);
}
static int open_relative(void)
{
	return openat(kept, "passwd", O_RDONLY);
}
static int make_file(void)
{
	return open("/tmp/wgtcp-sandbox", O_WRONLY | O_CREAT, 0600);
}
static int look(void)
{
	return access("/etc", F_OK);
}
static int make_folder(void)
{
	return mkdirat(AT_FDCWD, "/tmp/wgtcp-sandbox", 0700);
}
static int remove_file(void)
{
	return unlink("/etc/passwd");
}
static int start_program(void)
{
	char *const arguments[] = { "true", NULL };

	return execve("/bin/true", arguments, arguments + 1);
}
static int make_process(void)
{
	return fork();
}
static int signal_parent(void)
{
	return kill(getppid(), 0);
}
static int trace_parent(void)
{
	return (int)ptrace(PTRACE_ATTACH, getppid(), NULL, NULL);
}
static int read_parent(void)
{
	char byte;
	struct iovec here = { &byte, 1 }, there = { &byte, 1 };

	return (int)process_vm_readv(getppid(), &here, 1, &there, 1, 0);
}
static int new_tcp(void)
{
	return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}
static int new_udp(void)
{
	return socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}
static int new_unix(void)
{
	return socket(AF_UNIX, SOCK_STREAM, 0);
}
static int new_netlink(void)
{
	return socket(AF_NETLINK, SOCK_RAW, 0);
}
static int new_raw(void)
{
	return socket(AF_INET, SOCK_RAW, 1);
}
static int run_memory(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
			       MAP_FAILED
		       ? -1
		       : 0;
}
static int make_memory_run(void)
{
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return mprotect(memory, 4096, PROT_READ | PROT_EXEC);
}
static int become_root(void)
{
	return setuid(0);
}
static int new_namespace(void)
{
	return (int)syscall(SYS_unshare, 0x10000000);
}
static int be_dumpable(void)
{
	return prctl(PR_SET_DUMPABLE, 1);
}
static int type_into_terminal(void)
{
	return ioctl(0, TIOCSTI, "x");
}
static int load_program(void)
{
	return (int)syscall(SYS_bpf, 0, NULL, 0);
}
static int new_ring(void)
{
	return (int)syscall(SYS_io_uring_setup, 1, NULL);
}

static int pass_on(void)
{
	char byte = 1;

	return write(ends[1], &byte, 1) == 1 && read(ends[0], &byte, 1) == 1 ? 0 : -1;
}
static int take_memory(void)
{
	/* More than a heap has at the start, and from its own mapping. */
	void *small = malloc(100000), *large = malloc(8u << 20);

	memset(small, 1, 100000);
	memset(large, 1, 8u << 20);
	free(large);
	free(small);
	return 0;
}
static int say(void)
{
	return fprintf(stderr, "%s", "") < 0 ? -1 : 0;
}
static int abort_itself(void)
{
	abort();
	return 0;
}

static const struct attempt {
	const char *name;
	int (*make)(void);
	enum end engine, server;
} attempts[] = {
	{ "use what is open", pass_on, WORKS, WORKS },
	{ "take memory", take_memory, WORKS, WORKS },
	{ "say something", say, WORKS, WORKS },
	{ "open a file", open_file, REFUSED, REFUSED },
	{ "open a file in an open folder", open_relative, REFUSED, REFUSED },
	{ "make a file", make_file, REFUSED, REFUSED },
	{ "look for a file", look, REFUSED, REFUSED },
	{ "make a folder", make_folder, KILLED, KILLED },
	{ "remove a file", remove_file, KILLED, KILLED },
	{ "start a program", start_program, KILLED, KILLED },
	{ "make a process", make_process, KILLED, KILLED },
	{ "send a signal", signal_parent, KILLED, KILLED },
	{ "trace a process", trace_parent, KILLED, KILLED },
	{ "read another's memory", read_parent, KILLED, KILLED },
	{ "open a TCP socket", new_tcp, KILLED, KILLED },
	{ "open a UDP socket", new_udp, KILLED, WORKS },
	{ "open a unix socket", new_unix, KILLED, KILLED },
	{ "open a netlink socket", new_netlink, KILLED, KILLED },
	{ "open a raw socket", new_raw, KILLED, KILLED },
	{ "map memory to run", run_memory, KILLED, KILLED },
	{ "make memory run", make_memory_run, KILLED, KILLED },
	{ "become root", become_root, KILLED, KILLED },
	{ "enter a user namespace", new_namespace, KILLED, KILLED },
	{ "be looked into", be_dumpable, KILLED, KILLED },
	{ "type into the terminal", type_into_terminal, KILLED, KILLED },
	{ "load a program into the kernel", load_program, KILLED, KILLED },
	{ "open an io_uring", new_ring, KILLED, KILLED },
};

/* The child's end as waitpid has it. */
static int try_it(int (*make)(void), enum sandbox which)
{
	char lacks[SANDBOX_LACKS_LEN];
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (sandbox_enter(which, lacks) != 0 || strstr(lacks, "system calls") ||
			strstr(lacks, "Landlock"))
			_exit(NO_SANDBOX);
		_exit(make() < 0 ? (errno == EACCES || errno == EPERM ? 1 : 2) : 0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void check(const struct attempt *attempt, enum sandbox which, enum end want)
{
	int status = try_it(attempt->make, which);

	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_SANDBOX) {
		print_message("this kernel lacks a piece: not looked at\n");
		return;
	}
	switch (want) {
	case WORKS:
		if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
			fail_msg("%s: status %x", attempt->name, (unsigned int)status);
		break;
	case REFUSED:
		if (!WIFEXITED(status) || WEXITSTATUS(status) != 1)
			fail_msg("%s is not refused: status %x", attempt->name, (unsigned int)status);
		break;
	case KILLED:
		if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSYS)
			fail_msg("%s does not end it: status %x", attempt->name, (unsigned int)status);
		break;
	}
}

static void only_what_packets_need(void **state)
{
	(void)state;
	if (SANITIZED)
		skip();
	kept = open("/etc", O_RDONLY | O_DIRECTORY);
	assert_int_equal(pipe(ends), 0);
	for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++) {
		check(&attempts[i], SANDBOX_ENGINE, attempts[i].engine);
		check(&attempts[i], SANDBOX_RELAY, attempts[i].engine);
		check(&attempts[i], SANDBOX_RELAY_SERVER, attempts[i].server);
	}
}

/* An assert that fails has to end the process as an assert does, not as a crime. */
static void can_still_abort(void **state)
{
	int status;

	(void)state;
	if (SANITIZED)
		skip();
	status = try_it(abort_itself, SANDBOX_ENGINE);
	assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == NO_SANDBOX);
	if (WIFSIGNALED(status))
		assert_int_equal(WTERMSIG(status), SIGABRT);
}

#if defined(__x86_64__) && !defined(__ILP32__)
#define I386_SOCKETCALL 102
#define X32_BIT 0x40000000

/* The numbers of another system mean other calls here: 102 is getuid, and as i386 has it, all calls of sockets in one. */
static int call_as_i386(void)
{
	long result = I386_SOCKETCALL;

	__asm__ volatile("int $0x80" : "+a"(result) : "b"(0L), "c"(0L), "d"(0L) : "memory", "r8", "r9", "r10", "r11");
	return 0;
}
static int call_as_x32(void)
{
	(void)syscall(X32_BIT | SYS_read, -1, NULL, 0);
	return 0;
}

static void calls_of_another_system_end_it(void **state)
{
	static const struct attempt foreign[] = {
		{ "a call as i386 has it", call_as_i386, KILLED, KILLED },
		{ "a call as x32 has it", call_as_x32, KILLED, KILLED },
	};
	pid_t pid;
	int status;

	(void)state;
	if (SANITIZED)
		skip();
	pid = fork();
	if (pid == 0)
		_exit(call_as_i386());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
		if (i == 0 && !WIFEXITED(status)) {
			print_message("this kernel does not know i386: not looked at\n");
			continue;
		}
		check(&foreign[i], SANDBOX_ENGINE, KILLED);
		check(&foreign[i], SANDBOX_RELAY, KILLED);
		check(&foreign[i], SANDBOX_RELAY_SERVER, KILLED);
	}
}
#endif

static int count_capabilities(void)
{
	char line[256];
	FILE *file = fopen("/proc/thread-self/status", "re");
	int wrong = 0;
	unsigned long long set;

	while (file && fgets(line, sizeof(line), file))
		if ((sscanf(line, "CapEff: %llx", &set) == 1 || sscanf(line, "CapPrm: %llx", &set) == 1) &&
			set)
			wrong++;
	if (file)
		fclose(file);
	return wrong;
}

static void identities_are_nobodys(void **state)
{
	(void)state;
	for (enum identity_of i = IDENTITY_ENGINE; i <= IDENTITY_PROBE; i++) {
		const struct identity one = identity_find(i);

		assert_int_not_equal(one.user, 0);
		assert_int_not_equal(one.group, 0);
		for (enum identity_of j = IDENTITY_ENGINE; j < i; j++)
			assert_int_not_equal(one.user, identity_find(j).user);
	}
}

static void becomes_somebody_without_privileges(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		const struct identity identity = identity_find(IDENTITY_RELAY);
		int err = identity_become(&identity);

		/* A sanitizer's build, and one that is not root, keep who they are. */
		_exit((err && err != -EPERM && err != -EINVAL) || count_capabilities() ||
			prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 ||
			setuid(0) == (geteuid() == 0 ? -1 : 0));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_packets_need),
		cmocka_unit_test(can_still_abort),
#if defined(__x86_64__) && !defined(__ILP32__)
		cmocka_unit_test(calls_of_another_system_end_it),
#endif
		cmocka_unit_test(identities_are_nobodys),
		cmocka_unit_test(becomes_somebody_without_privileges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
