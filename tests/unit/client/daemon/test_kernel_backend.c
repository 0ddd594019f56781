/* SPDX-License-Identifier: MIT */
/* The daemon's kernel backends on doubles of the kernels that there are (tests/contract/linux): what they
 * set, in which order, and that nothing is sent which a kernel refuses. What real kernels do with it is
 * tested in tests/vm.
 *
 * The linker puts this file's kernel_tunnel_open, links, routes and children in place of the real ones. */
#include "client/daemon/backend.h"
#include "client/daemon/children.h"
#include "client/daemon/daemon.h"
#include "core/port/net_config.h"
#include "platform/linux/kernel_handles.h"
#include "platform/linux/netlink.h"
#include "tests/contract/linux/kernel_double.h"

#include "tests/contract/cmocka_all.h"

#include <errno.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>

int __wrap_kernel_tunnel_open(struct kernel_tunnel **out);
int __wrap_net_link_find(struct net_config *net, const char *name, struct net_link *out);
int __wrap_net_link_set(struct net_config *net, uint32_t index, uint32_t mtu, bool up);
int __wrap_net_route_lookup(struct net_config *net, const struct ip_address *address, uint32_t mark,
	uint32_t *interface, uint32_t *mtu);
uint32_t __wrap_children_start(struct children *children, enum child_kind kind, int seam, const char *tunnel,
	void (*exited)(int error, void *user), void *user);
void __wrap_children_forget(struct children *children, uint32_t id);

/* One test's world. */
static struct kernel_double kernel;
static struct kernel_tunnel *look; /* the test's own eyes */
static struct netlink links;
static unsigned deaf_downs; /* so many times somebody else sets the link up again at once */
static unsigned downs;

int __wrap_kernel_tunnel_open(struct kernel_tunnel **out)
{
	return kernel_tunnel_adopt(kernel.generic, kernel.route, out);
}

int __wrap_net_link_find(struct net_config *net, const char *name, struct net_link *out)
{
	(void)net;
	return netlink_link(&links, name, 0, out);
}

int __wrap_net_link_set(struct net_config *net, uint32_t index, uint32_t mtu, bool up)
{
	(void)net;
	downs += !up;
	if (!up && deaf_downs) {
		deaf_downs--;
		return 0;
	}
	return netlink_link_set(&links, index, mtu, up);
}

int __wrap_net_route_lookup(struct net_config *net, const struct ip_address *address, uint32_t mark,
	uint32_t *interface, uint32_t *mtu)
{
	(void)net;
	(void)address;
	(void)mark;
	*interface = 1;
	*mtu = 1500;
	return 0;
}

/* There is no relay here. */
uint32_t __wrap_children_start(struct children *children, enum child_kind kind, int seam, const char *tunnel,
	void (*exited)(int error, void *user), void *user)
{
	(void)children;
	(void)kind;
	(void)seam;
	(void)tunnel;
	(void)exited;
	(void)user;
	return 0;
}

void __wrap_children_forget(struct children *children, uint32_t id)
{
	(void)children;
	(void)id;
}

/* ---- the tunnel's side ---- */

struct heard {
	unsigned configured, replaced;
	int error;
	struct uapi_device answer;
};

static void peer_changed(void *user)
{
	(void)user;
}

static void resolve(const uint8_t public_key[32], void *user)
{
	(void)public_key;
	(void)user;
}

static void remember(const uint8_t public_key[32], uint32_t udp, void *user)
{
	(void)public_key;
	(void)udp;
	(void)user;
}

static void network(void *user)
{
	(void)user;
}

static int replace_network(void *user)
{
	struct heard *heard = user;

	heard->replaced++;
	return 0;
}

static void configured(int error, void *user)
{
	struct heard *heard = user;

	heard->configured++;
	heard->error = error;
}

static void answered(int error, const struct uapi_device *device, void *user)
{
	struct heard *heard = user;

	assert_int_equal(error, 0);
	heard->answer = (struct uapi_device){ .peer_count = device->peer_count };
	heard->answer.peers = calloc(device->peer_count, sizeof(*device->peers));
	memcpy(heard->answer.peers, device->peers, device->peer_count * sizeof(*device->peers));
}

static const struct backend_events events = { .peer_changed = peer_changed,
	.resolve = resolve,
	.remember = remember,
	.network = network,
	.replace_network = replace_network,
	.configured = configured,
	.answered = answered };

