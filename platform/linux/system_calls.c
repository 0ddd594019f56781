/* SPDX-License-Identifier: MIT */
/* An allow-list in seccomp, written with libseccomp, which knows the numbers of each architecture. Called by
 * sandbox.c with no_new_privs set. Every test in network namespaces runs the programs with it: a call that is
 * missing here ends them. Source: seccomp(2), seccomp_rule_add(3). */
#include "platform/linux/system_calls.h"

#include <errno.h>
#include <linux/if_tun.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Whatever the arguments. Descriptors are what was inherited or came down the seam, so what is done with them
 * is all right. */
static const int always[] = {
	/* packets */
	SCMP_SYS(read),
	SCMP_SYS(write),
	SCMP_SYS(readv),
	SCMP_SYS(writev),
	SCMP_SYS(recvfrom),
	SCMP_SYS(recvmsg),
	SCMP_SYS(recvmmsg),
	SCMP_SYS(sendto),
	SCMP_SYS(sendmsg),
	SCMP_SYS(sendmmsg),
	/* sockets that are there */
	SCMP_SYS(accept4),
	SCMP_SYS(shutdown),
	SCMP_SYS(getsockopt),
	SCMP_SYS(setsockopt),
	SCMP_SYS(getsockname),
	SCMP_SYS(getpeername),
	SCMP_SYS(close),
	SCMP_SYS(fcntl),
	/* waiting */
	SCMP_SYS(epoll_create1),
	SCMP_SYS(epoll_ctl),
	SCMP_SYS(epoll_wait),
	SCMP_SYS(epoll_pwait),
	SCMP_SYS(poll),
	SCMP_SYS(ppoll),
	SCMP_SYS(nanosleep),
	SCMP_SYS(clock_nanosleep),
	SCMP_SYS(restart_syscall),
	/* time and chance */
	SCMP_SYS(clock_gettime),
	SCMP_SYS(clock_getres),
	SCMP_SYS(gettimeofday),
	SCMP_SYS(time),
	SCMP_SYS(getrandom),
	/* memory */
	SCMP_SYS(brk),
	SCMP_SYS(munmap),
	SCMP_SYS(mremap),
	SCMP_SYS(madvise),
	SCMP_SYS(mlock),
	SCMP_SYS(munlock),
	SCMP_SYS(futex),
	SCMP_SYS(rseq),
	/* signals, and the end */
	SCMP_SYS(rt_sigreturn),
	SCMP_SYS(rt_sigaction),
	SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(sigreturn),
	SCMP_SYS(exit),
	SCMP_SYS(exit_group),
	/* who am I, as assert and abort ask */
	SCMP_SYS(getpid),
	SCMP_SYS(gettid),
	SCMP_SYS(getuid),
	SCMP_SYS(geteuid),
	SCMP_SYS(getgid),
	SCMP_SYS(getegid),
	SCMP_SYS(sched_yield),
	SCMP_SYS(sched_getaffinity),
	SCMP_SYS(getcpu),
	/* The same by the names that they have where a long has 32 bits; elsewhere there are none such. */
	SCMP_SYS(fcntl64),
	SCMP_SYS(clock_gettime64),
	SCMP_SYS(clock_getres_time64),
	SCMP_SYS(clock_nanosleep_time64),
	SCMP_SYS(futex_time64),
	SCMP_SYS(ppoll_time64),
	SCMP_SYS(recvmmsg_time64),
	SCMP_SYS(recv),
	SCMP_SYS(send),
	SCMP_SYS(sigprocmask),
	/* On i386 glibc has all calls on sockets from this one, whose arguments no filter sees. */
	SCMP_SYS(socketcall),
};

