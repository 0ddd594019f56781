/* SPDX-License-Identifier: MIT */
/* In-kernel WireGuard against doubles of the kernels that there are: the promises of the port on each, and what only a
 * double can show. */
#include "tests/contract/kernel_promises.h"
#include "tests/contract/linux/kernel_double.h"

#include "core/uapi/uapi.h"
#include "platform/linux/kernel_handles.h"
#include "platform/linux/kernel_probe.h"

#include "tests/contract/cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct bench {
	struct kernel_double kernel;
	struct kernel_rig rig;
};

static void begin(struct bench *bench, enum double_kind kind, enum kernel_support support)
{
	kernel_double_start(&bench->kernel, kind);
	bench->rig = (struct kernel_rig){ .support = support, .ignores_unknown = kind == DOUBLE_OLD };
	assert_int_equal(kernel_tunnel_adopt(bench->kernel.generic, bench->kernel.route, &bench->rig.kernel), 0);
	netlink_adopt(&bench->rig.generic, bench->kernel.other_generic);
	netlink_adopt(&bench->rig.route, bench->kernel.other_route);
}

static void end(struct bench *bench)
{
	kernel_tunnel_close(bench->rig.kernel);
	netlink_close(&bench->rig.generic);
	netlink_close(&bench->rig.route);
	kernel_double_stop(&bench->kernel);
}

static int promises(const char *name, enum double_kind kind, enum kernel_support support)
{
	struct bench bench;
	int failed;

	begin(&bench, kind, support);
	failed = kernel_promises_run(name, &bench.rig);
	end(&bench);
	return failed;
}

static void large_sets_and_dumps_go_in_parts(void **state)
{
	struct uapi_device device = { .replace_peers = true };
	struct uapi_peer *peer = uapi_device_add_peer(&device);
	struct uapi_device got = { 0 };
	struct bench bench;

	(void)state;
	begin(&bench, DOUBLE_STOCK, KERNEL_STOCK);
	assert_int_equal(kernel_tunnel_create(bench.rig.kernel, "wgp0"), 0);
	for (unsigned i = 0; i < 10000; i++) {
		char text[PREFIX_TEXT_LEN];
		struct ip_prefix prefix;
		int len = snprintf(text, sizeof(text), "fd00:%x::/32", i);

		assert_true(ip_prefix_parse(text, (size_t)len, &prefix));
		assert_true(uapi_peer_add_allowed_ip(peer, &prefix, false));
	}
	assert_int_equal(kernel_tunnel_set(bench.rig.kernel, "wgp0", &device), 0);
	assert_true(bench.kernel.counts->sets > 10);
	assert_int_equal(kernel_tunnel_get(bench.rig.kernel, "wgp0", &got), 0);
	assert_true(bench.kernel.counts->parts > 50);
	assert_int_equal(got.peer_count, 1);
	assert_int_equal(got.peers[0].allowed_ip_count, 10000);
	for (size_t i = 0; i < 10000; i++)
		assert_true(ip_address_equal(
			&got.peers[0].allowed_ips[i].prefix.address, &device.peers[0].allowed_ips[i].prefix.address));
	uapi_device_free(&got);
	uapi_device_free(&device);
	end(&bench);
}

/* Peers that come and go during a dump: it is read again, its rest is not taken for the next answer, and after a while it
 * is given up. */
static void interrupted_dumps_are_read_again(void **state)
{
	static const struct {
		unsigned interrupted;
		int result;
	} cases[] = { { 0, 0 }, { 1, 0 }, { 3, 0 }, { 1000, -EAGAIN } };
	struct uapi_device device = { .has_fwmark = true, .fwmark = 9 };
	struct uapi_peer *peer = uapi_device_add_peer(&device);
	struct bench bench;

	(void)state;
	begin(&bench, DOUBLE_WGTCP, KERNEL_WGTCP);
	assert_int_equal(kernel_tunnel_create(bench.rig.kernel, "wgp0"), 0);
	for (unsigned i = 0; i < 1000; i++) {
		struct ip_prefix prefix = { .address = { .family = IP_V4, .bytes = { 10, (uint8_t)(i >> 8), (uint8_t)i } },
			.bits = 24 };

		assert_true(uapi_peer_add_allowed_ip(peer, &prefix, false));
	}
	assert_int_equal(kernel_tunnel_set(bench.rig.kernel, "wgp0", &device), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct uapi_device got = { 0 };

		bench.kernel.counts->interrupt_dumps = cases[i].interrupted;
		assert_int_equal(kernel_tunnel_get(bench.rig.kernel, "wgp0", &got), cases[i].result);
		if (!cases[i].result) {
			assert_int_equal(got.peer_count, 1);
			assert_int_equal(got.peers[0].allowed_ip_count, 1000);
			assert_int_equal(got.fwmark, 9);
		} else {
			assert_int_equal(got.peer_count, 0);
		}
		uapi_device_free(&got);
	}
	/* The question for the transport needs the first part only. */
	struct uapi_device udp = { .has_transport = true, .transport = TRANSPORT_UDP };
	assert_true(bench.kernel.counts->interrupt_dumps > 0);
	assert_int_equal(kernel_tunnel_set(bench.rig.kernel, "wgp0", &udp), 0);
	uapi_device_free(&device);
	end(&bench);
}

