/* SPDX-License-Identifier: MIT */
/* Used by dns.c, dns_file.c and underlay.c. */
#include "client/daemon/dns_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* If this is a line of that keyword: where its value begins, else NULL. */
static const char *value_of(const char *line, const char *keyword)
{
	size_t len = strlen(keyword);

	if (strncmp(line, keyword, len) != 0 || (line[len] != ' ' && line[len] != '\t'))
		return NULL;
	return line + len + strspn(line + len, " \t");
}

static const char *next_line(const char *line)
{
	line += strcspn(line, "\n");
	return *line ? line + 1 : line;
}

static void keep_options(FILE *out, const char *before)
{
	for (; *before; before = next_line(before))
		if (value_of(before, "options"))
			fprintf(out, "%.*s\n", (int)strcspn(before, "\n"), before);
}

char *dns_text_write(const char *comment, const struct dns_servers *dns, const char *before)
{
	char address[ENDPOINT_TEXT_LEN], *text = NULL;
	size_t len = 0, i, searched = 0;
	FILE *out = open_memstream(&text, &len);
	bool failed;

	if (!out)
		return NULL;
	if (comment)
		fprintf(out, "# %s\n", comment);
	for (i = 0; i < dns->domains->count; i++)
		if (dns->domains->items[i][0] != '~')
			fprintf(out, "%s %s", searched++ ? "" : "search", dns->domains->items[i]);
	if (searched)
		fputc('\n', out);
	for (i = 0; i < dns->server_count; i++)
		fprintf(out, "nameserver %s\n", ip_address_write(&dns->servers[i], address));
	if (before)
		keep_options(out, before);
	failed = ferror(out) != 0;
	if (fclose(out) != 0 || failed) {
		free(text);
		return NULL;
	}
	return text;
}

static bool parse_server(
	const char *text, size_t len, struct probe_server *out, uint32_t (*scope)(const char *interface))
{
	const char *percent = memchr(text, '%', len);
	struct probe_server server = { 0 };
	char interface[32];
	size_t rest;

	if (!ip_address_parse(text, percent ? (size_t)(percent - text) : len, &server.address))
		return false;
	if (percent) {
		rest = len - (size_t)(percent - text) - 1;
		if (rest == 0 || rest >= sizeof(interface))
			return false;
		memcpy(interface, percent + 1, rest);
		interface[rest] = 0;
		server.scope = scope(interface);
	}
	*out = server;
	return true;
}

size_t dns_text_servers(
	const char *text, struct probe_server *out, size_t max, uint32_t (*scope)(const char *interface))
{
	size_t count = 0;

	for (; *text && count < max; text = next_line(text)) {
		const char *value = value_of(text, "nameserver");

		if (value && parse_server(value, strcspn(value, " \t\r\n#;"), &out[count], scope))
			count++;
	}
	return count;
}

void dns_text_search(const char *text, char *out, size_t size)
{
	out[0] = 0;
	for (; *text; text = next_line(text)) {
		const char *value = value_of(text, "search");
		size_t len, i;

		if (!value)
			value = value_of(text, "domain");
		if (!value)
			continue;
		/* Of several the last one holds. */
		len = strcspn(value, "\r\n#;");
		if (len >= size)
			len = size - 1;
		for (i = 0; i < len; i++)
			out[i] = value[i] == '\t' ? ' ' : value[i];
		out[len] = 0;
	}
}

static uint32_t no_scope(const char *interface)
{
	(void)interface;
	return 0;
}

bool dns_text_is_resolved(const char *text)
{
	static const struct ip_address stub = { IP_V4, { 127, 0, 0, 53 } },
				       proxy = { IP_V4, { 127, 0, 0, 54 } };
	struct probe_server server;

	return dns_text_servers(text, &server, 1, no_scope) == 1 &&
	       (ip_address_equal(&server.address, &stub) || ip_address_equal(&server.address, &proxy));
}
