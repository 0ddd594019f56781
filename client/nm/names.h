/* SPDX-License-Identifier: MIT */
/* What NetworkManager and our parts call each other by. */
#ifndef WGTCP_CLIENT_NM_NAMES_H
#define WGTCP_CLIENT_NM_NAMES_H

#define NM_WGTCP_SERVICE "org.freedesktop.NetworkManager.wgtcp"
#define NM_WGTCP_MANAGER "NetworkManager" /* as the daemon shows it */
#define NM_WGTCP_SOCKET "/run/wgtcp/wgtcpd.sock"

#endif
