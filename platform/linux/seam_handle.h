/* SPDX-License-Identifier: MIT */
/* The front's half of the seam: only downwards does a message carry a descriptor. */
#ifndef WGTCP_PLATFORM_LINUX_SEAM_HANDLE_H
#define WGTCP_PLATFORM_LINUX_SEAM_HANDLE_H

#include "core/port/seam.h"

/* As seam_send, with a descriptor (-1: none), which stays the caller's. */
int seam_send_handle(struct seam *seam, const struct seam_message *message, int handle);

#endif
