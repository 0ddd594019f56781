/* SPDX-License-Identifier: MIT */
/* The order counts: memory is locked while the limit may still be raised, the user is left while that is
 * still allowed, and the system calls that do all this go last. Called by the engine and the relay, on their
 * only thread. Source: mlockall(2), prctl(2). */
#include "core/port/sandbox.h"

#include "core/port/privileges.h"
#include "core/port/process.h"
#include "platform/linux/landlock.h"
#include "platform/linux/sanitized.h"
#include "platform/linux/system_calls.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char no_lock[] = "swap kept away from packets (the limit on locked memory is too low: "
			      "LimitMEMLOCK=infinity, or ulimit -l unlimited)";
static const char no_landlock[] = "Landlock (this kernel has none)";
static const char no_filter[] = "the filter of system calls (this kernel has no seccomp)";
static const char no_user[] = "a user of its own (this user namespace has no other)";

static void name_lack(char lacks[SANDBOX_LACKS_LEN], const char *what)
{
	size_t len = strlen(lacks);

	snprintf(lacks + len, SANDBOX_LACKS_LEN - len, "%s%s", len ? ", " : "", what);
}

/* Whole, and only as it is used: keys lie in the middle of what they belong to, and packets are as secret. */
static bool lock_memory(void)
{
	process_allow_locked_memory();
	return mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) == 0;
}

static int leave_user(enum sandbox which, char lacks[SANDBOX_LACKS_LEN])
{
	struct identity identity;
	int err;

	if (geteuid() != 0)
		return privileges_keep(PRIVILEGES_NONE);
	identity = identity_find(which == SANDBOX_ENGINE ? IDENTITY_ENGINE : IDENTITY_RELAY);
	err = identity_become(&identity);
	if (err == -EINVAL || err == -EPERM) {
		name_lack(lacks, no_user);
		return 0;
	}
	return err;
}

int sandbox_enter(enum sandbox which, char lacks[SANDBOX_LACKS_LEN])
{
	int err;

	lacks[0] = 0;
	if (SANITIZED)
		return privileges_keep(PRIVILEGES_NONE);
	/* A relay holds no key. */
	if (which == SANDBOX_ENGINE && !lock_memory())
		name_lack(lacks, no_lock);
	err = leave_user(which, lacks);
	if (err)
		return err;
	if (landlock_close_all() != 0)
		name_lack(lacks, no_landlock);
	if (system_calls_restrict(which == SANDBOX_RELAY_SERVER) != 0)
		name_lack(lacks, no_filter);
	return 0;
}

void sandbox_lacks(char lacks[SANDBOX_LACKS_LEN])
{
	lacks[0] = 0;
	if (SANITIZED)
		return;
	if (!landlock_is_there())
		name_lack(lacks, no_landlock);
	if (!system_calls_can_be_restricted())
		name_lack(lacks, no_filter);
}
