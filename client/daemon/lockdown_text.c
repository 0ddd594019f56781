/* SPDX-License-Identifier: MIT */
/* Used by lockdown.c. */
#include "client/daemon/lockdown_text.h"

#include "core/config/name.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_LEN 64

char *lockdown_write(const struct lockdown_file *file)
{
	size_t room = LINE_LEN * (file->count + 1), len = 0, i;
	char *text = malloc(room);

	if (!text)
		return NULL;
	text[0] = 0;
	for (i = 0; i < file->count; i++)
		len += (size_t)snprintf(text + len, room - len, "hold %s%s\n", file->holds[i].name,
			file->holds[i].lan ? " lan" : "");
	if (file->open_until)
		snprintf(text + len, room - len, "open %" PRIu64 "\n", file->open_until);
	return text;
}

bool lockdown_file_add(struct lockdown_file *file, const char *name, bool lan)
{
	size_t i;

	for (i = 0; i < file->count; i++)
		if (!strcmp(file->holds[i].name, name))
			break;
	if (i == LOCKDOWN_MAX)
		return false;
	if (i == file->count)
		file->count++;
	snprintf(file->holds[i].name, sizeof(file->holds[i].name), "%s", name);
	file->holds[i].lan = lan;
	return true;
}

bool lockdown_file_remove(struct lockdown_file *file, const char *name)
{
	size_t i;

	for (i = 0; i < file->count; i++)
		if (!strcmp(file->holds[i].name, name)) {
			file->holds[i] = file->holds[--file->count];
			return true;
		}
	return false;
}

static void parse_line(const char *line, struct lockdown_file *out)
{
	char name[LINE_LEN] = "", rest[LINE_LEN] = "";
	uint64_t until;
	int end = 0;

	if (strlen(line) < 6 || line[4] != ' ')
		return;
	if (sscanf(line, "open %" SCNu64 "%n", &until, &end) == 1 && !line[end]) {
		out->open_until = until;
		return;
	}
	if (sscanf(line, "hold %63s %63s", name, rest) >= 1 && profile_name_valid(name, strlen(name)))
		lockdown_file_add(out, name, !strcmp(rest, "lan"));
}

void lockdown_parse(const char *text, struct lockdown_file *out)
{
	*out = (struct lockdown_file){ 0 };
	while (*text) {
		size_t len = strcspn(text, "\n");
		char line[LINE_LEN];

		if (len < sizeof(line)) {
			memcpy(line, text, len);
			line[len] = 0;
			parse_line(line, out);
		}
		text += len + (text[len] == '\n');
	}
}
