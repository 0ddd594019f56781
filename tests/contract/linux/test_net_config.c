/* SPDX-License-Identifier: MIT */
/* Addresses, routes and links as the daemon sets them. */
#include "core/port/net_config.h"

#include "tests/contract/cmocka_all.h"
#include "tests/contract/linux/namespace.h"

#include <errno.h>
#include <unistd.h>

static struct net_config *net;
static struct net_link device[2];
static int fds[2];

static void links_are_found_and_set(void **state)
{
	struct net_link link;

	(void)state;
	assert_int_equal(net_link_find(net, "wgnone", &link), -ENODEV);
	assert_int_equal(net_link_find(net, "a-name-longer-than-any", &link), -ENODEV);
	assert_int_equal(net_link_find(net, "lo", &link), 0);
	assert_int_equal(link.index, 1);
	assert_true(link.up);
	assert_false(link.tun);
	assert_int_equal(net_link_find(net, "cfga", &link), 0);
	assert_true(link.tun && link.up);
	assert_string_equal(link.name, "cfga");
	assert_int_equal(link.mtu, 1420);
	assert_int_equal(net_link_set(net, link.index, 1300, false), 0);
	assert_int_equal(net_link_find(net, "cfga", &link), 0);
	assert_int_equal(link.mtu, 1300);
	assert_false(link.up);
	assert_int_equal(net_link_set(net, link.index, 0, true), 0);
	assert_int_equal(net_link_find(net, "cfga", &link), 0);
	assert_int_equal(link.mtu, 1300);
	assert_true(link.up);
	assert_int_equal(net_link_set(net, 4242, 0, true), -ENODEV);
}

static void a_link_gets_another_name(void **state)
{
	struct net_link link;

	(void)state;
	assert_int_equal(net_link_at(net, 4242, &link), -ENODEV);
	assert_int_equal(net_link_at(net, 0, &link), -ENODEV);
	assert_int_equal(net_link_rename(net, 4242, "cfgc"), -ENODEV);
	assert_int_equal(net_link_rename(net, device[0].index, "lo"), -EEXIST);
	assert_int_equal(net_link_rename(net, device[0].index, "cfgc"), 0);
	assert_int_equal(net_link_at(net, device[0].index, &link), 0);
	assert_string_equal(link.name, "cfgc");
	assert_int_equal(net_link_rename(net, device[0].index, "cfga"), 0);
	assert_int_equal(net_link_set(net, device[0].index, 0, true), 0);
}

static void addresses_come_and_go_any_number_of_times(void **state)
{
	static const char *const addresses[] = { "10.80.0.1/24", "10.80.1.1/32", "fd80::1/64",
		"fd80:1::1/128" };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct ip_prefix address = prefix_of(addresses[i]);
		uint32_t interface, mtu;

		for (int n = 0; n < 2; n++)
			assert_int_equal(net_address_add(net, device[0].index, &address), 0);
		/* Our own address is reached within the machine; IPv6 names the address's interface. */
		assert_int_equal(net_route_lookup(net, &address.address, 0, &interface, &mtu), 0);
		assert_true(interface == 1 || interface == device[0].index);
		for (int n = 0; n < 2; n++)
			assert_int_equal(net_address_remove(net, device[0].index, &address), 0);
		assert_int_equal(net_route_lookup(net, &address.address, 0, &interface, &mtu), -ENETUNREACH);
	}
	struct ip_prefix address = prefix_of("10.80.0.1/24");
	assert_int_equal(net_address_add(net, 4242, &address), -ENODEV);
}

