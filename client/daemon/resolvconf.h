/* SPDX-License-Identifier: MIT */
/* The program resolvconf, of which three kinds are about: openresolv, Debian's own, and systemd's, which is
 * resolvectl under another name. They differ in what they call an interface. Used by the daemon (dns.c) and,
 * to run it, by the spawner. */
#ifndef WGTCP_CLIENT_DAEMON_RESOLVCONF_H
#define WGTCP_CLIENT_DAEMON_RESOLVCONF_H

#include <stdbool.h>

enum resolvconf_kind { RESOLVCONF_NONE, RESOLVCONF_OPENRESOLV, RESOLVCONF_DEBIAN, RESOLVCONF_SYSTEMD };

/* Points into itself: not to be copied. */
struct resolvconf_command {
	const char *path; /* absolute */
	char name[24];
	char *arguments[7]; /* ends with NULL */
};

/* What is installed below root ("" for the machine itself). */
enum resolvconf_kind resolvconf_kind(const char *root);
/* To set (its input is text in the form of resolv.conf) or to clear what holds for an interface. False: there
 * is no resolvconf, or the name is not one of an interface. */
bool resolvconf_command(const char *interface, bool set, struct resolvconf_command *out);
/* The same for a kind that is known already, without looking at the machine. */
bool resolvconf_command_of(
	enum resolvconf_kind kind, const char *interface, bool set, struct resolvconf_command *out);

#endif
