/* SPDX-License-Identifier: MIT */
/* Messages as wgtcpd wrote them, through the client's side of the protocol into the model. */
#include "client/rpc/conn.h"
#include "gui/model/report.h"
#include "gui/model/status_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct rig {
	struct rpc_conn *conn;
	struct status_model model;
	struct model_change change;
};

#define TUNNEL(name, shown, state, carrier, reason, peers)                                                   \
	"{\"name\":\"" name "\",\"display_name\":\"" shown "\",\"profile\":\"" name "\",\"state\":\"" state  \
	"\",\"cause\":\"none\",\"verified\":\"full\",\"reason\":\"" reason "\",\"interface\":\"" name        \
	"\",\"backend\":\"userspace\",\"carrier\":\"" carrier                                                \
	"\",\"transport\":\"auto\",\"mtu\":1420,\"since\":1796080000,\"udp\":\"blocked\",\"message\":null,"  \
	"\"warnings\":[],"                                                                                   \
	"\"peers\":[" peers "],\"peers_total\":1}"
#define STATE(tunnel)                                                                                        \
	"{\"jsonrpc\":\"2.0\",\"method\":\"state\",\"params\":{\"tunnel\":" tunnel ",\"gone\":false}}\n"
#define PEER(rx)                                                                                             \
	"{\"public_key\":\"sZc4eAXlHLLgcjnLOYvtcmyvl9BUM0YxK5mHBqQGCzs=\",\"endpoint\":\"198.51.100.2:"      \
	"51820\","                                                                                           \
	"\"state\":\"up\",\"cause\":\"none\",\"verified\":\"full\",\"reason\":\"udp-silent\",\"carrier\":"   \
	"\"tcp\","                                                                                           \
	"\"udp\":\"blocked\",\"last_handshake\":1796080000,\"rtt_ms\":12.5,\"rx_bytes\":" rx                 \
	",\"tx_bytes\":200,"                                                                                 \
	"\"rx_bps\":8000,\"tx_bps\":400}"
#define ENTRY(name, shown)                                                                                   \
	"{\"name\":\"" name "\",\"display_name\":\"" shown "\",\"file\":\"/etc/wgtcp/" name                  \
	".conf\",\"read_only\":false,\"state\":\"down\",\"transport\":\"auto\",\"backend\":\"auto\","        \
	"\"auto_connect\":false,\"error\":null}"

static int set_up(void **state)
{
	static struct rig rig;

	rig = (struct rig){ .conn = rpc_conn_new() };
	*state = &rig;
	return rig.conn ? 0 : -1;
}

static int tear_down(void **state)
{
	struct rig *rig = *state;

	rpc_conn_free(rig->conn);
	status_model_free(&rig->model);
	return 0;
}

/* What the daemon wrote; every event in it reaches the model. */
static void take(struct rig *rig, const char *lines)
{
	struct rpc_event event;
	int events = 0;

	assert_int_equal(rpc_conn_feed(rig->conn, lines, strlen(lines)), 0);
	while (rpc_conn_next(rig->conn, &event) == 1) {
		assert_true(status_model_take(&rig->model, &event, &rig->change));
		rpc_event_free(&event);
		events++;
	}
	assert_true(events > 0);
}

/* result: the members after "version". */
static void answer(struct rig *rig, enum rpc_method method, const char *result)
{
	struct rpc_request request = { .method = method };
	int64_t id = rpc_conn_request(rig->conn, &request);
	char line[4096];

	assert_true(id > 0);
	snprintf(line, sizeof(line), "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"version\":1,%s}}\n",
		(int)id, result);
	take(rig, line);
}

static void test_a_list_in_the_order_of_names(void **state)
{
	struct rig *rig = *state;

	answer(rig, RPC_METHOD_TUNNEL_LIST,
		"\"tunnels\":[" ENTRY("b", "zebra") "," ENTRY("a", "Office") "," ENTRY("c", "airport") "]");
	assert_int_equal(rig->model.count, 3);
	assert_string_equal(rig->model.tunnels[0]->shown, "airport");
	assert_string_equal(rig->model.tunnels[1]->shown, "Office");
	assert_string_equal(rig->model.tunnels[2]->shown, "zebra");
	assert_true(rig->change.what & MODEL_CHANGED_SET);
	assert_true(rig->model.has_list);
	/* One profile went, one came. */
	answer(rig, RPC_METHOD_TUNNEL_LIST, "\"tunnels\":[" ENTRY("c", "airport") "," ENTRY("d", "Dorm") "]");
	assert_int_equal(rig->model.count, 2);
	assert_null(status_model_find(&rig->model, "a"));
	assert_string_equal(status_model_at(&rig->model, 1)->shown, "Dorm");
	assert_null(status_model_at(&rig->model, 2));
}

