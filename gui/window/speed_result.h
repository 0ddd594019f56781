/* SPDX-License-Identifier: MIT */
/* What a speed test has shown, as a page. */
#ifndef WGTCP_GUI_WINDOW_SPEED_RESULT_H
#define WGTCP_GUI_WINDOW_SPEED_RESULT_H

#include "client/speedtest/test.h"

#include <gtk/gtk.h>

/* The result is borrowed for the call. again: what is put below it. */
GtkWidget *speed_result_new(
	const struct speedtest_result *result, const struct speedtest_target *target, GtkWidget *again);

#endif
