/* SPDX-License-Identifier: MIT */
/* The way in: one message, whatever it is. Called for each packet; for data nothing here allocates.
 * Source: WireGuard paper 3, 5.4, 6; docs/wire.md sections 2 and 5. */
#include "core/tunnel/state.h"

#include "core/base/bytes.h"
#include "core/tunnel/ip_header.h"

/* What padding may add to an inner packet that fills the buffer; the tailroom has the place. */
#define PADDING_MAX 15

/* Later by (order of keypairs, counter) than anything before: only such a packet may move a path. A keypair
 * may have got a later order since it was last used: what is late within it stays late. */
static bool advance_newest(struct peer *peer, const struct session *session, uint64_t counter)
{
	uint64_t order = session->order;

	if (counter + 1 != session->replay.newest)
		return false;
	if (order < peer->newest_order || (order == peer->newest_order && counter <= peer->newest_counter))
		return false;
	peer->newest_order = order;
	peer->newest_counter = counter;
	return true;
}

/* An inner packet of at most len bytes: padding may follow. */
static enum verdict ip_consume(struct tunnel *tunnel, struct packet *plain, uint32_t len, struct received *out)
{
	struct ip_header header;

	if (!ip_header_parse(plain->data, len, &header))
		return VERDICT_BAD_INNER;
	if (allowed_ips_lookup(tunnel->allowed_ips, header.family, header.source) != out->peer)
		return VERDICT_SOURCE_NOT_ALLOWED;
	plain->len = header.len;
	out->kind = RECEIVED_DATA;
	return VERDICT_OK;
}

/* What is inside an authentic packet. */
static enum verdict inner_consume(
	struct tunnel *tunnel, struct packet *plain, uint32_t len, struct received *out)
{
	if (len == 0) {
		out->kind = RECEIVED_KEEPALIVE;
		return VERDICT_OK;
	}
	if (plain->data[0] >> 4 == 0) {
		if (!extension_parse(plain->data, len, &out->extension))
			return VERDICT_BAD_INNER;
		if (out->extension.type == EXTENSION_BURST) {
			plain->data += EXTENSION_BURST_LEN;
			plain->segment = out->extension.segment;
			return ip_consume(tunnel, plain, out->extension.len - EXTENSION_BURST_LEN, out);
		}
		out->kind = RECEIVED_EXTENSION;
		return VERDICT_OK;
	}
	return ip_consume(tunnel, plain, len, out);
}

static enum verdict outcome_verdict(enum session_outcome outcome)
{
	switch (outcome) {
	case SESSION_OK:
		return VERDICT_OK;
	case SESSION_EXPIRED:
		return VERDICT_EXPIRED;
	case SESSION_FORGED:
		return VERDICT_FORGED;
	case SESSION_REPLAYED:
		return VERDICT_REPLAYED;
	}
	return VERDICT_FORGED;
}

static enum verdict data_consume(struct tunnel *tunnel, const uint8_t *message, size_t len, struct mono now,
	struct wall wall, struct packet *plain, struct received *out)
{
	const struct data_header *header = (const struct data_header *)message;
	struct slot *slot = slot_find(tunnel, get_le32(header->receiver_index));
	uint32_t plain_len = (uint32_t)(len - DATA_MIN_LEN);
	uint64_t counter;
	enum verdict verdict;

	if (!slot || !slot->session)
		return VERDICT_UNKNOWN_INDEX;
	if (len - DATA_MIN_LEN > (size_t)plain->room + PADDING_MAX)
		return VERDICT_TOO_LARGE;

	struct session *session = slot->session;
	struct peer *peer = slot->peer;
	bool confirmed_before = session->confirmed;

	verdict = outcome_verdict(session_open(session, plain->data, message, len, &counter, now));
	if (verdict != VERDICT_OK)
		return verdict;

	if ((!confirmed_before || slot == peer->next) && sessions_confirm(tunnel, peer, slot, now)) {
		out->confirmed = true;
		handshake_done(tunnel, peer, now, wall);
	}
	out->peer = peer;
	out->newest = advance_newest(peer, session, counter);
	peer->rx_bytes += len;
	schedule_step(tunnel, peer, plain_len ? TIMERS_DATA_RECEIVED : TIMERS_RECEIVED, now);
	if (slot == peer->current && session->initiator &&
		mono_since_ms(now, session->born) >= REKEY_ON_RECEIVE_MS)
		schedule_step(tunnel, peer, TIMERS_REKEY, now);
	return inner_consume(tunnel, plain, plain_len, out);
}

static enum verdict consume(struct tunnel *tunnel, enum carrier carrier, const struct endpoint *source,
	const uint8_t *message, size_t len, struct mono now, struct wall wall, struct packet *plain,
	struct received *out)
{
	switch (message_classify(message, len)) {
	case MESSAGE_NONE:
		break;
	case MESSAGE_INITIATION:
		return initiation_consume(tunnel, carrier, source, message, now, wall, out);
	case MESSAGE_RESPONSE:
		return response_consume(tunnel, carrier, source, message, now, wall, out);
	case MESSAGE_COOKIE_REPLY:
		/* Nobody sends one by TCP, and whoever did would pass for the peer's connection (docs/wire.md 2).
		 */
		if (carrier == CARRIER_TCP)
			return VERDICT_BAD_COOKIE;
		return cookie_consume(tunnel, message, now, out);
	case MESSAGE_DATA:
		return data_consume(tunnel, message, len, now, wall, plain, out);
	}
	return VERDICT_NOT_WIREGUARD;
}

enum verdict tunnel_receive(struct tunnel *tunnel, enum carrier carrier, const struct endpoint *source,
	uint8_t *message, size_t len, struct mono now, struct wall wall, struct packet *plain,
	struct received *out)
{
	*out = (struct received){ .kind = RECEIVED_NOTHING };
	return verdict_note(tunnel, consume(tunnel, carrier, source, message, len, now, wall, plain, out));
}
