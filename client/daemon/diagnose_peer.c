/* SPDX-License-Identifier: MIT */
/* The ways to the peers: their names, whether anything is there at all, and what handshakes have said. Called
 * by diagnose.c. */
#include "client/daemon/diagnose_state.h"

#include "client/daemon/memory.h"
#include "client/daemon/mtu.h"
#include "client/daemon/names.h"
#include "core/config/key_text.h"
#include "core/port/net_config.h"
#include "core/port/net_identity.h"
#include "core/port/reach.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void write_subject(const struct profile_host *host, char out[RPC_NAME_LEN])
{
	const char *bracket = strchr(host->host, ':') ? "[" : "";

	if (host->host[0])
		snprintf(out, RPC_NAME_LEN, "%s%.240s%s:%u", bracket, host->host, bracket[0] ? "]" : "",
			host->port);
}

/* ---- names ---- */

static void add_host(struct diagnose *diagnose, const struct profile_host *host)
{
	struct diagnose_facts *facts = &diagnose->facts;
	struct ip_address numeric;
	char name[PROFILE_HOST_LEN];
	size_t i;

	device_host(host, name);
	if (!name[0])
		return;
	names_add(diagnose->names, name);
	if (ip_address_parse(name, strlen(name), &numeric))
		return;
	for (i = 0; i < facts->host_count; i++)
		if (!strcmp(facts->hosts[i].host, name))
			return;
	if (i < DIAGNOSE_HOSTS_MAX)
		memcpy(facts->hosts[facts->host_count++].host, name, sizeof(name));
}

void diagnose_peers_find(struct diagnose *diagnose)
{
	const struct profile *profile = &diagnose->loaded.profile;
	struct diagnose_facts *facts = &diagnose->facts;
	size_t i, j;

	for (i = 0; i < profile->peer_count; i++) {
		const struct profile_peer *peer = &profile->peers[i];
		struct diagnose_peer *out = &facts->peers[facts->peer_count];

		if (!peer->endpoint.host[0] && !peer->tcp_endpoint_count)
			continue;
		if (facts->peer_count == DIAGNOSE_PEERS_MAX) {
			facts->peers_left_out++;
			continue;
		}
		out->may_udp = diagnose->transports[i] != TRANSPORT_TCP && peer->endpoint.host[0];
		out->may_tcp = diagnose->transports[i] != TRANSPORT_UDP;
		write_subject(peer->tcp_endpoint_count ? &peer->tcp_endpoints[0] : &peer->endpoint,
			out->tcp_subject);
		write_subject(&peer->endpoint, out->subject);
		if (!out->subject[0])
			memcpy(out->subject, out->tcp_subject, sizeof(out->subject));
		diagnose->at[facts->peer_count++] = i;
		add_host(diagnose, &peer->endpoint);
		for (j = 0; j < peer->tcp_endpoint_count; j++)
			add_host(diagnose, &peer->tcp_endpoints[j]);
	}
}

bool diagnose_names_answered(const struct diagnose *diagnose)
{
	size_t i;

	for (i = 0; i < diagnose->facts.host_count; i++)
		if (!names_answered(diagnose->names, diagnose->facts.hosts[i].host))
			return false;
	return true;
}

static void count_addresses(struct diagnose *diagnose)
{
	struct ip_address addresses[NAME_ADDRESSES_MAX];
	size_t i, j, count;

	for (i = 0; i < diagnose->facts.host_count; i++) {
		struct diagnose_host *host = &diagnose->facts.hosts[i];

		/* Not where it was before, which may be good, but says nothing of DNS. */
		if (!names_answered(diagnose->names, host->host))
			continue;
		count = names_get(diagnose->names, host->host, addresses, NAME_ADDRESSES_MAX);
		for (j = 0; j < count; j++)
			addresses[j].family == IP_V4 ? host->v4++ : host->v6++;
	}
}

/* ---- where they are ---- */

static size_t addresses_of(const char *host, struct ip_address *out, size_t max, void *user)
{
	const struct diagnose *diagnose = user;

	return names_get(diagnose->names, host, out, max);
}

static bool has_route(const struct ip_address *address, void *user)
{
	const struct diagnose *diagnose = user;
	uint32_t interface, mtu;

	return net_route_lookup(diagnose->daemon->net, address, diagnose->mark, &interface, &mtu) == 0;
}

static uint32_t scope_of(const char *interface, void *user)
{
	uint32_t index = if_nametoindex(interface);

	(void)user;
	return index ? index : (uint32_t)strtoul(interface, NULL, 10);
}

