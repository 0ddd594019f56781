/* SPDX-License-Identifier: MIT */
/* Client and server against each other in memory: every method's request and result, errors and notices,
 * arrive as they were sent. */
#include "client/rpc/conn.h"
#include "client/rpc/json.h"
#include "client/rpc/server.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct pair {
	struct rpc_conn *conn;
	struct rpc_server *server;
};

static struct pair pair_new(void)
{
	struct pair pair = { rpc_conn_new(), rpc_server_new() };

	assert_non_null(pair.conn);
	assert_non_null(pair.server);
	return pair;
}

static void pair_free(struct pair *pair)
{
	rpc_conn_free(pair->conn);
	rpc_server_free(pair->server);
}

/* Sends request; what the server sees of it. */
static struct rpc_request up(struct pair *pair, const struct rpc_request *request)
{
	int64_t id = rpc_conn_request(pair->conn, request);
	struct rpc_request seen;
	size_t len;
	const char *bytes = rpc_conn_output(pair->conn, &len);

	assert_true(id > 0);
	assert_int_equal(rpc_server_feed(pair->server, bytes, len), 0);
	rpc_conn_sent(pair->conn, len);
	assert_true(rpc_server_next(pair->server, &seen));
	assert_int_equal(seen.id.kind, RPC_ID_NUMBER);
	assert_int_equal(seen.id.number, id);
	return seen;
}

/* What the client sees of the server's output, which is one message. */
static struct rpc_event down(struct pair *pair)
{
	struct rpc_event event;
	size_t len;
	const char *bytes = rpc_server_output(pair->server, &len);

	assert_true(len && len <= RPC_LINE_MAX);
	assert_int_equal(rpc_conn_feed(pair->conn, bytes, len), 0);
	rpc_server_sent(pair->server, len);
	assert_int_equal(rpc_conn_next(pair->conn, &event), 1);
	return event;
}

static struct rpc_event ask(struct pair *pair, const struct rpc_result *result, const char *name)
{
	struct rpc_request request = { .method = result->method, .text = NULL };
	struct rpc_request seen;
	struct rpc_setting setting = { "MTU", (char *)"1280" };
	char text[] = "[Interface]\n";
	struct rpc_event event;

	snprintf(request.name, sizeof(request.name), "%s", name);
	request.has_transport = true;
	request.transport = TRANSPORT_TCP;
	if (request.method == RPC_METHOD_TUNNEL_IMPORT)
		request.text = text;
	if (request.method == RPC_METHOD_TUNNEL_SET) {
		request.settings = &setting;
		request.setting_count = 1;
	}
	seen = up(pair, &request);
	assert_int_equal(seen.method, result->method);
	rpc_server_reply(pair->server, &seen.id, result);
	event = down(pair);
	assert_int_equal(event.kind, RPC_EVENT_RESULT);
	assert_int_equal(event.id, seen.id.number);
	assert_int_equal(event.result.method, result->method);
	rpc_request_free(&seen);
	return event;
}