static gboolean over(gpointer user)
{
	*(bool *)user = true;
	return G_SOURCE_REMOVE;
}

static void wait_ms(guint ms)
{
	bool done = false;

	g_timeout_add(ms, over, &done);
	while (!done)
		g_main_context_iteration(NULL, TRUE);
}

struct bench {
	struct daemon daemon;
	struct heard heard;
	const struct backend *backend;
	struct backend_run *run;
};

static void begin(struct bench *bench, enum double_kind kind, const struct backend *backend)
{
	struct backend_settings settings = {
		.interface = "wg-test", .events = &events, .user = &bench->heard
	};

	*bench = (struct bench){ .backend = backend };
	deaf_downs = downs = 0;
	kernel_double_start(&kernel, kind);
	/* netlink_adopt takes what it is given; the tunnel's eyes and the links share an end. */
	netlink_adopt(&links, kernel.other_route);
	assert_int_equal(kernel_tunnel_adopt(kernel.other_generic, dup(kernel.other_route), &look), 0);
	assert_int_equal(backend->create(&bench->daemon, &settings, &bench->run), 0);
}

static void end(struct bench *bench)
{
	struct net_link link;

	bench->backend->destroy(bench->run);
	assert_int_equal(netlink_link(&links, "wg-test", 0, &link), -ENODEV);
	free(bench->heard.answer.peers);
	kernel_tunnel_close(look);
	netlink_close(&links);
	kernel_double_stop(&kernel);
}

static struct uapi_device seen(void)
{
	struct uapi_device device = { 0 };

	assert_int_equal(kernel_tunnel_get(look, "wg-test", &device), 0);
	return device;
}

/* One peer with an endpoint for both carriers and two allowed IPs. */
static void configure(struct bench *bench, enum transport transport)
{
	struct uapi_device device = { .replace_peers = true, .has_private_key = true, .has_transport = true };
	struct uapi_peer *peer = uapi_device_add_peer(&device);
	struct ip_prefix prefix = { .address = { IP_V4, { 10, 77, 0, 0 } }, .bits = 24 };

	memset(device.private_key, 0x41, sizeof(device.private_key));
	device.transport = transport;
	memset(peer->public_key, 7, sizeof(peer->public_key));
	peer->has_endpoint = peer->has_tcp_endpoints = peer->has_transport = true;
	peer->transport = transport;
	peer->endpoint = (struct endpoint){ .address = { IP_V4, { 192, 0, 2, 1 } }, .port = 51820 };
	peer->tcp_endpoint_count = 1;
	peer->tcp_endpoints[0] = (struct endpoint){ .address = { IP_V4, { 192, 0, 2, 1 } }, .port = 443 };
	peer->has_keepalive = true;
	peer->keepalive_s = 25;
	assert_true(uapi_peer_add_allowed_ip(peer, &prefix, false));
	prefix.address.bytes[1] = 78;
	assert_true(uapi_peer_add_allowed_ip(peer, &prefix, false));
	assert_int_equal(bench->backend->configure(bench->run, &device), 0);
	uapi_device_free(&device);
	wait_ms(20);
	assert_int_equal(bench->heard.configured, 1);
	assert_int_equal(bench->heard.error, 0);
}

static void set_transport(struct bench *bench, enum transport transport)
{
	struct uapi_device device = { 0 };
	struct uapi_peer *peer = uapi_device_add_peer(&device);

	memset(peer->public_key, 7, sizeof(peer->public_key));
	peer->update_only = peer->has_transport = true;
	peer->transport = transport;
	assert_int_equal(bench->backend->configure(bench->run, &device), 0);
	uapi_device_free(&device);
}

static void start(struct bench *bench)
{
	assert_int_equal(
		__wrap_net_link_set(NULL, bench->backend->interface_index(bench->run), 1420, true), 0);
	assert_int_equal(bench->backend->send(bench->run, &(struct seam_message){ .kind = SEAM_START }), 0);
}

/* ---- tests ---- */

