/* SPDX-License-Identifier: MIT */
/* The table of keys behind the two parsers. Private to core/uapi. */
#ifndef WGTCP_CORE_UAPI_KEYS_H
#define WGTCP_CORE_UAPI_KEYS_H

#include "core/uapi/uapi.h"

/* Which section a key belongs to, and which direction has it. */
#define UAPI_IN_DEVICE 1u
#define UAPI_IN_PEER 2u
#define UAPI_OF_SET 4u
#define UAPI_OF_GET 8u

struct uapi_reader {
	struct uapi_device *device;
	struct uapi_peer *peer; /* the last one of device; NULL before the first */
	/* "tcp_endpoint=" or "udp_port=" stands in this peer: it must be alone */
	bool endpoints_emptied, ports_emptied;
};

struct uapi_key {
	const char *name;
	unsigned where;
	/* 0, -EINVAL or -ENOMEM; may then have changed the device, which the caller throws away. */
	int (*read)(struct uapi_reader *reader, const char *value, size_t len);
};

/* The key of this name with all the bits of where; NULL when there is none. */
const struct uapi_key *uapi_key_find(const char *name, size_t len, unsigned where);

#endif
