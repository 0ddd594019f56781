/* SPDX-License-Identifier: MIT */
/* Noise_IKpsk2_25519_ChaChaPoly_BLAKE2s, one attempt on one side. Pure. Source: WireGuard paper 5.4.1 to 5.4.5.
 * The macs of the messages are not touched here: core/noise/cookie.h. */
#ifndef WGTCP_CORE_NOISE_HANDSHAKE_H
#define WGTCP_CORE_NOISE_HANDSHAKE_H

#include "core/noise/message.h"

/* Who we are. */
struct noise_identity {
	uint8_t private_key[KEY_LEN];
	uint8_t public_key[KEY_LEN];
};

/* Whom we talk to. static_shared is DH(our private key, public_key), worked out once for each pair. */
struct noise_remote {
	uint8_t public_key[KEY_LEN];
	uint8_t preshared_key[KEY_LEN]; /* zero: none */
	uint8_t static_shared[KEY_LEN];
};

struct handshake {
	uint8_t hash[HASH_LEN];
	uint8_t chaining_key[HASH_LEN];
	uint8_t ephemeral_private[KEY_LEN];  /* ours */
	uint8_t remote_ephemeral[KEY_LEN];   /* responder: from the initiation */
	uint32_t local_index, remote_index;  /* remote_index: 0 until known */
};

/* Keys of a finished handshake; wipe after use. */
struct transport_keys {
	uint8_t send[KEY_LEN], receive[KEY_LEN];
	uint32_t local_index, remote_index;
};

/* Sets public_key and clamps; private_key must be in place. */
void noise_identity_complete(struct noise_identity *self);
/* Works out static_shared; false when public_key is a low-order point. */
bool noise_remote_complete(struct noise_remote *remote, const struct noise_identity *self);

/* Initiator. Fills all of out but the macs. Fails only for a low-order static key. */
bool handshake_create_initiation(struct handshake *hs, const struct noise_identity *self,
	const struct noise_remote *remote, uint32_t local_index, const uint8_t timestamp[TAI64N_LEN],
	struct initiation *out);

/* Responder, step 1: who says it is calling? hs holds the state for step 2. False: not for us, or low order. */
bool handshake_open_static(struct handshake *hs, const struct noise_identity *self, const struct initiation *in,
	uint8_t public_key[KEY_LEN]);
/* Responder, step 2, with the peer looked up: authenticates the initiation and gives its timestamp.
 * hs and timestamp change only on success. */
bool handshake_open_timestamp(struct handshake *hs, const struct noise_remote *remote, const struct initiation *in,
	uint8_t timestamp[TAI64N_LEN]);
/* Responder, step 3: fills all of out but the macs, gives the keys. Wipes hs, also when it fails, which it does
 * only for a low-order point. */
bool handshake_create_response(struct handshake *hs, const struct noise_remote *remote, uint32_t local_index,
	struct response *out, struct transport_keys *keys);

/* Initiator: authenticates the response; on success gives the keys and leaves hs to be wiped by the caller. hs
 * itself is not changed, so that a forged response harms nothing. */
bool handshake_consume_response(const struct handshake *hs, const struct noise_identity *self,
	const struct noise_remote *remote, const struct response *in, struct transport_keys *keys);

void handshake_wipe(struct handshake *hs);

#endif