/* Where TCP goes: its own endpoints, else the one of UDP. */
static size_t tcp_endpoints(const struct device_way *way, struct endpoint out[UAPI_ENDPOINTS_MAX])
{
	size_t count = way->tcp_count;

	memcpy(out, way->tcp, count * sizeof(*out));
	if (!count && endpoint_is_set(&way->udp))
		out[count++] = way->udp;
	return count;
}

static void look_at_way(struct diagnose *diagnose, struct diagnose_peer *peer, const struct device_way *way)
{
	struct endpoint all[UAPI_ENDPOINTS_MAX + 1];
	size_t count = tcp_endpoints(way, all), i;
	bool v4 = false, v6 = false;

	if (endpoint_is_set(&way->udp))
		all[count++] = way->udp;
	for (i = 0; i < count; i++) {
		bool is_v4 = all[i].address.family == IP_V4, route = has_route(&all[i].address, diagnose);

		peer->route |= route;
		*(is_v4 ? &diagnose->facts.v4.reached : &diagnose->facts.v6.reached) |= route;
		v4 |= is_v4;
		v6 |= !is_v4;
	}
	peer->known = count != 0;
	diagnose->facts.v4.needed |= v4 && !v6;
	diagnose->facts.v6.needed |= v6 && !v4;
}

static void remember_peer(struct diagnose *diagnose, size_t at, struct diagnose_peer *peer)
{
	const struct device_way *way = &diagnose->ways[at];
	const struct ip_address *somewhere =
		endpoint_is_set(&way->udp) || !way->tcp_count ? &way->udp.address : &way->tcp[0].address;
	uint8_t network[NET_IDENTITY_MAX];
	size_t len;

	/* Only what was authentic is ever remembered. */
	if (net_identity(somewhere, diagnose->mark, network, &len) == 0)
		peer->worked = memory_get(diagnose->daemon->memory, network, len,
				       diagnose->loaded.profile.peers[at].public_key,
				       (uint64_t)time(NULL)) != FALLBACK_MEMORY_UNKNOWN;
}

static void open_reaches(struct diagnose *diagnose, const struct diagnose_peer *peer,
	const struct device_way *way, struct diagnose_reaches *out)
{
	struct endpoint tcp[UAPI_ENDPOINTS_MAX];
	size_t count = tcp_endpoints(way, tcp), i;

	if (peer->may_udp && endpoint_is_set(&way->udp))
		out->udp_error = reach_open(CARRIER_UDP, &way->udp, diagnose->mark, &out->udp);
	for (i = 0; peer->may_tcp && i < count; i++)
		out->tcp_error[i] = reach_open(CARRIER_TCP, &tcp[i], diagnose->mark, &out->tcp[i]);
}

static uint32_t choose_mtu(struct diagnose *diagnose)
{
	struct mtu_way ways[DIAGNOSE_PEERS_MAX];
	size_t count = 0, i;
	bool v6 = false;

	if (diagnose->loaded.profile.mtu)
		return diagnose->loaded.profile.mtu;
	for (i = 0; i < diagnose->loaded.profile.address_count; i++)
		v6 |= diagnose->loaded.profile.addresses[i].address.family == IP_V6;
	for (i = 0; i < diagnose->facts.peer_count; i++) {
		const struct device_way *way = &diagnose->ways[diagnose->at[i]];
		struct mtu_way *out = &ways[count];
		uint32_t interface;

		if (endpoint_is_set(&way->udp) && diagnose->facts.peers[i].may_udp &&
			!net_route_lookup(diagnose->daemon->net, &way->udp.address, diagnose->mark,
				&interface, &out->route_mtu)) {
			out->family = way->udp.address.family;
			out->tcp = false;
			count++;
		}
	}
	return mtu_choose(ways, count, v6);
}

void diagnose_peers_begin(struct diagnose *diagnose)
{
	struct device_world world = { addresses_of, has_route, scope_of, diagnose };
	struct diagnose_facts *facts = &diagnose->facts;
	size_t i;

	count_addresses(diagnose);
	for (i = 0; i < diagnose->loaded.profile.peer_count; i++)
		device_way(&diagnose->loaded.profile.peers[i], &world, 0, &diagnose->ways[i]);
	for (i = 0; i < facts->peer_count; i++) {
		const struct device_way *way = &diagnose->ways[diagnose->at[i]];

		look_at_way(diagnose, &facts->peers[i], way);
		remember_peer(diagnose, diagnose->at[i], &facts->peers[i]);
		if (facts->peers[i].route)
			open_reaches(diagnose, &facts->peers[i], way, &diagnose->reaches[i]);
	}
	facts->mtu = choose_mtu(diagnose);
}

