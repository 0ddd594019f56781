/* SPDX-License-Identifier: MIT */
/* Noise_IKpsk2, both sides. Called by core/tunnel on its one thread.
 * Each step works on a copy that is committed only when all of it held; the tokens of the Noise pattern stand
 * beside the lines that carry them out:
 *
 *   <- s
 *   -> e, es, s, ss, {timestamp}
 *   <- e, ee, se, psk, {}
 *
 * Source: WireGuard paper 5.4.1 to 5.4.5; noiseprotocol.org, 9 (psk2). */
#include "core/noise/handshake.h"

#include "core/base/bytes.h"

#include <string.h>

static const char construction[] = "Noise_IKpsk2_25519_ChaChaPoly_BLAKE2s";
static const char identifier[] = "WireGuard v1 zx2c4 Jason@zx2c4.com";

/* H = HASH(H || data) */
static void mix_hash(struct handshake *hs, const void *data, size_t len)
{
	hash2(hs->hash, hs->hash, HASH_LEN, data, len);
}

/* C = KDF_1(C, data), or with a key, which may be NULL: (C, key) = KDF_2(C, data) */
static void mix_key(struct handshake *hs, uint8_t *key, const void *data, size_t len)
{
	kdf(hs->chaining_key, key, NULL, hs->chaining_key, data, len);
}

/* The same with a DH result; false when that is zero. */
static bool mix_dh(struct handshake *hs, uint8_t *key, const uint8_t private_key[KEY_LEN],
	const uint8_t public_key[KEY_LEN])
{
	uint8_t shared[KEY_LEN];
	bool ok = dh_shared(shared, private_key, public_key);

	if (ok)
		mix_key(hs, key, shared, sizeof(shared));
	secret_wipe(shared, sizeof(shared));
	return ok;
}

/* With a public key in the clear, an ephemeral one: C = KDF_1(C, E), H = HASH(H || E) */
static void mix_ephemeral(struct handshake *hs, const uint8_t ephemeral[KEY_LEN])
{
	mix_key(hs, NULL, ephemeral, KEY_LEN);
	mix_hash(hs, ephemeral, KEY_LEN);
}

/* (C, tau, key) = KDF_3(C, Q), H = HASH(H || tau) */
static void mix_psk(struct handshake *hs, uint8_t key[KEY_LEN], const uint8_t preshared_key[KEY_LEN])
{
	uint8_t tau[HASH_LEN];

	kdf(hs->chaining_key, tau, key, hs->chaining_key, preshared_key, KEY_LEN);
	mix_hash(hs, tau, sizeof(tau));
	secret_wipe(tau, sizeof(tau));
}

/* Each key seals one thing, so the counter is always 0. */
static void seal_and_hash(
	struct handshake *hs, uint8_t *out, const uint8_t key[KEY_LEN], const uint8_t *plain, size_t len)
{
	aead_seal_once(out, key, 0, plain, len, hs->hash, HASH_LEN);
	mix_hash(hs, out, len + TAG_LEN);
}

static bool open_and_hash(
	struct handshake *hs, uint8_t *out, const uint8_t key[KEY_LEN], const uint8_t *sealed, size_t len)
{
	if (!aead_open_once(out, key, 0, sealed, len, hs->hash, HASH_LEN))
		return false;
	mix_hash(hs, sealed, len);
	return true;
}

/* What both sides know before the first message: the two texts and who is called. */
static void start(struct handshake *hs, const uint8_t responder[KEY_LEN])
{
	memset(hs, 0, sizeof(*hs));
	hash2(hs->chaining_key, construction, sizeof(construction) - 1, NULL, 0);
	hash2(hs->hash, hs->chaining_key, HASH_LEN, identifier, sizeof(identifier) - 1);
	mix_hash(hs, responder, KEY_LEN);
}

/* (first, second) = KDF_2(C, nothing): the initiator sends with the first. */
static void split(const struct handshake *hs, uint8_t first[KEY_LEN], uint8_t second[KEY_LEN])
{
	kdf(first, second, NULL, hs->chaining_key, NULL, 0);
}

void noise_identity_complete(struct noise_identity *self)
{
	dh_clamp(self->private_key);
	dh_public(self->public_key, self->private_key);
}

bool noise_remote_complete(struct noise_remote *remote, const struct noise_identity *self)
{
	return dh_shared(remote->static_shared, self->private_key, remote->public_key);
}

bool handshake_create_initiation(struct handshake *hs, const struct noise_identity *self,
	const struct noise_remote *remote, uint32_t local_index, const uint8_t timestamp[TAI64N_LEN],
	struct initiation *out)
{
	struct handshake next;
	struct initiation message = { 0 };
	uint8_t key[KEY_LEN];
	bool ok = false;

	start(&next, remote->public_key);
	next.local_index = local_index;
	put_le32(message.type, MESSAGE_INITIATION);
	put_le32(message.sender_index, local_index);