static void routes_come_and_go_any_number_of_times(void **state)
{
	static const struct {
		const char *prefix, *inside;
		uint32_t table, metric;
	} cases[] = {
		{ "10.81.0.0/16", "10.81.2.3:1", 0, 0 },
		{ "10.82.3.77/16", "10.82.255.3:1", 0, 0 }, /* host bits are not the route's business */
		{ "10.83.0.1/32", "10.83.0.1:1", 0, 50 },
		{ "0.0.0.0/0", "198.51.100.1:1", 0, 0 },
		{ "fd81::/32", "[fd81:0:1::2]:1", 0, 0 },
		{ "fd82::1/128", "[fd82::1]:1", 0, 50 },
		{ "::/0", "[2001:db8::1]:1", 0, 0 },
		{ "10.84.0.0/16", NULL, 51820, 0 },
		{ "fd84::/16", NULL, 51820, 0 },
		{ "0.0.0.0/0", NULL, 200, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct net_route route = { prefix_of(cases[i].prefix), device[0].index, cases[i].table,
			cases[i].metric };
		struct net_route other = route;
		struct endpoint inside = { 0 };
		uint32_t interface = 0, mtu = 0;

		other.interface = device[1].index;
		for (int n = 0; n < 2; n++)
			assert_int_equal(net_route_add(net, &route), 0);
		/* That somebody else has the destination is another thing than that we have it. */
		assert_int_equal(net_route_add(net, &other), -EEXIST);
		if (cases[i].inside) {
			inside = endpoint_of(cases[i].inside);
			assert_int_equal(net_route_lookup(net, &inside.address, 0, &interface, &mtu), 0);
			assert_int_equal(interface, device[0].index);
			assert_int_equal(mtu, 1300);
		}
		assert_int_equal(net_route_remove(net, &other), 0);
		assert_int_equal(net_route_add(net, &other), -EEXIST); /* and it took nothing of ours away */
		for (int n = 0; n < 2; n++)
			assert_int_equal(net_route_remove(net, &route), 0);
		if (cases[i].inside)
			assert_int_equal(
				net_route_lookup(net, &inside.address, 0, &interface, &mtu), -ENETUNREACH);
	}
}

static void a_route_takes_the_place_of_one_of_ours(void **state)
{
	static const char *const prefixes[] = { "10.87.0.0/16", "0.0.0.0/0", "fd87::/32", "::/0" };

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		struct net_route old = { prefix_of(prefixes[i / 2]), device[0].index, i % 2 ? 51820 : 0, 0 },
				 next = old;

		next.interface = device[1].index;
		assert_int_equal(net_route_add(net, &old), 0);
		assert_int_equal(net_route_take_from(net, &next, 4242), -EEXIST); /* not his */
		for (int n = 0; n < 2; n++)
			assert_int_equal(net_route_take_from(net, &next, old.interface), 0);
		assert_int_equal(net_route_remove(net, &old), 0);
		assert_int_equal(net_route_add(net, &old), -EEXIST); /* it is the other's */
		assert_int_equal(net_route_remove(net, &next), 0);
		assert_int_equal(
			net_route_take_from(net, &old, next.interface), 0); /* there is none: it is added */
		assert_int_equal(net_route_remove(net, &old), 0);
	}
}

static void an_address_alone_brings_no_route(void **state)
{
	static const char *const prefixes[] = { "10.88.0.1/24", "fd88::1/64" };
	static const char *const inside[] = { "10.88.0.2:1", "[fd88::2]:1" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct ip_prefix address = prefix_of(prefixes[i]);
		struct endpoint other = endpoint_of(inside[i]);
		uint32_t interface, mtu;

		for (int n = 0; n < 2; n++)
			assert_int_equal(net_address_add_alone(net, device[0].index, &address), 0);
		assert_int_equal(net_route_lookup(net, &other.address, 0, &interface, &mtu), -ENETUNREACH);
		assert_int_equal(net_address_remove(net, device[0].index, &address), 0);
	}
}

static void deleting_a_link_takes_all_with_it(void **state)
{
	struct net_route route = { prefix_of("10.85.0.0/16"), device[1].index, 0, 0 };
	struct ip_prefix address = prefix_of("10.86.0.1/24");
	struct net_link link;

	(void)state;
	assert_int_equal(net_route_add(net, &route), 0);
	assert_int_equal(net_address_add(net, device[1].index, &address), 0);
	assert_int_equal(net_link_delete(net, device[1].index), 0);
	assert_int_equal(net_link_find(net, "cfgb", &link), -ENODEV);
	assert_int_equal(net_link_delete(net, device[1].index), -ENODEV);
	assert_int_equal(net_link_delete(net, 0), -ENODEV);
	/* Undoing what was there is done. */
	assert_int_equal(net_route_remove(net, &route), 0);
	assert_int_equal(net_address_remove(net, device[1].index, &address), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links_are_found_and_set),
		cmocka_unit_test(a_link_gets_another_name),
		cmocka_unit_test(addresses_come_and_go_any_number_of_times),
		cmocka_unit_test(routes_come_and_go_any_number_of_times),
		cmocka_unit_test(a_route_takes_the_place_of_one_of_ours),
		cmocka_unit_test(an_address_alone_brings_no_route),
		cmocka_unit_test(deleting_a_link_takes_all_with_it),
	};

	close(namespace_new());
	fds[0] = namespace_tun("cfga", NULL, NULL);
	fds[1] = namespace_tun("cfgb", NULL, NULL);
	assert_int_equal(net_config_open(&net), 0);
	assert_int_equal(net_link_find(net, "cfga", &device[0]), 0);
	assert_int_equal(net_link_find(net, "cfgb", &device[1]), 0);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	net_config_close(net);
	close(fds[0]);
	close(fds[1]);
	return failed;
}
