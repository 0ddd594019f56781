/* SPDX-License-Identifier: MIT */
/* Whole commands against a daemon in memory: what is asked, what is said, how it ends. */
#include "tests/unit/client/cli/run.h"

#include "core/port/ipc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- daemons ---- */

static struct rpc_entry entries[] = { { .name = "office", .display_name = "My Office" },
	{ .name = "home", .display_name = "Home" } };
static struct rpc_result up_result = { .method = RPC_METHOD_TUNNEL_UP,
	.moved = { .tunnel = { .name = "office",
			   .state = RPC_STATE_UP,
			   .carrier = CARRIER_TCP,
			   .reason = RPC_REASON_UDP_SILENT,
			   .verified = RPC_VERIFIED_FULL },
		.began = true } };
static struct rpc_error error;

static void progress(struct rpc_server *server, const struct rpc_request *request, enum rpc_step step)
{
	struct rpc_notice notice = { .kind = RPC_NOTICE_PROGRESS,
		.progress = { .request = request->id.number, .step = step } };

	rpc_server_notify(server, &notice);
}

static struct rpc_note note = { .text = "wg-quick has it too" };

/* Knows office and home. */
static void answer_usual(struct rpc_server *server, const struct rpc_request *request)
{
	struct rpc_result result = { .method = request->method };

	if (request->name[0] && strcmp(request->name, "office") != 0 && strcmp(request->name, "home") != 0 &&
		request->method != RPC_METHOD_TUNNEL_IMPORT) {
		rpc_error_set(&error, RPC_CODE_NO_SUCH_TUNNEL, "no such tunnel");
		rpc_server_reply_error(server, &request->id, &error);
		return;
	}
	switch (request->method) {
	case RPC_METHOD_TUNNEL_LIST:
		result.list = (struct rpc_list){ .tunnels = entries, .tunnel_count = 2 };
		break;
	case RPC_METHOD_TUNNEL_UP:
		progress(server, request, RPC_STEP_TRYING_UDP);
		progress(server, request, RPC_STEP_TRYING_TCP);
		progress(server, request, RPC_STEP_VERIFYING);
		result = up_result;
		break;
	case RPC_METHOD_TUNNEL_SWITCH:
		result.moved.tunnel = (struct rpc_tunnel){ .name = "office",
			.state = RPC_STATE_UP,
			.carrier = CARRIER_TCP,
			.reason = RPC_REASON_CHOSEN };
		break;
	case RPC_METHOD_TUNNEL_DOWN:
	case RPC_METHOD_TUNNEL_DELETE:
	case RPC_METHOD_TUNNEL_IMPORT:
	case RPC_METHOD_TUNNEL_SET:
		if (request->method == RPC_METHOD_TUNNEL_DELETE)
			result.done.warnings = (struct rpc_notes){ &note, 1 };
		snprintf(result.done.name, RPC_NAME_LEN, "office");
		snprintf(result.done.file, RPC_PATH_LEN, "/etc/wgtcp/office.conf");
		result.done.changed = request->method == RPC_METHOD_TUNNEL_DOWN;
		break;
	case RPC_METHOD_TUNNEL_EXPORT:
		result.exported.text = (char *)(uintptr_t) "[Interface]\nPrivateKey = k\n";
		break;
	case RPC_METHOD_SERVER_INIT:
	case RPC_METHOD_SERVER_ADD:
		snprintf(result.served.name, RPC_NAME_LEN, "server");
		snprintf(result.served.file, RPC_PATH_LEN, "/etc/wgtcp/server.conf");
		snprintf(result.served.client, RPC_NAME_LEN, "%s", request->client);
		snprintf(result.served.endpoint, RPC_HOST_LEN, "vpn.example:443");
		result.served.text = (char *)(uintptr_t) "[Interface]\nPrivateKey = k\n";
		result.served.changed = request->method == RPC_METHOD_SERVER_INIT;
		break;
	case RPC_METHOD_KILLSWITCH_UNLOCK:
	case RPC_METHOD_DIAGNOSE:
	case RPC_METHOD_DAEMON_INFO:
	case RPC_METHOD_TUNNEL_STATUS:
	case RPC_METHOD_LOGS:
	case RPC_METHOD_WATCH:
	case RPC_METHOD_SPEEDTEST_PREPARE:
	case RPC_METHOD_SPEEDTEST_END:
	case RPC_METHOD_HISTORY:
		break;
	}
	rpc_server_reply(server, &request->id, &result);
}

