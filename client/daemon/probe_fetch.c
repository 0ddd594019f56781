/* SPDX-License-Identifier: MIT */
/* Used by probe_portal.c. The name is looked up by c-ares at the servers of the network, never by libcurl,
 * which would ask the system. Source: libcurl-multi(3), curl_url(3). */
#include "client/daemon/probe_fetch.h"
#include "client/daemon/probe_ask.h"
#include "client/daemon/probe_look_up.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/select.h>
#include <sys/socket.h>

#define CONNECT_MS 4000L
#define WHOLE_MS 8000L
#define ADDRESSES_LEN 1200

struct fetch {
	uint32_t id;
	char url[PROBE_TEXT_LEN], host[256];
	unsigned port;
	struct look_up *look_up;
	char addresses[ADDRESSES_LEN]; /* as CURLOPT_RESOLVE wants them */
	CURLM *multi;
	CURL *easy;
	struct curl_slist *resolve;
	bool secure, over;
	struct fetch_result result;
};

static size_t take_body(char *bytes, size_t size, size_t count, void *user)
{
	struct fetch_result *result = user;
	size_t len = size * count, room = FETCH_BODY_MAX - result->body_len;

	(void)size;
	memcpy(result->body + result->body_len, bytes, len < room ? len : room);
	result->body_len += len < room ? len : room;
	result->body[result->body_len] = 0;
	return len <= room ? len : 0; /* enough has been seen: ends it */
}

static size_t take_header(char *bytes, size_t size, size_t count, void *user)
{
	static const char online[] = "X-NetworkManager-Status: online";
	struct fetch_result *result = user;
	size_t len = size * count;

	if (len >= sizeof(online) - 1 && !strncasecmp(bytes, online, sizeof(online) - 1))
		result->says_online = true;
	return len;
}

static curl_socket_t open_socket(void *user, curlsocktype purpose, struct curl_sockaddr *address)
{
	const struct fetch *fetch = user;
	int fd;

	if (purpose != CURLSOCKTYPE_IPCXN || address->socktype != SOCK_STREAM)
		return CURL_SOCKET_BAD;
	fd = probe_ask(fetch->id, address->family, true);
	return fd >= 0 ? fd : CURL_SOCKET_BAD;
}

static bool set_options(struct fetch *fetch)
{
	CURL *easy = fetch->easy;
	char line[ADDRESSES_LEN + 300];

	if (fetch->addresses[0]) {
		snprintf(line, sizeof(line), "%s:%u:%s", fetch->host, fetch->port, fetch->addresses);
		fetch->resolve = curl_slist_append(NULL, line);
		if (!fetch->resolve || curl_easy_setopt(easy, CURLOPT_RESOLVE, fetch->resolve) != CURLE_OK)
			return false;
	}
	return curl_easy_setopt(easy, CURLOPT_URL, fetch->url) == CURLE_OK &&
	       curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, fetch->secure ? "https" : "http,https") ==
		       CURLE_OK &&
	       curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
	       curl_easy_setopt(easy, CURLOPT_PROXY, "") == CURLE_OK &&
	       curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
	       curl_easy_setopt(easy, CURLOPT_USERAGENT, "wgtcp") == CURLE_OK &&
	       curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS) == CURLE_OK &&
	       curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, WHOLE_MS) == CURLE_OK &&
	       curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket) == CURLE_OK &&
	       curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, fetch) == CURLE_OK &&
	       curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body) == CURLE_OK &&
	       curl_easy_setopt(easy, CURLOPT_WRITEDATA, &fetch->result) == CURLE_OK &&
	       curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header) == CURLE_OK &&
	       curl_easy_setopt(easy, CURLOPT_HEADERDATA, &fetch->result) == CURLE_OK;
}

static void begin(struct fetch *fetch)
{
	fetch->multi = curl_multi_init();
	fetch->easy = curl_easy_init();
	if (!fetch->multi || !fetch->easy || !set_options(fetch) ||
		curl_multi_add_handle(fetch->multi, fetch->easy) != CURLM_OK)
		fetch->over = true;
}

static void answered(enum ip_family family, enum probe_status status, const struct ip_address *addresses,
	size_t count, void *user)
{
	struct fetch *fetch = user;
	char text[ENDPOINT_TEXT_LEN];
	size_t i, used = strlen(fetch->addresses);

	(void)status;
	for (i = 0; i < count && used + sizeof(text) + 4 < sizeof(fetch->addresses); i++) {
		ip_address_write(&addresses[i], text);
		used += (size_t)snprintf(fetch->addresses + used, sizeof(fetch->addresses) - used,
			family == IP_V6 ? "%s[%s]" : "%s%s", used ? "," : "", text);
	}
}

