/* SPDX-License-Identifier: MIT */
/* What wgtcpd does where no daemon runs, and then ends: the kill switch at boot, and its end. Each returns an
 * exit code and has said why on standard error. */
#ifndef WGTCP_CLIENT_DAEMON_ONCE_H
#define WGTCP_CLIENT_DAEMON_ONCE_H

#include "client/daemon/options.h"

/* Puts the kill switch in place that was on when the machine went down, and that of every profile that
 * connects by itself: before the network is up. Does nothing while a daemon runs, which sees to it itself. */
int once_restore(const struct options *options, int state_folder);
/* Ends it, or opens it for options->for_s; also beside a daemon that does not answer. */
int once_unlock(const struct options *options, int state_folder);

#endif