/* Tried by libraries that go on without. Landlock would refuse most of them, too, where it is there. */
static const int refused[] = {
	SCMP_SYS(open),
	SCMP_SYS(openat),
	SCMP_SYS(stat),
	SCMP_SYS(fstat),
	SCMP_SYS(newfstatat),
	SCMP_SYS(statx),
	SCMP_SYS(lstat),
	SCMP_SYS(access),
	SCMP_SYS(faccessat),
	SCMP_SYS(faccessat2),
	SCMP_SYS(readlink),
	SCMP_SYS(readlinkat),
	SCMP_SYS(getcwd),
	SCMP_SYS(uname),
	SCMP_SYS(sysinfo),
	SCMP_SYS(lseek),
	SCMP_SYS(prlimit64),
	SCMP_SYS(getrlimit),
	/* where a long has 32 bits */
	SCMP_SYS(stat64),
	SCMP_SYS(fstat64),
	SCMP_SYS(fstatat64),
	SCMP_SYS(lstat64),
	SCMP_SYS(_llseek),
	SCMP_SYS(ugetrlimit),
};

static const unsigned long ioctls[] = { TUNGETIFF, TUNSETVNETHDRSZ, TUNSETOFFLOAD };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* An error keeps. */
static void add(scmp_filter_ctx filter, int *err, uint32_t action, int call, unsigned int count,
	const struct scmp_arg_cmp *arguments)
{
	if (!*err)
		*err = seccomp_rule_add_array(filter, action, call, count, arguments);
	/* A call that this architecture does not have needs no rule. */
	if (*err == -EDOM || *err == -EFAULT)
		*err = 0;
}

/* Memory that can be written is never run. */
static void add_memory(scmp_filter_ctx filter, int *err)
{
	const struct scmp_arg_cmp data = { 2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0 };

	add(filter, err, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, &data);
	add(filter, err, SCMP_ACT_ALLOW, SCMP_SYS(mmap2), 1, &data);
	add(filter, err, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, &data);
}

/* abort() is a signal to itself. */
static void add_own_end(scmp_filter_ctx filter, int *err)
{
	const struct scmp_arg_cmp self = { 0, SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0 };

	add(filter, err, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1, &self);
}

static void add_udp(scmp_filter_ctx filter, int *err)
{
	static const int families[] = { AF_INET, AF_INET6 };

	for (size_t i = 0; i < COUNT(families); i++) {
		const struct scmp_arg_cmp kind[2] = {
			{ 0, SCMP_CMP_EQ, (scmp_datum_t)families[i], 0 },
			{ 1, SCMP_CMP_EQ, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0 },
		};

		add(filter, err, SCMP_ACT_ALLOW, SCMP_SYS(socket), 2, kind);
	}
	add(filter, err, SCMP_ACT_ALLOW, SCMP_SYS(bind), 0, NULL);
	add(filter, err, SCMP_ACT_ALLOW, SCMP_SYS(connect), 0, NULL);
}

int system_calls_restrict(bool new_udp)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int err = 0;

	if (!filter)
		return -ENOMEM;
	/* Asked for each packet: a search in halves instead of one after the other. */
	(void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	/* Older kernels else slow down the processor's guesses, which protects from code that this program
	 * never runs. */
	(void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_SSB, 1);
	for (size_t i = 0; i < COUNT(always); i++)
		add(filter, &err, SCMP_ACT_ALLOW, always[i], 0, NULL);
	for (size_t i = 0; i < COUNT(refused); i++)
		add(filter, &err, SCMP_ACT_ERRNO(EACCES), refused[i], 0, NULL);
	for (size_t i = 0; i < COUNT(ioctls); i++) {
		/* Its second argument is an int to the kernel: the upper half counts for nothing. */
		const struct scmp_arg_cmp request = { 1, SCMP_CMP_MASKED_EQ, 0xffffffffu, ioctls[i] };

		add(filter, &err, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1, &request);
	}
	add_memory(filter, &err);
	add_own_end(filter, &err);
	if (new_udp)
		add_udp(filter, &err);
	if (!err)
		err = seccomp_load(filter);
	seccomp_release(filter);
	/* What the kernel says is not always told apart from the library's own. */
	return err < 0 ? err : 0;
}

bool system_calls_can_be_restricted(void)
{
	unsigned int action = SECCOMP_RET_KILL_PROCESS;

	return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0u, &action) == 0;
}