/* Nothing that only some kernels understand, and not a word to the peer before the start. */
static void the_stock_way(void **state)
{
	static const enum double_kind kinds[] = { DOUBLE_STOCK, DOUBLE_OLD, DOUBLE_WGTCP };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct uapi_device device;
		struct bench bench;

		begin(&bench, kinds[i], &backend_kernel);
		configure(&bench, TRANSPORT_AUTO);
		device = seen();
		assert_int_equal(device.peer_count, 1);
		assert_false(device.peers[0].has_endpoint);
		assert_int_equal(device.peers[0].keepalive_s, 0);
		assert_int_equal(device.peers[0].allowed_ip_count, 2);
		assert_false(device.has_transport && device.transport == TRANSPORT_TCP);
		uapi_device_free(&device);
		start(&bench);
		/* Without a relay the kernel's own UDP is what there is. */
		device = seen();
		assert_int_equal(device.peers[0].endpoint.port, 51820);
		assert_int_equal(device.peers[0].keepalive_s, 25);
		assert_int_equal(device.peers[0].allowed_ip_count, 2);
		uapi_device_free(&device);
		bench.backend->query(bench.run);
		wait_ms(20);
		assert_int_equal(bench.heard.answer.peer_count, 1);
		assert_string_equal(bench.heard.answer.peers[0].state, "connecting");
		assert_int_equal(bench.backend->carries(bench.run), RPC_BACKEND_KERNEL);
		end(&bench);
	}
}

/* Its carrier stands before it has peers, the peers come when the routes have settled, first without what
 * would make the kernel speak before it is connected. */
static void a_native_interface(void **state)
{
	struct uapi_device device;
	struct bench bench;

	(void)state;
	begin(&bench, DOUBLE_WGTCP, &backend_kernel_wgtcp);
	configure(&bench, TRANSPORT_TCP);
	device = seen();
	assert_true(device.has_transport);
	assert_int_equal(device.transport, TRANSPORT_TCP);
	assert_int_equal(device.peer_count, 0);
	uapi_device_free(&device);
	start(&bench);
	wait_ms(100);
	device = seen();
	assert_int_equal(device.peer_count, 0);
	uapi_device_free(&device);
	wait_ms(150);
	device = seen();
	assert_int_equal(device.peer_count, 1);
	assert_int_equal(device.peers[0].endpoint.port, 443);
	assert_int_equal(device.peers[0].allowed_ip_count, 0);
	assert_int_equal(device.peers[0].keepalive_s, 0);
	uapi_device_free(&device);
	/* Not for ever, though nobody answers. */
	wait_ms(2200);
	device = seen();
	assert_int_equal(device.peers[0].allowed_ip_count, 2);
	assert_int_equal(device.peers[0].keepalive_s, 25);
	uapi_device_free(&device);
	end(&bench);
}

static void a_native_switch(void **state)
{
	static const unsigned busy[] = { 0, 2 }; /* others that set the link up between two steps */
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(busy) / sizeof(busy[0]); i++) {
		struct uapi_device device;
		struct net_link link;
		struct bench bench;

		begin(&bench, DOUBLE_WGTCP, &backend_kernel_wgtcp);
		configure(&bench, TRANSPORT_TCP);
		start(&bench);
		wait_ms(250);
		deaf_downs = busy[i];
		downs = 0;
		set_transport(&bench, TRANSPORT_UDP);
		wait_ms(300 + 100 * busy[i]);
		device = seen();
		assert_int_equal(device.transport, TRANSPORT_UDP);
		assert_int_equal(device.peer_count, 1);
		assert_int_equal(device.peers[0].endpoint.port, 51820);
		assert_int_equal(device.peers[0].allowed_ip_count, 2);
		uapi_device_free(&device);
		assert_int_equal(bench.heard.replaced, 1);
		assert_int_equal(downs, 1 + busy[i]);
		assert_int_equal(netlink_link(&links, "wg-test", 0, &link), 0);
		assert_true(link.up);
		end(&bench);
	}
}

/* A kernel without TCP is not asked for it. */
static void tcp_on_a_kernel_without(void **state)
{
	struct uapi_device device = {
		.replace_peers = true, .has_transport = true, .transport = TRANSPORT_TCP
	};
	struct bench bench;

	(void)state;
	begin(&bench, DOUBLE_STOCK, &backend_kernel_wgtcp);
	assert_int_equal(bench.backend->configure(bench.run, &device), 0);
	wait_ms(20);
	assert_int_equal(bench.heard.error, -EOPNOTSUPP);
	assert_int_equal(kernel.counts->sets, 0);
	end(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_stock_way),
		cmocka_unit_test(a_native_interface),
		cmocka_unit_test(a_native_switch),
		cmocka_unit_test(tcp_on_a_kernel_without),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
