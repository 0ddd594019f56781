/* SPDX-License-Identifier: MIT */
/* What a daemon sees of a client's bytes, and what a client sees of its answers: tables of lines, limits,
 * splits. */
#include "client/rpc/server.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Everything that waits, as a text; the caller frees. */
static char *drain(struct rpc_server *server)
{
	size_t len;
	const char *bytes = rpc_server_output(server, &len);
	char *text = calloc(1, len + 1);

	assert_non_null(text);
	if (len)
		memcpy(text, bytes, len);
	rpc_server_sent(server, len);
	return text;
}

static void feed(struct rpc_server *server, const char *text)
{
	assert_int_equal(rpc_server_feed(server, text, strlen(text)), 0);
}

/* Lines that never reach the daemon, and the code they are answered with; 0: no answer at all. */
static void test_refused(void **state)
{
	static const struct {
		const char *line;
		int code;
		const char *id, *hint;
	} table[] = {
		{ "junk", -32700, "null", "not one JSON-RPC message" },
		{ "{", -32700, "null", "ends in the middle" },
		{ "{\"a\":}", -32700, "null", "" },
		{ "{} {}", -32700, "null", "" },
		{ "null", -32700, "null", "" },
		{ "{'jsonrpc':'2.0','id':1,'method':'watch'}", -32700, "null", "" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"watch\",}", -32700, "null", "" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"wat\xff\"}", -32700, "null", "" },
		{ "/* c */{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"watch\"}", -32700, "null", "" },
		{ "[]", -32600, "null", "batches" },
		{ "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"watch\"}]", -32600, "null", "batches" },
		{ "17", -32700, "null", "" },
		{ "\"watch\"", -32600, "null", "" },
		{ "{}", -32600, "null", "jsonrpc" },
		{ "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"watch\"}", -32600, "1", "jsonrpc" },
		{ "{\"jsonrpc\":2.0,\"id\":1,\"method\":\"watch\"}", -32600, "1", "jsonrpc" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1}", -32600, "1", "method" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", -32600, "1", "method" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"watch\"}", -32600, "null", "'id'" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"watch\"}", -32600, "null", "'id'" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"watch\"}", -32600, "null", "'id'" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":\"a\\u0000b\",\"method\":\"watch\"}", -32600, "null", "'id'" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":"
		  "\"0123456789012345678901234567890123456789012345678901234567890123\","
		  "\"method\":\"watch\"}",
			-32600, "null", "'id'" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"rpc.off\"}", -32601, "5", "rpc.off" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tunnel\"}", -32601, "5", "tunnel" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"no.such\"}", -32601, "5", "" },
		{ "{\"jsonrpc\":\"2.0\",\"method\":\"rpc.off\"}", 0, NULL, NULL },
		{ "{\"jsonrpc\":\"2.0\",\"method\":\"tunnel.up\"}", 0, NULL, NULL },
		{ "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"tunnel.up\"}", -32602, "\"x\"",
			"'name' is missing" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tunnel.up\",\"params\":[\"office\"]}", -32602,
			"1", "" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tunnel.up\",\"params\":{\"name\":7}}", -32602,
			"1", "'name' must be a text" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tunnel.up\",\"params\":{\"name\":null}}",
			-32602, "1", "'name' is missing" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tunnel.up\",\"params\":{\"name\":\"a\\u0000b\"}"
		  "}",
			-32602, "1", "NUL" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tunnel.up\",\"params\":{\"name\":\"a\","
		  "\"transport\":\"sctp\"}}",
			-32602, "1", "one of auto, udp, tcp" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tunnel.up\",\"params\":{\"name\":\"a\","
		  "\"timeout_ms\":-1}}",
			-32602, "1", "negative" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tunnel.up\",\"params\":{\"name\":\"a\","
		  "\"timeout_ms\":4294967296}}",
			-32602, "1", "too large" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tunnel.up\",\"params\":{\"name\":\"a\","
		  "\"timeout_ms\":1.5}}",
			-32602, "1", "whole number" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tunnel.switch\",\"params\":{\"name\":\"a\"}}",
			-32602, "1", "'transport' is missing" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tunnel.set\",\"params\":{\"name\":\"a\","
		  "\"settings\":[{\"key\":\"MTU\"}]}}",
			-32602, "1", "'value' is missing" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tunnel.set\",\"params\":{\"name\":\"a\","
		  "\"settings\":[{\"key\":\"MTU\",\"value\":\"1280\"},null]}}",
			-32602, "1", "" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tunnel.set\",\"params\":{\"name\":\"a\","
		  "\"settings\":\"MTU\"}}",
			-32602, "1", "array" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tunnel.import\",\"params\":{\"replace\":true}}",
			-32602, "1", "'text' is missing" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct rpc_server *server = rpc_server_new();
		struct rpc_request request;
		char expected[128];
		char *answer;

		assert_non_null(server);
		feed(server, table[i].line);
		feed(server, "\n");
		assert_false(rpc_server_next(server, &request));
		answer = drain(server);
		if (!table[i].code) {
			assert_string_equal(answer, "");
		} else {
			snprintf(expected, sizeof(expected),
				"{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%d,\"message\":\"",
				table[i].id, table[i].code);
			if (strncmp(answer, expected, strlen(expected)) || !strstr(answer, table[i].hint))
				fail_msg("%s\n answered %s", table[i].line, answer);
			assert_int_equal(answer[strlen(answer) - 1], '\n');
		}
		free(answer);
		/* The connection lives on. */
		feed(server, "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"watch\"}\n");
		assert_true(rpc_server_next(server, &request));
		assert_int_equal(request.id.number, 9);
		rpc_server_free(server);
	}
}

