/* SPDX-License-Identifier: MIT */
/* What the engine says, and the dials that it asks for. It has no privileges and may have been taken over: it
 * names peers, and whatever else it says is not listened to. The front's thread. */
#include "platform/linux/front_state.h"

#include "platform/linux/seam_handle.h"
#include "platform/linux/sockets.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static void dial_failed(struct front *front, const uint8_t public_key[32], uint64_t attempt, int error)
{
	struct seam_message message = {
		.kind = SEAM_DIAL_FAILED, .attempt = attempt, .value = (uint32_t)error
	};

	memcpy(message.public_key, public_key, sizeof(message.public_key));
	(void)seam_send(front->seam, &message);
}

static void dial(struct front *front, const struct seam_message *wanted, struct mono now)
{
	const struct front_peer *peer = front_config_find(&front->config, wanted->public_key);
	struct endpoint endpoints[UAPI_ENDPOINTS_MAX];
	size_t count = peer ? front_config_dial(&front->config, peer, endpoints) : 0;
	int err = (wanted->flag ? dial_start_further : dial_start)(front->dialler, wanted->public_key,
		wanted->attempt, endpoints, count, front->config.fwmark, now);

	if (err)
		dial_failed(front, wanted->public_key, wanted->attempt, -err);
}

void front_pump_dials(struct front *front, struct mono now)
{
	struct dial_result result;

	while (dial_next(front->dialler, now, &result)) {
		struct seam_message message = { .kind = SEAM_CONNECTED, .attempt = result.attempt };

		if (result.fd < 0) {
			dial_failed(front, result.public_key, result.attempt, result.error);
			continue;
		}
		front->dialled = true;
		memcpy(message.public_key, result.public_key, sizeof(message.public_key));
		(void)seam_send_handle(front->seam, &message, result.fd);
		close(result.fd);
	}
}

/* Options of a connection that the engine holds and may not set itself. Whatever the descriptor is, no more
 * than these options of it is touched. */
static void tune(const struct seam_message *message, int handle)
{
	if (handle >= 0)
		socket_tune(handle, message->value);
}

/* What the engine said. True: *out is an event. */
static bool take_message(struct front *front, const struct seam_message *message, int handle, struct mono now,
	struct front_event *out)
{
	*out = (struct front_event){ .kind = FRONT_NOTHING, .value = message->value, .wall = message->wall };
	memcpy(out->public_key, message->public_key, sizeof(out->public_key));
	switch ((enum seam_kind)message->kind) {
	case SEAM_READY:
		out->kind = FRONT_READY;
		break;
	case SEAM_CHANGED:
		out->kind = FRONT_PEER_CHANGED;
		break;
	case SEAM_MARK:
		out->kind = FRONT_MARK;
		/* So that a new engine after this one starts above it. */
		front->floor = message->wall;
		break;
	case SEAM_REMEMBER:
		out->kind = FRONT_REMEMBER;
		break;
	case SEAM_RESOLVE:
		out->kind = FRONT_RESOLVE;
		break;
	case SEAM_DIAL:
		dial(front, message, now);
		break;
	case SEAM_DIAL_CANCEL:
		dial_cancel(front->dialler, message->public_key, message->attempt);
		break;
	case SEAM_TUNE:
		tune(message, handle);
		break;
	/* Down only: an engine that sends these is broken, and is not listened to. */
	case SEAM_NONE:
	case SEAM_TUN:
	case SEAM_UDP:
	case SEAM_LISTENER:
	case SEAM_CONTROL:
	case SEAM_LINK:
	case SEAM_FLOOR:
	case SEAM_CONNECTED:
	case SEAM_DIAL_FAILED:
	case SEAM_NETWORK:
	case SEAM_RESUMED:
	case SEAM_PROBE:
	case SEAM_MEMORY:
	case SEAM_START:
	case SEAM_RETRY_UDP:
	case SEAM_STOP:
	/* A relay's, not an engine's. */
	case SEAM_RELAY_NEWS:
	case SEAM_RELAY_SEEN:
	case SEAM_RELAY_PEER:
	case SEAM_RELAY_UDP:
	case SEAM_RELAY_USE:
	case SEAM_RELAY_CLOSE:
		break;
	}
	return out->kind != FRONT_NOTHING;
}

bool front_pump_seam(struct front *front, struct mono now, struct front_event *out)
{
	while (front->seam) {
		struct seam_message message;
		int handle, err = seam_receive(front->seam, &message, &handle);

		if (err == -EAGAIN)
			return false;
		if (err) {
			front_drop_seam(front);
			*out = (struct front_event){ .kind = FRONT_ENGINE_GONE };
			return true;
		}
		bool told = take_message(front, &message, handle, now, out);

		if (handle >= 0)
			close(handle);
		if (told)
			return true;
	}
	return false;
}
