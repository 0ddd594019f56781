/* SPDX-License-Identifier: MIT */
/* The socket's file: made where nobody but root can put another one in its place, and missed when somebody
 * removes it. */
#ifndef WGTCP_CLIENT_DAEMON_LISTENER_SOCKET_H
#define WGTCP_CLIENT_DAEMON_LISTENER_SOCKET_H

struct listener_file;

/* Makes the folder if it is missing, and a listening socket in it. 0 with *fd, or -errno; -EADDRINUSE:
 * somebody listens there; -EPERM: others may change the folder, and could put a socket of theirs there. */
int listener_socket_open(const char *path, int *fd);

/* Tells gone once the file or its folder is no longer there, each time, until closed.
 * Where it cannot be watched, nothing is told. */
struct listener_file *listener_file_watch(const char *path, void (*gone)(void *user), void *user);
/* Leaves the file alone. NULL is allowed. */
void listener_file_forget(struct listener_file *file);
/* Removes the file too, if it is still the one that was watched. NULL is allowed. */
void listener_file_close(struct listener_file *file);

#endif
