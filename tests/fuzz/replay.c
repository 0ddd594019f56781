/* SPDX-License-Identifier: MIT */
/* Replays a stored corpus through a fuzz target without libFuzzer: each argument is a file or a folder of files.
 * Fails when nothing was found, so that a lost corpus is noticed. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t run_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *bytes = NULL;
	size_t len = 0, room = 0;

	if (!file)
		return 0;
	for (;;) {
		if (len == room) {
			room = room ? room * 2 : 4096;
			bytes = realloc(bytes, room);
			if (!bytes)
				abort();
		}
		size_t got = fread(bytes + len, 1, room - len, file);

		if (!got)
			break;
		len += got;
	}
	fclose(file);
	/* An exact copy, so that AddressSanitizer sees a read past the end. */
	uint8_t *exact = malloc(len ? len : 1);

	if (!exact)
		abort();
	memcpy(exact, bytes, len);
	free(bytes);
	LLVMFuzzerTestOneInput(exact, len);
	free(exact);
	return 1;
}

int main(int argc, char **argv)
{
	size_t count = 0;

	for (int i = 1; i < argc; i++) {
		DIR *dir = opendir(argv[i]);

		if (!dir) {
			count += run_file(argv[i]);
			continue;
		}
		for (struct dirent *entry; (entry = readdir(dir));) {
			char path[4096];

			if (entry->d_name[0] == '.')
				continue;
			snprintf(path, sizeof(path), "%s/%s", argv[i], entry->d_name);
			count += run_file(path);
		}
		closedir(dir);
	}
	printf("%zu inputs replayed\n", count);
	return count ? 0 : 1;
}
