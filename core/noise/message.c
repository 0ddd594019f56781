/* SPDX-License-Identifier: MIT */
/* Tells the four messages apart. Called for each datagram or record that comes in. Source: WireGuard
 * paper 5.4. */
#include "core/noise/message.h"

#include "core/base/bytes.h"

enum message_type message_classify(const uint8_t *message, size_t len)
{
	if (len < DATA_MIN_LEN) /* also the shortest of all */
		return MESSAGE_NONE;
	/* Type and three reserved bytes, which are zero, read as one number. */
	switch (get_le32(message)) {
	case MESSAGE_INITIATION:
		return len == sizeof(struct initiation) ? MESSAGE_INITIATION : MESSAGE_NONE;
	case MESSAGE_RESPONSE:
		return len == sizeof(struct response) ? MESSAGE_RESPONSE : MESSAGE_NONE;
	case MESSAGE_COOKIE_REPLY:
		return len == sizeof(struct cookie_reply) ? MESSAGE_COOKIE_REPLY : MESSAGE_NONE;
	case MESSAGE_DATA:
		return MESSAGE_DATA;
	}
	return MESSAGE_NONE;
}
