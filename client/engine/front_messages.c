/* SPDX-License-Identifier: MIT */
/* The seam as the engine sees it: takes in what the front hands down, asks it to dial, tells it what has changed. */
#include "client/engine/state.h"

#include <errno.h>
#include <string.h>

/* Enough for one inner packet of any peer whose interface has the usual MTU. */
#define PACKET_ROOM_MIN 2048
#define POOL_BYTES (8u << 20)
#define POOL_PACKETS_MIN 256
#define POOL_PACKETS_MAX 4096

static struct link *find_link(const struct engine *engine, const struct seam_message *message)
{
	struct peer *peer = tunnel_peer_find(engine->tunnel, message->public_key);

	return peer ? peer_user(peer) : NULL;
}

void seam_tell(struct engine *engine, enum seam_kind kind, const struct link *link, uint32_t value)
{
	struct seam_message message = { .kind = kind, .value = value };

	if (link)
		memcpy(message.public_key, peer_public_key(link->peer), KEY_LEN);
	seam_send(engine->ports.seam, &message);
}

void seam_dial(struct link *link)
{
	struct seam_message message = { .kind = SEAM_DIAL };

	seam_cancel_dial(link);
	parallel_cancel(link);
	/* The peer has dialled us: its connection serves, and may be the only one that can be had. */
	if (link->stream && link->stream->authentic && !link->stream->dialled) {
		link->stream_stands = true;
		link_touch(link);
		return;
	}
	link->attempt = message.attempt = ++link->engine->attempts;
	memcpy(message.public_key, peer_public_key(link->peer), KEY_LEN);
	seam_send(link->engine->ports.seam, &message);
}

void seam_cancel_dial(struct link *link)
{
	struct seam_message message = { .kind = SEAM_DIAL_CANCEL, .attempt = link->attempt };

	if (!link->attempt)
		return;
	link->attempt = 0;
	memcpy(message.public_key, peer_public_key(link->peer), KEY_LEN);
	seam_send(link->engine->ports.seam, &message);
}

static void take_tun(struct engine *engine, int handle)
{
	struct tun *tun;

	if (tun_adopt(handle, &tun))
		return;
	if (engine->tun) {
		loop_watch_tun(engine->ports.loop, engine->tun, 0, NULL);
		tun_close(engine->tun);
	}
	engine->tun = tun;
	tun_read_whole(tun, engine->whole_links > 0);
	loop_watch_tun(engine->ports.loop, tun, engine->link_up ? LOOP_READ : 0u, &engine->tun_token);
}

static void take_udp(struct engine *engine, const struct seam_message *message, int handle)
{
	struct udp_socket *socket = &engine->udp[(message->value & 0xff) == 6];

	if (socket->udp) {
		loop_watch_udp(engine->ports.loop, socket->udp, 0, NULL);
		udp_close(socket->udp);
		socket->udp = NULL;
		socket->wants_write = false;
	}
	if (handle < 0)
		return;
	if (udp_adopt(handle, &socket->udp)) {
		socket->udp = NULL;
		return;
	}
	engine->listen_port = message->port;
	loop_watch_udp(engine->ports.loop, socket->udp, LOOP_READ, &socket->token);
	for (struct link *link = engine->links; link; link = link->next)
		packet_give_list(engine->pool, &link->unsent);
}

static void take_listener(struct engine *engine, const struct seam_message *message, int handle)
{
	struct listener_socket *socket = &engine->listeners[(message->value & 0xff) == 6];

	if (socket->listener) {
		loop_watch_listener(engine->ports.loop, socket->listener, 0, NULL);
		tcp_listener_close(socket->listener);
		socket->listener = NULL;
		socket->paused = false;
	}
	engine->tcp_listen_port = 0;
	if (handle < 0)
		return;
	if (tcp_listener_adopt(handle, &socket->listener)) {
		socket->listener = NULL;
		return;
	}
	engine->tcp_listen_port = message->port;
	loop_watch_listener(engine->ports.loop, socket->listener, LOOP_READ, &socket->token);
}

/* Packets as large as the new MTU need a new pool; what waits in queues goes with the old one. */
static void take_mtu(struct engine *engine, uint32_t mtu)
{
	size_t room = mtu + 64 < PACKET_ROOM_MIN ? PACKET_ROOM_MIN : mtu + 64, count = POOL_BYTES / room;
	struct packet *probe = packet_take(engine->pool);
	bool fits = probe && probe->room >= room;
	struct packet_pool *pool;

	packet_give(engine->pool, probe);
	tunnel_set_mtu(engine->tunnel, mtu);
	engine->mtu = mtu;
	if (fits)
		return;
	count = count < POOL_PACKETS_MIN ? POOL_PACKETS_MIN : count > POOL_PACKETS_MAX ? POOL_PACKETS_MAX : count;
	pool = packet_pool_new(count, room);
	if (!pool)
		return;
	bursts_add_room(pool);
	for (struct link *link = engine->links; link; link = link->next) {
		outbound_drop_queue(link);
		packet_give_list(engine->pool, &link->unsent);
	}
	/* A stream cut in the middle of a record can not go on. */
	for (struct stream *stream = engine->known.head, *next; stream; stream = next) {
		next = stream->next;
		if (stream->out.packets.count)
			stream_close(engine, stream);
	}
	for (struct stream *stream = engine->known.head; stream; stream = stream->next)
		hold_flush(engine, stream);
	inbound_write_tun(engine);
	packet_pool_free(engine->pool);
	engine->pool = pool;
}

