/* SPDX-License-Identifier: MIT */
/* The streams between UAPI clients and the engine, and their bounds. The clock is a number. */
#include "platform/linux/relay.h"

#include "core/uapi/uapi.h"
#include "tests/contract/cmocka_all.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static char directory[] = "/tmp/wgtcp-relay-XXXXXX";

#define EXCESS (1u << 20) /* more than a socket holds */

struct rig {
	struct relay *relay;
	struct mono now;
	int streams[64]; /* the engine's ends */
	size_t stream_count, sets;
	int refuse;
};

static void rig_open(struct rig *rig)
{
	*rig = (struct rig){ .now = { 1000000000 } };
	assert_int_equal(relay_open(directory, "wgrelay", &rig->relay), 0);
}

static void rig_close(struct rig *rig)
{
	relay_close(rig->relay);
	while (rig->stream_count)
		close(rig->streams[--rig->stream_count]);
}

static void turn(struct rig *rig)
{
	struct relay_event event;

	for (;;) {
		relay_next(rig->relay, rig->now, &event);
		if (event.kind == RELAY_NOTHING)
			return;
		if (event.kind == RELAY_STREAM) {
			rig->streams[rig->stream_count++] = event.fd;
			continue;
		}
		rig->sets++;
		if (rig->refuse)
			relay_refuse(rig->relay, rig->refuse, rig->now);
		else
			relay_pass(rig->relay, rig->now);
	}
}

static int connect_client(struct rig *rig)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/wgrelay.sock", directory);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	turn(rig);
	return fd;
}

static void say(struct rig *rig, int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), (long)strlen(text));
	turn(rig);
}

static void expect(int fd, const char *text)
{
	char got[1024] = { 0 };
	ssize_t n = recv(fd, got, sizeof(got) - 1, MSG_DONTWAIT);

	if (!*text) {
		assert_true(n < 0 && errno == EAGAIN);
		return;
	}
	assert_int_equal(n, (long)strlen(text));
	assert_string_equal(got, text);
}

static bool is_closed(int fd)
{
	char byte;
	ssize_t n = recv(fd, &byte, 1, MSG_DONTWAIT);

	return n == 0 || (n < 0 && errno == ECONNRESET);
}

static void requests_that_come_together_are_answered_in_order(void **state)
{
	struct rig rig;
	int client;

	(void)state;
	rig_open(&rig);
	client = connect_client(&rig);
	say(&rig, client, "get=1\n\nset=1\nfwmark=1\n\nget=1\n\nget");
	expect(rig.streams[0], "get=1\n\n"); /* one at a time */
	assert_int_equal(rig.sets, 0);
	say(&rig, rig.streams[0], "fwmark=0\nerr");
	expect(client, "fwmark=0\nerr");
	expect(rig.streams[0], "");
	say(&rig, rig.streams[0], "no=0\n");
	say(&rig, rig.streams[0], "\n"); /* its end comes in two parts */
	expect(client, "no=0\n\n");
	assert_int_equal(rig.sets, 1);
	expect(rig.streams[0], "set=1\nfwmark=1\n\n");
	say(&rig, rig.streams[0], "errno=0\n\n");
	expect(rig.streams[0], "get=1\n\n");
	say(&rig, rig.streams[0], "errno=0\n\n");
	expect(client, "errno=0\n\nerrno=0\n\n");
	say(&rig, client, "=1\n\n");
	expect(rig.streams[0], "get=1\n\n");
	close(client);
	rig_close(&rig);
}

static void a_refused_set_is_answered_here_and_the_next_goes_on(void **state)
{
	struct rig rig;
	int client;

	(void)state;
	rig_open(&rig);
	client = connect_client(&rig);
	rig.refuse = -EADDRINUSE;
	say(&rig, client, "set=1\nlisten_port=1\n\nget=1\n\n");
	expect(client, "errno=-98\n\n");
	expect(rig.streams[0], "get=1\n\n");
	close(client);
	rig_close(&rig);
}

static void what_is_no_request_ends_the_stream(void **state)
{
	struct rig rig;
	int client;

	(void)state;
	rig_open(&rig);
	client = connect_client(&rig);
	say(&rig, client, "GET / HTTP/1.1\nHost: x\n\n");
	assert_true(is_closed(client));
	assert_true(is_closed(rig.streams[0]));
	close(client);
	/* Either end that goes takes the other with it. */
	client = connect_client(&rig);
	close(rig.streams[1]);
	turn(&rig);
	assert_true(is_closed(client));
	close(client);
	client = connect_client(&rig);
	close(client);
	turn(&rig);
	assert_true(is_closed(rig.streams[2]));
	rig.streams[1] = dup(rig.streams[0]);
	rig_close(&rig);
}

