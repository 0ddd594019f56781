/* SPDX-License-Identifier: MIT */
/* Used by probe.c. */
#include "client/daemon/probe_portal.h"
#include "client/daemon/probe_fetch.h"
#include "client/daemon/probe_lease.h"
#include "client/rpc/portal.h"

#include <stdlib.h>
#include <string.h>

struct portal {
	struct probe_message request;
	struct fetch *fetch; /* NULL: over */
	bool asks_network;   /* its own word is being asked for */
	enum probe_portal result;
	char url[PROBE_TEXT_LEN];
};

/* "http://HOST" without what follows; its length. */
static size_t origin_len(const char *url)
{
	const char *host = strstr(url, "://");

	return host ? (size_t)(host - url) + 3 + strcspn(host + 3, "/?#") : 0;
}

static bool same_host(const char *a, const char *b)
{
	const char *host_a = strstr(a, "://"), *host_b = strstr(b, "://");
	size_t len_a, len_b;

	if (!host_a || !host_b)
		return false;
	len_a = strcspn(host_a + 3, ":/?#");
	len_b = strcspn(host_b + 3, ":/?#");
	return len_a == len_b && !strncmp(host_a + 3, host_b + 3, len_a);
}

enum probe_portal portal_judge(const char *check, const struct fetch_result *result, char url[PROBE_TEXT_LEN])
{
	url[0] = 0;
	if (result->status == 204 || (result->status == 200 && result->says_online))
		return PROBE_PORTAL_OPEN;
	if (result->status >= 300 && result->status < 400 && result->redirect[0]) {
		/* The checked server itself, sent on to https or to another page: that is no portal. */
		if (same_host(check, result->redirect))
			return PROBE_PORTAL_UNKNOWN;
		if (rpc_portal_url_ok(result->redirect))
			strcpy(url, result->redirect);
		return PROBE_PORTAL_CAPTIVE;
	}
	/* Somebody else's page in its place, or RFC 6585's "511 Network Authentication Required". */
	if (result->status == 200 || result->status == 511) {
		memcpy(url, check, origin_len(check));
		url[origin_len(check)] = 0;
		return PROBE_PORTAL_CAPTIVE;
	}
	return PROBE_PORTAL_UNKNOWN;
}

static void ask_network(struct portal *portal)
{
	char url[PROBE_TEXT_LEN];

	if (!lease_find("", url, sizeof(url)))
		return;
	portal->fetch = fetch_new(&portal->request, url, true); /* RFC 8908 (4): never without TLS */
	portal->asks_network = portal->fetch != NULL;
}

static void ask_check(struct portal *portal)
{
	portal->asks_network = false;
	portal->fetch =
		portal->request.text[0] ? fetch_new(&portal->request, portal->request.text, false) : NULL;
}

struct portal *portal_new(const struct probe_message *request)
{
	struct portal *portal = calloc(1, sizeof(*portal));

	if (!portal)
		return NULL;
	portal->request = *request;
	portal->request.text[sizeof(portal->request.text) - 1] = 0;
	ask_network(portal);
	if (!portal->fetch)
		ask_check(portal);
	return portal;
}

void portal_free(struct portal *portal)
{
	if (!portal)
		return;
	fetch_free(portal->fetch);
	free(portal);
}

bool portal_is_over(const struct portal *portal, enum probe_portal *out, const char **url)
{
	if (portal->fetch)
		return false;
	*out = portal->result;
	*url = portal->url;
	return true;
}

size_t portal_wait(struct portal *portal, struct pollfd *out, int *timeout_ms)
{
	return portal->fetch ? fetch_wait(portal->fetch, out, timeout_ms) : 0;
}

static void take_network_word(struct portal *portal, const struct fetch_result *result)
{
	struct rpc_portal word;

	if (result->status != 200 || !rpc_portal_parse(result->body, result->body_len, &word))
		return;
	portal->result = word.captive ? PROBE_PORTAL_CAPTIVE : PROBE_PORTAL_OPEN;
	if (word.captive)
		strcpy(portal->url, word.url);
}

void portal_turn(struct portal *portal, const struct pollfd *ready, size_t count)
{
	bool asked_network = portal->asks_network;

	if (!portal->fetch)
		return;
	fetch_turn(portal->fetch, ready, count);
	if (!fetch_is_over(portal->fetch))
		return;
	if (asked_network)
		take_network_word(portal, fetch_result(portal->fetch));
	else
		portal->result = portal_judge(portal->request.text, fetch_result(portal->fetch), portal->url);
	fetch_free(portal->fetch);
	portal->fetch = NULL;
	if (asked_network && portal->result == PROBE_PORTAL_UNKNOWN)
		ask_check(portal);
}