static void answer_error(struct rpc_server *server, const struct rpc_request *request)
{
	rpc_server_reply_error(server, &request->id, &error);
}

/* ---- up ---- */

static void test_up(void **state)
{
	(void)state;
	start(answer_usual);
	assert_int_equal(RUN("up", "office"), 0);
	assert_out("office is up over TCP: this network blocks UDP (verified: full).\n");
	assert_err("");
	assert_string_equal(fake.socket_path, "/fake/wgtcpd.sock");
	assert_string_equal(asked(0)->name, "office");
	assert_false(asked(0)->has_transport);
	assert_int_equal(asked(0)->timeout_ms, 0);

	start(answer_usual);
	fake.terminal = true;
	assert_int_equal(RUN("up", "./office.conf", "-t", "TCP", "--backend=userspace", "--timeout", "3",
				 "--socket", "/s"),
		0);
	assert_err("Trying UDP... no answer, trying TCP... answered, verifying...\n");
	assert_string_equal(fake.socket_path, "/s");
	assert_string_equal(asked(0)->name, "office");
	assert_int_equal(asked(0)->transport, TRANSPORT_TCP);
	assert_int_equal(asked(0)->backend, RPC_BACKEND_CHOICE_USERSPACE);
	assert_int_equal(asked(0)->timeout_ms, 3000);

	start(answer_usual);
	fake.terminal = true;
	assert_int_equal(RUN("up", "office", "--json"), 0);
	assert_err("");
	assert_memory_equal(fake.out, "{\"version\":1,\"tunnel\":{\"name\":\"office\"", 38);
	assert_int_equal(fake.out[fake.out_len - 1], '\n');
}

static void test_up_warnings(void **state)
{
	char *warnings[] = { (char *)(uintptr_t) "PostUp is not run" };

	(void)state;
	start(answer_usual);
	up_result.moved.warnings = (struct rpc_texts){ warnings, 1 };
	up_result.moved.began = false;
	assert_int_equal(RUN("up", "office"), 0);
	up_result.moved.warnings = (struct rpc_texts){ 0 };
	up_result.moved.began = true;
	assert_out("office is already up over TCP: this network blocks UDP (verified: full).\n");
	assert_err("wgtcp-cli: warning: PostUp is not run\n");
}

