/* SPDX-License-Identifier: MIT */
/* What is told as lost, and what an interface still has. */
#include "core/port/net_guard.h"
#include "core/port/net_rule.h"

#include "tests/contract/cmocka_all.h"
#include "tests/contract/linux/namespace.h"

#include <errno.h>
#include <unistd.h>

#define MARK 0x4711u

static struct net_config *net;
static struct net_guard *guard;
static struct net_link device[2];
static int fds[2];

struct seen {
	bool interface, table, mark;
	bool rule; /* something may be asked first now */
};

static void lost(const struct net_loss *loss, void *user)
{
	struct seen *seen = user;

	assert_false(loss->unknown);
	seen->interface |= loss->interface == device[0].index;
	seen->table |= loss->table == MARK && !loss->rule;
	seen->rule |= loss->rule;
	seen->mark |= loss->mark == MARK;
}

static struct seen take(void)
{
	struct seen seen = { 0 };

	while (readable(net_guard_handle(guard), 20))
		net_guard_take(guard, lost, &seen);
	return seen;
}

static void each_loss_is_told_and_no_gain(void **state)
{
	struct ip_prefix address[2] = { prefix_of("10.87.0.1/24"), prefix_of("fd87::1/64") };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct net_route route = { prefix_of(i ? "::/0" : "0.0.0.0/0"), device[0].index, MARK, 0 },
				 other = route;
		enum ip_family family = i ? IP_V6 : IP_V4;
		struct seen seen;

		other.interface = device[1].index;
		take();
		assert_int_equal(net_address_add(net, device[0].index, &address[i]), 0);
		assert_int_equal(net_route_add(net, &route), 0);
		assert_false(net_tunnel_rules_are_there(family, MARK));
		assert_int_equal(net_full_tunnel_add(family, MARK), 0);
		assert_true(net_tunnel_rules_are_there(family, MARK));
		seen = take();
		assert_false(seen.interface || seen.table || seen.mark);
		assert_true(seen.rule);

		assert_int_equal(net_route_take_over(net, &other), 0); /* the place of ours */
		assert_true(take().table);
		assert_int_equal(net_route_add(net, &route), -EEXIST);
		assert_int_equal(net_route_take_over(net, &route), 0);
		assert_true(take().table);
		assert_int_equal(net_route_remove(net, &route), 0);
		assert_true(take().table);
		assert_int_equal(net_full_tunnel_remove(family, MARK), 0);
		assert_true(take().mark);
		assert_false(net_tunnel_rules_are_there(family, MARK));
		assert_int_equal(net_address_remove(net, device[0].index, &address[i]), 0);
		assert_true(take().interface);
		net_route_remove(net, &other);
	}
	assert_int_equal(net_link_set(net, device[0].index, 0, false), 0);
	assert_true(take().interface);
	assert_int_equal(net_link_set(net, device[0].index, 0, true), 0);
	take();
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(net_link_rename(net, device[0].index, i ? "guarda" : "bureau"), 0);
		assert_true(take().interface);
	}
	assert_int_equal(net_link_set(net, device[0].index, 0, true), 0);
}

struct found {
	unsigned addresses, routes;
	struct ip_prefix last_address;
	struct net_route last_route;
};

static void take_address(const struct ip_prefix *address, void *user)
{
	struct found *found = user;

	if (address->address.family == IP_V6 && address->address.bytes[0] == 0xfe)
		return; /* the kernel's own */
	found->addresses++;
	found->last_address = *address;
}

static void take_route(const struct net_route *route, void *user)
{
	struct found *found = user;

	found->routes++;
	found->last_route = *route;
}

static void what_is_there_is_listed(void **state)
{
	struct ip_prefix v4 = prefix_of("10.87.0.1/24"), v6 = prefix_of("fd87::1/64");
	struct net_route route = { prefix_of("fd99::/48"), device[0].index, MARK, 0 };
	struct found found = { 0 };

	(void)state;
	assert_int_equal(net_address_add(net, device[0].index, &v4), 0);
	assert_int_equal(net_addresses_each(net, device[0].index, take_address, &found), 0);
	assert_int_equal(found.addresses, 1);
	assert_true(
		found.last_address.bits == 24 && ip_address_equal(&found.last_address.address, &v4.address));
	assert_int_equal(net_address_add(net, device[0].index, &v6), 0);
	assert_int_equal(net_addresses_each(net, device[0].index, take_address, &found), 0);
	assert_int_equal(found.addresses, 3);
	assert_int_equal(net_routes_each(net, device[0].index, take_route, &found), 0);
	assert_int_equal(found.routes, 1); /* the kernel's for 10.87.0.0/24, in whose place no other can be */
	assert_int_equal(found.last_route.table, 0);
	assert_int_equal(net_route_add(net, &route), 0);
	found = (struct found){ 0 };
	assert_int_equal(net_routes_each(net, device[0].index, take_route, &found), 0);
	assert_int_equal(found.routes, 2);
	assert_int_equal(found.last_route.table, MARK);
	assert_true(ip_address_equal(&found.last_route.destination.address, &route.destination.address));
	found = (struct found){ 0 };
	assert_int_equal(net_routes_each(net, device[1].index, take_route, &found), 0);
	assert_int_equal(net_addresses_each(net, device[1].index, take_address, &found), 0);
	assert_int_equal(found.routes + found.addresses, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_loss_is_told_and_no_gain),
		cmocka_unit_test(what_is_there_is_listed),
	};

	close(namespace_new());
	fds[0] = namespace_tun("guarda", NULL, NULL);
	fds[1] = namespace_tun("guardb", NULL, NULL);
	assert_int_equal(net_config_open(&net), 0);
	assert_int_equal(net_link_find(net, "guarda", &device[0]), 0);
	assert_int_equal(net_link_find(net, "guardb", &device[1]), 0);
	assert_int_equal(net_guard_open(&guard), 0);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	net_guard_close(guard);
	net_config_close(net);
	close(fds[0]);
	close(fds[1]);
	return failed;
}
