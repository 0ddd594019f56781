/* SPDX-License-Identifier: MIT */
/* Requests in a row on one stream. Used by userspace.c. Source: wireguard.com/xplatform. */
#include "client/daemon/uapi_stream.h"
#include "client/daemon/daemon.h"

#include <errno.h>
#include <glib-unix.h>
#include <glib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct request {
	struct uapi_text text;
	size_t sent;
	bool is_get;
	uapi_answered *answered;
	void *user;
};

struct uapi_stream {
	int handle;
	guint source;
	GIOCondition watched;
	GQueue unsent;     /* struct request */
	GQueue unanswered; /* wholly sent */
	char *in;
	size_t in_len, in_room;
	bool *freed; /* set while calls are made, so that they may free the stream */
};

static gboolean stream_ready(gint fd, GIOCondition condition, gpointer user);

static void request_free(gpointer data)
{
	struct request *request = data;

	uapi_text_free(&request->text);
	g_free(request);
}

static void watch(struct uapi_stream *stream)
{
	GIOCondition want = G_IO_IN | (g_queue_is_empty(&stream->unsent) ? 0 : G_IO_OUT);

	if (stream->source && want == stream->watched)
		return;
	if (stream->source)
		g_source_remove(stream->source);
	stream->watched = want;
	stream->source = g_unix_fd_add(stream->handle, want, stream_ready, stream);
}

static bool flush(struct uapi_stream *stream)
{
	struct request *request;

	while ((request = g_queue_peek_head(&stream->unsent))) {
		ssize_t n = send(stream->handle, request->text.bytes + request->sent,
			request->text.len - request->sent, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		request->sent += (size_t)n;
		if (request->sent < request->text.len)
			continue;
		uapi_text_free(&request->text); /* it held keys */
		g_queue_push_tail(&stream->unanswered, g_queue_pop_head(&stream->unsent));
	}
	return true;
}

static bool receive(struct uapi_stream *stream)
{
	for (;;) {
		ssize_t n;

		if (stream->in_room - stream->in_len < 4096) {
			size_t room = stream->in_room ? 2 * stream->in_room : 16384;
			char *bytes;

			if (room > 2 * (size_t)UAPI_TEXT_MAX)
				return false;
			bytes = g_malloc(room);
			if (stream->in) {
				memcpy(bytes, stream->in, stream->in_len);
				explicit_bzero(stream->in, stream->in_room);
				g_free(stream->in);
			}
			stream->in = bytes;
			stream->in_room = room;
		}
		n = recv(stream->handle, stream->in + stream->in_len, stream->in_room - stream->in_len, MSG_DONTWAIT);
		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		if (n == 0)
			return false;
		stream->in_len += (size_t)n;
	}
}

/* Takes the request off; false when the call has freed the stream. */
static bool answer(struct uapi_stream *stream, GQueue *queue, int error, const struct uapi_device *device)
{
	struct request *request = g_queue_pop_head(queue);
	bool freed = false;

	stream->freed = &freed;
	request->answered(error, device, request->user);
	request_free(request);
	if (!freed)
		stream->freed = NULL;
	return !freed;
}

/* The answers that lie whole in the input. False when the stream has been freed. */
static bool take_answers(struct uapi_stream *stream, bool *broken)
{
	for (;;) {
		struct request *request = g_queue_peek_head(&stream->unanswered);
		struct uapi_device device = { 0 };
		char *end;
		size_t len;
		int error;
		bool alive;

		end = stream->in_len ? memmem(stream->in, stream->in_len, "\n\n", 2) : NULL;
		if (!end)
			return true;
		if (!request) {
			*broken = true;
			return true;
		}
		len = (size_t)(end - stream->in) + 2;
		error = uapi_parse_get(stream->in, len, &device);
		explicit_bzero(stream->in, len);
		memmove(stream->in, stream->in + len, stream->in_len - len);
		stream->in_len -= len;
		alive = answer(
			stream, &stream->unanswered, error, error == 0 && request->is_get ? &device : NULL);
		uapi_device_free(&device);
		if (!alive)
			return false;
	}
}

static gboolean stream_ready(gint fd, GIOCondition condition, gpointer user)
{
	struct uapi_stream *stream = user;
	bool broken = false;

	(void)fd;
	if ((condition & G_IO_OUT) && !flush(stream))
		broken = true;
	if ((condition & (G_IO_IN | G_IO_HUP | G_IO_ERR)) && !receive(stream))
		broken = true;
	if (!take_answers(stream, &broken))
		return G_SOURCE_REMOVE; /* and it is removed already */
	if (!broken) {
		if (!g_queue_is_empty(&stream->unsent) == !!(stream->watched & G_IO_OUT))
			return G_SOURCE_CONTINUE;
		stream->source = 0;
		watch(stream);
		return G_SOURCE_REMOVE;
	}
	stream->source = 0;
	while (!g_queue_is_empty(&stream->unanswered))
		if (!answer(stream, &stream->unanswered, -EPIPE, NULL))
			return G_SOURCE_REMOVE;
	while (!g_queue_is_empty(&stream->unsent))
		if (!answer(stream, &stream->unsent, -EPIPE, NULL))
			return G_SOURCE_REMOVE;
	return G_SOURCE_REMOVE;
}

struct uapi_stream *uapi_stream_new(int handle)
{
	struct uapi_stream *stream = g_new0(struct uapi_stream, 1);

	stream->handle = handle;
	g_queue_init(&stream->unsent);
	g_queue_init(&stream->unanswered);
	watch(stream);
	return stream;
}

void uapi_stream_free(struct uapi_stream *stream)
{
	if (!stream)
		return;
	if (stream->freed)
		*stream->freed = true;
	if (stream->source)
		g_source_remove(stream->source);
	close(stream->handle);
	g_queue_clear_full(&stream->unsent, request_free);
	g_queue_clear_full(&stream->unanswered, request_free);
	if (stream->in)
		explicit_bzero(stream->in, stream->in_room);
	g_free(stream->in);
	g_free(stream);
}

static void add(struct uapi_stream *stream, const struct request *request)
{
	g_queue_push_tail(&stream->unsent, g_memdup2(request, sizeof(*request)));
	/* A stream that has ended says so from the loop, never from in here. */
	watch(stream);
}

void uapi_stream_get(struct uapi_stream *stream, uapi_answered *answered, void *user)
{
	struct request request = { .is_get = true, .answered = answered, .user = user };

	request.text.bytes = strdup("get=1\n\n");
	if (!request.text.bytes)
		daemon_out_of_memory();
	request.text.len = strlen(request.text.bytes);
	request.text.room = request.text.len + 1;
	add(stream, &request);
}

int uapi_stream_set(
	struct uapi_stream *stream, const struct uapi_device *device, uapi_answered *answered, void *user)
{
	struct request request = { .answered = answered, .user = user };

	if (!uapi_write_set(&request.text, device)) {
		uapi_text_free(&request.text);
		return -ENOMEM;
	}
	add(stream, &request);
	return 0;
}