static void test_requests(void **state)
{
	struct rpc_setting settings[] = { { "Transport", (char *)"tcp" }, { "DNS", (char *)"" } };
	char text[] = "# Name = B\xc3\xbcro \"1\"\n[Interface]\nPrivateKey = (hidden)\n";
	struct rpc_request request = { .method = RPC_METHOD_TUNNEL_SET,
		.name = "office",
		.peer = "k=",
		.settings = settings,
		.setting_count = 2 };
	struct pair pair = pair_new();
	struct rpc_request seen = up(&pair, &request);

	(void)state;
	assert_string_equal(seen.name, "office");
	assert_string_equal(seen.peer, "k=");
	assert_int_equal(seen.setting_count, 2);
	assert_string_equal(seen.settings[0].key, "Transport");
	assert_string_equal(seen.settings[1].value, "");
	rpc_request_free(&seen);
	assert_null(seen.settings);

	request = (struct rpc_request){ .method = RPC_METHOD_TUNNEL_IMPORT,
		.text = text,
		.file = "My office (2).conf",
		.replace = true };
	seen = up(&pair, &request);
	assert_string_equal(seen.text, text);
	assert_string_equal(seen.file, "My office (2).conf");
	assert_string_equal(seen.name, "");
	assert_true(seen.replace);
	rpc_request_free(&seen);

	request = (struct rpc_request){
		.method = RPC_METHOD_TUNNEL_DOWN, .name = "a", .has_request = true, .request = 17
	};
	seen = up(&pair, &request);
	assert_true(seen.has_request);
	assert_int_equal(seen.request, 17);
	request.has_request = false;
	seen = up(&pair, &request);
	assert_false(seen.has_request);

	request = (struct rpc_request){ .method = RPC_METHOD_TUNNEL_STATUS, .peer_from = 12 };
	seen = up(&pair, &request);
	assert_int_equal(seen.peer_from, 12);
	assert_string_equal(seen.name, "");

	request = (struct rpc_request){ .method = RPC_METHOD_TUNNEL_EXPORT, .name = "a", .hide_keys = true };
	seen = up(&pair, &request);
	assert_true(seen.hide_keys);

	request = (struct rpc_request){ .method = RPC_METHOD_LOGS, .lines = 50, .follow = true };
	seen = up(&pair, &request);
	assert_int_equal(seen.lines, 50);
	assert_true(seen.follow);
	pair_free(&pair);
}

/* A text that a line can not hold is refused before it is sent. */
static void test_request_too_long(void **state)
{
	struct pair pair = pair_new();
	struct rpc_request request = { .method = RPC_METHOD_TUNNEL_IMPORT, .text = malloc(RPC_LINE_MAX) };
	size_t len;

	(void)state;
	memset(request.text, 'a', RPC_LINE_MAX - 1);
	request.text[RPC_LINE_MAX - 1] = '\0';
	assert_int_equal(rpc_conn_request(pair.conn, &request), -EMSGSIZE);
	assert_null(rpc_conn_output(pair.conn, &len));
	free(request.text);
	request.text = NULL;
	request.method = RPC_METHOD_WATCH;
	for (int64_t i = 1; i <= RPC_CONN_PENDING_MAX; i++)
		assert_int_equal(rpc_conn_request(pair.conn, &request), i);
	assert_int_equal(rpc_conn_request(pair.conn, &request), -EBUSY);
	pair_free(&pair);
}

