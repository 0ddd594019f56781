/* SPDX-License-Identifier: MIT */
/* Feeds bytes as one WireGuard message to whatever would read it, with fixed keys, so that a stored input
 * goes the same way each time. The corpus holds authentic messages for these keys, from which the fuzzer
 * starts. */
#include "core/base/bytes.h"
#include "core/noise/cookie.h"
#include "core/noise/session.h"
#include "core/noise/tai64n.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define LOCAL_INDEX 0x01020304u

static struct noise_identity self;
static struct noise_remote remote; /* its private key is all 2 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void start(void)
{
	struct noise_identity other;

	if (!crypto_init())
		abort();
	memset(&self, 1, sizeof(self));
	noise_identity_complete(&self);
	memset(&other, 2, sizeof(other));
	noise_identity_complete(&other);
	memcpy(remote.public_key, other.public_key, KEY_LEN);
	memset(remote.preshared_key, 3, KEY_LEN);
	if (!noise_remote_complete(&remote, &self))
		abort();
}

static bool untouched(const void *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (((const uint8_t *)bytes)[i] != 0xa5)
			return false;
	return true;
}

static void initiation(const uint8_t *data)
{
	uint8_t caller[KEY_LEN], timestamp[TAI64N_LEN];
	struct transport_keys keys;
	struct initiation in;
	struct response out;
	struct handshake hs;
	struct wall wall;

	memcpy(&in, data, sizeof(in));
	memset(caller, 0xa5, sizeof(caller));
	memset(timestamp, 0xa5, sizeof(timestamp));
	if (!handshake_open_static(&hs, &self, &in, caller)) {
		assert(untouched(caller, sizeof(caller)));
		return;
	}
	if (!handshake_open_timestamp(&hs, &remote, &in, timestamp)) {
		assert(untouched(timestamp, sizeof(timestamp)));
		return;
	}
	tai64n_read(timestamp, &wall);
	if (!handshake_create_response(&hs, &remote, LOCAL_INDEX, &out, &keys))
		abort();
	assert(keys.remote_index == get_le32(in.sender_index));
}

static void response(const uint8_t *data)
{
	struct handshake hs = { .local_index = LOCAL_INDEX };
	struct transport_keys keys;
	struct response in;

	memset(hs.hash, 4, sizeof(hs.hash));
	memset(hs.chaining_key, 5, sizeof(hs.chaining_key));
	memset(hs.ephemeral_private, 6, sizeof(hs.ephemeral_private));
	memcpy(&in, data, sizeof(in));
	memset(&keys, 0xa5, sizeof(keys));
	if (!handshake_consume_response(&hs, &self, &remote, &in, &keys))
		assert(untouched(&keys, sizeof(keys)));
}

static void cookie_reply(const uint8_t *data)
{
	struct cookie_maker maker;
	struct cookie_reply in;

	cookie_maker_init(&maker, remote.public_key);
	memset(maker.last_mac1, 7, MAC_LEN);
	maker.sent_mac1 = true;
	memcpy(&in, data, sizeof(in));
	if (!cookie_reply_consume(&maker, &in, (struct mono){ 1 }))
		assert(maker.sent_mac1 && !mono_is_set(maker.cookie_born));
}

static void transport(const uint8_t *data, size_t size)
{
	struct transport_keys keys = { .local_index = LOCAL_INDEX };
	uint8_t *plain = malloc(size); /* of exact size, for AddressSanitizer */
	uint64_t counter = 0;

	memset(keys.send, 8, KEY_LEN);
	memset(keys.receive, 9, KEY_LEN);
	struct session *session = session_new(&keys, true, 1, REPLAY_BITS_SMALL, (struct mono){ 1 });

	if (!plain || !session)
		abort();
	if (session_open(session, plain, data, size, &counter, (struct mono){ 2 }) == SESSION_OK) {
		assert(counter == get_le64(data + 8));
		assert(session_open(session, plain, data, size, &counter, (struct mono){ 2 }) ==
			SESSION_REPLAYED);
	} else {
		assert(counter == 0);
	}
	session_free(session);
	free(plain);
}

static void macs(const uint8_t *data, size_t size)
{
	struct endpoint source = { .address = { .family = IP_V4 }, .port = 1 };
	struct cookie_checker checker;
	struct cookie_reply reply;

	cookie_checker_init(&checker, self.public_key);
	if (cookie_checker_check(&checker, data, size, &source, (struct mono){ 1 }) == MAC_INVALID)
		return;
	cookie_reply_create(&checker, data, size, &source, (struct mono){ 1 }, &reply);
	assert(message_classify((const uint8_t *)&reply, sizeof(reply)) == MESSAGE_COOKIE_REPLY);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool started;

	if (!started)
		start();
	started = true;
	switch (message_classify(data, size)) {
	case MESSAGE_NONE:
		break;
	case MESSAGE_INITIATION:
		macs(data, size);
		initiation(data);
		break;
	case MESSAGE_RESPONSE:
		macs(data, size);
		response(data);
		break;
	case MESSAGE_COOKIE_REPLY:
		cookie_reply(data);
		break;
	case MESSAGE_DATA:
		transport(data, size);
		break;
	}
	return 0;
}
