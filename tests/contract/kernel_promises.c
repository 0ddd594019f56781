/* SPDX-License-Identifier: MIT */
/* What core/port/kernel_tunnel.h promises. Source: docs/wire.md section 3, linux/wireguard.h. */
#include "tests/contract/kernel_promises.h"

#include "core/carrier/kernel_switch.h"
#include "core/uapi/uapi.h"
#include "platform/linux/kernel_message.h"

#include "tests/contract/cmocka_all.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/wireguard.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PEERS 50
#define ALLOWED_IPS 200 /* of each */

static struct kernel_rig *rig;

/* A key of its own for each number; clamped, as the kernel keeps private keys. */
static void key_of(unsigned number, uint8_t out[UAPI_KEY_LEN])
{
	for (unsigned i = 0; i < UAPI_KEY_LEN; i++)
		out[i] = (uint8_t)(number * 37 + i * 11 + (number >> 8));
	out[0] = (uint8_t)(out[0] & 248);
	out[1] = (uint8_t)(number >> 8);
	out[2] = (uint8_t)number;
	out[31] = (uint8_t)((out[31] & 127) | 64);
}

static struct ip_prefix prefix_of(const char *text)
{
	struct ip_prefix prefix;

	assert_true(ip_prefix_parse(text, strlen(text), &prefix));
	return prefix;
}

static struct endpoint endpoint_of(const char *text)
{
	struct endpoint endpoint;

	assert_true(endpoint_parse(text, strlen(text), &endpoint));
	return endpoint;
}

static struct uapi_peer *add_peer(struct uapi_device *device, unsigned number)
{
	struct uapi_peer *peer = uapi_device_add_peer(device);

	assert_non_null(peer);
	key_of(number, peer->public_key);
	return peer;
}

static void allow(struct uapi_peer *peer, const char *text)
{
	struct ip_prefix prefix = prefix_of(text);

	assert_true(uapi_peer_add_allowed_ip(peer, &prefix, false));
}

static int set(struct uapi_device *device)
{
	int err = kernel_tunnel_set(rig->kernel, "wgp0", device);

	uapi_device_free(device);
	return err;
}

static struct uapi_device get(void)
{
	struct uapi_device device = { 0 };

	assert_int_equal(kernel_tunnel_get(rig->kernel, "wgp0", &device), 0);
	return device;
}

static const struct uapi_peer *find(const struct uapi_device *device, unsigned number)
{
	uint8_t key[UAPI_KEY_LEN];

	key_of(number, key);
	for (size_t i = 0; i < device->peer_count; i++)
		if (memcmp(device->peers[i].public_key, key, sizeof(key)) == 0)
			return &device->peers[i];
	return NULL;
}

/* Whether the peer has exactly this one. */
static bool allows(const struct uapi_peer *peer, const char *text)
{
	struct ip_prefix prefix = prefix_of(text);

	return peer && peer->allowed_ip_count == 1 && peer->allowed_ips[0].prefix.bits == prefix.bits &&
		ip_address_equal(&peer->allowed_ips[0].prefix.address, &prefix.address);
}

static int link_set(bool up)
{
	struct net_link link;

	assert_int_equal(netlink_link(&rig->route, "wgp0", 0, &link), 0);
	return netlink_link_set(&rig->route, link.index, 0, up);
}

static int fresh(void **state)
{
	(void)state;
	(void)kernel_tunnel_delete(rig->kernel, "wgp0");
	return kernel_tunnel_create(rig->kernel, "wgp0");
}

static int clear(void **state)
{
	(void)state;
	(void)kernel_tunnel_delete(rig->kernel, "wgp0");
	return 0;
}

static void interfaces_are_made_and_deleted(void **state)
{
	struct uapi_device device = { 0 };
	struct net_link link;

	(void)state;
	assert_int_equal(kernel_tunnel_create(rig->kernel, "wgp0"), -EEXIST);
	assert_int_equal(netlink_link(&rig->route, "wgp0", 0, &link), 0);
	assert_true(link.wireguard);
	assert_false(link.tun);
	assert_false(link.up);
	device = get();
	assert_int_equal(device.peer_count, 0);
	assert_false(device.has_private_key);
	assert_true(device.has_listen_port && device.has_fwmark);
	assert_int_equal(device.has_transport, rig->support == KERNEL_WGTCP);
	uapi_device_free(&device);
	assert_int_equal(kernel_tunnel_delete(rig->kernel, "wgp0"), 0);
	assert_int_equal(kernel_tunnel_delete(rig->kernel, "wgp0"), -ENODEV);
	assert_int_equal(kernel_tunnel_get(rig->kernel, "wgp0", &device), -ENODEV);
	assert_int_equal(kernel_tunnel_set(rig->kernel, "wgp0", &device), -ENODEV);
}

