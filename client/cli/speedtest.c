/* SPDX-License-Identifier: MIT */
/* speedtest NAME: the daemon says where to measure and tells of counters and echoes; client/speedtest runs
 * iperf3 and reckons; this waits, moves the tunnel when asked, and shows. */
#include "client/cli/cli.h"

#include "client/cli/speedtest_text.h"
#include "client/speedtest/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Notices come ten times a second. */
#define SILENCE_MS 10000
#define END_MS 25000

struct session {
	struct cli *cli;
	struct rpc_prepared prepared;
	struct speedtest_plan plan;
	struct speedtest *test;
	int64_t moving; /* id of the tunnel.switch under way; 0: none */
	enum cli_exit code;
	bool live, shown;
};

static bool read_carriers(const struct args *args, struct speedtest_plan *plan, struct args_error *error)
{
	static const char *const words[] = { "udp", "tcp", "both", NULL };
	static const enum carrier carriers[] = { CARRIER_UDP, CARRIER_TCP };
	const char *text = args->values[OPTION_TRANSPORT];
	int word = 0;

	if (!text)
		return true;
	if (!args_word(text, "transport", words, &word, error))
		return false;
	plan->both_carriers = word == 2;
	if (word < 2)
		plan->only_carrier = carriers[word];
	return true;
}

static bool read_options(const struct args *args, struct speedtest_plan *plan, struct args_error *error)
{
	*plan = (struct speedtest_plan){
		.streams = 1, .duration_s = 5, .udp = args->values[OPTION_UDP] != NULL, .rate_bps = 10000000
	};
	if (!read_carriers(args, plan, error) ||
		!args_number(args, OPTION_STREAMS, 1, SPEEDTEST_STREAMS_MAX, &plan->streams, error) ||
		!args_number(args, OPTION_DURATION, 1, SPEEDTEST_DURATION_MAX_S, &plan->duration_s, error) ||
		!args_rate(args, OPTION_RATE, &plan->rate_bps, error))
		return false;
	if (args->values[OPTION_RATE] && !plan->udp) {
		snprintf(error->text, sizeof(error->text),
			"--rate belongs to --udp; without it the test takes all there is");
		return false;
	}
	return true;
}

static void take_target(struct session *session)
{
	const struct rpc_prepared *prepared = &session->prepared;
	struct speedtest_target *target = &session->plan.target;

	memcpy(target->interface, prepared->interface, sizeof(target->interface));
	memcpy(target->source, prepared->source, sizeof(target->source));
	memcpy(target->address, prepared->address, sizeof(target->address));
	target->port = prepared->port;
	session->plan.carrier = prepared->carrier;
}

/* ---- what is shown ---- */

static struct speedtest_style style_of(enum console_stream stream)
{
	return (struct speedtest_style){ .width = console_width(stream), .utf8 = console_is_utf8() };
}

static void show_live(struct session *session)
{
	struct speedtest_style style = style_of(CONSOLE_ERR);
	struct speedtest_live live;
	struct text line = { 0 };

	if (!session->live)
		return;
	speedtest_live(session->test, &live);
	speedtest_live_text(&live, &style, &line);
	cli_err("\r%s\033[K", line.bytes ? line.bytes : "");
	text_free(&line);
	session->shown = true;
}

static void end_live(struct session *session)
{
	if (session->shown)
		cli_err("\r\033[K");
	session->shown = false;
}

static enum cli_exit exit_of(enum speedtest_trouble trouble)
{
	switch (trouble) {
	case SPEEDTEST_FINE:
		return CLI_DONE;
	case SPEEDTEST_NO_SERVER:
	case SPEEDTEST_NO_ANSWER:
		return CLI_PEER_UNREACHABLE;
	case SPEEDTEST_ENDLESS:
		return CLI_TIMED_OUT;
	case SPEEDTEST_BUSY:
	case SPEEDTEST_LOST:
	case SPEEDTEST_NO_PROGRAM:
	case SPEEDTEST_NOT_IPERF:
	case SPEEDTEST_OTHER:
		return CLI_OTHER;
	}
	return CLI_OTHER;
}

static enum cli_exit show_result(struct session *session)
{
	const struct speedtest_result *result = speedtest_result(session->test);
	const struct speedtest_about about = { .name = session->prepared.name,
		.backend = rpc_backend_words[session->prepared.backend],
		.mtu = session->prepared.mtu };
	struct speedtest_style style = style_of(CONSOLE_OUT);
	struct text text = { 0 };
	char sentence[400], *json;

	if (result->trouble) {
		speedtest_explain(
			result->trouble, result->text, &session->plan.target, sentence, sizeof(sentence));
		return cli_fail(session->cli, exit_of(result->trouble), "%s", sentence);
	}
	if (session->cli->json) {
		json = speedtest_json(&session->plan, &about, result);
		if (!json)
			return cli_fail(session->cli, CLI_OTHER, "memory is short");
		cli_out("%s\n", json);
		free(json);
		return CLI_DONE;
	}
	speedtest_result_text(&session->prepared, &session->plan, result, &style, &text);
	if (text.bytes)
		console_write(CONSOLE_OUT, text.bytes, text.len);
	text_free(&text);
	return CLI_DONE;
}

/* ---- what happens ---- */

