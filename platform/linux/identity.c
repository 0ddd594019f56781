/* SPDX-License-Identifier: MIT */
/* Becoming somebody else for good. Source: setresuid(2), credentials(7); the range: systemd's UIDS-GIDS.md.
 */
#include "core/port/privileges.h"

#include "platform/linux/privileges_bound.h"
#include "platform/linux/sanitized.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

/* The end of the range of DynamicUser=, which is given out by a hash of the service's name. */
#define FREE_LAST 65519u
#define FREE_TRIED 64u

static const char *const names[] = {
	[IDENTITY_ENGINE] = "wgtcp-engine",
	[IDENTITY_RELAY] = "wgtcp-relay",
	[IDENTITY_PROBE] = "wgtcp-probe",
};

#define COUNT (sizeof(names) / sizeof(names[0]))

struct identity identity_find(enum identity_of whose)
{
	const struct passwd *user = getpwnam(names[whose]);
	unsigned int id = FREE_LAST - (unsigned int)whose;

	/* A user of that name who is root would be a trap. */
	if (user && user->pw_uid != 0 && user->pw_gid != 0)
		return (struct identity){ user->pw_uid, user->pw_gid };
	for (unsigned int tried = 0; tried < FREE_TRIED && (getpwuid(id) || getgrgid(id)); tried++)
		id -= (unsigned int)COUNT; /* so that each of them has its own */
	return (struct identity){ id, id };
}

int identity_become(const struct identity *identity)
{
	int err = 0, failed;

	/* As root's own child under a sanitizer: see there. */
	if (!SANITIZED && geteuid() == 0) {
		/* While it may. */
		privileges_bound(0);
		if (setgroups(0, NULL) != 0 ||
			setresgid(identity->group, identity->group, identity->group) != 0 ||
			setresuid(identity->user, identity->user, identity->user) != 0)
			err = -errno;
	}
	failed = privileges_keep(PRIVILEGES_NONE);
	return failed ? failed : err;
}
