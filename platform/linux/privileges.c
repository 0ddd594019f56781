/* SPDX-License-Identifier: MIT */
/* Capabilities by the system calls themselves: the few lines that are needed do not pay for a library in each
 * process. Called at the start of each process, on its only thread. Source: capabilities(7), capset(2),
 * prctl(2). */
#include "core/port/privileges.h"

#include "platform/linux/privileges_bound.h"
#include "platform/linux/sanitized.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BIT(capability) (UINT64_C(1) << (capability))

static uint64_t wanted(enum privileges which)
{
	switch (which) {
	case PRIVILEGES_MANAGER:
		return BIT(CAP_NET_ADMIN);
	case PRIVILEGES_SPAWNER:
		return BIT(CAP_SETUID) | BIT(CAP_SETGID) | BIT(CAP_KILL) | BIT(CAP_NET_BIND_SERVICE) |
		       BIT(CAP_NET_RAW);
	case PRIVILEGES_DIALLER:
		return BIT(CAP_NET_ADMIN) | BIT(CAP_NET_BIND_SERVICE) | BIT(CAP_KILL);
	case PRIVILEGES_NONE:
		return 0;
	}
	return 0;
}

static int read_permitted(uint64_t *out)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data) != 0)
		return -errno;
	*out = data[0].permitted | (uint64_t)data[1].permitted << 32;
	return 0;
}

static int write_sets(uint64_t kept)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {
		{ .effective = (uint32_t)kept, .permitted = (uint32_t)kept },
		{ .effective = (uint32_t)(kept >> 32), .permitted = (uint32_t)(kept >> 32) },
	};

	return syscall(SYS_capset, &header, data) != 0 ? -errno : 0;
}

/* What a program could get back by being started. Without CAP_SETPCAP (a service manager has bounded it
 * before) it stays; no_new_privs makes it empty words. */
void privileges_bound(uint64_t kept)
{
	for (unsigned long capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++)
		if (capability >= 64 || !(kept & BIT(capability)))
			(void)prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
}

/* No core dump on a disk, and no other process of the same user may look into this one. */
static int hide(void)
{
	const struct rlimit none = { 0, 0 };

	/* The second bolt on the same door: a service manager may have forbidden it, and set it itself. */
	(void)setrlimit(RLIMIT_CORE, &none);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -errno;
	return !SANITIZED && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 ? -errno : 0;
}

int privileges_keep(enum privileges which)
{
	uint64_t permitted = 0, kept;
	int err = read_permitted(&permitted);

	if (err)
		return err;
	kept = permitted & wanted(which);
	privileges_bound(kept);
	/* Nothing to give up, nothing to ask for: a service manager may have forbidden the very call. */
	err = permitted ? write_sets(kept) : 0;
	return err ? err : hide();
}
