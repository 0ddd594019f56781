/* SPDX-License-Identifier: MIT */
#include "gui/window/settings.h"

#include <glib/gstdio.h>

static const char *const news_keys[SETTINGS_NEWS_COUNT] = { "connected", "lost", "carrier", "portal" };

static char *settings_path(void)
{
	return g_build_filename(g_get_user_config_dir(), "wgtcp", "window.ini", NULL);
}

static int read_size(GKeyFile *file, const char *key, int otherwise)
{
	int value = g_key_file_get_integer(file, "window", key, NULL);

	return value >= 100 && value <= 10000 ? value : otherwise;
}

void settings_load(struct settings *settings)
{
	GKeyFile *file = g_key_file_new();
	char *path = settings_path(), *last;

	g_key_file_load_from_file(file, path, G_KEY_FILE_NONE, NULL);
	for (int i = 0; i < SETTINGS_NEWS_COUNT; i++) {
		GError *error = NULL;
		gboolean on = g_key_file_get_boolean(file, "notifications", news_keys[i], &error);

		settings->news[i] = on || error; /* on, unless the file says off */
		g_clear_error(&error);
	}
	settings->width = read_size(file, "width", 920);
	settings->height = read_size(file, "height", 680);
	last = g_key_file_get_string(file, "window", "last", NULL);
	g_strlcpy(settings->last, last ? last : "", sizeof(settings->last));
	g_free(last);
	g_free(path);
	g_key_file_unref(file);
}

void settings_save(const struct settings *settings)
{
	GKeyFile *file = g_key_file_new();
	char *path = settings_path(), *folder = g_path_get_dirname(path);
	GError *error = NULL;

	for (int i = 0; i < SETTINGS_NEWS_COUNT; i++)
		g_key_file_set_boolean(file, "notifications", news_keys[i], settings->news[i]);
	g_key_file_set_integer(file, "window", "width", settings->width);
	g_key_file_set_integer(file, "window", "height", settings->height);
	g_key_file_set_string(file, "window", "last", settings->last);
	g_mkdir_with_parents(folder, 0700);
	if (!g_key_file_save_to_file(file, path, &error)) {
		g_message("the settings were not saved: %s", error->message);
		g_error_free(error);
	}
	g_free(folder);
	g_free(path);
	g_key_file_unref(file);
}

bool settings_wants(const struct settings *settings, enum news_kind kind)
{
	switch (kind) {
	case NEWS_NONE:
		return false;
	case NEWS_CONNECTED:
		return settings->news[SETTINGS_NEWS_CONNECTED];
	case NEWS_LOST:
	case NEWS_FAILED:
		return settings->news[SETTINGS_NEWS_LOST];
	case NEWS_CARRIER:
		return settings->news[SETTINGS_NEWS_CARRIER];
	case NEWS_PORTAL:
		return settings->news[SETTINGS_NEWS_PORTAL];
	}
	return false;
}
