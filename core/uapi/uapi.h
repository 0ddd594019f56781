/* SPDX-License-Identifier: MIT */
/* The configuration protocol of userspace WireGuard as text to struct and back. Pure.
 * Source: wireguard.com/xplatform; our keys: docs/wire.md section 4 (and udp_port below). */
#ifndef WGTCP_CORE_UAPI_UAPI_H
#define WGTCP_CORE_UAPI_UAPI_H

#include "core/base/address.h"
#include "core/base/carrier.h"

#define UAPI_KEY_LEN 32
#define UAPI_ENDPOINTS_MAX 8
#define UAPI_PORTS_MAX 8
/* One request or answer may not be longer. */
#define UAPI_TEXT_MAX (16u << 20)

struct uapi_allowed_ip {
	struct ip_prefix prefix;
	bool remove; /* "-" before the prefix */
};

/* One peer section of a SET, or of a GET's answer (has_* then say what the engine told). */
struct uapi_peer {
	uint8_t public_key[UAPI_KEY_LEN];
	bool remove, update_only, replace_allowed_ips;
	bool has_preshared_key, has_endpoint, has_keepalive, has_transport;
	uint8_t preshared_key[UAPI_KEY_LEN];
	struct endpoint endpoint;
	uint16_t keepalive_s;
	enum transport transport;
	/* tcp_endpoint=IP:PORT, repeatable: replaces the list when given at all; "tcp_endpoint=" alone empties it. */
	bool has_tcp_endpoints;
	size_t tcp_endpoint_count;
	struct endpoint tcp_endpoints[UAPI_ENDPOINTS_MAX];
	/* udp_port=N, repeatable: further UDP ports of the endpoint to try; the same rule. */
	bool has_udp_ports;
	size_t udp_port_count;
	uint16_t udp_ports[UAPI_PORTS_MAX];
	struct uapi_allowed_ip *allowed_ips; /* owned */
	size_t allowed_ip_count;
	/* GET only */
	uint64_t last_handshake_s, rx_bytes, tx_bytes;
	uint32_t last_handshake_ns;
	enum carrier carrier;      /* carrier=udp|tcp|none */
	struct endpoint stream;    /* stream=IP:PORT, where the TCP carrier is connected to; unset: it is not */
	uint32_t rtt_us;           /* rtt_us= */
	uint32_t stream_rtt_us;    /* stream_rtt_us=, what TCP measures on the stream; left out without one */
	uint32_t misfits;          /* handshake_misfits=, tunnel.h: responses that do not open; left out while there are none */
	char large[8];             /* large_passes=there|back: the only way on which full-size packets pass by UDP; left out else */
	char udp_state[12];        /* udp_state=ok|blocked|unknown|unused */
	char state[16], cause[24], verified[16], reason[24]; /* state=, cause=, verified=, reason=: fallback.h's names */
};

struct uapi_device {
	bool has_private_key, has_listen_port, has_fwmark, has_transport, has_tcp_listen_port, has_extensions;
	bool replace_peers;
	uint8_t private_key[UAPI_KEY_LEN]; /* all zero in a SET: take it away */
	uint16_t listen_port, tcp_listen_port;
	uint32_t fwmark;
	enum transport transport;
	bool extensions; /* extensions=on|off */
	struct uapi_peer *peers; /* owned */
	size_t peer_count, peer_room;
};

enum uapi_kind { UAPI_INCOMPLETE, UAPI_GET, UAPI_SET, UAPI_UNKNOWN };

/* What stands first in a stream, and how many bytes it takes with its blank line. UAPI_UNKNOWN: close the stream. */
enum uapi_kind uapi_request(const char *text, size_t len, size_t *request_len);

/* A whole SET request ("set=1\n...\n\n"). 0, or the errno to answer with as a negative number (-EINVAL for an unknown
 * key or bad value, -ENOMEM); out is then empty. uapi_device_free wipes keys. */
int uapi_parse_set(const char *text, size_t len, struct uapi_device *out);
/* A whole answer to GET up to and with "errno=N\n\n"; unknown keys are skipped. -errno from it, or -EPROTO. */
int uapi_parse_get(const char *text, size_t len, struct uapi_device *out);
void uapi_device_free(struct uapi_device *device);
/* A zeroed peer at the end of device; NULL when memory is short. */
struct uapi_peer *uapi_device_add_peer(struct uapi_device *device);
bool uapi_peer_add_allowed_ip(struct uapi_peer *peer, const struct ip_prefix *prefix, bool remove);

/* Text with room that grows; free with uapi_text_free, which wipes (it holds keys). */
struct uapi_text {
	char *bytes;
	size_t len, room;
	bool failed; /* memory was short, or longer than UAPI_TEXT_MAX */
};

void uapi_text_free(struct uapi_text *text);
/* "set=1\n...\n\n" */
bool uapi_write_set(struct uapi_text *text, const struct uapi_device *device);
/* A GET's answer with "errno=0\n\n". */
bool uapi_write_get(struct uapi_text *text, const struct uapi_device *device);
/* "errno=N\n\n"; error is 0 or a negative errno, written as the protocol has it (errno=-22). */
bool uapi_write_errno(struct uapi_text *text, int error);

#endif
