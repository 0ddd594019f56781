/* SPDX-License-Identifier: MIT */
/* Source: resolvconf(8) of openresolv and of Debian, resolvectl(1). No state. */
#include "client/daemon/resolvconf.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const programs[] = { "/usr/sbin/resolvconf", "/sbin/resolvconf", "/usr/bin/resolvconf" };

#define PROGRAM_COUNT (sizeof(programs) / sizeof(programs[0]))

static bool exists(const char *root, const char *path)
{
	char full[PATH_MAX];
	struct stat info;

	return snprintf(full, sizeof(full), "%s%s", root, path) < (int)sizeof(full) &&
	       stat(full, &info) == 0 && S_ISREG(info.st_mode);
}

static bool is_resolvectl(const char *root, const char *path)
{
	char full[PATH_MAX], target[PATH_MAX];
	const char *last;
	ssize_t len;

	if (snprintf(full, sizeof(full), "%s%s", root, path) >= (int)sizeof(full))
		return false;
	len = readlink(full, target, sizeof(target) - 1);
	if (len <= 0)
		return false;
	target[len] = 0;
	last = strrchr(target, '/');
	return !strcmp(last ? last + 1 : target, "resolvectl");
}

static const char *find(const char *root)
{
	size_t i;

	for (i = 0; i < PROGRAM_COUNT; i++)
		if (exists(root, programs[i]))
			return programs[i];
	return NULL;
}

enum resolvconf_kind resolvconf_kind(const char *root)
{
	const char *program = find(root);

	if (!program)
		return RESOLVCONF_NONE;
	if (is_resolvectl(root, program))
		return RESOLVCONF_SYSTEMD;
	/* Only the program itself tells: /etc/resolvconf/interface-order may be left over from Debian's, long
	 * after another one has taken its place. */
	if (exists(root, "/lib/resolvconf/list-records") || exists(root, "/usr/lib/resolvconf/list-records"))
		return RESOLVCONF_DEBIAN;
	return RESOLVCONF_OPENRESOLV;
}

static bool is_interface(const char *name)
{
	size_t len = strlen(name);

	return len >= 1 && len <= 15 &&
	       strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_=+.-") == len &&
	       name[0] != '-' && name[0] != '.';
}

bool resolvconf_command_of(
	enum resolvconf_kind kind, const char *interface, bool set, struct resolvconf_command *out)
{
	char **argument = out->arguments;

	if (kind == RESOLVCONF_NONE || !is_interface(interface))
		return false;
	/* Debian's puts first what is called tun.*, by its interface-order; to systemd's that is no
	 * interface. */
	snprintf(out->name, sizeof(out->name), "%s%s", kind == RESOLVCONF_DEBIAN ? "tun." : "", interface);
	*argument++ = "resolvconf";
	*argument++ = set ? "-a" : "-d";
	*argument++ = out->name;
	if (set) {
		/* First of all, and nobody else's beside them. */
		*argument++ = "-m";
		*argument++ = "0";
		*argument++ = "-x";
	} else {
		*argument++ = "-f"; /* none there is no error */
	}
	*argument = NULL;
	return true;
}

bool resolvconf_command(const char *interface, bool set, struct resolvconf_command *out)
{
	out->path = find("");
	return out->path && resolvconf_command_of(resolvconf_kind(""), interface, set, out);
}
