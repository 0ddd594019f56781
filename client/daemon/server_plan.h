/* SPDX-License-Identifier: MIT */
/* Profiles for a server and for those who call it: texts and addresses. Pure: keys and chance come from the
 * caller, and each text is freed with profile_text_free (core/config/write.h), which wipes. */
#ifndef WGTCP_CLIENT_DAEMON_SERVER_PLAN_H
#define WGTCP_CLIENT_DAEMON_SERVER_PLAN_H

#include "core/config/profile.h"

#define SERVER_PLAN_CHANCE_LEN 7
/* HOST:PORT with brackets where they belong. */
#define SERVER_PLAN_ENDPOINT_LEN (PROFILE_HOST_LEN + 10)

/* A client's place: its addresses, with the length of the server's networks. */
struct server_place {
	struct ip_prefix addresses[2];
	size_t count;
};

/* HOST:PORT of a host as a person wrote it: a name, an address, an IPv6 address with or without brackets.
 * False when it can not be one. */
bool server_plan_endpoint(const char *host, uint16_t port, char out[SERVER_PLAN_ENDPOINT_LEN]);

/* A server without clients, in networks that chance picks: a /24 of 10.0.0.0/8 and a /64 of fd00::/8 (RFC
 * 4193). It notes in a comment where clients call it. NULL when memory is short. */
char *server_plan_new(const char *endpoint, uint16_t port, const uint8_t private_key[PROFILE_KEY_LEN],
	const uint8_t chance[SERVER_PLAN_CHANCE_LEN], size_t *len);
/* What that comment says. False when there is none. */
bool server_plan_noted(const char *text, size_t len, char out[SERVER_PLAN_ENDPOINT_LEN]);

/* The first addresses of the server's networks (the first IPv4 and the first IPv6 one of Address) that nobody
 * has. False when there is none left, or no network that has room. */
bool server_plan_place(const struct profile *server, struct server_place *out);

/* The server's text with one client more at its end. */
char *server_plan_add(const char *text, size_t len, const char *client,
	const uint8_t public_key[PROFILE_KEY_LEN], const uint8_t preshared_key[PROFILE_KEY_LEN],
	const struct server_place *place, size_t *out_len);
/* The client's own profile. */
char *server_plan_client(const char *endpoint, const uint8_t private_key[PROFILE_KEY_LEN],
	const uint8_t server_key[PROFILE_KEY_LEN], const uint8_t preshared_key[PROFILE_KEY_LEN],
	const struct server_place *place, size_t *len);

#endif
