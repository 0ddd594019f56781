/* SPDX-License-Identifier: MIT */
/* What can carry a tunnel: one small table of functions for each. Which one is taken is chosen when a tunnel
 * comes up (docs/fallback.md, Which backend); tunnel.c knows no other difference between them. Main thread. */
#ifndef WGTCP_CLIENT_DAEMON_BACKEND_H
#define WGTCP_CLIENT_DAEMON_BACKEND_H

#include "client/rpc/words.h"
#include "core/port/seam.h"
#include "core/uapi/uapi.h"

struct daemon;
struct kernel_probe;
struct profile;

/* Called from the main loop. The backend may be destroyed in any of them. */
struct backend_events {
	void (*peer_changed)(void *user);                          /* state of some peer: query it */
	void (*resolve)(const uint8_t public_key[32], void *user); /* its handshakes go unanswered */
	void (*timestamp)(const struct wall *newest, void *user);  /* to be kept over restarts */
	/* This network lets UDP pass, or does not: enum fallback_udp. */
	void (*remember)(const uint8_t public_key[32], uint32_t udp, void *user);
	void (*network)(void *user); /* addresses or routes have changed */
	/* The link was down and is up again, and its addresses and routes are gone: set them again. 0 or
	 * -errno. */
	int (*replace_network)(void *user);
	void (*lost)(void *user);      /* the engine died: restart it, then configure and start again */
	void (*link_gone)(void *user); /* somebody deleted the interface */
	/* An answer to configure (device NULL) or query. */
	void (*configured)(int error, void *user);
	void (*answered)(int error, const struct uapi_device *device, void *user);
};

struct backend_settings {
	const char *interface;
	struct wall timestamp_floor;
	const struct backend_events *events; /* borrowed, constant */
	void *user;
};

struct backend_run; /* each backend's own */

struct backend {
	enum rpc_backend name;
	/* Makes the interface, down and without configuration, and whatever moves its packets. 0, or -errno
	 * with nothing left behind: -EBUSY: there is an interface of that name; -EPERM; ... */
	int (*create)(
		struct daemon *daemon, const struct backend_settings *settings, struct backend_run **out);
	/* The interface is gone when this returns. NULL is allowed. */
	void (*destroy)(struct backend_run *run);
	/* After lost. The interface stays. */
	int (*restart)(struct backend_run *run);
	/* Answered by events->configured, unless it fails here. */
	int (*configure)(struct backend_run *run, const struct uapi_device *device);
	/* Answered by events->answered. */
	void (*query)(struct backend_run *run);
	/* SEAM_PROBE, SEAM_MEMORY, SEAM_START, SEAM_RETRY_UDP, SEAM_RESUMED. */
	int (*send)(struct backend_run *run, const struct seam_message *message);
	uint32_t (*interface_index)(const struct backend_run *run);
	/* What happens to this other interface of ours is no change of the network; in place of the one
	 * before. */
	void (*ignore)(struct backend_run *run, uint32_t index);
	/* What carries packets just now, where that is not always `name`; else NULL. */
	enum rpc_backend (*carries)(const struct backend_run *run);
	/* Whether some peer's TCP endpoint has accepted a connection; NULL: not known. */
	bool (*has_dialled)(const struct backend_run *run);
};

extern const struct backend backend_userspace, backend_kernel, backend_kernel_wgtcp;

/* The one of this name: RPC_BACKEND_KERNEL (a relay is part of it), _KERNEL_WGTCP or _USERSPACE; else NULL.
 */
const struct backend *backend_of(enum rpc_backend name);
/* What a profile asks for. */
enum rpc_backend_choice backend_wish(const struct profile *profile);
/* What the kernel can do. */
void backend_ask_kernel(struct daemon *daemon, struct kernel_probe *out);
/* Whether the kernel moves the packets: its interface outlives a daemon that is killed, and no socket of ours
 * sends them. */
bool backend_is_kernel(const struct backend *backend);

#endif
