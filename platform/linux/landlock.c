/* SPDX-License-Identifier: MIT */
/* By the system calls themselves, since the headers of a build machine know fewer rights than the kernel that
 * the program meets. Called by sandbox.c. Source: landlock(7), Documentation/userspace-api/landlock. */
#include "platform/linux/landlock.h"

#include <errno.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_restrict_self 446
#endif

#define VERSION_FLAG 1u

/* struct landlock_ruleset_attr as of version 6; older kernels know a beginning of it. */
struct ruleset {
	uint64_t files, net, scoped;
};

/* All rights over files up to a version: 13, then refer, truncate, ioctl of devices. The last is left out:
 * the TUN device was opened before and is not affected, and nothing else can be opened. */
static struct ruleset all_of(long version)
{
	struct ruleset all = { .files = (UINT64_C(1) << 13) - 1 };

	if (version >= 2)
		all.files |= UINT64_C(1) << 13;
	if (version >= 3)
		all.files |= UINT64_C(1) << 14;
	if (version >= 4)
		all.net = 3; /* bind and connect, TCP */
	if (version >= 6)
		all.scoped = 3; /* abstract unix sockets, signals */
	return all;
}

static long version_of_kernel(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, VERSION_FLAG);
}

bool landlock_is_there(void)
{
	return version_of_kernel() >= 1;
}

int landlock_close_all(void)
{
	long version = version_of_kernel(), handle;
	struct ruleset all;
	size_t size;
	int err = 0;

	if (version < 0)
		return -errno;
	all = all_of(version);
	size = version >= 6 ? sizeof(all) : version >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
	handle = syscall(SYS_landlock_create_ruleset, &all, size, 0u);
	if (handle < 0)
		return -errno;
	/* Without one rule in it: nothing is let through. */
	if (syscall(SYS_landlock_restrict_self, (int)handle, 0u) != 0)
		err = -errno;
	close((int)handle);
	return err;
}
