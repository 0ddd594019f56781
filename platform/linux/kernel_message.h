/* SPDX-License-Identifier: MIT */
/* The bytes of WireGuard's netlink family, both ways: uapi's struct into SET messages, parts of a GET into the struct.
 * Pure: whoever calls has the socket. */
#ifndef WGTCP_PLATFORM_LINUX_KERNEL_MESSAGE_H
#define WGTCP_PLATFORM_LINUX_KERNEL_MESSAGE_H

#include "core/uapi/uapi.h"

#include <libmnl/libmnl.h>

/* Of WGTCP, behind those of linux/wireguard.h: u8, 0 UDP, 1 TCP. */
#define KERNEL_DEVICE_TRANSPORT 9
/* One SET message. A nested attribute can be no longer than 65535 bytes. */
#define KERNEL_MESSAGE_BYTES 16384

/* An empty request of WireGuard's family about the interface name, in a buffer of KERNEL_MESSAGE_BYTES. */
struct nlmsghdr *kernel_message_begin(
	char buffer[KERNEL_MESSAGE_BYTES], uint16_t family, uint8_t command, uint16_t flags, const char *name);

/* How far a device has been written. Zeroed: nothing yet. */
struct kernel_writer {
	size_t peer, allowed_ip;
	bool started, done;
};

/* Writes the next message of a SET; done in writer after the last. transport: whether the kernel knows the word. */
struct nlmsghdr *kernel_message_next(struct kernel_writer *writer, char buffer[KERNEL_MESSAGE_BYTES], uint16_t family,
	const char *name, const struct uapi_device *device, bool transport);

/* What a dump's parts are added to. A peer that goes on in the next part is one peer. */
struct kernel_reader {
	struct uapi_device *device;
	bool transport_only; /* skips peers: for the question what the kernel can do */
};

/* Adds one part (linux/wireguard.h: WG_CMD_GET_DEVICE). 0, -EBADMSG for what is not such a message, -ENOMEM. device may
 * have been changed in each case. */
int kernel_message_read(struct kernel_reader *reader, const struct nlmsghdr *part);

#endif
