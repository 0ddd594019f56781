/* SPDX-License-Identifier: MIT */
#include "client/cli/qr.h"

#include "core/base/wipe.h"

#include <qrencode.h>

/* The quiet zone that the standard asks for is 4 modules; cameras are content with 2. */
#define QUIET 2

/* Whether the module at x, y, counted with the quiet zone, is light. */
static bool is_light(const QRcode *code, int x, int y)
{
	x -= QUIET;
	y -= QUIET;
	if (x < 0 || y < 0 || x >= code->width || y >= code->width)
		return true;
	return !(code->data[y * code->width + x] & 1);
}

static void add_row_utf8(const QRcode *code, int y, int size, struct text *out)
{
	for (int x = 0; x < size; x++) {
		bool upper = is_light(code, x, y), lower = y + 1 >= size || is_light(code, x, y + 1);

		text_addf(out, "%s", upper && lower ? "\u2588" : upper ? "\u2580" : lower ? "\u2584" : " ");
	}
}

static void add_row_ascii(const QRcode *code, int y, int size, struct text *out)
{
	for (int x = 0; x < size; x++)
		text_addf(out, is_light(code, x, y) ? "##" : "  ");
}

/* It holds what the text does, keys too. */
static void code_free(QRcode *code)
{
	memory_wipe(code->data, (size_t)code->width * (size_t)code->width);
	QRcode_free(code);
}

unsigned qr_columns(const char *text, bool utf8)
{
	QRcode *code = QRcode_encodeString8bit(text, 0, QR_ECLEVEL_L);
	unsigned size;

	if (!code)
		return 0;
	size = (unsigned)code->width + 2 * QUIET;
	code_free(code);
	return utf8 ? size : 2 * size;
}

bool qr_write(const char *text, bool utf8, bool colour, struct text *out)
{
	QRcode *code = QRcode_encodeString8bit(text, 0, QR_ECLEVEL_L);
	int size;

	if (!code)
		return false;
	size = code->width + 2 * QUIET;
	for (int y = 0; y < size; y += utf8 ? 2 : 1) {
		if (colour)
			text_addf(out, "\033[97;40m");
		if (utf8)
			add_row_utf8(code, y, size, out);
		else
			add_row_ascii(code, y, size, out);
		text_addf(out, colour ? "\033[0m\n" : "\n");
	}
	code_free(code);
	return true;
}
