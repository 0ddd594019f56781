/* SPDX-License-Identifier: MIT */
/* Commands that show what there is: status, its watch, the log; and the kill switch. */
#include "tests/unit/client/cli/run.h"

#include "core/port/ipc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- status ---- */

static struct rpc_peer many[600];

/* As a daemon does it: all peers from peer_from on; what does not fit a line is left out by the library. */
static void answer_status(struct rpc_server *server, const struct rpc_request *request)
{
	struct rpc_tunnel tunnel = { .name = "hub",
		.state = RPC_STATE_UP,
		.peers = many + request->peer_from,
		.peer_count = 600 - request->peer_from,
		.peers_total = 600 };
	struct rpc_result result = { .method = RPC_METHOD_TUNNEL_STATUS,
		.status = { .tunnels = &tunnel, .tunnel_count = 1 } };

	assert_int_equal(request->method, RPC_METHOD_TUNNEL_STATUS);
	rpc_server_reply(server, &request->id, &result);
}

static void test_status_pages(void **state)
{
	const char *at;

	(void)state;
	start(answer_status);
	for (size_t i = 0; i < 600; i++)
		snprintf(many[i].public_key, RPC_KEY_LEN, "key%03zu", i);
	assert_int_equal(RUN("status"), 0);
	assert_true(fake.request_count > 2);
	at = fake.out;
	for (size_t i = 0; i < 600; i++) {
		at = strstr(at, many[i].public_key);
		assert_non_null(at);
	}
	assert_null(strstr(fake.out, "more\n"));
}

/* Each has a peer, so that a status is longer than a list. */
static void answer_tunnels(struct rpc_server *server, const struct rpc_request *request)
{
	static struct rpc_tunnel tunnels[900];
	static struct rpc_entry profiles[900];
	uint32_t from = request->tunnel_from;
	struct rpc_result result = { .method = request->method };

	for (size_t i = 0; i < 900; i++) {
		snprintf(tunnels[i].name, RPC_NAME_LEN, "tunnel%03zu", i);
		snprintf(profiles[i].name, RPC_NAME_LEN, "tunnel%03zu", i);
		tunnels[i].peers = many;
		tunnels[i].peer_count = 1;
	}
	if (request->method == RPC_METHOD_TUNNEL_LIST)
		result.list = (struct rpc_list){ profiles + from, 900 - from, from, 900 };
	else
		result.status = (struct rpc_status){ tunnels + from, 900 - from, from, 900, { 0 } };
	rpc_server_reply(server, &request->id, &result);
}

static void test_many_tunnels(void **state)
{
	static const char *const commands[] = { "status", "list" };
	char name[RPC_NAME_LEN];

	(void)state;
	for (size_t n = 0; n < 2; n++) {
		const char *at;

		start(answer_tunnels);
		assert_int_equal(RUN(commands[n]), 0);
		assert_true(fake.request_count > 2);
		at = fake.out;
		for (size_t i = 0; i < 900; i++) {
			snprintf(name, sizeof(name), "tunnel%03zu", i);
			at = strstr(at, name);
			assert_non_null(at);
		}
	}
}

static enum rpc_state one_state;

static void answer_one(struct rpc_server *server, const struct rpc_request *request)
{
	struct rpc_tunnel tunnel = { .name = "office", .state = one_state };
	struct rpc_result result = { .method = RPC_METHOD_TUNNEL_STATUS,
		.status = { .tunnels = &tunnel, .tunnel_count = 1 } };

	rpc_server_reply(server, &request->id, &result);
}

