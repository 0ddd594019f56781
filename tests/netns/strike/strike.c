/* SPDX-License-Identifier: MIT */
/* Loaded before a program's libraries (LD_PRELOAD): of all calls of one kind that the program itself makes, its forks
 * included, the one with a given number fails. Calls that libraries make among themselves are left alone: GLib ends the
 * program where memory is short, and json-c does not look.
 *
 *     STRIKE_FILE=PATH   struct strike below, shared by all processes; made by whoever starts the program
 *
 * Source: ld.so(8), dlsym(3). */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#define PLACES_MAX 16384

enum kind { KIND_MEMORY = 1, KIND_SYSTEM };

struct strike {
	_Atomic uint32_t kind;
	_Atomic uint32_t at;    /* the number, from 1; 0: none */
	_Atomic uint32_t count; /* of calls so far */
	char name[52];          /* of the call that failed */
	uint64_t places[PLACES_MAX]; /* where in which program each call was made, by its number */
};

static struct strike *strike;
static uintptr_t start, end; /* of the program */
static uint64_t program;     /* tells programs apart */

static int take_program(struct dl_phdr_info *info, size_t size, void *user)
{
	(void)size;
	(void)user;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type != PT_LOAD)
			continue;
		if (!start)
			start = info->dlpi_addr + part->p_vaddr;
		end = info->dlpi_addr + part->p_vaddr + part->p_memsz;
	}
	return 1; /* the program is the first */
}

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("STRIKE_FILE");
	int fd = path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC) : -1;
	void *map = fd < 0 ? MAP_FAILED
			   : (void *)syscall(SYS_mmap, NULL, sizeof(*strike), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (fd >= 0)
		syscall(SYS_close, fd);
	dl_iterate_phdr(take_program, NULL);
	for (const char *name = program_invocation_short_name; *name; name++)
		program = program * 31 + (uint8_t)*name;
	if (map != MAP_FAILED)
		strike = map;
}

static bool strikes(enum kind kind, const void *caller, const char *name)
{
	static const int errors[] = { EIO, ENOSPC, EMFILE, EPERM, ENOMEM };
	uint32_t number;

	if (!strike || strike->kind != kind || (uintptr_t)caller < start || (uintptr_t)caller >= end)
		return false;
	number = ++strike->count;
	if (number < PLACES_MAX)
		strike->places[number] = program << 32 | ((uintptr_t)caller - start);
	if (number != strike->at)
		return false;
	snprintf(strike->name, sizeof(strike->name), "%s", name);
	errno = kind == KIND_MEMORY ? ENOMEM : errors[number % (sizeof(errors) / sizeof(errors[0]))];
	return true;
}