	dh_generate(next.ephemeral_private);
	dh_public(message.ephemeral, next.ephemeral_private);
	mix_ephemeral(&next, message.ephemeral);                             /* e */
	if (!mix_dh(&next, key, next.ephemeral_private, remote->public_key)) /* es */
		goto out;
	seal_and_hash(&next, message.sealed_static, key, self->public_key, KEY_LEN); /* s */
	if (secret_is_zero(remote->static_shared, KEY_LEN))
		goto out;
	mix_key(&next, key, remote->static_shared, KEY_LEN); /* ss */
	seal_and_hash(&next, message.sealed_timestamp, key, timestamp, TAI64N_LEN);

	*hs = next;
	*out = message;
	ok = true;
out:
	secret_wipe(key, sizeof(key));
	secret_wipe(&next, sizeof(next));
	return ok;
}

bool handshake_open_static(struct handshake *hs, const struct noise_identity *self,
	const struct initiation *in, uint8_t public_key[KEY_LEN])
{
	struct handshake next;
	uint8_t key[KEY_LEN], caller[KEY_LEN];
	bool ok = false;

	start(&next, self->public_key);
	next.remote_index = get_le32(in->sender_index);
	memcpy(next.remote_ephemeral, in->ephemeral, KEY_LEN);

	mix_ephemeral(&next, in->ephemeral);                       /* e */
	if (!mix_dh(&next, key, self->private_key, in->ephemeral)) /* es */
		goto out;
	if (!open_and_hash(&next, caller, key, in->sealed_static, sizeof(in->sealed_static))) /* s */
		goto out;

	*hs = next;
	memcpy(public_key, caller, KEY_LEN);
	ok = true;
out:
	secret_wipe(key, sizeof(key));
	secret_wipe(caller, sizeof(caller));
	secret_wipe(&next, sizeof(next));
	return ok;
}

bool handshake_open_timestamp(struct handshake *hs, const struct noise_remote *remote,
	const struct initiation *in, uint8_t timestamp[TAI64N_LEN])
{
	struct handshake next = *hs;
	uint8_t key[KEY_LEN], opened[TAI64N_LEN];
	bool ok = false;

	if (secret_is_zero(remote->static_shared, KEY_LEN))
		goto out;
	mix_key(&next, key, remote->static_shared, KEY_LEN); /* ss */
	if (!open_and_hash(&next, opened, key, in->sealed_timestamp, sizeof(in->sealed_timestamp)))
		goto out;

	*hs = next;
	memcpy(timestamp, opened, TAI64N_LEN);
	ok = true;
out:
	secret_wipe(key, sizeof(key));
	secret_wipe(&next, sizeof(next));
	return ok;
}

bool handshake_create_response(struct handshake *hs, const struct noise_remote *remote, uint32_t local_index,
	struct response *out, struct transport_keys *keys)
{
	struct handshake next = *hs;
	struct response message = { 0 };
	uint8_t key[KEY_LEN];
	bool ok = false;

	put_le32(message.type, MESSAGE_RESPONSE);
	put_le32(message.sender_index, local_index);
	put_le32(message.receiver_index, next.remote_index);

	dh_generate(next.ephemeral_private);
	dh_public(message.ephemeral, next.ephemeral_private);
	mix_ephemeral(&next, message.ephemeral);                                 /* e */
	if (!mix_dh(&next, NULL, next.ephemeral_private, next.remote_ephemeral)) /* ee */
		goto out;
	if (!mix_dh(&next, NULL, next.ephemeral_private, remote->public_key)) /* se */
		goto out;
	mix_psk(&next, key, remote->preshared_key); /* psk */
	seal_and_hash(&next, message.sealed_nothing, key, NULL, 0);

	split(&next, keys->receive, keys->send);
	keys->local_index = local_index;
	keys->remote_index = next.remote_index;
	*out = message;
	ok = true;
out:
	handshake_wipe(hs);
	secret_wipe(key, sizeof(key));
	secret_wipe(&next, sizeof(next));
	return ok;
}

bool handshake_consume_response(const struct handshake *hs, const struct noise_identity *self,
	const struct noise_remote *remote, const struct response *in, struct transport_keys *keys)
{
	struct handshake next = *hs;
	uint8_t key[KEY_LEN], nothing[1];
	bool ok = false;

	if (get_le32(in->receiver_index) != hs->local_index)
		goto out;
	mix_ephemeral(&next, in->ephemeral);                             /* e */
	if (!mix_dh(&next, NULL, next.ephemeral_private, in->ephemeral)) /* ee */
		goto out;
	if (!mix_dh(&next, NULL, self->private_key, in->ephemeral)) /* se */
		goto out;
	mix_psk(&next, key, remote->preshared_key); /* psk */
	if (!open_and_hash(&next, nothing, key, in->sealed_nothing, sizeof(in->sealed_nothing)))
		goto out;

	split(&next, keys->send, keys->receive);
	keys->local_index = hs->local_index;
	keys->remote_index = get_le32(in->sender_index);
	ok = true;
out:
	secret_wipe(key, sizeof(key));
	secret_wipe(&next, sizeof(next));
	return ok;
}

void handshake_wipe(struct handshake *hs)
{
	secret_wipe(hs, sizeof(*hs));
}
