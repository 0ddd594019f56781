/* SPDX-License-Identifier: MIT */
/* The words of the protocol as enums. The order of each enum is that of protocol.md; a word that is not
 * listed there is refused, since words belong to the protocol's version. Pure. */
#ifndef WGTCP_CLIENT_RPC_WORDS_H
#define WGTCP_CLIENT_RPC_WORDS_H

#include "core/base/carrier.h"

#include <stdbool.h>

enum rpc_state {
	RPC_STATE_DOWN,
	RPC_STATE_CONNECTING,
	RPC_STATE_VERIFYING,
	RPC_STATE_UP,
	RPC_STATE_DEGRADED,
	RPC_STATE_RECONNECTING,
	RPC_STATE_FAILED,
};

enum rpc_cause {
	RPC_CAUSE_NONE,
	RPC_CAUSE_NO_NETWORK,
	RPC_CAUSE_CAPTIVE_PORTAL,
	RPC_CAUSE_DNS_FAILED,
	RPC_CAUSE_PEER_UNREACHABLE,
	RPC_CAUSE_HANDSHAKE_REFUSED,
	RPC_CAUSE_CLOCK,
	RPC_CAUSE_PERMISSION,
	RPC_CAUSE_BUSY,
	RPC_CAUSE_CONFIG,
};

enum rpc_verified { RPC_VERIFIED_NONE, RPC_VERIFIED_HANDSHAKE, RPC_VERIFIED_SMALL, RPC_VERIFIED_FULL };

/* The only way on which full-size packets pass by UDP. */
enum rpc_large { RPC_LARGE_UNKNOWN, RPC_LARGE_THERE, RPC_LARGE_BACK };

enum rpc_udp { RPC_UDP_UNKNOWN, RPC_UDP_OK, RPC_UDP_BLOCKED, RPC_UDP_UNUSED };

/* Why the carrier is what it is. */
enum rpc_reason {
	RPC_REASON_NONE,
	RPC_REASON_CHOSEN,
	RPC_REASON_UDP_SILENT,
	RPC_REASON_UDP_REJECTED,
	RPC_REASON_UDP_NO_DATA,
	RPC_REASON_UDP_NO_LARGE,
	RPC_REASON_UDP_FLAPPING,
	RPC_REASON_REMEMBERED,
	RPC_REASON_UDP_WORKS,
};

/* What carries the tunnel now. */
enum rpc_backend {
	RPC_BACKEND_NONE,
	RPC_BACKEND_KERNEL,
	RPC_BACKEND_KERNEL_WGTCP,
	RPC_BACKEND_KERNEL_RELAY,
	RPC_BACKEND_USERSPACE,
};

/* What a person asks for. */
enum rpc_backend_choice { RPC_BACKEND_CHOICE_AUTO, RPC_BACKEND_CHOICE_KERNEL, RPC_BACKEND_CHOICE_USERSPACE };

/* What this client may do. */
enum rpc_permission { RPC_PERMISSION_READ, RPC_PERMISSION_ALL };

/* Whether traffic may go past the tunnels. */
enum rpc_kill_switch { RPC_KILL_SWITCH_OFF, RPC_KILL_SWITCH_ON, RPC_KILL_SWITCH_OPEN };

enum rpc_level { RPC_LEVEL_ERROR, RPC_LEVEL_WARNING, RPC_LEVEL_INFO, RPC_LEVEL_DEBUG };

/* What a tunnel.up is doing just now. */
enum rpc_step {
	RPC_STEP_STARTING,
	RPC_STEP_WAITING_FOR_NETWORK,
	RPC_STEP_RESOLVING,
	RPC_STEP_TRYING_UDP,
	RPC_STEP_TRYING_TCP,
	RPC_STEP_VERIFYING,
};

/* What a diagnosis looks at, and what it finds. */
enum rpc_check_kind {
	RPC_CHECK_TUNNEL,
	RPC_CHECK_LINK,
	RPC_CHECK_ROUTE,
	RPC_CHECK_IPV4,
	RPC_CHECK_IPV6,
	RPC_CHECK_DNS,
	RPC_CHECK_CAPTIVE_PORTAL,
	RPC_CHECK_UDP,
	RPC_CHECK_TCP,
	RPC_CHECK_HANDSHAKE,
	RPC_CHECK_MTU,
	RPC_CHECK_CLOCK,
	RPC_CHECK_KERNEL,
	RPC_CHECK_LEFTOVERS,
	RPC_CHECK_KILL_SWITCH,
};

enum rpc_verdict { RPC_VERDICT_OK, RPC_VERDICT_WARNING, RPC_VERDICT_BAD, RPC_VERDICT_UNKNOWN };

enum rpc_method {
	RPC_METHOD_DAEMON_INFO,
	RPC_METHOD_TUNNEL_LIST,
	RPC_METHOD_TUNNEL_UP,
	RPC_METHOD_TUNNEL_DOWN,
	RPC_METHOD_TUNNEL_STATUS,
	RPC_METHOD_TUNNEL_IMPORT,
	RPC_METHOD_TUNNEL_EXPORT,
	RPC_METHOD_TUNNEL_DELETE,
	RPC_METHOD_TUNNEL_SET,
	RPC_METHOD_TUNNEL_SWITCH,
	RPC_METHOD_KILLSWITCH_UNLOCK,
	RPC_METHOD_DIAGNOSE,
	RPC_METHOD_LOGS,
	RPC_METHOD_WATCH,
	RPC_METHOD_SPEEDTEST_PREPARE,
	RPC_METHOD_SPEEDTEST_END,
	RPC_METHOD_HISTORY,
	RPC_METHOD_SERVER_INIT,
	RPC_METHOD_SERVER_ADD,
};

enum rpc_notice_kind {
	RPC_NOTICE_STATE,
	RPC_NOTICE_STATS,
	RPC_NOTICE_PROGRESS,
	RPC_NOTICE_LOG,
	RPC_NOTICE_SPEEDTEST,
};

/* How coarse a history is. */
enum rpc_resolution { RPC_RESOLUTION_MINUTE, RPC_RESOLUTION_HOUR };

/* A table of words, indexed by the enum's value and ended by NULL. */
extern const char *const rpc_state_words[];
extern const char *const rpc_cause_words[];
extern const char *const rpc_verified_words[];
extern const char *const rpc_udp_words[];
extern const char *const rpc_large_words[];
extern const char *const rpc_reason_words[];
extern const char *const rpc_backend_words[];
extern const char *const rpc_backend_choice_words[];
extern const char *const rpc_permission_words[];
extern const char *const rpc_kill_switch_words[];
extern const char *const rpc_check_words[];
extern const char *const rpc_verdict_words[];
extern const char *const rpc_level_words[];
extern const char *const rpc_step_words[];
extern const char *const rpc_resolution_words[];
extern const char *const rpc_method_words[];
extern const char *const rpc_notice_words[];
extern const char *const rpc_carrier_words[];   /* enum carrier */
extern const char *const rpc_transport_words[]; /* enum transport */

/* The value whose word is text, into *value; false (and *value as it was) when there is none.
 *     int value;
 *     if (rpc_word_parse(rpc_state_words, "up", &value))
 *             state = (enum rpc_state)value; */
bool rpc_word_parse(const char *const words[], const char *text, int *value);

#endif
