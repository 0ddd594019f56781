/* SPDX-License-Identifier: MIT */
/* The icon in the tray and its menu. Runs on the main thread. */
#ifndef WGTCP_GUI_TRAY_TRAY_H
#define WGTCP_GUI_TRAY_TRAY_H

struct tray;

struct tray_options {
	const char *socket_path;
	const char *icon_folder; /* a folder of icon themes in which our icons are */
};

/* quit is called when the person wants it to end. */
struct tray *tray_new(const struct tray_options *options, void (*quit)(void *user), void *user);
void tray_free(struct tray *tray);

#endif
