/* SPDX-License-Identifier: MIT */
/* Profiles in a .zip, read in memory: nothing is unpacked to the disk, so no path in it can lead anywhere. */
#ifndef WGTCP_GUI_WINDOW_ARCHIVE_H
#define WGTCP_GUI_WINDOW_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>

#define ARCHIVE_FILES_MAX 256
#define ARCHIVE_BYTES_MAX (16u << 20) /* of the archive, and of all that comes out of it */

/* Whether the bytes begin as a .zip does. */
bool archive_is_zip(const char *bytes, size_t len);
/* Calls each for every file called *.conf that is not larger than max, with a text that ends in NUL and is wiped
 * afterwards. How many there were; -1: it cannot be read as an archive. left_out counts those that were too large or too
 * many, or have a password. */
int archive_each(const char *bytes, size_t len, size_t max,
	void (*each)(const char *name, const char *text, size_t text_len, void *user), void *user, unsigned *left_out);

#endif
