/* SPDX-License-Identifier: MIT */
/* A byte stream on which the UAPI text protocol is spoken (core/uapi). */
#ifndef WGTCP_CORE_PORT_CONTROL_H
#define WGTCP_CORE_PORT_CONTROL_H

#include <stddef.h>
#include <stdint.h>

struct control;

int control_adopt(int handle, struct control **out);
void control_close(struct control *control);
/* As tcp_receive and tcp_send. */
long control_receive(struct control *control, char *out, size_t size);
long control_send(struct control *control, const char *bytes, size_t len);

#endif
