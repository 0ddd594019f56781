/* SPDX-License-Identifier: MIT */
/* Asking polkit whether the process at the other end of a socket may do something. Main thread. */
#ifndef WGTCP_CLIENT_DAEMON_POLKIT_H
#define WGTCP_CLIENT_DAEMON_POLKIT_H

#include <stdbool.h>

struct bus;
struct polkit_question;

/* Private and preshared keys of a profile. packaging/polkit/org.wgtcp.policy */
#define POLKIT_EXPORT_KEYS "org.wgtcp.export-keys"

/* The person there may have to give a password, so the answer may take minutes. answered is called once, not
 * before this returns, and the question is gone then; with false also where nobody could be asked. NULL:
 * there is no polkit to ask. */
struct polkit_question *polkit_ask(struct bus *bus, int socket, const char *action,
	void (*answered)(bool allowed, void *user), void *user);
/* Nobody is answered any more. NULL is allowed. */
void polkit_cancel(struct polkit_question *question);

#endif