static void test_fields(void **state)
{
	struct rpc_server *server = rpc_server_new();
	struct rpc_request request;

	(void)state;
	feed(server,
		"{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"tunnel.up\",\"params\":{\"name\":\"office\","
		"\"transport\":\"tcp\",\"backend\":\"userspace\",\"timeout_ms\":1500,\"unknown\":{\"x\":[1]}}"
		","
		"\"more\":1}\n");
	assert_true(rpc_server_next(server, &request));
	assert_int_equal(request.method, RPC_METHOD_TUNNEL_UP);
	assert_int_equal(request.id.kind, RPC_ID_TEXT);
	assert_string_equal(request.id.text, "q");
	assert_string_equal(request.name, "office");
	assert_true(request.has_transport);
	assert_int_equal(request.transport, TRANSPORT_TCP);
	assert_true(request.has_backend);
	assert_int_equal(request.backend, RPC_BACKEND_CHOICE_USERSPACE);
	assert_int_equal(request.timeout_ms, 1500);
	rpc_request_free(&request);

	feed(server, "{\"jsonrpc\":\"2.0\",\"method\":\"tunnel.set\",\"params\":{\"name\":\"a\",\"peer\":"
		     "null,\"settings\":["
		     "{\"key\":\"MTU\",\"value\":\"1280\"},{\"key\":\"DNS\",\"value\":\"\"}]}}\r\n\n  \n");
	assert_true(rpc_server_next(server, &request));
	assert_int_equal(request.id.kind, RPC_ID_NONE);
	assert_int_equal(request.setting_count, 2);
	assert_string_equal(request.settings[0].value, "1280");
	assert_string_equal(request.settings[1].key, "DNS");
	assert_string_equal(request.settings[1].value, "");
	/* No answer to what asked for none. */
	rpc_server_reply(server, &request.id, &(struct rpc_result){ .method = RPC_METHOD_WATCH });
	rpc_server_reply_error(server, &request.id, &(struct rpc_error){ .code = 1 });
	rpc_request_free(&request);
	assert_false(rpc_server_next(server, &request));
	char *nothing = drain(server);
	assert_string_equal(nothing, "");
	free(nothing);

	feed(server, "{\"jsonrpc\":\"2.0\",\"id\":-4,\"method\":\"tunnel.down\",\"params\":{\"name\":\"a\","
		     "\"request\":0}}\n");
	assert_true(rpc_server_next(server, &request));
	assert_int_equal(request.id.number, -4);
	assert_true(request.has_request);
	assert_int_equal(request.request, 0);
	rpc_request_free(&request);
	rpc_server_free(server);
}

