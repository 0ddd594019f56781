/* SPDX-License-Identifier: MIT */
/* A stream of UAPI requests and a GET's answer: what is read is written so that it reads back to the same
 * text. */
#include "core/uapi/uapi.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_set(const char *text, size_t len)
{
	struct uapi_device device, again;
	struct uapi_text first = { 0 }, second = { 0 };

	if (uapi_parse_set(text, len, &device) != 0)
		return;
	if (!uapi_write_set(&first, &device) || uapi_parse_set(first.bytes, first.len, &again) != 0 ||
		!uapi_write_set(&second, &again) || first.len != second.len ||
		memcmp(first.bytes, second.bytes, first.len) != 0)
		abort();
	uapi_text_free(&first);
	uapi_text_free(&second);
	uapi_device_free(&device);
	uapi_device_free(&again);
}

static void check_get(const char *text, size_t len)
{
	struct uapi_device device, again;
	struct uapi_text first = { 0 }, second = { 0 };

	if (uapi_parse_get(text, len, &device) != 0)
		return;
	if (!uapi_write_get(&first, &device) || uapi_parse_get(first.bytes, first.len, &again) != 0 ||
		!uapi_write_get(&second, &again) || first.len != second.len ||
		memcmp(first.bytes, second.bytes, first.len) != 0)
		abort();
	uapi_text_free(&first);
	uapi_text_free(&second);
	uapi_device_free(&device);
	uapi_device_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	size_t at = 0, len = 0;

	check_get(text, size);
	for (;;) {
		enum uapi_kind kind = uapi_request(text + at, size - at, &len);

		if (kind == UAPI_INCOMPLETE || kind == UAPI_UNKNOWN)
			return 0;
		if (len == 0 || len > size - at)
			abort();
		if (kind == UAPI_SET)
			check_set(text + at, len);
		at += len;
	}
}
