/* SPDX-License-Identifier: MIT */
/* WireGuard inside the kernel, by generic netlink for what is in a tunnel and rtnetlink for the interface. The daemon's
 * thread; each call waits for the kernel's answer only. Whatever held keys is wiped before it returns.
 * Source: linux/wireguard.h, docs/wire.md section 3. */
#include "core/port/kernel_tunnel.h"

#include "core/base/wipe.h"
#include "platform/linux/kernel_handles.h"
#include "platform/linux/kernel_message.h"
#include "platform/linux/kernel_probe.h"
#include "platform/linux/netlink.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/wireguard.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROBE_NAME KERNEL_PROBE_INTERFACE
/* Peers that come and go make the kernel break a dump off; on a busy server that may happen more than once. */
#define GET_TRIES 10

struct kernel_tunnel {
	struct netlink generic, route;
	char message[KERNEL_MESSAGE_BYTES];
};

int kernel_tunnel_adopt(int generic_handle, int route_handle, struct kernel_tunnel **out)
{
	struct kernel_tunnel *kernel = calloc(1, sizeof(*kernel));

	if (!kernel) {
		close(generic_handle);
		close(route_handle);
		return -ENOMEM;
	}
	netlink_adopt(&kernel->generic, generic_handle);
	netlink_adopt(&kernel->route, route_handle);
	*out = kernel;
	return 0;
}

int kernel_tunnel_open(struct kernel_tunnel **out)
{
	struct kernel_tunnel *kernel = calloc(1, sizeof(*kernel));
	int err;

	if (!kernel)
		return -ENOMEM;
	err = netlink_open(&kernel->generic, NETLINK_GENERIC);
	if (!err)
		err = netlink_open(&kernel->route, NETLINK_ROUTE);
	if (err) {
		kernel_tunnel_close(kernel);
		return err;
	}
	*out = kernel;
	return 0;
}

void kernel_tunnel_close(struct kernel_tunnel *kernel)
{
	if (!kernel)
		return;
	netlink_close(&kernel->generic);
	netlink_close(&kernel->route);
	free(kernel);
}

static bool name_fits(const char *name)
{
	size_t len = strlen(name);

	return len > 0 && len < IFNAMSIZ;
}

static int take_family_attr(const struct nlattr *attr, void *data)
{
	uint16_t *family = data;

	if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID && mnl_attr_get_payload_len(attr) >= sizeof(*family))
		*family = mnl_attr_get_u16(attr);
	return MNL_CB_OK;
}

static int take_family(const struct nlmsghdr *header, void *data)
{
	return mnl_attr_parse(header, sizeof(struct genlmsghdr), take_family_attr, data);
}

/* Asked for each time: the number is another one after the module was loaded again. Asking loads the module. */
static int find_family(struct kernel_tunnel *kernel, uint16_t *out)
{
	char buffer[NETLINK_REQUEST_BYTES];
	struct nlmsghdr *request = netlink_request(buffer, GENL_ID_CTRL, 0);
	struct genlmsghdr *generic = mnl_nlmsg_put_extra_header(request, sizeof(*generic));
	uint16_t family = 0;

	generic->cmd = CTRL_CMD_GETFAMILY;
	generic->version = 1;
	mnl_attr_put_strz(request, CTRL_ATTR_FAMILY_NAME, WG_GENL_NAME);
	int err = netlink_talk(&kernel->generic, request, take_family, &family);
	if (err == -ENOENT || (!err && !family))
		return -EOPNOTSUPP;
	if (!err)
		*out = family;
	return err;
}

static int take_part(const struct nlmsghdr *header, void *data)
{
	int err = kernel_message_read(data, header);

	errno = -err;
	return err ? MNL_CB_ERROR : MNL_CB_OK;
}

/* One reading. The family is there, so "not supported" means an interface of another kind. */
static int read_device(struct kernel_tunnel *kernel, uint16_t family, const char *name, struct kernel_reader *reader)
{
	struct nlmsghdr *request =
		kernel_message_begin(kernel->message, family, WG_CMD_GET_DEVICE, NLM_F_DUMP, name);
	int err = netlink_talk(&kernel->generic, request, take_part, reader);

	return err == -EOPNOTSUPP ? -ENODEV : err;
}

/* Whether the kernel knows the transport, as only a GET tells. 1 or 0, or -errno. */
static int knows_transport(struct kernel_tunnel *kernel, uint16_t family, const char *name)
{
	struct uapi_device device = { 0 };
	struct kernel_reader reader = { .device = &device, .transport_only = true };
	int err = -EINTR;

	for (int n = 0; n < GET_TRIES && err == -EINTR && !device.has_transport; n++)
		err = read_device(kernel, family, name, &reader);
	/* A dump that was broken off has shown its first part, and that is where it stands. */
	if (!err || err == -EINTR)
		err = device.has_transport;
	uapi_device_free(&device);
	return err;
}

/* The carrier of a kernel is that of its interface. */
static void tell_carriers(struct uapi_device *device)
{
	enum carrier carrier = device->has_transport && device->transport == TRANSPORT_TCP ? CARRIER_TCP : CARRIER_UDP;

	for (size_t i = 0; i < device->peer_count; i++)
		if (device->peers[i].last_handshake_s)
			device->peers[i].carrier = carrier;
}

