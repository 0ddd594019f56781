/* SPDX-License-Identifier: MIT */
/* Waiting for ports. Level-triggered; no callbacks: the loop asks, the platform answers with tokens. */
#ifndef WGTCP_CORE_PORT_LOOP_H
#define WGTCP_CORE_PORT_LOOP_H

#include "core/base/time.h"

#include <stddef.h>

struct loop;
struct tun;
struct udp;
struct tcp;
struct tcp_listener;
struct seam;
struct control;
struct datagram;

enum { LOOP_READ = 1, LOOP_WRITE = 2, LOOP_ERROR = 4 };

struct loop_ready {
	void *token;
	uint32_t what;
};

int loop_open(struct loop **out);
void loop_close(struct loop *loop);

/* Watches a port (again, to change what is watched); 0 stops. token comes back with each readiness. */
int loop_watch_tun(struct loop *loop, struct tun *tun, uint32_t what, void *token);
int loop_watch_udp(struct loop *loop, struct udp *udp, uint32_t what, void *token);
int loop_watch_tcp(struct loop *loop, struct tcp *tcp, uint32_t what, void *token);
int loop_watch_listener(struct loop *loop, struct tcp_listener *listener, uint32_t what, void *token);
int loop_watch_seam(struct loop *loop, struct seam *seam, uint32_t what, void *token);
int loop_watch_datagram(struct loop *loop, struct datagram *datagram, uint32_t what, void *token);
int loop_watch_control(struct loop *loop, struct control *control, uint32_t what, void *token);

/* Waits until something is ready or `deadline` has come (MONO_NEVER: no limit; already past: only looks). The number of
 * entries written, or -errno. The platform that runs on virtual time never waits. */
int loop_wait(struct loop *loop, struct mono deadline, struct loop_ready *out, size_t max);

#endif
