/* SPDX-License-Identifier: MIT */
/* What happens around the tunnels: the machine sleeps and wakes, comes into another network, a portal is in
 * the way. Main thread. */
#ifndef WGTCP_CLIENT_DAEMON_SURROUNDINGS_H
#define WGTCP_CLIENT_DAEMON_SURROUNDINGS_H

struct daemon;
struct surroundings;

/* Makes daemon->portal, too. The tunnels are told from the main loop. */
struct surroundings *surroundings_new(struct daemon *daemon);
/* NULL is allowed. */
void surroundings_free(struct surroundings *surroundings);
/* Addresses, routes or links have changed; NULL is allowed. */
void surroundings_network_changed(struct surroundings *surroundings);

#endif
