/* SPDX-License-Identifier: MIT */
/* `diagnose`: what works on this machine and on the way to a tunnel's peers, and what does not. It changes
 * nothing: a tunnel that is there is judged by its state, one that is not by a short-lived engine of its own
 * on an interface without addresses and routes. One at a time; it ends within 10 s. Main thread, GLib main
 * loop.
 *
 * Files: diagnose.c (its life), diagnose_look.c (this machine), diagnose_peer.c (the ways to the peers),
 * diagnose_engine.c (the engine), diagnose_judge*.c (from what was seen to sentences, pure). */
#ifndef WGTCP_CLIENT_DAEMON_DIAGNOSE_H
#define WGTCP_CLIENT_DAEMON_DIAGNOSE_H

#include <stdbool.h>

struct client;
struct daemon;

#define DIAGNOSE_INTERFACE "wgtcp-doctor"

/* The client has gone: whatever it asked for ends. */
void diagnose_client_gone(struct daemon *daemon, const struct client *client);
/* The daemon ends. */
void diagnose_cancel(struct daemon *daemon);
/* Its interface would outlive a daemon that is killed. */
bool diagnose_has_interface(const struct daemon *daemon);

#endif
