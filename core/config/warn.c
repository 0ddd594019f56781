/* SPDX-License-Identifier: MIT */
/* See warn.h. Each warning is found by a function of its own.
 * Source: public reports of software like ours: IPv6 that leaks past an IPv4 tunnel, DNS servers outside
 * AllowedIPs, the same prefix on two peers. */
#include "core/config/warn.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((format(printf, 4, 5))) static void warn(struct profile_warnings *warnings,
	enum profile_warning_kind kind, unsigned line, const char *format, ...)
{
	struct profile_warning *warning;
	va_list arguments;

	if (warnings->count == PROFILE_WARNINGS_MAX) {
		warnings->left_off++;
		return;
	}
	warning = &warnings->items[warnings->count++];
	warning->kind = kind;
	warning->line = line;
	va_start(arguments, format);
	vsnprintf(warning->sentence, sizeof(warning->sentence), format, arguments);
	va_end(arguments);
}

/* Whether the peers together hold every address of a family: by /0, or by its two halves as some profiles
 * write it. */
static bool holds_all(const struct profile *profile, enum ip_family family)
{
	unsigned halves = 0;

	for (size_t i = 0; i < profile->peer_count; i++) {
		const struct profile_peer *peer = &profile->peers[i];

		for (size_t k = 0; k < peer->allowed_ip_count; k++) {
			const struct ip_prefix *prefix = &peer->allowed_ips[k];

			if (prefix->address.family != family || prefix->bits > 1)
				continue;
			if (prefix->bits == 0)
				return true;
			halves |= prefix->address.bytes[0] & 0x80 ? 2 : 1;
		}
	}
	return halves == 3;
}

static void warn_ipv6_leak(const struct profile *profile, struct profile_warnings *warnings)
{
	if (!holds_all(profile, IP_V4) || holds_all(profile, IP_V6))
		return;
	if (profile->kill_switch || profile->table == PROFILE_TABLE_OFF)
		return;
	warn(warnings, PROFILE_WARN_IPV6_LEAK, profile->peers[0].line,
		"all IPv4 goes through the tunnel, but IPv6 goes past it: add ::/0 to AllowedIPs, or set "
		"KillSwitch = on");
}

static bool is_inside(const struct profile *profile, const struct ip_address *address)
{
	for (size_t i = 0; i < profile->peer_count; i++)
		for (size_t k = 0; k < profile->peers[i].allowed_ip_count; k++)
			if (ip_prefix_contains(&profile->peers[i].allowed_ips[k], address))
				return true;
	return false;
}

static void warn_dns_outside(const struct profile *profile, unsigned line, struct profile_warnings *warnings)
{
	char text[ENDPOINT_TEXT_LEN];

	for (size_t i = 0; i < profile->dns_server_count && profile->peer_count; i++) {
		const struct ip_address *server = &profile->dns_servers[i];

		if (is_inside(profile, server))
			continue;
		ip_address_write(server, text);
		warn(warnings, PROFILE_WARN_DNS_OUTSIDE, line,
			"the DNS server %s is in no peer's AllowedIPs, so it is not asked through the tunnel "
			"and may not answer: add %s/%d to AllowedIPs",
			text, text, server->family == IP_V4 ? 32 : 128);
	}
}

struct held_prefix {
	const struct ip_prefix *prefix;
	size_t peer;
};

static int compare_prefixes(const void *left, const void *right)
{
	const struct held_prefix *a = left, *b = right;
	int order;

	if (a->prefix->address.family != b->prefix->address.family)
		return a->prefix->address.family < b->prefix->address.family ? -1 : 1;
	order = memcmp(a->prefix->address.bytes, b->prefix->address.bytes, sizeof(a->prefix->address.bytes));
	if (order == 0)
		order = (a->prefix->bits > b->prefix->bits) - (a->prefix->bits < b->prefix->bits);
	if (order == 0)
		order = (a->peer > b->peer) - (a->peer < b->peer);
	return order;
}

static bool same_prefix(const struct held_prefix *a, const struct held_prefix *b)
{
	return a->prefix->bits == b->prefix->bits &&
	       ip_address_equal(&a->prefix->address, &b->prefix->address);
}

static bool warn_same_prefix(const struct profile *profile, struct profile_warnings *warnings)
{
	struct held_prefix *held;
	size_t count = 0;
	char text[PREFIX_TEXT_LEN];

	for (size_t i = 0; i < profile->peer_count; i++)
		count += profile->peers[i].allowed_ip_count;
	if (profile->peer_count < 2 || count < 2)
		return true;
	held = malloc(count * sizeof(*held));
	if (!held)
		return false;
	count = 0;
	for (size_t i = 0; i < profile->peer_count; i++)
		for (size_t k = 0; k < profile->peers[i].allowed_ip_count; k++)
			held[count++] = (struct held_prefix){ &profile->peers[i].allowed_ips[k], i };
	qsort(held, count, sizeof(*held), compare_prefixes);
	for (size_t i = 1; i < count; i++) {
		if (!same_prefix(&held[i - 1], &held[i]) || held[i - 1].peer == held[i].peer)
			continue;
		warn(warnings, PROFILE_WARN_SAME_PREFIX, profile->peers[held[i].peer].line,
			"%s is in AllowedIPs of two peers, those of line %u and line %u, and only the last "
			"one gets it: delete it from the other",
			ip_prefix_write(held[i].prefix, text), profile->peers[held[i - 1].peer].line,
			profile->peers[held[i].peer].line);
	}
	free(held);
	return true;
}

static void warn_hooks(const struct profile *profile, unsigned line, struct profile_warnings *warnings)
{
	for (size_t i = 0; i < PROFILE_HOOK_COUNT; i++) {
		if (!profile->hooks[i].count)
			continue;
		warn(warnings, PROFILE_WARN_HOOKS, line,
			"PreUp, PostUp, PreDown and PostDown are kept but never run: put the commands into a "
			"systemd drop-in instead");
		return;
	}
}

static void warn_endpoint(const struct profile *profile, unsigned line, struct profile_warnings *warnings)
{
	if (!profile->peer_count) {
		warn(warnings, PROFILE_WARN_NO_PEER, line,
			"the profile has no [Peer], so there is nobody to talk to: add the section that the "
			"server's owner gave you");
		return;
	}
	if (profile->has_listen_port || profile->has_tcp_listen_port)
		return;
	for (size_t i = 0; i < profile->peer_count; i++)
		if (profile->peers[i].endpoint.host[0] || profile->peers[i].tcp_endpoint_count)
			return;
	warn(warnings, PROFILE_WARN_NO_ENDPOINT, profile->peers[0].line,
		"no peer has an Endpoint and there is no ListenPort, so neither side can call the other: add "
		"Endpoint = HOST:PORT");
}

bool profile_warn(
	const struct profile *profile, const struct profile_places *places, struct profile_warnings *warnings)
{
	warn_endpoint(profile, places->interface, warnings);
	warn_ipv6_leak(profile, warnings);
	warn_dns_outside(profile, places->dns, warnings);
	warn_hooks(profile, places->hook, warnings);
	if (profile->save_config)
		warn(warnings, PROFILE_WARN_SAVE_CONFIG, places->save_config,
			"SaveConfig has no effect, since a profile is never overwritten on its own: change "
			"it with `wgtcp-cli set`");
	return warn_same_prefix(profile, warnings);
}
