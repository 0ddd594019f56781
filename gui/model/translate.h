/* SPDX-License-Identifier: MIT */
/* Words in the person's language. The programs choose the domain; tests see English. */
#ifndef WGTCP_GUI_MODEL_TRANSLATE_H
#define WGTCP_GUI_MODEL_TRANSLATE_H

#include <libintl.h>

#define TRANSLATE_DOMAIN "wgtcp"

#define _(text) gettext(text)
/* For tables: marks a text that is translated where it is used. */
#define N_(text) text

#endif
