/* SPDX-License-Identifier: MIT */
/* Drawn by hand; used by speed_view.c on the main thread. */
#include "gui/window/gauge.h"

#include "gui/window/ui.h"

#include <math.h>

#define GAUGE_SIZE 116
#define LINE_WIDTH 10.0
/* The scale is open below: it runs from lower left over the top to lower right. */
#define START (M_PI * 0.75)
#define SWEEP (M_PI * 1.5)

struct gauge {
	GtkWidget *area, *value;
	char *title;
	double low, high, share;
};

static struct gauge *gauge_of(GtkWidget *widget)
{
	return g_object_get_data(G_OBJECT(widget), "gauge");
}

static void draw_arc(
	cairo_t *cr, GtkWidget *widget, const char *name, double alpha, double share, const double box[2])
{
	ui_set_colour(cr, widget, name, alpha);
	cairo_arc(cr, box[0] / 2, box[1] / 2, MIN(box[0], box[1]) / 2 - LINE_WIDTH, START,
		START + SWEEP * share);
	cairo_stroke(cr);
}

static void draw(GtkDrawingArea *area, cairo_t *cr, int width, int height, gpointer user)
{
	const struct gauge *gauge = user;
	const double box[2] = { width, height };

	cairo_set_line_width(cr, LINE_WIDTH);
	cairo_set_line_cap(cr, CAIRO_LINE_CAP_ROUND);
	draw_arc(cr, GTK_WIDGET(area), NULL, 0.15, 1, box);
	if (gauge->share > 0)
		draw_arc(cr, GTK_WIDGET(area), "accent_color", 1, gauge->share, box);
}

static void gauge_free(gpointer user)
{
	struct gauge *gauge = user;

	g_free(gauge->title);
	g_free(gauge);
}

GtkWidget *gauge_new(const char *title, double low, double high)
{
	struct gauge *gauge = g_new0(struct gauge, 1);
	GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0), *overlay = gtk_overlay_new();
	GtkWidget *heading = gtk_label_new(title);

	gauge->title = g_strdup(title);
	gauge->low = low;
	gauge->high = high;
	gauge->area = g_object_new(GTK_TYPE_DRAWING_AREA, "accessible-role", GTK_ACCESSIBLE_ROLE_IMG, NULL);
	gauge->value = gtk_label_new("");
	gtk_drawing_area_set_content_width(GTK_DRAWING_AREA(gauge->area), GAUGE_SIZE);
	gtk_drawing_area_set_content_height(GTK_DRAWING_AREA(gauge->area), GAUGE_SIZE);
	gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(gauge->area), draw, gauge, NULL);
	gtk_widget_add_css_class(gauge->value, "numeric");
	gtk_widget_add_css_class(heading, "dim-label");
	gtk_widget_set_halign(gauge->value, GTK_ALIGN_CENTER);
	gtk_widget_set_valign(gauge->value, GTK_ALIGN_CENTER);
	gtk_label_set_justify(GTK_LABEL(gauge->value), GTK_JUSTIFY_CENTER);
	gtk_overlay_set_child(GTK_OVERLAY(overlay), gauge->area);
	gtk_overlay_add_overlay(GTK_OVERLAY(overlay), gauge->value);
	/* Large text makes the gauge wider, so that the figure stays inside. */
	gtk_overlay_set_measure_overlay(GTK_OVERLAY(overlay), gauge->value, TRUE);
	gtk_box_append(GTK_BOX(box), overlay);
	gtk_box_append(GTK_BOX(box), heading);
	g_object_set_data_full(G_OBJECT(box), "gauge", gauge, gauge_free);
	gauge_show(box, 0, "–");
	return box;
}

void gauge_show(GtkWidget *widget, double value, const char *text)
{
	struct gauge *gauge = gauge_of(widget);
	double share = value > gauge->low ? log(value / gauge->low) / log(gauge->high / gauge->low) : 0;
	char *lines;

	share = CLAMP(share, 0, 1);
	/* The unit below the figure, where the ring has room for it. */
	lines = g_strdelimit(g_strdup(text), " ", '\n');
	ui_set_text(GTK_LABEL(gauge->value), lines);
	g_free(lines);
	gtk_accessible_update_property(GTK_ACCESSIBLE(gauge->area), GTK_ACCESSIBLE_PROPERTY_LABEL,
		gauge->title, GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text, -1);
	if (fabs(share - gauge->share) < 0.002)
		return;
	gauge->share = share;
	gtk_widget_queue_draw(gauge->area);
}