/* An interface of another kind is none of ours, and stays. */
static void other_interfaces_are_left_alone(void **state)
{
	struct uapi_device device = { .has_fwmark = true, .fwmark = 1 };
	struct net_link link;

	(void)state;
	assert_int_equal(kernel_tunnel_create(rig->kernel, "lo"), -EEXIST);
	assert_int_equal(kernel_tunnel_get(rig->kernel, "lo", &device), -ENODEV);
	assert_int_equal(kernel_tunnel_set(rig->kernel, "lo", &device), -ENODEV);
	assert_int_equal(kernel_tunnel_delete(rig->kernel, "lo"), -ENODEV);
	assert_int_equal(netlink_link(&rig->route, "lo", 0, &link), 0);
	assert_int_equal(kernel_tunnel_create(rig->kernel, "a-name-longer-than-any"), -EINVAL);
	assert_int_equal(kernel_tunnel_create(rig->kernel, "wgp%d"), -EINVAL);
	assert_int_equal(kernel_tunnel_delete(rig->kernel, "a-name-longer-than-any"), -ENODEV);
	assert_int_equal(kernel_tunnel_get(rig->kernel, "", &device), -ENODEV);
}

static void everything_comes_back(void **state)
{
	struct uapi_device device = { .has_private_key = true, .has_listen_port = true, .has_fwmark = true,
		.listen_port = 51900, .fwmark = 0x12345678 };
	struct uapi_peer *peer;

	(void)state;
	key_of(1, device.private_key);
	peer = add_peer(&device, 10);
	peer->has_preshared_key = peer->has_endpoint = peer->has_keepalive = true;
	key_of(2, peer->preshared_key);
	peer->endpoint = endpoint_of("192.0.2.7:51820");
	peer->keepalive_s = 25;
	allow(peer, "0.0.0.0/0");
	allow(peer, "::/0");
	peer = add_peer(&device, 11);
	peer->has_endpoint = true;
	peer->endpoint = endpoint_of("[2001:db8::7]:65535");
	allow(peer, "10.1.2.3/16"); /* the kernel clears host bits */
	peer = add_peer(&device, 12);
	peer->has_endpoint = true;
	peer->endpoint = endpoint_of("[fe80::7%1]:1");
	allow(peer, "fd00::1/128");
	(void)add_peer(&device, 13);
	assert_int_equal(set(&device), 0);

	device = get();
	uint8_t key[UAPI_KEY_LEN];
	key_of(1, key);
	assert_true(device.has_private_key);
	assert_memory_equal(device.private_key, key, sizeof(key));
	assert_int_equal(device.listen_port, 51900);
	assert_int_equal(device.fwmark, 0x12345678);
	assert_int_equal(device.peer_count, 4);
	const struct uapi_peer *got = find(&device, 10);
	assert_non_null(got);
	key_of(2, key);
	assert_true(got->has_preshared_key);
	assert_memory_equal(got->preshared_key, key, sizeof(key));
	struct endpoint endpoint = endpoint_of("192.0.2.7:51820");
	assert_true(got->has_endpoint && endpoint_equal(&got->endpoint, &endpoint));
	assert_int_equal(got->keepalive_s, 25);
	assert_int_equal(got->allowed_ip_count, 2);
	assert_int_equal(got->last_handshake_s, 0);
	assert_int_equal(got->carrier, CARRIER_NONE);
	assert_int_equal(got->rx_bytes, 0);
	got = find(&device, 11);
	endpoint = endpoint_of("[2001:db8::7]:65535");
	assert_true(got && endpoint_equal(&got->endpoint, &endpoint));
	assert_true(allows(got, "10.1.0.0/16"));
	assert_false(got->has_preshared_key);
	got = find(&device, 12);
	endpoint = endpoint_of("[fe80::7%1]:1");
	assert_true(got && endpoint_equal(&got->endpoint, &endpoint));
	assert_int_equal(got->endpoint.scope_id, 1);
	assert_true(allows(got, "fd00::1/128"));
	got = find(&device, 13);
	assert_true(got && !got->has_endpoint && got->allowed_ip_count == 0 && got->keepalive_s == 0);
	uapi_device_free(&device);

	/* What is not named stays; zeroes take a key away. */
	device = (struct uapi_device){ .has_private_key = true };
	peer = add_peer(&device, 10);
	peer->has_preshared_key = peer->has_keepalive = true;
	assert_int_equal(set(&device), 0);
	device = get();
	assert_false(device.has_private_key);
	assert_int_equal(device.fwmark, 0x12345678);
	assert_int_equal(device.peer_count, 4);
	got = find(&device, 10);
	assert_true(got && !got->has_preshared_key && got->has_endpoint && got->allowed_ip_count == 2);
	assert_int_equal(got->keepalive_s, 0);
	uapi_device_free(&device);
}

