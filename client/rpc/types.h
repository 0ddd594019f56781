/* SPDX-License-Identifier: MIT */
/* Everything that the protocol says, as structs: the daemon, the command line and the window see these and
 * never JSON. protocol.md explains each field under the same name.
 *
 * Pointers are owned by the struct that holds them; the *_free functions release (and wipe) what a struct
 * holds and leave it zeroed, and accept a zeroed struct. To send one, a caller may point into its own memory
 * and then does not call *_free. A char array holds a NUL-terminated text, "" where there is none. */
#ifndef WGTCP_CLIENT_RPC_TYPES_H
#define WGTCP_CLIENT_RPC_TYPES_H

#include "client/rpc/words.h"

#include <stddef.h>
#include <stdint.h>

#define RPC_VERSION 1
#define RPC_LINE_MAX 65536 /* bytes, with the newline */
#define RPC_DEPTH_MAX 16
#define RPC_OUTPUT_MAX (1u << 20) /* bytes that wait for a slow reader, before it is dropped */

#define RPC_PEER_NAME_LEN 128
#define RPC_NAME_LEN 256 /* what a person calls a tunnel, right or wrong */
#define RPC_INTERFACE_LEN 16
#define RPC_KEY_LEN 45
#define RPC_ENDPOINT_LEN 80
#define RPC_HOST_LEN 272 /* a host's name and a port */
#define RPC_MANAGER_LEN 32
#define RPC_PATH_LEN 512
#define RPC_ADDRESS_LEN 46
#define RPC_SENTENCE_LEN 512

/* A request's id: an integer or a short text; NONE in a request means that no answer is wanted. */
enum rpc_id_kind { RPC_ID_NONE, RPC_ID_NUMBER, RPC_ID_TEXT };

struct rpc_id {
	enum rpc_id_kind kind;
	int64_t number;
	char text[64];
};

struct rpc_texts {
	char **items;
	size_t count;
};

/* A warning or an error in a profile's text. line and column count from 1; 0: about the whole. */
struct rpc_note {
	uint32_t line, column;
	char text[RPC_SENTENCE_LEN];
};

struct rpc_notes {
	struct rpc_note *items;
	size_t count;
};

/* ---- requests ---- */

struct rpc_setting {
	char key[64];
	char *value; /* "" takes the line away; "(hidden)" keeps a key that is there */
};

/* A profile handed over with tunnel.up, each value as the profile format has it. Hooks and what only the
 * daemon's own start looks at are not there. */
struct rpc_given_peer {
	char name[RPC_NAME_LEN];
	char public_key[RPC_KEY_LEN], preshared_key[RPC_KEY_LEN];
	struct rpc_texts allowed_ips;
	char endpoint[RPC_HOST_LEN];
	struct rpc_texts tcp_endpoints, udp_ports;
	uint32_t keepalive_s;
	bool has_transport;
	enum transport transport;
	char probe_address[RPC_ENDPOINT_LEN];
};

struct rpc_given {
	char name[RPC_NAME_LEN]; /* what people call it */
	char private_key[RPC_KEY_LEN];
	struct rpc_texts addresses, dns;
	bool has_listen_port, has_tcp_listen_port;
	uint32_t listen_port, tcp_listen_port;
	uint32_t mtu, fwmark; /* 0: not given */
	char table[16];
	bool has_transport, has_backend, has_extensions;
	enum transport transport;
	enum rpc_backend_choice backend;
	bool kill_switch, kill_switch_lan, extensions;
	char portal_check[RPC_PATH_LEN];
	struct rpc_given_peer *peers;
	size_t peer_count;
};

void rpc_given_free(struct rpc_given *given);

