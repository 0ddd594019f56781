/* SPDX-License-Identifier: MIT */
/* UDP where the network says no: ICMP errors, addresses that went away, paths too narrow, full sockets. */
#include "core/port/udp.h"

#include "core/port/net_config.h"
#include "platform/linux/sockets.h"
#include "tests/contract/cmocka_all.h"
#include "tests/contract/linux/namespace.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define PACKETS 100

static struct packet_pool *pool;
static struct packet *packets[PACKETS];

static struct udp *open_udp(enum ip_family family, uint16_t *port, int *fd)
{
	struct socket_pair pair;
	struct udp *udp;
	int mine = family == IP_V4 ? 0 : 1;

	assert_int_equal(sockets_open_udp(0, 0, &pair), 0);
	close(pair.fd[1 - mine]);
	*port = pair.port;
	if (fd)
		*fd = pair.fd[mine];
	assert_int_equal(udp_adopt(pair.fd[mine], &udp), 0);
	return udp;
}

static struct endpoint loopback(enum ip_family family, uint16_t port)
{
	struct endpoint endpoint = endpoint_of(family == IP_V4 ? "127.0.0.1:1" : "[::1]:1");

	endpoint.port = port;
	return endpoint;
}

static void fill(size_t len)
{
	for (size_t i = 0; i < PACKETS; i++) {
		packets[i]->len = (uint32_t)len;
		memset(packets[i]->data, (int)i, len);
	}
}

/* All datagrams that are there. */
static size_t receive_all(struct udp *udp, int fd, struct udp_path *path)
{
	struct udp_datagram got[UDP_BATCH];
	size_t count = 0;

	while (readable(fd, 50)) {
		int n;
		while ((n = udp_receive(udp, got, UDP_BATCH)) > 0) {
			count += (size_t)n;
			if (path)
				*path = got[n - 1].path;
		}
		assert_int_equal(n, 0);
	}
	return count;
}

