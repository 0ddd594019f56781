/* SPDX-License-Identifier: MIT */
/* doctor: a diagnosis as text at several widths, as JSON, and its exit code. */
#include "tests/unit/client/cli/fake.h"

#include "client/cli/doctor_text.h"
#include "client/rpc/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct rpc_check checks[] = {
	{ RPC_CHECK_LINK, "", RPC_VERDICT_OK, "eth0: connected", "" },
	{ RPC_CHECK_UDP, "vpn.example.com:51820", RPC_VERDICT_WARNING, "nothing comes back\033[2J",
		"TCP is taken" },
	{ RPC_CHECK_HANDSHAKE, "", RPC_VERDICT_BAD, "no answer", "" },
	{ RPC_CHECK_MTU, "", RPC_VERDICT_UNKNOWN, "not known", "" },
};
static const struct rpc_diagnosis diagnosis = { .name = "office",
	.verdict = RPC_VERDICT_BAD,
	.code = RPC_CODE_PEER_UNREACHABLE,
	.cause = RPC_CAUSE_HANDSHAKE_REFUSED,
	.summary = "office cannot come up",
	.checks = checks,
	.check_count = 4 };

static void test_text(void **state)
{
	static const struct {
		uint32_t width;
		bool colour;
		const char *text;
	} table[] = {
		{ 0, false,
			"ok       link            eth0: connected\n"
			"warning  UDP             vpn.example.com:51820: nothing comes back?[2J\n"
			"                         cure: TCP is taken\n"
			"bad      handshake       no answer\n"
			"unknown  large packets   not known\n"
			"\noffice cannot come up.\n" },
		{ 55, false,
			"ok       link            eth0: connected\n"
			"warning  UDP             vpn.example.com:51820: nothing\n"
			"                         comes back?[2J\n"
			"                         cure: TCP is taken\n"
			"bad      handshake       no answer\n"
			"unknown  large packets   not known\n"
			"\noffice cannot come up.\n" },
		{ 0, true,
			"\033[32mok\033[0m       link            eth0: connected\n"
			"\033[33mwarning\033[0m  UDP             vpn.example.com:51820: nothing comes "
			"back?[2J\n"
			"                         cure: TCP is taken\n"
			"\033[31mbad\033[0m      handshake       no answer\n"
			"unknown  large packets   not known\n"
			"\noffice cannot come up.\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct status_style style = { .width = table[i].width, .colour = table[i].colour };
		struct text text = { 0 };

		doctor_text(&diagnosis, &style, &text);
		assert_string_equal(text.bytes, table[i].text);
		text_free(&text);
	}
}

static void test_json(void **state)
{
	struct rpc_result result = { .method = RPC_METHOD_DIAGNOSE, .diagnosis = diagnosis };
	char *json;

	(void)state;
	result.diagnosis.check_count = 2;
	json = rpc_json_result(&result);
	assert_string_equal(json,
		"{\"version\":1,\"name\":\"office\",\"verdict\":\"bad\",\"code\":7,\"cause\":\"handshake-"
		"refused\","
		"\"summary\":\"office cannot come up\",\"checks\":["
		"{\"check\":\"link\",\"subject\":null,\"verdict\":\"ok\",\"text\":\"eth0: "
		"connected\",\"cure\":null},"
		"{\"check\":\"udp\",\"subject\":\"vpn.example.com:51820\",\"verdict\":\"warning\","
		"\"text\":\"nothing comes back\\u001b[2J\",\"cure\":\"TCP is taken\"}]}");
	rpc_json_free(json);
}

/* ---- the command ---- */

static int32_t code;

static void answer(struct rpc_server *server, const struct rpc_request *request)
{
	struct rpc_result result = { .method = request->method, .diagnosis = diagnosis };

	assert_int_equal(request->method, RPC_METHOD_DIAGNOSE);
	result.diagnosis.code = code;
	rpc_server_reply(server, &request->id, &result);
}

static int run(const char *name, const char *option)
{
	const char *const words[] = { "doctor", name, option, NULL };

	fake_reset();
	fake.answer = answer;
	return fake_run(words);
}

static void test_command(void **state)
{
	static const struct {
		int32_t code;
		int exit;
	} table[] = { { 0, 0 }, { 1, 1 }, { 4, 4 }, { 6, 6 }, { 7, 7 }, { 8, 8 }, { 20, 1 }, { 77, 1 } };

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		code = table[i].code;
		assert_int_equal(run("office.conf", NULL), table[i].exit);
		assert_non_null(strstr(fake.out, "\noffice cannot come up.\n"));
		assert_string_equal(fake.requests[0].name, "office");
	}
	code = 0;
	assert_int_equal(run(NULL, NULL), 0);
	assert_string_equal(fake.requests[0].name, "");
	code = 7;
	assert_int_equal(run("office", "--json"), 7);
	assert_memory_equal(fake.out, "{\"version\":1,\"name\":\"office\"", 28);
}

/* More than one message holds: it ends early, and the verdict is still that of all. */
static void answer_much(struct rpc_server *server, const struct rpc_request *request)
{
	static struct rpc_check much[200];
	struct rpc_result result = { .method = request->method, .diagnosis = diagnosis };

	for (size_t i = 0; i < 200; i++)
		memset(much[i].text, 'x', sizeof(much[i].text) - 1);
	result.diagnosis.checks = much;
	result.diagnosis.check_count = 200;
	rpc_server_reply(server, &request->id, &result);
}

static void test_much(void **state)
{
	const char *const words[] = { "doctor", "office", NULL };
	size_t lines = 0;

	(void)state;
	fake_reset();
	fake.answer = answer_much;
	assert_int_equal(fake_run(words), 7);
	for (const char *at = fake.out; (at = strstr(at, "xxx\n")); at++)
		lines++;
	assert_in_range(lines, 50, 199);
	assert_non_null(strstr(fake.out, "\noffice cannot come up.\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_command),
		cmocka_unit_test(test_much),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
