/* SPDX-License-Identifier: MIT */
/* The standard streams that a process was started with. */
#ifndef WGTCP_CORE_PORT_STREAMS_H
#define WGTCP_CORE_PORT_STREAMS_H

/* Call it first. A stream that was closed gets a handle that can not be used, lest a file or socket of ours
 * takes its number, and with it whatever is said to a person. */
void streams_hold(void);

#endif
