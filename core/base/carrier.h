/* SPDX-License-Identifier: MIT */
/* The two ways a WireGuard message can travel, and what a person may ask for. */
#ifndef WGTCP_CORE_BASE_CARRIER_H
#define WGTCP_CORE_BASE_CARRIER_H

enum carrier { CARRIER_NONE, CARRIER_UDP, CARRIER_TCP };

enum transport { TRANSPORT_AUTO, TRANSPORT_UDP, TRANSPORT_TCP };

#endif
