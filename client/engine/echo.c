/* SPDX-License-Identifier: MIT */
/* Asking whether a carrier works, inside the session: by our extension where the peer has shown it, else by
 * an ICMP echo to an inner address. Source: docs/wire.md 5; RFC 792, RFC 4443. */
#include "client/engine/state.h"
#include "core/base/internet_sum.h"

#include <string.h>

#define ICMP_HEADER_LEN 8
#define ICMP_PAYLOAD_MIN 16 /* our id and its complement, to know the answer by */
#define ICMP4_REQUEST 8
#define ICMP4_REPLY 0
#define ICMP6_REQUEST 128
#define ICMP6_REPLY 129
#define PROTOCOL_ICMP 1
#define PROTOCOL_ICMP6 58

static void remember(struct link *link, uint64_t id, bool full)
{
	link->echoes[link->echo_next++ % ECHOES_KEPT] = (struct echo_sent){ id, link->engine->now, full };
}

static void answered(struct link *link, enum carrier carrier, uint64_t id)
{
	struct fallback_event event = { .kind = FALLBACK_ECHO_REPLY, .carrier = carrier, .echo_id = id };

	for (size_t i = 0; i < ECHOES_KEPT; i++) {
		struct echo_sent *echo = &link->echoes[i];

		if (echo->id != id || !id)
			continue;
		link->rtt_us = (uint32_t)(mono_since_ns(link->engine->now, echo->sent) / 1000);
		echo->id = 0;
		if (echo->full)
			large_passed(link, carrier);
		link_event(link, &event);
		return;
	}
}

/* Seals an extension message and sends it on a certain stream, or by a carrier. */
static void send_extension(
	struct link *link, enum carrier carrier, struct stream *stream, const struct extension *extension)
{
	struct engine *engine = link->engine;
	struct packet *packet = packet_take(engine->pool);

	if (!packet)
		return;
	if (tunnel_seal_extension(engine->tunnel, link->peer, extension, packet, engine->now) != VERDICT_OK)
		packet_give(engine->pool, packet);
	else if (stream && stream->token.kind != TOKEN_DEAD)
		stream_send(engine, stream, packet);
	else
		outbound_message(link, carrier, packet);
}

static void say_hello(struct link *link, enum carrier carrier, struct stream *stream)
{
	struct engine *engine = link->engine;
	bool leads = endpoint_is_set(&link->endpoint) || link->tcp_endpoint_count;
	struct extension hello = {
		.type = EXTENSION_HELLO,
		.len = EXTENSION_HELLO_LEN,
		.capabilities = CAPABILITY_ECHO | CAPABILITY_STREAMS | CAPABILITY_STAMPS |
				(leads ? CAPABILITY_LEADS : 0u) | bursts_offer(engine, stream),
		.streams_max = STREAMS_MAX,
		.inner_max = (uint16_t)(engine->mtu > UINT16_MAX ? UINT16_MAX : engine->mtu),
	};

	send_extension(link, carrier, stream, &hello);
}

void echo_send_hello(struct link *link, enum carrier carrier)
{
	if (!link->engine->extensions || !link->hello_due)
		return;
	link->hello_due = false;
	say_hello(link, carrier, carrier == CARRIER_TCP ? link->stream : NULL);
}

void echo_say_hello(struct link *link, struct stream *stream)
{
	if (link->engine->extensions)
		say_hello(link, CARRIER_TCP, stream);
}

void echo_tell_target(struct link *link)
{
	struct fallback_event event = { .kind = FALLBACK_ECHO_TARGET };
	bool hello = link->engine->extensions && link->hello_shown && (link->capabilities & CAPABILITY_ECHO);

	if (!hello && link->probe_target.family == IP_NONE)
		return;
	event.trusted = hello;
	link_event(link, &event);
}

static void take_hello(
	struct link *link, enum carrier carrier, struct stream *stream, const struct extension *hello)
{
	uint8_t private_key[KEY_LEN], public_key[KEY_LEN] = { 0 };
	bool peer_leads;

	link->hello_shown = true;
	link->capabilities = hello->capabilities;
	if (carrier == CARRIER_TCP)
		pace_note(link); /* a long path wants its streams before there is data */
	link->peer_streams = hello->streams_max;
	link->peer_inner_max = hello->inner_max;
	tunnel_keys(link->engine->tunnel, private_key, public_key);
	secret_wipe(private_key, sizeof(private_key));
	peer_leads = (hello->capabilities & CAPABILITY_LEADS) &&
		     memcmp(peer_public_key(link->peer), public_key, KEY_LEN) < 0;
	if (peer_leads != link->peer_leads) {
		link->peer_leads = peer_leads;
		link_settings_changed(link);
	}
	if (carrier == CARRIER_TCP)
		bursts_take_hello(stream, hello->capabilities);
	if (!link->leads)
		echo_send_hello(link, carrier);
	/* One that the leader says for this connection is answered on it. */
	if (!link->leads && carrier == CARRIER_TCP && stream->bursts && !stream->asked)
		echo_say_hello(link, stream);
	echo_tell_target(link);
}

void echo_extension(
	struct link *link, enum carrier carrier, struct stream *stream, const struct extension *extension)
{
	struct extension reply;

