/* SPDX-License-Identifier: MIT */
/* A network namespace of the test's own. */
#include "tests/contract/linux/namespace.h"

#include "platform/linux/device.h"
#include "tests/contract/cmocka_all.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int namespace_new(void)
{
	struct net_config *net;
	struct net_link lo;
	int fd;

	/* Not permitted is a failure: a test that can not run has shown nothing. */
	assert_int_equal(unshare(CLONE_NEWNET), 0);
	assert_int_equal(net_config_open(&net), 0);
	assert_int_equal(net_link_find(net, "lo", &lo), 0);
	assert_int_equal(net_link_set(net, lo.index, 0, true), 0);
	net_config_close(net);
	fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

void namespace_enter(int fd)
{
	assert_int_equal(setns(fd, CLONE_NEWNET), 0);
}

struct ip_prefix prefix_of(const char *text)
{
	struct ip_prefix prefix;

	assert_true(ip_prefix_parse(text, strlen(text), &prefix));
	return prefix;
}

struct endpoint endpoint_of(const char *text)
{
	struct endpoint endpoint;

	assert_true(endpoint_parse(text, strlen(text), &endpoint));
	return endpoint;
}

int namespace_tun(const char *name, const char *v4, const char *v6)
{
	const char *const addresses[2] = { v4, v6 };
	struct netlink netlink;
	struct net_config *net;
	uint32_t index;
	int fd;

	assert_int_equal(netlink_open(&netlink, NETLINK_ROUTE), 0);
	assert_int_equal(device_open(&netlink, name, false, &fd, &index), 0);
	netlink_close(&netlink);
	assert_int_equal(net_config_open(&net), 0);
	for (size_t i = 0; i < 2; i++)
		if (addresses[i]) {
			struct ip_prefix prefix = prefix_of(addresses[i]);
			assert_int_equal(net_address_add(net, index, &prefix), 0);
		}
	assert_int_equal(net_link_set(net, index, 0, true), 0);
	net_config_close(net);
	return fd;
}

bool readable(int fd, int wait_ms)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	return poll(&wait, 1, wait_ms) > 0;
}

uint64_t statistic(const char *interface, bool rx_packets)
{
	FILE *file = fopen("/proc/thread-self/net/dev", "r");
	uint64_t value = UINT64_MAX;
	char line[512];

	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		char name[32];
		uint64_t rx_bytes, rx, e[6], tx_bytes, tx;

		if (sscanf(line,
			    " %31[^:]: %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
			    " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
			    name, &rx_bytes, &rx, &e[0], &e[1], &e[2], &e[3], &e[4], &e[5], &tx_bytes,
			    &tx) == 11 &&
			strcmp(name, interface) == 0)
			value = rx_packets ? rx : tx;
	}
	fclose(file);
	assert_true(value != UINT64_MAX);
	return value;
}