static void peers_are_changed_one_by_one(void **state)
{
	struct uapi_device device = { 0 };
	struct uapi_peer *peer;

	(void)state;
	allow(add_peer(&device, 20), "10.20.0.0/16");
	allow(add_peer(&device, 21), "10.21.0.0/16");
	allow(add_peer(&device, 22), "10.22.0.0/16");
	assert_int_equal(set(&device), 0);

	device = (struct uapi_device){ 0 };
	peer = add_peer(&device, 20); /* goes */
	peer->remove = true;
	peer = add_peer(&device, 21); /* gets another one instead */
	peer->replace_allowed_ips = true;
	allow(peer, "10.99.0.0/16");
	peer = add_peer(&device, 23); /* is not there, and must not come */
	peer->update_only = true;
	allow(peer, "10.23.0.0/16");
	peer = add_peer(&device, 24); /* taking away what is not there is done */
	peer->remove = true;
	peer = add_peer(&device, 25); /* comes, and takes 22's */
	allow(peer, "10.22.0.0/16");
	assert_int_equal(set(&device), 0);

	device = get();
	assert_int_equal(device.peer_count, 3);
	assert_true(allows(find(&device, 21), "10.99.0.0/16"));
	assert_int_equal(find(&device, 22)->allowed_ip_count, 0);
	assert_true(allows(find(&device, 25), "10.22.0.0/16"));
	uapi_device_free(&device);

	/* Away and back in one go: the peer is a new one. */
	device = (struct uapi_device){ 0 };
	peer = add_peer(&device, 25);
	peer->remove = true;
	allow(add_peer(&device, 25), "10.26.0.0/16");
	assert_int_equal(set(&device), 0);
	device = get();
	assert_true(allows(find(&device, 25), "10.26.0.0/16"));
	uapi_device_free(&device);

	device = (struct uapi_device){ .replace_peers = true };
	allow(add_peer(&device, 26), "10.26.0.0/16");
	assert_int_equal(set(&device), 0);
	device = get();
	assert_int_equal(device.peer_count, 1);
	assert_true(allows(find(&device, 26), "10.26.0.0/16"));
	uapi_device_free(&device);
}

static int order(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct uapi_allowed_ip));
}

static void sort(struct uapi_allowed_ip *allowed_ips, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct uapi_allowed_ip clean;

		memset(&clean, 0, sizeof(clean)); /* padding is compared too */
		clean.prefix.address.family = allowed_ips[i].prefix.address.family;
		memcpy(clean.prefix.address.bytes, allowed_ips[i].prefix.address.bytes, 16);
		clean.prefix.bits = allowed_ips[i].prefix.bits;
		memcpy(&allowed_ips[i], &clean, sizeof(clean));
	}
	qsort(allowed_ips, count, sizeof(*allowed_ips), order);
}

static void fill(struct uapi_peer *peer, unsigned number)
{
	for (unsigned i = 0; i < ALLOWED_IPS; i++) {
		char text[PREFIX_TEXT_LEN];

		if (i % 2)
			(void)snprintf(text, sizeof(text), "fd%02x:%x:%x::/%u", number, i, i * 7, 48 + i % 81);
		else
			(void)snprintf(text, sizeof(text), "10.%u.%u.0/%u", number, i, 24 + i % 9);
		allow(peer, text);
		peer->allowed_ips[i].prefix = ip_prefix_network(&peer->allowed_ips[i].prefix);
	}
}

