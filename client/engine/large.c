/* SPDX-License-Identifier: MIT */
/* Which way full-size packets are lost by UDP: when an echo that is large both ways stays unanswered, two
 * more go out beside its next copy, one that is large on the way there and one that is large on the way back.
 * A peer without our extension is sent a large datagram to a port that nobody has open; the error that comes
 * back is small. For a diagnosis: no carrier is chosen by it. Called by echo.c. Source: docs/wire.md 5; RFC 792,
 * RFC 1812 4.3.2.3, RFC 4443 3.1. */
#include "client/engine/state.h"
#include "core/base/internet_sum.h"

#include <string.h>

#define UDP_HEADER_LEN 8
#define ICMP_ERROR_LEN 8
#define PROTOCOL_ICMP 1
#define PROTOCOL_UDP 17
#define ICMP4_UNREACHABLE 3
#define ICMP4_PORT 3
/* Where traceroute knocks: hardly anybody listens there. */
#define CLOSED_PORT 33434

/* From the id of the echo that began it: ids are counted from a random place, so these are nobody else's. */
static uint64_t id_there(const struct link *link)
{
	return ~link->large.base;
}

static uint64_t id_back(const struct link *link)
{
	return link->large.base ^ UINT64_C(0xaaaaaaaaaaaaaaaa);
}

static void send_one_way(struct link *link, uint64_t id, size_t there, size_t back)
{
	struct engine *engine = link->engine;
	struct extension request = {
		.type = EXTENSION_ECHO_REQUEST,
		.len = (uint16_t)there,
		.reply_len = (uint16_t)back,
		.id = id,
		.clock_ns = engine->now.ns,
	};
	struct packet *packet = packet_take(engine->pool);

	if (!packet)
		return;
	if (tunnel_seal_extension(engine->tunnel, link->peer, &request, packet, engine->now) == VERDICT_OK)
		outbound_message(link, CARRIER_UDP, packet);
	else
		packet_give(engine->pool, packet);
}

/* IPv4 only: the kernel's checksum of a UDP header may be left out there. */
static void send_to_closed_port(struct link *link)
{
	struct engine *engine = link->engine;
	struct packet *packet = packet_take(engine->pool);
	size_t len = engine->mtu;
	uint8_t *out;

	if (!packet)
		return;
	if (len > packet->room)
		len = packet->room;
	out = packet->data;
	memset(out, 0, len);
	out[0] = 0x45;
	put_be16(out + 2, (uint16_t)len);
	out[8] = 64;
	out[9] = PROTOCOL_UDP;
	memcpy(out + 12, link->probe_source.bytes, 4);
	memcpy(out + 16, link->probe_target.bytes, 4);
	put_be16(out + 10, (uint16_t)~internet_sum(out, 20, 0));
	put_be16(out + 20, engine->icmp_id);
	put_be16(out + 22, CLOSED_PORT);
	put_be16(out + 24, (uint16_t)(len - 20));
	packet->len = (uint32_t)len;
	if (tunnel_seal(engine->tunnel, link->peer, packet, engine->now) == VERDICT_OK)
		outbound_message(link, CARRIER_UDP, packet);
	else
		packet_give(engine->pool, packet);
}

void large_asked(struct link *link, const struct fallback_echo *echo, bool extension)
{
	if (!echo->full || echo->carrier != CARRIER_UDP)
		return;
	if (link->large.unanswered < UINT8_MAX)
		link->large.unanswered++;
	if (link->large.unanswered < 2)
		return;
	if (!link->large.asked)
		link->large.base = echo->id;
	link->large.asked = true;
	if (extension) {
		send_one_way(link, id_there(link), link->engine->mtu, EXTENSION_ECHO_LEN);
		send_one_way(link, id_back(link), EXTENSION_ECHO_LEN, link->engine->mtu);
	} else if (link->probe_target.family == IP_V4 && link->engine->mtu > 20 + UDP_HEADER_LEN) {
		send_to_closed_port(link);
	}
}

bool large_answered(struct link *link, enum carrier carrier, uint64_t id)
{
	if (!link->large.asked || (id != id_there(link) && id != id_back(link)))
		return false;
	if (carrier == CARRIER_UDP) {
		link->large.there |= id == id_there(link);
		link->large.back |= id == id_back(link);
	}
	return true;
}

void large_passed(struct link *link, enum carrier carrier)
{
	if (carrier == CARRIER_UDP)
		link->large = (struct large){ 0 };
}

bool large_is_error(struct link *link, enum carrier carrier, const struct packet *plain)
{
	const uint8_t *data = plain->data, *quoted;

	if (!link->large.asked || link->probe_target.family != IP_V4 ||
		plain->len < 20 + ICMP_ERROR_LEN + 20 + UDP_HEADER_LEN || data[0] != 0x45 ||
		data[9] != PROTOCOL_ICMP || data[20] != ICMP4_UNREACHABLE || data[21] != ICMP4_PORT)
		return false;
	quoted = data + 20 + ICMP_ERROR_LEN;
	if (quoted[0] != 0x45 || quoted[9] != PROTOCOL_UDP ||
		get_be16(quoted + 20) != link->engine->icmp_id || get_be16(quoted + 22) != CLOSED_PORT ||
		memcmp(quoted + 16, link->probe_target.bytes, 4) != 0 ||
		get_be16(quoted + 2) < link->engine->mtu)
		return false;
	link->large.there |= carrier == CARRIER_UDP;
	return true;
}

const char *large_name(const struct link *link)
{
	/* With one of both, the other is what is lost; that neither answers may have other reasons. */
	if (!link->large.asked || (!link->large.there && !link->large.back))
		return "";
	return link->large.there && link->large.back ? "" : link->large.there ? "there" : "back";
}
