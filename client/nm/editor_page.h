/* SPDX-License-Identifier: MIT */
/* The page of an editor: a row for each key of a profile, those that most people need on top. Main thread. */
#ifndef WGTCP_CLIENT_NM_EDITOR_PAGE_H
#define WGTCP_CLIENT_NM_EDITOR_PAGE_H

#include "core/config/parse.h"

#include <NetworkManager.h>
#include <gtk/gtk.h>

struct page;

/* changed: something was typed. */
struct page *page_new(NMConnection *connection, void (*changed)(void *user), void *user);
void page_free(struct page *page);
GtkWidget *page_widget(struct page *page);
/* What stands there as a profile, by the parser's own checks; false with a sentence. */
bool page_read(struct page *page, struct profile *out, struct profile_error *error);
/* Who keeps the keys. */
NMSettingSecretFlags page_flags(struct page *page);

#endif