/* Twice, so that the second set meets peers that are there: a flag that stood in a later message again would show. */
static void ten_thousand_allowed_ips_come_back(void **state)
{
	(void)state;
	for (int round = 0; round < 2; round++) {
		struct uapi_device wanted = { .replace_peers = round == 1 };

		for (unsigned n = 0; n < PEERS; n++) {
			struct uapi_peer *peer = add_peer(&wanted, n);

			peer->replace_allowed_ips = peer->has_keepalive = true;
			peer->keepalive_s = (uint16_t)(n + 1);
			fill(peer, n);
		}
		assert_int_equal(kernel_tunnel_set(rig->kernel, "wgp0", &wanted), 0);
		struct uapi_device device = get();
		assert_int_equal(device.peer_count, PEERS);
		for (unsigned n = 0; n < PEERS; n++) {
			const struct uapi_peer *got = find(&device, n);
			struct uapi_peer *peer = &wanted.peers[n];

			assert_non_null(got);
			assert_int_equal(got->keepalive_s, n + 1);
			assert_int_equal(got->allowed_ip_count, ALLOWED_IPS);
			sort(got->allowed_ips, ALLOWED_IPS);
			sort(peer->allowed_ips, ALLOWED_IPS);
			assert_memory_equal(
				got->allowed_ips, peer->allowed_ips, ALLOWED_IPS * sizeof(*peer->allowed_ips));
		}
		uapi_device_free(&device);
		uapi_device_free(&wanted);
	}
}

/* A peer that is larger than a message, and may only be changed if it is there: none of its parts may make it. */
static void a_large_peer_that_is_not_there_does_not_come(void **state)
{
	struct uapi_device device = { 0 };
	struct uapi_peer *peer = add_peer(&device, 30);

	(void)state;
	peer->update_only = true;
	for (unsigned i = 0; i < 2000; i++) {
		char text[PREFIX_TEXT_LEN];

		(void)snprintf(text, sizeof(text), "10.%u.%u.0/24", i / 250, i % 250);
		allow(peer, text);
	}
	assert_int_equal(set(&device), 0);
	device = get();
	assert_int_equal(device.peer_count, 0);
	uapi_device_free(&device);
}

static void what_no_kernel_can_do_is_not_sent(void **state)
{
	struct uapi_device device = { .has_fwmark = true, .fwmark = 7, .has_transport = true };
	struct ip_prefix prefix = prefix_of("10.0.0.0/8");

	(void)state;
	assert_int_equal(kernel_tunnel_set(rig->kernel, "wgp0", &device), -EINVAL);
	device.has_transport = false;
	assert_true(uapi_peer_add_allowed_ip(add_peer(&device, 40), &prefix, true));
	assert_int_equal(kernel_tunnel_set(rig->kernel, "wgp0", &device), -EOPNOTSUPP);
	device.peers[0].allowed_ips[0] = (struct uapi_allowed_ip){ 0 };
	assert_int_equal(set(&device), -EINVAL);
	device = get();
	assert_int_equal(device.fwmark, 0);
	assert_int_equal(device.peer_count, 0);
	uapi_device_free(&device);
}

static void the_probe_is_right_and_leaves_nothing(void **state)
{
	struct kernel_probe probe;
	struct net_link link;

	(void)state;
	for (int left_over = 0; left_over < 2; left_over++) {
		if (left_over)
			assert_int_equal(kernel_tunnel_create(rig->kernel, "wgtcp-probe"), 0);
		memset(&probe, 0xff, sizeof(probe));
		assert_int_equal(kernel_tunnel_probe(rig->kernel, &probe), 0);
		assert_int_equal(probe.support, rig->support);
		assert_int_equal(probe.lack, KERNEL_LACKS_NOTHING);
		assert_true(strlen(probe.why) > 0);
		assert_int_equal(netlink_link(&rig->route, "wgtcp-probe", 0, &link), -ENODEV);
	}
}

/* UDP is what a stock kernel does; TCP it can not, and the rest of that request must not be done either. */
static void stock_kernels_refuse_tcp(void **state)
{
	struct uapi_device device = { .has_transport = true, .transport = TRANSPORT_UDP, .has_fwmark = true, .fwmark = 5 };

	(void)state;
	assert_int_equal(set(&device), 0);
	device = (struct uapi_device){ .has_transport = true, .transport = TRANSPORT_TCP, .has_fwmark = true, .fwmark = 6 };
	allow(add_peer(&device, 50), "10.0.0.0/8");
	assert_int_equal(set(&device), -EOPNOTSUPP);
	device = get();
	assert_int_equal(device.fwmark, 5);
	assert_int_equal(device.peer_count, 0);
	assert_false(device.has_transport);
	uapi_device_free(&device);
}

