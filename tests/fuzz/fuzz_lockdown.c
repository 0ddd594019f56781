/* SPDX-License-Identifier: MIT */
/* The kill switch's file: whatever stands in it, what is read is well formed, and comes back the same when it
 * is written and read again. */
#include "client/daemon/lockdown_text.h"
#include "core/config/name.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *again;
	struct lockdown_file file, back;

	assert(text);
	if (size)
		memcpy(text, data, size);
	text[size] = 0;
	lockdown_parse(text, &file);
	assert(file.count <= LOCKDOWN_MAX);
	for (size_t i = 0; i < file.count; i++) {
		assert(profile_name_valid(file.holds[i].name, strlen(file.holds[i].name)));
		for (size_t j = 0; j < i; j++)
			assert(strcmp(file.holds[i].name, file.holds[j].name) != 0);
	}
	again = lockdown_write(&file);
	assert(again);
	lockdown_parse(again, &back);
	assert(back.count == file.count && back.open_until == file.open_until);
	for (size_t i = 0; i < file.count; i++)
		assert(!strcmp(back.holds[i].name, file.holds[i].name) &&
			back.holds[i].lan == file.holds[i].lan);
	free(again);
	free(text);
	return 0;
}
