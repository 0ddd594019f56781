/* SPDX-License-Identifier: MIT */
/* Used by dns.c. */
#include "client/daemon/dns_machine.h"
#include "client/daemon/dns_file.h"
#include "client/daemon/file.h"

#include <fcntl.h>
#include <glib.h>
#include <string.h>

static char *read_resolv_conf(void)
{
	struct stat info;
	char *text;
	size_t len;

	return file_read(AT_FDCWD, DNS_FILE_PATH, DNS_FILE_TEXT_MAX, &text, &len, &info) == 0 ? text : NULL;
}

static bool links_to_resolved(void)
{
	char *target = g_file_read_link(DNS_FILE_PATH, NULL);
	bool leads = target && strstr(target, "run/systemd/resolve/");

	g_free(target);
	return leads;
}

/* Programs may ask resolved without resolv.conf, through nsswitch.conf(5). */
static bool switch_has_resolve(void)
{
	char *text = NULL, *line;
	bool has = false;

	if (!g_file_get_contents("/etc/nsswitch.conf", &text, NULL, NULL))
		return false;
	for (line = text; line && !has; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, "hosts:", 6)) {
			char *end = strchrnul(line, '\n'), *word = strstr(line, " resolve");

			has = word && word < end;
		}
		if (!*line)
			break;
	}
	g_free(text);
	return has;
}

bool dns_machine_has_resolved(void)
{
	char *text;
	bool leads;

	if (links_to_resolved() || switch_has_resolve())
		return true;
	text = read_resolv_conf();
	leads = text && dns_text_is_resolved(text);
	file_free(text, text ? strlen(text) : 0);
	return leads;
}
