/* SPDX-License-Identifier: MIT */
/* Any plaintext as an extension message; what is understood is written and understood the same again. */
#include "core/tunnel/extension.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t bytes[UINT16_MAX];
	struct extension first, second;

	if (!extension_parse(data, size, &first))
		return 0;
	assert(first.len <= size);
	assert(extension_write(&first, bytes, first.len));
	assert(extension_parse(bytes, first.len, &second));
	assert(first.type == second.type && first.len == second.len);
	assert(first.capabilities == second.capabilities && first.streams_max == second.streams_max);
	assert(first.inner_max == second.inner_max && first.id == second.id);
	assert(first.clock_ns == second.clock_ns && first.reply_len == second.reply_len);
	assert(first.segment == second.segment);
	return 0;
}