/* Runs of equal packets leave as one and come as one: each call hands out whole ones as long as they fit. */
static void bursts_are_handed_out_whole_where_they_fit(void **state)
{
	static const struct {
		size_t len, max;
		int counts[7]; /* of the calls, up to a 0 */
	} table[] = {
		{ 1000, 80, { 64, 36 } },
		{ 1000, 100, { 100 } },
		{ 1000, 20, { 20, 20, 20, 4, 20, 16 } },
		/* As an MTU of 1420 has it: one burst of the TUN, 45 packets, is one run and not cut. */
		{ 1452, 60, { 45, 55 } },
		{ 1452, 50, { 45, 45, 10 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		for (int family = IP_V4; family <= IP_V6; family += 2) {
			uint16_t from_port, to_port;
			int fd;
			struct udp *from = open_udp((enum ip_family)family, &from_port, NULL);
			struct udp *to = open_udp((enum ip_family)family, &to_port, &fd);
			struct udp_path path = { .remote = loopback((enum ip_family)family, to_port) };
			struct udp_datagram got[UDP_BATCH];
			size_t sent, seen = 0;

			fill(table[i].len);
			assert_int_equal(udp_send(from, &path, packets, PACKETS, &sent), 0);
			assert_true(readable(fd, 1000));
			for (const int *count = table[i].counts; *count; count++) {
				assert_int_equal(udp_receive(to, got, table[i].max), *count);
				for (int k = 0; k < *count; k++, seen++) {
					assert_int_equal(got[k].len, table[i].len);
					assert_int_equal(got[k].data[0], seen);
				}
			}
			assert_int_equal(udp_receive(to, got, table[i].max), 0);
			assert_int_equal(seen, PACKETS);
			udp_close(from);
			udp_close(to);
		}
}

static void a_closed_port_is_told_with_its_endpoint(void **state)
{
	(void)state;
	for (int family = IP_V4; family <= IP_V6; family += 2) {
		uint16_t port, open_port, closed_port;
		int open_fd;
		struct udp *udp = open_udp((enum ip_family)family, &port, NULL);
		struct udp *open = open_udp((enum ip_family)family, &open_port, &open_fd);
		struct udp *closed = open_udp((enum ip_family)family, &closed_port, NULL);
		struct udp_path to_closed = { .remote = loopback((enum ip_family)family, closed_port) };
		struct udp_path to_open = { .remote = loopback((enum ip_family)family, open_port) };
		struct udp_datagram got[1];
		struct endpoint remote;
		size_t sent;

		udp_close(closed);
		fill(100);
		assert_int_equal(udp_send(udp, &to_closed, packets, 1, &sent), 0);
		/* The error of one peer must not be taken for another's. */
		assert_int_equal(udp_send(udp, &to_open, packets, 3, &sent), 0);
		assert_int_equal(sent, 3);
		assert_int_equal(udp_receive(udp, got, 1), 0);
		assert_int_equal(receive_all(open, open_fd, NULL), 3);
		assert_int_equal(udp_error(udp, &remote), -ECONNREFUSED);
		assert_true(endpoint_equal(&remote, &to_closed.remote));
		assert_int_equal(udp_error(udp, &remote), 0);
		udp_close(udp);
		udp_close(open);
	}
}

static void no_route_is_told_at_once(void **state)
{
	struct udp_path path = { .remote = endpoint_of("192.0.2.1:9") };
	uint16_t port;
	struct udp *udp = open_udp(IP_V4, &port, NULL);
	size_t sent = 0;

	(void)state;
	fill(100);
	assert_int_equal(udp_send(udp, &path, packets, 2, &sent), -ENETUNREACH);
	assert_int_equal(sent, 2); /* refused for good: not to be tried again */
	udp_close(udp);
}

/* The answer leaves from the address that was asked; when that address goes, the system's choice is used. */
static void the_local_address_is_used_and_forgotten_when_it_goes(void **state)
{
	struct ip_prefix extra[2] = { prefix_of("10.79.0.9/32"), prefix_of("fd79::9/128") };
	struct net_config *net;
	struct net_link lo;

	(void)state;
	assert_int_equal(net_config_open(&net), 0);
	assert_int_equal(net_link_find(net, "lo", &lo), 0);
	for (int i = 0; i < 2; i++) {
		enum ip_family family = i ? IP_V6 : IP_V4;
		uint16_t port[2];
		int fd[2];
		struct udp *udp[2] = { open_udp(family, &port[0], &fd[0]),
			open_udp(family, &port[1], &fd[1]) };
		struct udp_path path = { .remote = loopback(family, port[1]) }, seen;
		size_t sent;

		assert_int_equal(net_address_add(net, lo.index, &extra[i]), 0);
		path.local = extra[i].address;
		path.interface = lo.index;
		/* Both with and without segmentation: one packet, and many of one size. */
		for (size_t count = 1; count <= PACKETS; count += PACKETS - 1) {
			fill(500);
			assert_int_equal(udp_send(udp[0], &path, packets, count, &sent), 0);
			assert_int_equal(receive_all(udp[1], fd[1], &seen), count);
			assert_true(ip_address_equal(&seen.remote.address, &extra[i].address));
			assert_true(ip_address_equal(&path.local, &extra[i].address));
		}
		assert_int_equal(net_address_remove(net, lo.index, &extra[i]), 0);
		for (size_t count = 1; count <= PACKETS; count += PACKETS - 1) {
			path.local = extra[i].address;
			path.interface = lo.index;
			assert_int_equal(udp_send(udp[0], &path, packets, count, &sent), 0);
			assert_int_equal(sent, count);
			assert_int_equal(receive_all(udp[1], fd[1], &seen), count);
			assert_int_equal(path.local.family, IP_NONE);
			assert_int_equal(path.interface, 0);
		}
		udp_close(udp[0]);
		udp_close(udp[1]);
	}
	net_config_close(net);
}

/* An interface that is gone, or leads elsewhere, must not hold packets back either. */
static void an_interface_that_is_gone_is_forgotten(void **state)
{
	uint16_t port[2];
	int fd;
	struct udp *udp[2] = { open_udp(IP_V4, &port[0], NULL), open_udp(IP_V4, &port[1], &fd) };
	struct udp_path path = { .remote = loopback(IP_V4, port[1]), .interface = 4242 };
	size_t sent;

	(void)state;
	path.local = path.remote.address;
	fill(100);
	assert_int_equal(udp_send(udp[0], &path, packets, 5, &sent), 0);
	assert_int_equal(receive_all(udp[1], fd, NULL), 5);
	assert_int_equal(path.interface, 0);
	udp_close(udp[0]);
	udp_close(udp[1]);
}

/* Segments larger than the path's MTU are refused by the kernel when given as one: they go singly, as
 * fragments. */
static void a_narrow_path_still_passes_large_packets(void **state)
{
	struct net_config *net;
	struct net_link lo;

	(void)state;
	assert_int_equal(net_config_open(&net), 0);
	assert_int_equal(net_link_find(net, "lo", &lo), 0);
	assert_int_equal(net_link_set(net, lo.index, 1280, true), 0);
	for (int family = IP_V4; family <= IP_V6; family += 2) {
		uint16_t port[2];
		int fd;
		struct udp *udp[2] = { open_udp((enum ip_family)family, &port[0], NULL),
			open_udp((enum ip_family)family, &port[1], &fd) };
		struct udp_path path = { .remote = loopback((enum ip_family)family, port[1]) };
		size_t sent;

		fill(1452);
		assert_int_equal(udp_send(udp[0], &path, packets, 20, &sent), 0);
		assert_int_equal(sent, 20);
		assert_int_equal(receive_all(udp[1], fd, NULL), 20);
		udp_close(udp[0]);
		udp_close(udp[1]);
	}
	assert_int_equal(net_link_set(net, lo.index, 65536, true), 0);
	net_config_close(net);
}

static void too_large_is_told_and_the_rest_goes(void **state)
{
	struct packet_pool *large = packet_pool_new(1, 66000);
	struct packet *batch[3] = { packets[0], packet_take(large), packets[1] };
	uint16_t port[2];
	int fd;
	struct udp *udp[2] = { open_udp(IP_V4, &port[0], NULL), open_udp(IP_V4, &port[1], &fd) };
	struct udp_path path = { .remote = loopback(IP_V4, port[1]) };
	size_t sent;

	(void)state;
	fill(100);
	memset(batch[1]->data, 0, 65600);
	batch[1]->len = 65600;
	assert_int_equal(udp_send(udp[0], &path, batch, 3, &sent), -EMSGSIZE);
	assert_int_equal(sent, 3);
	assert_int_equal(receive_all(udp[1], fd, NULL), 2);
	packet_give(large, batch[1]);
	packet_pool_free(large);
	udp_close(udp[0]);
	udp_close(udp[1]);
}

static void the_other_family_is_refused(void **state)
{
	uint16_t port;
	struct udp *udp = open_udp(IP_V4, &port, NULL);
	struct udp_path path = { .remote = endpoint_of("[::1]:9") };
	size_t sent;

	(void)state;
	assert_int_equal(udp_send(udp, &path, packets, 1, &sent), -EAFNOSUPPORT);
	udp_close(udp);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bursts_are_handed_out_whole_where_they_fit),
		cmocka_unit_test(a_closed_port_is_told_with_its_endpoint),
		cmocka_unit_test(no_route_is_told_at_once),
		cmocka_unit_test(the_local_address_is_used_and_forgotten_when_it_goes),
		cmocka_unit_test(an_interface_that_is_gone_is_forgotten),
		cmocka_unit_test(a_narrow_path_still_passes_large_packets),
		cmocka_unit_test(too_large_is_told_and_the_rest_goes),
		cmocka_unit_test(the_other_family_is_refused),
	};

	close(namespace_new());
	pool = packet_pool_new(PACKETS, 2048);
	for (size_t i = 0; i < PACKETS; i++)
		packets[i] = packet_take(pool);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	for (size_t i = 0; i < PACKETS; i++)
		packet_give(pool, packets[i]);
	packet_pool_free(pool);
	return failed;
}