	switch (extension->type) {
	case EXTENSION_HELLO:
		take_hello(link, carrier, stream, extension);
		break;
	case EXTENSION_ECHO_REQUEST:
		reply = *extension;
		reply.type = EXTENSION_ECHO_REPLY;
		reply.len =
			extension->reply_len < EXTENSION_ECHO_LEN ? EXTENSION_ECHO_LEN : extension->reply_len;
		if (reply.len > link->engine->mtu)
			reply.len = (uint16_t)link->engine->mtu;
		/* Back the way it came: that is what is being asked. */
		send_extension(link, carrier, stream, &reply);
		break;
	case EXTENSION_ECHO_REPLY:
		if (!large_answered(link, carrier, extension->id))
			answered(link, carrier, extension->id);
		break;
	case EXTENSION_BURST: /* data (core/tunnel/receive.c) */
		break;
	case EXTENSION_STAMP:
		if (carrier == CARRIER_TCP)
			hold_take_stamp(link, stream, extension->clock_ns);
		break;
	}
}

static size_t write_icmp4(const struct link *link, uint8_t *out, size_t len, uint64_t id)
{
	uint8_t *icmp = out + 20;

	memset(out, 0, len);
	out[0] = 0x45;
	put_be16(out + 2, (uint16_t)len);
	out[8] = 64;
	out[9] = PROTOCOL_ICMP;
	memcpy(out + 12, link->probe_source.bytes, 4);
	memcpy(out + 16, link->probe_target.bytes, 4);
	put_be16(out + 10, (uint16_t)~internet_sum(out, 20, 0));
	icmp[0] = ICMP4_REQUEST;
	put_be16(icmp + 4, link->engine->icmp_id);
	put_be16(icmp + 6, (uint16_t)id);
	put_be64(icmp + ICMP_HEADER_LEN, id);
	put_be64(icmp + ICMP_HEADER_LEN + 8, ~id);
	put_be16(icmp + 2, (uint16_t)~internet_sum(icmp, len - 20, 0));
	return len;
}

static size_t write_icmp6(const struct link *link, uint8_t *out, size_t len, uint64_t id)
{
	uint8_t *icmp = out + 40;
	uint32_t sum;

	memset(out, 0, len);
	out[0] = 0x60;
	put_be16(out + 4, (uint16_t)(len - 40));
	out[6] = PROTOCOL_ICMP6;
	out[7] = 64;
	memcpy(out + 8, link->probe_source.bytes, 16);
	memcpy(out + 24, link->probe_target.bytes, 16);
	icmp[0] = ICMP6_REQUEST;
	put_be16(icmp + 4, link->engine->icmp_id);
	put_be16(icmp + 6, (uint16_t)id);
	put_be64(icmp + ICMP_HEADER_LEN, id);
	put_be64(icmp + ICMP_HEADER_LEN + 8, ~id);
	sum = internet_sum(out + 8, 32, (uint32_t)(len - 40) + PROTOCOL_ICMP6);
	put_be16(icmp + 2, (uint16_t)~internet_sum(icmp, len - 40, sum));
	return len;
}

static void send_icmp(struct link *link, const struct fallback_echo *echo)
{
	struct engine *engine = link->engine;
	bool v4 = link->probe_target.family == IP_V4;
	size_t smallest = (v4 ? 20u : 40u) + ICMP_HEADER_LEN + ICMP_PAYLOAD_MIN;
	size_t len = echo->full && engine->mtu > smallest ? engine->mtu : smallest;
	struct packet *packet = packet_take(engine->pool);

	if (!packet)
		return;
	if (len > packet->room)
		len = packet->room;
	packet->len = (uint32_t)(v4 ? write_icmp4(link, packet->data, len, echo->id)
				    : write_icmp6(link, packet->data, len, echo->id));
	if (tunnel_seal(engine->tunnel, link->peer, packet, engine->now) == VERDICT_OK)
		outbound_message(link, echo->carrier, packet);
	else
		packet_give(engine->pool, packet);
}

void echo_send(struct link *link, const struct fallback_echo *echo)
{
	struct engine *engine = link->engine;
	bool extension = engine->extensions && link->hello_shown && (link->capabilities & CAPABILITY_ECHO);
	struct extension request = {
		.type = EXTENSION_ECHO_REQUEST,
		.len = (uint16_t)(echo->full ? engine->mtu : EXTENSION_ECHO_LEN),
		.id = echo->id,
		.clock_ns = engine->now.ns,
	};

	remember(link, echo->id, echo->full);
	large_asked(link, echo, extension);
	if (extension) {
		request.reply_len = request.len;
		send_extension(link, echo->carrier, NULL, &request);
	} else if (link->probe_target.family != IP_NONE) {
		send_icmp(link, echo);
	}
}

bool echo_is_reply(struct link *link, enum carrier carrier, const struct packet *plain)
{
	const uint8_t *data = plain->data, *icmp;
	bool v4 = link->probe_target.family == IP_V4;
	size_t header = v4 ? 20 : 40;

	if (link->probe_target.family == IP_NONE || plain->len < header + ICMP_HEADER_LEN + ICMP_PAYLOAD_MIN)
		return false;
	if (v4 ? data[0] != 0x45 || data[9] != PROTOCOL_ICMP : data[0] >> 4 != 6 || data[6] != PROTOCOL_ICMP6)
		return false;
	icmp = data + header;
	if (icmp[0] != (v4 ? ICMP4_REPLY : ICMP6_REPLY) || get_be16(icmp + 4) != link->engine->icmp_id)
		return false;
	uint64_t id = get_be64(icmp + ICMP_HEADER_LEN);

	/* Somebody's own ping may have our id by chance: the payload must be ours too. */
	if (get_be64(icmp + ICMP_HEADER_LEN + 8) != ~id)
		return false;
	answered(link, carrier, id);
	return true;
}
