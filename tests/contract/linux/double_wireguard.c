/* SPDX-License-Identifier: MIT */
/* The inside of the double's WireGuard interfaces: what the kernel does with a SET, and how it dumps. Rules of WGTCP and of
 * unknown attributes: docs/wire.md section 3; the rest: linux/wireguard.h. */
#include "tests/contract/linux/double_wireguard.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/sockios.h>
#include <linux/time_types.h>
#include <linux/wireguard.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#define TRANSPORT 9
#define ATTRS 16
/* The kernel's parts are about a page. */
#define PART_BYTES 4000

struct double_device *double_find(struct double_world *world, const char *name)
{
	for (size_t i = 0; i < DOUBLE_DEVICES; i++)
		if (world->devices[i].index && strcmp(world->devices[i].name, name) == 0)
			return &world->devices[i];
	return NULL;
}

void double_wipe(struct double_device *device)
{
	uapi_device_free(&device->state);
	memset(device, 0, sizeof(*device));
}

/* How attributes of a nest are checked: their number, and their lengths. */
struct policy {
	uint16_t max;
	bool strict; /* unknown ones are refused, and nests must say that they are nests */
	uint16_t exact[ATTRS]; /* 0: any length */
	uint32_t nests;        /* bits */
	const struct nlattr *found[ATTRS];
};

static int take(const struct nlattr *attr, void *data)
{
	struct policy *policy = data;
	uint16_t type = mnl_attr_get_type(attr);

	if (type > policy->max || type == 0) {
		errno = EINVAL;
		return policy->strict ? MNL_CB_ERROR : MNL_CB_OK;
	}
	errno = EINVAL;
	if (policy->exact[type] && mnl_attr_get_payload_len(attr) != policy->exact[type])
		return MNL_CB_ERROR;
	if (policy->strict && (policy->nests >> type & 1) && !(attr->nla_type & NLA_F_NESTED))
		return MNL_CB_ERROR;
	policy->found[type] = attr;
	return MNL_CB_OK;
}

static void drop_peer(struct uapi_device *state, struct uapi_peer *peer)
{
	size_t index = (size_t)(peer - state->peers);

	free(peer->allowed_ips);
	memmove(peer, peer + 1, (state->peer_count - index - 1) * sizeof(*peer));
	state->peer_count--;
	memset(&state->peers[state->peer_count], 0, sizeof(*peer));
}

static struct uapi_peer *find_peer(struct uapi_device *state, const void *key)
{
	for (size_t i = 0; i < state->peer_count; i++)
		if (memcmp(state->peers[i].public_key, key, WG_KEY_LEN) == 0)
			return &state->peers[i];
	return NULL;
}

/* A prefix belongs to one peer: the last one that it was given to. */
static void take_away(struct uapi_device *state, const struct ip_prefix *prefix)
{
	for (size_t i = 0; i < state->peer_count; i++) {
		struct uapi_peer *peer = &state->peers[i];

		for (size_t n = 0; n < peer->allowed_ip_count; n++) {
			if (peer->allowed_ips[n].prefix.bits != prefix->bits ||
				!ip_address_equal(&peer->allowed_ips[n].prefix.address, &prefix->address))
				continue;
			/* The room of uapi's list goes by its count: a new list. */
			struct uapi_peer copy = *peer;
			peer->allowed_ips = NULL;
			peer->allowed_ip_count = 0;
			for (size_t k = 0; k < copy.allowed_ip_count; k++)
				if (k != n)
					(void)uapi_peer_add_allowed_ip(peer, &copy.allowed_ips[k].prefix, false);
			free(copy.allowed_ips);
			return;
		}
	}
}

/* What the elements of a nest are added to. */
struct addition {
	const struct double_world *world;
	struct uapi_device *state;
	uint8_t key[WG_KEY_LEN]; /* of the peer at hand: adding may move the peers */
};

static int refuse(int error)
{
	errno = error;
	return MNL_CB_ERROR;
}

