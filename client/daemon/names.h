/* SPDX-License-Identifier: MIT */
/* Host names of one tunnel's peers and the addresses they stand for, of both families. A name is never lost:
 * it is looked up again when asked, and a name that could not be looked up is tried again with back-off for
 * as long as this lives; where a server answered before is tried while its name cannot be looked up. On the
 * GLib main loop, main thread. */
#ifndef WGTCP_CLIENT_DAEMON_NAMES_H
#define WGTCP_CLIENT_DAEMON_NAMES_H

#include "core/base/address.h"

#define NAME_ADDRESSES_MAX 16

struct daemon;
struct names;

/* mark: of the sockets that ask; 0: that of the full tunnel, if one is up. changed: called from the loop,
 * after a name has got other addresses than it had, or could not be looked up for the first time. names may
 * be freed in it. */
struct names *names_new(struct daemon *daemon, uint32_t mark, void (*changed)(void *user), void *user);
/* NULL is allowed. */
void names_free(struct names *names);

/* A host name or the text of an address; adding one twice is adding it once. A look-up begins at once. */
void names_add(struct names *names, const char *host);
/* Looks it up again now, unless that is under way or the last answer is younger than 5 s; nothing of an
 * unknown host. */
void names_refresh(struct names *names, const char *host);
/* This machine may be in another network: all again, at once those that failed, the others unless they are
 * fresh. */
void names_network_changed(struct names *names);
/* A server has answered at this address: it comes first from now on, also after a restart. True: it did not
 * before, and changed has been called. */
bool names_good(struct names *names, const struct ip_address *address);

/* The addresses in the order in which they should be tried, at most max: the one that was good last, then in
 * turn of each family, IPv6 first. */
size_t names_get(const struct names *names, const char *host, struct ip_address *out, size_t max);
/* Every name has been looked up once, with or without success. */
bool names_settled(const struct names *names);
/* A server has answered for this name, or it is an address: what names_get gives is not only from before. */
bool names_answered(const struct names *names, const char *host);
/* A name without any address so far, or NULL. */
const char *names_missing(const struct names *names);

#endif
