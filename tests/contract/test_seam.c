/* SPDX-License-Identifier: MIT */
/* core/port/seam.h on any platform. */
#include "core/port/seam.h"

#include "core/port/control.h"
#include "tests/contract/cmocka_all.h"
#include "tests/contract/rig.h"

#include <errno.h>
#include <string.h>

struct ends {
	struct seam *seam[2];
};

static void ends_open(struct ends *ends)
{
	int handles[2];

	rig_seam(handles);
	for (int i = 0; i < 2; i++)
		assert_int_equal(seam_adopt(handles[i], &ends->seam[i]), 0);
}

static void ends_close(struct ends *ends)
{
	seam_close(ends->seam[0]);
	seam_close(ends->seam[1]);
}

static void a_message_arrives_whole(void **state)
{
	struct seam_message sent = { .kind = SEAM_PROBE,
		.value = 0x12345678,
		.port = 51820,
		.attempt = UINT64_MAX - 1,
		.wall = { 1234567890123u, 999999999 },
		.source = { IP_V4, { 10, 0, 0, 2 } },
		.target = { IP_V6, { 0xfd, 1 } },
		.flag = true };
	struct seam_message got = { 0 };
	struct ends ends;
	int handle = 7;

	(void)state;
	memset(sent.public_key, 0xab, sizeof(sent.public_key));
	ends_open(&ends);
	for (int direction = 0; direction < 2; direction++) {
		assert_int_equal(seam_receive(ends.seam[1 - direction], &got, &handle), -EAGAIN);
		assert_int_equal(seam_send(ends.seam[direction], &sent), 0);
		assert_int_equal(loop_watch_seam(rig_loop(), ends.seam[1 - direction], LOOP_READ, NULL), 0);
		assert_int_equal(rig_wait(NULL), LOOP_READ);
		assert_int_equal(loop_watch_seam(rig_loop(), ends.seam[1 - direction], 0, NULL), 0);
		assert_int_equal(seam_receive(ends.seam[1 - direction], &got, &handle), 0);
		assert_int_equal(handle, -1);
		assert_int_equal(got.kind, sent.kind);
		assert_int_equal(got.value, sent.value);
		assert_int_equal(got.port, sent.port);
		assert_true(got.attempt == sent.attempt);
		assert_memory_equal(got.public_key, sent.public_key, 32);
		assert_true(got.wall.s == sent.wall.s && got.wall.ns == sent.wall.ns);
		assert_true(ip_address_equal(&got.source, &sent.source));
		assert_true(ip_address_equal(&got.target, &sent.target));
		assert_true(got.flag);
	}
	ends_close(&ends);
}

static void a_handle_comes_along(void **state)
{
	struct control *here, *there;
	struct seam_message got;
	struct ends ends;
	int streams[2], handle = -1;
	char text[4];

	(void)state;
	ends_open(&ends);
	rig_control(streams);
	assert_int_equal(control_adopt(streams[0], &here), 0);
	assert_int_equal(
		rig_seam_send(ends.seam[0], &(struct seam_message){ .kind = SEAM_CONTROL }, streams[1]), 0);
	assert_int_equal(seam_receive(ends.seam[1], &got, &handle), 0);
	assert_int_equal(got.kind, SEAM_CONTROL);
	assert_true(handle >= 0);
	assert_int_equal(control_adopt(handle, &there), 0);
	assert_int_equal(control_send(here, "text", 4), 4);
	assert_int_equal(control_receive(there, text, sizeof(text)), 4);
	assert_memory_equal(text, "text", 4);
	control_close(here);
	control_close(there);
	ends_close(&ends);
}

static void full_is_told_and_nothing_that_was_taken_is_lost(void **state)
{
	struct seam_message message = { .kind = SEAM_CHANGED }, got;
	struct ends ends;
	uint32_t taken = 0;
	int err, handle;

	(void)state;
	ends_open(&ends);
	while ((err = seam_send(ends.seam[0], &message)) == 0 && taken < 1000000)
		message.value = ++taken;
	assert_int_equal(err, -EAGAIN);
	assert_true(taken > 30); /* all that a front has to say at the start */
	for (uint32_t i = 0; i < taken; i++) {
		assert_int_equal(seam_receive(ends.seam[1], &got, &handle), 0);
		assert_int_equal(got.value, i);
	}
	assert_int_equal(seam_receive(ends.seam[1], &got, &handle), -EAGAIN);
	assert_int_equal(seam_send(ends.seam[0], &message), 0);
	ends_close(&ends);
}

static void an_end_that_is_gone_is_noticed(void **state)
{
	struct seam_message message = { .kind = SEAM_READY }, got;
	struct ends ends;
	int handle;

	(void)state;
	ends_open(&ends);
	assert_int_equal(seam_send(ends.seam[0], &message), 0);
	seam_close(ends.seam[0]);
	assert_int_equal(loop_watch_seam(rig_loop(), ends.seam[1], LOOP_READ, NULL), 0);
	assert_int_equal(rig_wait(NULL) & LOOP_READ, LOOP_READ);
	assert_int_equal(seam_receive(ends.seam[1], &got, &handle), 0); /* what was said before */
	assert_int_equal(rig_wait(NULL) & LOOP_READ, LOOP_READ);
	assert_int_equal(seam_receive(ends.seam[1], &got, &handle), -EPIPE);
	assert_int_equal(seam_send(ends.seam[1], &message), -EPIPE);
	assert_int_equal(loop_watch_seam(rig_loop(), ends.seam[1], 0, NULL), 0);
	seam_close(ends.seam[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_message_arrives_whole),
		cmocka_unit_test(a_handle_comes_along),
		cmocka_unit_test(full_is_told_and_nothing_that_was_taken_is_lost),
		cmocka_unit_test(an_end_that_is_gone_is_noticed),
	};

	rig_open();
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	rig_close();
	return failed;
}