static void test_status(void **state)
{
	struct rpc_peer peers[] = { { .public_key = "AAAA",
		.name = "Anna",
					    .endpoint = "[2001:db8::1]:51820",
					    .state = RPC_STATE_UP,
					    .verified = RPC_VERIFIED_FULL,
					    .reason = RPC_REASON_UDP_SILENT,
					    .carrier = CARRIER_TCP,
					    .udp = RPC_UDP_BLOCKED,
					    .last_handshake = 1796076935,
					    .rtt_us = 12345,
					    .rx_bytes = UINT64_MAX,
					    .tx_bytes = 1,
					    .rx_bps = 2,
					    .tx_bps = 3 },
		{ .public_key = "BBBB" } };
	char *warnings[] = { (char *)"one", (char *)"two" };
	struct rpc_tunnel tunnel = { .name = "office",
		.display_name = "B\xc3\xbcro",
		.profile = "office",
		.state = RPC_STATE_DEGRADED,
		.cause = RPC_CAUSE_CLOCK,
		.verified = RPC_VERIFIED_SMALL,
		.reason = RPC_REASON_UDP_NO_LARGE,
		.interface = "office",
		.backend = RPC_BACKEND_USERSPACE,
		.backend_reason = "r",
		.carrier = CARRIER_TCP,
		.transport = TRANSPORT_AUTO,
		.mtu = 1420,
		.since = 1796076900,
		.udp = RPC_UDP_BLOCKED,
		.message = "m",
		.warnings = { warnings, 2 },
		.peers = peers,
		.peer_count = 2 };
	struct rpc_result result = { .method = RPC_METHOD_TUNNEL_STATUS,
		.status = { .tunnels = &tunnel, .tunnel_count = 1 } };
	struct pair pair = pair_new();
	struct rpc_event event = ask(&pair, &result, "");
	const struct rpc_tunnel *seen = event.result.status.tunnels;

	(void)state;
	assert_int_equal(event.result.status.tunnel_count, 1);
	assert_string_equal(seen->name, "office");
	assert_string_equal(seen->display_name, "B\xc3\xbcro");
	assert_int_equal(seen->state, RPC_STATE_DEGRADED);
	assert_int_equal(seen->cause, RPC_CAUSE_CLOCK);
	assert_int_equal(seen->verified, RPC_VERIFIED_SMALL);
	assert_int_equal(seen->reason, RPC_REASON_UDP_NO_LARGE);
	assert_int_equal(seen->backend, RPC_BACKEND_USERSPACE);
	assert_int_equal(seen->carrier, CARRIER_TCP);
	assert_int_equal(seen->mtu, 1420);
	assert_int_equal(seen->since, 1796076900);
	assert_int_equal(seen->warnings.count, 2);
	assert_string_equal(seen->warnings.items[1], "two");
	assert_int_equal(seen->peer_count, 2);
	assert_int_equal(seen->peers_total, 2);
	assert_memory_equal(&seen->peers[0], &peers[0], sizeof(peers[0]));
	assert_memory_equal(&seen->peers[1], &peers[1], sizeof(peers[1]));

	/* The contract of status --json, to the letter. */
	char *json = rpc_json_result(&event.result);

	assert_string_equal(json,
		"{\"version\":1,\"tunnels\":[{\"name\":\"office\",\"display_name\":\"B\xc3\xbcro\","
		"\"profile\":\"office\","
		"\"state\":\"degraded\",\"cause\":\"clock\",\"verified\":\"small\",\"reason\":\"udp-no-"
		"large\","
		"\"interface\":\"office\",\"backend\":\"userspace\",\"backend_reason\":\"r\",\"carrier\":"
		"\"tcp\",\"transport\":"
		"\"auto\",\"mtu\":1420,"
		"\"since\":1796076900,\"udp\":\"blocked\",\"kill_switch\":\"off\",\"managed_by\":null,"
		"\"message\":\"m\","
		"\"warnings\":[\"one\",\"two\"],"
		"\"peers\":["
		"{\"public_key\":\"AAAA\",\"endpoint\":\"[2001:db8::1]:51820\",\"state\":\"up\",\"cause\":"
		"\"none\","
		"\"verified\":\"full\",\"reason\":\"udp-silent\",\"carrier\":\"tcp\",\"udp\":\"blocked\","
		"\"last_handshake\":1796076935,\"rtt_ms\":12.345,\"rx_bytes\":18446744073709551615,\"tx_"
		"bytes\":1,"
		"\"rx_bps\":2,\"tx_bps\":3,\"echoes\":0,\"loss_permille\":0,\"jitter_ms\":null,\"carrier_rtt_ms\":null,\"preshared_key_differs\":false,\"large_passes\":\"unknown\",\"name\":\"Anna\"},"
		"{\"public_key\":\"BBBB\",\"endpoint\":null,\"state\":\"down\",\"cause\":\"none\","
		"\"verified\":\"none\","
		"\"reason\":\"none\",\"carrier\":\"none\",\"udp\":\"unknown\",\"last_handshake\":0,\"rtt_"
		"ms\":null,"
		"\"rx_bytes\":0,\"tx_bytes\":0,\"rx_bps\":0,\"tx_bps\":0,\"echoes\":0,\"loss_permille\":0,\"jitter_ms\":null,\"carrier_rtt_ms\":null,\"preshared_key_differs\":false,\"large_passes\":\"unknown\",\"name\":null}],\"peers_total\":2}],"
		"\"kill_switch\":{\"state\":\"off\",\"open_until\":0,\"tunnels\":[]},"
		"\"tunnel_from\":0,\"tunnels_total\":1}");
	rpc_json_free(json);
	rpc_event_free(&event);

	result = (struct rpc_result){ .method = RPC_METHOD_TUNNEL_STATUS };
	event = ask(&pair, &result, "");
	assert_int_equal(event.result.status.tunnel_count, 0);
	json = rpc_json_result(&event.result);
	assert_string_equal(json, "{\"version\":1,\"tunnels\":[],\"kill_switch\":{\"state\":\"off\",\"open_"
				  "until\":0,\"tunnels\":[]},\"tunnel_from\":0,\"tunnels_total\":0}");
	rpc_json_free(json);
	rpc_event_free(&event);
	pair_free(&pair);
}

