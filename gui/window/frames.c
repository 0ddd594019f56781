/* SPDX-License-Identifier: MIT */
/* Used by main_window.c; main thread. From before a frame is begun to after it is painted is what it costs:
 * the rest is waiting for the screen. */
#include "gui/window/frames.h"

#define FRAMES_A_LINE 20u

struct frames {
	gint64 begun_us, worst_us, sum_us;
	guint count;
};

static void on_begin(GdkFrameClock *clock, gpointer user)
{
	struct frames *frames = user;

	(void)clock;
	frames->begun_us = g_get_monotonic_time();
}

static void on_end(GdkFrameClock *clock, gpointer user)
{
	struct frames *frames = user;
	gint64 took_us = g_get_monotonic_time() - frames->begun_us;

	(void)clock;
	frames->worst_us = MAX(frames->worst_us, took_us);
	frames->sum_us += took_us;
	if (++frames->count < FRAMES_A_LINE)
		return;
	g_printerr("frames: %u, mean %.1f ms, worst %.1f ms\n", frames->count,
		(double)frames->sum_us / 1000 / frames->count, (double)frames->worst_us / 1000);
	*frames = (struct frames){ 0 };
}

void frames_watch(GtkWidget *window)
{
	GdkFrameClock *clock;
	struct frames *frames;

	if (!g_getenv("WGTCP_FRAME_TIMES"))
		return;
	clock = gtk_widget_get_frame_clock(window);
	if (!clock)
		return;
	frames = g_new0(struct frames, 1);
	g_object_set_data_full(G_OBJECT(clock), "frames", frames, g_free);
	g_signal_connect(clock, "before-paint", G_CALLBACK(on_begin), frames);
	g_signal_connect(clock, "after-paint", G_CALLBACK(on_end), frames);
}
