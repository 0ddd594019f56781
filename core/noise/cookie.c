/* SPDX-License-Identifier: MIT */
/* The two macs at the end of a handshake message, and the cookie that keys the second. Called by core/tunnel.
 * Source: WireGuard paper 5.3, 5.4.4, 5.4.7. */
#include "core/noise/cookie.h"

#include "core/base/bytes.h"

#include <assert.h>
#include <string.h>

#define COOKIE_MS 120000
#define MACS_LEN (2 * MAC_LEN)

static const char label_mac1[] = "mac1----";
static const char label_cookie[] = "cookie--";

static void keys_derive(
	uint8_t mac1_key[KEY_LEN], uint8_t cookie_key[KEY_LEN], const uint8_t public_key[KEY_LEN])
{
	hash2(mac1_key, label_mac1, sizeof(label_mac1) - 1, public_key, KEY_LEN);
	hash2(cookie_key, label_cookie, sizeof(label_cookie) - 1, public_key, KEY_LEN);
}

static bool fresh(struct mono born, struct mono now)
{
	return mono_is_set(born) && mono_since_ms(now, born) < COOKIE_MS;
}

/* MAC(secret, address || port): the cookie of a source. */
static void cookie_of(
	const struct cookie_checker *checker, const struct endpoint *source, uint8_t cookie[COOKIE_LEN])
{
	uint8_t port[2];

	put_be16(port, source->port);
	mac2parts(cookie, checker->secret, sizeof(checker->secret), source->address.bytes,
		source->address.family == IP_V4 ? 4 : 16, port, sizeof(port));
}

void cookie_checker_init(struct cookie_checker *checker, const uint8_t public_key[KEY_LEN])
{
	*checker = (struct cookie_checker){ .secret_born = MONO_UNSET };
	keys_derive(checker->mac1_key, checker->cookie_key, public_key);
}

enum mac_state cookie_checker_check(struct cookie_checker *checker, const uint8_t *message, size_t len,
	const struct endpoint *source, struct mono now)
{
	uint8_t cookie[COOKIE_LEN], mac[MAC_LEN];
	enum mac_state state = MAC_VALID_WITHOUT_COOKIE;

	assert(len > MACS_LEN);
	const uint8_t *mac1 = message + len - MACS_LEN, *mac2 = mac1 + MAC_LEN;

	mac2parts(mac, checker->mac1_key, KEY_LEN, message, len - MACS_LEN, NULL, 0);
	if (!secret_equal(mac, mac1, MAC_LEN))
		return MAC_INVALID;
	if (!fresh(checker->secret_born, now)) /* no cookie that we gave out is still good */
		return state;

	cookie_of(checker, source, cookie);
	mac2parts(mac, cookie, COOKIE_LEN, message, len - MAC_LEN, NULL, 0);
	if (secret_equal(mac, mac2, MAC_LEN))
		state = MAC_VALID_WITH_COOKIE;
	secret_wipe(cookie, sizeof(cookie));
	secret_wipe(mac, sizeof(mac));
	return state;
}

void cookie_reply_create(struct cookie_checker *checker, const uint8_t *message, size_t len,
	const struct endpoint *source, struct mono now, struct cookie_reply *out)
{
	uint8_t cookie[COOKIE_LEN];

	assert(len > MACS_LEN);
	if (!fresh(checker->secret_born, now)) {
		random_fill(checker->secret, sizeof(checker->secret));
		checker->secret_born = now;
	}
	cookie_of(checker, source, cookie);
	put_le32(out->type, MESSAGE_COOKIE_REPLY);
	memcpy(out->receiver_index, ((const struct initiation *)message)->sender_index,
		sizeof(out->receiver_index));
	random_fill(out->nonce, sizeof(out->nonce));
	xaead_seal(out->sealed_cookie, checker->cookie_key, out->nonce, cookie, sizeof(cookie),
		message + len - MACS_LEN, MAC_LEN);
	secret_wipe(cookie, sizeof(cookie));
}

void cookie_maker_init(struct cookie_maker *maker, const uint8_t public_key[KEY_LEN])
{
	*maker = (struct cookie_maker){ .cookie_born = MONO_UNSET };
	keys_derive(maker->mac1_key, maker->cookie_key, public_key);
}

void cookie_maker_sign(struct cookie_maker *maker, uint8_t *message, size_t len, struct mono now)
{
	assert(len > MACS_LEN);
	uint8_t *mac1 = message + len - MACS_LEN, *mac2 = mac1 + MAC_LEN;

	mac2parts(mac1, maker->mac1_key, KEY_LEN, message, len - MACS_LEN, NULL, 0);
	memcpy(maker->last_mac1, mac1, MAC_LEN);
	maker->sent_mac1 = true;
	if (fresh(maker->cookie_born, now))
		mac2parts(mac2, maker->cookie, COOKIE_LEN, message, len - MAC_LEN, NULL, 0);
	else
		memset(mac2, 0, MAC_LEN);
}

bool cookie_reply_consume(struct cookie_maker *maker, const struct cookie_reply *in, struct mono now)
{
	uint8_t cookie[COOKIE_LEN];
	bool ok = false;

	if (!maker->sent_mac1)
		return false;
	if (!xaead_open(cookie, maker->cookie_key, in->nonce, in->sealed_cookie, sizeof(in->sealed_cookie),
		    maker->last_mac1, MAC_LEN))
		goto out;
	memcpy(maker->cookie, cookie, COOKIE_LEN);
	maker->cookie_born = now;
	maker->sent_mac1 = false;
	ok = true;
out:
	secret_wipe(cookie, sizeof(cookie));
	return ok;
}
