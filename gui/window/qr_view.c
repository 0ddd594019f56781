/* SPDX-License-Identifier: MIT */
#include "gui/window/qr_view.h"

#include "core/base/wipe.h"
#include "gui/model/translate.h"
#include "gui/window/ui.h"

#include <malloc.h>
#include <qrencode.h>
#include <string.h>

#define QUIET_ZONE 4 /* modules around the code, ISO/IEC 18004 */

static void code_free(gpointer data)
{
	QRcode *code = data;

	memory_wipe(code->data, (size_t)code->width * (size_t)code->width);
	QRcode_free(code);
}

static void draw(GtkDrawingArea *area, cairo_t *cr, int width, int height, gpointer user)
{
	const QRcode *code = user;
	int modules = code->width + 2 * QUIET_ZONE, size = MAX(1, MIN(width, height) / modules);
	int left = (width - size * modules) / 2, top = (height - size * modules) / 2;

	(void)area;
	/* Black on white in dark mode too: not every camera reads the other way round. */
	cairo_set_source_rgb(cr, 1, 1, 1);
	cairo_rectangle(cr, left, top, size * modules, size * modules);
	cairo_fill(cr);
	cairo_set_source_rgb(cr, 0, 0, 0);
	cairo_set_antialias(cr, CAIRO_ANTIALIAS_NONE);
	for (int y = 0; y < code->width; y++) {
		for (int x = 0; x < code->width; x++) {
			if (code->data[y * code->width + x] & 1)
				cairo_rectangle(cr, left + (x + QUIET_ZONE) * size,
					top + (y + QUIET_ZONE) * size, size, size);
		}
	}
	cairo_fill(cr);
}

/* As many freed blocks of one size as the C library keeps at hand, and one more. */
#define KEPT_BLOCKS 8

/* libqrencode frees its copy of the text as it is. What the C library keeps of freed blocks of that size is
 * handed out again and wiped; larger ones it overwrites itself while M_PERTURB is set. */
static QRcode *encode(const char *text)
{
	size_t len = strlen(text);
	void *blocks[KEPT_BLOCKS];
	QRcode *code;

#ifdef M_PERTURB
	mallopt(M_PERTURB, 0xa5);
#endif
	code = QRcode_encodeString8bit(text, 0, QR_ECLEVEL_L);
#ifdef M_PERTURB
	mallopt(M_PERTURB, 0);
#endif
	for (size_t i = 0; i < KEPT_BLOCKS; i++) {
		/* Not malloc: a compiler makes calloc of that and a wipe, which takes other blocks. */
		blocks[i] = g_malloc(len);
		memory_wipe(blocks[i], len);
	}
	for (size_t i = 0; i < KEPT_BLOCKS; i++)
		g_free(blocks[i]);
	return code;
}

void qr_view_open(GtkWindow *parent, const char *name, const char *text)
{
	QRcode *code = encode(text);
	GtkWidget *area, *box, *window;
	char *title;

	if (!code) {
		ui_tell(parent, _("The profile is too long for a QR code"),
			_("Export it as a file, and copy that to the other device."));
		return;
	}
	area = g_object_new(GTK_TYPE_DRAWING_AREA, "accessible-role", GTK_ACCESSIBLE_ROLE_IMG, NULL);
	ui_describe(
		area, _("QR code"), _("The profile with its private key, for the camera of another device."));
	gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(area), draw, code, code_free);
	gtk_widget_set_vexpand(area, TRUE);
	box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12);
	gtk_widget_add_css_class(box, "page");
	gtk_box_append(GTK_BOX(box), area);
	gtk_box_append(GTK_BOX(box),
		ui_label(_("Scan it with the WireGuard app of the other device, then close this "
			   "window."),
			"dim-label"));
	title = g_strdup_printf(_("QR code of %s"), name);
	window = ui_window(parent, title, 460, 560, NULL, box);
	gtk_window_set_modal(GTK_WINDOW(window), TRUE);
	gtk_window_present(GTK_WINDOW(window));
	g_free(title);
}