#define WRAP(kind, type, failure, name, parameters, arguments) \
	__attribute__((visibility("default"))) type name parameters \
	{ \
		static type(*real) parameters; \
\
		if (!real) \
			*(void **)&real = dlsym(RTLD_NEXT, #name); \
		if (strikes(kind, __builtin_return_address(0), #name)) \
			return failure; \
		return real arguments; \
	}
#define MEMORY(name, parameters, arguments) WRAP(KIND_MEMORY, void *, NULL, name, parameters, arguments)
#define SYSTEM(type, name, parameters, arguments) WRAP(KIND_SYSTEM, type, -1, name, parameters, arguments)

/* dlsym itself may want memory before these are known. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

__attribute__((visibility("default"))) void *malloc(size_t size)
{
	return strikes(KIND_MEMORY, __builtin_return_address(0), "malloc") ? NULL : __libc_malloc(size);
}

__attribute__((visibility("default"))) void *calloc(size_t count, size_t size)
{
	return strikes(KIND_MEMORY, __builtin_return_address(0), "calloc") ? NULL : __libc_calloc(count, size);
}

__attribute__((visibility("default"))) void *realloc(void *memory, size_t size)
{
	return strikes(KIND_MEMORY, __builtin_return_address(0), "realloc") ? NULL : __libc_realloc(memory, size);
}

WRAP(KIND_MEMORY, char *, NULL, strdup, (const char *text), (text))
WRAP(KIND_MEMORY, char *, NULL, strndup, (const char *text, size_t len), (text, len))
MEMORY(aligned_alloc, (size_t to, size_t size), (to, size))

SYSTEM(int, socket, (int family, int type, int protocol), (family, type, protocol))
SYSTEM(int, socketpair, (int family, int type, int protocol, int pair[2]), (family, type, protocol, pair))
SYSTEM(int, bind, (int fd, const struct sockaddr *to, socklen_t len), (fd, to, len))
SYSTEM(int, connect, (int fd, const struct sockaddr *to, socklen_t len), (fd, to, len))
SYSTEM(int, listen, (int fd, int backlog), (fd, backlog))
SYSTEM(int, accept4, (int fd, struct sockaddr *from, socklen_t *len, int flags), (fd, from, len, flags))
SYSTEM(int, getsockname, (int fd, struct sockaddr *name, socklen_t *len), (fd, name, len))
SYSTEM(int, setsockopt, (int fd, int level, int name, const void *value, socklen_t len), (fd, level, name, value, len))
SYSTEM(int, getsockopt, (int fd, int level, int name, void *value, socklen_t *len), (fd, level, name, value, len))
SYSTEM(ssize_t, send, (int fd, const void *bytes, size_t len, int flags), (fd, bytes, len, flags))
SYSTEM(ssize_t, sendto, (int fd, const void *bytes, size_t len, int flags, const struct sockaddr *to, socklen_t to_len),
	(fd, bytes, len, flags, to, to_len))
SYSTEM(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags))
SYSTEM(ssize_t, recv, (int fd, void *bytes, size_t size, int flags), (fd, bytes, size, flags))
SYSTEM(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags))
SYSTEM(ssize_t, read, (int fd, void *bytes, size_t size), (fd, bytes, size))
SYSTEM(ssize_t, pread, (int fd, void *bytes, size_t size, off_t at), (fd, bytes, size, at))
SYSTEM(ssize_t, pwrite, (int fd, const void *bytes, size_t len, off_t at), (fd, bytes, len, at))
SYSTEM(int, fsync, (int fd), (fd))
SYSTEM(int, ftruncate, (int fd, off_t len), (fd, len))
SYSTEM(int, fstat, (int fd, struct stat *info), (fd, info))
SYSTEM(int, stat, (const char *path, struct stat *info), (path, info))
SYSTEM(int, fstatat, (int folder, const char *path, struct stat *info, int flags), (folder, path, info, flags))
SYSTEM(int, fchmod, (int fd, mode_t mode), (fd, mode))
SYSTEM(int, fchown, (int fd, uid_t user, gid_t group), (fd, user, group))
SYSTEM(int, chmod, (const char *path, mode_t mode), (path, mode))
SYSTEM(int, chown, (const char *path, uid_t user, gid_t group), (path, user, group))
SYSTEM(int, mkdir, (const char *path, mode_t mode), (path, mode))
SYSTEM(int, mkdirat, (int folder, const char *path, mode_t mode), (folder, path, mode))
SYSTEM(int, renameat, (int from, const char *old, int to, const char *new), (from, old, to, new))
SYSTEM(int, linkat, (int from, const char *old, int to, const char *new, int flags), (from, old, to, new, flags))
SYSTEM(int, unlinkat, (int folder, const char *path, int flags), (folder, path, flags))
SYSTEM(int, epoll_create1, (int flags), (flags))
SYSTEM(int, epoll_ctl, (int fd, int what, int other, struct epoll_event *event), (fd, what, other, event))
SYSTEM(int, eventfd, (unsigned value, int flags), (value, flags))
SYSTEM(int, timerfd_create, (int clock, int flags), (clock, flags))
SYSTEM(int, timerfd_settime, (int fd, int flags, const struct itimerspec *when, struct itimerspec *old), (fd, flags, when, old))
SYSTEM(int, memfd_create, (const char *name, unsigned flags), (name, flags))
SYSTEM(int, pipe2, (int pair[2], int flags), (pair, flags))
SYSTEM(int, dup, (int fd), (fd))
SYSTEM(int, dup3, (int fd, int to, int flags), (fd, to, flags))
SYSTEM(pid_t, fork, (void), ())
SYSTEM(int, setrlimit, (__rlimit_resource_t what, const struct rlimit *limit), (what, limit))
SYSTEM(int, setgroups, (size_t count, const gid_t *groups), (count, groups))
SYSTEM(int, setresuid, (uid_t real_id, uid_t effective, uid_t saved), (real_id, effective, saved))
SYSTEM(int, setresgid, (gid_t real_id, gid_t effective, gid_t saved), (real_id, effective, saved))
SYSTEM(int, mlock, (const void *memory, size_t len), (memory, len))
SYSTEM(int, mlockall, (int flags), (flags))
SYSTEM(int, madvise, (void *memory, size_t len, int advice), (memory, len, advice))
WRAP(KIND_SYSTEM, void *, MAP_FAILED, mmap, (void *at, size_t len, int may, int flags, int fd, off_t from),
	(at, len, may, flags, fd, from))
WRAP(KIND_SYSTEM, FILE *, NULL, fopen, (const char *path, const char *mode), (path, mode))

/* What a person reads is not taken away. */
__attribute__((visibility("default"))) ssize_t write(int fd, const void *bytes, size_t len)
{
	static ssize_t (*real)(int fd, const void *bytes, size_t len);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "write");
	return fd > 2 && strikes(KIND_SYSTEM, __builtin_return_address(0), "write") ? -1 : real(fd, bytes, len);
}

/* Those with an argument that may be missing: whatever lies there is handed on. */
#define LAST_MAY_BE_MISSING(name, parameters, last, ...) \
	__attribute__((visibility("default"))) int name parameters \
	{ \
		static int(*real) parameters; \
		va_list rest; \
		long more; \
\
		if (!real) \
			*(void **)&real = dlsym(RTLD_NEXT, #name); \
		if (strikes(KIND_SYSTEM, __builtin_return_address(0), #name)) \
			return -1; \
		va_start(rest, last); \
		more = va_arg(rest, long); \
		va_end(rest); \
		return real(__VA_ARGS__, more); \
	}
LAST_MAY_BE_MISSING(open, (const char *path, int flags, ...), flags, path, flags)
LAST_MAY_BE_MISSING(openat, (int folder, const char *path, int flags, ...), flags, folder, path, flags)
LAST_MAY_BE_MISSING(fcntl, (int fd, int what, ...), what, fd, what)
LAST_MAY_BE_MISSING(ioctl, (int fd, unsigned long what, ...), what, fd, what)

__attribute__((visibility("default"))) int prctl(int what, ...)
{
	static int (*real)(int what, ...);
	va_list rest;
	unsigned long more[4];

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "prctl");
	if (strikes(KIND_SYSTEM, __builtin_return_address(0), "prctl"))
		return -1;
	va_start(rest, what);
	for (int i = 0; i < 4; i++)
		more[i] = va_arg(rest, unsigned long);
	va_end(rest);
	return real(what, more[0], more[1], more[2], more[3]);
}

__attribute__((visibility("default"))) long syscall(long number, ...)
{
	static long (*real)(long number, ...);
	va_list rest;
	long more[6];

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "syscall");
	if (strikes(KIND_SYSTEM, __builtin_return_address(0), "syscall"))
		return -1;
	va_start(rest, number);
	for (int i = 0; i < 6; i++)
		more[i] = va_arg(rest, long);
	va_end(rest);
	return real(number, more[0], more[1], more[2], more[3], more[4], more[5]);
}
