/* SPDX-License-Identifier: MIT */
/* From what a diagnosis has seen to what a person is told. Pure. */
#ifndef WGTCP_CLIENT_DAEMON_DIAGNOSE_JUDGE_H
#define WGTCP_CLIENT_DAEMON_DIAGNOSE_JUDGE_H

#include "client/daemon/choose.h"
#include "client/rpc/types.h"

#define DIAGNOSE_HOSTS_MAX 16
#define DIAGNOSE_PEERS_MAX 8
#define DIAGNOSE_LIST_LEN 200
/* A clock may be a little behind what it said before: it was set right. */
#define DIAGNOSE_CLOCK_SLACK_S 120

struct diagnose_family {
	bool address;       /* on some link, other than a link-local one */
	bool route;         /* to the outside */
	bool reached;       /* there is a route to a peer's address of this family */
	bool needed;        /* some peer has addresses of this family only */
	char interface[16]; /* that the route leads through */
	char past[16];      /* what a tunnel that takes all of it is there for leaves by this one; "": it does not */
};

struct diagnose_host {
	char host[PROFILE_HOST_LEN];
	size_t v4, v6; /* addresses */
};

enum diagnose_try {
	DIAGNOSE_UNTRIED,
	DIAGNOSE_SILENT,   /* nothing came back */
	DIAGNOSE_REJECTED, /* an error came back */
	DIAGNOSE_OPEN,     /* TCP connects; no handshake was answered there, or none was tried */
	DIAGNOSE_ANSWERED, /* a handshake was */
};

struct diagnose_peer {
	char subject[RPC_NAME_LEN];     /* the endpoint as the profile has it */
	char tcp_subject[RPC_NAME_LEN]; /* the same for TCP */
	bool may_udp, may_tcp;
	bool known; /* there is an address to try */
	bool route; /* and a route to one */
	enum diagnose_try udp, tcp;
	bool tcp_asked; /* a handshake was tried by TCP */
	bool misfits;   /* it answers handshakes with ones that do not open: another preshared key */
	bool worked;    /* a handshake with these keys has worked before */
	uint32_t rtt_us;
	enum rpc_verified verified;
	bool no_large; /* small packets pass, and full-size ones do not */
	enum rpc_large large; /* the one way on which they do */
};

struct diagnose_facts {
	char name[PROFILE_NAME_LEN]; /* "": this machine only */

	bool running;
	enum rpc_state state; /* while running */
	enum rpc_cause cause;
	enum carrier carrier;
	char message[RPC_SENTENCE_LEN];
	bool taken; /* somebody else has an interface of that name */

	bool captive;
	char portal[RPC_SENTENCE_LEN / 2]; /* its address, or "" */
	bool portal_asked;                 /* the profile names whom to ask */

	char links_up[DIAGNOSE_LIST_LEN], links_down[DIAGNOSE_LIST_LEN]; /* names with commas between */
	struct diagnose_family v4, v6;

	size_t host_count;
	struct diagnose_host hosts[DIAGNOSE_HOSTS_MAX];
	size_t peer_count, peers_left_out; /* that we call */
	struct diagnose_peer peers[DIAGNOSE_PEERS_MAX];
	uint32_t mtu;                        /* that echoes were as large as */
	char engine_error[RPC_SENTENCE_LEN]; /* why no handshake could be tried; "" */

	uint64_t now_s, mark_s; /* Unix time; of the newest handshake, 0: none yet */

	struct kernel_probe kernel;
	struct choice choice; /* with a name */

	char leftovers[DIAGNOSE_LIST_LEN];
	enum rpc_kill_switch kill_switch;
	bool any_running; /* some tunnel is */
};

/* *out is the caller's to free, as part of a result. False when memory is short. */
bool diagnose_judge(const struct diagnose_facts *facts, struct rpc_diagnosis *out);

/* ---- between the files ---- */
struct diagnose_lines {
	struct rpc_diagnosis *out;
	bool failed; /* memory was short */
};

/* Adds a line; cure may be "". */
__attribute__((format(printf, 6, 7))) void diagnose_say(struct diagnose_lines *lines,
	enum rpc_check_kind check, const char *subject, enum rpc_verdict verdict, const char *cure,
	const char *format, ...);
/* ---- diagnose_judge_peer.c ---- */
void diagnose_judge_peer(
	const struct diagnose_facts *facts, const struct diagnose_peer *peer, struct diagnose_lines *lines);
bool diagnose_peer_answered(const struct diagnose_peer *peer);
/* TCP opens, and no handshake is answered on any carrier. */
bool diagnose_peer_refused(const struct diagnose_peer *peer);
bool diagnose_clock_is_behind(const struct diagnose_facts *facts);

#endif