void diagnose_peers_forget(struct diagnose *diagnose)
{
	size_t i, j;

	for (i = 0; i < DIAGNOSE_PEERS_MAX; i++) {
		reach_close(diagnose->reaches[i].udp);
		for (j = 0; j < UAPI_ENDPOINTS_MAX; j++)
			reach_close(diagnose->reaches[i].tcp[j]);
	}
	memset(diagnose->reaches, 0, sizeof(diagnose->reaches));
}

/* ---- what has come back ---- */

static void better(enum diagnose_try *to, enum diagnose_try value)
{
	if (value > *to)
		*to = value;
}

static enum diagnose_try judge_error(int error)
{
	return error == -EINPROGRESS || error == -ETIMEDOUT ? DIAGNOSE_SILENT : DIAGNOSE_REJECTED;
}

static void look_at_reaches(const struct diagnose_reaches *reaches, struct diagnose_peer *peer)
{
	size_t i;

	if (reaches->udp || reaches->udp_error)
		better(&peer->udp, judge_error(reaches->udp ? reach_look(reaches->udp) : reaches->udp_error));
	for (i = 0; i < UAPI_ENDPOINTS_MAX; i++) {
		int error = reaches->tcp[i] ? reach_look(reaches->tcp[i]) : reaches->tcp_error[i];

		if (reaches->tcp[i] || error)
			better(&peer->tcp, error ? judge_error(error) : DIAGNOSE_OPEN);
	}
}

static bool is_up(const struct rpc_peer *peer)
{
	return peer->state == RPC_STATE_UP || peer->state == RPC_STATE_DEGRADED ||
	       peer->state == RPC_STATE_VERIFYING;
}

static void look_at_view(const struct rpc_peer *view, struct diagnose_peer *peer)
{
	bool up = is_up(view) && view->carrier != CARRIER_NONE;

	if (view->udp == RPC_UDP_OK || (up && view->carrier == CARRIER_UDP))
		better(&peer->udp, DIAGNOSE_ANSWERED);
	if (up && view->reason == RPC_REASON_UDP_REJECTED)
		better(&peer->udp, DIAGNOSE_REJECTED);
	if (up && view->carrier == CARRIER_TCP)
		better(&peer->tcp, DIAGNOSE_ANSWERED);
	peer->worked |= view->last_handshake != 0;
	peer->misfits |= view->preshared_key_differs;
	if (up && view->rtt_us)
		peer->rtt_us = view->rtt_us;
	if (up && view->verified > peer->verified)
		peer->verified = view->verified;
	if (view->large_passes != RPC_LARGE_UNKNOWN)
		peer->large = view->large_passes;
	peer->no_large |= view->reason == RPC_REASON_UDP_NO_LARGE ||
			  (view->state == RPC_STATE_DEGRADED && view->verified == RPC_VERIFIED_SMALL);
}

static const struct rpc_peer *find(const struct rpc_tunnel *view, const uint8_t public_key[PROFILE_KEY_LEN])
{
	char key[RPC_KEY_LEN];
	size_t i;

	profile_key_write(public_key, key);
	for (i = 0; i < view->peer_count; i++)
		if (!strcmp(view->peers[i].public_key, key))
			return &view->peers[i];
	return NULL;
}

void diagnose_peers_look(struct diagnose *diagnose, const struct rpc_tunnel *running)
{
	const struct rpc_tunnel *view = running            ? running
					: diagnose->engine ? diagnose_engine_view(diagnose)
							   : NULL;
	size_t i;

	for (i = 0; i < diagnose->facts.peer_count; i++) {
		struct diagnose_peer *peer = &diagnose->facts.peers[i];
		const struct rpc_peer *seen =
			view ? find(view, diagnose->loaded.profile.peers[diagnose->at[i]].public_key) : NULL;

		look_at_reaches(&diagnose->reaches[i], peer);
		if (!seen)
			continue;
		look_at_view(seen, peer);
		/* An engine that gets no answer by UDP asks by TCP as soon as that opens. */
		peer->tcp_asked = running ? !is_up(seen) || seen->carrier == CARRIER_TCP
					  : diagnose->phase == DIAGNOSE_TCP || peer->udp != DIAGNOSE_ANSWERED;
	}
}
