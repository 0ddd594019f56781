/* SPDX-License-Identifier: MIT */
/* A process in the kernel's place: links, and which request goes where. What is inside a WireGuard interface stands in
 * double_wireguard.c. Source: rtnetlink(7), linux/genetlink.h. */
#include "tests/contract/linux/kernel_double.h"
#include "tests/contract/linux/double_wireguard.h"

#include "tests/contract/cmocka_all.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/wireguard.h>
#include <net/if.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define FAMILY 0x25
#define ENDS 4
#define REQUEST_BYTES 262144

static int by_type(const struct nlattr *attr, void *data)
{
	const struct nlattr **table = data;
	uint16_t type = mnl_attr_get_type(attr);

	if (type <= IFLA_MAX)
		table[type] = attr;
	return MNL_CB_OK;
}

static struct double_device *by_index(struct double_world *world, uint32_t index)
{
	for (size_t i = 0; index && i < DOUBLE_DEVICES; i++)
		if (world->devices[i].index == index)
			return &world->devices[i];
	return NULL;
}

static void answer(const struct double_world *world, const void *bytes, size_t len)
{
	if (send(world->to, bytes, len, MSG_NOSIGNAL) < 0)
		_exit(3);
}

void double_answer(const struct double_world *world, struct nlmsghdr *header)
{
	header->nlmsg_seq = world->sequence;
	answer(world, header, header->nlmsg_len);
}

/* NLMSG_ERROR, with 0 an acknowledgement. */
static void acknowledge(const struct double_world *world, int error)
{
	char buffer[256] = { 0 };
	struct nlmsghdr *header = mnl_nlmsg_put_header(buffer);
	struct nlmsgerr *body = mnl_nlmsg_put_extra_header(header, sizeof(*body));

	header->nlmsg_type = NLMSG_ERROR;
	body->error = error;
	double_answer(world, header);
}

static int make(struct double_world *world, const struct nlattr *const *attrs)
{
	const struct nlattr *info[IFLA_MAX + 1] = { NULL };
	struct double_device *free_one = NULL;
	const char *name;

	if (!attrs[IFLA_IFNAME] || !attrs[IFLA_LINKINFO])
		return -EINVAL;
	(void)mnl_attr_parse_nested(attrs[IFLA_LINKINFO], by_type, info);
	if (!info[IFLA_INFO_KIND])
		return -EINVAL;
	if (world->kind == DOUBLE_NOT_ROOT)
		return -EPERM;
	name = mnl_attr_get_str(attrs[IFLA_IFNAME]);
	if (double_find(world, name))
		return -EEXIST;
	if (world->kind == DOUBLE_NO_MODULE || strcmp(mnl_attr_get_str(info[IFLA_INFO_KIND]), "wireguard") != 0)
		return -EOPNOTSUPP;
	for (size_t i = 0; i < DOUBLE_DEVICES && !free_one; i++)
		if (!world->devices[i].index)
			free_one = &world->devices[i];
	if (!free_one || strlen(name) >= sizeof(free_one->name))
		return -EINVAL;
	*free_one = (struct double_device){ .index = ++world->last_index, .wireguard = true };
	strcpy(free_one->name, name);
	return 0;
}

static int change(struct double_device *device, const struct ifinfomsg *info)
{
	if (info->ifi_change & IFF_UP)
		device->up = info->ifi_flags & IFF_UP;
	return 0;
}

static void show(const struct double_world *world, const struct double_device *device)
{
	char buffer[512] = { 0 };
	struct nlmsghdr *header = mnl_nlmsg_put_header(buffer);
	struct ifinfomsg *info = mnl_nlmsg_put_extra_header(header, sizeof(*info));
	struct nlattr *nest;

	header->nlmsg_type = RTM_NEWLINK;
	info->ifi_index = (int)device->index;
	info->ifi_flags = device->up ? IFF_UP : 0;
	mnl_attr_put_strz(header, IFLA_IFNAME, device->name);
	mnl_attr_put_u32(header, IFLA_MTU, 1420);
	if (device->wireguard) {
		nest = mnl_attr_nest_start(header, IFLA_LINKINFO);
		mnl_attr_put_strz(header, IFLA_INFO_KIND, "wireguard");
		mnl_attr_nest_end(header, nest);
	}
	double_answer(world, header);
}

/* RTM_NEWLINK, RTM_GETLINK, RTM_DELLINK. */
static int route_request(struct double_world *world, const struct nlmsghdr *header)
{
	const struct ifinfomsg *info = mnl_nlmsg_get_payload(header);
	const struct nlattr *attrs[IFLA_MAX + 1] = { NULL };
	struct double_device *device;

	if (mnl_nlmsg_get_payload_len(header) < sizeof(*info))
		return -EINVAL;
	(void)mnl_attr_parse(header, sizeof(*info), by_type, attrs);
	if (header->nlmsg_type == RTM_NEWLINK && (header->nlmsg_flags & NLM_F_CREATE))
		return make(world, attrs);
	device = by_index(world, (uint32_t)info->ifi_index);
	if (!info->ifi_index && attrs[IFLA_IFNAME])
		device = double_find(world, mnl_attr_get_str(attrs[IFLA_IFNAME]));
	if (!device)
		return -ENODEV;
	if (header->nlmsg_type == RTM_NEWLINK)
		return change(device, info);
	if (header->nlmsg_type == RTM_DELLINK && !device->wireguard)
		return -EOPNOTSUPP;
	if (header->nlmsg_type == RTM_DELLINK)
		double_wipe(device);
	else
		show(world, device);
	return 0;
}