static int add_allowed_ip(const struct nlattr *attr, void *data)
{
	const struct addition *addition = data;
	struct policy policy = { .max = WGALLOWEDIP_A_CIDR_MASK, .strict = addition->world->kind != DOUBLE_OLD,
		.exact = { [WGALLOWEDIP_A_FAMILY] = 2, [WGALLOWEDIP_A_CIDR_MASK] = 1 } };
	struct ip_prefix prefix = { 0 };
	size_t len;

	if (mnl_attr_parse_nested(attr, take, &policy) < 0)
		return MNL_CB_ERROR;
	if (!policy.found[1] || !policy.found[2] || !policy.found[3])
		return refuse(EINVAL);
	prefix.address.family = mnl_attr_get_u16(policy.found[1]) == AF_INET6 ? IP_V6 : IP_V4;
	len = ip_address_len(&prefix.address);
	prefix.bits = mnl_attr_get_u8(policy.found[3]);
	if (mnl_attr_get_payload_len(policy.found[2]) != len || prefix.bits > 8 * len)
		return refuse(EINVAL);
	memcpy(prefix.address.bytes, mnl_attr_get_payload(policy.found[2]), len);
	prefix = ip_prefix_network(&prefix);
	take_away(addition->state, &prefix);
	if (!uapi_peer_add_allowed_ip(find_peer(addition->state, addition->key), &prefix, false))
		return refuse(ENOMEM);
	return MNL_CB_OK;
}

static void set_endpoint(struct uapi_peer *peer, const struct nlattr *attr)
{
	struct sockaddr_in6 v6 = { 0 };
	struct sockaddr_in v4 = { 0 };

	if (mnl_attr_get_payload_len(attr) == sizeof(v6)) {
		memcpy(&v6, mnl_attr_get_payload(attr), sizeof(v6));
		peer->endpoint = (struct endpoint){ .address.family = IP_V6, .port = ntohs(v6.sin6_port),
			.scope_id = v6.sin6_scope_id };
		memcpy(peer->endpoint.address.bytes, &v6.sin6_addr, 16);
	} else if (mnl_attr_get_payload_len(attr) == sizeof(v4)) {
		memcpy(&v4, mnl_attr_get_payload(attr), sizeof(v4));
		peer->endpoint = (struct endpoint){ .address.family = IP_V4, .port = ntohs(v4.sin_port) };
		memcpy(peer->endpoint.address.bytes, &v4.sin_addr, 4);
	}
}

static int set_peer(const struct nlattr *nest, void *data)
{
	struct addition *addition = data;
	struct uapi_device *state = addition->state;
	struct policy policy = { .max = WGPEER_A_PROTOCOL_VERSION, .strict = addition->world->kind != DOUBLE_OLD,
		.exact = { [WGPEER_A_PUBLIC_KEY] = WG_KEY_LEN, [WGPEER_A_PRESHARED_KEY] = WG_KEY_LEN, [WGPEER_A_FLAGS] = 4,
			[WGPEER_A_PERSISTENT_KEEPALIVE_INTERVAL] = 2 },
		.nests = 1u << WGPEER_A_ALLOWEDIPS };
	const struct nlattr *const *found = policy.found;
	struct uapi_peer *peer;
	uint32_t flags = 0;

	if (mnl_attr_parse_nested(nest, take, &policy) < 0 || !found[WGPEER_A_PUBLIC_KEY])
		return refuse(EINVAL);
	if (found[WGPEER_A_FLAGS])
		flags = mnl_attr_get_u32(found[WGPEER_A_FLAGS]);
	if (flags & ~7u)
		return refuse(EOPNOTSUPP);
	peer = find_peer(state, mnl_attr_get_payload(found[WGPEER_A_PUBLIC_KEY]));
	if (!peer && (flags & (WGPEER_F_REMOVE_ME | WGPEER_F_UPDATE_ONLY)))
		return MNL_CB_OK;
	if (flags & WGPEER_F_REMOVE_ME) {
		drop_peer(state, peer);
		return MNL_CB_OK;
	}
	if (!peer) {
		peer = uapi_device_add_peer(state);
		if (!peer)
			return refuse(ENOMEM);
		memset(peer, 0, sizeof(*peer));
		memcpy(peer->public_key, mnl_attr_get_payload(found[WGPEER_A_PUBLIC_KEY]), WG_KEY_LEN);
	}
	if (found[WGPEER_A_PRESHARED_KEY])
		memcpy(peer->preshared_key, mnl_attr_get_payload(found[WGPEER_A_PRESHARED_KEY]), WG_KEY_LEN);
	if (found[WGPEER_A_ENDPOINT])
		set_endpoint(peer, found[WGPEER_A_ENDPOINT]);
	if (found[WGPEER_A_PERSISTENT_KEEPALIVE_INTERVAL])
		peer->keepalive_s = mnl_attr_get_u16(found[WGPEER_A_PERSISTENT_KEEPALIVE_INTERVAL]);
	if (flags & WGPEER_F_REPLACE_ALLOWEDIPS) {
		free(peer->allowed_ips);
		peer->allowed_ips = NULL;
		peer->allowed_ip_count = 0;
	}
	if (!found[WGPEER_A_ALLOWEDIPS])
		return MNL_CB_OK;
	memcpy(addition->key, peer->public_key, sizeof(addition->key));
	return mnl_attr_parse_nested(found[WGPEER_A_ALLOWEDIPS], add_allowed_ip, addition);
}

