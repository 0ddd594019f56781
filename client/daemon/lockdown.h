/* SPDX-License-Identifier: MIT */
/* The kill switch of this machine: which tunnels want it, what may pass it, and the file that brings it back
 * after a restart. It is on while one tunnel holds it, also when that tunnel is down against its user's will
 * and when no daemon runs. It ends with `down`, or with `unlock`. Main thread. */
#ifndef WGTCP_CLIENT_DAEMON_LOCKDOWN_H
#define WGTCP_CLIENT_DAEMON_LOCKDOWN_H

#include "client/daemon/journal.h"
#include "client/daemon/lockdown_text.h"
#include "client/rpc/words.h"
#include "core/port/kill_switch.h"

#define LOCKDOWN_OPEN_MAX_S 86400

struct lockdown;

/* Puts the kill switch in place that the file asks for, and takes a forgotten one away. changed: called when
 * it is opened and when it is closed again. */
struct lockdown *lockdown_new(
	int state_folder, struct journal *journal, void (*changed)(void *user), void *user);
/* The kill switch stays as it is. NULL is allowed. */
void lockdown_free(struct lockdown *lockdown);

/* On for this tunnel, until lockdown_release. 0, or -errno with a sentence, and nothing has changed. */
int lockdown_hold(struct lockdown *lockdown, const char *name, bool lan, char why[KILL_SWITCH_WHY_LEN]);
/* False when it did not hold it. */
bool lockdown_release(struct lockdown *lockdown, const char *name);
/* This tunnel is there, whether it holds or not: what goes into its interface and what its sockets with this
 * mark (0: they have none) send may pass from now on. */
void lockdown_let_pass(struct lockdown *lockdown, const char *name, uint32_t mark);
/* The tunnel is gone; a hold stays. */
void lockdown_forget(struct lockdown *lockdown, const char *name);

/* This machine may be in other local networks now. */
void lockdown_network_changed(struct lockdown *lockdown);

/* Ends all holds. 0, or -errno with a sentence. */
int lockdown_unlock(struct lockdown *lockdown, char why[KILL_SWITCH_WHY_LEN]);
/* Lets everything pass for so many seconds. */
int lockdown_open(struct lockdown *lockdown, uint32_t seconds, char why[KILL_SWITCH_WHY_LEN]);

enum rpc_kill_switch lockdown_state(const struct lockdown *lockdown);
bool lockdown_holds(const struct lockdown *lockdown, const char *name);
/* 0, or -errno: what is on now could not be written down, so neither the next daemon nor the next boot knows of it. */
int lockdown_unsaved(const struct lockdown *lockdown);
/* Who holds it, and until when it is open. Borrowed. */
const struct lockdown_file *lockdown_file(const struct lockdown *lockdown);

/* ---- without a daemon ---- */
/* What the file in the state folder asks for, at boot, and those holds besides. */
int lockdown_restore(
	int state_folder, const struct lockdown_hold *more, size_t count, char why[KILL_SWITCH_WHY_LEN]);
/* `unlock` where no daemon answers: open_s 0: for good. */
int lockdown_lift(int state_folder, uint32_t open_s, char why[KILL_SWITCH_WHY_LEN]);

#endif
