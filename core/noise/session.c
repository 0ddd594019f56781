/* SPDX-License-Identifier: MIT */
/* Seals and opens transport data in place. Called by core/tunnel for each packet: nothing here allocates but
 * session_new. Source: WireGuard paper 5.4.6, 6.1. */
#include "core/noise/session.h"

#include "core/base/bytes.h"

#include <stdlib.h>

#define HEADER_LEN sizeof(struct data_header)

static bool young(const struct session *session, struct mono now)
{
	return mono_since_ms(now, session->born) < REJECT_AFTER_MS;
}

struct session *session_new(const struct transport_keys *keys, bool initiator, uint64_t order,
	uint32_t replay_bits, struct mono now)
{
	struct session *session = calloc(1, sizeof(*session));

	if (!session)
		return NULL;
	if (!aead_init(&session->send, keys->send) || !aead_init(&session->receive, keys->receive) ||
		!replay_init(&session->replay, replay_bits)) {
		session_free(session);
		return NULL;
	}
	session->local_index = keys->local_index;
	session->remote_index = keys->remote_index;
	session->born = now;
	session->order = order;
	session->initiator = initiator;
	session->confirmed = initiator; /* the response was its proof */
	return session;
}

void session_free(struct session *session)
{
	if (!session)
		return;
	aead_wipe(&session->send);
	aead_wipe(&session->receive);
	replay_free(&session->replay);
	secret_wipe(session, sizeof(*session));
	free(session);
}

bool session_may_send(const struct session *session, struct mono now)
{
	return session->confirmed && session->send_counter < REJECT_AFTER_MESSAGES && young(session, now);
}

enum session_outcome session_seal(struct session *session, uint8_t *plain, size_t len, struct mono now)
{
	struct data_header *header = (struct data_header *)(plain - HEADER_LEN);

	if (!session_may_send(session, now))
		return SESSION_EXPIRED;
	put_le32(header->type, MESSAGE_DATA);
	put_le32(header->receiver_index, session->remote_index);
	put_le64(header->counter, session->send_counter);
	aead_seal(&session->send, plain, plain, len, session->send_counter);
	session->send_counter++;
	return SESSION_OK;
}

enum session_outcome session_open(struct session *session, uint8_t *plain, const uint8_t *message, size_t len,
	uint64_t *counter, struct mono now)
{
	const struct data_header *header = (const struct data_header *)message;

	if (len < DATA_MIN_LEN)
		return SESSION_FORGED;
	uint64_t sent = get_le64(header->counter);

	if (sent >= REJECT_AFTER_MESSAGES || !young(session, now))
		return SESSION_EXPIRED;
	if (!aead_open(&session->receive, plain, message + HEADER_LEN, len - HEADER_LEN, sent))
		return SESSION_FORGED;
	/* Only now: a forged counter must not move the window. */
	if (!replay_accept(&session->replay, sent))
		return SESSION_REPLAYED;
	session->confirmed = true;
	*counter = sent;
	return SESSION_OK;
}