int kernel_tunnel_get(struct kernel_tunnel *kernel, const char *name, struct uapi_device *out)
{
	uint16_t family = 0;
	int err;

	if (!name_fits(name))
		return -ENODEV;
	err = find_family(kernel, &family);
	if (err)
		return err;
	for (int n = 0; n < GET_TRIES; n++) {
		struct uapi_device device = { 0 };
		struct kernel_reader reader = { .device = &device };

		err = read_device(kernel, family, name, &reader);
		if (!err) {
			tell_carriers(&device);
			*out = device;
			memory_wipe(&device, sizeof(device)); /* its memory has a new owner, its key a second copy here */
			return 0;
		}
		uapi_device_free(&device);
		if (err != -EINTR)
			return err;
	}
	return -EAGAIN;
}

/* What no kernel would take, before anything is sent. */
static int check_device(const struct uapi_device *device)
{
	if (device->has_transport && device->transport == TRANSPORT_AUTO)
		return -EINVAL;
	for (size_t i = 0; i < device->peer_count; i++) {
		const struct uapi_peer *peer = &device->peers[i];

		for (size_t n = 0; n < peer->allowed_ip_count; n++) {
			const struct ip_prefix *prefix = &peer->allowed_ips[n].prefix;

			if (peer->allowed_ips[n].remove)
				return -EOPNOTSUPP;
			if (!ip_address_len(&prefix->address) || prefix->bits > 8 * ip_address_len(&prefix->address))
				return -EINVAL;
		}
	}
	return 0;
}

static int send_device(struct kernel_tunnel *kernel, uint16_t family, const char *name,
	const struct uapi_device *device, bool transport)
{
	struct kernel_writer writer = { 0 };
	int err = 0;

	while (!err && !writer.done) {
		struct nlmsghdr *request =
			kernel_message_next(&writer, kernel->message, family, name, device, transport);
		uint32_t len = request->nlmsg_len;

		err = netlink_talk(&kernel->generic, request, NULL, NULL);
		memory_wipe(kernel->message, len);
	}
	return err == -EOPNOTSUPP ? -ENODEV : err;
}

int kernel_tunnel_set(struct kernel_tunnel *kernel, const char *name, const struct uapi_device *device)
{
	uint16_t family = 0;
	int knows = 0;
	int err = check_device(device);

	if (err)
		return err;
	if (!name_fits(name))
		return -ENODEV;
	err = find_family(kernel, &family);
	if (err)
		return err;
	if (device->has_transport)
		knows = knows_transport(kernel, family, name);
	if (knows < 0)
		return knows;
	if (device->has_transport && device->transport == TRANSPORT_TCP && !knows)
		return -EOPNOTSUPP;
	return send_device(kernel, family, name, device, knows);
}

int kernel_tunnel_create(struct kernel_tunnel *kernel, const char *name)
{
	char buffer[NETLINK_REQUEST_BYTES];
	struct nlmsghdr *request = netlink_request(buffer, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
	struct nlattr *info;

	(void)mnl_nlmsg_put_extra_header(request, sizeof(struct ifinfomsg));
	/* "%" would make the kernel look for a free number. */
	if (!name_fits(name) || strchr(name, '%'))
		return -EINVAL;
	mnl_attr_put_strz(request, IFLA_IFNAME, name);
	info = mnl_attr_nest_start(request, IFLA_LINKINFO);
	mnl_attr_put_strz(request, IFLA_INFO_KIND, WG_GENL_NAME);
	mnl_attr_nest_end(request, info);
	return netlink_talk(&kernel->route, request, NULL, NULL);
}

int kernel_tunnel_delete(struct kernel_tunnel *kernel, const char *name)
{
	char buffer[NETLINK_REQUEST_BYTES];
	struct nlmsghdr *request = netlink_request(buffer, RTM_DELLINK, 0);
	struct ifinfomsg *info = mnl_nlmsg_put_extra_header(request, sizeof(*info));
	struct net_link link;
	int err;

	if (!name_fits(name))
		return -ENODEV;
	err = netlink_link(&kernel->route, name, 0, &link);
	if (err)
		return err;
	if (!link.wireguard || !link.index)
		return -ENODEV;
	info->ifi_index = (int)link.index;
	return netlink_talk(&kernel->route, request, NULL, NULL);
}

int kernel_tunnel_probe(struct kernel_tunnel *kernel, struct kernel_probe *out)
{
	struct kernel_facts facts;
	uint16_t family = 0;
	int knows = 0;
	int err = kernel_tunnel_create(kernel, PROBE_NAME);

	if (err == -EEXIST && kernel_tunnel_delete(kernel, PROBE_NAME) == 0)
		err = kernel_tunnel_create(kernel, PROBE_NAME);
	if (err == -EOPNOTSUPP || err == -EPERM || err == -EACCES) {
		kernel_facts_read(&facts);
		kernel_probe_lack(&facts, err, out);
		return 0;
	}
	if (err)
		return err;
	err = find_family(kernel, &family);
	if (!err) {
		knows = knows_transport(kernel, family, PROBE_NAME);
		err = knows < 0 ? knows : 0;
	}
	(void)kernel_tunnel_delete(kernel, PROBE_NAME);
	if (!err)
		kernel_probe_found(knows, out);
	return err;
}
