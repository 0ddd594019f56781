/* SPDX-License-Identifier: MIT */
/* The rig on Linux: a network namespace of its own, with loopback between the ends. */
#include "tests/contract/rig.h"

#include "platform/linux/handles.h"
#include "platform/linux/netlink.h"
#include "platform/linux/seam_handle.h"
#include "platform/linux/sockaddr.h"
#include "platform/linux/sockets.h"
#include "platform/linux/device.h"
#include "tests/contract/cmocka_all.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#define DEVICE "wgtcptest"

static struct loop *the_loop;
static struct netlink netlink;
static struct net_config *net;
static int raw[2] = { -1, -1 }, sniffer = -1;

void rig_open(void)
{
	struct net_link lo;

	/* Not permitted is a failure: a test that can not run has shown nothing. */
	assert_int_equal(unshare(CLONE_NEWNET), 0);
	assert_int_equal(loop_open(&the_loop), 0);
	assert_int_equal(netlink_open(&netlink, NETLINK_ROUTE), 0);
	assert_int_equal(net_config_open(&net), 0);
	assert_int_equal(net_link_find(net, "lo", &lo), 0);
	assert_int_equal(net_link_set(net, lo.index, 0, true), 0);
}

void rig_close(void)
{
	int *fds[3] = { &raw[0], &raw[1], &sniffer };

	for (size_t i = 0; i < 3; i++)
		if (*fds[i] >= 0) {
			close(*fds[i]);
			*fds[i] = -1;
		}
	loop_close(the_loop);
	net_config_close(net);
	netlink_close(&netlink);
}

struct loop *rig_loop(void)
{
	return the_loop;
}

struct clock *rig_clock(void)
{
	return NULL;
}

static struct endpoint loopback(enum ip_family family, uint16_t port)
{
	struct endpoint out = { .address.family = family, .port = port };

	if (family == IP_V4)
		memcpy(out.address.bytes, "\x7f\0\0\1", 4);
	else
		out.address.bytes[15] = 1;
	return out;
}

int rig_udp(enum ip_family family, struct endpoint *bound)
{
	struct socket_pair pair;
	int mine = family == IP_V4 ? 0 : 1;

	assert_int_equal(sockets_open_udp(0, 0, &pair), 0);
	assert_true(pair.fd[0] >= 0 && pair.fd[1] >= 0);
	close(pair.fd[1 - mine]);
	*bound = loopback(family, pair.port);
	return pair.fd[mine];
}

int rig_listener(enum ip_family family, struct endpoint *bound)
{
	union sockaddr_any address;
	socklen_t len;
	int fd = socket(family == IP_V4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	*bound = loopback(family, 0);
	len = sockaddr_from_endpoint(&address, bound);
	assert_int_equal(bind(fd, &address.any, len), 0);
	assert_int_equal(listen(fd, 16), 0);
	assert_int_equal(getsockname(fd, &address.any, &len), 0);
	*bound = sockaddr_to_endpoint(&address);
	return fd;
}

int rig_connect(const struct endpoint *remote)
{
	int fd;

	assert_int_equal(socket_connect(remote, 0, &fd), 0);
	return fd;
}

void rig_tcp(enum ip_family family, int handles[2])
{
	struct endpoint bound;
	int listener = rig_listener(family, &bound);

	handles[0] = rig_connect(&bound);
	handles[1] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	assert_true(handles[1] >= 0);
	close(listener);
}

void rig_seam(int handles[2])
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, handles), 0);
}

void rig_control(int handles[2])
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, handles), 0);
}

int rig_seam_send(struct seam *seam, const struct seam_message *message, int handle)
{
	return seam_send_handle(seam, message, handle);
}

static void raw_open(int i, int family)
{
	int one = 1;

	raw[i] = socket(family, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
	assert_true(raw[i] >= 0);
	if (family == AF_INET6)
		assert_int_equal(setsockopt(raw[i], IPPROTO_IPV6, IPV6_HDRINCL, &one, sizeof(one)), 0);
}

int rig_tun(void)
{
	static const char *const addresses[2] = { "10.77.0.1/24", "fd77::1/64" };
	struct sockaddr_ll all = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };
	uint32_t index;
	int fd;

	assert_int_equal(device_open(&netlink, DEVICE, false, &fd, &index), 0);
	for (size_t i = 0; i < 2; i++) {
		struct ip_prefix prefix;

		assert_true(ip_prefix_parse(addresses[i], strlen(addresses[i]), &prefix));
		assert_int_equal(net_address_add(net, index, &prefix), 0);
	}
	assert_int_equal(net_link_set(net, index, 0, true), 0);
	raw_open(0, AF_INET);
	raw_open(1, AF_INET6);
	sniffer = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, htons(ETH_P_ALL));
	all.sll_ifindex = (int)index;
	assert_int_equal(bind(sniffer, (struct sockaddr *)&all, sizeof(all)), 0);
	return fd;
}

void rig_tun_inject(const uint8_t *packet, size_t len)
{
	struct endpoint to = { .address.family = packet[0] >> 4 == 4 ? IP_V4 : IP_V6 };
	union sockaddr_any address;
	socklen_t address_len;

	memcpy(to.address.bytes, packet + (packet[0] >> 4 == 4 ? 16 : 24), ip_address_len(&to.address));
	address_len = sockaddr_from_endpoint(&address, &to);
	assert_int_equal(sendto(raw[to.address.family == IP_V6], packet, len, 0, &address.any, address_len),
		(long)len);
}

size_t rig_tun_collect(uint8_t *packet, size_t room)
{
	for (;;) {
		struct sockaddr_ll from;
		socklen_t len = sizeof(from);
		ssize_t n = recvfrom(sniffer, packet, room, 0, (struct sockaddr *)&from, &len);

		if (n < 0)
			return 0;
		if (from.sll_pkttype == PACKET_HOST)
			return (size_t)n;
	}
}

uint32_t rig_wait(void **token)
{
	struct loop_ready ready;
	struct mono end = mono_add_ms(clock_now(NULL), 2000);
	int n = loop_wait(the_loop, end, &ready, 1);

	assert_true(n >= 0);
	if (token)
		*token = n ? ready.token : NULL;
	return n ? ready.what : 0;
}