/* WGTCP's refusals; nothing has been applied then. */
static int check_transport(const struct double_device *device, const struct nlattr *const *found, bool replace)
{
	bool tcp = device->tcp;

	if (found[TRANSPORT] && mnl_attr_get_u8(found[TRANSPORT]) > 1)
		return -EINVAL;
	if (found[TRANSPORT])
		tcp = mnl_attr_get_u8(found[TRANSPORT]);
	if (tcp != device->tcp && (device->up || (device->state.peer_count && !replace)))
		return -EBUSY;
	if (found[WGDEVICE_A_LISTEN_PORT] && device->tcp && device->up &&
		mnl_attr_get_u16(found[WGDEVICE_A_LISTEN_PORT]) != device->state.listen_port)
		return -EBUSY;
	return 0;
}

static void set_own(struct double_device *device, const struct nlattr *const *found)
{
	static const uint8_t none[WG_KEY_LEN];
	struct uapi_device *state = &device->state;

	if (found[TRANSPORT])
		device->tcp = mnl_attr_get_u8(found[TRANSPORT]);
	if (found[WGDEVICE_A_FWMARK])
		state->fwmark = mnl_attr_get_u32(found[WGDEVICE_A_FWMARK]);
	if (found[WGDEVICE_A_LISTEN_PORT])
		state->listen_port = mnl_attr_get_u16(found[WGDEVICE_A_LISTEN_PORT]);
	if (found[WGDEVICE_A_PRIVATE_KEY]) {
		memcpy(state->private_key, mnl_attr_get_payload(found[WGDEVICE_A_PRIVATE_KEY]), WG_KEY_LEN);
		state->has_private_key = memcmp(state->private_key, none, WG_KEY_LEN) != 0;
	}
}

/* Finds the interface that a request names. */
static int begin(struct double_world *world, const struct nlmsghdr *header, struct policy *policy,
	struct double_device **out)
{
	*policy = (struct policy){ .max = world->kind == DOUBLE_WGTCP ? TRANSPORT : WGDEVICE_A_PEERS,
		.strict = world->kind != DOUBLE_OLD,
		.exact = { [WGDEVICE_A_PRIVATE_KEY] = WG_KEY_LEN, [WGDEVICE_A_FLAGS] = 4, [WGDEVICE_A_LISTEN_PORT] = 2,
			[WGDEVICE_A_FWMARK] = 4, [TRANSPORT] = 1 },
		.nests = 1u << WGDEVICE_A_PEERS };
	if (mnl_attr_parse(header, sizeof(struct genlmsghdr), take, policy) < 0)
		return -EINVAL;
	if (!policy->found[WGDEVICE_A_IFNAME])
		return -EBADR;
	*out = double_find(world, mnl_attr_get_str(policy->found[WGDEVICE_A_IFNAME]));
	if (!*out)
		return -ENODEV;
	return (*out)->wireguard ? 0 : -EOPNOTSUPP;
}

