/* SPDX-License-Identifier: MIT */
/* Points come from the model in a box of 1 by 1; here are pixels, colours and the text of the axes. Time runs from left to
 * right in every language, as on every instrument. */
#include "gui/window/graph_view.h"

#include "gui/model/graph.h"
#include "gui/model/translate.h"
#include "gui/model/units.h"
#include "gui/window/ui.h"

#include <math.h>

#define SPARK_COLUMNS 30u
#define SPARK_SECONDS 60u
#define MINUTES 5
#define GAP 6.0

struct graph_view {
	enum graph_view_kind kind;
	struct history history;
	struct graph_scale scale;
	guint64 now;
};

struct box {
	double x, y, width, height;
};

static struct graph_view *view_of(GtkWidget *widget)
{
	return g_object_get_data(G_OBJECT(widget), "graph-view");
}

/* ---- the frame ---- */

static void write_tick(const struct graph_view *view, uint64_t value, char *out, size_t size)
{
	if (view->kind == GRAPH_VIEW_RATE)
		units_rate_short(value, out, size);
	else
		g_snprintf(out, size, "%.3g", (double)value / 1000);
}

/* Text with its right end at x, its middle at y. */
static void draw_text(cairo_t *cr, PangoLayout *layout, const char *text, double x, double y, double align)
{
	int width, height;

	pango_layout_set_text(layout, text, -1);
	pango_layout_get_pixel_size(layout, &width, &height);
	cairo_move_to(cr, x - width * align, y - height / 2.0);
	pango_cairo_show_layout(cr, layout);
}

/* Grid lines with their values; what is left for the lines is in *inner. */
static void draw_frame(const struct graph_view *view, GtkWidget *widget, cairo_t *cr, int width, int height,
	uint64_t top, struct box *inner)
{
	PangoLayout *layout = gtk_widget_create_pango_layout(widget, "000M");
	PangoAttrList *attributes = pango_attr_list_new();
	unsigned parts = graph_parts(top);
	int text_width, text_height, widest = 0;
	char text[UNITS_LEN];

	pango_attr_list_insert(attributes, pango_attr_scale_new(PANGO_SCALE_SMALL));
	pango_layout_set_attributes(layout, attributes);
	pango_attr_list_unref(attributes);
	for (unsigned i = 0; i <= parts; i++) {
		write_tick(view, top / parts * i, text, sizeof(text));
		pango_layout_set_text(layout, text, -1);
		pango_layout_get_pixel_size(layout, &text_width, &text_height);
		widest = MAX(widest, text_width);
	}
	*inner = (struct box){ widest + GAP, text_height / 2.0, width - widest - GAP - 1,
		height - text_height * 1.5 - GAP };
	/* With large text in a small window every second value has room. */
	for (unsigned i = 0; i <= parts; i++) {
		double y = round(inner->y + inner->height * (1 - (double)i / parts)) + 0.5;

		ui_set_colour(cr, widget, NULL, i ? 0.12 : 0.35);
		cairo_set_line_width(cr, 1);
		cairo_move_to(cr, inner->x, y);
		cairo_line_to(cr, inner->x + inner->width, y);
		cairo_stroke(cr);
		if (inner->height / parts < text_height && i % parts)
			continue;
		ui_set_colour(cr, widget, NULL, 0.7);
		write_tick(view, top / parts * i, text, sizeof(text));
		draw_text(cr, layout, text, widest, y, 1);
	}
	ui_set_colour(cr, widget, NULL, 0.7);
	for (unsigned i = 0; i <= MINUTES; i++) {
		double x = inner->x + inner->width * (1 - (double)i / MINUTES);

		if (i)
			g_snprintf(text, sizeof(text), _("−%u min"), i);
		else
			g_snprintf(text, sizeof(text), "%s", _("now"));
		pango_layout_set_text(layout, text, -1);
		pango_layout_get_pixel_size(layout, &text_width, NULL);
		/* Ends always; in between what has room. */
		if (i % MINUTES && inner->width / MINUTES < text_width * 1.6)
			continue;
		draw_text(cr, layout, text, x, height - text_height / 2.0, i == 0 ? 1 : i == MINUTES ? 0 : 0.5);
	}
	g_object_unref(layout);
}

/* ---- the lines ---- */