static void take_link(struct engine *engine, const struct seam_message *message)
{
	if (message->value && message->value != engine->mtu)
		take_mtu(engine, message->value);
	if (engine->link_up == message->flag)
		return;
	engine->link_up = message->flag;
	if (engine->tun)
		loop_watch_tun(
			engine->ports.loop, engine->tun, engine->link_up ? LOOP_READ : 0u, &engine->tun_token);
	if (!engine->link_up)
		return;
	/* As the kernel does: a peer with a persistent keepalive is called as soon as the interface is up. */
	for (struct link *link = engine->links; link; link = link->next)
		if (peer_persistent_keepalive(link->peer) && endpoint_is_set(&link->udp.remote))
			link_want_session(link);
}

static void take_connected(struct engine *engine, const struct seam_message *message, int handle)
{
	struct link *link = find_link(engine, message);
	struct fallback_event event = { .kind = FALLBACK_TCP_CONNECTED, .carrier = CARRIER_TCP };
	struct tcp_metrics metrics = { 0 };
	struct stream *stream;
	struct tcp *tcp;

	if (tcp_adopt(handle, &tcp))
		return;
	if (link && parallel_connected(link, message->attempt, tcp))
		return;
	if (!link || !link->attempt || link->attempt != message->attempt || !link->leads) {
		tcp_close(tcp);
		return;
	}
	link->attempt = 0;
	tcp_metrics(tcp, &metrics);
	stream = stream_new(engine, tcp, true);
	if (!stream)
		return;
	stream_bind(engine, stream, link);
	stream_promote(engine, stream);
	event.rtt_us = metrics.rtt_us;
	link_event(link, &event);
	link_touch(link);
}

static void all_links(struct engine *engine, enum fallback_event_kind kind)
{
	for (struct link *link = engine->links; link; link = link->next) {
		link->udp.local = (struct ip_address){ 0 };
		link->udp.interface = 0;
		link_simple_event(link, kind, CARRIER_NONE);
	}
}

static void take_memory(struct engine *engine, const struct seam_message *message)
{
	struct link *link = find_link(engine, message);

	if (!link || link->memory == (enum fallback_memory)message->value)
		return;
	link->memory = (enum fallback_memory)message->value;
	link_settings_changed(link);
}

static void take_probe(struct engine *engine, const struct seam_message *message)
{
	struct link *link = find_link(engine, message);

	if (!link)
		return;
	link->probe_source = message->source;
	link->probe_target = message->target;
	link->probe_named = message->flag;
	echo_tell_target(link);
}

/* Takes the message; whatever handle it brought is used or closed. */
static void take(struct engine *engine, const struct seam_message *message, int handle)
{
	struct link *link;

	switch ((enum seam_kind)message->kind) {
	case SEAM_TUN:
		take_tun(engine, handle);
		break;
	case SEAM_UDP:
		take_udp(engine, message, handle);
		break;
	case SEAM_LISTENER:
		take_listener(engine, message, handle);
		break;
	case SEAM_CONTROL:
		control_add(engine, handle);
		break;
	case SEAM_LINK:
		take_link(engine, message);
		break;
	case SEAM_FLOOR:
		tunnel_set_timestamp_floor(engine->tunnel, message->wall);
		break;
	case SEAM_CONNECTED:
		take_connected(engine, message, handle);
		break;
	case SEAM_DIAL_FAILED:
		link = find_link(engine, message);
		if (link && parallel_dial_failed(link, message->attempt))
			break;
		if (link && link->attempt && link->attempt == message->attempt) {
			link->attempt = 0;
			link_simple_event(link, FALLBACK_TCP_FAILED, CARRIER_TCP);
		}
		break;
	case SEAM_NETWORK:
		engine->network = message->flag;
		all_links(engine, message->flag ? FALLBACK_NETWORK_CHANGED : FALLBACK_NETWORK_LOST);
		break;
	case SEAM_RESUMED:
		all_links(engine, FALLBACK_NETWORK_CHANGED);
		break;
	case SEAM_PROBE:
		take_probe(engine, message);
		break;
	case SEAM_MEMORY:
		take_memory(engine, message);
		break;
	case SEAM_START:
		for (link = engine->links; link; link = link->next)
			link_simple_event(link, FALLBACK_START, CARRIER_NONE);
		break;
	case SEAM_RETRY_UDP:
		link = find_link(engine, message);
		if (link)
			link_simple_event(link, FALLBACK_RETRY_UDP, CARRIER_UDP);
		break;
	case SEAM_STOP:
		engine->stopping = true;
		break;
	case SEAM_NONE:
	case SEAM_READY:
	case SEAM_DIAL:
	case SEAM_DIAL_CANCEL:
	case SEAM_CHANGED:
	case SEAM_MARK:
	case SEAM_REMEMBER:
	case SEAM_RESOLVE:
	case SEAM_TUNE:
	case SEAM_RELAY_NEWS:
	case SEAM_RELAY_SEEN:
	case SEAM_RELAY_PEER:
	case SEAM_RELAY_UDP:
	case SEAM_RELAY_USE:
	case SEAM_RELAY_CLOSE:
		break;
	}
}

void seam_ready(struct engine *engine)
{
	struct seam_message message;
	bool took = false;
	int handle, error;

	/* Until dry: between the device and its sockets nothing else should be looked at. */
	while (!(error = seam_receive(engine->ports.seam, &message, &handle))) {
		took |= message.kind == SEAM_TUN || message.kind == SEAM_UDP;
		take(engine, &message, handle);
	}
	if (error == -EPIPE)
		engine->stopping = true;
	else if (took)
		seam_tell(engine, SEAM_READY, NULL, 0);
}