static void test_states_and_news(void **state)
{
	struct rig *rig = *state;
	struct model_tunnel *office;

	take(rig, STATE(TUNNEL("office", "Office", "down", "none", "none", "")));
	assert_true(rig->change.what & MODEL_WANTS_LIST);
	assert_int_equal(rig->change.news, NEWS_NONE);
	answer(rig, RPC_METHOD_TUNNEL_LIST, "\"tunnels\":[" ENTRY("office", "Office") "]");
	office = status_model_find(&rig->model, "office");
	assert_non_null(office);
	take(rig, STATE(TUNNEL("office", "Office", "connecting", "none", "none", "")));
	take(rig,
		"{\"jsonrpc\":\"2.0\",\"method\":\"progress\",\"params\":{\"request\":1,\"name\":\"office\","
		"\"step\":\"trying-tcp\",\"text\":null}}\n");
	assert_true(office->has_step && office->step == RPC_STEP_TRYING_TCP);
	take(rig, STATE(TUNNEL("office", "Office", "up", "tcp", "udp-silent", PEER("100"))));
	assert_false(rig->change.what & MODEL_WANTS_LIST);
	assert_ptr_equal(rig->change.tunnel, office);
	assert_int_equal(rig->change.news, NEWS_CONNECTED);
	assert_false(office->has_step);
	assert_int_equal(office->status.peer_count, 1);
	assert_int_equal(status_model_up_count(&rig->model), 1);
	take(rig, STATE(TUNNEL("office", "Office", "up", "udp", "udp-works", PEER("100"))));
	assert_int_equal(rig->change.news, NEWS_CARRIER);
}

static void test_kill_switch(void **state)
{
	struct rig *rig = *state;
	static const char held[] = "\"tunnels\":[],\"kill_switch\":{\"state\":\"on\",\"open_until\":0,"
				   "\"tunnels\":[\"office\",\"other\"]}";

	answer(rig, RPC_METHOD_TUNNEL_LIST, "\"tunnels\":[" ENTRY("office", "Office") "]");
	answer(rig, RPC_METHOD_TUNNEL_STATUS, held);
	assert_true(rig->change.what & MODEL_CHANGED_LOCKDOWN);
	assert_int_equal(rig->model.lockdown.state, RPC_KILL_SWITCH_ON);
	assert_string_equal(rig->model.lockdown.holders, "Office, other");
	assert_false(rig->model.lockdown.passes);
	answer(rig, RPC_METHOD_TUNNEL_STATUS, held);
	assert_int_equal(rig->change.what, 0);
	/* Whether a holder passes packets changes what is said of it. */
	take(rig, STATE(TUNNEL("office", "Office", "up", "tcp", "udp-silent", PEER("100"))));
	assert_true(rig->change.what & MODEL_WANTS_LOCKDOWN);
	answer(rig, RPC_METHOD_TUNNEL_STATUS, held);
	assert_true(rig->change.what & MODEL_CHANGED_LOCKDOWN && rig->model.lockdown.passes);
	answer(rig, RPC_METHOD_KILLSWITCH_UNLOCK,
		"\"changed\":true,\"kill_switch\":{\"state\":\"open\",\"open_until\":99,\"tunnels\":["
		"\"office\"]}");
	assert_int_equal(rig->model.lockdown.state, RPC_KILL_SWITCH_OPEN);
	assert_int_equal(rig->model.lockdown.open_until, 99);
	status_model_lost(&rig->model);
	assert_int_equal(rig->model.lockdown.state, RPC_KILL_SWITCH_OFF);
}

/* A diagnosis of a tunnel that is down tells its progress too, and the tunnel does nothing. */
static void test_progress_of_a_diagnosis(void **state)
{
	struct rig *rig = *state;

	answer(rig, RPC_METHOD_TUNNEL_LIST, "\"tunnels\":[" ENTRY("office", "Office") "]");
	take(rig,
		"{\"jsonrpc\":\"2.0\",\"method\":\"progress\",\"params\":{\"request\":1,\"name\":\"office\","
		"\"step\":\"trying-udp\",\"text\":null}}\n");
	assert_false(status_model_find(&rig->model, "office")->has_step);
}

