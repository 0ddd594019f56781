/* SPDX-License-Identifier: MIT */
/* The struct behind core/port/udp.h, shared by the half that receives and the half that sends. */
#ifndef WGTCP_PLATFORM_LINUX_UDP_SOCKET_H
#define WGTCP_PLATFORM_LINUX_UDP_SOCKET_H

#include "core/port/udp.h"

#include "platform/linux/sockaddr.h"

/* Few and large: with UDP_GRO one buffer takes up to 64 datagrams. More would only fall out of the cache. */
#define UDP_BUFFERS 8
#define UDP_BUFFER_BYTES 65536

/* One buffer as recvmmsg left it, and how much of it has been handed out. */
struct udp_burst {
	uint8_t *next;
	size_t left;
	size_t segment; /* bytes of each datagram but the last */
	bool empty;     /* a datagram without bytes is one all the same */
	bool fresh;     /* nothing of it has been handed out */
	struct udp_path path;
	uint8_t ecn;
};

struct udp {
	int fd;
	enum ip_family family;
	bool segmentation; /* the kernel takes UDP_SEGMENT, as far as is known */
	uint8_t *memory;
	size_t burst_count, burst_at;
	struct udp_burst bursts[UDP_BUFFERS];
};

#endif
