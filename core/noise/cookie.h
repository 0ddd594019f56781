/* SPDX-License-Identifier: MIT */
/* mac1, mac2 and cookies: a cheap proof of address when under load. Source: WireGuard paper 5.3, 5.4.4, 5.4.7. */
#ifndef WGTCP_CORE_NOISE_COOKIE_H
#define WGTCP_CORE_NOISE_COOKIE_H

#include "core/base/address.h"
#include "core/base/time.h"
#include "core/noise/message.h"

/* Checks what comes in for one identity. */
struct cookie_checker {
	uint8_t mac1_key[KEY_LEN];   /* HASH(LABEL_MAC1 || our public key) */
	uint8_t cookie_key[KEY_LEN]; /* HASH(LABEL_COOKIE || our public key) */
	uint8_t secret[HASH_LEN];    /* changed every 120 s */
	struct mono secret_born;
};

enum mac_state { MAC_INVALID, MAC_VALID_WITHOUT_COOKIE, MAC_VALID_WITH_COOKIE };

void cookie_checker_init(struct cookie_checker *checker, const uint8_t public_key[KEY_LEN]);
/* message is an initiation or a response of its wire length: its macs are the last 32 bytes.
 * The cookie covers source address and port (paper 5.4.7). */
enum mac_state cookie_checker_check(struct cookie_checker *checker, const uint8_t *message, size_t len,
	const struct endpoint *source, struct mono now);
/* Answers a message whose mac1 was valid. */
void cookie_reply_create(struct cookie_checker *checker, const uint8_t *message, size_t len,
	const struct endpoint *source, struct mono now, struct cookie_reply *out);

/* Fills the macs for one remote and remembers its last cookie. */
struct cookie_maker {
	uint8_t mac1_key[KEY_LEN];   /* HASH(LABEL_MAC1 || their public key) */
	uint8_t cookie_key[KEY_LEN]; /* HASH(LABEL_COOKIE || their public key) */
	uint8_t cookie[COOKIE_LEN];
	struct mono cookie_born; /* used for 120 s */
	uint8_t last_mac1[MAC_LEN];
	bool sent_mac1; /* last_mac1 awaits no more than one cookie reply */
};

void cookie_maker_init(struct cookie_maker *maker, const uint8_t public_key[KEY_LEN]);
/* Sets mac1 and mac2 (zero without a fresh cookie), the last 32 bytes of message. */
void cookie_maker_sign(struct cookie_maker *maker, uint8_t *message, size_t len, struct mono now);
/* False unless it answers the last message signed, and only once. */
bool cookie_reply_consume(struct cookie_maker *maker, const struct cookie_reply *in, struct mono now);

#endif
