/* SPDX-License-Identifier: MIT */
/* The four WireGuard messages as bytes. Source: WireGuard paper 5.4.2 to 5.4.7. */
#ifndef WGTCP_CORE_NOISE_MESSAGE_H
#define WGTCP_CORE_NOISE_MESSAGE_H

#include "core/crypto/crypto.h"

#include <assert.h>

#define TAI64N_LEN 12
#define COOKIE_LEN 16

enum message_type {
	MESSAGE_NONE = 0, /* not a WireGuard message */
	MESSAGE_INITIATION = 1,
	MESSAGE_RESPONSE = 2,
	MESSAGE_COOKIE_REPLY = 3,
	MESSAGE_DATA = 4,
};

struct initiation {
	uint8_t type[4];         /* le32, 1 */
	uint8_t sender_index[4]; /* le32 */
	uint8_t ephemeral[KEY_LEN];
	uint8_t sealed_static[KEY_LEN + TAG_LEN];
	uint8_t sealed_timestamp[TAI64N_LEN + TAG_LEN];
	uint8_t mac1[MAC_LEN], mac2[MAC_LEN];
};
static_assert(sizeof(struct initiation) == 148, "wire size, paper 5.4.2");

struct response {
	uint8_t type[4];           /* le32, 2 */
	uint8_t sender_index[4];   /* le32 */
	uint8_t receiver_index[4]; /* le32 */
	uint8_t ephemeral[KEY_LEN];
	uint8_t sealed_nothing[TAG_LEN];
	uint8_t mac1[MAC_LEN], mac2[MAC_LEN];
};
static_assert(sizeof(struct response) == 92, "wire size, paper 5.4.3");

struct cookie_reply {
	uint8_t type[4];           /* le32, 3 */
	uint8_t receiver_index[4]; /* le32 */
	uint8_t nonce[XNONCE_LEN];
	uint8_t sealed_cookie[COOKIE_LEN + TAG_LEN];
};
static_assert(sizeof(struct cookie_reply) == 64, "wire size, paper 5.4.7");

struct data_header {
	uint8_t type[4];           /* le32, 4 */
	uint8_t receiver_index[4]; /* le32 */
	uint8_t counter[8];        /* le64 */
};
static_assert(sizeof(struct data_header) == 16, "wire size, paper 5.4.6");

#define DATA_MIN_LEN (sizeof(struct data_header) + TAG_LEN) /* a keepalive */

/* What kind of message these bytes are, by type, reserved bytes and length alone; MESSAGE_NONE for anything else. */
enum message_type message_classify(const uint8_t *message, size_t len);

#endif
