/* SPDX-License-Identifier: MIT */
/* The kill switch and marks on answers, in a real kernel: what passes, tried with real sockets; TUN devices
 * take what leaves. Whole stories: tests/netns/test_kill_switch.py. */
#include "core/port/kill_switch.h"
#include "core/port/net_answer.h"
#include "core/port/net_config.h"

#include "tests/contract/cmocka_all.h"
#include "tests/contract/linux/namespace.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int outside, inside; /* TUN devices: the way out, and a tunnel */
static char why[KILL_SWITCH_WHY_LEN];

static const struct kill_switch_tunnel tunnels[] = { { "ks-tunnel", 0x1234 }, { "=not.there+", 0 } };

/* A datagram to address; whether the kernel let it go. */
static bool passes(const char *address, uint16_t from, uint16_t port, uint32_t mark)
{
	bool v6 = strchr(address, ':') != NULL;
	int fd = socket(v6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in6 any6 = { .sin6_family = AF_INET6, .sin6_port = htons(from) };
	struct sockaddr_in any4 = { .sin_family = AF_INET, .sin_port = htons(from) };
	struct sockaddr_in6 to6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	struct sockaddr_in to4 = { .sin_family = AF_INET, .sin_port = htons(port) };
	bool sent;

	assert_true(fd >= 0);
	assert_int_equal(
		inet_pton(v6 ? AF_INET6 : AF_INET, address, v6 ? (void *)&to6.sin6_addr : &to4.sin_addr), 1);
	if (mark)
		assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_MARK, &mark, sizeof(mark)), 0);
	if (from)
		assert_int_equal(
			bind(fd, v6 ? (void *)&any6 : (void *)&any4, v6 ? sizeof(any6) : sizeof(any4)), 0);
	sent = sendto(fd, "x", 1, 0, v6 ? (void *)&to6 : (void *)&to4, v6 ? sizeof(to6) : sizeof(to4)) == 1;
	if (!sent)
		assert_int_equal(errno, EPERM);
	close(fd);
	return sent;
}

static void only_the_tunnel_passes(void **state)
{
	static const struct {
		const char *to;
		uint16_t from, port;
		uint32_t mark;
		bool passes, passes_with_lan;
	} cases[] = {
		{ "203.0.113.1", 0, 53, 0, false, false },
		{ "203.0.113.1", 0, 51820, 0, false, false },
		{ "2001:db8::1", 0, 53, 0, false, false },
		{ "203.0.113.1", 0, 51820, 0x1234, true, true },
		{ "2001:db8::1", 0, 51820, 0x1234, true, true },
		{ "203.0.113.1", 0, 51820, 0x1235, false, false },
		/* into the tunnel: but never its own packets */
		{ "10.99.0.5", 0, 53, 0, true, true },
		{ "fd99::5", 0, 53, 0, true, true },
		{ "10.99.0.5", 0, 51820, 0x1234, false, false },
		{ "127.0.0.1", 0, 9, 0, true, true },
		{ "::1", 0, 9, 0, true, true },
		/* DHCP */
		{ "192.168.7.1", 68, 67, 0, true, true },
		{ "203.0.113.1", 68, 68, 0, false, false },
		{ "203.0.113.1", 546, 547, 0, false, false },
		{ "2001:db8::1", 546, 547, 0, true, true },
		/* the local network, but for its resolver */
		{ "192.168.7.9", 0, 9, 0, false, true },
		{ "192.168.7.9", 0, 53, 0, false, false },
		{ "192.168.7.9", 0, 853, 0, false, false },
		{ "fd12::9", 0, 9, 0, false, true },
		{ "fd12::9", 0, 53, 0, false, false },
		{ "224.0.0.251", 0, 5353, 0, false, true },
		{ "ff02::fb", 0, 5353, 0, false, true },
		{ "239.255.0.1", 0, 9, 0, false, false },
		/* private, and elsewhere */
		{ "192.168.8.9", 0, 9, 0, false, false },
		{ "10.1.2.3", 0, 9, 0, false, false },
		{ "fd13::9", 0, 9, 0, false, false },
		{ "203.0.113.9", 0, 9, 0, false, false },
	};
	struct kill_switch_network networks[] = { { "ks-out", prefix_of("192.168.7.0/24") },
		{ "ks-out", prefix_of("fd12::/64") },
		/* names that nft would read more in, and never a word too many */
		{ "ks*", prefix_of("192.168.8.0/24") }, { "a\"accept;#", prefix_of("10.1.2.0/24") } };
	struct kill_switch settings = { .tunnels = tunnels, .count = 2, .networks = networks };

	(void)state;
	for (int lan = 0; lan < 2; lan++) {
		settings.network_count = lan ? sizeof(networks) / sizeof(networks[0]) : 0;
		assert_int_equal(kill_switch_set(&settings, why), 0);
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			bool expected = lan ? cases[i].passes_with_lan : cases[i].passes;

			if (passes(cases[i].to, cases[i].from, cases[i].port, cases[i].mark) != expected)
				fail_msg("lan %d: %s from %u to %u with mark %x", lan, cases[i].to,
					cases[i].from, cases[i].port, cases[i].mark);
		}
	}
	assert_int_equal(kill_switch_remove(why), 0);
	assert_true(passes("203.0.113.1", 0, 53, 0) && passes("2001:db8::1", 0, 53, 0));
	assert_int_equal(kill_switch_remove(why), 0); /* there is none */
}

