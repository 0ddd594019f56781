/* SPDX-License-Identifier: MIT */
/* People give "office.conf" or a path where "office" is meant; both are understood. */
#include "client/cli/cli.h"

#include <string.h>

const char *name_of_file(const char *path)
{
	const char *name = path;

	for (const char *at = path; *at; at++) {
		if (*at == '/' || *at == '\\')
			name = at + 1;
	}
	return name;
}

const char *cli_shown_path(const char *path)
{
	return strcmp(path, "-") ? path : "standard input";
}

bool name_from_word(const char *word, char out[RPC_NAME_LEN])
{
	const char *name = name_of_file(word);
	size_t len = strlen(name);

	if (len > 5 && !strcmp(name + len - 5, ".conf"))
		len -= 5;
	if (!len || len >= RPC_NAME_LEN)
		return false;
	memcpy(out, name, len);
	out[len] = '\0';
	return true;
}
