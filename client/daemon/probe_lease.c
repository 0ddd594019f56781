/* SPDX-License-Identifier: MIT */
/* Used by probe_portal.c. Source: RFC 8910; dhclient.leases(5). */
#include "client/daemon/probe_lease.h"

#include "client/rpc/portal.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX 65536

static const char *const places[] = { "/run/systemd/netif/leases/*", "/var/lib/dhcp/dhclient*.lease*",
	"/var/lib/NetworkManager/dhclient*.lease" };

static bool take_url(const char *from, size_t len, char *url, size_t size)
{
	char text[RPC_PORTAL_URL_LEN];

	if (len == 0 || len >= sizeof(text) || len >= size)
		return false;
	memcpy(text, from, len);
	text[len] = 0;
	if (!rpc_portal_url_ok(text))
		return false;
	memcpy(url, text, len + 1);
	return true;
}

/* option NAME "URL"; */
static bool parse_option(const char *line, size_t len, char *url, size_t size)
{
	static const char *const names[] = { "option default-url \"", "option v4-captive-portal \"",
		"option captive-portal-uri \"" };
	size_t i, skip = strspn(line, " \t");

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t begin = skip + strlen(names[i]);
		const char *end;

		if (begin >= len || strncmp(line + skip, names[i], strlen(names[i])) != 0)
			continue;
		end = memchr(line + begin, '"', len - begin);
		return end && take_url(line + begin, (size_t)(end - line) - begin, url, size);
	}
	return false;
}

bool lease_parse(const char *text, char *url, size_t size)
{
	static const char networkd[] = "CAPTIVE_PORTAL=";
	char found[RPC_PORTAL_URL_LEN] = "";

	while (*text) {
		size_t len = strcspn(text, "\n");

		if (!strncmp(text, "lease {", 7))
			found[0] = 0; /* a newer one, which may say nothing of it any more */
		else if (!strncmp(text, networkd, sizeof(networkd) - 1))
			take_url(text + sizeof(networkd) - 1, len - (sizeof(networkd) - 1), found,
				sizeof(found));
		else
			parse_option(text, len, found, sizeof(found));
		text += len + (text[len] == '\n');
	}
	if (!found[0] || strlen(found) >= size)
		return false;
	strcpy(url, found);
	return true;
}

static bool read_lease(const char *path, char *url, size_t size)
{
	FILE *file = fopen(path, "re");
	char *text = file ? malloc(FILE_MAX + 1) : NULL;
	bool found = false;
	size_t len;

	if (text) {
		/* The end of a long one: what is newest stands there. */
		if (fseek(file, 0, SEEK_END) == 0 && ftell(file) > FILE_MAX)
			fseek(file, -FILE_MAX, SEEK_END);
		else
			rewind(file);
		len = fread(text, 1, FILE_MAX, file);
		text[len] = 0;
		found = lease_parse(text, url, size);
	}
	free(text);
	if (file)
		fclose(file);
	return found;
}

bool lease_find(const char *root, char *url, size_t size)
{
	char pattern[PATH_MAX];
	bool found = false;
	glob_t paths;
	size_t i, j;

	for (i = 0; i < sizeof(places) / sizeof(places[0]) && !found; i++) {
		if (snprintf(pattern, sizeof(pattern), "%s%s", root, places[i]) >= (int)sizeof(pattern) ||
			glob(pattern, 0, NULL, &paths) != 0)
			continue;
		for (j = 0; j < paths.gl_pathc && !found; j++)
			found = read_lease(paths.gl_pathv[j], url, size);
		globfree(&paths);
	}
	return found;
}
