/* SPDX-License-Identifier: MIT */
/* Making the TUN device. Needs CAP_NET_ADMIN. Source: Documentation/networking/tuntap, linux/if_tun.h. */
#include "platform/linux/device.h"

#include "platform/linux/tun_offload.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define DEFAULT_MTU 1420
/* A burst then fits one GSO send, with 32 bytes of WireGuard around each packet. */
#define GSO_SEND_BYTES 65507
#define MESSAGE_OVERHEAD 32

static bool name_valid(const char *name)
{
	size_t len = strlen(name);

	/* '%' would be a pattern to the kernel. */
	return len > 0 && len < IFNAMSIZ && !strpbrk(name, "/:% \t\n") && strcmp(name, ".") &&
	       strcmp(name, "..");
}

static int attach(int fd, const char *name, int extra)
{
	struct ifreq request = { 0 };

	strncpy(request.ifr_name, name, sizeof(request.ifr_name) - 1);
	request.ifr_flags = (short)(IFF_TUN | IFF_NO_PI | IFF_VNET_HDR | extra);
	return ioctl(fd, TUNSETIFF, &request) < 0 ? -errno : 0;
}

void device_fit_bursts(struct netlink *netlink, uint32_t index, uint32_t mtu)
{
	/* Only speed is lost where the kernel refuses. */
	if (mtu)
		(void)netlink_link_set_burst(netlink, index, GSO_SEND_BYTES / (mtu + MESSAGE_OVERHEAD));
}

int device_open(struct netlink *netlink, const char *name, bool take_over, int *fd, uint32_t *index)
{
	struct net_link link;
	bool made = true, udp;
	int device = -1, err;

	if (!name_valid(name))
		return -EINVAL;
	device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (device < 0)
		return errno == EACCES ? -EPERM : -errno;
	err = attach(device, name, IFF_TUN_EXCL);
	if (err == -EBUSY && take_over) {
		made = false;
		err = attach(device, name, 0);
		/* There is a link of that name, of another kind. */
		if (err == -EINVAL)
			err = -EBUSY;
	}
	if (err)
		goto fail;
	(void)tun_offload_enable(device, &udp);
	err = netlink_link(netlink, name, 0, &link);
	if (err)
		goto fail;
	if (made) {
		err = netlink_link_set(netlink, link.index, DEFAULT_MTU, false);
		if (err)
			goto fail;
		link.mtu = DEFAULT_MTU;
		/* Fails where IPv6 is off, and is not needed there. */
		(void)netlink_link_no_autoconf(netlink, link.index);
	}
	device_fit_bursts(netlink, link.index, link.mtu);
	*fd = device;
	*index = link.index;
	return 0;
fail:
	close(device);
	return err;
}
