/* SPDX-License-Identifier: MIT */
/* The VPN service that NetworkManager starts, one process for each connection. Main thread. */
#ifndef WGTCP_CLIENT_NM_SERVICE_H
#define WGTCP_CLIENT_NM_SERVICE_H

#include <NetworkManager.h>

/* bus_name: under which NetworkManager looks for it. NULL with error. */
NMVpnServicePlugin *service_new(const char *bus_name, GError **error);

#endif
