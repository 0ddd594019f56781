/* SPDX-License-Identifier: MIT */
/* One look-up of a name, both families at once, by c-ares. Inside the probe process. */
#ifndef WGTCP_CLIENT_DAEMON_PROBE_LOOK_UP_H
#define WGTCP_CLIENT_DAEMON_PROBE_LOOK_UP_H

#include "client/daemon/probe.h"

#include <poll.h>

#define LOOK_UP_HANDLES_MAX 16

struct look_up;

/* Once for each family, as the answers come; the look-up may not be freed in it. */
typedef void look_up_answered(enum ip_family family, enum probe_status status,
	const struct ip_address *addresses, size_t count, void *user);

/* request: name, search and servers (none: those of resolv.conf). NULL: nothing can be asked. Answers may
 * come before this returns (the hosts file). */
struct look_up *look_up_new(
	const struct probe_message *request, const char *name, look_up_answered *answered, void *user);
/* Answers that are still due do not come any more. NULL is allowed. */
void look_up_free(struct look_up *look_up);
bool look_up_is_over(const struct look_up *look_up);
/* What it waits for, at most LOOK_UP_HANDLES_MAX; the number. *timeout_ms is made smaller if it has to be. */
size_t look_up_wait(struct look_up *look_up, struct pollfd *out, int *timeout_ms);
/* After the wait, also when nothing is ready. */
void look_up_turn(struct look_up *look_up, const struct pollfd *ready, size_t count);

#endif
