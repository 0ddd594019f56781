/* SPDX-License-Identifier: MIT */
/* Import and export of profile files. Called by plugin.c, in whatever program has loaded it (nmcli, GNOME
 * Settings). */
#include "client/nm/plugin.h"

#include "client/nm/connection.h"
#include "core/config/write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A profile says what it is in its first lines; so much is looked at to tell that a file is somebody else's.
 */
#define LOOK_BYTES 65536

static bool refuse(GError **error, NMConnectionError code, const char *sentence)
{
	g_set_error_literal(error, NM_CONNECTION_ERROR, (int)code, sentence);
	return false;
}

static bool has_interface(const char *bytes, size_t len)
{
	static const char section[] = "[interface]";
	size_t i;

	for (i = 0; i + strlen(section) <= len; i++)
		if (g_ascii_strncasecmp(bytes + i, section, strlen(section)) == 0)
			return true;
	return false;
}

/* Reads the file, but no more of a stranger's than the first bytes. */
static bool read_file(const char *path, GString *out, GError **error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char bytes[LOOK_BYTES];
	struct stat info;
	ssize_t got;
	int failure = fd < 0 || fstat(fd, &info) != 0 ? errno : 0;

	if (!failure && !S_ISREG(info.st_mode)) {
		close(fd);
		return refuse(error, NM_CONNECTION_ERROR_FAILED, "this is no file");
	}
	while (!failure && (got = read(fd, bytes, sizeof(bytes))) != 0) {
		if (got < 0) {
			failure = errno;
			break;
		}
		g_string_append_len(out, bytes, got);
		if ((out->len <= sizeof(bytes) && !has_interface(out->str, out->len)) ||
			out->len > PROFILE_TEXT_MAX)
			break;
	}
	explicit_bzero(bytes, sizeof(bytes));
	if (fd >= 0)
		close(fd);
	if (!failure)
		return true;
	g_set_error(error, NM_CONNECTION_ERROR, NM_CONNECTION_ERROR_FAILED, "%s cannot be read: %s", path,
		g_strerror(failure));
	return false;
}

/* The profile's own name, else what the file was called. */
static char *id_of(const struct profile *profile, const char *path)
{
	char *base, *id;

	if (profile->name[0])
		return g_strdup(profile->name);
	base = g_path_get_basename(path);
	if (g_str_has_suffix(base, ".conf"))
		base[strlen(base) - strlen(".conf")] = 0;
	id = g_utf8_make_valid(base[0] ? base : "wgtcp", -1);
	g_free(base);
	return id;
}

NMConnection *plugin_import(const char *path, GError **error)
{
	GString *text = g_string_new(NULL);
	struct profile profile = { 0 };
	struct profile_error wrong = { 0 };
	NMConnection *connection = NULL;
	char *base = g_path_get_basename(path), *id;

	if (!read_file(path, text, error))
		goto out;
	if (!has_interface(text->str, MIN(text->len, LOOK_BYTES))) {
		refuse(error, NM_CONNECTION_ERROR_FAILED,
			"this is no WireGuard profile, since it has no [Interface] section");
		goto out;
	}
	if (!profile_parse(base, text->str, text->len, &profile, &wrong, NULL)) {
		g_set_error(error, NM_CONNECTION_ERROR, NM_CONNECTION_ERROR_FAILED, "%s:%u: %s", base,
			wrong.line, wrong.sentence);
		goto out;
	}
	id = id_of(&profile, path);
	connection = connection_new(&profile, id);
	g_free(id);
	if (!connection)
		refuse(error, NM_CONNECTION_ERROR_FAILED,
			"the profile has more than 256 peers or 100 commands, which NetworkManager cannot "
			"hold: use `wgtcp-cli import`");
out:
	profile_free(&profile);
	explicit_bzero(text->str, text->len);
	g_string_free(text, TRUE);
	g_free(base);
	return connection;
}

gboolean plugin_export(const char *path, NMConnection *connection, GError **error)
{
	struct profile profile;
	struct profile_error wrong = { 0 };
	gboolean ok = FALSE;
	char *text;
	size_t len;

	if (!connection_read(connection, true, &profile, &wrong)) {
		g_set_error(error, NM_CONNECTION_ERROR, NM_CONNECTION_ERROR_FAILED,
			"the connection cannot be exported: %s", wrong.sentence);
		return FALSE;
	}
	text = profile_write(&profile, false, &len);
	if (text)
		ok = g_file_set_contents_full(
			path, text, (gssize)len, G_FILE_SET_CONTENTS_CONSISTENT, 0600, error);
	else
		refuse(error, NM_CONNECTION_ERROR_FAILED, "memory is short");
	profile_text_free(text, text ? len : 0);
	profile_free(&profile);
	return ok;
}