/* Which fields count for which method stands in protocol.md; the others are zero. */
struct rpc_request {
	enum rpc_method method;
	struct rpc_id id; /* the client's library sets it; a server hands it back with the answer */
	char name[RPC_NAME_LEN];
	bool has_transport;
	enum transport transport;
	bool has_backend;
	enum rpc_backend_choice backend;
	uint32_t timeout_ms; /* up; 0: the daemon's own */
	bool has_given;      /* up: with the profile below in place of one on disk */
	struct rpc_given given;
	char managed_by[RPC_MANAGER_LEN]; /* up with given: who sets addresses, routes and DNS */
	char peer[RPC_KEY_LEN];           /* switch, set */
	bool has_request; /* down: only what this connection's tunnel.up with the id `request` began */
	int64_t request;
	uint32_t peer_from;           /* status: leave out so many peers */
	uint32_t tunnel_from;         /* list, status without a name: leave out so many tunnels */
	char *text;                   /* import */
	char file[RPC_NAME_LEN];      /* import: what the file was called, without its folder */
	bool replace;                 /* import: over a profile of that name */
	bool hide_keys;               /* export */
	bool beside;                  /* export: the text not in the answer but beside it */
	struct rpc_setting *settings; /* set: all of them or none */
	size_t setting_count;
	uint32_t lines;                 /* logs: the newest so many; 0: as many as fit */
	bool follow;                    /* logs: then `log` notices */
	uint32_t for_s;                 /* unlock: only for so many seconds; 0: for good */
	char endpoint[RPC_HOST_LEN];    /* server.init, server.add: the host that clients call */
	uint32_t port;                  /* the same; 0: the default */
	char client[RPC_NAME_LEN];      /* the same: what the client is called */
	enum rpc_resolution resolution; /* history */
	uint64_t before;                /* history: points that began before this Unix time; 0: up to now */
};

void rpc_request_free(struct rpc_request *request);

/* ---- what a tunnel is like ---- */

struct rpc_peer {
	char public_key[RPC_KEY_LEN];
	char endpoint[RPC_ENDPOINT_LEN];
	enum rpc_state state;
	enum rpc_cause cause;
	enum rpc_verified verified;
	enum rpc_reason reason;
	enum carrier carrier;
	enum rpc_udp udp;
	uint64_t last_handshake; /* Unix time, s; 0: never */
	uint32_t rtt_us;         /* 0: unknown. "rtt_ms" on the wire */
	uint64_t rx_bytes, tx_bytes;
	uint64_t rx_bps, tx_bps; /* bits a second */
	/* Inner echoes over the last 60 s. echoes 0: nobody has asked, and the other two mean nothing. */
	uint32_t echoes, loss_permille, jitter_us;
	uint32_t carrier_rtt_us; /* what TCP says of the connection that carries it; 0: not on TCP, or unknown
				  */
	/* It answers handshakes with ones that do not open: its preshared key is not the profile's. */
	bool preshared_key_differs;
	enum rpc_large large_passes;  /* while full-size packets pass one way only */
	char name[RPC_PEER_NAME_LEN]; /* what the profile calls it; "": nothing */
};

struct rpc_tunnel {
	char name[RPC_NAME_LEN];
	char display_name[RPC_NAME_LEN];
	char profile[RPC_NAME_LEN]; /* in use: differs from name while a FallbackProfile carries it */
	enum rpc_state state;
	enum rpc_cause cause;
	enum rpc_verified verified;
	enum rpc_reason reason;
	char interface[RPC_INTERFACE_LEN];
	enum rpc_backend backend;
	char backend_reason[RPC_SENTENCE_LEN]; /* why that one */
	enum carrier carrier;
	enum transport transport;
	uint32_t mtu;   /* 0 while down */
	uint64_t since; /* Unix time at which `state` began, s; 0: unknown */
	enum rpc_udp udp;
	enum rpc_kill_switch kill_switch; /* that this tunnel holds */
	char managed_by[RPC_MANAGER_LEN]; /* who set it up and takes it down, or "": we */
	char message[RPC_SENTENCE_LEN];   /* a sentence about what is wrong, or "" */
	struct rpc_texts warnings;
	struct rpc_peer *peers;
	size_t peer_count;
	/* Peers that the profile has in all. A writer leaves it 0 (then it is peer_count); on the wire and
	 * after reading it is larger than peer_count where they did not fit into one message: ask on with
	 * peer_from. */
	uint32_t peers_total;
};

void rpc_tunnel_free(struct rpc_tunnel *tunnel);

struct rpc_sample {
	uint64_t time; /* Unix time, s */
	uint64_t rx_bps, tx_bps;
	uint32_t rtt_us; /* 0: unknown */
	/* The worst peer's, over the 60 s before; echoes 0: nobody has asked. */
	uint32_t echoes, loss_permille, jitter_us;
};

/* ---- results ---- */

struct rpc_info {
	char daemon_version[32];
	uint32_t pid;
	enum rpc_permission permission;
	char config_dir[RPC_PATH_LEN];
	char state_dir[RPC_PATH_LEN];
};

struct rpc_entry {
	char name[RPC_NAME_LEN];
	char display_name[RPC_NAME_LEN];
	char file[RPC_PATH_LEN];
	bool read_only; /* lies where we never write */
	enum rpc_state state;
	enum transport transport;
	enum rpc_backend_choice backend;
	bool auto_connect;
	char error[RPC_SENTENCE_LEN]; /* why it can not be used: "line 3: ..."; "" if it can */
};

