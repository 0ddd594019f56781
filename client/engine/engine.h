/* SPDX-License-Identifier: MIT */
/* The engine: one WireGuard interface in userspace, UDP and TCP carriers together.
 *
 * One thread, one loop. A turn waits for ports, moves what is ready in batches and does what time brings:
 *
 *   out: tun_read -> tunnel_route -> the link's queue -> [carrier has room] tunnel_seal -> record -> udp / tcp
 *   in:  udp / tcp -> record -> tunnel_receive -> tun_write
 *
 * Files: state.h (what there is), turn.c (the loop), outbound.c, inbound.c (packets), link.c (one peer's paths and its
 * fallback machine), stream.c (TCP connections), admission.c (strangers that connect), parallel.c (several streams to one
 * peer), pace.c (how they are driven), hold.c (constant delay), echo.c (asking whether a carrier works), configure.c (UAPI),
 * front_messages.c (the seam). Nothing outside includes any but this header. */
#ifndef WGTCP_CLIENT_ENGINE_ENGINE_H
#define WGTCP_CLIENT_ENGINE_ENGINE_H

#include "core/base/time.h"

#include <stddef.h>

struct clock;
struct loop;
struct seam;
struct engine;

struct engine_ports {
	struct clock *clock;
	struct loop *loop;
	struct seam *seam; /* everything else comes down it */
	size_t handles;    /* that this process may hold; 0: more than it ever wants */
};

/* Takes the ports' use, not their ownership. NULL when memory is short. */
struct engine *engine_new(const struct engine_ports *ports);
void engine_free(struct engine *engine);

/* Waits until something is to be done and does it. 0: go on. 1: told to stop, or the front is gone. -errno: the ports
 * fail. */
int engine_turn(struct engine *engine);
/* When the next turn is due though nothing becomes ready; MONO_NEVER: none. */
struct mono engine_deadline(const struct engine *engine);

/* A process's main: opens the platform's ports on the inherited seam and turns until told to stop. 0 or -errno. */
int engine_run_inherited(int seam_handle);

#endif
