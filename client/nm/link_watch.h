/* SPDX-License-Identifier: MIT */
/* Tells when an interface was down and is up again, for then its routes and IPv6 addresses are gone. In
 * GLib's main loop; one thread. Source: rtnetlink(7). */
#ifndef WGTCP_CLIENT_NM_LINK_WATCH_H
#define WGTCP_CLIENT_NM_LINK_WATCH_H

struct link_watch;

/* NULL: there is no such interface, or it cannot be watched. */
struct link_watch *link_watch_new(const char *interface, void (*back)(void *user), void *user);
/* NULL is allowed. Not from within back. */
void link_watch_free(struct link_watch *watch);

#endif