static int take_family(const struct nlattr *attr, void *data)
{
	if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
		*(uint16_t *)data = mnl_attr_get_u16(attr);
	return MNL_CB_OK;
}

static int take_control(const struct nlmsghdr *header, void *data)
{
	return mnl_attr_parse(header, sizeof(struct genlmsghdr), take_family, data);
}

/* A SET as the port never sends it: the transport, whatever the kernel is, and a mark that shows whether it was applied. */
static int set_raw(const void *transport, size_t len, uint32_t fwmark)
{
	char buffer[KERNEL_MESSAGE_BYTES];
	struct nlmsghdr *request = netlink_request(buffer, GENL_ID_CTRL, 0);
	struct genlmsghdr *generic = mnl_nlmsg_put_extra_header(request, sizeof(*generic));
	uint16_t family = 0;

	generic->cmd = CTRL_CMD_GETFAMILY;
	mnl_attr_put_strz(request, CTRL_ATTR_FAMILY_NAME, WG_GENL_NAME);
	assert_int_equal(netlink_talk(&rig->generic, request, take_control, &family), 0);
	request = kernel_message_begin(buffer, family, WG_CMD_SET_DEVICE, 0, "wgp0");
	mnl_attr_put_u32(request, WGDEVICE_A_FWMARK, fwmark);
	mnl_attr_put(request, KERNEL_DEVICE_TRANSPORT, len, transport);
	return netlink_talk(&rig->generic, request, NULL, NULL);
}

static uint32_t fwmark(void)
{
	struct uapi_device device = get();
	uint32_t mark = device.fwmark;

	uapi_device_free(&device);
	return mark;
}

/* Why the port reads before it sets: an answer to a SET means another thing on each kernel. */
static void an_answer_to_a_set_tells_nothing(void **state)
{
	static const uint8_t values[] = { 0, 1, 2 };
	int udp = rig->support == KERNEL_WGTCP || rig->ignores_unknown ? 0 : -EINVAL;
	int more = rig->ignores_unknown ? 0 : -EINVAL;

	(void)state;
	assert_int_equal(set_raw(&values[0], 1, 1), udp);
	assert_int_equal(fwmark(), udp ? 0 : 1);
	assert_int_equal(set_raw(&values[1], 1, 2), udp);
	assert_int_equal(fwmark(), udp ? 0 : 2);
	assert_int_equal(set_raw(&values[2], 1, 3), more);
	assert_int_equal(fwmark(), more ? (udp ? 0 : 2) : 3);
	assert_int_equal(set_raw(values, 2, 4), more); /* a wrong length */
	assert_int_equal(fwmark(), more ? (udp ? 0 : 2) : 4);
}

static enum transport transport(void)
{
	struct uapi_device device = get();
	enum transport found = device.transport;

	assert_true(device.has_transport);
	uapi_device_free(&device);
	return found;
}

static int set_transport(enum transport wanted, bool replace)
{
	struct uapi_device device = { .has_transport = true, .transport = wanted, .replace_peers = replace };

	return set(&device);
}

static void set_up(unsigned peers)
{
	struct uapi_device device = { .has_private_key = true, .has_listen_port = true, .listen_port = 51901 };

	key_of(60, device.private_key);
	for (unsigned i = 0; i < peers; i++) {
		char text[PREFIX_TEXT_LEN];

		(void)snprintf(text, sizeof(text), "10.60.%u.0/24", i);
		allow(add_peer(&device, 61 + i), text);
	}
	assert_int_equal(set(&device), 0);
}

