/* SPDX-License-Identifier: MIT */
/* Landlock: rights that a process takes from itself. */
#ifndef WGTCP_PLATFORM_LINUX_LANDLOCK_H
#define WGTCP_PLATFORM_LINUX_LANDLOCK_H

#include <stdbool.h>

/* No file of any name can be opened, made, removed or run from here on, no TCP port bound or connected to
 * where the kernel knows of that, and nobody outside reached by a signal or an abstract socket. Descriptors
 * that are open stay as they are. 0; -ENOSYS or -EOPNOTSUPP: this kernel has no Landlock, or it is off. */
int landlock_close_all(void);
/* Whether landlock_close_all would work. */
bool landlock_is_there(void);

#endif
