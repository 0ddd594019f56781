/* SPDX-License-Identifier: MIT */
/* A text as a QR code made of characters. Pure. */
#ifndef WGTCP_CLIENT_CLI_QR_H
#define WGTCP_CLIENT_CLI_QR_H

#include "client/cli/text.h"

/* utf8: two modules a character in half blocks; else two characters a module. colour: sets black on white
 * itself, which scans whatever the terminal's colours are; else blocks are the light modules, for the usual
 * dark terminal. False when the text is too long for a QR code. */
bool qr_write(const char *text, bool utf8, bool colour, struct text *out);
/* How many columns that takes: in a narrower window lines break and no camera reads it. 0: the text is too
 * long. */
unsigned qr_columns(const char *text, bool utf8);

#endif
