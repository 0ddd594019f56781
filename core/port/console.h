/* SPDX-License-Identifier: MIT */
/* What the command line needs from the machine it runs on: streams, the terminal, files that a person names,
 * Ctrl-C. */
#ifndef WGTCP_CORE_PORT_CONSOLE_H
#define WGTCP_CORE_PORT_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum console_stream { CONSOLE_OUT, CONSOLE_ERR };

/* Writes it all, or gives up silently when nobody reads any more (console_failed says so). */
void console_write(enum console_stream stream, const char *bytes, size_t len);
/* Whether something written to CONSOLE_OUT was lost. */
bool console_failed(void);
/* It was lost for lack of room. */
bool console_is_full(void);
bool console_is_terminal(enum console_stream stream);
/* Columns of the terminal behind the stream; 0: none, or unknown. */
uint32_t console_width(enum console_stream stream);
/* Lines of it; 0: none, or unknown. */
uint32_t console_height(enum console_stream stream);
/* Whether the person sees UTF-8 (locale). */
bool console_is_utf8(void);
/* Whether colour is wanted there: a terminal that can, and no NO_COLOR. */
bool console_wants_colour(enum console_stream stream);
/* Whether we may do what root may, such as starting a daemon. */
bool console_is_admin(void);

/* A whole file ("-": standard input) of at most max bytes, into memory of malloc with a NUL behind it. 0;
 * -EFBIG: it is longer; -EISDIR; -errno. The caller wipes. */
int console_read_file(const char *path, size_t max, char **text, size_t *len);
/* The names of the files in a folder that end with suffix, but for hidden ones; each, and the list, is
 * malloc's. -errno. */
int console_list_folder(const char *folder, const char *suffix, char ***names, size_t *count);
/* Into a new file that only its owner may read. -EEXIST: there is one; -errno, and then there is none. */
int console_write_secret(const char *path, const char *bytes, size_t len);
/* Whether a file of that name exists. */
bool console_file_exists(const char *path);

/* From here on Ctrl-C and a wish to end do not kill: they end waits (ipc_receive) and are seen by
 * console_interrupted. */
void console_catch_interrupt(void);
bool console_interrupted(void);
/* Back to the usual: the next one kills. */
void console_release_interrupt(void);

/* Unix time, s. */
uint64_t console_now(void);
/* Local time of day as people there write it on a log line: "2026-11-30 22:15:35". */
void console_local_time(uint64_t unix_s, char *out, size_t size);

#endif
