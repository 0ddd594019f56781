/* SPDX-License-Identifier: MIT */
/* Why a kernel has no WireGuard, in words. Called by kernel_tunnel, on its thread; only a probe that found nothing reads
 * files. */
#include "platform/linux/kernel_probe.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

/* WireGuard came with Linux 5.6. */
#define FIRST_MAJOR 5
#define FIRST_MINOR 6

static bool file_names_module(const char *release, const char *file)
{
	char path[128], line[512];
	bool found = false;

	(void)snprintf(path, sizeof(path), "/lib/modules/%s/%s", release, file);
	FILE *stream = fopen(path, "re");
	if (!stream)
		return false;
	while (!found && fgets(line, sizeof(line), stream)) {
		/* "kernel/drivers/net/wireguard/wireguard.ko.xz: kernel/...": what stands behind the colon needs others. */
		line[strcspn(line, ":")] = '\0';
		found = strstr(line, "/wireguard.ko") != NULL;
	}
	(void)fclose(stream);
	return found;
}

void kernel_facts_read(struct kernel_facts *out)
{
	struct utsname name;
	FILE *stream = fopen("/proc/sys/kernel/modules_disabled", "re");

	*out = (struct kernel_facts){ 0 };
	if (stream) {
		out->loading_disabled = fgetc(stream) == '1';
		(void)fclose(stream);
	}
	if (uname(&name) == 0)
		(void)snprintf(out->release, sizeof(out->release), "%.64s", name.release);
	out->module_listed = file_names_module(out->release, "modules.dep") ||
		file_names_module(out->release, "modules.builtin");
}

static bool too_old(const char *release)
{
	unsigned major, minor;

	if (sscanf(release, "%u.%u", &major, &minor) != 2)
		return false;
	return major < FIRST_MAJOR || (major == FIRST_MAJOR && minor < FIRST_MINOR);
}

void kernel_probe_lack(const struct kernel_facts *facts, int error, struct kernel_probe *out)
{
	*out = (struct kernel_probe){ .support = KERNEL_NONE };
	if (error == -EPERM || error == -EACCES) {
		out->lack = KERNEL_LACKS_PERMISSION;
		(void)snprintf(out->why, sizeof(out->why),
			"this process may not make network interfaces; it needs root, or CAP_NET_ADMIN");
	} else if (facts->loading_disabled) {
		out->lack = KERNEL_LACKS_LOADING;
		(void)snprintf(out->why, sizeof(out->why),
			"the kernel loads no more modules (kernel.modules_disabled is 1); have wireguard loaded at boot "
			"by a line in /etc/modules");
	} else if (facts->module_listed) {
		out->lack = KERNEL_LACKS_LOADING;
		(void)snprintf(out->why, sizeof(out->why),
			"the module wireguard is installed, but the kernel did not load it; 'modprobe wireguard' says "
			"why (blacklist, signature, lockdown)");
	} else if (too_old(facts->release)) {
		out->lack = KERNEL_LACKS_AGE;
		(void)snprintf(out->why, sizeof(out->why),
			"Linux %.20s has no WireGuard, which came with 5.6; a newer kernel or the package wireguard-dkms "
			"brings it", facts->release);
	} else {
		out->lack = KERNEL_LACKS_MODULE;
		(void)snprintf(out->why, sizeof(out->why),
			"Linux %.40s has no module wireguard; install the package with this kernel's modules",
			facts->release);
	}
}

void kernel_probe_found(bool transport, struct kernel_probe *out)
{
	*out = (struct kernel_probe){ .support = transport ? KERNEL_WGTCP : KERNEL_STOCK };
	(void)snprintf(out->why, sizeof(out->why), "%s",
		transport ? "the kernel's WireGuard can do UDP and TCP" : "the kernel's WireGuard can do UDP only");
}
