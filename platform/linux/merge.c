/* SPDX-License-Identifier: MIT */
/* Joining packets into bursts. Pure. Source: RFC 9293, RFC 768; virtio 1.2, 5.1.6. */
#include "platform/linux/merge.h"

#include "core/base/bytes.h"
#include "platform/linux/checksum.h"
#include "platform/linux/inner.h"
#include "platform/linux/segment.h"

#include <string.h>

#define MERGED_LEN_MAX 65535

static bool is_v4(const struct merge_view *view)
{
	return view->bytes[0] >> 4 == 4;
}

static bool checksums_right(const struct merge_view *view)
{
	const uint8_t *ip = view->bytes;
	bool v4 = is_v4(view);
	size_t len = view->len - view->transport;
	uint64_t sum = inner_pseudo_sum(ip, view->protocol, (uint32_t)len);

	if (v4 && checksum_fold(checksum_add(0, ip, IPV4_LEN)) != 0xffff)
		return false;
	return checksum_fold(checksum_add(sum, ip + view->transport, len)) == 0xffff;
}

bool merge_view(struct merge_view *view, const struct packet *packet, bool udp)
{
	const uint8_t *bytes = packet->data;
	struct merge_view v = { .bytes = bytes, .len = packet->len };

	v.transport = inner_ip_header(bytes, packet->len, &v.protocol);
	if (!v.transport)
		return false;
	if (v.protocol == PROTOCOL_TCP && v.len >= v.transport + TCP_LEN) {
		const uint8_t *tcp = bytes + v.transport;
		v.header_len = v.transport + (size_t)(tcp[TCP_OFFSET] >> 4) * 4;
		v.joins = v.header_len >= v.transport + TCP_LEN && v.header_len < v.len &&
			  (tcp[TCP_FLAGS] & ~FLAG_PSH) == FLAG_ACK && (tcp[TCP_OFFSET] & 15) == 0;
		v.closes = tcp[TCP_FLAGS] & FLAG_PSH;
	} else if (udp && v.protocol == PROTOCOL_UDP && v.len >= v.transport + UDP_LEN) {
		const uint8_t *header = bytes + v.transport;
		v.header_len = v.transport + UDP_LEN;
		v.joins = v.header_len < v.len && get_be16(header + UDP_LENGTH) == v.len - v.transport &&
			  get_be16(header + UDP_CHECKSUM) != 0;
	} else {
		return false;
	}
	v.payload_len = v.joins ? v.len - v.header_len : 0;
	v.joins = v.joins && checksums_right(&v);
	*view = v;
	return true;
}

/* Addresses and ports stand in one row in both versions. */
static bool same_flow(const struct merge_view *a, const struct merge_view *b)
{
	if (a->protocol != b->protocol || a->transport != b->transport || is_v4(a) != is_v4(b) ||
		memcmp(a->bytes + a->transport, b->bytes + b->transport, 4) != 0)
		return false;
	return is_v4(a) ? memcmp(a->bytes + IPV4_SOURCE, b->bytes + IPV4_SOURCE, 8) == 0
			: memcmp(a->bytes + IPV6_SOURCE, b->bytes + IPV6_SOURCE, 32) == 0;
}

struct merge *merge_find(struct merge_table *table, const struct merge_view *view)
{
	for (size_t i = 0; i < table->count; i++) {
		struct merge *merge = &table->flows[table->order[i]];
		if (same_flow(&merge->first, view))
			return merge;
	}
	return NULL;
}

/* TOS, don't-fragment, TTL; traffic class, flow label, hop limit: what the one merged header must say for
 * all. */
static bool same_ip(const uint8_t *a, const uint8_t *b)
{
	if (a[0] >> 4 == 4)
		return a[IPV4_TOS] == b[IPV4_TOS] && a[IPV4_FRAGMENT] == b[IPV4_FRAGMENT] &&
		       a[IPV4_TTL] == b[IPV4_TTL];
	return memcmp(a, b, 4) == 0 && a[7] == b[7];
}

/* Acknowledgement, header length, window and options; flags are ACK with or without PSH already. */
static bool same_tcp(const struct merge_view *a, const struct merge_view *b)
{
	const uint8_t *x = a->bytes + a->transport, *y = b->bytes + b->transport;

	return a->header_len == b->header_len && memcmp(x + TCP_ACKNOWLEDGED, y + TCP_ACKNOWLEDGED, 5) == 0 &&
	       memcmp(x + 14, y + 14, 2) == 0 &&
	       memcmp(x + TCP_LEN, y + TCP_LEN, a->header_len - a->transport - TCP_LEN) == 0;
}