/* The same bytes whole, in single bytes, and two requests in one piece. */
static void test_splits(void **state)
{
	static const char two[] =
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"watch\"}\n"
		"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"logs\",\"params\":{\"lines\":7}}\n";

	(void)state;
	for (size_t step = 1; step <= sizeof(two) - 1; step++) {
		struct rpc_server *server = rpc_server_new();
		struct rpc_request request;
		int64_t seen = 0;

		for (size_t at = 0; at < sizeof(two) - 1; at += step) {
			size_t len = sizeof(two) - 1 - at < step ? sizeof(two) - 1 - at : step;

			assert_int_equal(rpc_server_feed(server, two + at, len), 0);
			while (rpc_server_next(server, &request)) {
				assert_int_equal(request.id.number, ++seen);
				rpc_request_free(&request);
			}
		}
		assert_int_equal(seen, 2);
		rpc_server_free(server);
	}
}

/* A line of exactly len bytes with its newline. */
static char *line_of(size_t len)
{
	static const char head[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"watch\",\"x\":\"";
	char *line = malloc(len + 1);

	assert_non_null(line);
	memset(line, 'x', len);
	memcpy(line, head, sizeof(head) - 1);
	memcpy(line + len - 3, "\"}\n", 4);
	return line;
}

static void test_line_limit(void **state)
{
	static const struct {
		size_t len, step;
		bool good;
	} table[] = {
		{ RPC_LINE_MAX, RPC_LINE_MAX, true },
		{ RPC_LINE_MAX, 1000, true },
		{ RPC_LINE_MAX + 1, 1000, false },
		{ RPC_LINE_MAX + 1, RPC_LINE_MAX, false },
		{ 3 * RPC_LINE_MAX, 4096, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct rpc_server *server = rpc_server_new();
		char *line = line_of(table[i].len);
		struct rpc_request request;
		size_t seen = 0;
		int err = 0;

		for (size_t at = 0; at < table[i].len && !err; at += table[i].step) {
			size_t left = table[i].len - at;

			err = rpc_server_feed(server, line + at, left < table[i].step ? left : table[i].step);
			while (!err && rpc_server_next(server, &request))
				seen++;
		}
		assert_int_equal(seen, table[i].good);
		assert_int_equal(err, table[i].good ? 0 : -EMSGSIZE);
		char *answer = drain(server);

		if (!table[i].good) {
			assert_non_null(strstr(answer, "\"id\":null,\"error\":{\"code\":-32600"));
			assert_int_not_equal(rpc_server_feed(server, "\n", 1), 0); /* for good */
			assert_false(rpc_server_next(server, &request));
		} else {
			assert_string_equal(answer, "");
		}
		free(answer);
		free(line);
		rpc_server_free(server);
	}
}

static void test_depth(void **state)
{
	(void)state;
	for (int depth = 1; depth <= 24; depth++) {
		struct rpc_server *server = rpc_server_new();
		struct rpc_request request;
		char line[256];
		size_t len = (size_t)snprintf(
			line, sizeof(line), "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"watch\",\"x\":");

		/* The object itself is the first level. */
		for (int i = 1; i < depth; i++)
			line[len++] = '[';
		if (depth == 1)
			line[len++] = '1';
		for (int i = 1; i < depth; i++)
			line[len++] = ']';
		memcpy(line + len, "}\n", 3);
		feed(server, line);
		assert_int_equal(rpc_server_next(server, &request), depth <= RPC_DEPTH_MAX);
		char *answer = drain(server);

		if (depth > RPC_DEPTH_MAX)
			assert_non_null(strstr(answer, "16 levels"));
		else
			assert_string_equal(answer, "");
		free(answer);
		rpc_server_free(server);
	}
}

static void test_slow_reader(void **state)
{
	static struct rpc_sample samples[300];
	struct rpc_notice notice = { .kind = RPC_NOTICE_STATS,
		.stats = { .name = "office", .samples = samples, .sample_count = 300 } };
	struct rpc_server *server = rpc_server_new();
	size_t len, most = 0;
	int sent = 0;

	(void)state;
	while (!rpc_server_failed(server) && sent < 10000) {
		rpc_server_notify(server, &notice);
		sent++;
		rpc_server_output(server, &len);
		most = len > most ? len : most;
	}
	assert_true(rpc_server_failed(server));
	assert_true(most <= RPC_OUTPUT_MAX && most > RPC_OUTPUT_MAX - RPC_LINE_MAX);
	assert_null(rpc_server_output(server, &len));
	rpc_server_free(server);

	/* One that reads is served for ever. */
	server = rpc_server_new();
	for (int i = 0; i < 1000; i++) {
		rpc_server_notify(server, &notice);
		rpc_server_output(server, &len);
		rpc_server_sent(server, len > 7 ? len - 7 : len);
	}
	assert_false(rpc_server_failed(server));
	rpc_server_free(server);
}

/* More than fits: peers are left out and counted, old log lines stay out, an export is refused. */
static void test_too_long(void **state)
{
	static struct rpc_peer peers[1000];
	static struct rpc_log logs[1000];
	struct rpc_tunnel tunnels[2] = { { .name = "many", .peers = peers, .peer_count = 1000 },
		{ .name = "few", .peers = peers, .peer_count = 3 } };
	struct rpc_result status = { .method = RPC_METHOD_TUNNEL_STATUS,
		.status = { .tunnels = tunnels, .tunnel_count = 2 } };
	struct rpc_result log = { .method = RPC_METHOD_LOGS, .logs = { logs, 1000 } };
	struct rpc_result export = { .method = RPC_METHOD_TUNNEL_EXPORT };
	struct rpc_id id = { .kind = RPC_ID_NUMBER, .number = 3 };
	struct rpc_server *server = rpc_server_new();
	char *answer;

	(void)state;
	for (size_t i = 0; i < 1000; i++) {
		snprintf(peers[i].public_key, RPC_KEY_LEN, "key%03zu", i);
		snprintf(logs[i].text, RPC_SENTENCE_LEN,
			"entry %03zu of many that say the same, \xff, over and over", i);
	}
	rpc_server_reply(server, &id, &status);
	answer = drain(server);
	assert_true(strlen(answer) <= RPC_LINE_MAX && strlen(answer) > RPC_LINE_MAX / 2);
	assert_non_null(strstr(answer, "\"key000\""));
	assert_null(strstr(answer, "\"key999\""));
	assert_non_null(strstr(answer, "\"peers_total\":1000"));
	assert_non_null(strstr(answer, "\"peers_total\":3}"));
	free(answer);

	rpc_server_reply(server, &id, &log);
	answer = drain(server);
	assert_true(strlen(answer) <= RPC_LINE_MAX && strlen(answer) > RPC_LINE_MAX / 2);
	assert_null(strstr(answer, "entry 000"));
	assert_non_null(strstr(answer, "entry 999 of many that say the same, \xef\xbf\xbd, over"));
	free(answer);

	export.exported.text = malloc(RPC_LINE_MAX);
	memset(export.exported.text, 'k', RPC_LINE_MAX - 1);
	export.exported.text[RPC_LINE_MAX - 1] = '\0';
	rpc_server_reply(server, &id, &export);
	answer = drain(server);
	assert_non_null(strstr(answer, "\"id\":3,\"error\":{\"code\":-32603"));
	free(answer);
	free(export.exported.text);
	rpc_server_free(server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_splits),
		cmocka_unit_test(test_line_limit),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_slow_reader),
		cmocka_unit_test(test_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