static void opens_for_a_time_and_closes_by_itself(void **state)
{
	struct kill_switch settings = { .tunnels = tunnels, .count = 1, .open_s = 1 };
	struct timespec pause = { .tv_sec = 1, .tv_nsec = 500000000 };

	(void)state;
	assert_int_equal(kill_switch_set(&settings, why), 0);
	assert_true(passes("203.0.113.1", 0, 53, 0));
	assert_true(passes("2001:db8::1", 0, 53, 0));
	nanosleep(&pause, NULL);
	assert_false(passes("203.0.113.1", 0, 53, 0));
	assert_false(passes("2001:db8::1", 0, 53, 0));
	settings.open_s = 86400;
	assert_int_equal(kill_switch_set(&settings, why), 0);
	assert_true(passes("203.0.113.1", 0, 53, 0));
	settings.open_s = 0;
	assert_int_equal(kill_switch_set(&settings, why), 0);
	assert_false(passes("203.0.113.1", 0, 53, 0));
	assert_int_equal(kill_switch_remove(why), 0);
}

static void many_tunnels_fit(void **state)
{
	struct kill_switch_tunnel many[KILL_SWITCH_TUNNELS_MAX];
	struct kill_switch settings = { .tunnels = many, .count = KILL_SWITCH_TUNNELS_MAX };

	(void)state;
	for (size_t i = 0; i < KILL_SWITCH_TUNNELS_MAX; i++) {
		snprintf(many[i].interface, sizeof(many[i].interface), "_=+.-tunnel%zu", i);
		many[i].mark = 0x5000 + (uint32_t)i;
	}
	assert_int_equal(kill_switch_set(&settings, why), 0);
	assert_false(passes("203.0.113.1", 0, 53, 0));
	assert_true(passes("203.0.113.1", 0, 53, 0x5000 + KILL_SWITCH_TUNNELS_MAX - 1));
	assert_int_equal(kill_switch_remove(why), 0);
}

/* Without the right to, it says so and leaves things as they are. */
static void who_takes_it_away_is_heard(void **state)
{
	struct kill_switch settings = { .tunnels = tunnels, .count = 2 };
	struct kill_switch_watch *watch;
	int fd;

	(void)state;
	assert_int_equal(kill_switch_watch_open(&watch), 0);
	fd = kill_switch_watch_handle(watch);
	assert_false(kill_switch_is_there());
	assert_int_equal(kill_switch_set(&settings, why), 0);
	assert_true(kill_switch_is_there());
	kill_switch_watch_take(watch);
	assert_false(readable(fd, 0));
	/* Other tables are nobody's business. */
	assert_false(net_answer_is_there(0x77));
	assert_int_equal(net_answer_add(&(struct net_answer){ "ks-tunnel", 0x77, false }), 0);
	assert_true(net_answer_is_there(0x77));
	assert_int_equal(net_answer_remove(0x77), 0);
	assert_false(net_answer_is_there(0x77));
	assert_false(kill_switch_watch_take(watch));
	assert_int_equal(system("nft flush ruleset"), 0);
	assert_true(readable(fd, 1000));
	assert_true(kill_switch_watch_take(watch));
	assert_false(kill_switch_is_there());
	kill_switch_watch_close(watch);
}

