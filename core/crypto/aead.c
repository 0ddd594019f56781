/* SPDX-License-Identifier: MIT */
/* Which implementation of the transport AEAD is used: asked once, by crypto_init. One struct aead belongs to
 * the thread that made it. Source: RFC 8439. */
#include "core/crypto/aead_kind.h"

#include "core/base/bytes.h"

#include <string.h>

#define LONGEST 1500

/* Set by crypto_init, before there is a second thread, and only read from then on. */
static const struct aead_kind *chosen;

static bool test_length(
	const struct aead_kind *kind, struct aead *aead, const uint8_t key[KEY_LEN], size_t len)
{
	uint8_t plain[LONGEST], want[LONGEST + TAG_LEN], got[LONGEST + TAG_LEN];
	uint64_t counter = 0x0102030405060708u + len;

	for (size_t i = 0; i < len; i++)
		plain[i] = (uint8_t)(i * 7 + len);
	aead_seal_once(want, key, counter, plain, len, NULL, 0);
	memcpy(got, plain, len);
	kind->seal(aead, got, got, len, counter);
	if (memcmp(got, want, len + TAG_LEN) != 0)
		return false;
	if (!kind->open(aead, got, want, len + TAG_LEN, counter) || memcmp(got, plain, len) != 0)
		return false;
	want[len] ^= 1; /* the tag */
	if (kind->open(aead, got, want, len + TAG_LEN, counter))
		return false;
	want[len] ^= 1;
	want[0] ^= 1; /* the text, or the tag where there is none */
	return !kind->open(aead, got, want, len + TAG_LEN, counter);
}

bool aead_self_test(const struct aead_kind *kind)
{
	static const uint8_t key[KEY_LEN] = { 1, 2, 3, 4, 5 };
	static const size_t lengths[] = { 0, 1, 15, 16, 17, 63, 64, 65, 96, 127, 128, 129, 191, 192, 193, 255,
		256, 257, 319, 320, 511, 512, 513, 767, 768, 1023, 1024, 1025, 1279, 1280, 1408, 1420, 1424,
		1500 };
	struct aead aead;
	bool good = true;

	if (!kind->init(&aead, key))
		return false;
	for (size_t i = 0; good && i < sizeof(lengths) / sizeof(lengths[0]); i++)
		good = test_length(kind, &aead, key, lengths[i]);
	kind->wipe(&aead);
	return good;
}

bool aead_choose(void)
{
	const struct aead_kind *fast = aead_ipsec_mb();

	if (chosen)
		return true;
	if (fast && aead_self_test(fast))
		chosen = fast;
	else if (aead_self_test(aead_libcrypto()))
		chosen = aead_libcrypto();
	return chosen != NULL;
}

const char *crypto_aead_name(void)
{
	return chosen ? chosen->name : "none";
}

bool aead_init(struct aead *aead, const uint8_t key[KEY_LEN])
{
	return chosen->init(aead, key);
}

void aead_wipe(struct aead *aead)
{
	if (aead->impl)
		chosen->wipe(aead);
}

void aead_seal(struct aead *aead, uint8_t *out, const uint8_t *plain, size_t len, uint64_t counter)
{
	chosen->seal(aead, out, plain, len, counter);
}

bool aead_open(struct aead *aead, uint8_t *out, const uint8_t *sealed, size_t sealed_len, uint64_t counter)
{
	return chosen->open(aead, out, sealed, sealed_len, counter);
}
