/* SPDX-License-Identifier: MIT */
/* One line a field, in the order in which they are written. protocol.md says what they mean. */
#include "client/rpc/shapes.h"

#include <assert.h>

/* The formatter tears macros that are braces apart. */
/* clang-format off */
#define TEXT(type, member) \
	{ #member, FIELD_TEXT, false, offsetof(type, member), FIELD_ROOM(type, member), 0, 0, 0, 0 }
#define PLAIN(kind, type, key, member) { key, kind, false, offsetof(type, member), 0, 0, 0, 0, 0 }
#define BOOL(type, member) PLAIN(FIELD_BOOL, type, #member, member)
#define U32(type, member) PLAIN(FIELD_U32, type, #member, member)
#define U64(type, member) PLAIN(FIELD_U64, type, #member, member)
#define WORD(type, member, table) { #member, FIELD_WORD, false, offsetof(type, member), 0, 0, 0, table, 0 }
#define LIST(type, key, member, counter, item, table) \
	{ key, FIELD_LIST, false, offsetof(type, member), sizeof(item), offsetof(type, counter), 0, 0, table }
#define TEXTS(type, member) \
	{ #member, FIELD_TEXTS, false, offsetof(type, member.items), 0, offsetof(type, member.count), 0, 0, 0 }
#define END { 0 }
/* clang-format on */

static_assert(sizeof(enum rpc_state) == sizeof(int) && sizeof(enum carrier) == sizeof(int),
	"words are stored as int");

static const struct field note[] = {
	U32(struct rpc_note, line),
	U32(struct rpc_note, column),
	TEXT(struct rpc_note, text),
	END,
};
#define NOTES(type, key, member) LIST(type, key, member.items, member.count, struct rpc_note, note)

/* ---- params ---- */

/* clang-format off */
#define NAME_REQUIRED \
	{ "name", FIELD_TEXT, true, offsetof(struct rpc_request, name), RPC_NAME_LEN, 0, 0, 0, 0 }
#define TRANSPORT(needed) \
	{ "transport", FIELD_WORD, needed, offsetof(struct rpc_request, transport), 0, 0, \
		offsetof(struct rpc_request, has_transport), rpc_transport_words, 0 }
/* clang-format on */

static const struct field params_none[] = { END };
static const struct field params_status[] = {
	TEXT(struct rpc_request, name),
	U32(struct rpc_request, peer_from),
	U32(struct rpc_request, tunnel_from),
	END,
};
static const struct field params_list[] = { U32(struct rpc_request, tunnel_from), END };
/* clang-format off */
#define GIVEN_WORD(type, member, has_member, table) \
	{ #member, FIELD_WORD, false, offsetof(type, member), 0, 0, offsetof(type, has_member), table, 0 }
#define GIVEN_KEY(type, member) \
	{ #member, FIELD_TEXT, true, offsetof(type, member), FIELD_ROOM(type, member), 0, 0, 0, 0 }
/* clang-format on */
static const struct field given_peer[] = {
	TEXT(struct rpc_given_peer, name),
	GIVEN_KEY(struct rpc_given_peer, public_key),
	TEXT(struct rpc_given_peer, preshared_key),
	TEXTS(struct rpc_given_peer, allowed_ips),
	TEXT(struct rpc_given_peer, endpoint),
	TEXTS(struct rpc_given_peer, tcp_endpoints),
	TEXTS(struct rpc_given_peer, udp_ports),
	U32(struct rpc_given_peer, keepalive_s),
	GIVEN_WORD(struct rpc_given_peer, transport, has_transport, rpc_transport_words),
	TEXT(struct rpc_given_peer, probe_address),
	END,
};
static const struct field given[] = {
	TEXT(struct rpc_given, name),
	GIVEN_KEY(struct rpc_given, private_key),
	TEXTS(struct rpc_given, addresses),
	TEXTS(struct rpc_given, dns),
	{ "listen_port", FIELD_U32, false, offsetof(struct rpc_given, listen_port), 0, 0,
		offsetof(struct rpc_given, has_listen_port), 0, 0 },
	{ "tcp_listen_port", FIELD_U32, false, offsetof(struct rpc_given, tcp_listen_port), 0, 0,
		offsetof(struct rpc_given, has_tcp_listen_port), 0, 0 },
	U32(struct rpc_given, mtu),
	U32(struct rpc_given, fwmark),
	TEXT(struct rpc_given, table),
	GIVEN_WORD(struct rpc_given, transport, has_transport, rpc_transport_words),
	GIVEN_WORD(struct rpc_given, backend, has_backend, rpc_backend_choice_words),
	BOOL(struct rpc_given, kill_switch),
	BOOL(struct rpc_given, kill_switch_lan),
	{ "extensions", FIELD_BOOL, false, offsetof(struct rpc_given, extensions), 0, 0,
		offsetof(struct rpc_given, has_extensions), 0, 0 },
	TEXT(struct rpc_given, portal_check),
	LIST(struct rpc_given, "peers", peers, peer_count, struct rpc_given_peer, given_peer),
	END,
};
static const struct field params_up[] = {
	NAME_REQUIRED,
	TRANSPORT(false),
	{ "backend", FIELD_WORD, false, offsetof(struct rpc_request, backend), 0, 0,
		offsetof(struct rpc_request, has_backend), rpc_backend_choice_words, 0 },
	U32(struct rpc_request, timeout_ms),
	{ "given", FIELD_OBJECT, false, offsetof(struct rpc_request, given), 0, 0,
		offsetof(struct rpc_request, has_given), 0, given },
	TEXT(struct rpc_request, managed_by),
	END,
};
static const struct field params_down[] = {
	NAME_REQUIRED,
	{ "request", FIELD_I64, false, offsetof(struct rpc_request, request), 0, 0,
		offsetof(struct rpc_request, has_request), 0, 0 },
	END,
};
static const struct field params_switch[] = {
	NAME_REQUIRED,
	TRANSPORT(true),
	TEXT(struct rpc_request, peer),
	END,
};
static const struct field params_import[] = {
	{ "text", FIELD_STRING, true, offsetof(struct rpc_request, text), 0, 0, 0, 0, 0 },
	TEXT(struct rpc_request, name),
	TEXT(struct rpc_request, file),
	BOOL(struct rpc_request, replace),
	END,
};
static const struct field params_export[] = {
	NAME_REQUIRED,
	BOOL(struct rpc_request, hide_keys),
	BOOL(struct rpc_request, beside),
	END,
};
static const struct field params_delete[] = { NAME_REQUIRED, END };
static const struct field setting[] = {
	{ "key", FIELD_TEXT, true, offsetof(struct rpc_setting, key), FIELD_ROOM(struct rpc_setting, key), 0,
		0, 0, 0 },
	{ "value", FIELD_STRING, true, offsetof(struct rpc_setting, value), 0, 0, 0, 0, 0 },
	END,
};
static const struct field params_set[] = {
	NAME_REQUIRED,
	TEXT(struct rpc_request, peer),
	{ "settings", FIELD_LIST, true, offsetof(struct rpc_request, settings), sizeof(struct rpc_setting),
		offsetof(struct rpc_request, setting_count), 0, 0, setting },
	END,
};
static const struct field params_logs[] = {
	U32(struct rpc_request, lines),
	BOOL(struct rpc_request, follow),
	END,
};

static const struct field params_unlock[] = { U32(struct rpc_request, for_s), END };

static const struct field params_prepare[] = { NAME_REQUIRED, TEXT(struct rpc_request, peer), END };
static const struct field params_history[] = {
	NAME_REQUIRED,
	WORD(struct rpc_request, resolution, rpc_resolution_words),
	U64(struct rpc_request, before),
	END,
};
static const struct field params_server_init[] = {
	{ "endpoint", FIELD_TEXT, true, offsetof(struct rpc_request, endpoint), RPC_HOST_LEN, 0, 0, 0, 0 },
	U32(struct rpc_request, port),
	TEXT(struct rpc_request, name),
	TEXT(struct rpc_request, client),
	END,
};
static const struct field params_server_add[] = {
	{ "client", FIELD_TEXT, true, offsetof(struct rpc_request, client), RPC_NAME_LEN, 0, 0, 0, 0 },
	TEXT(struct rpc_request, name),
	TEXT(struct rpc_request, endpoint),
	U32(struct rpc_request, port),
	END,
};

static const struct field params_diagnose[] = { TEXT(struct rpc_request, name), END };

const struct field *shape_of_params(enum rpc_method method)
{
	switch (method) {
	case RPC_METHOD_DAEMON_INFO:
	case RPC_METHOD_WATCH:
	case RPC_METHOD_SPEEDTEST_END:
		return params_none;
	case RPC_METHOD_TUNNEL_LIST:
		return params_list;
	case RPC_METHOD_SPEEDTEST_PREPARE:
		return params_prepare;
	case RPC_METHOD_HISTORY:
		return params_history;
	case RPC_METHOD_TUNNEL_UP:
		return params_up;
	case RPC_METHOD_TUNNEL_DOWN:
		return params_down;
	case RPC_METHOD_TUNNEL_STATUS:
		return params_status;
	case RPC_METHOD_TUNNEL_IMPORT:
		return params_import;
	case RPC_METHOD_TUNNEL_EXPORT:
		return params_export;
	case RPC_METHOD_TUNNEL_DELETE:
		return params_delete;
	case RPC_METHOD_TUNNEL_SET:
		return params_set;
	case RPC_METHOD_TUNNEL_SWITCH:
		return params_switch;
	case RPC_METHOD_LOGS:
		return params_logs;
	case RPC_METHOD_SERVER_INIT:
		return params_server_init;
	case RPC_METHOD_SERVER_ADD:
		return params_server_add;
	case RPC_METHOD_KILLSWITCH_UNLOCK:
		return params_unlock;
	case RPC_METHOD_DIAGNOSE:
		return params_diagnose;
	}
	return NULL;
}

/* ---- objects ---- */

static const struct field peer[] = {
	TEXT(struct rpc_peer, public_key),
	TEXT(struct rpc_peer, endpoint),
	WORD(struct rpc_peer, state, rpc_state_words),
	WORD(struct rpc_peer, cause, rpc_cause_words),
	WORD(struct rpc_peer, verified, rpc_verified_words),
	WORD(struct rpc_peer, reason, rpc_reason_words),
	WORD(struct rpc_peer, carrier, rpc_carrier_words),
	WORD(struct rpc_peer, udp, rpc_udp_words),
	U64(struct rpc_peer, last_handshake),
	PLAIN(FIELD_MS, struct rpc_peer, "rtt_ms", rtt_us),
	U64(struct rpc_peer, rx_bytes),
	U64(struct rpc_peer, tx_bytes),
	U64(struct rpc_peer, rx_bps),
	U64(struct rpc_peer, tx_bps),
	U32(struct rpc_peer, echoes),
	U32(struct rpc_peer, loss_permille),
	PLAIN(FIELD_MS, struct rpc_peer, "jitter_ms", jitter_us),
	PLAIN(FIELD_MS, struct rpc_peer, "carrier_rtt_ms", carrier_rtt_us),
	BOOL(struct rpc_peer, preshared_key_differs),
	WORD(struct rpc_peer, large_passes, rpc_large_words),
	TEXT(struct rpc_peer, name),
	END,
};
static const struct field tunnel[] = {
	TEXT(struct rpc_tunnel, name),
	TEXT(struct rpc_tunnel, display_name),
	TEXT(struct rpc_tunnel, profile),
	WORD(struct rpc_tunnel, state, rpc_state_words),
	WORD(struct rpc_tunnel, cause, rpc_cause_words),
	WORD(struct rpc_tunnel, verified, rpc_verified_words),
	WORD(struct rpc_tunnel, reason, rpc_reason_words),
	TEXT(struct rpc_tunnel, interface),
	WORD(struct rpc_tunnel, backend, rpc_backend_words),
	TEXT(struct rpc_tunnel, backend_reason),
	WORD(struct rpc_tunnel, carrier, rpc_carrier_words),
	WORD(struct rpc_tunnel, transport, rpc_transport_words),
	U32(struct rpc_tunnel, mtu),
	U64(struct rpc_tunnel, since),
	WORD(struct rpc_tunnel, udp, rpc_udp_words),
	WORD(struct rpc_tunnel, kill_switch, rpc_kill_switch_words),
	TEXT(struct rpc_tunnel, managed_by),
	TEXT(struct rpc_tunnel, message),
	TEXTS(struct rpc_tunnel, warnings),
	LIST(struct rpc_tunnel, "peers", peers, peer_count, struct rpc_peer, peer),
	U32(struct rpc_tunnel, peers_total),
	END,
};
static const struct field sample[] = {
	U64(struct rpc_sample, time),
	U64(struct rpc_sample, rx_bps),
	U64(struct rpc_sample, tx_bps),
	PLAIN(FIELD_MS, struct rpc_sample, "rtt_ms", rtt_us),
	U32(struct rpc_sample, echoes),
	U32(struct rpc_sample, loss_permille),
	PLAIN(FIELD_MS, struct rpc_sample, "jitter_ms", jitter_us),
	END,
};
static const struct field entry[] = {
	TEXT(struct rpc_entry, name),
	TEXT(struct rpc_entry, display_name),
	TEXT(struct rpc_entry, file),
	BOOL(struct rpc_entry, read_only),
	WORD(struct rpc_entry, state, rpc_state_words),
	WORD(struct rpc_entry, transport, rpc_transport_words),
	WORD(struct rpc_entry, backend, rpc_backend_choice_words),
	BOOL(struct rpc_entry, auto_connect),
	TEXT(struct rpc_entry, error),
	END,
};
static const struct field lockdown[] = {
	WORD(struct rpc_lockdown, state, rpc_kill_switch_words),
	U64(struct rpc_lockdown, open_until),
	TEXTS(struct rpc_lockdown, tunnels),
	END,
};
static const struct field log_entry[] = {
	U64(struct rpc_log, time_ms),
	WORD(struct rpc_log, level, rpc_level_words),
	TEXT(struct rpc_log, name),
	TEXT(struct rpc_log, text),
	END,
};

static const struct field check[] = {
	WORD(struct rpc_check, check, rpc_check_words),
	TEXT(struct rpc_check, subject),
	WORD(struct rpc_check, verdict, rpc_verdict_words),
	TEXT(struct rpc_check, text),
	TEXT(struct rpc_check, cure),
	END,
};

static const struct field point[] = {
	U64(struct rpc_point, time),
	U64(struct rpc_point, rx_bytes),
	U64(struct rpc_point, tx_bytes),
	U64(struct rpc_point, rx_max_bps),
	U64(struct rpc_point, tx_max_bps),
	PLAIN(FIELD_MS, struct rpc_point, "rtt_ms", rtt_us),
	PLAIN(FIELD_MS, struct rpc_point, "rtt_max_ms", rtt_max_us),
	U32(struct rpc_point, echoes),
	U32(struct rpc_point, lost),
	END,
};
static const struct field echo[] = {
	U64(struct rpc_echo, sent_ms),
	PLAIN(FIELD_MS, struct rpc_echo, "rtt_ms", rtt_us),
	END,
};

/* ---- results: offsets from struct rpc_result ---- */

/* clang-format off */
#define IN(member) offsetof(struct rpc_result, member)
#define IN_TEXT(key, member) \
	{ key, FIELD_TEXT, false, IN(member), FIELD_ROOM(struct rpc_result, member), 0, 0, 0, 0 }
/* clang-format on */

static const struct field result_info[] = {
	IN_TEXT("daemon_version", info.daemon_version),
	PLAIN(FIELD_U32, struct rpc_result, "pid", info.pid),
	{ "permission", FIELD_WORD, false, IN(info.permission), 0, 0, 0, rpc_permission_words, 0 },
	IN_TEXT("config_dir", info.config_dir),
	IN_TEXT("state_dir", info.state_dir),
	END,
};
static const struct field result_list[] = {
	LIST(struct rpc_result, "tunnels", list.tunnels, list.tunnel_count, struct rpc_entry, entry),
	PLAIN(FIELD_U32, struct rpc_result, "tunnel_from", list.tunnel_from),
	PLAIN(FIELD_U32, struct rpc_result, "tunnels_total", list.tunnels_total),
	END,
};
static const struct field result_status[] = {
	LIST(struct rpc_result, "tunnels", status.tunnels, status.tunnel_count, struct rpc_tunnel, tunnel),
	{ "kill_switch", FIELD_OBJECT, false, IN(status.lockdown), 0, 0, 0, 0, lockdown },
	PLAIN(FIELD_U32, struct rpc_result, "tunnel_from", status.tunnel_from),
	PLAIN(FIELD_U32, struct rpc_result, "tunnels_total", status.tunnels_total),
	END,
};
static const struct field result_unlocked[] = {
	PLAIN(FIELD_BOOL, struct rpc_result, "changed", unlocked.changed),
	{ "kill_switch", FIELD_OBJECT, false, IN(unlocked.lockdown), 0, 0, 0, 0, lockdown },
	END,
};
/* clang-format off */
#define MOVED_TUNNEL \
	{ "tunnel", FIELD_OBJECT, true, IN(moved.tunnel), 0, 0, 0, 0, tunnel }
#define MOVED_WARNINGS \
	{ "warnings", FIELD_TEXTS, false, IN(moved.warnings.items), 0, IN(moved.warnings.count), 0, 0, 0 }
/* clang-format on */
static const struct field result_up[] = {
	MOVED_TUNNEL,
	PLAIN(FIELD_BOOL, struct rpc_result, "began", moved.began),
	MOVED_WARNINGS,
	{ "routes", FIELD_TEXTS, false, IN(moved.routes.items), 0, IN(moved.routes.count), 0, 0, 0 },
	END,
};
static const struct field result_switch[] = { MOVED_TUNNEL, MOVED_WARNINGS, END };
static const struct field result_done[] = {
	IN_TEXT("name", done.name),
	IN_TEXT("display_name", done.display_name),
	IN_TEXT("file", done.file),
	PLAIN(FIELD_BOOL, struct rpc_result, "changed", done.changed),
	NOTES(struct rpc_result, "warnings", done.warnings),
	END,
};
static const struct field result_exported[] = {
	IN_TEXT("name", exported.name),
	{ "text", FIELD_STRING, false, IN(exported.text), 0, 0, 0, 0, 0 },
	PLAIN(FIELD_U32, struct rpc_result, "beside", exported.beside),
	PLAIN(FIELD_BOOL, struct rpc_result, "hidden", exported.hidden),
	END,
};
static const struct field result_served[] = {
	IN_TEXT("name", served.name),
	IN_TEXT("file", served.file),
	IN_TEXT("client", served.client),
	IN_TEXT("endpoint", served.endpoint),
	{ "text", FIELD_STRING, true, IN(served.text), 0, 0, 0, 0, 0 },
	PLAIN(FIELD_BOOL, struct rpc_result, "changed", served.changed),
	NOTES(struct rpc_result, "warnings", served.warnings),
	END,
};
static const struct field result_logs[] = {
	LIST(struct rpc_result, "entries", logs.entries, logs.entry_count, struct rpc_log, log_entry),
	END,
};

static const struct field result_diagnosis[] = {
	IN_TEXT("name", diagnosis.name),
	{ "verdict", FIELD_WORD, false, IN(diagnosis.verdict), 0, 0, 0, rpc_verdict_words, 0 },
	PLAIN(FIELD_I32, struct rpc_result, "code", diagnosis.code),
	{ "cause", FIELD_WORD, false, IN(diagnosis.cause), 0, 0, 0, rpc_cause_words, 0 },
	IN_TEXT("summary", diagnosis.summary),
	LIST(struct rpc_result, "checks", diagnosis.checks, diagnosis.check_count, struct rpc_check, check),
	END,
};

static const struct field result_prepared[] = {
	IN_TEXT("name", prepared.name),
	IN_TEXT("interface", prepared.interface),
	IN_TEXT("source", prepared.source),
	IN_TEXT("address", prepared.address),
	PLAIN(FIELD_U32, struct rpc_result, "port", prepared.port),
	IN_TEXT("peer", prepared.peer),
	{ "transport", FIELD_WORD, false, IN(prepared.transport), 0, 0, 0, rpc_transport_words, 0 },
	{ "carrier", FIELD_WORD, false, IN(prepared.carrier), 0, 0, 0, rpc_carrier_words, 0 },
	{ "backend", FIELD_WORD, false, IN(prepared.backend), 0, 0, 0, rpc_backend_words, 0 },
	PLAIN(FIELD_U32, struct rpc_result, "mtu", prepared.mtu),
	END,
};
static const struct field result_history[] = {
	IN_TEXT("name", history.name),
	{ "resolution", FIELD_WORD, false, IN(history.resolution), 0, 0, 0, rpc_resolution_words, 0 },
	LIST(struct rpc_result, "points", history.points, history.point_count, struct rpc_point, point),
	END,
};

const struct field *shape_of_result(enum rpc_method method)
{
	switch (method) {
	case RPC_METHOD_DAEMON_INFO:
		return result_info;
	case RPC_METHOD_TUNNEL_LIST:
		return result_list;
	case RPC_METHOD_TUNNEL_UP:
		return result_up;
	case RPC_METHOD_TUNNEL_SWITCH:
		return result_switch;
	case RPC_METHOD_TUNNEL_DOWN:
	case RPC_METHOD_TUNNEL_IMPORT:
	case RPC_METHOD_TUNNEL_DELETE:
	case RPC_METHOD_TUNNEL_SET:
		return result_done;
	case RPC_METHOD_TUNNEL_STATUS:
		return result_status;
	case RPC_METHOD_TUNNEL_EXPORT:
		return result_exported;
	case RPC_METHOD_LOGS:
		return result_logs;
	case RPC_METHOD_SERVER_INIT:
	case RPC_METHOD_SERVER_ADD:
		return result_served;
	case RPC_METHOD_KILLSWITCH_UNLOCK:
		return result_unlocked;
	case RPC_METHOD_DIAGNOSE:
		return result_diagnosis;
	case RPC_METHOD_SPEEDTEST_PREPARE:
		return result_prepared;
	case RPC_METHOD_HISTORY:
		return result_history;
	case RPC_METHOD_WATCH:
	case RPC_METHOD_SPEEDTEST_END:
		return params_none;
	}
	return NULL;
}

/* ---- errors ---- */

const struct field shape_error_data[] = {
	WORD(struct rpc_error, cause, rpc_cause_words),
	{ "state", FIELD_WORD, false, offsetof(struct rpc_error, state), 0, 0,
		offsetof(struct rpc_error, has_state), rpc_state_words, 0 },
	NOTES(struct rpc_error, "notes", notes),
	END,
};
const struct field shape_error[] = {
	{ "code", FIELD_I32, true, offsetof(struct rpc_error, code), 0, 0, 0, 0, 0 },
	TEXT(struct rpc_error, message),
	/* The same struct goes on in "data". */
	{ "data", FIELD_OBJECT, false, 0, 0, 0, 0, 0, shape_error_data },
	END,
};

/* ---- notices: offsets from struct rpc_notice ---- */

/* clang-format off */
#define NOTICE(member) offsetof(struct rpc_notice, member)
#define NOTICE_TEXT(key, member) \
	{ key, FIELD_TEXT, false, NOTICE(member), FIELD_ROOM(struct rpc_notice, member), 0, 0, 0, 0 }
/* clang-format on */

static const struct field notice_state[] = {
	{ "tunnel", FIELD_OBJECT, true, NOTICE(state.tunnel), 0, 0, 0, 0, tunnel },
	PLAIN(FIELD_BOOL, struct rpc_notice, "gone", state.gone),
	END,
};
static const struct field notice_stats[] = {
	NOTICE_TEXT("name", stats.name),
	LIST(struct rpc_notice, "samples", stats.samples, stats.sample_count, struct rpc_sample, sample),
	LIST(struct rpc_notice, "peers", stats.peers, stats.peer_count, struct rpc_peer, peer),
	END,
};
static const struct field notice_progress[] = {
	PLAIN(FIELD_I64, struct rpc_notice, "request", progress.request),
	NOTICE_TEXT("name", progress.name),
	{ "step", FIELD_WORD, true, NOTICE(progress.step), 0, 0, 0, rpc_step_words, 0 },
	NOTICE_TEXT("text", progress.text),
	END,
};
static const struct field notice_log[] = {
	PLAIN(FIELD_U64, struct rpc_notice, "time_ms", log.time_ms),
	{ "level", FIELD_WORD, false, NOTICE(log.level), 0, 0, 0, rpc_level_words, 0 },
	NOTICE_TEXT("name", log.name),
	NOTICE_TEXT("text", log.text),
	END,
};

static const struct field notice_speedtest[] = {
	NOTICE_TEXT("name", speedtest.name),
	PLAIN(FIELD_U64, struct rpc_notice, "time_ms", speedtest.time_ms),
	PLAIN(FIELD_U64, struct rpc_notice, "rx_bytes", speedtest.rx_bytes),
	PLAIN(FIELD_U64, struct rpc_notice, "tx_bytes", speedtest.tx_bytes),
	PLAIN(FIELD_U64, struct rpc_notice, "cpu_ms", speedtest.cpu_ms),
	{ "state", FIELD_WORD, false, NOTICE(speedtest.state), 0, 0, 0, rpc_state_words, 0 },
	{ "carrier", FIELD_WORD, false, NOTICE(speedtest.carrier), 0, 0, 0, rpc_carrier_words, 0 },
	LIST(struct rpc_notice, "echoes", speedtest.echoes, speedtest.echo_count, struct rpc_echo, echo),
	END,
};

const struct field *shape_of_notice(enum rpc_notice_kind kind)
{
	switch (kind) {
	case RPC_NOTICE_STATE:
		return notice_state;
	case RPC_NOTICE_STATS:
		return notice_stats;
	case RPC_NOTICE_PROGRESS:
		return notice_progress;
	case RPC_NOTICE_LOG:
		return notice_log;
	case RPC_NOTICE_SPEEDTEST:
		return notice_speedtest;
	}
	return NULL;
}