int double_set(struct double_world *world, const struct nlmsghdr *header)
{
	struct double_device *device = NULL;
	struct policy policy;
	struct addition addition;
	bool replace;
	int err = begin(world, header, &policy, &device);

	world->counts->sets++;
	if (err)
		return err;
	if (policy.found[WGDEVICE_A_FLAGS] && mnl_attr_get_u32(policy.found[WGDEVICE_A_FLAGS]) > 1)
		return -EOPNOTSUPP;
	replace = policy.found[WGDEVICE_A_FLAGS] && mnl_attr_get_u32(policy.found[WGDEVICE_A_FLAGS]);
	err = check_transport(device, policy.found, replace);
	if (err)
		return err;
	while (replace && device->state.peer_count)
		drop_peer(&device->state, &device->state.peers[0]);
	set_own(device, policy.found);
	if (!policy.found[WGDEVICE_A_PEERS])
		return 0;
	world->counts->set_peers++;
	addition = (struct addition){ .world = world, .state = &device->state };
	return mnl_attr_parse_nested(policy.found[WGDEVICE_A_PEERS], set_peer, &addition) < 0 ? -errno : 0;
}

/* A dump on its way: the part at hand and how far it has come. */
struct dump {
	const struct double_world *world;
	const struct double_device *device;
	uint16_t family;
	_Alignas(struct nlmsghdr) char buffer[8192];
	bool first, interrupted;
};

static struct nlmsghdr *begin_part(struct dump *dump)
{
	struct nlmsghdr *header = mnl_nlmsg_put_header(dump->buffer);
	struct genlmsghdr *generic;

	header->nlmsg_type = dump->family;
	header->nlmsg_flags = NLM_F_MULTI;
	generic = mnl_nlmsg_put_extra_header(header, sizeof(*generic));
	generic->cmd = WG_CMD_GET_DEVICE;
	generic->version = WG_GENL_VERSION;
	mnl_attr_put_strz(header, WGDEVICE_A_IFNAME, dump->device->name);
	if (dump->first) {
		const struct uapi_device *state = &dump->device->state;

		mnl_attr_put_u16(header, WGDEVICE_A_LISTEN_PORT, state->listen_port);
		mnl_attr_put_u32(header, WGDEVICE_A_FWMARK, state->fwmark);
		mnl_attr_put_u32(header, WGDEVICE_A_IFINDEX, dump->device->index);
		if (state->has_private_key)
			mnl_attr_put(header, WGDEVICE_A_PRIVATE_KEY, WG_KEY_LEN, state->private_key);
		if (dump->world->kind == DOUBLE_WGTCP)
			mnl_attr_put_u8(header, TRANSPORT, dump->device->tcp);
	}
	dump->first = false;
	return header;
}

static void end_part(struct dump *dump, struct nlmsghdr *header)
{
	if (dump->interrupted)
		header->nlmsg_flags |= NLM_F_DUMP_INTR;
	dump->world->counts->parts++;
	double_answer(dump->world, header);
}

static void put_endpoint(struct nlmsghdr *header, const struct endpoint *endpoint)
{
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons(endpoint->port),
		.sin6_scope_id = endpoint->scope_id };
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons(endpoint->port) };

	if (endpoint->address.family == IP_V4) {
		memcpy(&v4.sin_addr, endpoint->address.bytes, 4);
		mnl_attr_put(header, WGPEER_A_ENDPOINT, sizeof(v4), &v4);
	} else if (endpoint->address.family == IP_V6) {
		memcpy(&v6.sin6_addr, endpoint->address.bytes, 16);
		mnl_attr_put(header, WGPEER_A_ENDPOINT, sizeof(v6), &v6);
	}
}