bool merge_complete(const struct merge *merge)
{
	return merge->psh || merge->count == MERGE_PACKETS_MAX ||
	       merge->len != merge->first.len + (merge->count - 1) * merge->first.payload_len ||
	       merge->len + merge->first.payload_len > MERGED_LEN_MAX;
}

bool merge_join(struct merge *merge, const struct merge_view *view, struct packet *packet)
{
	if (!view->joins || merge_complete(merge) || view->payload_len > merge->first.payload_len ||
		!same_ip(merge->first.bytes, view->bytes))
		return false;
	if (view->protocol == PROTOCOL_TCP &&
		(!same_tcp(&merge->first, view) ||
			get_be32(view->bytes + view->transport + TCP_SEQUENCE) != merge->next_sequence))
		return false;
	merge->packets[merge->count++] = packet;
	merge->len += view->payload_len;
	merge->next_sequence += (uint32_t)view->payload_len;
	merge->psh = view->closes;
	return true;
}

void merge_start(struct merge_table *table, const struct merge_view *view, struct packet *packet)
{
	bool used[MERGE_FLOWS_MAX] = { false };
	size_t slot = 0;

	for (size_t i = 0; i < table->count; i++)
		used[table->order[i]] = true;
	while (used[slot])
		slot++;
	table->order[table->count++] = slot;

	struct merge *merge = &table->flows[slot];
	merge->packets[0] = packet;
	merge->count = 1;
	merge->len = view->len;
	merge->first = *view;
	merge->next_sequence =
		view->protocol == PROTOCOL_TCP
			? get_be32(view->bytes + view->transport + TCP_SEQUENCE) + (uint32_t)view->payload_len
			: 0;
	merge->psh = view->closes;
}

void merge_remove(struct merge_table *table, struct merge *merge)
{
	size_t slot = (size_t)(merge - table->flows), at = 0;

	while (table->order[at] != slot)
		at++;
	table->count--;
	memmove(table->order + at, table->order + at + 1, (table->count - at) * sizeof(table->order[0]));
}

struct merge *merge_oldest(struct merge_table *table)
{
	return table->count ? &table->flows[table->order[0]] : NULL;
}

void merge_prepare(const struct merge *merge, struct merge_write *out)
{
	const struct merge_view *first = &merge->first;
	bool v4 = is_v4(first), tcp = first->protocol == PROTOCOL_TCP;
	size_t transport_len = merge->len - first->transport;
	uint8_t *ip = out->copy, *transport = ip + first->transport;

	memcpy(ip, first->bytes, first->header_len);
	if (v4) {
		put_be16(ip + IPV4_TOTAL, (uint16_t)merge->len);
		inner_set_ip_checksum(ip);
	} else {
		put_be16(ip + IPV6_PAYLOAD, (uint16_t)(merge->len - IPV6_LEN));
	}
	uint16_t pseudo = checksum_fold(inner_pseudo_sum(ip, first->protocol, (uint32_t)transport_len));
	if (tcp) {
		if (merge->psh)
			transport[TCP_FLAGS] |= FLAG_PSH;
		checksum_put(transport + TCP_CHECKSUM, pseudo);
	} else {
		put_be16(transport + UDP_LENGTH, (uint16_t)transport_len);
		checksum_put(transport + UDP_CHECKSUM, pseudo);
	}

	out->header = (struct virtio_net_hdr){ .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		.gso_type = !tcp ? VIRTIO_NET_HDR_GSO_UDP_L4
			    : v4 ? VIRTIO_NET_HDR_GSO_TCPV4
				 : VIRTIO_NET_HDR_GSO_TCPV6,
		.hdr_len = (uint16_t)first->header_len,
		.gso_size = (uint16_t)first->payload_len,
		.csum_start = (uint16_t)first->transport,
		.csum_offset = tcp ? TCP_CHECKSUM : UDP_CHECKSUM };
	out->iov[0] = (struct iovec){ &out->header, sizeof(out->header) };
	out->iov[1] = (struct iovec){ out->copy, first->header_len };
	for (size_t i = 0; i < merge->count; i++)
		out->iov[2 + i] = (struct iovec){ merge->packets[i]->data + first->header_len,
			merge->packets[i]->len - first->header_len };
	out->iov_count = (int)merge->count + 2;
}