static void test_results(void **state)
{
	char *holders[] = { (char *)"office", (char *)"home" };
	struct rpc_note note = { 3, 7, "'Adress' is not a key of [Interface]; did you mean 'Address'?" };
	struct rpc_entry entries[] = { { .name = "office",
		.display_name = "Office",
		.file = "/etc/wgtcp/office.conf",
		.read_only = true,
		.state = RPC_STATE_UP,
		.transport = TRANSPORT_UDP,
		.backend = RPC_BACKEND_CHOICE_KERNEL,
		.auto_connect = true,
		.error = "line 3: x" } };
	struct rpc_log logs[] = { { 1796076935123, RPC_LEVEL_WARNING, "office", "first" },
		{ 1796076935124, RPC_LEVEL_DEBUG, "", "second" } };
	char *warnings[] = { (char *)"w" };
	struct pair pair = pair_new();
	struct rpc_result result;
	struct rpc_event event;

	(void)state;
	result = (struct rpc_result){ .method = RPC_METHOD_DAEMON_INFO,
		.info = { "0.1.0", 77, RPC_PERMISSION_ALL, "/etc/wgtcp", "/var/lib/wgtcp" } };
	event = ask(&pair, &result, "");
	assert_memory_equal(&event.result.info, &result.info, sizeof(result.info));
	rpc_event_free(&event);

	result = (struct rpc_result){ .method = RPC_METHOD_TUNNEL_LIST, .list = { .tunnels = entries, .tunnel_count = 1 } };
	event = ask(&pair, &result, "");
	assert_int_equal(event.result.list.tunnel_count, 1);
	assert_memory_equal(event.result.list.tunnels, entries, sizeof(entries));
	rpc_event_free(&event);

	result = (struct rpc_result){ .method = RPC_METHOD_TUNNEL_UP,
		.moved = { .tunnel = { .name = "office", .state = RPC_STATE_UP },
			.began = true,
			.warnings = { warnings, 1 } } };
	event = ask(&pair, &result, "office");
	assert_string_equal(event.result.moved.tunnel.name, "office");
	assert_int_equal(event.result.moved.tunnel.state, RPC_STATE_UP);
	assert_true(event.result.moved.began);
	assert_string_equal(event.result.moved.warnings.items[0], "w");
	rpc_event_free(&event);

	result.method = RPC_METHOD_TUNNEL_SWITCH;
	event = ask(&pair, &result, "office");
	assert_int_equal(event.result.moved.warnings.count, 1);
	rpc_event_free(&event);

	struct rpc_check check = { RPC_CHECK_KILL_SWITCH, "a", RPC_VERDICT_UNKNOWN, "b", "c" };
	static const enum rpc_method done[] = { RPC_METHOD_TUNNEL_DOWN, RPC_METHOD_TUNNEL_IMPORT,
		RPC_METHOD_TUNNEL_DELETE, RPC_METHOD_TUNNEL_SET };

	for (size_t i = 0; i < 4; i++) {
		result = (struct rpc_result){ .method = done[i],
			.done = { "office", "Office", "/etc/wgtcp/office.conf", true, { &note, 1 } } };
		event = ask(&pair, &result, "office");
		assert_string_equal(event.result.done.file, "/etc/wgtcp/office.conf");
		assert_true(event.result.done.changed);
		assert_int_equal(event.result.done.warnings.count, 1);
		assert_memory_equal(event.result.done.warnings.items, &note, sizeof(note));
		rpc_event_free(&event);
	}

	result = (struct rpc_result){ .method = RPC_METHOD_TUNNEL_EXPORT,
		.exported = { .name = "office", .text = (char *)"[Interface]\n\tx = \"/\\\"\n", .hidden = true } };
	event = ask(&pair, &result, "office");
	assert_string_equal(event.result.exported.text, result.exported.text);
	assert_true(event.result.exported.hidden);
	assert_int_equal(rpc_event_beside(&event), 0);
	rpc_event_free(&event);
	result.exported.text = NULL;
	result.exported.beside = 12345;
	event = ask(&pair, &result, "office");
	assert_null(event.result.exported.text);
	assert_int_equal(rpc_event_beside(&event), 12345);
	rpc_event_free(&event);

	result = (struct rpc_result){ .method = RPC_METHOD_LOGS, .logs = { logs, 2 } };
	event = ask(&pair, &result, "");
	assert_int_equal(event.result.logs.entry_count, 2);
	assert_memory_equal(event.result.logs.entries, logs, sizeof(logs));
	rpc_event_free(&event);

	result = (struct rpc_result){ .method = RPC_METHOD_KILLSWITCH_UNLOCK,
		.unlocked = { true, { RPC_KILL_SWITCH_OPEN, 1796080000, { holders, 2 } } } };
	event = ask(&pair, &result, "");
	assert_true(event.result.unlocked.changed);
	assert_int_equal(event.result.unlocked.lockdown.state, RPC_KILL_SWITCH_OPEN);
	assert_true(event.result.unlocked.lockdown.open_until == 1796080000);
	assert_int_equal(event.result.unlocked.lockdown.tunnels.count, 2);
	assert_string_equal(event.result.unlocked.lockdown.tunnels.items[1], "home");
	rpc_event_free(&event);

	result = (struct rpc_result){ .method = RPC_METHOD_DIAGNOSE,
		.diagnosis = { "office", RPC_VERDICT_BAD, 7, RPC_CAUSE_HANDSHAKE_REFUSED, "no", &check, 1 } };
	event = ask(&pair, &result, "office");
	assert_int_equal(event.result.diagnosis.verdict, RPC_VERDICT_BAD);
	assert_int_equal(event.result.diagnosis.code, 7);
	assert_int_equal(event.result.diagnosis.cause, RPC_CAUSE_HANDSHAKE_REFUSED);
	assert_string_equal(event.result.diagnosis.summary, "no");
	assert_int_equal(event.result.diagnosis.check_count, 1);
	assert_memory_equal(event.result.diagnosis.checks, &check, sizeof(check));
	rpc_event_free(&event);

	result = (struct rpc_result){ .method = RPC_METHOD_WATCH };
	event = ask(&pair, &result, "");
	rpc_event_free(&event);
	pair_free(&pair);
}

