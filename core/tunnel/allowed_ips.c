/* SPDX-License-Identifier: MIT */
/* Allowed IPs as a path-compressed binary trie, one root for each family. Called for each packet (lookup),
 * and when peers are configured (the rest).
 *
 * Addresses are two 64-bit words with the first bit on top; IPv4 fills the top of the first. A node without a
 * peer only joins two others, so n prefixes need fewer than 2n nodes, and a lookup visits no more nodes than
 * there are prefixes inside each other, plus the joins between. Source: WireGuard paper 2. */
#include "core/tunnel/allowed_ips.h"

#include "core/base/bytes.h"
#include "core/tunnel/peer.h"

#include <stdlib.h>

#define LIST_MIN 4

struct address_bits {
	uint64_t high, low;
};

struct allowed_node {
	struct address_bits address; /* bits beyond the prefix are 0 */
	struct address_bits mask;
	struct allowed_node *child[2];
	struct peer *peer; /* NULL: a join */
	size_t list_at;    /* in peer->allowed */
	uint8_t bits;
	bool v6;
};

struct allowed_ips {
	struct allowed_node *v4, *v6;
};

static struct address_bits mask_of(unsigned bits)
{
	if (bits == 0)
		return (struct address_bits){ 0, 0 };
	if (bits <= 64)
		return (struct address_bits){ UINT64_MAX << (64 - bits), 0 };
	return (struct address_bits){ UINT64_MAX, UINT64_MAX << (128 - bits) };
}

static struct address_bits load_bits(enum ip_family family, const uint8_t *bytes)
{
	if (family == IP_V4)
		return (struct address_bits){ (uint64_t)get_be32(bytes) << 32, 0 };
	return (struct address_bits){ get_be64(bytes), get_be64(bytes + 8) };
}

static bool in_prefix(const struct allowed_node *node, struct address_bits address)
{
	return (((node->address.high ^ address.high) & node->mask.high) |
		       ((node->address.low ^ address.low) & node->mask.low)) == 0;
}

static unsigned bit_at(struct address_bits address, unsigned at)
{
	return (unsigned)(at < 64 ? address.high >> (63 - at) : address.low >> (127 - at)) & 1;
}

/* The number of leading bits that are the same, at most `most`. */
static unsigned common_bits(struct address_bits a, struct address_bits b, unsigned most)
{
	uint64_t high = a.high ^ b.high, low = a.low ^ b.low;
	unsigned common = 128;

	if (high)
		common = (unsigned)__builtin_clzll(high);
	else if (low)
		common = 64 + (unsigned)__builtin_clzll(low);
	return common < most ? common : most;
}

/* ---- one peer's list ---- */

/* Closes the holes, in order, or grows; false when memory is short. */
static bool list_reserve(struct allowed_list *list)
{
	size_t to = 0, room;
	struct allowed_node **nodes;

	if (list->len < list->room)
		return true;
	if (list->count <= list->len / 2 && list->len > 0) {
		for (size_t from = 0; from < list->len; from++) {
			if (!list->nodes[from])
				continue;
			list->nodes[to] = list->nodes[from];
			list->nodes[to]->list_at = to;
			to++;
		}
		list->len = to;
		return true;
	}
	room = list->room ? list->room * 2 : LIST_MIN;
	nodes = realloc(list->nodes, room * sizeof(*nodes));
	if (!nodes)
		return false;
	list->nodes = nodes;
	list->room = room;
	return true;
}

static void list_add(struct peer *peer, struct allowed_node *node)
{
	struct allowed_list *list = &peer->allowed;

	node->peer = peer;
	node->list_at = list->len;
	list->nodes[list->len++] = node;
	list->count++;
}

static void list_take(struct allowed_node *node)
{
	struct allowed_list *list = &node->peer->allowed;

	list->nodes[node->list_at] = NULL;
	list->count--;
	while (list->len > 0 && !list->nodes[list->len - 1])
		list->len--;
	node->peer = NULL;
	if (list->count == 0) {
		free(list->nodes);
		*list = (struct allowed_list){ .nodes = NULL };
	}
}

/* ---- the trie ---- */

static struct allowed_node **root_of(struct allowed_ips *table, enum ip_family family)
{
	return family == IP_V4 ? &table->v4 : &table->v6;
}

static struct allowed_node *node_new(enum ip_family family, struct address_bits address, unsigned bits)
{
	struct allowed_node *node = calloc(1, sizeof(*node));

	if (!node)
		return NULL;
	node->mask = mask_of(bits);
	node->address.high = address.high & node->mask.high;
	node->address.low = address.low & node->mask.low;
	node->bits = (uint8_t)bits;
	node->v6 = family == IP_V6;
	return node;
}

struct allowed_ips *allowed_ips_new(void)
{
	return calloc(1, sizeof(struct allowed_ips));
}

/* At most 129 levels. */
static void trie_free(struct allowed_node *node)
{
	if (!node)
		return;
	trie_free(node->child[0]);
	trie_free(node->child[1]);
	if (node->peer)
		list_take(node);
	free(node);
}

void allowed_ips_free(struct allowed_ips *table)
{
	if (!table)
		return;
	trie_free(table->v4);
	trie_free(table->v6);
	free(table);
}

/* The link in which the prefix's node hangs, or would have to be put; above, unless NULL, gets the link over
 * it. */
