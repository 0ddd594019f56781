/* SPDX-License-Identifier: MIT */
/* One pair of transport keys, its counters and its age. Source: WireGuard paper 5.4.6, 6.1. */
#ifndef WGTCP_CORE_NOISE_SESSION_H
#define WGTCP_CORE_NOISE_SESSION_H

#include "core/base/time.h"
#include "core/noise/handshake.h"
#include "core/noise/replay.h"

#define REKEY_AFTER_MESSAGES (1ull << 60)
#define REJECT_AFTER_MESSAGES (UINT64_MAX - (1ull << 13)) /* 2^64 - 2^13 - 1 */
#define REKEY_AFTER_MS 120000
#define REJECT_AFTER_MS 180000

struct session {
	struct aead send, receive;
	uint64_t send_counter; /* next to use */
	struct replay replay;
	uint32_t local_index, remote_index;
	struct mono born;
	uint64_t order; /* rises with each session of a peer: the newer keypair (docs/wire.md 2) */
	bool initiator; /* we sent the initiation */
	bool confirmed; /* an authenticated packet has come in on it (always true for the initiator) */
};

enum session_outcome { SESSION_OK, SESSION_EXPIRED, SESSION_FORGED, SESSION_REPLAYED };

/* Heap; NULL when memory is short. Keys are copied; the caller wipes its own. */
struct session *session_new(const struct transport_keys *keys, bool initiator, uint64_t order, uint32_t replay_bits,
	struct mono now);
/* Wipes. NULL is allowed. */
void session_free(struct session *session);

/* Turns len bytes of plaintext at plain into a data message: the header goes to the 16 bytes before plain, the tag to
 * the 16 behind. Plaintext is already padded. The message is then plain - 16, len + 32 bytes long. */
enum session_outcome session_seal(struct session *session, uint8_t *plain, size_t len, struct mono now);
/* Opens a data message whose receiver index is this session's. plain (room for len - 32 bytes) may be message + 16. */
enum session_outcome session_open(struct session *session, uint8_t *plain, const uint8_t *message, size_t len,
	uint64_t *counter, struct mono now);
bool session_may_send(const struct session *session, struct mono now);

#endif
