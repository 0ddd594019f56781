/* SPDX-License-Identifier: MIT */
/* Used by probe.c and probe_portal.c. A channel for each look-up, since servers and mark may differ. Source:
 * ares(3). */
#include "client/daemon/probe_look_up.h"
#include "client/daemon/probe_ask.h"

#include <ares.h>
#include <assert.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* A server that is there answers sooner or has to be asked again; with two tries and the second server beside
 * the first, a dead one costs 0.8 s. */
#define ANSWER_MS 800
#define TRIES 3
#define DOMAINS_MAX 6
#define DNS_PORT 53

struct look_up {
	uint32_t id;
	ares_channel channel;
	bool open;
	unsigned due; /* answers */
	size_t server_count;
	struct probe_server servers[PROBE_SERVERS_MAX];
	look_up_answered *answered;
	void *user;
};

/* ---- sockets ---- */

static ares_socket_t open_socket(int family, int type, int protocol, void *user)
{
	const struct look_up *look_up = user;
	int fd = probe_ask(look_up->id, family, type == SOCK_STREAM);

	(void)protocol;
	if (fd >= 0)
		return fd;
	errno = -fd;
	return ARES_SOCKET_BAD;
}

static int close_socket(ares_socket_t fd, void *user)
{
	(void)user;
	return close(fd);
}

/* c-ares knows no scopes. */
static int connect_socket(ares_socket_t fd, const struct sockaddr *address, ares_socklen_t len, void *user)
{
	const struct look_up *look_up = user;
	struct sockaddr_in6 scoped;
	size_t i;

	if (address->sa_family != AF_INET6 || len < sizeof(scoped))
		return connect(fd, address, len);
	memcpy(&scoped, address, sizeof(scoped));
	for (i = 0; i < look_up->server_count; i++)
		if (look_up->servers[i].address.family == IP_V6 &&
			!memcmp(look_up->servers[i].address.bytes, &scoped.sin6_addr, 16))
			scoped.sin6_scope_id = look_up->servers[i].scope;
	return connect(fd, (struct sockaddr *)&scoped, sizeof(scoped));
}

static ares_ssize_t receive(ares_socket_t fd, void *data, size_t len, int flags, struct sockaddr *from,
	ares_socklen_t *from_len, void *user)
{
	(void)user;
	return recvfrom(fd, data, len, flags, from, from_len);
}

static ares_ssize_t send_pieces(ares_socket_t fd, const struct iovec *pieces, int count, void *user)
{
	struct msghdr header = { .msg_iov = (struct iovec *)pieces, .msg_iovlen = (size_t)count };

	(void)user;
	return sendmsg(fd, &header, MSG_NOSIGNAL);
}

static const struct ares_socket_functions socket_functions = { open_socket, close_socket, connect_socket,
	receive, send_pieces };

/* ---- answers ---- */

static size_t take_addresses(
	const struct ares_addrinfo *info, enum ip_family family, struct ip_address out[PROBE_ADDRESSES_MAX])
{
	const struct ares_addrinfo_node *node;
	size_t count = 0, i;

	for (node = info->nodes; node && count < PROBE_ADDRESSES_MAX; node = node->ai_next) {
		struct ip_address address = { .family = family };

		if (node->ai_family == AF_INET && family == IP_V4)
			memcpy(address.bytes,
				&((const struct sockaddr_in *)(const void *)node->ai_addr)->sin_addr, 4);
		else if (node->ai_family == AF_INET6 && family == IP_V6)
			memcpy(address.bytes,
				&((const struct sockaddr_in6 *)(const void *)node->ai_addr)->sin6_addr, 16);
		else
			continue;
		for (i = 0; i < count && !ip_address_equal(&out[i], &address); i++)
			;
		if (i == count)
			out[count++] = address;
	}
	return count;
}

static void take(struct look_up *look_up, enum ip_family family, int status, struct ares_addrinfo *info)
{
	struct ip_address addresses[PROBE_ADDRESSES_MAX];
	enum probe_status told = PROBE_NO_ANSWER;
	size_t count = 0;

	if (status == ARES_SUCCESS && info)
		count = take_addresses(info, family, addresses);
	if (info)
		ares_freeaddrinfo(info);
	if (status == ARES_EDESTRUCTION || status == ARES_ECANCELLED)
		return;
	if (count)
		told = PROBE_FOUND;
	else if (status == ARES_SUCCESS || status == ARES_ENODATA || status == ARES_ENOTFOUND)
		told = PROBE_NONE;
	look_up->due--;
	look_up->answered(family, told, addresses, count, look_up->user);
}

static void answered_v4(void *user, int status, int timeouts, struct ares_addrinfo *info)
{
	(void)timeouts;
	take(user, IP_V4, status, info);
}

static void answered_v6(void *user, int status, int timeouts, struct ares_addrinfo *info)
{
	(void)timeouts;
	take(user, IP_V6, status, info);
}

/* ---- its life ---- */

