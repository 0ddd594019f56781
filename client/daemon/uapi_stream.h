/* SPDX-License-Identifier: MIT */
/* The UAPI text protocol on a stream, without waiting: requests go out in order, each answer comes by a call.
 * On the GLib main loop, main thread. */
#ifndef WGTCP_CLIENT_DAEMON_UAPI_STREAM_H
#define WGTCP_CLIENT_DAEMON_UAPI_STREAM_H

#include "core/uapi/uapi.h"

struct uapi_stream;

/* error: what the engine answered, -EPROTO, or -EPIPE when the stream ended before. device: for a GET that
 * worked, else NULL; borrowed for the call. The stream may be freed in it. */
typedef void uapi_answered(int error, const struct uapi_device *device, void *user);

/* handle is taken over. */
struct uapi_stream *uapi_stream_new(int handle);
/* Requests that wait are not answered any more. NULL is allowed. */
void uapi_stream_free(struct uapi_stream *stream);
void uapi_stream_get(struct uapi_stream *stream, uapi_answered *answered, void *user);
/* 0, or -ENOMEM or -EFBIG and then answered is not called. */
int uapi_stream_set(
	struct uapi_stream *stream, const struct uapi_device *device, uapi_answered *answered, void *user);

#endif