static void who_takes_marks_away_is_heard(void **state)
{
	struct net_answer_watch *watch;

	(void)state;
	assert_int_equal(net_answer_watch_open(&watch), 0);
	assert_int_equal(net_answer_add(&(struct net_answer){ "ks-tunnel", 0x77, false }), 0);
	net_answer_watch_take(watch);
	assert_int_equal(system("nft add table inet other; nft delete table inet other"), 0);
	assert_false(net_answer_watch_take(watch));
	assert_int_equal(system("nft flush ruleset"), 0);
	assert_true(readable(net_answer_watch_handle(watch), 1000));
	assert_true(net_answer_watch_take(watch));
	assert_false(net_answer_is_there(0x77));
	net_answer_watch_close(watch);
}

static void who_may_not_is_told(void **state)
{
	struct kill_switch settings = { 0 };

	(void)state;
	assert_int_equal(seteuid(65534), 0);
	assert_int_equal(kill_switch_set(&settings, why), -EPERM);
	assert_int_equal(seteuid(0), 0);
	assert_string_equal(why, "only root may change the packet filter");
	assert_true(passes("203.0.113.1", 0, 53, 0));
}

static void marked_packets_never_go_inside(void **state)
{
	static const struct net_answer ways[] = { { "ks-tunnel", 0x1234, false },
		{ "ks-tunnel", 0x1234, true } };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		for (int n = 0; n < 2; n++)
			assert_int_equal(net_answer_add(&ways[i]), 0);
		assert_true(passes("10.99.0.5", 0, 9, 0));
		assert_false(passes("10.99.0.5", 0, 9, 0x1234));
		assert_true(passes("203.0.113.1", 0, 9, 0x1234));
		for (int n = 0; n < 2; n++)
			assert_int_equal(net_answer_remove(0x1234), 0);
		assert_true(passes("10.99.0.5", 0, 9, 0x1234));
	}
}

static void the_filter_looks_at_marks_only_as_long_as_told(void **state)
{
	bool was = true;

	(void)state;
	assert_int_equal(net_answer_marks_are_checked(&was), 0);
	assert_false(was);
	assert_int_equal(net_answer_check_marks(true, &was), 0);
	assert_false(was);
	assert_int_equal(net_answer_marks_are_checked(&was), 0);
	assert_true(was);
	assert_int_equal(net_answer_check_marks(true, &was), 0);
	assert_true(was);
	assert_int_equal(net_answer_check_marks(false, &was), 0);
	assert_true(was);
	assert_int_equal(net_answer_check_marks(false, &was), 0);
	assert_false(was);
}

static int enter(void **state)
{
	(void)state;
	namespace_new();
	outside = namespace_tun("ks-out", "192.168.7.2/24", "fd12::2/64");
	inside = namespace_tun("ks-tunnel", "10.99.0.1/24", "fd99::1/64");
	struct net_config *net;
	struct net_link link;
	assert_int_equal(net_config_open(&net), 0);
	assert_int_equal(net_link_find(net, "ks-out", &link), 0);
	for (int i = 0; i < 2; i++) {
		struct net_route all = { .destination = prefix_of(i ? "::/0" : "0.0.0.0/0"),
			.interface = link.index };

		assert_int_equal(net_route_add(net, &all), 0);
	}
	net_config_close(net);
	return 0;
}

static int leave(void **state)
{
	(void)state;
	close(outside);
	close(inside);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_tunnel_passes),
		cmocka_unit_test(opens_for_a_time_and_closes_by_itself),
		cmocka_unit_test(many_tunnels_fit),
		cmocka_unit_test(who_takes_it_away_is_heard),
		cmocka_unit_test(who_takes_marks_away_is_heard),
		cmocka_unit_test(who_may_not_is_told),
		cmocka_unit_test(marked_packets_never_go_inside),
		cmocka_unit_test(the_filter_looks_at_marks_only_as_long_as_told),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
