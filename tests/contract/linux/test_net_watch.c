/* SPDX-License-Identifier: MIT */
/* What is told as a change of network, and what is not. */
#include "core/port/net_config.h"

#include "tests/contract/cmocka_all.h"
#include "tests/contract/linux/namespace.h"

#include <errno.h>
#include <unistd.h>

static struct net_config *net;
static struct net_watch *watch;
static struct net_link device[2];
static int fds[2];

/* 1: something changed, 0: not; *gone: the first link that went. */
static int take_all(uint32_t except, uint32_t *gone)
{
	int changed = 0;

	*gone = 0;
	while (readable(net_watch_handle(watch), 20)) {
		uint32_t link_gone = 0;
		int n = net_watch_take(watch, except, &link_gone);

		assert_true(n >= 0);
		changed |= n;
		if (!*gone)
			*gone = link_gone;
	}
	return changed;
}

static void addresses_and_routes_of_others_are_told(void **state)
{
	struct ip_prefix address[2] = { prefix_of("10.87.0.1/24"), prefix_of("fd87::1/64") };
	struct net_route route[2] = { { prefix_of("10.88.0.0/16"), device[0].index, 0, 0 },
		{ prefix_of("fd88::/32"), device[0].index, 0, 0 } };
	uint32_t gone;

	(void)state;
	for (int i = 0; i < 2; i++)
		for (int own = 0; own < 2; own++) {
			uint32_t except = own ? device[0].index : device[1].index;
			int want = !own;

			take_all(0, &gone);
			assert_int_equal(take_all(except, &gone), 0);
			assert_int_equal(net_address_add(net, device[0].index, &address[i]), 0);
			assert_int_equal(take_all(except, &gone), want);
			assert_int_equal(net_route_add(net, &route[i]), 0);
			assert_int_equal(take_all(except, &gone), want);
			assert_int_equal(net_route_remove(net, &route[i]), 0);
			assert_int_equal(take_all(except, &gone), want);
			assert_int_equal(net_address_remove(net, device[0].index, &address[i]), 0);
			assert_int_equal(take_all(except, &gone), want);
			assert_int_equal(gone, 0);
		}
}

static void only_links_that_come_up_or_go_down_matter(void **state)
{
	uint32_t gone;

	(void)state;
	take_all(0, &gone);
	assert_int_equal(net_link_set(net, device[0].index, 1350, true), 0);
	assert_int_equal(take_all(device[1].index, &gone), 0);
	assert_int_equal(net_link_set(net, device[0].index, 0, false), 0);
	assert_int_equal(take_all(device[1].index, &gone), 1);
	assert_int_equal(net_link_set(net, device[0].index, 0, true), 0);
	assert_int_equal(take_all(device[1].index, &gone), 1);
	assert_int_equal(net_link_set(net, device[0].index, 0, false), 0);
	assert_int_equal(net_link_set(net, device[0].index, 0, true), 0);
	assert_int_equal(take_all(device[0].index, &gone), 0);
}

static void each_link_that_goes_is_named(void **state)
{
	uint32_t gone;

	(void)state;
	take_all(0, &gone);
	assert_int_equal(net_link_delete(net, device[0].index), 0);
	assert_int_equal(net_link_delete(net, device[1].index), 0);
	/* Both wait in the socket: one is told with each call. */
	uint32_t told[2] = { 0 };
	for (int i = 0, calls = 0; i < 2 && calls < 20 && readable(net_watch_handle(watch), 100); calls++) {
		assert_true(net_watch_take(watch, 0, &gone) >= 0);
		if (gone)
			told[i++] = gone;
	}
	assert_int_equal(told[0], device[0].index);
	assert_int_equal(told[1], device[1].index);
	assert_int_equal(net_watch_take(watch, 0, &gone), 0);
	assert_int_equal(gone, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_and_routes_of_others_are_told),
		cmocka_unit_test(only_links_that_come_up_or_go_down_matter),
		cmocka_unit_test(each_link_that_goes_is_named),
	};

	close(namespace_new());
	fds[0] = namespace_tun("wata", NULL, NULL);
	fds[1] = namespace_tun("watb", NULL, NULL);
	assert_int_equal(net_config_open(&net), 0);
	assert_int_equal(net_link_find(net, "wata", &device[0]), 0);
	assert_int_equal(net_link_find(net, "watb", &device[1]), 0);
	assert_int_equal(net_watch_open(&watch), 0);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	net_watch_close(watch);
	net_config_close(net);
	close(fds[0]);
	close(fds[1]);
	return failed;
}
