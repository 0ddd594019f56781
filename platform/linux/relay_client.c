/* SPDX-License-Identifier: MIT */
/* One UAPI client: request in, request on to the engine, answer back. The front's thread.
 * Source: wireguard.com/xplatform: requests and answers end with an empty line. */
#include "platform/linux/relay_client.h"

#include "core/uapi/uapi.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FIRST_ROOM 4096

struct client *client_new(int socket, int stream, int engine_end, struct mono now)
{
	struct client *client = calloc(1, sizeof(*client));

	if (!client) {
		close(socket);
		close(stream);
		close(engine_end);
		return NULL;
	}
	client->socket = socket;
	client->stream = stream;
	client->engine_end = engine_end;
	client->since = now;
	return client;
}

void client_free(struct client *client)
{
	if (client->in)
		explicit_bzero(client->in, client->in_room);
	free(client->in);
	close(client->socket);
	close(client->stream);
	if (client->engine_end >= 0)
		close(client->engine_end);
	explicit_bzero(client, sizeof(*client));
	free(client);
}

/* realloc would leave copies of keys behind. */
static bool grow(struct client *client)
{
	size_t room = client->in_room ? client->in_room * 2 : FIRST_ROOM;
	char *bytes;

	if (client->in_len < client->in_room)
		return true;
	if (client->in_room >= UAPI_TEXT_MAX)
		return false;
	bytes = malloc(room);
	if (!bytes)
		return false;
	if (client->in) {
		memcpy(bytes, client->in, client->in_len);
		explicit_bzero(client->in, client->in_room);
		free(client->in);
	}
	client->in = bytes;
	client->in_room = room;
	return true;
}

/* Looks whether a whole request stands first. False: no request. */
static bool find_request(struct client *client)
{
	size_t from = client->searched ? client->searched - 1 : 0;

	if (!client->in_len || !memmem(client->in + from, client->in_len - from, "\n\n", 2)) {
		client->searched = client->in_len;
		return true;
	}
	client->searched = 0;
	switch (uapi_request(client->in, client->in_len, &client->request_len)) {
	case UAPI_INCOMPLETE:
		client->searched = client->in_len;
		return true;
	case UAPI_GET:
		client->state = CLIENT_PASSING;
		return true;
	case UAPI_SET:
		client->state = CLIENT_JUDGED;
		return true;
	case UAPI_UNKNOWN:
		break;
	}
	return false;
}

/* 1: read some, 0: nothing to read, -1: drop. */
static int read_request(struct client *client, struct mono now)
{
	if (!grow(client))
		return -1;
	bool first = client->in_len == 0;
	ssize_t n = recv(
		client->socket, client->in + client->in_len, client->in_room - client->in_len, MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	if (n == 0)
		return -1;
	/* A request has its time from its first byte on. */
	if (first)
		client->since = now;
	client->in_len += (size_t)n;
	return 1;
}

/* The request has been dealt with: what follows it moves up. */
static void consume(struct client *client)
{
	size_t rest = client->in_len - client->request_len;

	memmove(client->in, client->in + client->request_len, rest);
	explicit_bzero(client->in + rest, client->request_len);
	client->in_len = rest;
	client->request_len = client->passed = client->searched = 0;
}

static int pass_on(struct client *client, struct mono now)
{
	ssize_t n = send(client->stream, client->in + client->passed, client->request_len - client->passed,
		MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	client->since = now;
	client->passed += (size_t)n;
	if (client->passed == client->request_len) {
		consume(client);
		client->state = CLIENT_ANSWERING;
		client->last = 0;
		client->answered = false;
	}
	return 1;
}

static int read_answer(struct client *client, struct mono now)
{
	ssize_t n = recv(client->stream, client->out, sizeof(client->out), MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	if (n == 0)
		return -1;
	client->since = now;
	client->out_len = (size_t)n;
	client->out_sent = 0;
	client->answered = client->out[n - 1] == '\n' && (n > 1 ? client->out[n - 2] : client->last) == '\n';
	client->last = client->out[n - 1];
	return 1;
}

static int write_answer(struct client *client, struct mono now)
{
	ssize_t n = send(client->socket, client->out + client->out_sent, client->out_len - client->out_sent,
		MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	client->since = now;
	client->out_sent += (size_t)n;
	if (client->out_sent == client->out_len) {
		explicit_bzero(client->out, client->out_len);
		client->out_len = client->out_sent = 0;
		if (client->answered)
			client->state = CLIENT_READING;
	}
	return 1;
}

bool client_step(struct client *client, struct mono now)
{
	for (;;) {
		int moved = 0;

		switch (client->state) {
		case CLIENT_READING:
			if (!find_request(client))
				return false;
			moved = client->state == CLIENT_READING ? read_request(client, now) : 1;
			break;
		case CLIENT_JUDGED:
			return true;
		case CLIENT_PASSING:
			moved = pass_on(client, now);
			break;
		case CLIENT_ANSWERING:
			moved = client->out_len ? write_answer(client, now) : read_answer(client, now);
			break;
		}
		if (moved < 0)
			return false;
		if (moved == 0)
			return !mono_reached(now, client_deadline(client));
	}
}

void client_pass(struct client *client, struct mono now)
{
	client->state = CLIENT_PASSING;
	client->since = now;
}

void client_refuse(struct client *client, int error, struct mono now)
{
	struct uapi_text text = { 0 };

	consume(client);
	client->state = CLIENT_ANSWERING;
	client->since = now;
	if (uapi_write_errno(&text, error) && text.len <= sizeof(client->out)) {
		memcpy(client->out, text.bytes, text.len);
		client->out_len = text.len;
	}
	client->out_sent = 0;
	client->answered = true;
	uapi_text_free(&text);
}

short client_socket_events(const struct client *client)
{
	if (client->state == CLIENT_READING)
		return POLLIN;
	return client->state == CLIENT_ANSWERING && client->out_len ? POLLOUT : 0;
}

short client_stream_events(const struct client *client)
{
	if (client->state == CLIENT_PASSING)
		return POLLOUT;
	return client->state == CLIENT_ANSWERING && !client->out_len ? POLLIN : 0;
}

struct mono client_deadline(const struct client *client)
{
	bool idle = client->state == CLIENT_READING && client->in_len == 0;

	return idle ? MONO_NEVER : mono_add_ms(client->since, RELAY_SLOW_MS);
}
