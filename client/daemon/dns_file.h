/* SPDX-License-Identifier: MIT */
/* A plain resolv.conf under guard: what was there is kept in the state folder before it is replaced, and
 * comes back byte for byte, with its owner, mode and time. Links are followed, not replaced. Main thread. */
#ifndef WGTCP_CLIENT_DAEMON_DNS_FILE_H
#define WGTCP_CLIENT_DAEMON_DNS_FILE_H

#include "client/daemon/dns_text.h"

#define DNS_FILE_PATH "/etc/resolv.conf"
#define DNS_FILE_BACKUP "resolv.conf" /* in the state folder */
#define DNS_FILE_TEXT_MAX 65536

enum dns_file_restored {
	DNS_FILE_RESTORED,
	DNS_FILE_NONE_HELD,
	DNS_FILE_CHANGED, /* somebody else has written there since: theirs stays */
};

/* Puts these in place of what is there. Again: in place of our own, and what somebody else has written
 * meanwhile is what comes back. name: of the tunnel, for its first line. *was_there: false: the file was
 * missing. 0, or -errno and all is as before: -EPERM: immutable; -ENOENT: no folder for it; ... */
int dns_file_set(
	int state_folder, const char *path, const char *name, const struct dns_servers *dns, bool *was_there);
/* Whether what is there now is ours. */
bool dns_file_is_ours(const char *path);
/* 0 and *out, or -errno: what was there could not be put back, and is held still. */
int dns_file_restore(int state_folder, enum dns_file_restored *out);
/* What was there before; NULL when nothing is held. Freed by the caller. */
char *dns_file_before(int state_folder);

#endif
