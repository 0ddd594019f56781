/* SPDX-License-Identifier: MIT */
/* What a process that reads what strangers send shuts itself into, once it has all that it needs. */
#ifndef WGTCP_CORE_PORT_SANDBOX_H
#define WGTCP_CORE_PORT_SANDBOX_H

enum sandbox {
	SANDBOX_ENGINE,       /* only what comes down its seam */
	SANDBOX_RELAY,        /* the same */
	SANDBOX_RELAY_SERVER, /* and sockets for UDP of its own */
};

#define SANDBOX_LACKS_LEN 400

/* From here on: no privilege, no file by any name, no program started, no core dump, no debugger, no memory
 * in swap, no system call that the program does not use (the kernel ends it at the first one). A process that
 * still is root becomes somebody else. Pieces that this kernel or this service manager does not give are left
 * out, and *lacks names them in words; "": all are there. 0, or -errno: it could not give up what it has, and
 * must not go on. */
int sandbox_enter(enum sandbox which, char lacks[SANDBOX_LACKS_LEN]);

/* What lacks would be, asked from outside, for one whose own words nobody would see. */
void sandbox_lacks(char lacks[SANDBOX_LACKS_LEN]);

#endif