static void a_kernel_without_it_says_why(void **state)
{
	static const struct {
		enum double_kind kind;
		int create, set;
	} cases[] = { { DOUBLE_NO_MODULE, -EOPNOTSUPP, -EOPNOTSUPP }, { DOUBLE_NOT_ROOT, -EPERM, -ENODEV } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct uapi_device device = { 0 };
		struct kernel_probe probe;
		struct bench bench;

		begin(&bench, cases[i].kind, KERNEL_NONE);
		assert_int_equal(kernel_tunnel_probe(bench.rig.kernel, &probe), 0);
		assert_int_equal(probe.support, KERNEL_NONE);
		assert_int_not_equal(probe.lack, KERNEL_LACKS_NOTHING);
		assert_int_equal(probe.lack == KERNEL_LACKS_PERMISSION, cases[i].kind == DOUBLE_NOT_ROOT);
		assert_int_equal(kernel_tunnel_create(bench.rig.kernel, "wgp0"), cases[i].create);
		assert_int_equal(kernel_tunnel_set(bench.rig.kernel, "wgp0", &device), cases[i].set);
		assert_int_equal(kernel_tunnel_get(bench.rig.kernel, "wgp0", &device), cases[i].set);
		end(&bench);
	}
}

static void the_words_fit_the_facts(void **state)
{
	static const struct {
		struct kernel_facts facts;
		int error;
		enum kernel_lack lack;
		const char *word;
	} cases[] = {
		{ { "6.1.0-57-amd64", false, true }, -EPERM, KERNEL_LACKS_PERMISSION, "CAP_NET_ADMIN" },
		{ { "6.1.0-57-amd64", true, true }, -EOPNOTSUPP, KERNEL_LACKS_LOADING, "modules_disabled" },
		{ { "6.1.0-57-amd64", true, false }, -EOPNOTSUPP, KERNEL_LACKS_LOADING, "modules_disabled" },
		{ { "6.1.0-57-amd64", false, true }, -EOPNOTSUPP, KERNEL_LACKS_LOADING, "modprobe wireguard" },
		{ { "6.1.0-57-amd64", false, false }, -EOPNOTSUPP, KERNEL_LACKS_MODULE, "6.1.0-57-amd64" },
		{ { "5.6.0", false, false }, -EOPNOTSUPP, KERNEL_LACKS_MODULE, "5.6.0" },
		{ { "5.4.0-200-generic", false, false }, -EOPNOTSUPP, KERNEL_LACKS_AGE, "wireguard-dkms" },
		{ { "4.19.0", false, false }, -EOPNOTSUPP, KERNEL_LACKS_AGE, "5.6" },
		{ { "4.19.0", false, true }, -EOPNOTSUPP, KERNEL_LACKS_LOADING, "modprobe" }, /* by DKMS */
		{ { "", false, false }, -EOPNOTSUPP, KERNEL_LACKS_MODULE, "no module" },
		{ { "6.1.0-a-release-with-a-name-as-long-as-the-kernel-allows-it-to-be", false, false }, -EOPNOTSUPP,
			KERNEL_LACKS_MODULE, "install the package with this kernel's modules" },
		{ { "4.19-a-release-with-a-name-as-long-as-the-kernel-allows-it-to-be", false, false }, -EOPNOTSUPP,
			KERNEL_LACKS_AGE, "brings it" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kernel_probe probe;

		kernel_probe_lack(&cases[i].facts, cases[i].error, &probe);
		assert_int_equal(probe.support, KERNEL_NONE);
		assert_int_equal(probe.lack, cases[i].lack);
		assert_non_null(strstr(probe.why, cases[i].word));
	}
}

/* What comes back from a kernel that is no kernel. */
static void broken_answers_are_refused(void **state)
{
	struct uapi_device device = { 0 };
	struct kernel_tunnel *kernel;
	int generic[2], route[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, generic), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, route), 0);
	assert_int_equal(kernel_tunnel_adopt(generic[0], route[0], &kernel), 0);
	close(generic[1]);
	close(route[1]);
	assert_int_equal(kernel_tunnel_get(kernel, "wgp0", &device), -EPIPE);
	assert_int_equal(kernel_tunnel_create(kernel, "wgp0"), -EPIPE);
	kernel_tunnel_close(kernel);
	kernel_tunnel_close(NULL);
}

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

