/* SPDX-License-Identifier: MIT */
/* The child that asks the network what the daemon wants to know: addresses of names, and whether a captive
 * portal is in the way. It parses what strangers send, so it has no privilege: user nobody, no new
 * privileges, no descriptors but its two sockets. The sockets that it asks with it gets from the daemon,
 * which opens and marks them, so that they go past the tunnel. One thread, no GLib; started, and started
 * again, by the spawner.
 *
 * Requests and answers are of one fixed size on one socketpair; questions for a socket, which wait for their
 * answer, on another one. */
#ifndef WGTCP_CLIENT_DAEMON_PROBE_H
#define WGTCP_CLIENT_DAEMON_PROBE_H

#include "core/base/address.h"

#define PROBE_TEXT_LEN 1024
#define PROBE_SEARCH_LEN 256
#define PROBE_ADDRESSES_MAX 16
#define PROBE_SERVERS_MAX 8
/* Requests at a time; more are answered with PROBE_FAILED. */
#define PROBE_REQUESTS_MAX 32

enum probe_kind {
	/* down */
	PROBE_LOOK_UP = 1, /* id, text: name, search, servers */
	PROBE_PORTAL,      /* id, text: address to ask, may be empty; search, servers; family: unused */
	PROBE_CANCEL,      /* id */
	/* up */
	PROBE_ADDRESSES,   /* id, family, status, addresses: one for each family; last */
	PROBE_PORTAL_SEEN, /* id, portal, text: the portal's address, may be empty; last */
};

enum probe_status {
	PROBE_FOUND,
	PROBE_NONE,      /* no such name, or no address of that family */
	PROBE_NO_ANSWER, /* of a server, or none of use */
	PROBE_FAILED,    /* nothing could be asked */
};

enum probe_portal {
	PROBE_PORTAL_UNKNOWN, /* nobody to ask, or no answer of use */
	PROBE_PORTAL_OPEN,    /* nothing is in the way */
	PROBE_PORTAL_CAPTIVE,
};

struct probe_server {
	struct ip_address address;
	uint32_t scope; /* interface of a link-local one, else 0 */
};

struct probe_message {
	uint32_t kind, id;
	uint32_t status, portal;
	uint32_t family;
	uint32_t count; /* of addresses, or servers */
	uint32_t last;  /* nothing more comes for this id */
	union {
		struct ip_address addresses[PROBE_ADDRESSES_MAX];
		struct probe_server servers[PROBE_SERVERS_MAX];
	};
	char search[PROBE_SEARCH_LEN]; /* domains with blanks between, for a name without a dot */
	char text[PROBE_TEXT_LEN];
};

/* "A socket for request id"; the answer is an int32_t, 0 and a non-blocking descriptor, or an errno. */
struct probe_question {
	uint32_t id;
	uint32_t family; /* 4 or 6 */
	uint32_t stream; /* 1: TCP, 0: UDP */
};

struct identity;

/* The process's main: becomes somebody without privileges and serves until the daemon is gone. */
_Noreturn void probe_run(int requests, int questions, const struct identity *identity);

#endif