static void test_counters_come_with_stats(void **state)
{
	struct rig *rig = *state;
	struct model_tunnel *office;

	take(rig, STATE(TUNNEL("office", "Office", "up", "tcp", "udp-silent", PEER("100"))));
	take(rig, "{\"jsonrpc\":\"2.0\",\"method\":\"stats\",\"params\":{\"name\":\"office\",\"samples\":["
		  "{\"time\":1796080001,\"rx_bps\":8000,\"tx_bps\":400,\"rtt_ms\":null},"
		  "{\"time\":1796080002,\"rx_bps\":9000,\"tx_bps\":500,\"rtt_ms\":12.5}],\"peers\":[" PEER(
			  "4711") "]}}\n");
	office = status_model_find(&rig->model, "office");
	assert_int_equal(rig->change.what, MODEL_CHANGED_STATS);
	assert_int_equal(office->history.count, 2);
	assert_int_equal(history_at(&office->history, 1)->rtt_us, 12500);
	assert_int_equal(office->status.peers[0].rx_bytes, 4711);
	/* Of a tunnel that nobody knows: skipped. */
	take(rig, "{\"jsonrpc\":\"2.0\",\"method\":\"stats\",\"params\":{\"name\":\"other\",\"samples\":[],"
		  "\"peers\":[]}}\n");
	assert_int_equal(rig->change.what, 0);
}

static void test_a_running_tunnel_outlives_its_profile(void **state)
{
	struct rig *rig = *state;

	answer(rig, RPC_METHOD_TUNNEL_LIST, "\"tunnels\":[" ENTRY("office", "Office") "]");
	take(rig, STATE(TUNNEL("office", "Office", "up", "tcp", "udp-silent", PEER("100"))));
	answer(rig, RPC_METHOD_TUNNEL_LIST, "\"tunnels\":[]");
	assert_non_null(status_model_find(&rig->model, "office"));
	take(rig, "{\"jsonrpc\":\"2.0\",\"method\":\"state\",\"params\":{\"tunnel\":{\"name\":\"office\"},"
		  "\"gone\":true}}\n");
	assert_null(status_model_find(&rig->model, "office"));
}

static void test_a_daemon_that_comes_back_tells_nothing_twice(void **state)
{
	struct rig *rig = *state;
	struct model_tunnel *office;

	take(rig, STATE(TUNNEL("office", "Office", "up", "tcp", "udp-silent", PEER("100"))));
	office = status_model_find(&rig->model, "office");
	status_model_lost(&rig->model);
	assert_int_equal(office->status.state, RPC_STATE_DOWN);
	assert_false(rig->model.has_list);
	take(rig, STATE(TUNNEL("office", "Office", "up", "tcp", "udp-silent", PEER("100"))));
	assert_int_equal(rig->change.news, NEWS_NONE);
	assert_ptr_equal(status_model_find(&rig->model, "office"), office);
}

static void test_a_new_name_moves_its_place(void **state)
{
	struct rig *rig = *state;

	take(rig, STATE(TUNNEL("a", "Alpha", "down", "none", "none", "")));
	take(rig, STATE(TUNNEL("b", "Beta", "down", "none", "none", "")));
	take(rig, STATE(TUNNEL("a", "Gamma", "down", "none", "none", "")));
	assert_true(rig->change.what & MODEL_CHANGED_SET);
	assert_string_equal(rig->model.tunnels[0]->shown, "Beta");
	assert_string_equal(rig->model.tunnels[1]->shown, "Gamma");
}

static void test_a_report_holds_no_secret(void **state)
{
	struct rig *rig = *state;
	struct rpc_log log[] = { { .time_ms = 1796080000123,
		.level = RPC_LEVEL_WARNING,
		.name = "office",
		.text = "office: 198.51.100.2:51820 does not answer; vpn.example.com is looked up again" } };
	struct redact_text report = { 0 };

	answer(rig, RPC_METHOD_DAEMON_INFO,
		"\"daemon_version\":\"0.1.0\",\"pid\":7,\"permission\":\"all\",\"config_dir\":\"/etc/wgtcp\","
		"\"state_dir\":\"/var/lib/wgtcp\"");
	take(rig, STATE(TUNNEL("office", "Head Office", "up", "tcp", "udp-silent", PEER("100"))));
	report_write(&rig->model, log, 1, "wgtcp-gui 0.1.0", &report);
	assert_non_null(strstr(report.text, "wgtcpd 0.1.0, permission all"));
	assert_non_null(strstr(report.text, "tunnel-1: up, cause none, reason udp-silent"));
	assert_non_null(strstr(report.text, "peer key-1 at address-1:51820: up, carrier tcp"));
	assert_non_null(strstr(report.text, "1796080000.123 warning tunnel-1: tunnel-1: address-1:51820 does "
					    "not answer; host-1 is looked up again"));
	assert_null(strstr(report.text, "198.51"));
	assert_null(strstr(report.text, "ffice"));
	assert_null(strstr(report.text, "sZc4"));
	redact_text_free(&report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_list_in_the_order_of_names, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_states_and_news, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_counters_come_with_stats, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_kill_switch, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_progress_of_a_diagnosis, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			test_a_running_tunnel_outlives_its_profile, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			test_a_daemon_that_comes_back_tells_nothing_twice, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_new_name_moves_its_place, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_report_holds_no_secret, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
