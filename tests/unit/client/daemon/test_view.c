/* SPDX-License-Identifier: MIT */
/* The status that several peers make together, and when a first connect is decided. */
#include "client/daemon/view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Peers with these first bytes of their keys; a capital letter: we call it. */
static void make(const char *peers, struct profile *profile, struct rpc_tunnel *view)
{
	size_t i;

	profile_init(profile);
	for (i = 0; peers[i]; i++) {
		struct profile_peer *peer = profile_add_peer(profile);

		peer->public_key[0] = (uint8_t)peers[i];
		if (peers[i] >= 'A' && peers[i] <= 'Z')
			strcpy(peer->endpoint.host, "vpn.example");
	}
	assert_true(view_init(view, "office", profile));
}

struct told {
	char key;
	const char *state, *cause, *verified;
	enum carrier carrier;
};

static void worst_of_the_peers(void **state)
{
	static const struct {
		const char *name, *peers;
		struct told told[3];
		bool waiting; /* the first one's name */
		enum rpc_state state;
		enum rpc_cause cause;
		enum carrier carrier;
		enum rpc_state decided;
	} cases[] = {
		{ "one, up", "A", { { 'A', "up", "none", "full", CARRIER_UDP } }, false, RPC_STATE_UP,
			RPC_CAUSE_NONE, CARRIER_UDP, RPC_STATE_UP },
		{ "nothing told yet", "A", { { 0 } }, false, RPC_STATE_CONNECTING, RPC_CAUSE_NONE,
			CARRIER_NONE, RPC_STATE_CONNECTING },
		{ "not begun is connecting", "A", { { 'A', "down", "none", "none", CARRIER_NONE } }, false,
			RPC_STATE_CONNECTING, RPC_CAUSE_NONE, CARRIER_NONE, RPC_STATE_CONNECTING },
		{ "verifying is not decided", "A", { { 'A', "verifying", "none", "handshake", CARRIER_TCP } },
			false, RPC_STATE_VERIFYING, RPC_CAUSE_NONE, CARRIER_TCP, RPC_STATE_CONNECTING },
		{ "degraded is", "A", { { 'A', "degraded", "none", "small", CARRIER_UDP } }, false,
			RPC_STATE_DEGRADED, RPC_CAUSE_NONE, CARRIER_UDP, RPC_STATE_UP },
		{ "failed", "A", { { 'A', "failed", "peer-unreachable", "none", CARRIER_NONE } }, false,
			RPC_STATE_FAILED, RPC_CAUSE_PEER_UNREACHABLE, CARRIER_NONE, RPC_STATE_FAILED },
		{ "one up, one not yet", "AB",
			{ { 'A', "up", "none", "full", CARRIER_UDP },
				{ 'B', "connecting", "none", "none", CARRIER_NONE } },
			false, RPC_STATE_CONNECTING, RPC_CAUSE_NONE, CARRIER_NONE, RPC_STATE_CONNECTING },
		{ "one up, one failed", "AB",
			{ { 'A', "up", "none", "full", CARRIER_UDP },
				{ 'B', "failed", "handshake-refused", "none", CARRIER_NONE } },
			false, RPC_STATE_FAILED, RPC_CAUSE_HANDSHAKE_REFUSED, CARRIER_NONE, RPC_STATE_UP },
		{ "told in another order", "AB",
			{ { 'B', "up", "none", "full", CARRIER_UDP },
				{ 'A', "up", "none", "small", CARRIER_TCP } },
			false, RPC_STATE_UP, RPC_CAUSE_NONE, CARRIER_TCP, RPC_STATE_UP },
		{ "one that calls us does not count", "Ab",
			{ { 'A', "up", "none", "full", CARRIER_UDP },
				{ 'b', "down", "none", "none", CARRIER_NONE } },
			false, RPC_STATE_UP, RPC_CAUSE_NONE, CARRIER_UDP, RPC_STATE_UP },
		{ "a server is up by itself", "ab", { { 'a', "down", "none", "none", CARRIER_NONE } }, false,
			RPC_STATE_UP, RPC_CAUSE_NONE, CARRIER_NONE, RPC_STATE_UP },
		{ "its name is not known", "A", { { 'A', "down", "none", "none", CARRIER_NONE } }, true,
			RPC_STATE_CONNECTING, RPC_CAUSE_DNS_FAILED, CARRIER_NONE, RPC_STATE_CONNECTING },
		{ "words of a newer engine change nothing", "A",
			{ { 'A', "dreaming", "none", "none", CARRIER_NONE } }, false, RPC_STATE_CONNECTING,
			RPC_CAUSE_NONE, CARRIER_NONE, RPC_STATE_CONNECTING },
	};
	size_t i, n;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct uapi_device device = { 0 };
		struct profile profile;
		struct rpc_tunnel view;
		bool waiting[3] = { cases[i].waiting };

		make(cases[i].peers, &profile, &view);
		for (n = 0; n < 3 && cases[i].told[n].key; n++) {
			struct uapi_peer *peer = uapi_device_add_peer(&device);

			peer->public_key[0] = (uint8_t)cases[i].told[n].key;
			strcpy(peer->state, cases[i].told[n].state);
			strcpy(peer->cause, cases[i].told[n].cause);
			strcpy(peer->verified, cases[i].told[n].verified);
			peer->carrier = cases[i].told[n].carrier;
		}
		view_update(&view, &profile, &device, waiting);
		if (view.state != cases[i].state || view.cause != cases[i].cause ||
			view.carrier != cases[i].carrier)
			fail_msg("%s: %s, %s, %s", cases[i].name, rpc_state_words[view.state],
				rpc_cause_words[view.cause], rpc_carrier_words[view.carrier]);
		if (view_decided(&view, &profile) != cases[i].decided)
			fail_msg("%s: decided", cases[i].name);
		rpc_tunnel_free(&view);
		uapi_device_free(&device);
		profile_free(&profile);
	}
}