/* Takes host and port out of the address, and finds out whether the host has to be looked up. */
static bool take_apart(struct fetch *fetch, const char *url, bool secure, bool *numeric)
{
	CURLU *parts = curl_url();
	char *scheme = NULL, *host = NULL, *port = NULL;
	struct ip_address address;
	bool ok = false;
	size_t len;

	if (!parts || strlen(url) >= sizeof(fetch->url) ||
		curl_url_set(parts, CURLUPART_URL, url, 0) != CURLUE_OK ||
		curl_url_get(parts, CURLUPART_SCHEME, &scheme, 0) != CURLUE_OK ||
		curl_url_get(parts, CURLUPART_HOST, &host, 0) != CURLUE_OK ||
		curl_url_get(parts, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) != CURLUE_OK)
		goto out;
	len = strlen(host);
	if (len == 0 || len >= sizeof(fetch->host) ||
		(strcmp(scheme, "https") && (secure || strcmp(scheme, "http"))))
		goto out;
	strcpy(fetch->url, url);
	strcpy(fetch->host, host);
	fetch->port = (unsigned)strtoul(port, NULL, 10);
	*numeric = host[0] == '[' || ip_address_parse(host, len, &address);
	ok = true;
out:
	curl_free(scheme);
	curl_free(host);
	curl_free(port);
	curl_url_cleanup(parts);
	return ok;
}

struct fetch *fetch_new(const struct probe_message *request, const char *url, bool secure)
{
	static bool ready;
	struct fetch *fetch;
	bool numeric;

	if (!ready && curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return NULL;
	ready = true;
	fetch = calloc(1, sizeof(*fetch));
	if (!fetch)
		return NULL;
	fetch->id = request->id;
	fetch->secure = secure;
	if (!take_apart(fetch, url, secure, &numeric)) {
		free(fetch);
		return NULL;
	}
	if (numeric) {
		begin(fetch);
		return fetch;
	}
	fetch->look_up = look_up_new(request, fetch->host, answered, fetch);
	if (!fetch->look_up)
		fetch->over = true;
	return fetch;
}

void fetch_free(struct fetch *fetch)
{
	if (!fetch)
		return;
	look_up_free(fetch->look_up);
	if (fetch->multi && fetch->easy)
		curl_multi_remove_handle(fetch->multi, fetch->easy);
	curl_easy_cleanup(fetch->easy);
	curl_multi_cleanup(fetch->multi);
	curl_slist_free_all(fetch->resolve);
	free(fetch);
}

bool fetch_is_over(const struct fetch *fetch)
{
	return fetch->over;
}

const struct fetch_result *fetch_result(const struct fetch *fetch)
{
	return &fetch->result;
}

size_t fetch_wait(struct fetch *fetch, struct pollfd *out, int *timeout_ms)
{
	fd_set reads, writes, errors;
	size_t count = 0;
	long ms = -1;
	int most = -1, fd;

	if (fetch->over || !fetch->multi)
		return fetch->look_up ? look_up_wait(fetch->look_up, out, timeout_ms) : 0;
	FD_ZERO(&reads);
	FD_ZERO(&writes);
	FD_ZERO(&errors);
	curl_multi_fdset(fetch->multi, &reads, &writes, &errors, &most);
	for (fd = 0; fd <= most && count < FETCH_HANDLES_MAX; fd++) {
		short events =
			(short)((FD_ISSET(fd, &reads) ? POLLIN : 0) | (FD_ISSET(fd, &writes) ? POLLOUT : 0));

		if (events)
			out[count++] = (struct pollfd){ .fd = fd, .events = events };
	}
	curl_multi_timeout(fetch->multi, &ms);
	if (ms < 0 || ms > 1000)
		ms = 1000; /* as the manual wants it: it has reasons of its own to be called */
	if (*timeout_ms < 0 || ms < *timeout_ms)
		*timeout_ms = (int)ms;
	return count;
}

static void finish(struct fetch *fetch)
{
	char *redirect = NULL;

	/* Also of an answer that was cut short: its head is what counts. */
	curl_easy_getinfo(fetch->easy, CURLINFO_RESPONSE_CODE, &fetch->result.status);
	if (curl_easy_getinfo(fetch->easy, CURLINFO_REDIRECT_URL, &redirect) == CURLE_OK && redirect &&
		strlen(redirect) < sizeof(fetch->result.redirect))
		strcpy(fetch->result.redirect, redirect);
	fetch->over = true;
}

void fetch_turn(struct fetch *fetch, const struct pollfd *ready, size_t count)
{
	int running = 0;

	if (fetch->over)
		return;
	if (!fetch->multi) {
		look_up_turn(fetch->look_up, ready, count);
		if (!look_up_is_over(fetch->look_up))
			return;
		if (fetch->addresses[0])
			begin(fetch);
		else
			fetch->over = true; /* its name is not known here */
		if (fetch->over)
			return;
	}
	if (curl_multi_perform(fetch->multi, &running) != CURLM_OK || !running)
		finish(fetch);
}