static void draw_series(const struct graph_view *view, GtkWidget *widget, cairo_t *cr, enum graph_series series,
	uint64_t top, const struct box *inner)
{
	static const double dashes[] = { 6, 3 };
	struct graph_point points[HISTORY_SECONDS];
	size_t count = graph_points(&view->history, series, view->now, top, points);
	const char *colour = series == GRAPH_TX ? "warning_color" : "accent_color";
	double start_x = 0, base = inner->y + inner->height;

	for (int fill = series == GRAPH_TX ? 0 : 1; fill >= 0; fill--) {
		for (size_t i = 0; i < count; i++) {
			double x = inner->x + inner->width * points[i].x, y = base - inner->height * points[i].y;
			bool ends = i + 1 == count || points[i + 1].is_start;

			if (points[i].is_start) {
				cairo_move_to(cr, x, fill ? base : y);
				start_x = x;
			}
			cairo_line_to(cr, x, y);
			if (ends && fill) {
				cairo_line_to(cr, x, base);
				cairo_line_to(cr, start_x, base);
			} else if (ends && points[i].is_start) {
				cairo_line_to(cr, x + 1, y); /* a lone sample is a dot */
			}
		}
		ui_set_colour(cr, widget, colour, fill ? 0.18 : 1);
		if (fill) {
			cairo_fill(cr);
			continue;
		}
		/* Told apart without colours. */
		cairo_set_dash(cr, dashes, series == GRAPH_TX ? 2 : 0, 0);
		cairo_set_line_width(cr, 2);
		cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
		cairo_stroke(cr);
		cairo_set_dash(cr, NULL, 0, 0);
	}
}

static void draw_spark(const struct graph_view *view, GtkWidget *widget, cairo_t *cr, int width, int height)
{
	double levels[SPARK_COLUMNS], step = (double)width / SPARK_COLUMNS;

	if (!graph_spark(&view->history, view->now, SPARK_SECONDS, levels, SPARK_COLUMNS))
		return;
	ui_set_colour(cr, widget, "accent_color", 0.9);
	for (size_t i = 0; i < SPARK_COLUMNS; i++) {
		double bar = MAX(1, levels[i] * height);

		cairo_rectangle(cr, (double)i * step, height - bar, step * 0.7, bar);
	}
	cairo_fill(cr);
}

static void draw(GtkDrawingArea *area, cairo_t *cr, int width, int height, gpointer user)
{
	GtkWidget *widget = GTK_WIDGET(area);
	const struct graph_view *view = user;
	uint64_t top = view->scale.top;
	struct box inner;

	if (view->kind == GRAPH_VIEW_SPARK) {
		draw_spark(view, widget, cr, width, height);
		return;
	}
	if (!top)
		top = view->kind == GRAPH_VIEW_RATE ? GRAPH_RATE_LEAST : GRAPH_RTT_LEAST;
	draw_frame(view, widget, cr, width, height, top, &inner);
	cairo_rectangle(cr, inner.x, inner.y - 2, inner.width, inner.height + 3);
	cairo_clip(cr);
	if (view->kind == GRAPH_VIEW_RATE) {
		draw_series(view, widget, cr, GRAPH_RX, top, &inner);
		draw_series(view, widget, cr, GRAPH_TX, top, &inner);
	} else {
		draw_series(view, widget, cr, GRAPH_RTT, top, &inner);
	}
}

/* ---- for the owner ---- */

GtkWidget *graph_view_new(enum graph_view_kind kind)
{
	GtkAccessibleRole role = kind == GRAPH_VIEW_SPARK ? GTK_ACCESSIBLE_ROLE_PRESENTATION : GTK_ACCESSIBLE_ROLE_IMG;
	GtkWidget *widget = g_object_new(GTK_TYPE_DRAWING_AREA, "accessible-role", role, NULL);
	struct graph_view *view = g_new0(struct graph_view, 1);

	view->kind = kind;
	g_object_set_data_full(G_OBJECT(widget), "graph-view", view, g_free);
	gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(widget), draw, view, NULL);
	if (kind == GRAPH_VIEW_SPARK) {
		gtk_widget_set_size_request(widget, 45, 18);
		gtk_widget_set_valign(widget, GTK_ALIGN_CENTER);
	} else {
		gtk_widget_set_size_request(widget, 200, 150);
		gtk_widget_set_hexpand(widget, TRUE);
	}
	return widget;
}

void graph_view_show(GtkWidget *widget, const struct history *history)
{
	struct graph_view *view = view_of(widget);
	struct history_summary summary;
	char words[GRAPH_WORDS_LEN];

	if (history)
		view->history = *history;
	else
		view->history.count = 0;
	view->now = ui_now();
	/* The daemon's second may end just after ours. */
	if (view->history.count) {
		uint64_t newest = history_at(&view->history, view->history.count - 1)->time;

		if (newest == view->now + 1)
			view->now = newest;
	}
	history_summarize(&view->history, view->now, &summary);
	switch (view->kind) {
	case GRAPH_VIEW_RATE:
		graph_scale_step(
			&view->scale, MAX(summary.rx_peak, summary.tx_peak), GRAPH_RATE_LEAST, view->now);
		graph_words_rate(&view->history, view->now, words, sizeof(words));
		ui_describe(widget, _("Throughput of the last 5 minutes"), words);
		break;
	case GRAPH_VIEW_RTT:
		graph_scale_step(&view->scale, summary.rtt_most, GRAPH_RTT_LEAST, view->now);
		graph_words_rtt(&view->history, view->now, words, sizeof(words));
		ui_describe(widget, _("Round trip time of the last 5 minutes"), words);
		break;
	case GRAPH_VIEW_SPARK:
		break;
	}
	if (!history)
		view->scale = (struct graph_scale){ 0 };
	gtk_widget_queue_draw(widget);
}
