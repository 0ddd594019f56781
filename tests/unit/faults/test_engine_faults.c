/* SPDX-License-Identifier: MIT */
/* An engine in a world of its own, whose memory runs out at each place in turn: while it is made, while it
 * takes its ports and its configuration. It ends in order, or goes on without what it could not make. */
#include "client/engine/engine.h"
#include "core/crypto/crypto.h"
#include "platform/fake/world.h"
#include "tests/unit/faults/fault.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char set_text[] =
	"set=1\nprivate_key=003ed5d73b55806c30de3f8a7bdab38af13539220533055e635690b8b87ad641\nreplace_peers="
	"true\n"
	"public_key=b85996fecc9c7f1fc6d2572a76eda11d59bcd20be8e543b15ce4bd85a8e75a33\n"
	"preshared_key=188515093e952f5f22e865cef3012e72f8b5f0b598ac0309d5dacce3b70fcf52\nendpoint=192.0.2.2:"
	"51820\n"
	"allowed_ip=10.0.0.0/8\nallowed_ip=10.128.0.0/9\nallowed_ip=fd00::/8\n\n";

static bool turn(struct engine *engine, struct host *host)
{
	int result = 0;

	for (size_t i = 0; i < 50 && !result && host_ready(host); i++) {
		fault_resume();
		result = engine_turn(engine);
		fault_pause();
	}
	return result == 0;
}

/* Whether the request was answered with errno=0. */
static bool configured(struct engine *engine, struct host *host, const char *text)
{
	char *answer;
	bool worked;

	host_ask(host, text);
	if (!turn(engine, host))
		return false;
	answer = host_answer(host);
	worked = answer && strstr(answer, "errno=0\n");
	free(answer);
	return worked;
}

static bool engine_lives(void *user)
{
	struct world *world;
	struct host *host;
	struct engine *engine;
	bool worked = false;

	(void)user;
	fault_pause();
	world = world_new(7);
	host = world_add_host(world, "192.0.2.1");
	const struct engine_ports ports = {
		.clock = host_clock(host), .loop = host_loop(host), .seam = host_seam(host), .handles = 1000
	};
	fault_resume();
	engine = engine_new(&ports);
	fault_pause();
	if (engine) {
		host_start(host, 51820, 1420, true);
		worked = turn(engine, host) && configured(engine, host, set_text) &&
			 configured(engine, host, "get=1\n\n");
		engine_free(engine);
	}
	world_free(world);
	fault_resume();
	return worked;
}

static void engine(void **state)
{
	(void)state;
	assert_true(crypto_init());
	assert_true(fault_each(FAULT_MEMORY, engine_lives, NULL) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(engine) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
