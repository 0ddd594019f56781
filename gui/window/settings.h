/* SPDX-License-Identifier: MIT */
/* What the window remembers of a person's wishes: a small file in the user's configuration folder. */
#ifndef WGTCP_GUI_WINDOW_SETTINGS_H
#define WGTCP_GUI_WINDOW_SETTINGS_H

#include "gui/model/news.h"

#include <glib.h>

/* Each can be switched off; lost and failed go together. */
enum settings_news {
	SETTINGS_NEWS_CONNECTED,
	SETTINGS_NEWS_LOST,
	SETTINGS_NEWS_CARRIER,
	SETTINGS_NEWS_PORTAL,
	SETTINGS_NEWS_COUNT
};

struct settings {
	bool news[SETTINGS_NEWS_COUNT];
	int width, height;
	char last[256]; /* the tunnel that was shown */
};

/* Defaults for what the file does not say, or when there is none. */
void settings_load(struct settings *settings);
/* What cannot be written is a warning in the log, and no more. */
void settings_save(const struct settings *settings);
bool settings_wants(const struct settings *settings, enum news_kind kind);

#endif