/* Traffic passes to one of them, so "failed" would be a lie, and "up" too. */
static void some_of_several_are_missing(void **state)
{
	static const struct {
		enum rpc_state peers[3];
		enum rpc_state tunnel; /* RPC_STATE_DOWN: left alone */
		const char *says;
	} cases[] = {
		{ { RPC_STATE_UP, RPC_STATE_FAILED, RPC_STATE_UP }, RPC_STATE_DEGRADED, "1 of 3 peers" },
		{ { RPC_STATE_UP, RPC_STATE_RECONNECTING, RPC_STATE_CONNECTING }, RPC_STATE_DEGRADED,
			"2 of 3 peers" },
		{ { RPC_STATE_UP, RPC_STATE_VERIFYING, RPC_STATE_DEGRADED }, RPC_STATE_DOWN, "" },
		{ { RPC_STATE_FAILED, RPC_STATE_FAILED, RPC_STATE_FAILED }, RPC_STATE_DOWN, "" },
		{ { RPC_STATE_UP, RPC_STATE_UP, RPC_STATE_UP }, RPC_STATE_DOWN, "" },
	};
	size_t i, n;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct profile profile;
		struct rpc_tunnel view;
		bool partly;

		make("ABC", &profile, &view);
		view.state = RPC_STATE_DOWN;
		for (n = 0; n < 3; n++)
			view.peers[n].state = cases[i].peers[n];
		partly = view_call_partly(&view, &profile);
		if (partly != (cases[i].tunnel != RPC_STATE_DOWN) || view.state != cases[i].tunnel ||
			strncmp(view.message, cases[i].says, strlen(cases[i].says)) != 0)
			fail_msg("%zu: %s, %s", i, rpc_state_words[view.state], view.message);
		rpc_tunnel_free(&view);
		profile_free(&profile);
	}
}

/* What is said of it is what helps. */
static void a_peer_without_an_address_is_missing_for_its_name(void **state)
{
	static const struct {
		enum rpc_cause cause;
		bool name;
	} cases[] = { { RPC_CAUSE_DNS_FAILED, true }, { RPC_CAUSE_PEER_UNREACHABLE, false } };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct profile profile;
		struct rpc_tunnel view;

		make("AB", &profile, &view);
		view.peers[0].state = RPC_STATE_UP;
		view.peers[1].state = RPC_STATE_CONNECTING;
		view.peers[1].cause = cases[i].cause;
		memset(view.peers[1].public_key, 'k', 44);
		strcpy(view.peers[1].endpoint, "[2001:db8:1111:2222:3333:4444:5555:6666]:51820");
		assert_true(view_call_partly(&view, &profile));
		assert_int_equal(strstr(view.message, "cannot be looked up") != NULL, cases[i].name);
		assert_int_equal(strstr(view.message, "that it runs") != NULL, !cases[i].name);
		assert_non_null(strstr(view.message, "is tried on")); /* all of it */
		rpc_tunnel_free(&view);
		profile_free(&profile);
	}
}

static void counters_are_no_change(void **state)
{
	struct profile profile;
	struct rpc_tunnel view, before;

	(void)state;
	make("A", &profile, &view);
	before = view_shell(&view);
	view.peers[0].rx_bytes = 7;
	assert_false(view_differs(&before, &view));
	view.carrier = CARRIER_TCP;
	assert_true(view_differs(&before, &view));
	before = view_shell(&view);
	strcpy(view.message, "x");
	assert_true(view_differs(&before, &view));
	rpc_tunnel_free(&view);
	profile_free(&profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(worst_of_the_peers),
		cmocka_unit_test(some_of_several_are_missing),
		cmocka_unit_test(a_peer_without_an_address_is_missing_for_its_name),
		cmocka_unit_test(counters_are_no_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
