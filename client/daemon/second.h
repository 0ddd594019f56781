/* SPDX-License-Identifier: MIT */
/* The FallbackProfile of a tunnel: a second tunnel with an interface, keys and addresses of its own, brought
 * up beside the first when that does not answer, and taken down a while after it does again. For everybody
 * outside the two are one: the second one is lent, and what it says goes out under the first one's name. They
 * share a mark, so that policy rules and the kill switch hold for both; routes and DNS change hands
 * (carry.c). When to change is core/carrier/profile_pair's. Main thread. Only for the files that tunnel.h
 * names. */
#ifndef WGTCP_CLIENT_DAEMON_SECOND_H
#define WGTCP_CLIENT_DAEMON_SECOND_H

#include "client/daemon/tunnel_state.h"

struct second;

/* After the profile is read: checks what FallbackProfile names, where there is one and the wishes allow it.
 * STEP_DONE or STEP_FAILED, with tunnel->failure. */
enum step_result second_prepare(struct tunnel *tunnel);
/* Takes the second tunnel down. Harmless without one. */
void second_free(struct tunnel *tunnel);
/* The first one calls its peers from now on. */
void second_start(struct tunnel *tunnel);
/* Something about either of them has changed: looks at it soon, not within this call. */
void second_wake(struct tunnel *tunnel);
void second_network_changed(struct tunnel *tunnel);
/* A lent tunnel goes away for good. */
void second_forget(struct tunnel *lent);

/* The second one carries the tunnel. */
bool second_carries(const struct tunnel *tunnel);
/* It may come up yet. */
bool second_hopes(const struct tunnel *tunnel);
/* A second_switch is under way. */
bool second_switches(const struct tunnel *tunnel);
/* The other one of the two; NULL: none, or not there. */
struct tunnel *second_mate(const struct tunnel *tunnel);
/* What a person sees of the first while the second carries; and of one that is lent. */
const struct rpc_tunnel *second_view(const struct tunnel *tunnel);
/* The tunnel that moves the packets: the second one or itself. */
struct tunnel *second_carrier(const struct tunnel *tunnel);
/* By a person's word: TCP is the second one, UDP the first. False: it is not a matter of the profiles. */
bool second_switch(struct tunnel *tunnel, enum transport transport);

/* ---- second_check.c ---- */
/* False, with tunnel->failure: it cannot serve. *used: it does, by that *transport of its profile; else it is
 * left out of it, which is said as a warning. */
bool second_check(struct tunnel *tunnel, const char *name, bool *used, enum transport *transport);

/* ---- carry.c ---- */
/* Routes, policy rules and DNS of `from` become those of `to`, and at no moment nobody's. */
void carry_over(struct tunnel *from, struct tunnel *to);

#endif
