/* SPDX-License-Identifier: MIT */
/* Whether a captive portal stands between this machine and the world, as far as anybody can tell:
 * NetworkManager where it checks; else the network's own word (RFC 8910, 8908), else an address that a person
 * chose to be asked. Asked only while a tunnel is in trouble, and ever less often. Main thread. */
#ifndef WGTCP_CLIENT_DAEMON_PORTAL_H
#define WGTCP_CLIENT_DAEMON_PORTAL_H

#include <stdbool.h>
#include <stdint.h>

struct daemon;
struct network_manager;
struct portal_watch;

/* changed: from the main loop, when portal_is_captive has. */
struct portal_watch *portal_watch_new(
	struct daemon *daemon, struct network_manager *manager, void (*changed)(void *user), void *user);
/* NULL is allowed. */
void portal_watch_free(struct portal_watch *watch);

/* A tunnel gets no answer: finds out why, unless that has just been done. check: the address to ask, "" for
 * none; mark: of packets that go past the tunnels. Cheap: may be called each second. */
void portal_watch_wanted(struct portal_watch *watch, const char *check, uint32_t mark);
/* *url: its address as a person may be shown it, "" if unknown; borrowed. NULL is allowed. */
bool portal_is_captive(const struct portal_watch *watch, const char **url);
/* This machine may be in another network, or somebody tries anew: what is known counts no more. NULL is
 * allowed. */
void portal_watch_forget(struct portal_watch *watch);
/* NetworkManager knows something new. */
void portal_watch_look(struct portal_watch *watch);

#endif
