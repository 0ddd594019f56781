/* SPDX-License-Identifier: MIT */
/* The history's file: what is read is written and read again as the same. */
#include "client/daemon/history.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct history *history = history_new(), *again = history_new();
	char *text = NULL, *second = NULL;
	size_t len = 0, second_len = 0;

	if (history && again) {
		history_read(history, (const char *)data, size);
		text = history_write(history, &len);
	}
	if (text) {
		assert(len <= HISTORY_BYTES_MAX);
		assert(history_read(again, text, len));
		second = history_write(again, &second_len);
		assert(!second || (second_len == len && !memcmp(text, second, len)));
	}
	free(text);
	free(second);
	history_free(history);
	history_free(again);
	return 0;
}
