/* SPDX-License-Identifier: MIT */
/* The transport AEAD by Intel's ipsec-mb, which at the size of a packet takes half of libcrypto's time. Its
 * job interface answers each of these jobs at once, and is faster than its direct calls. A manager belongs to
 * one thread, so each thread has its own, made with its first key and kept for the thread's life. Source:
 * intel-ipsec-mb.h; RFC 8439. */
#include "core/crypto/aead_kind.h"

#ifdef WGTCP_IPSEC_MB

#include "core/base/bytes.h"

#include <intel-ipsec-mb.h>
#include <stdlib.h>
#include <string.h>

#define NONCE_LEN 12

struct prepared {
	IMB_MGR *manager;
	uint8_t key[KEY_LEN];
};

static _Thread_local IMB_MGR *thread_manager;

static IMB_MGR *manager(void)
{
	if (!thread_manager) {
		thread_manager = alloc_mb_mgr(0);
		if (thread_manager)
			init_mb_mgr_auto(thread_manager, NULL);
	}
	return thread_manager;
}

static bool ipsec_mb_init(struct aead *aead, const uint8_t key[KEY_LEN])
{
	struct prepared *prepared = secret_new(sizeof(*prepared));

	if (!prepared)
		return false;
	prepared->manager = manager();
	if (!prepared->manager) {
		secret_free(prepared, sizeof(*prepared));
		return false;
	}
	memcpy(prepared->key, key, KEY_LEN);
	aead->impl = prepared;
	return true;
}

static void ipsec_mb_wipe(struct aead *aead)
{
	if (!aead->impl)
		return;
	secret_free(aead->impl, sizeof(struct prepared));
	aead->impl = NULL;
}

/* in and out are each len bytes long, and may be the same. */
static void run(const struct prepared *prepared, IMB_CIPHER_DIRECTION direction, uint8_t *out,
	const uint8_t *in, size_t len, uint64_t counter, uint8_t tag[TAG_LEN])
{
	IMB_JOB *job = IMB_GET_NEXT_JOB(prepared->manager);
	uint8_t nonce[NONCE_LEN];

	put_le32(nonce, 0);
	put_le64(nonce + 4, counter);
	job->cipher_mode = IMB_CIPHER_CHACHA20_POLY1305;
	job->hash_alg = IMB_AUTH_CHACHA20_POLY1305;
	job->cipher_direction = direction;
	job->chain_order = direction == IMB_DIR_ENCRYPT ? IMB_ORDER_CIPHER_HASH : IMB_ORDER_HASH_CIPHER;
	job->enc_keys = job->dec_keys = prepared->key;
	job->key_len_in_bytes = KEY_LEN;
	job->iv = nonce;
	job->iv_len_in_bytes = NONCE_LEN;
	job->u.CHACHA20_POLY1305.aad = NULL;
	job->u.CHACHA20_POLY1305.aad_len_in_bytes = 0;
	job->src = in;
	job->dst = out;
	job->cipher_start_src_offset_in_bytes = 0;
	job->msg_len_to_cipher_in_bytes = len;
	job->hash_start_src_offset_in_bytes = 0;
	job->msg_len_to_hash_in_bytes = len;
	job->auth_tag_output = tag;
	job->auth_tag_output_len_in_bytes = TAG_LEN;
	job = IMB_SUBMIT_JOB_NOCHECK(prepared->manager);
	/* Answered at once, or the library is not what its self-test saw: going on would send plaintext. */
	if (!job || job->status != IMB_STATUS_COMPLETED)
		abort();
}

static void ipsec_mb_seal(struct aead *aead, uint8_t *out, const uint8_t *plain, size_t len, uint64_t counter)
{
	run(aead->impl, IMB_DIR_ENCRYPT, out, plain, len, counter, out + len);
}

static bool ipsec_mb_open(
	struct aead *aead, uint8_t *out, const uint8_t *sealed, size_t sealed_len, uint64_t counter)
{
	uint8_t tag[TAG_LEN];

	if (sealed_len < TAG_LEN)
		return false;
	size_t len = sealed_len - TAG_LEN;

	run(aead->impl, IMB_DIR_DECRYPT, out, sealed, len, counter, tag);
	/* In constant time; a call for it would cost as much as the rest of this function. */
	return ((get_le64(tag) ^ get_le64(sealed + len)) |
		       (get_le64(tag + 8) ^ get_le64(sealed + len + 8))) == 0;
}

const struct aead_kind *aead_ipsec_mb(void)
{
	static const struct aead_kind avx2 = { "ipsec-mb (AVX2)", ipsec_mb_init, ipsec_mb_wipe, ipsec_mb_seal,
		ipsec_mb_open };
	static const struct aead_kind avx512 = { "ipsec-mb (AVX-512)", ipsec_mb_init, ipsec_mb_wipe,
		ipsec_mb_seal, ipsec_mb_open };
	IMB_MGR *own = manager();

	if (!own || imb_get_errno(own))
		return NULL;
	if ((own->features & IMB_FEATURE_AVX512_SKX) == IMB_FEATURE_AVX512_SKX)
		return &avx512;
	return own->features & IMB_FEATURE_AVX2 ? &avx2 : NULL;
}

#else

const struct aead_kind *aead_ipsec_mb(void)
{
	return NULL;
}

#endif
