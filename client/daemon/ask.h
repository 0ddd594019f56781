/* SPDX-License-Identifier: MIT */
/* Inner echoes of one tunnel, to the peers that have an address inside. They go through the interface as
 * anybody's packets do, so they measure the same whatever backend moves them. Main thread, GLib main loop. */
#ifndef WGTCP_CLIENT_DAEMON_ASK_H
#define WGTCP_CLIENT_DAEMON_ASK_H

#include "client/daemon/latency.h"
#include "core/base/address.h"

#include <stddef.h>

struct asker;

struct ask_target {
	struct ip_address source, target; /* family IP_NONE: there is nobody to ask */
};

/* For a speed test: each echo of its own is told once, rtt_us 0 when it is lost. */
typedef void ask_decided(struct mono sent, uint32_t rtt_us, void *user);

/* targets: one for each peer, copied. interface: index. */
struct asker *asker_new(uint32_t interface, const struct ask_target *targets, size_t count);
/* NULL is allowed. */
void asker_free(struct asker *asker);

/* Sends one echo to that peer if one is due. */
void asker_beat(struct asker *asker, size_t peer, struct mono now);
void asker_read(const struct asker *asker, size_t peer, struct mono now, struct latency_figures *out);

/* Sends one for a speed test, and tells those that have been lost meanwhile. decided must stay what it is
 * until asker_quiet. */
void asker_probe(struct asker *asker, size_t peer, struct mono now, ask_decided *decided, void *user);
/* No speed test any more. */
void asker_quiet(struct asker *asker);

#endif
