/* SPDX-License-Identifier: MIT */
/* The engine's life: one turn after the other. */
#include "client/engine/state.h"

#include <errno.h>
#include <stdlib.h>

#define READY_MAX 64
#define DEFAULT_MTU 1420
#define FIRST_POOL_PACKETS 8192
#define FIRST_POOL_ROOM 2048

struct engine *engine_new(const struct engine_ports *ports)
{
	struct engine *engine = calloc(1, sizeof(*engine));

	if (!engine)
		return NULL;
	engine->ports = *ports;
	engine->tunnel = tunnel_new();
	/* Until an MTU asks for larger ones. */
	engine->pool = packet_pool_new(FIRST_POOL_PACKETS, FIRST_POOL_ROOM);
	engine->stream_bytes = malloc(STREAM_READ_LEN);
	if (engine->pool)
		bursts_add_room(engine->pool);
	if (!engine->tunnel || !engine->pool || !engine->stream_bytes || !admission_init(engine))
		goto fail;
	engine->now = clock_now(ports->clock);
	engine->wall = clock_wall(ports->clock);
	engine->tun_token.kind = TOKEN_TUN;
	engine->seam_token.kind = TOKEN_SEAM;
	for (int i = 0; i < 2; i++) {
		engine->udp[i].token.kind = TOKEN_UDP;
		engine->listeners[i].token.kind = TOKEN_LISTENER;
	}
	engine->mtu = DEFAULT_MTU;
	tunnel_set_mtu(engine->tunnel, DEFAULT_MTU);
	engine->extensions = true;
	engine->network = true;
	random_fill(&engine->icmp_id, sizeof(engine->icmp_id));
	if (loop_watch_seam(ports->loop, ports->seam, LOOP_READ, &engine->seam_token))
		goto fail;
	return engine;
fail:
	tunnel_free(engine->tunnel);
	packet_pool_free(engine->pool);
	free(engine->stream_bytes);
	admission_wipe(engine);
	free(engine);
	return NULL;
}

void engine_free(struct engine *engine)
{
	struct loop *loop;

	if (!engine)
		return;
	loop = engine->ports.loop;
	while (engine->links)
		link_free(engine->links);
	inbound_write_tun(engine);
	while (engine->unknown.head)
		stream_close(engine, engine->unknown.head);
	streams_free_dead(engine);
	while (engine->controls)
		control_drop(engine, engine->controls);
	controls_free_dead(engine);
	for (int i = 0; i < 2; i++) {
		if (engine->udp[i].udp) {
			loop_watch_udp(loop, engine->udp[i].udp, 0, NULL);
			udp_close(engine->udp[i].udp);
		}
		if (engine->listeners[i].listener) {
			loop_watch_listener(loop, engine->listeners[i].listener, 0, NULL);
			tcp_listener_close(engine->listeners[i].listener);
		}
	}
	if (engine->tun) {
		loop_watch_tun(loop, engine->tun, 0, NULL);
		tun_close(engine->tun);
	}
	loop_watch_seam(loop, engine->ports.seam, 0, NULL);
	tunnel_free(engine->tunnel);
	packet_pool_free(engine->pool);
	free(engine->stream_bytes);
	admission_wipe(engine);
	free(engine);
}

struct mono engine_deadline(const struct engine *engine)
{
	struct mono deadline = mono_min(tunnel_deadline(engine->tunnel), streams_deadline(engine));

	deadline = mono_min(deadline, admission_deadline(engine));
	deadline = mono_min(deadline, hold_deadline(engine));
	if (engine->touched)
		return engine->now;
	for (const struct link *link = engine->links; link; link = link->next) {
		deadline = mono_min(deadline, pace_deadline(link));
		if (link->fallback)
			deadline = mono_min(deadline, fallback_deadline(link->fallback));
	}
	return deadline;
}

static void do_due(struct engine *engine, const struct due *due)
{
	struct link *link = peer_user(due->peer);

	if (!link)
		return;
	if (due->what & DUE_INITIATION)
		link_renew_session(link);
	if (due->what & DUE_KEEPALIVE) {
		struct peer_stats stats;

		peer_stats(link->peer, engine->now, &stats);
		if (stats.has_session)
			link_keepalive(link, link_carrier(link));
		else
			link_want_session(link);
	}
	if (due->what & DUE_GAVE_UP) {
		outbound_drop_queue(link);
		link_simple_event(link, FALLBACK_NO_SESSION, CARRIER_NONE);
		link_take_lead(link);
		seam_tell(engine, SEAM_RESOLVE, link, 0);
	}
}

static void do_time(struct engine *engine)
{
	struct due due;

	while (tunnel_next_due(engine->tunnel, engine->now, &due))
		do_due(engine, &due);
	if (mono_reached(engine->now, streams_deadline(engine)))
		streams_tick(engine);
	if (mono_reached(engine->now, admission_deadline(engine)))
		admission_tick(engine);
	for (struct link *link = engine->links; link; link = link->next) {
		if (mono_reached(engine->now, pace_deadline(link)))
			pace_tick(link);
		if (link->fallback && mono_reached(engine->now, fallback_deadline(link->fallback)))
			link_simple_event(link, FALLBACK_TICK, CARRIER_NONE);
	}
}

static void do_ready(struct engine *engine, const struct loop_ready *ready)
{
	struct token *token = ready->token;

	switch (token->kind) {
	case TOKEN_TUN:
		if (engine->tun)
			outbound_read_tun(engine);
		break;
	case TOKEN_UDP: {
		struct udp_socket *socket = (struct udp_socket *)token;

		if (socket->udp && (ready->what & LOOP_WRITE))
			outbound_udp_writable(engine, socket);
		if (socket->udp && (ready->what & (LOOP_READ | LOOP_ERROR)))
			inbound_udp(engine, socket, ready->what & LOOP_ERROR);
		break;
	}
	case TOKEN_LISTENER: {
		struct listener_socket *socket = (struct listener_socket *)token;

		if (socket->listener)
			admission_accept(engine, socket);
		break;
	}
	case TOKEN_SEAM:
		seam_ready(engine);
		break;
	case TOKEN_CONTROL:
		control_ready(engine, (struct control_stream *)token, ready->what);
		break;
	case TOKEN_STREAM:
		stream_ready(engine, (struct stream *)token, ready->what);
		break;
	case TOKEN_DEAD:
		break; /* closed earlier in this turn */
	}
}

int engine_turn(struct engine *engine)
{
	struct loop_ready ready[READY_MAX];
	int count = loop_wait(engine->ports.loop, engine_deadline(engine), ready, READY_MAX);

	if (count < 0 && count != -EINTR)
		return count;
	engine->now = clock_now(engine->ports.clock);
	engine->wall = clock_wall(engine->ports.clock);
	/* First what is due, so that what comes now does not overtake it. */
	hold_release(engine);
	for (int i = 0; i < count; i++)
		do_ready(engine, &ready[i]);
	inbound_write_tun(engine);
	do_time(engine);
	links_settle(engine);
	inbound_write_tun(engine);
	streams_free_dead(engine);
	controls_free_dead(engine);
	return engine->stopping ? 1 : 0;
}
