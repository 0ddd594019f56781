/* SPDX-License-Identifier: MIT */
/* The way out: which peer, padding, sealing in place. Called for each packet; nothing here allocates.
 * Source: WireGuard paper 3, 5.4.6, 6.2. */
#include "core/tunnel/state.h"

#include "core/tunnel/ip_header.h"

#include <string.h>

#define PADDING 16
/* The message must fit a 16-bit length. */
#define PLAIN_MAX (65535 - DATA_MIN_LEN)

enum verdict tunnel_route(struct tunnel *tunnel, const struct packet *inner, struct peer **peer)
{
	struct ip_header header;
	struct peer *found;

	if (!ip_header_parse(inner->data, inner->len, &header))
		return verdict_note(tunnel, VERDICT_NOT_IP);
	found = allowed_ips_lookup(tunnel->allowed_ips, header.family, header.destination);
	if (!found)
		return verdict_note(tunnel, VERDICT_NO_ROUTE);
	*peer = found;
	return VERDICT_OK;
}

/* Up to a multiple of 16, but never past the MTU; a packet larger than that goes as it is. */
static uint32_t padded_len(const struct tunnel *tunnel, uint32_t len)
{
	uint32_t padded = (len + PADDING - 1) / PADDING * PADDING;
	uint32_t most = len > tunnel->mtu ? len : tunnel->mtu;

	return padded < most ? padded : most;
}

static bool wants_rekey(const struct session *session, struct mono now)
{
	return session->send_counter >= REKEY_AFTER_MESSAGES ||
	       (session->initiator && mono_since_ms(now, session->born) >= REKEY_AFTER_MS);
}

static enum verdict seal(struct tunnel *tunnel, struct peer *peer, struct session *session,
	struct packet *packet, enum timers_event event, struct mono now)
{
	uint32_t padded = padded_len(tunnel, packet->len);

	if (packet->len > packet->room || padded > PLAIN_MAX)
		return VERDICT_TOO_LARGE;
	memset(packet->data + packet->len, 0, padded - packet->len);
	if (session_seal(session, packet->data, padded, now) != SESSION_OK)
		return VERDICT_NO_SESSION;
	packet->data -= sizeof(struct data_header);
	packet->len = padded + (uint32_t)DATA_MIN_LEN;
	peer->tx_bytes += packet->len;
	schedule_step(tunnel, peer, event, now);
	if (wants_rekey(session, now))
		schedule_step(tunnel, peer, TIMERS_REKEY, now);
	return VERDICT_OK;
}

enum verdict tunnel_seal(struct tunnel *tunnel, struct peer *peer, struct packet *inner, struct mono now)
{
	struct session *session = sessions_sendable(peer, now);

	if (!session)
		return verdict_note(tunnel, VERDICT_NO_SESSION);
	return verdict_note(tunnel, seal(tunnel, peer, session, inner, TIMERS_DATA_SENT, now));
}

enum verdict tunnel_seal_burst(struct tunnel *tunnel, struct peer *peer, struct packet *burst, struct mono now)
{
	struct session *session = sessions_sendable(peer, now);
	const struct extension extension = {
		.type = EXTENSION_BURST,
		.len = (uint16_t)(EXTENSION_BURST_LEN + burst->len),
		.segment = burst->segment,
	};

	if (!session)
		return verdict_note(tunnel, VERDICT_NO_SESSION);
	if (burst->len > BURST_MAX)
		return verdict_note(tunnel, VERDICT_TOO_LARGE);
	burst->data -= EXTENSION_BURST_LEN;
	(void)extension_write(&extension, burst->data, EXTENSION_BURST_LEN);
	burst->len += EXTENSION_BURST_LEN;
	enum verdict verdict = seal(tunnel, peer, session, burst, TIMERS_DATA_SENT, now);

	if (verdict != VERDICT_OK) {
		burst->data += EXTENSION_BURST_LEN;
		burst->len -= EXTENSION_BURST_LEN;
	}
	return verdict_note(tunnel, verdict);
}

enum verdict tunnel_seal_keepalive(
	struct tunnel *tunnel, struct peer *peer, struct packet *out, struct mono now)
{
	struct session *session = sessions_sendable(peer, now);

	if (!session)
		return verdict_note(tunnel, VERDICT_NO_SESSION);
	out->len = 0;
	return verdict_note(tunnel, seal(tunnel, peer, session, out, TIMERS_SENT, now));
}

enum verdict tunnel_seal_extension(struct tunnel *tunnel, struct peer *peer,
	const struct extension *extension, struct packet *out, struct mono now)
{
	struct session *session = sessions_sendable(peer, now);

	if (!session)
		return verdict_note(tunnel, VERDICT_NO_SESSION);
	if (!extension_write(extension, out->data, out->room))
		return verdict_note(tunnel, VERDICT_TOO_LARGE);
	out->len = extension->len;
	/* Data to every other implementation, so the other side owes a sign of life for it as for any. */
	return verdict_note(tunnel, seal(tunnel, peer, session, out, TIMERS_DATA_SENT, now));
}