static void test_status_exit(void **state)
{
	static const struct {
		enum rpc_state state;
		int exit;
	} table[] = {
		{ RPC_STATE_DOWN, 3 },
		{ RPC_STATE_CONNECTING, 3 },
		{ RPC_STATE_VERIFYING, 3 },
		{ RPC_STATE_UP, 0 },
		{ RPC_STATE_DEGRADED, 0 },
		{ RPC_STATE_RECONNECTING, 3 },
		{ RPC_STATE_FAILED, 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		one_state = table[i].state;
		start(answer_one);
		assert_int_equal(RUN("status", "office"), table[i].exit);
		start(answer_one);
		assert_int_equal(RUN("status", "office", "--json"), table[i].exit);
		assert_memory_equal(fake.out, "{\"version\":1,\"tunnels\":[{\"name\":\"office\"", 40);
		start(answer_one);
		assert_int_equal(RUN("status"), 0);
	}
}

/* A state, a second's figures, a change, and the end of the daemon. */
static void answer_watch(struct rpc_server *server, const struct rpc_request *request)
{
	struct rpc_peer peer = { .public_key = "A", .rx_bytes = 1 };
	struct rpc_sample sample = {
		.time = 1796080000, .rx_bps = 12000000, .tx_bps = 1000, .rtt_us = 20000
	};
	struct rpc_result result = { .method = request->method };
	struct rpc_notice notice = { .kind = RPC_NOTICE_STATE,
		.state = { .tunnel = { .name = "office",
				   .state = RPC_STATE_UP,
				   .carrier = CARRIER_UDP,
				   .peers = &peer,
				   .peer_count = 1 } } };

	rpc_server_reply(server, &request->id, &result);
	if (request->method != RPC_METHOD_WATCH)
		return;
	rpc_server_notify(server, &notice);
	peer.rx_bytes = 2048;
	notice = (struct rpc_notice){ .kind = RPC_NOTICE_STATS,
		.stats = { .name = "office",
			.samples = &sample,
			.sample_count = 1,
			.peers = &peer,
			.peer_count = 1 } };
	rpc_server_notify(server, &notice);
	notice = (struct rpc_notice){ .kind = RPC_NOTICE_STATE,
		.state = { .tunnel = { .name = "office" }, .gone = true } };
	rpc_server_notify(server, &notice);
}

static void test_watch(void **state)
{
	(void)state;
	start(answer_watch);
	assert_int_equal(RUN("status", "--watch"), 1);
	assert_out("<1796080000> office is up over UDP.\n"
		   "<1796080000> office: 12.0 Mbit/s down, 1.00 kbit/s up, round trip 20 ms\n"
		   "<1796080000> office was deleted.\n");
	start(answer_watch);
	fake.terminal = true;
	fake.width = 60;
	fake.interrupt_after = 12;
	assert_int_equal(RUN("status", "-w"), 130);
	assert_memory_equal(fake.out, "\033[?25l\033[2J\033[H", 13);
	assert_non_null(strstr(fake.out, "\033[Hoffice is up over UDP.\033[K\n"));
	assert_non_null(strstr(fake.out, "    received   1 B,"));
	assert_non_null(strstr(fake.out, "    received   2.00 KiB,"));
	assert_non_null(strstr(fake.out, "  round trip 20 ms      "));
	assert_non_null(strstr(fake.out, "\033[HThere is no tunnel yet;"));
	/* The cursor comes back. */
	assert_string_equal(fake.out + fake.out_len - 7, "\033[?25h\n");
	start(answer_watch);
	RUN("status", "--watch", "--json");
	assert_memory_equal(fake.out, "{\"version\":1,\"state\":{\"tunnel\":{\"name\":\"office\"", 46);
	assert_non_null(strstr(fake.out, "\n{\"version\":1,\"stats\":{\"name\":\"office\",\"samples\":[{"));
}

static void answer_logs(struct rpc_server *server, const struct rpc_request *request)
{
	struct rpc_log entry = { 1796076935123, RPC_LEVEL_WARNING, "office", "UDP is\033[2J silent" };
	struct rpc_result result = { .method = RPC_METHOD_LOGS, .logs = { &entry, 1 } };
	struct rpc_notice notice = { .kind = RPC_NOTICE_LOG,
		.log = { 1796076936000, RPC_LEVEL_INFO, "", "more" } };

	rpc_server_reply(server, &request->id, &result);
	if (request->follow)
		rpc_server_notify(server, &notice);
}

static void test_logs(void **state)
{
	(void)state;
	start(answer_logs);
	assert_int_equal(RUN("logs", "-n", "20"), 0);
	assert_out("<1796076935> warning: office: UDP is?[2J silent\n");
	assert_int_equal(asked(0)->lines, 20);
	assert_false(asked(0)->follow);
	start(answer_logs);
	fake.colour = true;
	assert_int_equal(RUN("logs", "-f"), 1); /* the daemon goes */
	assert_out(
		"<1796076935> \033[33mwarning\033[0m: office: UDP is?[2J silent\n<1796076936> info: more\n");
}

/* ---- the kill switch ---- */

static struct rpc_error error;

static void answer_error(struct rpc_server *server, const struct rpc_request *request)
{
	rpc_server_reply_error(server, &request->id, &error);
}

static void answer_unchanged(struct rpc_server *server, const struct rpc_request *request)
{
	struct rpc_result result = { .method = request->method };

	rpc_server_reply(server, &request->id, &result);
}

static char *holders[] = { (char *)(uintptr_t) "office", (char *)(uintptr_t) "ho\033me" };

static void answer_unlock(struct rpc_server *server, const struct rpc_request *request)
{
	struct rpc_result result = { .method = RPC_METHOD_KILLSWITCH_UNLOCK, .unlocked.changed = true };

	if (request->for_s)
		result.unlocked.lockdown = (struct rpc_lockdown){ .state = RPC_KILL_SWITCH_OPEN,
			.open_until = 1796080000 + request->for_s,
			.tunnels = { holders, 2 } };
	rpc_server_reply(server, &request->id, &result);
}

static void answer_old_daemon(struct rpc_server *server, const struct rpc_request *request)
{
	rpc_error_set(&error, RPC_CODE_UNKNOWN_METHOD, "no method");
	rpc_server_reply_error(server, &request->id, &error);
}

static void test_unlock(void **state)
{
	(void)state;
	for (int admin = 0; admin < 2; admin++) {
		start(answer_unlock);
		fake.admin = admin;
		assert_int_equal(RUN("unlock"), 0);
		assert_out("The kill switch is off.\n");
		assert_int_equal(asked(0)->method, RPC_METHOD_KILLSWITCH_UNLOCK);
		assert_int_equal(asked(0)->for_s, 0);
		assert_int_equal(fake.unlocks, 0);
		start(answer_unlock);
		fake.admin = admin;
		assert_int_equal(RUN("unlock", "--for", "5m"), 0);
		assert_int_equal(asked(0)->for_s, 300);
		assert_memory_equal(fake.out, "The kill switch is open for 5 min", 33);
		start(answer_unchanged); /* it was off */
		fake.admin = admin;
		assert_int_equal(RUN("unlock"), 0);
		assert_out("The kill switch was off already.\n");
		start(answer_error);
		fake.admin = admin;
		rpc_error_set(&error, RPC_CODE_OTHER, "the kill switch cannot be changed: why");
		assert_int_equal(RUN("unlock"), 1);
		assert_memory_equal(fake.err, "wgtcp-cli: the kill switch cannot be changed: why\n", 50);
		assert_int_equal(fake.unlocks, 0);
	}
	start(answer_unlock);
	assert_int_equal(RUN("unlock", "--for=90", "--json"), 0);
	assert_non_null(strstr(fake.out,
		"\"kill_switch\":{\"state\":\"open\",\"open_until\":1796080090,\"tunnels\":[\"office\","));
}

/* No daemon, one that hangs, one from before: root needs none of them. */
static void test_unlock_without_a_daemon(void **state)
{
	(void)state;
	for (int how = 0; how < 3; how++) {
		start(how == 2 ? answer_old_daemon : NULL);
		fake.admin = true;
		fake.connect_error = how == 0 ? -ENOENT : 0;
		fake.silent = how == 1;
		assert_int_equal(RUN("unlock"), 0);
		assert_out("The kill switch is off.\n");
		assert_err("");
		assert_int_equal(fake.unlocks, 1);
		assert_int_equal(fake.starts, 0);
	}
	start(NULL);
	fake.admin = true;
	fake.connect_error = -ECONNREFUSED;
	assert_int_equal(RUN("unlock", "--for", "2h", "--json"), 0);
	assert_int_equal(fake.unlocked_for_s, 7200);
	assert_non_null(strstr(
		fake.out, "\"changed\":true,\"kill_switch\":{\"state\":\"open\",\"open_until\":1796087200"));
	start(NULL);
	fake.admin = true;
	fake.connect_error = -ENOENT;
	fake.unlock_error = -ECHILD;
	assert_int_equal(RUN("unlock"), 1);
	assert_err("wgtcp-cli: the kill switch cannot be changed: only root may\n");
	start(NULL);
	fake.connect_error = -ENOENT;
	assert_int_equal(RUN("unlock"), 1);
	assert_int_equal(fake.unlocks, 0);
	assert_non_null(strstr(fake.err, "`sudo wgtcp-cli unlock`"));
}

static void answer_locked_status(struct rpc_server *server, const struct rpc_request *request)
{
	struct rpc_result result = { .method = RPC_METHOD_TUNNEL_STATUS };

	result.status.lockdown =
		(struct rpc_lockdown){ .state = RPC_KILL_SWITCH_ON, .tunnels = { holders, 2 } };
	if (request->peer_from == 0 && fake.utf8) {
		result.status.lockdown.state = RPC_KILL_SWITCH_OPEN;
		result.status.lockdown.open_until = fake.now + 240;
	}
	rpc_server_reply(server, &request->id, &result);
}

static void test_status_tells_the_kill_switch(void **state)
{
	(void)state;
	start(answer_locked_status);
	assert_int_equal(RUN("status"), 0);
	assert_out(
		"There is no tunnel yet; `wgtcp-cli import FILE` adds one.\n\nThe kill switch is on (office, "
		"ho?me): nothing leaves this computer past a tunnel; `wgtcp-cli unlock` ends it.\n");
	start(answer_locked_status);
	fake.utf8 = true;
	assert_int_equal(RUN("status"), 0);
	assert_non_null(strstr(fake.out, "\nThe kill switch is open for 4 min"));
	assert_non_null(strstr(fake.out, " more (office, ho?me): traffic may go past the tunnel.\n"));
	start(answer_locked_status);
	assert_int_equal(RUN("status", "--json"), 0);
	assert_non_null(strstr(
		fake.out, "\"kill_switch\":{\"state\":\"on\",\"open_until\":0,\"tunnels\":[\"office\""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_status_pages),
		cmocka_unit_test(test_many_tunnels),
		cmocka_unit_test(test_status_exit),
		cmocka_unit_test(test_watch),
		cmocka_unit_test(test_logs),
		cmocka_unit_test(test_unlock),
		cmocka_unit_test(test_unlock_without_a_daemon),
		cmocka_unit_test(test_status_tells_the_kill_switch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
