/* SPDX-License-Identifier: MIT */
/* The promises of core/port/kernel_tunnel.h on the kernel that it runs on: vm_kernel_tunnel none|stock|wgtcp, with what is to
 * be found. Run as root inside a virtual machine by test_kernel.py: it makes and deletes interfaces. */
#include "tests/contract/kernel_promises.h"

#include "core/uapi/uapi.h"

#include "tests/contract/cmocka_all.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int open_rig(struct kernel_rig *rig)
{
	int err = kernel_tunnel_open(&rig->kernel);

	if (!err)
		err = netlink_open(&rig->generic, NETLINK_GENERIC);
	if (!err)
		err = netlink_open(&rig->route, NETLINK_ROUTE);
	return err;
}

static void close_rig(struct kernel_rig *rig)
{
	kernel_tunnel_close(rig->kernel);
	netlink_close(&rig->generic);
	netlink_close(&rig->route);
}

/* A kernel whose module is not loaded and can not be found. 0 when all is as promised. */
static int check_none(struct kernel_rig *rig)
{
	struct uapi_device device = { 0 };
	struct kernel_probe probe = { 0 };
	int err = kernel_tunnel_probe(rig->kernel, &probe);

	printf("probe: %d, support %d, lack %d: %s\n", err, probe.support, probe.lack, probe.why);
	if (err || probe.support != KERNEL_NONE || probe.lack != KERNEL_LACKS_MODULE)
		return 1;
	return kernel_tunnel_create(rig->kernel, "wgp0") != -EOPNOTSUPP ||
		kernel_tunnel_get(rig->kernel, "wgp0", &device) != -EOPNOTSUPP ||
		kernel_tunnel_set(rig->kernel, "wgp0", &device) != -EOPNOTSUPP ||
		kernel_tunnel_delete(rig->kernel, "wgp0") != -ENODEV;
}

int main(int argc, char **argv)
{
	const char *wanted = argc == 2 ? argv[1] : "";
	struct kernel_rig rig = { 0 };
	int failed;

	if (strcmp(wanted, "none") != 0 && strcmp(wanted, "stock") != 0 && strcmp(wanted, "wgtcp") != 0) {
		fprintf(stderr, "usage: vm_kernel_tunnel none|stock|wgtcp\n");
		return 2;
	}
	if (open_rig(&rig)) {
		fprintf(stderr, "vm_kernel_tunnel: no netlink\n");
		return 1;
	}
	rig.support = wanted[0] == 'w' ? KERNEL_WGTCP : KERNEL_STOCK;
	failed = wanted[0] == 'n' ? check_none(&rig) : kernel_promises_run(wanted, &rig);
	close_rig(&rig);
	return failed != 0;
}
