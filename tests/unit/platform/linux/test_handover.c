/* SPDX-License-Identifier: MIT */
/* A text beside a stream: whole, in no byte of the stream, and gone from where it was once it is taken. */
#include "core/port/handover.h"
#include "core/port/rights.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static const char secret[] = "PrivateKey = yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=";

static int open_handles(void)
{
	int count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void it_goes_over_and_is_wiped(void **state)
{
	char bytes[64], left[sizeof(secret)], *text;
	int before = open_handles(), pair[2], handle, came, copy;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	handle = handover_make(secret, strlen(secret));
	assert_true(handle >= 0);
	assert_int_equal(send(pair[0], "before ", 7, 0), 7);
	assert_int_equal(rights_send(pair[0], "beside\n", 7, handle, false), 7);
	handover_close(handle);
	assert_int_equal(send(pair[0], "after", 5, 0), 5);
	/* What was sent before may come with it, what came after does not. */
	assert_int_equal(rights_receive(pair[1], bytes, sizeof(bytes), &came, false, NULL), 14);
	assert_memory_equal(bytes, "before beside\n", 14);
	assert_true(came >= 0);
	copy = dup(came);
	assert_int_equal(ftruncate(copy, 0), -1);
	assert_int_equal(handover_take(came, strlen(secret), &text), 0);
	assert_string_equal(text, secret);
	free(text);
	/* Whoever still holds it finds zeros. */
	assert_int_equal(pread(copy, left, sizeof(left), 0), (ssize_t)strlen(secret));
	for (size_t i = 0; i < strlen(secret); i++)
		assert_int_equal(left[i], 0);
	close(copy);
	assert_int_equal(rights_receive(pair[1], bytes, sizeof(bytes), &came, false, NULL), 5);
	assert_int_equal(came, -1);
	assert_int_equal(rights_receive(pair[1], bytes, sizeof(bytes), &came, false, NULL), -EAGAIN);
	close(pair[0]);
	assert_int_equal(rights_receive(pair[1], bytes, sizeof(bytes), &came, false, NULL), 0);
	close(pair[1]);
	assert_int_equal(open_handles(), before);
}

static void large_ones_too(void **state)
{
	char *large = malloc(HANDOVER_MAX + 1), *text;
	int handle;

	(void)state;
	memset(large, 'x', HANDOVER_MAX + 1);
	assert_int_equal(handover_make(large, HANDOVER_MAX + 1), -EINVAL);
	handle = handover_make(large, HANDOVER_MAX);
	assert_true(handle >= 0);
	assert_int_equal(handover_take(handle, HANDOVER_MAX, &text), 0);
	assert_int_equal(strlen(text), HANDOVER_MAX);
	assert_memory_equal(text, large, HANDOVER_MAX);
	free(text);
	free(large);
}

/* Whatever comes is closed, and nothing waits for a pipe that says nothing. */
static void what_is_none_is_refused(void **state)
{
	int before = open_handles(), pipes[2], handle;
	char *text = NULL;

	(void)state;
	assert_int_equal(handover_make("", 0), -EINVAL);
	assert_int_equal(handover_make("a\0b", 3), -EINVAL);
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(handover_take(pipes[0], 10, &text), -EPROTO);
	close(pipes[1]);
	handle = handover_make(secret, strlen(secret));
	assert_int_equal(handover_take(handle, strlen(secret) - 1, &text), -EPROTO);
	handle = handover_make(secret, strlen(secret));
	assert_int_equal(handover_take(handle, strlen(secret) + 1, &text), -EPROTO);
	handle = handover_make(secret, strlen(secret));
	assert_int_equal(handover_take(handle, 0, &text), -EPROTO);
	handle = memfd_create("other", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_int_equal(ftruncate(handle, 10), 0);
	assert_int_equal(handover_take(handle, 10, &text), -EPROTO);
	assert_int_equal(handover_take(-1, 10, &text), -EPROTO);
	assert_null(text);
	assert_int_equal(open_handles(), before);
}

/* One is kept, and no other stays open. */
static void two_at_once(void **state)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(2 * sizeof(int))];
	} room = { .bytes = { 0 } };
	char byte = 'x';
	struct iovec piece = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &piece, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof(room)
	};
	struct cmsghdr *part = CMSG_FIRSTHDR(&message);
	int before = open_handles(), pair[2], handles[2], came;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	for (int i = 0; i < 2; i++)
		handles[i] = handover_make(secret, strlen(secret));
	part->cmsg_level = SOL_SOCKET;
	part->cmsg_type = SCM_RIGHTS;
	part->cmsg_len = CMSG_LEN(sizeof(handles));
	memcpy(CMSG_DATA(part), handles, sizeof(handles));
	assert_int_equal(sendmsg(pair[0], &message, 0), 1);
	assert_int_equal(rights_receive(pair[1], &byte, 1, &came, false, NULL), 1);
	assert_true(came >= 0);
	handover_close(came);
	for (int i = 0; i < 2; i++) {
		handover_close(handles[i]);
		close(pair[i]);
	}
	assert_int_equal(open_handles(), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_goes_over_and_is_wiped),
		cmocka_unit_test(large_ones_too),
		cmocka_unit_test(what_is_none_is_refused),
		cmocka_unit_test(two_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