#ifndef SANITIZED
/* How often the 16 bytes, given here with each bit turned over, stand in this process's memory. */
static unsigned count_in_memory(const uint8_t turned[16])
{
	FILE *maps = fopen("/proc/self/maps", "r");
	int memory = open("/proc/self/mem", O_RDONLY);
	static uint8_t chunk[1 << 16];
	unsigned long from, to;
	unsigned found = 0;
	char line[512], rights[5];

	assert_true(maps && memory >= 0);
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %4s", &from, &to, rights) != 3 || rights[1] != 'w')
			continue;
		for (unsigned long at = from; at < to; at += sizeof(chunk) - 16) {
			ssize_t n;

			/* The window on memory does not look at itself. */
			if (at < (unsigned long)(chunk + sizeof(chunk)) && at + sizeof(chunk) > (unsigned long)chunk)
				continue;
			n = pread(memory, chunk, sizeof(chunk), (off_t)at);
			for (ssize_t i = 0; i + 16 <= n; i++) {
				int k = 0;

				while (k < 16 && chunk[i + k] + turned[k] == 0xff)
					k++;
				found += k == 16;
			}
		}
	}
	close(memory);
	(void)fclose(maps);
	return found;
}

/* Neither buffer may keep a key. The test itself keeps them turned over only. */
static void no_key_stays_in_memory(void **state)
{
	static uint8_t turned[2][16];
	struct uapi_device device = { .has_private_key = true };
	struct uapi_peer *peer = uapi_device_add_peer(&device);
	struct bench bench;

	(void)state;
	begin(&bench, DOUBLE_STOCK, KERNEL_STOCK);
	assert_int_equal(kernel_tunnel_create(bench.rig.kernel, "wgp0"), 0);
	for (size_t i = 0; i < 16; i++) {
		turned[0][i] = (uint8_t)(0x31 + 7 * i);
		turned[1][i] = (uint8_t)(0x53 + 5 * i);
		device.private_key[i] = (uint8_t)~turned[0][i];
		peer->preshared_key[i] = (uint8_t)~turned[1][i];
	}
	peer->has_preshared_key = true;
	for (size_t key = 0; key < 2; key++)
		assert_int_not_equal(count_in_memory(turned[key]), 0); /* the search finds what is there */
	assert_int_equal(kernel_tunnel_set(bench.rig.kernel, "wgp0", &device), 0);
	uapi_device_free(&device);
	assert_int_equal(kernel_tunnel_get(bench.rig.kernel, "wgp0", &device), 0);
	assert_true(device.has_private_key && device.peers[0].has_preshared_key);
	uapi_device_free(&device);
	for (size_t key = 0; key < 2; key++)
		assert_int_equal(count_in_memory(turned[key]), 0);
	end(&bench);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(large_sets_and_dumps_go_in_parts),
		cmocka_unit_test(interrupted_dumps_are_read_again),
		cmocka_unit_test(a_kernel_without_it_says_why),
		cmocka_unit_test(the_words_fit_the_facts),
		cmocka_unit_test(broken_answers_are_refused),
#ifndef SANITIZED
		cmocka_unit_test(no_key_stays_in_memory),
#endif
	};
	int failed = promises("stock", DOUBLE_STOCK, KERNEL_STOCK);

	failed += promises("old", DOUBLE_OLD, KERNEL_STOCK);
	failed += promises("wgtcp", DOUBLE_WGTCP, KERNEL_WGTCP);
	failed += cmocka_run_group_tests_name("doubles", tests, NULL, NULL);
	return failed;
}
