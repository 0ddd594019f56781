/* SPDX-License-Identifier: MIT */
#include "tests/netns/emulator/device.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* Linux 6.2 */
#ifndef TUN_F_USO4
#define TUN_F_USO4 0x20
#define TUN_F_USO6 0x40
#endif

/* The device drops silently what does not fit, and such a loss is nobody's setting: room for a burst of small
 * packets that comes while the other direction is served. */
#define DEVICE_QUEUE_PACKETS 4000

static int set_queue(const char *name)
{
	struct ifreq request = { .ifr_qlen = DEVICE_QUEUE_PACKETS };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), error = 0;

	if (fd < 0)
		return -errno;
	memcpy(request.ifr_name, name, strlen(name) + 1);
	if (ioctl(fd, SIOCSIFTXQLEN, &request) < 0)
		error = -errno;
	close(fd);
	return error;
}

/* In the namespace that is entered. */
static int open_here(const char *name)
{
	struct ifreq request = { .ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR };
	const unsigned long tcp = TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6;
	int header_len = (int)sizeof(struct virtio_net_hdr), error = 0;
	int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	memcpy(request.ifr_name, name, strlen(name) + 1);
	/* Without offloads the kernel takes its bursts apart, and all works as before, only slower. */
	if (ioctl(fd, TUNSETIFF, &request) < 0 || ioctl(fd, TUNSETVNETHDRSZ, &header_len) < 0)
		error = -errno;
	else if (ioctl(fd, TUNSETOFFLOAD, tcp | TUN_F_USO4 | TUN_F_USO6) < 0)
		(void)ioctl(fd, TUNSETOFFLOAD, tcp);
	if (!error)
		error = set_queue(name);
	if (error)
		close(fd);
	return error ? error : fd;
}

int device_open(const char *where)
{
	const char *colon = strrchr(where, ':');
	char path[256];
	int netns, result;

	if (!colon || (size_t)(colon - where) >= sizeof(path) || strlen(colon + 1) >= IFNAMSIZ || !colon[1])
		return -EINVAL;
	memcpy(path, where, (size_t)(colon - where));
	path[colon - where] = '\0';
	netns = open(path, O_RDONLY | O_CLOEXEC);
	if (netns < 0)
		return -errno;
	/* The device belongs to the namespace in which it is made; packets come here wherever we live. */
	result = setns(netns, CLONE_NEWNET) < 0 ? -errno : open_here(colon + 1);
	close(netns);
	return result;
}

int device_read(int fd, uint8_t *bytes, struct burst *burst)
{
	struct virtio_net_hdr header;
	struct iovec iov[] = { { &header, sizeof(header) }, { bytes, BURST_BYTES_MAX } };
	ssize_t len = readv(fd, iov, 2);

	if (len < 0)
		return -errno;
	if ((size_t)len <= sizeof(header) ||
		!burst_measure(burst, &header, bytes, (size_t)len - sizeof(header)))
		burst->count = 0;
	return 0;
}

int device_write(int fd, const struct burst_row *row)
{
	return writev(fd, row->iov, row->iov_count) < 0 ? -errno : 0;
}
