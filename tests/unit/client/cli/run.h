/* SPDX-License-Identifier: MIT */
/* Runs a command line on the machine of fake.h, and what is then looked at. */
#ifndef WGTCP_TESTS_UNIT_CLIENT_CLI_RUN_H
#define WGTCP_TESTS_UNIT_CLIENT_CLI_RUN_H

#include "tests/unit/client/cli/fake.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define RUN(...) fake_run((const char *const[]){ __VA_ARGS__, NULL })

/* Another machine, with this daemon on it. */
static inline void start(void (*answer)(struct rpc_server *server, const struct rpc_request *request))
{
	fake_reset();
	fake.answer = answer;
}

static inline const struct rpc_request *asked(size_t i)
{
	assert_true(i < fake.request_count);
	return &fake.requests[i];
}

static inline void assert_out(const char *text)
{
	assert_string_equal(fake.out, text);
}

static inline void assert_err(const char *text)
{
	assert_string_equal(fake.err, text);
}

#endif
