/* SPDX-License-Identifier: MIT */
/* A front with the test in the engine's place. */
#include "tests/contract/linux/front_rig.h"

#include "core/port/clock.h"
#include "tests/contract/cmocka_all.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void put(int *at, int handle)
{
	if (*at >= 0)
		close(*at);
	*at = handle;
}

static void take(struct front_rig *rig, const struct seam_message *message, int handle)
{
	int family = (message->value & 0xff) == 6;

	assert_in_range(message->kind, SEAM_TUN, SEAM_STOP);
	rig->told[message->kind]++;
	switch ((enum seam_kind)message->kind) {
	case SEAM_TUN:
		assert_true(handle >= 0);
		put(&rig->tun, handle);
		return;
	case SEAM_UDP:
		assert_int_equal(handle >= 0, message->value < 0x100);
		put(&rig->udp[family], handle);
		if (handle >= 0)
			rig->udp_port = message->port;
		return;
	case SEAM_LISTENER:
		assert_int_equal(handle >= 0, message->value < 0x100);
		put(&rig->listener[family], handle);
		if (handle >= 0)
			rig->tcp_port = message->port;
		return;
	case SEAM_CONTROL:
		assert_true(handle >= 0 && rig->stream_count < RIG_STREAMS_MAX);
		rig->streams[rig->stream_count++] = handle;
		return;
	case SEAM_CONNECTED:
		assert_true(handle >= 0);
		put(&rig->connected, handle);
		rig->last_dial = *message;
		return;
	case SEAM_DIAL_FAILED:
		rig->last_dial = *message;
		break;
	case SEAM_LINK:
		rig->mtu = message->value;
		rig->up = message->flag;
		break;
	case SEAM_FLOOR:
		rig->floor = message->wall;
		break;
	case SEAM_NETWORK:
		rig->network = message->flag;
		break;
	default:
		break;
	}
	assert_int_equal(handle, -1);
}

void front_rig_seam(struct front_rig *rig, int handle)
{
	assert_int_equal(seam_adopt(handle, &rig->seam), 0);
	memset(rig->told, 0, sizeof(rig->told));
}

void front_rig_open(struct front_rig *rig, const struct front_settings *settings)
{
	int handle;

	memset(rig, 0, sizeof(*rig));
	rig->tun = rig->udp[0] = rig->udp[1] = rig->listener[0] = rig->listener[1] = rig->connected = -1;
	assert_int_equal(front_open(settings, &rig->front, &handle), 0);
	front_rig_seam(rig, handle);
}

void front_rig_close_seam(struct front_rig *rig)
{
	int *fds[] = { &rig->tun, &rig->udp[0], &rig->udp[1], &rig->listener[0], &rig->listener[1],
		&rig->connected };

	seam_close(rig->seam);
	rig->seam = NULL;
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		put(fds[i], -1);
	while (rig->stream_count)
		close(rig->streams[--rig->stream_count]);
}

void front_rig_close(struct front_rig *rig)
{
	front_rig_close_seam(rig);
	front_close(rig->front);
}

static void turn(struct front_rig *rig)
{
	struct front_event event;
	struct seam_message message;
	int handle;

	while (front_turn(rig->front, &event) > 0) {
		rig->events[event.kind]++;
		rig->last_event = event;
	}
	while (rig->seam && seam_receive(rig->seam, &message, &handle) == 0)
		take(rig, &message, handle);
}

bool front_rig_run(struct front_rig *rig, const uint32_t *counter, uint32_t count, int limit_ms)
{
	struct mono end = mono_add_ms(clock_now(NULL), (uint64_t)limit_ms);

	turn(rig);
	while (!mono_reached(clock_now(NULL), end)) {
		struct pollfd wait = { .fd = front_handle(rig->front), .events = POLLIN };

		if (counter && *counter >= count)
			return true;
		poll(&wait, 1, 5);
		turn(rig);
	}
	return counter && *counter >= count;
}

void front_rig_ask(
	struct front_rig *rig, const char *request, const char *answer, char seen[4096], char got[4096])
{
	int client = front_control(rig->front);
	size_t seen_len = 0, got_len = 0;

	assert_true(client >= 0);
	assert_int_equal(send(client, request, strlen(request), 0), (long)strlen(request));
	for (int i = 0; i < 200 && (got_len < 2 || memcmp(got + got_len - 2, "\n\n", 2) != 0); i++) {
		ssize_t n;

		front_rig_run(rig, NULL, 0, 2);
		assert_true(rig->stream_count > 0);
		n = recv(rig->streams[rig->stream_count - 1], seen + seen_len, 4095 - seen_len, MSG_DONTWAIT);
		if (n > 0)
			seen_len += (size_t)n;
		if (n > 0 && seen_len >= 2 && memcmp(seen + seen_len - 2, "\n\n", 2) == 0)
			send(rig->streams[rig->stream_count - 1], answer, strlen(answer), MSG_NOSIGNAL);
		n = recv(client, got + got_len, 4095 - got_len, MSG_DONTWAIT);
		if (n > 0)
			got_len += (size_t)n;
	}
	seen[seen_len] = got[got_len] = 0;
	close(client);
	close(rig->streams[--rig->stream_count]);
	front_rig_run(rig, NULL, 0, 2);
}

void front_rig_set(struct front_rig *rig, const char *lines)
{
	char request[4096], seen[4096], got[4096];

	snprintf(request, sizeof(request), "set=1\n%s\n", lines);
	front_rig_ask(rig, request, "errno=0\n\n", seen, got);
	assert_string_equal(got, "errno=0\n\n");
	assert_string_equal(seen, request); /* unchanged */
}