static struct allowed_node **find_link(
	struct allowed_node **root, struct address_bits address, unsigned bits, struct allowed_node ***above)
{
	struct allowed_node **link = root, **over = NULL;

	while (*link && (*link)->bits < bits && in_prefix(*link, address)) {
		over = link;
		link = &(*link)->child[bit_at(address, (*link)->bits)];
	}
	if (above)
		*above = over;
	return link;
}

static bool is_prefix(const struct ip_prefix *prefix)
{
	return prefix->address.family != IP_NONE && prefix->bits <= 8 * ip_address_len(&prefix->address);
}

static bool is_exact(const struct allowed_node *node, struct address_bits address, unsigned bits)
{
	return node && node->bits == bits && in_prefix(node, address);
}

/* A new node at link, where another may be in the way; false when memory is short. */
static bool insert_at(struct allowed_node **link, enum ip_family family, struct address_bits address,
	unsigned bits, struct peer *peer)
{
	struct allowed_node *old = *link, *join, *node = node_new(family, address, bits);
	unsigned common;

	if (!node)
		return false;
	if (!old) {
		*link = node;
	} else {
		common = common_bits(old->address, address, bits < old->bits ? bits : old->bits);
		if (common == bits) { /* the old one lies inside */
			node->child[bit_at(old->address, bits)] = old;
			*link = node;
		} else {
			join = node_new(family, address, common);
			if (!join) {
				free(node);
				return false;
			}
			join->child[bit_at(address, common)] = node;
			join->child[bit_at(old->address, common)] = old;
			*link = join;
		}
	}
	list_add(peer, node);
	return true;
}

bool allowed_ips_insert(struct allowed_ips *table, const struct ip_prefix *prefix, struct peer *peer)
{
	enum ip_family family = prefix->address.family;
	struct address_bits address = load_bits(family, prefix->address.bytes);
	struct allowed_node **link;

	if (!is_prefix(prefix))
		return false;
	link = find_link(root_of(table, family), address, prefix->bits, NULL);
	if (is_exact(*link, address, prefix->bits) && (*link)->peer == peer)
		return true;
	if (!list_reserve(&peer->allowed))
		return false;
	if (!is_exact(*link, address, prefix->bits))
		return insert_at(link, family, address, prefix->bits, peer);
	if ((*link)->peer)
		list_take(*link);
	list_add(peer, *link);
	return true;
}

/* Takes the node's prefix away, and the node and the join above it where they have become useless. */
static void remove_at(struct allowed_node **link, struct allowed_node **above)
{
	struct allowed_node *node = *link, *over;

	list_take(node);
	if (node->child[0] && node->child[1])
		return;
	*link = node->child[0] ? node->child[0] : node->child[1];
	free(node);
	if (*link || !above || (*above)->peer)
		return;
	over = *above;
	*above = over->child[0] ? over->child[0] : over->child[1];
	free(over);
}

bool allowed_ips_remove(struct allowed_ips *table, const struct ip_prefix *prefix, const struct peer *peer)
{
	enum ip_family family = prefix->address.family;
	struct address_bits address = load_bits(family, prefix->address.bytes);
	struct allowed_node **link, **above;

	if (!is_prefix(prefix))
		return false;
	link = find_link(root_of(table, family), address, prefix->bits, &above);
	if (!is_exact(*link, address, prefix->bits) || (*link)->peer != peer)
		return false;
	remove_at(link, above);
	return true;
}

void allowed_ips_remove_peer(struct allowed_ips *table, const struct peer *peer)
{
	while (peer->allowed.len > 0) {
		/* The last one is never a hole. */
		struct allowed_node *node = peer->allowed.nodes[peer->allowed.len - 1];
		struct allowed_node **above;
		struct allowed_node **link =
			find_link(node->v6 ? &table->v6 : &table->v4, node->address, node->bits, &above);

		remove_at(link, above);
	}
}

struct peer *allowed_ips_lookup(const struct allowed_ips *table, enum ip_family family, const uint8_t *bytes)
{
	struct address_bits address = load_bits(family, bytes);
	const struct allowed_node *node = family == IP_V4 ? table->v4 : table->v6;
	unsigned most = family == IP_V4 ? 32 : 128;
	struct peer *best = NULL;

	while (node && in_prefix(node, address)) {
		if (node->peer)
			best = node->peer;
		if (node->bits == most)
			break;
		node = node->child[bit_at(address, node->bits)];
	}
	return best;
}

static void store_bits(const struct allowed_node *node, struct ip_prefix *out)
{
	*out = (struct ip_prefix){ .bits = node->bits };
	if (node->v6) {
		out->address.family = IP_V6;
		put_be64(out->address.bytes, node->address.high);
		put_be64(out->address.bytes + 8, node->address.low);
	} else {
		out->address.family = IP_V4;
		put_be32(out->address.bytes, (uint32_t)(node->address.high >> 32));
	}
}

bool allowed_ips_next(
	const struct allowed_ips *table, const struct peer *peer, size_t *cursor, struct ip_prefix *out)
{
	const struct allowed_list *list = &peer->allowed;

	(void)table; /* the list hangs on the peer */
	while (*cursor < list->len) {
		const struct allowed_node *node = list->nodes[(*cursor)++];

		if (node) {
			store_bits(node, out);
			return true;
		}
	}
	return false;
}