static int control_request(struct double_world *world, const struct nlmsghdr *header)
{
	char buffer[256] = { 0 };
	struct nlmsghdr *reply = mnl_nlmsg_put_header(buffer);
	struct genlmsghdr *generic = mnl_nlmsg_put_extra_header(reply, sizeof(*generic));
	const struct genlmsghdr *asked = mnl_nlmsg_get_payload(header);
	const struct nlattr *attrs[IFLA_MAX + 1] = { NULL };

	(void)mnl_attr_parse(header, sizeof(*asked), by_type, attrs);
	if (asked->cmd != CTRL_CMD_GETFAMILY || !attrs[CTRL_ATTR_FAMILY_NAME])
		return -EINVAL;
	if (world->kind == DOUBLE_NO_MODULE ||
		strcmp(mnl_attr_get_str(attrs[CTRL_ATTR_FAMILY_NAME]), WG_GENL_NAME) != 0)
		return -ENOENT;
	reply->nlmsg_type = GENL_ID_CTRL;
	generic->cmd = CTRL_CMD_NEWFAMILY;
	mnl_attr_put_strz(reply, CTRL_ATTR_FAMILY_NAME, WG_GENL_NAME);
	mnl_attr_put_u16(reply, CTRL_ATTR_FAMILY_ID, FAMILY);
	double_answer(world, reply);
	return 0;
}

static int generic_request(struct double_world *world, const struct nlmsghdr *header)
{
	const struct genlmsghdr *generic = mnl_nlmsg_get_payload(header);

	if (mnl_nlmsg_get_payload_len(header) < sizeof(*generic))
		return -EINVAL;
	if (header->nlmsg_type == GENL_ID_CTRL)
		return control_request(world, header);
	if (header->nlmsg_type != FAMILY)
		return -ENOENT;
	if (generic->cmd == WG_CMD_SET_DEVICE)
		return double_set(world, header);
	if (generic->cmd != WG_CMD_GET_DEVICE || (header->nlmsg_flags & NLM_F_DUMP) != NLM_F_DUMP)
		return -EOPNOTSUPP;
	/* A dump has its own end, and no acknowledgement. */
	int err = double_get(world, header);
	return err ? err : 1;
}

static void serve(struct double_world *world, const int ends[ENDS])
{
	char *request = malloc(REQUEST_BYTES);
	struct pollfd polls[ENDS];
	int open_ends = ENDS;

	for (int i = 0; i < ENDS; i++)
		polls[i] = (struct pollfd){ .fd = ends[i], .events = POLLIN };
	while (request && open_ends && poll(polls, ENDS, -1) > 0) {
		for (int i = 0; i < ENDS; i++) {
			const struct nlmsghdr *header = (const struct nlmsghdr *)request;
			ssize_t n;
			int result;

			if (polls[i].fd < 0 || !polls[i].revents)
				continue;
			n = recv(polls[i].fd, request, REQUEST_BYTES, 0);
			if (n <= 0) {
				polls[i].fd = -1;
				open_ends--;
				continue;
			}
			if (!mnl_nlmsg_ok(header, (int)n))
				_exit(4);
			world->to = polls[i].fd;
			world->sequence = header->nlmsg_seq;
			result = i % 2 ? route_request(world, header) : generic_request(world, header);
			if (result < 0 || (result == 0 && (header->nlmsg_flags & NLM_F_ACK)))
				acknowledge(world, result);
		}
	}
	free(request);
}

static void run(enum double_kind kind, const int ends[ENDS], struct double_counts *counts)
{
	static struct double_world world; /* zeroed; one a process */

	world.kind = kind;
	world.counts = counts;
	world.devices[0] = (struct double_device){ .name = "lo", .index = 1, .up = true };
	world.last_index = 1;
	serve(&world, ends);
	for (size_t i = 0; i < DOUBLE_DEVICES; i++)
		double_wipe(&world.devices[i]);
}

void kernel_double_start(struct kernel_double *out, enum double_kind kind)
{
	int ours[ENDS], theirs[ENDS];

	for (int i = 0; i < ENDS; i++) {
		int pair[2];

		assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
		ours[i] = pair[0];
		theirs[i] = pair[1];
	}
	out->counts = mmap(NULL, sizeof(*out->counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(out->counts != MAP_FAILED);
	out->pid = fork();
	assert_true(out->pid >= 0);
	if (out->pid == 0) {
		for (int i = 0; i < ENDS; i++)
			close(ours[i]);
		run(kind, theirs, out->counts);
		_exit(0);
	}
	for (int i = 0; i < ENDS; i++)
		close(theirs[i]);
	out->generic = ours[0];
	out->route = ours[1];
	out->other_generic = ours[2];
	out->other_route = ours[3];
}

void kernel_double_stop(struct kernel_double *kernel)
{
	int status;

	assert_int_equal(waitpid(kernel->pid, &status, 0), kernel->pid);
	assert_int_equal(status, 0);
	(void)munmap(kernel->counts, sizeof(*kernel->counts));
}
