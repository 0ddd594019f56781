/* SPDX-License-Identifier: MIT */
/* Our messages inside a session as bytes. Called by the tunnel after it has opened, before it seals.
 * Source: docs/wire.md section 5. */
#include "core/tunnel/extension.h"

#include "core/base/bytes.h"

#include <string.h>

#define MAGIC 0x57475458u /* "WGTX" */

/* 0 for a type that we do not know. */
static size_t least_len(uint8_t type)
{
	switch (type) {
	case EXTENSION_HELLO:
		return EXTENSION_HELLO_LEN;
	case EXTENSION_ECHO_REQUEST:
	case EXTENSION_ECHO_REPLY:
		return EXTENSION_ECHO_LEN;
	case EXTENSION_STAMP:
		return EXTENSION_STAMP_LEN;
	case EXTENSION_BURST:
		return EXTENSION_BURST_LEN;
	}
	return 0;
}

bool extension_parse(const uint8_t *plain, size_t len, struct extension *out)
{
	if (len < EXTENSION_HEADER_LEN || plain[0] != 0 || get_be32(plain + 4) != MAGIC)
		return false;
	size_t least = least_len(plain[1]);
	struct extension extension = { .type = (enum extension_type)plain[1], .len = get_be16(plain + 2) };

	if (least == 0 || extension.len < least || extension.len > len)
		return false;
	switch (extension.type) {
	case EXTENSION_HELLO:
		extension.capabilities = get_be32(plain + 8);
		extension.streams_max = get_be16(plain + 12);
		extension.inner_max = get_be16(plain + 14);
		break;
	case EXTENSION_ECHO_REQUEST:
	case EXTENSION_ECHO_REPLY:
		extension.id = get_be64(plain + 8);
		extension.clock_ns = get_be64(plain + 16);
		extension.reply_len = get_be16(plain + 24);
		break;
	case EXTENSION_STAMP:
		extension.clock_ns = get_be64(plain + 8);
		break;
	case EXTENSION_BURST:
		extension.segment = get_be16(plain + 8);
		if (!extension.segment)
			return false;
		break;
	}
	*out = extension;
	return true;
}

bool extension_write(const struct extension *extension, uint8_t *out, size_t room)
{
	size_t least = least_len((uint8_t)extension->type);

	bool burst = extension->type == EXTENSION_BURST;
	size_t written = burst ? EXTENSION_BURST_LEN : extension->len;

	if (least == 0 || extension->len < least || written > room)
		return false;
	memset(out, 0, written);
	out[1] = (uint8_t)extension->type;
	put_be16(out + 2, extension->len);
	put_be32(out + 4, MAGIC);
	switch (extension->type) {
	case EXTENSION_HELLO:
		put_be32(out + 8, extension->capabilities);
		put_be16(out + 12, extension->streams_max);
		put_be16(out + 14, extension->inner_max);
		break;
	case EXTENSION_ECHO_REQUEST:
	case EXTENSION_ECHO_REPLY:
		put_be64(out + 8, extension->id);
		put_be64(out + 16, extension->clock_ns);
		put_be16(out + 24, extension->reply_len);
		break;
	case EXTENSION_STAMP:
		put_be64(out + 8, extension->clock_ns);
		break;
	case EXTENSION_BURST:
		put_be16(out + 8, extension->segment);
		break;
	}
	return true;
}
