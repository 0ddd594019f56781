/* SPDX-License-Identifier: MIT */
/* Host names of one tunnel's peers and the addresses they stand for, of both families. A name is never lost:
 * it is looked up again when asked, and a name that could not be looked up is tried again with back-off for
 * as long as this lives. On the GLib main loop, main thread. */
#ifndef WGTCP_CLIENT_DAEMON_NAMES_H
#define WGTCP_CLIENT_DAEMON_NAMES_H

#include "core/base/address.h"

#define NAME_ADDRESSES_MAX 16

struct names;

/* changed: called from the loop, after a name has got other addresses than it had, or could not be looked up
 * for the first time. names may be freed in it. */
struct names *names_new(void (*changed)(void *user), void *user);
/* NULL is allowed. */
void names_free(struct names *names);

/* A host name or the text of an address; adding one twice is adding it once. A look-up begins at once. */
void names_add(struct names *names, const char *host);
/* Looks it up again now, unless that is under way or the last answer is younger than 5 s. */
void names_refresh(struct names *names, const char *host);
/* Those that failed: again now, without waiting for the back-off (the network has changed). */
void names_retry(struct names *names);

/* The addresses in the order in which they should be tried (RFC 6724, as the system sorts them), at most max.
 */
size_t names_get(const struct names *names, const char *host, struct ip_address *out, size_t max);
/* Every name has been looked up once, with or without success. */
bool names_settled(const struct names *names);
/* A name without any address so far, or NULL. */
const char *names_missing(const struct names *names);

#endif
