/* SPDX-License-Identifier: MIT */
/* Requests and answers on a stream, with an engine that answers as slowly, as split and as badly as the test
 * likes. */
#include "client/daemon/uapi_stream.h"

#include <errno.h>
#include <glib.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

struct seen {
	char log[128];
	struct uapi_stream *free_it; /* in the next answer */
};

static void answered(int error, const struct uapi_device *device, void *user)
{
	struct seen *seen = user;
	size_t len = strlen(seen->log);

	snprintf(seen->log + len, sizeof(seen->log) - len, "%d/%d ", error,
		device ? (int)device->peer_count : -1);
	uapi_stream_free(seen->free_it);
	seen->free_it = NULL;
}

static void turn(void)
{
	int i;

	for (i = 0; i < 50; i++)
		g_main_context_iteration(NULL, FALSE);
}

static void say(int fd, const char *text)
{
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	turn();
}

#define KEY "0000000000000000000000000000000000000000000000000000000000000001"

static void answers_come_in_order(void **state)
{
	static const struct {
		const char *name, *pieces[6]; /* "" closes */
		const char *log;
	} cases[] = {
		{ "both at once", { "public_key=" KEY "\nerrno=0\n\nerrno=0\n\n" }, "0/1 0/-1 " },
		{ "split anywhere", { "public", "_key=" KEY "\nerr", "no=0\n", "\nerrno", "=0\n\n" },
			"0/1 0/-1 " },
		{ "the engine's error", { "errno=0\n\nerrno=-98\n\n" }, "0/0 -98/-1 " },
		{ "no answer at all", { "" }, "-32/-1 -32/-1 " },
		{ "one answer, then the end", { "errno=0\n\n", "" }, "0/0 -32/-1 " },
		{ "nonsense", { "what\n\nerrno=0\n\n" }, "-71/-1 0/-1 " },
		{ "more answers than requests end it", { "errno=0\n\nerrno=0\n\nerrno=0\n\n" }, "0/0 0/-1 " },
	};
	size_t i, n;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct uapi_device device = { .has_fwmark = true, .fwmark = 7 };
		struct seen seen = { 0 };
		struct uapi_stream *stream;
		char asked[256];
		int pair[2];
		ssize_t len;

		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
		stream = uapi_stream_new(pair[0]);
		uapi_stream_get(stream, answered, &seen);
		assert_int_equal(uapi_stream_set(stream, &device, answered, &seen), 0);
		turn();
		len = read(pair[1], asked, sizeof(asked) - 1);
		assert_true(len > 0);
		asked[len] = 0;
		assert_string_equal(asked, "get=1\n\nset=1\nfwmark=7\n\n");
		for (n = 0; n < 6 && cases[i].pieces[n]; n++) {
			if (cases[i].pieces[n][0]) {
				say(pair[1], cases[i].pieces[n]);
				continue;
			}
			close(pair[1]);
			pair[1] = -1;
			turn();
		}
		if (strcmp(seen.log, cases[i].log) != 0)
			fail_msg("%s: %s", cases[i].name, seen.log);
		uapi_stream_free(stream);
		if (pair[1] >= 0)
			close(pair[1]);
	}
}

static void may_be_freed_in_an_answer(void **state)
{
	struct seen seen = { 0 };
	int pair[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	seen.free_it = uapi_stream_new(pair[0]);
	uapi_stream_get(seen.free_it, answered, &seen);
	uapi_stream_get(seen.free_it, answered, &seen);
	turn();
	say(pair[1], "errno=0\n\nerrno=0\n\n");
	assert_string_equal(seen.log, "0/0 ");
	close(pair[1]);
	/* In the end of the stream, too. */
	memset(&seen, 0, sizeof(seen));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	seen.free_it = uapi_stream_new(pair[0]);
	uapi_stream_get(seen.free_it, answered, &seen);
	uapi_stream_get(seen.free_it, answered, &seen);
	close(pair[1]);
	turn();
	assert_string_equal(seen.log, "-32/-1 ");
}

static void a_large_request_waits_for_the_engine(void **state)
{
	struct uapi_device device = { 0 };
	struct uapi_peer *peer = uapi_device_add_peer(&device);
	struct ip_prefix prefix = { .address = { .family = IP_V4, .bytes = { 10 } }, .bits = 32 };
	struct seen seen = { 0 };
	struct uapi_stream *stream;
	char bytes[65536];
	size_t total = 0;
	ssize_t len;
	int pair[2], i;

	(void)state;
	for (i = 0; i < 20000; i++) {
		prefix.address.bytes[2] = (uint8_t)(i >> 8);
		prefix.address.bytes[3] = (uint8_t)i;
		assert_true(uapi_peer_add_allowed_ip(peer, &prefix, false));
	}
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	stream = uapi_stream_new(pair[0]);
	assert_int_equal(uapi_stream_set(stream, &device, answered, &seen), 0);
	do {
		turn();
		len = recv(pair[1], bytes, sizeof(bytes), MSG_DONTWAIT);
		total += len > 0 ? (size_t)len : 0;
	} while (len > 0);
	assert_true(total > 400000);
	say(pair[1], "errno=0\n\n");
	assert_string_equal(seen.log, "0/-1 ");
	uapi_stream_free(stream);
	uapi_device_free(&device);
	close(pair[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_come_in_order),
		cmocka_unit_test(may_be_freed_in_an_answer),
		cmocka_unit_test(a_large_request_waits_for_the_engine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