static bool set_servers(struct look_up *look_up)
{
	struct ares_addr_port_node nodes[PROBE_SERVERS_MAX] = { 0 };
	size_t i;

	if (look_up->server_count == 0)
		return true;
	for (i = 0; i < look_up->server_count; i++) {
		const struct ip_address *address = &look_up->servers[i].address;

		nodes[i].family = address->family == IP_V4 ? AF_INET : AF_INET6;
		memcpy(&nodes[i].addr, address->bytes, ip_address_len(address));
		nodes[i].udp_port = nodes[i].tcp_port = DNS_PORT;
		nodes[i].next = i + 1 < look_up->server_count ? &nodes[i + 1] : NULL;
	}
	return ares_set_servers_ports(look_up->channel, nodes) == ARES_SUCCESS;
}

/* Cuts the text at its blanks. */
static int split(char *text, char *out[DOMAINS_MAX])
{
	char *rest = NULL, *word;
	int count = 0;

	for (word = strtok_r(text, " ", &rest); word && count < DOMAINS_MAX;
		word = strtok_r(NULL, " ", &rest))
		out[count++] = word;
	return count;
}

static bool open_channel(struct look_up *look_up, const struct probe_message *request)
{
	char search[PROBE_SEARCH_LEN], *domains[DOMAINS_MAX];
	struct ares_options options = { .timeout = ANSWER_MS, .tries = TRIES, .lookups = (char *)"fb" };

	memcpy(search, request->search, sizeof(search));
	search[sizeof(search) - 1] = 0;
	options.ndomains = split(search, domains);
	options.domains = domains;
	if (ares_init_options(&look_up->channel, &options,
		    ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_LOOKUPS | ARES_OPT_DOMAINS) !=
		ARES_SUCCESS)
		return false;
	look_up->open = true;
	ares_set_socket_functions(look_up->channel, &socket_functions, look_up);
	return set_servers(look_up);
}

struct look_up *look_up_new(
	const struct probe_message *request, const char *name, look_up_answered *answered, void *user)
{
	struct ares_addrinfo_hints hints = { .ai_socktype = SOCK_DGRAM, .ai_flags = ARES_AI_NOSORT };
	struct look_up *look_up = calloc(1, sizeof(*look_up));

	if (!look_up)
		return NULL;
	look_up->id = request->id;
	look_up->answered = answered;
	look_up->user = user;
	look_up->server_count = request->count < PROBE_SERVERS_MAX ? request->count : PROBE_SERVERS_MAX;
	memcpy(look_up->servers, request->servers, look_up->server_count * sizeof(look_up->servers[0]));
	if (!open_channel(look_up, request)) {
		look_up_free(look_up);
		return NULL;
	}
	look_up->due = 2;
	/* IPv6 first, so that it has the head start that RFC 8305 (3) wants for it. */
	hints.ai_family = AF_INET6;
	ares_getaddrinfo(look_up->channel, name, NULL, &hints, answered_v6, look_up);
	hints.ai_family = AF_INET;
	ares_getaddrinfo(look_up->channel, name, NULL, &hints, answered_v4, look_up);
	return look_up;
}

void look_up_free(struct look_up *look_up)
{
	if (!look_up)
		return;
	if (look_up->open)
		ares_destroy(look_up->channel);
	free(look_up);
}

bool look_up_is_over(const struct look_up *look_up)
{
	return look_up->due == 0;
}

size_t look_up_wait(struct look_up *look_up, struct pollfd *out, int *timeout_ms)
{
	ares_socket_t fds[ARES_GETSOCK_MAXNUM];
	/* Not the library's own macros: those shift a one into the sign. */
	unsigned bits = (unsigned)ares_getsock(look_up->channel, fds, ARES_GETSOCK_MAXNUM);
	struct timeval room, *next;
	size_t count = 0;

	static_assert(ARES_GETSOCK_MAXNUM <= LOOK_UP_HANDLES_MAX, "room for all handles of a channel");
	for (unsigned i = 0; i < ARES_GETSOCK_MAXNUM; i++) {
		short events = (short)((bits >> i & 1 ? POLLIN : 0) |
				       (bits >> (i + ARES_GETSOCK_MAXNUM) & 1 ? POLLOUT : 0));

		if (events)
			out[count++] = (struct pollfd){ .fd = fds[i], .events = events };
	}
	next = ares_timeout(look_up->channel, NULL, &room);
	if (next && next->tv_sec < 60) {
		int ms = (int)(next->tv_sec * 1000 + next->tv_usec / 1000 + 1);

		if (*timeout_ms < 0 || ms < *timeout_ms)
			*timeout_ms = ms;
	}
	return count;
}

void look_up_turn(struct look_up *look_up, const struct pollfd *ready, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (ready[i].revents)
			ares_process_fd(look_up->channel,
				ready[i].revents & (POLLIN | POLLERR | POLLHUP) ? ready[i].fd
										: ARES_SOCKET_BAD,
				ready[i].revents & POLLOUT ? ready[i].fd : ARES_SOCKET_BAD);
	ares_process_fd(look_up->channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
}