static void test_errors(void **state)
{
	struct rpc_note note = { 12, 1, "no" };
	struct rpc_error error = { .code = RPC_CODE_CONFIG,
		.message = "bad",
		.cause = RPC_CAUSE_CONFIG,
		.has_state = true,
		.state = RPC_STATE_FAILED,
		.notes = { &note, 1 } };
	struct rpc_request request = { .method = RPC_METHOD_TUNNEL_UP, .name = "office" };
	struct pair pair = pair_new();
	struct rpc_request seen = up(&pair, &request);
	struct rpc_event event;

	(void)state;
	rpc_server_reply_error(pair.server, &seen.id, &error);
	event = down(&pair);
	assert_int_equal(event.kind, RPC_EVENT_ERROR);
	assert_int_equal(event.id, seen.id.number);
	assert_int_equal(event.error.code, RPC_CODE_CONFIG);
	assert_string_equal(event.error.message, "bad");
	assert_int_equal(event.error.cause, RPC_CAUSE_CONFIG);
	assert_true(event.error.has_state);
	assert_int_equal(event.error.state, RPC_STATE_FAILED);
	assert_memory_equal(event.error.notes.items, &note, sizeof(note));
	rpc_event_free(&event);

	seen = up(&pair, &request);
	rpc_error_set(&error, RPC_CODE_NO_SUCH_TUNNEL, "no tunnel is called '%s'", "ofice");
	rpc_server_reply_error(pair.server, &seen.id, &error);
	event = down(&pair);
	assert_false(event.error.has_state);
	assert_string_equal(event.error.message, "no tunnel is called 'ofice'");
	char *json = rpc_json_error(&event.error);

	assert_string_equal(json,
		"{\"version\":1,\"error\":{\"code\":5,\"message\":\"no tunnel is called 'ofice'\","
		"\"data\":{\"cause\":\"none\",\"notes\":[]}}}");
	rpc_json_free(json);
	rpc_event_free(&event);

	/* An answer that was given, or that nobody asked for, is skipped. */
	rpc_server_reply_error(pair.server, &seen.id, &error);
	size_t len;
	const char *bytes = rpc_server_output(pair.server, &len);

	assert_int_equal(rpc_conn_feed(pair.conn, bytes, len), 0);
	assert_int_equal(rpc_conn_next(pair.conn, &event), 0);
	pair_free(&pair);
}

