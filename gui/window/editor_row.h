/* SPDX-License-Identifier: MIT */
/* One field of the form as a row, with what is wrong with its value below it. */
#ifndef WGTCP_GUI_WINDOW_EDITOR_ROW_H
#define WGTCP_GUI_WINDOW_EDITOR_ROW_H

#include "gui/model/form.h"

#include <adwaita.h>

struct editor_row;

/* Adds the row to group and checks what is typed against form (borrowed, as field and user are, while the row lives).
 * changed is called after each change. The row goes with its widget. */
struct editor_row *editor_row_new(AdwPreferencesGroup *group, struct form *form, size_t peer,
	const struct form_field *field, void (*changed)(void *user), void *user);
bool editor_row_is_good(const struct editor_row *row);
bool editor_row_is_changed(const struct editor_row *row);
const char *editor_row_key(const struct editor_row *row);
size_t editor_row_peer(const struct editor_row *row);
/* As the profile has it. The caller wipes and frees with g_free. */
char *editor_row_value(const struct editor_row *row);
/* What it has now is what is stored. */
void editor_row_saved(struct editor_row *row);

#endif