static void wgtcp_says_busy(void **state)
{
	struct uapi_device device = { 0 };

	(void)state;
	assert_int_equal(transport(), TRANSPORT_UDP);
	set_up(2);
	/* Down, with peers. */
	assert_int_equal(set_transport(TRANSPORT_TCP, false), -EBUSY);
	assert_int_equal(transport(), TRANSPORT_UDP);
	assert_int_equal(set_transport(TRANSPORT_UDP, false), 0); /* no change */
	/* Up. The peers of that message must not come or go either. */
	assert_int_equal(link_set(true), 0);
	device = (struct uapi_device){ .has_transport = true, .transport = TRANSPORT_TCP, .replace_peers = true };
	allow(add_peer(&device, 70), "10.70.0.0/16");
	assert_int_equal(set(&device), -EBUSY);
	assert_int_equal(transport(), TRANSPORT_UDP);
	device = get();
	assert_int_equal(device.peer_count, 2);
	assert_null(find(&device, 70));
	uapi_device_free(&device);
	assert_int_equal(set_transport(TRANSPORT_UDP, false), 0);
	/* Down, and the peers go. */
	assert_int_equal(link_set(false), 0);
	assert_int_equal(set_transport(TRANSPORT_TCP, true), 0);
	assert_int_equal(transport(), TRANSPORT_TCP);
	set_up(2); /* without the word: it stays */
	assert_int_equal(transport(), TRANSPORT_TCP);
	assert_int_equal(link_set(true), 0);
	device = (struct uapi_device){ .has_listen_port = true, .listen_port = 51902 };
	assert_int_equal(set(&device), -EBUSY);
	assert_int_equal(set_transport(TRANSPORT_TCP, false), 0);
	assert_int_equal(link_set(false), 0);
}

static uint64_t now_ns(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_BOOTTIME, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* One step of a switch as a backend does it. */
static int take_step(const struct kernel_switch *machine)
{
	struct timespec nap = { .tv_nsec = 10000000 };

	switch (machine->step) {
	case KERNEL_SWITCH_LINK_DOWN:
		return link_set(false);
	case KERNEL_SWITCH_SET_TRANSPORT:
		return set_transport(machine->target, true);
	case KERNEL_SWITCH_LINK_UP:
		return link_set(true);
	case KERNEL_SWITCH_REST:
		(void)nanosleep(&nap, NULL);
		return 0;
	case KERNEL_SWITCH_SET_PEERS:
		set_up(3);
		return 0;
	case KERNEL_SWITCH_NETWORK:
	case KERNEL_SWITCH_DONE:
	case KERNEL_SWITCH_UNDONE:
	case KERNEL_SWITCH_BROKEN:
		break;
	}
	return 0;
}

static void wgtcp_is_switched_there_and_back(void **state)
{
	(void)state;
	set_up(3);
	assert_int_equal(link_set(true), 0);
	for (int n = 0; n < 4; n++) {
		enum transport from = n % 2 ? TRANSPORT_TCP : TRANSPORT_UDP;
		enum transport to = n % 2 ? TRANSPORT_UDP : TRANSPORT_TCP;
		struct kernel_switch machine;
		struct net_link link;

		kernel_switch_begin(&machine, from, to);
		while (machine.step < KERNEL_SWITCH_DONE)
			(void)kernel_switch_next(&machine, take_step(&machine), (struct mono){ now_ns() });
		assert_int_equal(machine.step, KERNEL_SWITCH_DONE);
		assert_int_equal(transport(), to);
		assert_int_equal(netlink_link(&rig->route, "wgp0", 0, &link), 0);
		assert_true(link.up);
		struct uapi_device device = get();
		assert_int_equal(device.peer_count, 3);
		assert_int_equal(device.listen_port, 51901);
		assert_true(device.has_private_key);
		uapi_device_free(&device);
	}
}

#define PROMISE(function) cmocka_unit_test_setup_teardown(function, fresh, clear)

int kernel_promises_run(const char *name, struct kernel_rig *kernel)
{
	const struct CMUnitTest always[] = {
		PROMISE(interfaces_are_made_and_deleted),
		PROMISE(other_interfaces_are_left_alone),
		PROMISE(everything_comes_back),
		PROMISE(peers_are_changed_one_by_one),
		PROMISE(ten_thousand_allowed_ips_come_back),
		PROMISE(a_large_peer_that_is_not_there_does_not_come),
		PROMISE(what_no_kernel_can_do_is_not_sent),
		PROMISE(the_probe_is_right_and_leaves_nothing),
		PROMISE(an_answer_to_a_set_tells_nothing),
	};
	const struct CMUnitTest stock[] = { PROMISE(stock_kernels_refuse_tcp) };
	const struct CMUnitTest wgtcp[] = { PROMISE(wgtcp_says_busy), PROMISE(wgtcp_is_switched_there_and_back) };
	int failed;

	rig = kernel;
	failed = cmocka_run_group_tests_name(name, always, NULL, NULL);
	if (rig->support == KERNEL_WGTCP)
		failed += cmocka_run_group_tests_name(name, wgtcp, NULL, NULL);
	else
		failed += cmocka_run_group_tests_name(name, stock, NULL, NULL);
	return failed;
}