static void large_requests_pass_whole_and_too_large_ones_do_not(void **state)
{
	const size_t len = 3u << 20;
	char *text = malloc(UAPI_TEXT_MAX + EXCESS), *got = malloc(len);
	size_t sent = 0, arrived = 0;
	struct rig rig;
	int client;

	(void)state;
	rig_open(&rig);
	client = connect_client(&rig);
	memset(text, 'a', UAPI_TEXT_MAX + EXCESS);
	for (size_t i = 63; i < UAPI_TEXT_MAX + EXCESS; i += 64)
		text[i] = '\n';
	memcpy(text, "set=1\n", 6);
	memcpy(text + len - 2, "\n\n", 2);
	while (arrived < len) {
		ssize_t n = sent < len ? send(client, text + sent, len - sent, MSG_NOSIGNAL) : 0;
		if (n > 0)
			sent += (size_t)n;
		turn(&rig);
		n = recv(rig.streams[0], got + arrived, len - arrived, MSG_DONTWAIT);
		if (n > 0)
			arrived += (size_t)n;
		assert_false(n == 0);
	}
	assert_memory_equal(got, text, len);
	close(client);
	turn(&rig);

	text[len - 2] = 'a';
	client = connect_client(&rig);
	for (sent = 0; sent < UAPI_TEXT_MAX + EXCESS;) {
		ssize_t n = send(client, text + sent, UAPI_TEXT_MAX + EXCESS - sent, MSG_NOSIGNAL);
		if (n < 0 && errno != EAGAIN)
			break;
		if (n > 0)
			sent += (size_t)n;
		turn(&rig);
	}
	assert_in_range(sent, UAPI_TEXT_MAX - 1, UAPI_TEXT_MAX + EXCESS - 1);
	close(client);
	free(text);
	free(got);
	rig_close(&rig);
}

static void slow_clients_are_dropped_and_idle_ones_are_not(void **state)
{
	static const struct {
		const char *said, *answered; /* by client and engine */
		bool reads;
		int after_ms;
		bool dropped;
	} cases[] = {
		{ "", NULL, true, 3600000, false },
		{ "get=1\n", NULL, true, 9999, false },
		{ "get=1\n", NULL, true, 10000, true },   /* half a request */
		{ "get=1\n\n", NULL, true, 10000, true }, /* the engine does not answer */
		{ "get=1\n\n", "errno=0\n\n", true, 3600000, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig rig;
		int client;

		rig_open(&rig);
		client = connect_client(&rig);
		if (*cases[i].said)
			say(&rig, client, cases[i].said);
		if (cases[i].answered) {
			say(&rig, rig.streams[0], cases[i].answered);
			expect(client, cases[i].answered);
		}
		struct mono later = mono_add_ms(rig.now, (uint64_t)cases[i].after_ms);
		bool due = mono_reached(later, relay_deadline(rig.relay));
		assert_int_equal(due, cases[i].dropped);
		rig.now = later;
		turn(&rig);
		assert_int_equal(is_closed(client), cases[i].dropped);
		close(client);
		rig_close(&rig);
	}
}

/* An answer that the client does not take is held back in the engine, not piled up here; then the client
 * goes. */
static void a_client_that_does_not_read_is_bounded(void **state)
{
	static char block[65536];
	struct rig rig;
	size_t taken = 0;
	int client;

	(void)state;
	rig_open(&rig);
	client = connect_client(&rig);
	say(&rig, client, "get=1\n\n");
	memset(block, 'x', sizeof(block));
	for (int i = 0; i < 1000; i++) {
		ssize_t n = send(rig.streams[0], block, sizeof(block), MSG_DONTWAIT | MSG_NOSIGNAL);
		turn(&rig);
		if (n < 0)
			break;
		taken += (size_t)n;
	}
	assert_true(taken < (4u << 20));
	rig.now = mono_add_ms(rig.now, 10000);
	turn(&rig);
	assert_int_equal(send(rig.streams[0], block, 1, MSG_DONTWAIT | MSG_NOSIGNAL), -1);
	assert_int_equal(errno, EPIPE);
	close(client);
	rig_close(&rig);
}

static void there_is_a_limit_of_clients(void **state)
{
	int clients[RELAY_CLIENTS_MAX + 2];
	struct rig rig;

	(void)state;
	rig_open(&rig);
	for (size_t i = 0; i < RELAY_CLIENTS_MAX; i++) {
		rig.now = mono_add_ms(rig.now, 1);
		clients[i] = connect_client(&rig);
	}
	/* The one idle for longest makes room. */
	clients[RELAY_CLIENTS_MAX] = connect_client(&rig);
	assert_true(is_closed(clients[0]));
	for (size_t i = 1; i <= RELAY_CLIENTS_MAX; i++) {
		assert_false(is_closed(clients[i]));
		say(&rig, clients[i], "get=1\n\n");
	}
	/* All are at work: the new one has to come again. */
	clients[RELAY_CLIENTS_MAX + 1] = connect_client(&rig);
	assert_true(is_closed(clients[RELAY_CLIENTS_MAX + 1]));
	for (size_t i = 1; i <= RELAY_CLIENTS_MAX; i++)
		assert_false(is_closed(clients[i]));
	for (size_t i = 0; i < RELAY_CLIENTS_MAX + 2; i++)
		close(clients[i]);
	rig_close(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_that_come_together_are_answered_in_order),
		cmocka_unit_test(a_refused_set_is_answered_here_and_the_next_goes_on),
		cmocka_unit_test(what_is_no_request_ends_the_stream),
		cmocka_unit_test(large_requests_pass_whole_and_too_large_ones_do_not),
		cmocka_unit_test(slow_clients_are_dropped_and_idle_ones_are_not),
		cmocka_unit_test(a_client_that_does_not_read_is_bounded),
		cmocka_unit_test(there_is_a_limit_of_clients),
	};

	assert_non_null(mkdtemp(directory));
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(directory);
	return failed;
}