struct rpc_list {
	struct rpc_entry *tunnels;
	size_t tunnel_count;
	/* So many were left out before the first, and so many are there in all: where that is more, the rest
	 * did not fit, and can be had with tunnel_from. The same in rpc_status. */
	uint32_t tunnel_from, tunnels_total;
};

/* The kill switch is this machine's, not one tunnel's. */
struct rpc_lockdown {
	enum rpc_kill_switch state;
	uint64_t open_until;      /* Unix time, s; 0: it is not opened for a time */
	struct rpc_texts tunnels; /* that hold it, also those that are down against their user's will */
};

struct rpc_status {
	struct rpc_tunnel *tunnels;
	size_t tunnel_count;
	uint32_t tunnel_from, tunnels_total;
	struct rpc_lockdown lockdown; /* "kill_switch" */
};

struct rpc_unlocked {
	bool changed; /* it was on */
	struct rpc_lockdown lockdown;
};

/* One line of a diagnosis. */
struct rpc_check {
	enum rpc_check_kind check;
	char subject[RPC_NAME_LEN]; /* a host or an endpoint where there may be several, else "" */
	enum rpc_verdict verdict;
	char text[RPC_SENTENCE_LEN]; /* what was found */
	char cure[RPC_SENTENCE_LEN]; /* what to do about it, or "" */
};

struct rpc_diagnosis {
	char name[RPC_NAME_LEN]; /* of the tunnel, or "" */
	enum rpc_verdict verdict;
	int32_t code; /* what `up` would end with: 0, or an enum rpc_code */
	enum rpc_cause cause;
	char summary[RPC_SENTENCE_LEN];
	struct rpc_check *checks;
	size_t check_count;
};

/* up, switch */
struct rpc_moved {
	struct rpc_tunnel tunnel;
	bool began; /* up: false: it was up, or being brought up, before */
	struct rpc_texts warnings;
	struct rpc_texts routes; /* up with given: prefixes whose routes the caller is to set */
};

/* down, import, delete, set */
struct rpc_done {
	char name[RPC_NAME_LEN];
	char display_name[RPC_NAME_LEN];
	char file[RPC_PATH_LEN]; /* import, set: where the profile lies */
	bool changed; /* down: it was up. import: replaced one. set: in force already, else from the next up
			 on */
	struct rpc_notes warnings;
};

struct rpc_exported {
	char name[RPC_NAME_LEN];
	char *text;      /* NULL: it comes beside the answer, by a descriptor (rpc_event_beside) */
	uint32_t beside; /* so many bytes of it */
	bool hidden;     /* keys read "(hidden)" */
};

/* server.init, server.add */
struct rpc_served {
	char name[RPC_NAME_LEN]; /* of the server's tunnel */
	char file[RPC_PATH_LEN];
	char client[RPC_NAME_LEN];
	char endpoint[RPC_HOST_LEN]; /* HOST:PORT that the client calls */
	char *text;                  /* the client's profile, with its key */
	bool changed;                /* in force already, else from the next up on */
	struct rpc_notes warnings;
};

struct rpc_log {
	uint64_t time_ms; /* Unix time */
	enum rpc_level level;
	char name[RPC_NAME_LEN]; /* the tunnel, or "" */
	char text[RPC_SENTENCE_LEN];
};

struct rpc_logs {
	struct rpc_log *entries; /* oldest first */
	size_t entry_count;
};

/* What a speed test needs to know: all of it is for iperf3's command line or for the report. */
struct rpc_prepared {
	char name[RPC_NAME_LEN];
	char interface[RPC_INTERFACE_LEN]; /* --bind-dev */
	char source[RPC_ADDRESS_LEN];      /* -B: the tunnel's own address of that family */
	char address[RPC_ADDRESS_LEN];     /* -c: the peer's address inside the tunnel */
	uint32_t port;
	char peer[RPC_KEY_LEN];
	enum transport transport; /* wanted when the test began: put back when it ends */
	enum carrier carrier;
	enum rpc_backend backend;
	uint32_t mtu;
};

/* One minute or hour of a tunnel. */
struct rpc_point {
	uint64_t time; /* Unix time at which it began, s */
	uint64_t rx_bytes, tx_bytes;
	uint64_t rx_max_bps, tx_max_bps; /* of its readings */
	uint32_t rtt_us, rtt_max_us;     /* mean and largest; 0: nobody asked */
	uint32_t echoes, lost;
};