static void test_notices(void **state)
{
	struct rpc_sample samples[] = { { 100, 1, 2, 3000, 60, 16, 1250 }, { 101, 4, 5, 0, 0, 0, 0 } };
	struct rpc_peer peers[] = { { .public_key = "A", .rx_bytes = 9 } };
	struct rpc_notice notice = { .kind = RPC_NOTICE_STATS, .stats = { "office", samples, 2, peers, 1 } };
	struct pair pair = pair_new();
	struct rpc_event event;

	(void)state;
	rpc_server_notify(pair.server, &notice);
	event = down(&pair);
	assert_int_equal(event.kind, RPC_EVENT_NOTICE);
	assert_int_equal(event.notice.kind, RPC_NOTICE_STATS);
	assert_int_equal(event.notice.stats.sample_count, 2);
	assert_int_equal(event.notice.stats.samples[0].loss_permille, 16);
	assert_int_equal(event.notice.stats.samples[0].jitter_us, 1250);
	for (size_t i = 0; i < 2; i++) { /* not as memory: there is padding between */
		const struct rpc_sample *got = &event.notice.stats.samples[i];

		assert_int_equal(got->time, samples[i].time);
		assert_int_equal(got->rx_bps, samples[i].rx_bps);
		assert_int_equal(got->tx_bps, samples[i].tx_bps);
		assert_int_equal(got->rtt_us, samples[i].rtt_us);
	}
	assert_int_equal(event.notice.stats.peer_count, 1);
	assert_string_equal(event.notice.stats.peers[0].public_key, "A");
	assert_int_equal(event.notice.stats.peers[0].rx_bytes, 9);
	rpc_event_free(&event);

	notice = (struct rpc_notice){ .kind = RPC_NOTICE_PROGRESS,
		.progress = { 4, "office", RPC_STEP_TRYING_TCP, "t" } };
	rpc_server_notify(pair.server, &notice);
	event = down(&pair);
	assert_int_equal(event.notice.progress.request, 4);
	assert_int_equal(event.notice.progress.step, RPC_STEP_TRYING_TCP);
	assert_string_equal(event.notice.progress.text, "t");
	rpc_event_free(&event);

	notice = (struct rpc_notice){ .kind = RPC_NOTICE_STATE, .state = { { .name = "x" }, true } };
	rpc_server_notify(pair.server, &notice);
	event = down(&pair);
	assert_true(event.notice.state.gone);
	assert_string_equal(event.notice.state.tunnel.name, "x");
	rpc_event_free(&event);

	notice = (struct rpc_notice){ .kind = RPC_NOTICE_LOG, .log = { 1, RPC_LEVEL_ERROR, "a", "b" } };
	rpc_server_notify(pair.server, &notice);
	event = down(&pair);
	assert_string_equal(event.notice.log.text, "b");
	rpc_event_free(&event);
	pair_free(&pair);
}