/* Every code of the daemon as an exit code, and its sentence. */
static void test_up_errors(void **state)
{
	static const struct {
		enum rpc_code code;
		int exit;
	} table[] = {
		{ RPC_CODE_OTHER, 1 },
		{ RPC_CODE_NOT_UP, 3 },
		{ RPC_CODE_NOT_PERMITTED, 4 },
		{ RPC_CODE_TIMED_OUT, 6 },
		{ RPC_CODE_PEER_UNREACHABLE, 7 },
		{ RPC_CODE_CAPTIVE_PORTAL, 8 },
		{ RPC_CODE_BUSY, 1 },
		{ RPC_CODE_EXISTS, 1 },
		{ RPC_CODE_CONFIG, 1 },
		{ RPC_CODE_UNKNOWN_METHOD, 1 },
		{ RPC_CODE_INTERNAL, 1 },
		{ (enum rpc_code)77, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		start(answer_error);
		rpc_error_set(&error, table[i].code, "cause; cure");
		assert_int_equal(RUN("up", "office"), table[i].exit);
		assert_err("wgtcp-cli: cause; cure\n");
		assert_out("");
	}
	start(answer_error);
	rpc_error_set(&error, RPC_CODE_TIMED_OUT, "cause; cure");
	error.has_state = true;
	error.state = RPC_STATE_CONNECTING;
	assert_int_equal(RUN("up", "office"), 6);
	assert_err("wgtcp-cli: cause; cure\nThe daemon goes on trying; `wgtcp-cli down office` ends that.\n");

	start(answer_error);
	rpc_error_set(&error, RPC_CODE_PEER_UNREACHABLE, "cause; cure");
	assert_int_equal(RUN("up", "office", "--json"), 7);
	assert_err("wgtcp-cli: cause; cure\n");
	assert_out("{\"version\":1,\"error\":{\"code\":7,\"message\":\"cause; "
		   "cure\",\"data\":{\"cause\":\"none\",\"notes\":[]}}}\n");
}

static void test_no_such_tunnel(void **state)
{
	(void)state;
	start(answer_usual);
	assert_int_equal(RUN("up", "ofice"), 5);
	assert_err("wgtcp-cli: no tunnel is called 'ofice'; did you mean 'office'? `wgtcp-cli list` shows "
		   "all\n");
	start(answer_usual);
	assert_int_equal(RUN("down", "laboratory"), 5);
	assert_err("wgtcp-cli: no tunnel is called 'laboratory'; `wgtcp-cli list` shows all\n");
	start(answer_usual);
	assert_int_equal(RUN("up", "new laboratory"), 5);
	assert_non_null(strstr(fake.err, "a file in /etc/wgtcp is seen only when its name has 1 to 15 of"));
	start(answer_usual);
	fake.file_path = "vpn/new.conf";
	assert_int_equal(RUN("up", "vpn/new.conf"), 5);
	assert_err("wgtcp-cli: no tunnel is called 'new'; `wgtcp-cli import vpn/new.conf` adds it\n");
	/* The name that people see does as well. */
	start(answer_usual);
	assert_int_equal(RUN("up", "My Office"), 0);
	assert_string_equal(asked(2)->name, "office");
	start(answer_usual);
	assert_int_equal(RUN("down", "Home"), 0);
	assert_string_equal(asked(2)->name, "home");
}

/* Ctrl-C: what this up began is taken down, by the id of its request; exit 130. */
static void answer_cancel(struct rpc_server *server, const struct rpc_request *request)
{
	struct rpc_result result = { .method = RPC_METHOD_TUNNEL_DOWN };

	if (request->method == RPC_METHOD_TUNNEL_UP) {
		progress(server, request, RPC_STEP_TRYING_UDP);
		return;
	}
	assert_int_equal(request->method, RPC_METHOD_TUNNEL_DOWN);
	assert_true(request->has_request);
	result.done.changed = request->request == 1;
	rpc_server_reply(server, &request->id, &result);
}

static void test_interrupt(void **state)
{
	(void)state;
	start(answer_cancel);
	fake.interrupt_after = 2;
	fake.terminal = true;
	assert_int_equal(RUN("up", "office"), 130);
	assert_int_equal(fake.request_count, 2);
	assert_string_equal(asked(1)->name, "office");
	assert_err("Trying UDP...\nwgtcp-cli: interrupted; office is down again\n");
	assert_false(fake.caught); /* a second Ctrl-C would have ended it */
}

static void test_start_daemon(void **state)
{
	static const struct {
		const char *command;
		int connect_error, start_error;
		bool admin;
		int starts, exit;
		const char *err;
	} table[] = {
		{ "up", -ENOENT, 0, true, 1, 0, "" },
		{ "up", -ECONNREFUSED, 0, true, 1, 0, "" },
		{ "up", -ENOENT, 0, false, 0, 1,
			"wgtcp-cli: the daemon wgtcpd is not running (nothing listens on /fake/wgtcpd.sock); "
			"start it with `start "
			"it`, or run `wgtcp-cli up` as root, which starts it\n" },
		{ "down", -ENOENT, 0, true, 0, 1,
			"wgtcp-cli: the daemon wgtcpd is not running (nothing listens on /fake/wgtcpd.sock); "
			"start it with `start "
			"it`\n" },
		{ "delete", -ENOENT, 0, true, 1, 0, "office: warning: wg-quick has it too\n" },
		{ "delete", -ENOENT, 0, false, 0, 1,
			"wgtcp-cli: the daemon wgtcpd is not running (nothing listens on /fake/wgtcpd.sock); "
			"start it with `start "
			"it`, or run `wgtcp-cli delete` as root, which starts it\n" },
		{ "up", -EACCES, 0, true, 0, 4,
			"wgtcp-cli: you may not speak to the daemon on /fake/wgtcpd.sock; run this as root, "
			"or as a member of the "
			"group wgtcp\n" },
		{ "up", -ENOENT, -ENOENT, true, 1, 1,
			"wgtcp-cli: the daemon wgtcpd is not running and stands neither beside wgtcp-cli nor "
			"where it is "
			"installed; install it\n" },
		{ "up", -ENOENT, -ETIMEDOUT, true, 1, 6,
			"wgtcp-cli: wgtcpd was started and does not answer on /fake/wgtcpd.sock within 5 s; "
			"its log is "
			"/fake/wgtcpd.log\n" },
		{ "up", -ENOENT, -ECHILD, true, 1, 1,
			"wgtcp-cli: wgtcpd was started and ended at once: the last line; its log is "
			"/fake/wgtcpd.log\n" },
		{ "up", -ENOTSOCK, 0, true, 0, 2,
			"wgtcp-cli: /fake/wgtcpd.sock is not a socket; give wgtcpd's as --socket\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		start(answer_usual);
		fake.connect_error = table[i].connect_error;
		fake.start_error = table[i].start_error;
		fake.admin = table[i].admin;
		fake.file_path = "/fake/wgtcpd.log";
		fake.file_text = "first\nthe last line\n";
		assert_int_equal(RUN(table[i].command, "office"), table[i].exit);
		assert_int_equal(fake.starts, table[i].starts);
		assert_err(table[i].err);
	}
}

static void test_silence(void **state)
{
	(void)state;
	start(answer_usual);
	fake.silent = true;
	assert_int_equal(RUN("list"), 6);
	assert_err("wgtcp-cli: the daemon wgtcpd does not answer; `wgtcp-cli logs` may say why\n");
	start(answer_usual);
	fake.silent = true;
	assert_int_equal(RUN("up", "office"), 6);
}

/* ---- the others ---- */

static void test_down_switch(void **state)
{
	(void)state;
	start(answer_usual);
	assert_int_equal(RUN("down", "office"), 0);
	assert_out("office is down.\n");
	assert_false(asked(0)->has_request);
	start(answer_usual);
	assert_int_equal(RUN("switch", "office", "tcp", "--peer", "KEY"), 0);
	assert_out("office is up over TCP, as chosen.\n");
	assert_int_equal(asked(0)->transport, TRANSPORT_TCP);
	assert_string_equal(asked(0)->peer, "KEY");
	start(answer_usual);
	assert_int_equal(RUN("switch", "office", "sctp"), 2);
	assert_err("wgtcp-cli: switch: the carrier must be auto, udp or tcp, not 'sctp'; `wgtcp-cli help "
		   "switch` shows how\n");
	assert_int_equal(fake.request_count, 0);
}

static void test_import(void **state)
{
	(void)state;
	start(answer_usual);
	fake.file_path = "vpn/My office.conf";
	fake.file_text = "[Interface]\n";
	assert_int_equal(RUN("import", "vpn/My office.conf"), 0);
	assert_out("office is imported as /etc/wgtcp/office.conf; `wgtcp-cli up office` brings it up.\n");
	assert_string_equal(asked(0)->file, "My office.conf");
	assert_string_equal(asked(0)->name, "");
	assert_string_equal(fake.last_text, "[Interface]\n");
	assert_false(asked(0)->replace);

	start(answer_usual);
	fake.file_path = "-";
	fake.file_text = "[Interface]\n";
	assert_int_equal(RUN("import", "-", "--name", "x.conf", "--replace"), 0);
	assert_string_equal(asked(0)->name, "x");
	assert_true(asked(0)->replace);
}

/* What is no profile is told before the daemon is asked; what the daemon says about lines stands behind the
 * file's name. */
static void test_import_errors(void **state)
{
	static const struct {
		const char *text;
		size_t len;
		int file_error, exit;
		const char *err;
	} table[] = {
		{ "a\nb\0c", 5, 0, 1,
			"wgtcp-cli: x.conf:2: this is not a text file (it holds a NUL byte); give the "
			"profile's .conf file\n" },
		{ "\xff\xfe[\0I\0", 6, 0, 1,
			"wgtcp-cli: x.conf:1: this is UTF-16; save the file as UTF-8 and import it again\n" },
		{ "a\nb\nM\xfcller", 0, 0, 1,
			"wgtcp-cli: x.conf:3: this is not UTF-8 text; save the file as UTF-8 and import it "
			"again\n" },
		{ "", 0, -EISDIR, 1, "wgtcp-cli: 'x.conf' is a folder; give one of its .conf files\n" },
		{ "", 0, -EACCES, 4,
			"wgtcp-cli: you may not read 'x.conf'; run this as root, or ask its owner\n" },
		{ "", 0, -ENOENT, 1,
			"wgtcp-cli: there is no file 'x.conf'; give the path of a .conf file, or - for "
			"standard input\n" },
		{ "", 0, -EFBIG, 1,
			"wgtcp-cli: 'x.conf' is larger than the 64 KiB that can be imported; one of up to 1 "
			"MiB can be put in place as it "
			"is: `sudo install -m 600 FILE /etc/wgtcp/NAME.conf`\n" },
	};
	static char large[65000];
	struct rpc_note notes[] = { { 3, 1, "'Adress' is not a key of [Interface]; did you mean 'Address'?" },
		{ 0, 0, "[Interface] has no PrivateKey" } };

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		start(answer_usual);
		fake.file_path = "x.conf";
		fake.file_text = table[i].text;
		fake.file_len = table[i].len;
		fake.file_error = table[i].file_error;
		assert_int_equal(RUN("import", "x.conf"), table[i].exit);
		assert_err(table[i].err);
		assert_int_equal(fake.request_count, 0);
	}

	start(answer_usual);
	memset(large, '\n', sizeof(large) - 1); /* fits a file, not a line of JSON */
	fake.file_path = "x.conf";
	fake.file_text = large;
	assert_int_equal(RUN("import", "x.conf"), 1);
	assert_err("wgtcp-cli: the profile is larger than the 64 KiB that one message may have\n");

	start(answer_error);
	rpc_error_set(&error, RPC_CODE_CONFIG, "the profile is wrong");
	error.notes = (struct rpc_notes){ notes, 2 };
	fake.file_path = "vpn/x.conf";
	fake.file_text = "[Interface]\n";
	assert_int_equal(RUN("import", "vpn/x.conf"), 1);
	assert_err("vpn/x.conf:3: 'Adress' is not a key of [Interface]; did you mean 'Address'?\n"
		   "vpn/x.conf: [Interface] has no PrivateKey\n");

	/* A profile that lies with the daemon: its message names the file. */
	start(answer_error);
	rpc_error_set(&error, RPC_CODE_CONFIG, "/etc/wgtcp/office.conf:3: no");
	error.notes = (struct rpc_notes){ notes, 1 };
	assert_int_equal(RUN("up", "office"), 1);
	assert_err("wgtcp-cli: /etc/wgtcp/office.conf:3: no\n");
	error.notes = (struct rpc_notes){ 0 };
}

static void answer_beside(struct rpc_server *server, const struct rpc_request *request)
{
	struct rpc_result result = { .method = request->method };

	assert_int_equal(request->method, RPC_METHOD_TUNNEL_EXPORT);
	assert_true(request->beside);
	result.exported.beside = 11;
	rpc_server_reply(server, &request->id, &result);
}

/* A private key is asked for beside the stream, and printed from there. */
static void test_export_beside(void **state)
{
	(void)state;
	start(answer_beside);
	fake.beside = "[Interface]";
	assert_int_equal(RUN("export", "office"), 0);
	assert_out("[Interface]");
	start(answer_beside);
	fake.beside = "[Interface]";
	assert_int_equal(RUN("export", "office", "--json"), 0);
	assert_non_null(strstr(fake.out, "\"text\":\"[Interface]\""));
	start(answer_beside);
	assert_int_equal(RUN("export", "office"), 1);
	assert_out("");
	assert_true(fake.err_len > 0);
}

static void test_export_delete_set(void **state)
{
	(void)state;
	start(answer_usual);
	assert_int_equal(RUN("export", "office", "--hide-keys"), 0);
	assert_out("[Interface]\nPrivateKey = k\n");
	assert_true(asked(0)->hide_keys);
	start(answer_usual);
	fake.utf8 = true;
	assert_int_equal(RUN("export", "office", "--qr"), 0);
	assert_memory_equal(fake.out, "\xe2\x96\x88\xe2\x96\x88", 6);
	start(answer_usual);
	fake.utf8 = true;
	fake.width = 29;
	assert_int_equal(RUN("export", "office", "--qr"), 0);
	start(answer_usual);
	fake.utf8 = true;
	fake.width = 28;
	assert_int_equal(RUN("export", "office", "--qr"), 1);
	assert_out("");
	assert_non_null(strstr(fake.err, "the QR code is 29"));
	start(answer_usual);
	assert_int_equal(RUN("delete", "office.conf"), 0);
	assert_out("office is deleted.\n");
	assert_err("office: warning: wg-quick has it too\n");
	start(answer_usual);
	assert_int_equal(RUN("set", "office", "Transport = tcp", "DNS=", "privatekey=aaa"), 0);
	assert_out("Transport = tcp in /etc/wgtcp/office.conf.\n"
		   "DNS is taken away in /etc/wgtcp/office.conf.\n"
		   "privatekey is set in /etc/wgtcp/office.conf.\n"
		   "office is up, and stays as it was until `wgtcp-cli down office` and `wgtcp-cli up "
		   "office`.\n");
	assert_int_equal(asked(0)->setting_count, 3);
	assert_string_equal(fake.last_text, "Transport=tcp");
	start(answer_usual);
	assert_int_equal(RUN("set", "office", "Transport"), 2);
	assert_int_equal(fake.request_count, 0);
}

/* ---- complete ---- */

static void test_complete(void **state)
{
	(void)state;
	start(answer_usual);
	assert_int_equal(RUN("complete", ""), 0);
	assert_non_null(strstr(fake.out, "up\n"));
	assert_null(strstr(fake.out, "complete\n"));

	start(answer_usual);
	assert_int_equal(RUN("complete", "up", ""), 0);
	assert_non_null(strstr(fake.out, "office\n"));
	assert_int_equal(asked(0)->method, RPC_METHOD_TUNNEL_LIST);

	start(answer_usual);
	assert_int_equal(RUN("complete", "up", "office", "--transport", "t"), 0);
	assert_out("tcp\n");
	assert_int_equal(fake.request_count, 0);

	/* A person at the prompt is not shown an error, and no daemon is started. */
	start(answer_usual);
	fake.connect_error = -ENOENT;
	fake.admin = true;
	assert_int_equal(RUN("complete", "up", ""), 0);
	assert_out("");
	assert_err("");
	assert_int_equal(fake.starts, 0);

	/* Half written, and wrong. */
	assert_int_equal(RUN("complete"), 0);
	start(answer_usual);
	assert_int_equal(RUN("complete", "nonsense", "--x", ""), 0);
	assert_int_equal(RUN("complete", "genkey", "x"), 0);
	assert_out("");
}

/* ---- server ---- */

static void test_server(void **state)
{
	(void)state;
	start(answer_usual);
	assert_int_equal(RUN("server", "init", "--endpoint", "vpn.example"), 0);
	assert_string_equal(fake.written_path, "client.conf");
	assert_string_equal(fake.written, "[Interface]\nPrivateKey = k\n");
	assert_non_null(strstr(fake.out, "/etc/wgtcp/server.conf; `wgtcp-cli up server` starts it"));
	assert_non_null(strstr(fake.out, "Nothing was opened in a firewall"));
	assert_null(strstr(fake.out, "PrivateKey"));
	assert_int_equal(asked(0)->method, RPC_METHOD_SERVER_INIT);
	assert_string_equal(asked(0)->endpoint, "vpn.example");
	assert_int_equal(asked(0)->port, 0);

	start(answer_usual);
	assert_int_equal(RUN("server", "add", "../Anna's laptop", "--name", "office", "--port", "51820"), 0);
	assert_string_equal(fake.written_path, "-.-Anna's laptop.conf");
	assert_non_null(strstr(fake.out, "`wgtcp-cli down server` and `wgtcp-cli up server`"));
	assert_string_equal(asked(0)->name, "office");
	assert_string_equal(asked(0)->client, "../Anna's laptop");
	assert_int_equal(asked(0)->port, 51820);

	start(answer_usual);
	fake.terminal = fake.utf8 = true;
	fake.width = 80;
	assert_int_equal(RUN("server", "add", "anna"), 0);
	assert_non_null(strstr(fake.out, "and a telephone takes the QR code"));
	start(answer_usual);
	fake.terminal = fake.utf8 = true;
	fake.width = 20;
	assert_int_equal(RUN("server", "add", "anna"), 0);
	assert_non_null(
		strstr(fake.out, "No QR code is shown, since it is 29 columns wide and this window 20."));
	assert_null(strstr(fake.out, "a telephone"));

	/* The key is nowhere else, so it is not lost with the file. */
	start(answer_usual);
	fake.write_error = -28; /* ENOSPC */
	assert_int_equal(RUN("server", "add", "anna"), 1);
	assert_non_null(strstr(fake.out, "PrivateKey = k\n"));

	start(answer_usual);
	fake.file_path = "anna.conf";
	assert_int_equal(RUN("server", "add", "anna"), 1);
	assert_int_equal(fake.request_count, 0);
	assert_int_equal(RUN("server", "add", "anna", "--output", "-"), 0);
	assert_string_equal(fake.out, "[Interface]\nPrivateKey = k\n");
	assert_non_null(strstr(fake.err, "`wgtcp-cli down server` and `wgtcp-cli up server`"));

	start(answer_usual);
	assert_int_equal(RUN("server", "init"), 2);
	assert_int_equal(RUN("server", "add"), 2);
	assert_int_equal(RUN("server", "remove", "anna"), 2);
	assert_int_equal(RUN("server", "init", "--endpoint", "h", "--port", "65536"), 2);
	assert_int_equal(fake.request_count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_up),
		cmocka_unit_test(test_up_warnings),
		cmocka_unit_test(test_up_errors),
		cmocka_unit_test(test_no_such_tunnel),
		cmocka_unit_test(test_interrupt),
		cmocka_unit_test(test_start_daemon),
		cmocka_unit_test(test_silence),
		cmocka_unit_test(test_down_switch),
		cmocka_unit_test(test_import),
		cmocka_unit_test(test_import_errors),
		cmocka_unit_test(test_export_beside),
		cmocka_unit_test(test_export_delete_set),
		cmocka_unit_test(test_complete),
		cmocka_unit_test(test_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
