/* SPDX-License-Identifier: MIT */
/* Keys that can be right in form and still never work: our own as the peer's, and one that another tunnel
 * uses. */
#include "client/daemon/tunnel_state.h"

#include "client/daemon/manager.h"
#include "core/crypto/crypto.h"

#include <stdio.h>
#include <string.h>

bool tunnel_keys_fit(struct tunnel *tunnel)
{
	const struct profile *profile = &tunnel->loaded.profile;
	uint8_t own[KEY_LEN];
	size_t i;

	dh_public(own, profile->private_key);
	for (i = 0; i < profile->peer_count; i++) {
		if (memcmp(profile->peers[i].public_key, own, KEY_LEN) != 0)
			continue;
		rpc_error_set(&tunnel->failure, RPC_CODE_CONFIG,
			"line %u: the peer's PublicKey belongs to this profile's own PrivateKey: take the "
			"one that the peer "
			"has",
			profile->peers[i].line);
		return false;
	}
	return true;
}

static bool share_a_peer(const struct profile *a, const struct profile *b)
{
	size_t i, n;

	for (i = 0; i < a->peer_count; i++)
		for (n = 0; n < b->peer_count; n++)
			if (memcmp(a->peers[i].public_key, b->peers[n].public_key, KEY_LEN) == 0)
				return true;
	return false;
}

static void write_warning(const char *name, char out[RPC_SENTENCE_LEN])
{
	snprintf(out, RPC_SENTENCE_LEN,
		"%s is up with the same PrivateKey and the same peer, which talks to one of the two at a "
		"time: take %s down, or "
		"give one of them a key of its own",
		name, name);
}

static void look_at_other(struct tunnel *other, void *user)
{
	struct tunnel *tunnel = user;
	char text[RPC_SENTENCE_LEN];

	if (other == tunnel || other->phase == TUNNEL_DOWN ||
		!secret_equal(
			other->loaded.profile.private_key, tunnel->loaded.profile.private_key, KEY_LEN) ||
		!share_a_peer(&other->loaded.profile, &tunnel->loaded.profile))
		return;
	write_warning(other->name, text);
	tunnel_warn(tunnel, text);
}

void tunnel_warn_of_shared_key(struct tunnel *tunnel)
{
	manager_each(tunnel->daemon->manager, look_at_other, tunnel);
}

static void calm(struct tunnel *other, void *user)
{
	tunnel_unwarn(other, user);
}

void tunnel_forget_shared_key(struct tunnel *tunnel)
{
	char text[RPC_SENTENCE_LEN];

	write_warning(tunnel->name, text);
	manager_each(tunnel->daemon->manager, calm, text);
}
