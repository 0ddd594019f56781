/* SPDX-License-Identifier: MIT */
/* One small file. Used by main.c and manager.c. */
#include "client/daemon/timestamp.h"
#include "client/daemon/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct wall timestamp_load(int state_folder)
{
	struct wall newest = { 0 };
	char *text;
	size_t len;
	struct stat info;
	int end = 0;

	if (file_read(state_folder, TIMESTAMP_FILE, 64, &text, &len, &info) != 0)
		return newest;
	if (sscanf(text, "%" SCNu64 ".%9" SCNu32 "%n", &newest.s, &newest.ns, &end) != 2 ||
		text[end] != '\n' || newest.ns > 999999999)
		newest = (struct wall){ 0 };
	file_free(text, len);
	return newest;
}

int timestamp_save(int state_folder, const struct wall *newest)
{
	char text[48];
	int len = snprintf(text, sizeof(text), "%" PRIu64 ".%09" PRIu32 "\n", newest->s, newest->ns);

	return file_write(state_folder, TIMESTAMP_FILE, text, (size_t)len, 0600);
}
