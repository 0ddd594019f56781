/* SPDX-License-Identifier: MIT */
/* A profile (one NAME.conf) as a value. Names of hosts are text: nothing here resolves them.
 * parse.h fills it, write.h writes it, edit.h changes one line of the text. Heap memory, owned by the
 * profile; one thread at a time. Source: wg-quick(8), wg(8); our keys: wgtcp-profile(5). */
#ifndef WGTCP_CORE_CONFIG_PROFILE_H
#define WGTCP_CORE_CONFIG_PROFILE_H

#include "core/base/address.h"
#include "core/base/carrier.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROFILE_KEY_LEN 32
#define PROFILE_NAME_LEN 16 /* 15 characters and the end */
#define PROFILE_HOST_LEN 256
#define PROFILE_DISPLAY_NAME_LEN 128
/* As core/uapi has it for one peer. */
#define PROFILE_ENDPOINTS_MAX 8
#define PROFILE_PORTS_MAX 8
#define PROFILE_URL_LEN 512
/* Larger input is refused before it is looked at. */
#define PROFILE_TEXT_MAX (1u << 20)
#define PROFILE_LINE_MAX (1u << 18)
/* What stands in place of a secret in redacted text, and means "keep what is there" in an edit. */
#define PROFILE_HIDDEN "(hidden)"

enum profile_backend { PROFILE_BACKEND_AUTO, PROFILE_BACKEND_KERNEL, PROFILE_BACKEND_USERSPACE };

enum profile_table { PROFILE_TABLE_AUTO, PROFILE_TABLE_OFF, PROFILE_TABLE_NUMBER };

enum profile_hook { PROFILE_PRE_UP, PROFILE_POST_UP, PROFILE_PRE_DOWN, PROFILE_POST_DOWN };
#define PROFILE_HOOK_COUNT 4

/* HOST:PORT as written, without brackets: a name, or a numeric address (IPv6 perhaps with %scope). */
struct profile_host {
	char host[PROFILE_HOST_LEN]; /* empty: not set */
	uint16_t port;
};

struct profile_texts {
	char **items; /* owned */
	size_t count;
};

struct profile_peer {
	uint8_t public_key[PROFILE_KEY_LEN];
	bool has_preshared_key;
	uint8_t preshared_key[PROFILE_KEY_LEN];
	char name[PROFILE_DISPLAY_NAME_LEN]; /* "# Name = ..." inside the section; may be empty */
	struct profile_host endpoint;
	struct ip_prefix *allowed_ips; /* owned; host bits cleared */
	size_t allowed_ip_count;
	uint16_t keepalive_s; /* 0: off */
	bool has_transport;   /* else the interface's holds */
	enum transport transport;
	size_t tcp_endpoint_count; /* 0: TCP goes to endpoint */
	struct profile_host tcp_endpoints[PROFILE_ENDPOINTS_MAX];
	size_t udp_port_count;
	uint16_t udp_ports[PROFILE_PORTS_MAX];
	struct ip_address probe_address; /* IP_NONE: not given, see profile_probe_address */
	unsigned line;                   /* of "[Peer]" */
};

struct profile {
	char name[PROFILE_DISPLAY_NAME_LEN]; /* "# Name = ..." as people see it; may be empty */
	uint8_t private_key[PROFILE_KEY_LEN];
	struct ip_prefix *addresses; /* owned; as written, with host bits */
	size_t address_count;
	struct ip_address *dns_servers; /* owned */
	size_t dns_server_count;
	struct profile_texts dns_domains;
	bool has_listen_port, has_tcp_listen_port;
	uint16_t listen_port, tcp_listen_port;
	uint32_t fwmark; /* 0: off */
	uint32_t mtu;    /* 0: found out */
	enum profile_table table;
	uint32_t table_number;                          /* with PROFILE_TABLE_NUMBER */
	struct profile_texts hooks[PROFILE_HOOK_COUNT]; /* kept, never run */
	enum transport transport;
	enum profile_backend backend;
	char fallback_profile[PROFILE_NAME_LEN]; /* empty: none */
	char portal_check[PROFILE_URL_LEN]; /* whom to ask whether a captive portal is in the way; empty: nobody */
	bool kill_switch, kill_switch_lan, auto_connect, speed_test_server, save_config;
	bool extensions; /* on by default */
	struct profile_texts trusted_networks;
	struct profile_peer *peers; /* owned */
	size_t peer_count;
};

/* Every default. */
void profile_init(struct profile *profile);
/* Frees, and wipes the keys. Of an all-zero profile too; may be called twice. */
void profile_free(struct profile *profile);

/* Append; false when memory is short. A new peer has every default; the pointer holds until the next one is
 * added. */
struct profile_peer *profile_add_peer(struct profile *profile);
bool profile_add_address(struct profile *profile, const struct ip_prefix *address);
bool profile_add_dns_server(struct profile *profile, const struct ip_address *server);
bool profile_add_allowed_ip(struct profile_peer *peer, const struct ip_prefix *prefix);
bool profile_add_text(struct profile_texts *texts, const char *text, size_t len);

/* The transport that holds for a peer. */
enum transport profile_peer_transport(const struct profile *profile, size_t peer);

/* Whom to ask inside whether packets pass: ProbeAddress; else the first host prefix of the peer's AllowedIPs,
 * the first DNS server inside them, the first host of Address's network inside them; never an address of our
 * own. False when there is none. Source: wgtcp-profile(5). */
bool profile_probe_address(const struct profile *profile, size_t peer, struct ip_address *out);

#endif