static bool move(struct session *session)
{
	struct rpc_request request = { .method = RPC_METHOD_TUNNEL_SWITCH,
		.has_transport = true,
		.transport = speedtest_wanted(session->test) == CARRIER_TCP ? TRANSPORT_TCP : TRANSPORT_UDP };

	memcpy(request.name, session->prepared.name, sizeof(request.name));
	session->moving = rpc_client_send(session->cli->client, &request);
	if (session->moving > 0)
		return true;
	session->code = cli_tell_lost(session->cli, (int)session->moving);
	return false;
}

static void take_notice(struct session *session, const struct rpc_notice *notice)
{
	uint64_t now_ms = notice->speedtest.time_ms;
	enum rpc_state state = notice->speedtest.state;

	if (state == RPC_STATE_DOWN || state == RPC_STATE_FAILED) {
		speedtest_lose(session->test);
	} else {
		speedtest_take_counters(session->test, now_ms, notice->speedtest.rx_bytes,
			notice->speedtest.tx_bytes, notice->speedtest.cpu_ms, notice->speedtest.carrier);
		speedtest_take_state(
			session->test, now_ms, state == RPC_STATE_UP || state == RPC_STATE_DEGRADED);
	}
	for (size_t i = 0; i < notice->speedtest.echo_count; i++)
		speedtest_take_echo(session->test, notice->speedtest.echoes[i].sent_ms,
			notice->speedtest.echoes[i].rtt_us);
}

/* False: the test is over, and session->code says how. */
static bool go_on(struct session *session, uint64_t now_ms)
{
	switch (speedtest_step(session->test, now_ms)) {
	case SPEEDTEST_RUNS:
		show_live(session);
		return true;
	case SPEEDTEST_MOVE:
		return session->moving || move(session);
	case SPEEDTEST_DONE:
	case SPEEDTEST_FAILED:
		break;
	}
	end_live(session);
	session->code = show_result(session);
	return false;
}

/* The tunnel.switch has been answered. */
static bool moved(struct session *session, const struct rpc_event *event)
{
	struct rpc_request request = { .method = RPC_METHOD_TUNNEL_SWITCH };

	session->moving = 0;
	if (event->kind == RPC_EVENT_RESULT) {
		speedtest_moved(session->test, true);
		return true;
	}
	end_live(session);
	session->code = cli_tell_error(session->cli, &request, &event->error);
	return false;
}

static bool take_event(struct session *session, const struct rpc_event *event)
{
	switch (event->kind) {
	case RPC_EVENT_NOTICE:
		if (event->notice.kind != RPC_NOTICE_SPEEDTEST)
			return true;
		/* The first one starts the clock. */
		if (!session->test)
			session->test = speedtest_new(&session->plan, event->notice.speedtest.time_ms);
		if (!session->test) {
			session->code = cli_fail(session->cli, CLI_OTHER, "memory is short");
			return false;
		}
		take_notice(session, &event->notice);
		return go_on(session, event->notice.speedtest.time_ms);
	case RPC_EVENT_RESULT:
	case RPC_EVENT_ERROR:
		return !session->moving || event->id != session->moving || moved(session, event);
	}
	return true;
}

static void run(struct session *session)
{
	struct rpc_event event;
	bool goes_on = true;

	while (goes_on) {
		uint32_t left_ms = SILENCE_MS;
		int taken = rpc_client_next(session->cli->client, &left_ms, &event);

		if (taken != 1) {
			end_live(session);
			session->code = cli_tell_lost(session->cli, taken);
			return;
		}
		goes_on = take_event(session, &event);
		rpc_event_free(&event);
	}
}

/* Nothing is left of it when this returns: iperf3 is gone, and the daemon has put the carrier back. A daemon
 * that does not answer any more does that by itself when it sees us gone. */
static void end(struct session *session)
{
	struct rpc_request request = { .method = RPC_METHOD_SPEEDTEST_END };
	struct rpc_event event;

	end_live(session);
	speedtest_free(session->test);
	session->test = NULL;
	if (rpc_client_call(session->cli->client, &request, END_MS, &event) == 1)
		rpc_event_free(&event);
}

enum cli_exit run_speedtest(struct cli *cli)
{
	struct session session = { .cli = cli, .live = !cli->json && console_is_terminal(CONSOLE_ERR) };
	struct rpc_request request = { .method = RPC_METHOD_SPEEDTEST_PREPARE };
	const char *peer = cli->args.values[OPTION_PEER];
	struct args_error error;
	struct rpc_result result;
	enum cli_exit code;

	if (!name_from_word(cli->args.words[1], request.name))
		return cli_usage(cli, "'%.60s' is not the name of a tunnel", cli->args.words[1]);
	if (!read_options(&cli->args, &session.plan, &error))
		return cli_usage(cli, "%s", error.text);
	if (peer && strlen(peer) >= sizeof(request.peer))
		return cli_usage(cli, "--peer takes a public key of 44 characters");
	if (peer)
		memcpy(request.peer, peer, strlen(peer) + 1);
	code = cli_ask(cli, &request, CLI_ANSWER_MS, &result);
	if (code)
		return code;
	session.prepared = result.prepared;
	rpc_result_free(&result);
	take_target(&session);
	console_catch_interrupt();
	run(&session);
	if (console_interrupted())
		session.code = CLI_INTERRUPTED;
	console_release_interrupt();
	end(&session);
	return session.code;
}
