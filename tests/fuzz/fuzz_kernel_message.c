/* SPDX-License-Identifier: MIT */
/* Parts of a dump of the kernel's WireGuard, one netlink message behind the other. What was read is written as text and
 * as a SET, so that nothing in it can be wrong in a way that only shows later. */
#include "core/uapi/uapi.h"
#include "platform/linux/kernel_message.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every message that is made of it fits, and each gets further. */
static void write_all(const struct uapi_device *device)
{
	struct kernel_writer writer = { 0 };
	char *buffer = malloc(KERNEL_MESSAGE_BYTES);

	assert(buffer);
	while (!writer.done) {
		struct kernel_writer before = writer;
		const struct nlmsghdr *header = kernel_message_next(&writer, buffer, 1, "wg0", device, true);

		assert(header->nlmsg_len <= KERNEL_MESSAGE_BYTES);
		assert(writer.done || writer.peer > before.peer || writer.allowed_ip > before.allowed_ip);
	}
	free(buffer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct uapi_device device = { 0 };
	struct kernel_reader reader = { .device = &device };
	struct uapi_text text = { 0 };
	char *parts;
	int err = 0;

	if (size > 65536)
		return 0;
	parts = malloc(size ? size : 1);
	assert(parts);
	if (size)
		memcpy(parts, data, size);
	const struct nlmsghdr *part = (const struct nlmsghdr *)parts;
	/* The kernel does not lie about where a message ends; libmnl takes a negative length for a short one. */
	for (int left = (int)size; !err && mnl_nlmsg_ok(part, left) && (int)part->nlmsg_len > 0;
		part = mnl_nlmsg_next(part, &left))
		err = kernel_message_read(&reader, part);
	for (size_t i = 0; i < device.peer_count; i++)
		for (size_t n = 0; n < device.peers[i].allowed_ip_count; n++) {
			const struct ip_prefix *prefix = &device.peers[i].allowed_ips[n].prefix;

			assert(ip_address_len(&prefix->address) && prefix->bits <= 8 * ip_address_len(&prefix->address));
		}
	if (!err) {
		write_all(&device);
		assert(uapi_write_get(&text, &device));
	}
	uapi_text_free(&text);
	uapi_device_free(&device);
	free(parts);
	return 0;
}