struct rpc_history {
	char name[RPC_NAME_LEN];
	enum rpc_resolution resolution;
	struct rpc_point *points; /* oldest first; minutes in which nothing was seen have none */
	size_t point_count;
};

/* The method that was asked chooses the member; RPC_METHOD_WATCH and RPC_METHOD_SPEEDTEST_END have none. */
struct rpc_result {
	enum rpc_method method;
	union {
		struct rpc_info info;           /* daemon.info */
		struct rpc_list list;           /* tunnel.list */
		struct rpc_status status;       /* tunnel.status */
		struct rpc_moved moved;         /* tunnel.up, tunnel.switch */
		struct rpc_done done;           /* tunnel.down, .import, .delete, .set */
		struct rpc_exported exported;   /* tunnel.export */
		struct rpc_logs logs;           /* logs */
		struct rpc_served served;       /* server.init, server.add */
		struct rpc_unlocked unlocked;   /* killswitch.unlock */
		struct rpc_diagnosis diagnosis; /* diagnose */
		struct rpc_prepared prepared;   /* speedtest.prepare */
		struct rpc_history history;     /* history */
	};
};

void rpc_result_free(struct rpc_result *result);

/* ---- errors ---- */

/* The small ones are wgtcp-cli's exit codes. */
enum rpc_code {
	RPC_CODE_OTHER = 1,
	RPC_CODE_NOT_UP = 3,
	RPC_CODE_NOT_PERMITTED = 4,
	RPC_CODE_NO_SUCH_TUNNEL = 5,
	RPC_CODE_TIMED_OUT = 6,
	RPC_CODE_PEER_UNREACHABLE = 7,
	RPC_CODE_CAPTIVE_PORTAL = 8,
	RPC_CODE_CONFIG = 20, /* the profile is wrong; notes say where */
	RPC_CODE_BUSY = 21,   /* something else is under way, or it is up and must not be */
	RPC_CODE_EXISTS = 22,
	RPC_CODE_CANCELLED = 23, /* tunnel.up: by a tunnel.down */
	RPC_CODE_PARSE = -32700,
	RPC_CODE_INVALID_REQUEST = -32600,
	RPC_CODE_UNKNOWN_METHOD = -32601,
	RPC_CODE_INVALID_PARAMS = -32602,
	RPC_CODE_INTERNAL = -32603,
};

struct rpc_error {
	int32_t code;                   /* enum rpc_code; others may come from a newer daemon */
	char message[RPC_SENTENCE_LEN]; /* one sentence with cause and cure */
	enum rpc_cause cause;
	bool has_state; /* up: what the tunnel is left as */
	enum rpc_state state;
	struct rpc_notes notes;
};

void rpc_error_free(struct rpc_error *error);
/* Sets code and message and zeroes the rest; printf's format. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void rpc_error_set(struct rpc_error *error, enum rpc_code code, const char *format, ...);

/* ---- notices: sent unasked after watch, logs with follow, and during tunnel.up ---- */

/* An inner echo of a speed test. */
struct rpc_echo {
	uint64_t sent_ms; /* on the clock of the notice's time_ms */
	uint32_t rtt_us;  /* 0: lost: no answer within 2 s */
};

struct rpc_notice {
	enum rpc_notice_kind kind;
	union {
		struct {
			struct rpc_tunnel tunnel;
			bool gone; /* the profile was deleted; only tunnel.name counts */
		} state;
		struct {
			char name[RPC_NAME_LEN];
			struct rpc_sample
				*samples; /* oldest first; up to 300 at the start, then one a second */
			size_t sample_count;
			struct rpc_peer *peers; /* public_key, carrier and counters */
			size_t peer_count;
		} stats;
		struct {
			int64_t request; /* the id of the tunnel.up that it is about */
			char name[RPC_NAME_LEN];
			enum rpc_step step;
			char text[RPC_SENTENCE_LEN]; /* detail, or "" */
		} progress;
		struct rpc_log log;
		struct {
			char name[RPC_NAME_LEN];
			uint64_t time_ms;            /* the daemon's clock, which only goes forward */
			uint64_t rx_bytes, tx_bytes; /* through the interface since it was made */
			uint64_t cpu_ms;             /* used by what moves its packets; 0: the kernel does */
			enum rpc_state state;        /* another than up or degraded: the test is over */
			enum carrier carrier;
			struct rpc_echo *echoes; /* decided since the last notice, oldest first */
			size_t echo_count;
		} speedtest;
	};
};

void rpc_notice_free(struct rpc_notice *notice);

#endif