/* What a client makes of lines it did not expect. 0: skipped; 1: an event; -EPROTO: not our protocol. */
static void test_strange(void **state)
{
	static const struct {
		const char *line;
		int taken;
	} table[] = {
		{ "{\"jsonrpc\":\"2.0\",\"method\":\"weather\",\"params\":{}}", 0 },
		{ "{\"jsonrpc\":\"2.0\",\"id\":44,\"result\":{}}", 0 },
		{ "{\"jsonrpc\":\"2.0\",\"id\":44,\"error\":{\"code\":1}}", 0 },
		{ "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"m\"}}", 1 },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"version\":1,\"later\":[[]]}}", 1 },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":99,\"message\":\"new\",\"data\":{\"z\":"
		  "1}}}",
			1 },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":99,\"data\":null}}", 1 },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"message\":\"no code\"}}", -EPROTO },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":7}", -EPROTO },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1}", -EPROTO },
		{ "{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":{}}", -EPROTO },
		{ "{\"jsonrpc\":\"2.0\",\"method\":\"state\"}", -EPROTO },
		{ "{\"jsonrpc\":\"2.0\",\"method\":\"state\",\"params\":{\"tunnel\":{\"state\":\"sideways\"}}"
		  "}",
			-EPROTO },
		{ "{\"jsonrpc\":\"2.0\",\"method\":\"stats\",\"params\":{\"samples\":[{\"rtt_ms\":-1}]}}",
			-EPROTO },
		{ "{\"jsonrpc\":\"2.0\",\"method\":\"stats\",\"params\":{\"samples\":[{\"rtt_ms\":1e99}]}}",
			-EPROTO },
		{ "{\"jsonrpc\":\"2.0\",\"method\":\"stats\",\"params\":{\"samples\":[{\"rtt_ms\":NaN}]}}",
			-EPROTO },
		{ "{\"jsonrpc\":\"2.0\",\"method\":\"state\",\"params\":{\"tunnel\":{\"warnings\":[\"a\",1]}}"
		  "}",
			-EPROTO },
		{ "HTTP/1.1 200 OK", -EPROTO },
	};
	struct rpc_request request = { .method = RPC_METHOD_WATCH };

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct rpc_conn *conn = rpc_conn_new();
		struct rpc_event event;

		assert_int_equal(rpc_conn_request(conn, &request), 1);
		assert_int_equal(rpc_conn_feed(conn, table[i].line, strlen(table[i].line)), 0);
		assert_int_equal(rpc_conn_feed(conn, "\n", 1), 0);
		int taken = rpc_conn_next(conn, &event);

		if (taken != table[i].taken)
			fail_msg("%s: %d", table[i].line, taken);
		if (taken == 1)
			rpc_event_free(&event);
		rpc_conn_free(conn);
	}
}

static void test_words(void **state)
{
	static const struct {
		const char *const *words;
		int last;
		const char *text;
	} table[] = {
		{ rpc_state_words, RPC_STATE_FAILED, "failed" },
		{ rpc_cause_words, RPC_CAUSE_CONFIG, "config" },
		{ rpc_check_words, RPC_CHECK_KILL_SWITCH, "kill-switch" },
		{ rpc_verdict_words, RPC_VERDICT_UNKNOWN, "unknown" },
		{ rpc_verified_words, RPC_VERIFIED_FULL, "full" },
		{ rpc_udp_words, RPC_UDP_UNUSED, "unused" },
		{ rpc_reason_words, RPC_REASON_UDP_WORKS, "udp-works" },
		{ rpc_backend_words, RPC_BACKEND_USERSPACE, "userspace" },
		{ rpc_backend_choice_words, RPC_BACKEND_CHOICE_USERSPACE, "userspace" },
		{ rpc_permission_words, RPC_PERMISSION_ALL, "all" },
		{ rpc_level_words, RPC_LEVEL_DEBUG, "debug" },
		{ rpc_step_words, RPC_STEP_VERIFYING, "verifying" },
		{ rpc_method_words, RPC_METHOD_SERVER_ADD, "server.add" },
		{ rpc_resolution_words, RPC_RESOLUTION_HOUR, "hour" },
		{ rpc_notice_words, RPC_NOTICE_SPEEDTEST, "speedtest" },
		{ rpc_carrier_words, CARRIER_TCP, "tcp" },
		{ rpc_transport_words, TRANSPORT_TCP, "tcp" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		int value = -1;

		assert_true(rpc_word_parse(table[i].words, table[i].text, &value));
		assert_int_equal(value, table[i].last);
		assert_null(table[i].words[value + 1]);
		assert_false(rpc_word_parse(table[i].words, "UP", &value));
		assert_int_equal(value, table[i].last);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_request_too_long),
		cmocka_unit_test(test_status),
		cmocka_unit_test(test_results),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_notices),
		cmocka_unit_test(test_strange),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