static void put_peer(struct nlmsghdr *header, const struct uapi_peer *peer)
{
	struct __kernel_timespec handshake = { 0 };

	mnl_attr_put(header, WGPEER_A_PRESHARED_KEY, WG_KEY_LEN, peer->preshared_key);
	put_endpoint(header, &peer->endpoint);
	mnl_attr_put_u16(header, WGPEER_A_PERSISTENT_KEEPALIVE_INTERVAL, peer->keepalive_s);
	mnl_attr_put(header, WGPEER_A_LAST_HANDSHAKE_TIME, sizeof(handshake), &handshake);
	mnl_attr_put_u64(header, WGPEER_A_TX_BYTES, 0);
	mnl_attr_put_u64(header, WGPEER_A_RX_BYTES, 0);
	mnl_attr_put_u32(header, WGPEER_A_PROTOCOL_VERSION, 1);
}

static void put_allowed_ip(struct nlmsghdr *header, const struct ip_prefix *prefix)
{
	struct nlattr *nest = mnl_attr_nest_start(header, 0);

	mnl_attr_put_u8(header, WGALLOWEDIP_A_CIDR_MASK, prefix->bits);
	mnl_attr_put_u16(header, WGALLOWEDIP_A_FAMILY, prefix->address.family == IP_V4 ? AF_INET : AF_INET6);
	mnl_attr_put(header, WGALLOWEDIP_A_IPADDR, ip_address_len(&prefix->address), prefix->address.bytes);
	mnl_attr_nest_end(header, nest);
}

int double_get(struct double_world *world, const struct nlmsghdr *header)
{
	struct double_device *device = NULL;
	struct policy policy;
	int err = begin(world, header, &policy, &device);
	int unread = 0;

	if (err)
		return err;
	/* As the kernel: one dump at a time, and it lasts until it has been read. */
	if (ioctl(world->to, SIOCOUTQ, &unread) == 0 && unread)
		return -EBUSY;
	struct dump dump = { .world = world, .device = device, .family = header->nlmsg_type, .first = true };
	if (world->counts->interrupt_dumps) {
		world->counts->interrupt_dumps--;
		dump.interrupted = true;
	}
	struct nlmsghdr *part = begin_part(&dump);
	struct nlattr *peers = mnl_attr_nest_start(part, WGDEVICE_A_PEERS);
	for (size_t i = 0; i < device->state.peer_count; i++) {
		const struct uapi_peer *peer = &device->state.peers[i];
		size_t n = 0;

		for (bool whole = false, head = true; !whole; head = false) {
			if (part->nlmsg_len + 400 > PART_BYTES) {
				mnl_attr_nest_end(part, peers);
				end_part(&dump, part);
				part = begin_part(&dump);
				peers = mnl_attr_nest_start(part, WGDEVICE_A_PEERS);
			}
			struct nlattr *nest = mnl_attr_nest_start(part, 0);
			mnl_attr_put(part, WGPEER_A_PUBLIC_KEY, WG_KEY_LEN, peer->public_key);
			if (head)
				put_peer(part, peer);
			struct nlattr *allowed_ips = mnl_attr_nest_start(part, WGPEER_A_ALLOWEDIPS);
			while (n < peer->allowed_ip_count && part->nlmsg_len + 50 < PART_BYTES)
				put_allowed_ip(part, &peer->allowed_ips[n++].prefix);
			mnl_attr_nest_end(part, allowed_ips);
			mnl_attr_nest_end(part, nest);
			whole = n == peer->allowed_ip_count;
		}
	}
	mnl_attr_nest_end(part, peers);
	end_part(&dump, part);
	struct nlmsghdr *end = mnl_nlmsg_put_header(dump.buffer);
	end->nlmsg_type = NLMSG_DONE;
	end->nlmsg_flags = NLM_F_MULTI;
	*(int *)mnl_nlmsg_put_extra_header(end, sizeof(int)) = 0;
	double_answer(world, end);
	return 0;
}
