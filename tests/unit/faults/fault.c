/* SPDX-License-Identifier: MIT */
/* The functions are taken by the linker (--wrap), those of memory in an ordinary build by their own names.
 * Leaks: by blocks in use in an ordinary build, by the sanitizer in a sanitized one. */
#include "tests/unit/faults/fault.h"

#include "platform/linux/sanitized.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cmocka.h>

#define SITES_MAX 100000

static enum fault_kind armed_kind;
static long left = -1; /* calls that still work; -1: all do */
static bool fired;
static int paused;
static long blocks; /* of memory, that are in use */

static bool strikes(enum fault_kind kind)
{
	if (left < 0 || paused || kind != armed_kind)
		return false;
	if (left-- > 0)
		return false;
	fired = true;
	return true;
}

void fault_pause(void)
{
	paused++;
}

void fault_resume(void)
{
	paused--;
}

/* ---- memory ---- */

#if SANITIZED
#define REAL(name) __real_##name
#define OURS(name) __wrap_##name
#else
#define REAL(name) __libc_##name
#define OURS(name) name
#endif
void *REAL(malloc)(size_t size);
void *REAL(calloc)(size_t count, size_t size);
void *REAL(realloc)(void *memory, size_t size);
void *OURS(malloc)(size_t size);
void *OURS(calloc)(size_t count, size_t size);
void *OURS(realloc)(void *memory, size_t size);

static void *counted(void *memory)
{
	blocks += memory != NULL;
	return memory;
}

/* Only for our own code: json-c 0.16 itself does not look at what strdup gives it. */
extern const char __executable_start, etext;

static bool memory_fails(const void *caller)
{
	if ((const char *)caller < &__executable_start || (const char *)caller >= &etext ||
		!strikes(FAULT_MEMORY))
		return false;
	errno = ENOMEM;
	return true;
}

__attribute__((visibility("default"))) void *OURS(malloc)(size_t size)
{
	return memory_fails(__builtin_return_address(0)) ? NULL : counted(REAL(malloc)(size));
}

__attribute__((visibility("default"))) void *OURS(calloc)(size_t count, size_t size)
{
	return memory_fails(__builtin_return_address(0)) ? NULL : counted(REAL(calloc)(count, size));
}

__attribute__((visibility("default"))) void *OURS(realloc)(void *memory, size_t size)
{
	if (memory_fails(__builtin_return_address(0)))
		return NULL;
	return memory ? REAL(realloc)(memory, size) : counted(REAL(realloc)(memory, size));
}

/* What a fake is compiled with (CMakeLists.txt). */
void *fault_free_malloc(size_t size);
void *fault_free_calloc(size_t count, size_t size);
void *fault_free_realloc(void *memory, size_t size);

void *fault_free_malloc(size_t size)
{
	return counted(REAL(malloc)(size));
}

void *fault_free_calloc(size_t count, size_t size)
{
	return counted(REAL(calloc)(count, size));
}

void *fault_free_realloc(void *memory, size_t size)
{
	return memory ? REAL(realloc)(memory, size) : counted(REAL(realloc)(memory, size));
}

#if !SANITIZED
void __libc_free(void *memory);

__attribute__((visibility("default"))) void free(void *memory)
{
	blocks -= memory != NULL;
	__libc_free(memory);
}
#endif

/* ---- the system ---- */

static bool system_fails(void)
{
	static const int errors[] = { EIO, ENOSPC, EMFILE, EACCES };
	static size_t next;

	if (!strikes(FAULT_SYSTEM))
		return false;
	errno = errors[next++ % (sizeof(errors) / sizeof(errors[0]))];
	return true;
}

/* The same shape for each: fails when it is its turn. */
#define STAND_IN(type, name, parameters, arguments)                                                          \
	type __real_##name parameters;                                                                       \
	type __wrap_##name parameters;                                                                       \
	type __wrap_##name parameters                                                                        \
	{                                                                                                    \
		return system_fails() ? (type)-1 : __real_##name arguments;                                  \
	}

STAND_IN(ssize_t, read, (int fd, void *out, size_t size), (fd, out, size))
STAND_IN(ssize_t, write, (int fd, const void *bytes, size_t len), (fd, bytes, len))
STAND_IN(int, fsync, (int fd), (fd))
STAND_IN(int, fstat, (int fd, struct stat *out), (fd, out))
STAND_IN(int, fchmod, (int fd, mode_t mode), (fd, mode))
STAND_IN(int, mkdir, (const char *path, mode_t mode), (path, mode))
STAND_IN(int, stat, (const char *path, struct stat *out), (path, out))
STAND_IN(
	int, renameat, (int from_at, const char *from, int to_at, const char *to), (from_at, from, to_at, to))
STAND_IN(int, fstatat, (int at, const char *path, struct stat *out, int flags), (at, path, out, flags))

int __real_openat(int at, const char *path, int flags, mode_t mode);
int __wrap_openat(int at, const char *path, int flags, ...);
int __wrap_openat(int at, const char *path, int flags, ...)
{
	va_list list;
	mode_t mode = 0;

	if (flags & O_CREAT) {
		va_start(list, flags);
		mode = va_arg(list, mode_t);
		va_end(list);
	}
	return system_fails() ? -1 : __real_openat(at, path, flags, mode);
}

int __real_open(const char *path, int flags, mode_t mode);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
	va_list list;
	mode_t mode = 0;

	if (flags & O_CREAT) {
		va_start(list, flags);
		mode = va_arg(list, mode_t);
		va_end(list);
	}
	return system_fails() ? -1 : __real_open(path, flags, mode);
}

/* openat2 has no function of its own. */
long __real_syscall(long number, long a, long b, long c, long d, long e, long f);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	return system_fails() ? -1 : __real_syscall(number, a, b, c, d, e, f);
}

/* ---- again and again ---- */

static long memory_in_use(void)
{
	return SANITIZED ? 0 : blocks;
}

static size_t descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	size_t count = 0;

	while (folder && readdir(folder))
		count++;
	if (folder)
		closedir(folder);
	return count;
}

static bool run(enum fault_kind kind, long calls, fault_story *story, void *user)
{
	bool worked;

	armed_kind = kind;
	fired = false;
	left = calls;
	worked = story(user);
	left = -1;
	return worked;
}

size_t fault_each(enum fault_kind kind, fault_story *story, void *user)
{
	size_t site, open;
	long used;

	/* What is made once and kept. */
	assert_true(run(kind, -1, story, user));
	assert_true(run(kind, -1, story, user));
	open = descriptors();
	used = memory_in_use();
	for (site = 0; site < SITES_MAX; site++) {
		bool worked = run(kind, (long)site, story, user);

		if (descriptors() != open)
			fail_msg("failing call %zu leaves a descriptor behind", site);
		if (memory_in_use() > used)
			fail_msg("failing call %zu leaves %ld blocks of memory behind", site,
				memory_in_use() - used);
		if (!fired) {
			assert_true(worked);
			break;
		}
	}
	assert_true(site < SITES_MAX);
	print_message("%zu calls failed, one after the other\n", site);
	return site;
}
