/* SPDX-License-Identifier: MIT */
/* One peer's ways. The leader (the side with an endpoint) runs a fallback machine and carries out what it says; the
 * follower sends where the newest authentic packet came from. Source: docs/wire.md 2. */
#include "client/engine/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define QUEUE_FLOWS 128
#define QUEUE_BYTES (1u << 20)
#define QUEUE_PACKETS 1024
#define CODEL_TARGET_US 5000
#define CODEL_INTERVAL_US 100000

struct link *link_new(struct engine *engine, struct peer *peer)
{
	struct link *link = calloc(1, sizeof(*link));
	struct queue_settings settings = {
		.flows = QUEUE_FLOWS,
		.quantum = engine->mtu,
		.limit_bytes = QUEUE_BYTES,
		.limit_packets = QUEUE_PACKETS,
		.target_us = CODEL_TARGET_US,
		.interval_us = CODEL_INTERVAL_US,
	};

	if (!link)
		return NULL;
	random_fill(&settings.hash_seed, sizeof(settings.hash_seed));
	link->queue = queue_new(&settings);
	if (!link->queue) {
		free(link);
		return NULL;
	}
	link->engine = engine;
	link->peer = peer;
	link->next = engine->links;
	engine->links = link;
	peer_set_user(peer, link);
	return link;
}

static void untouch(struct link *link)
{
	for (struct link **at = &link->engine->touched; *at; at = &(*at)->next_touched)
		if (*at == link) {
			*at = link->next_touched;
			break;
		}
	link->touched = false;
}

void link_free(struct link *link)
{
	struct engine *engine = link->engine;
	struct packet_list rest = { 0 };

	seam_cancel_dial(link);
	parallel_cancel(link);
	for (struct stream *stream = engine->known.head, *next; stream; stream = next) {
		next = stream->next;
		if (stream->link == link)
			stream_close(engine, stream);
	}
	bursts_stop(link);
	untouch(link);
	for (struct link **at = &engine->links; *at; at = &(*at)->next)
		if (*at == link) {
			*at = link->next;
			break;
		}
	packet_give_list(engine->pool, &link->unsent);
	queue_free(link->queue, &rest);
	packet_give_list(engine->pool, &rest);
	fallback_free(link->fallback);
	free(link->hold);
	peer_set_user(link->peer, NULL);
	free(link);
}

enum transport link_transport(const struct link *link)
{
	return link->has_transport ? link->transport : link->engine->transport;
}

static bool has_endpoint(const struct link *link)
{
	return endpoint_is_set(&link->endpoint) || link->tcp_endpoint_count;
}

static struct fallback_settings machine_settings(const struct link *link)
{
	struct peer_stats stats;
	struct fallback_settings settings = {
		.transport = link_transport(link),
		.udp = endpoint_is_set(&link->endpoint),
		.tcp = has_endpoint(link),
		.memory = link->memory,
	};

	peer_stats(link->peer, link->engine->now, &stats);
	settings.last_rtt_ms = stats.handshake_rtt_us / 1000;
	random_fill(&settings.seed, sizeof(settings.seed));
	return settings;
}

void link_settings_changed(struct link *link)
{
	struct fallback_settings settings = machine_settings(link);
	struct fallback_event event = { .kind = FALLBACK_SETTINGS, .settings = &settings };

	link->leads = has_endpoint(link) && !link->peer_leads;
	if (link->leads && !link->fallback) {
		link->fallback = fallback_new(&settings);
		if (!link->fallback) {
			link->leads = false;
			return;
		}
		echo_tell_target(link);
	} else if (link->leads) {
		link_event(link, &event);
	} else if (link->fallback) {
		/* Connections stay: the new leader may go on using them. */
		if (fallback_carrier(link->fallback) != CARRIER_NONE)
			link->carrier = fallback_carrier(link->fallback);
		seam_cancel_dial(link);
		parallel_cancel(link);
		fallback_free(link->fallback);
		link->fallback = NULL;
	}
}

void link_take_lead(struct link *link)
{
	if (!link->peer_leads)
		return;
	link->peer_leads = false;
	link->unanswered = MONO_UNSET;
	link_settings_changed(link);
	link_simple_event(link, FALLBACK_START, CARRIER_NONE);
}

enum carrier link_carrier(const struct link *link)
{
	if (link->fallback)
		return fallback_carrier(link->fallback);
	/* A leader whose connection broke dials at once: what waits goes out on the new one. */
	return link->carrier;
}

void link_touch(struct link *link)
{
	if (link->touched)
		return;
	link->touched = true;
	link->next_touched = link->engine->touched;
	link->engine->touched = link;
}

void link_keepalive(struct link *link, enum carrier carrier)
{
	struct engine *engine = link->engine;
	struct stream *stream = carrier == CARRIER_TCP ? link->stream : NULL;
	struct packet *packet;

	/* A keepalive would join the path that this connection is to take the place of. */
	if (stream && stream->dialled && !stream->spoken && parallel_agreed(link) > 1) {
		link->hello_due = true;
		echo_send_hello(link, carrier);
		return;
	}
	packet = packet_take(engine->pool);
	if (!packet)
		return;
	if (tunnel_seal_keepalive(engine->tunnel, link->peer, packet, engine->now) == VERDICT_OK)
		outbound_message(link, carrier, packet);
	else
		packet_give(engine->pool, packet);
}

/* The timestamp's mark must outlive this process, else a clock that goes back locks us out. */
static void tell_mark(struct engine *engine)
{
	struct seam_message message = { .kind = SEAM_MARK, .wall = tunnel_timestamp_mark(engine->tunnel) };

	if (message.wall.s == engine->mark_told.s)
		return;
	if (!seam_send(engine->ports.seam, &message))
		engine->mark_told = message.wall;
}

void link_initiate(struct link *link, enum carrier carrier)
{
	struct engine *engine = link->engine;
	struct packet *packet = packet_take(engine->pool);

	if (!packet)
		return;
	if (tunnel_create_initiation(engine->tunnel, link->peer, engine->now, engine->wall, packet) != VERDICT_OK) {
		packet_give(engine->pool, packet);
		return;
	}
	tell_mark(engine);
	/* Further ports get a copy: only the first that arrives counts, the others are replays to the peer. */
	if (carrier == CARRIER_UDP && link->udp_port_count &&
		endpoint_equal(&link->udp.remote, &link->endpoint)) {
		for (size_t i = 0; i < link->udp_port_count; i++) {
			struct udp_path path = link->udp;
			struct udp_socket *socket = &engine->udp[path.remote.address.family == IP_V6];
			size_t sent;

			path.remote.port = link->udp_ports[i];
			if (socket->udp)
				udp_send(socket->udp, &path, &packet, 1, &sent);
		}
	}
	outbound_message(link, carrier, packet);
}

void link_wake(struct link *link)
{
	if (link->fallback && fallback_state(link->fallback) == FALLBACK_STATE_DOWN)
		link_simple_event(link, FALLBACK_START, CARRIER_NONE);
}

void link_renew_session(struct link *link)
{
	enum carrier carrier = link->carrier == CARRIER_TCP && link->stream ? CARRIER_TCP : CARRIER_UDP;

	if (link->fallback)
		carrier = fallback_initiation_carrier(link->fallback);
	/* One that could not be sent would still supersede the one under way. */
	if (carrier == CARRIER_UDP ? endpoint_is_set(&link->udp.remote) : carrier == CARRIER_TCP && link->stream)
		link_initiate(link, carrier);
}

void link_want_session(struct link *link)
{
	struct engine *engine = link->engine;
	struct peer_stats stats;

	peer_stats(link->peer, engine->now, &stats);
	if (stats.has_session || !tunnel_want(engine->tunnel, link->peer, engine->now))
		return;
	if (!link->leads) {
		link_renew_session(link);
		return;
	}
	link_simple_event(link,
		fallback_state(link->fallback) == FALLBACK_STATE_DOWN ? FALLBACK_START : FALLBACK_NO_SESSION, CARRIER_NONE);
}

static void carry_out(struct link *link, const struct fallback_action *action)
{
	struct engine *engine = link->engine;

	if (action->what & FALLBACK_INITIATE_UDP)
		link_initiate(link, CARRIER_UDP);
	if (action->what & FALLBACK_INITIATE_TCP)
		link_initiate(link, CARRIER_TCP);
	if (action->what & FALLBACK_DIAL_TCP)
		seam_dial(link);
	if (action->what & FALLBACK_CLOSE_TCP) {
		seam_cancel_dial(link);
		parallel_cancel(link);
		for (struct stream *stream = engine->known.head, *next; stream; stream = next) {
			next = stream->next;
			if (stream->link != link)
				continue;
			/* The machine knows: it is not told again. */
			if (link->stream == stream)
				link->stream = NULL;
			stream_close(engine, stream);
		}
	}
	if (action->what & FALLBACK_NUDGE_TCP)
		link_keepalive(link, CARRIER_TCP);
	if (action->what & FALLBACK_NUDGE_UDP)
		link_keepalive(link, CARRIER_UDP);
	if (action->what & FALLBACK_ECHO)
		for (size_t i = 0; i < action->echo_count; i++)
			echo_send(link, &action->echoes[i]);
	if (action->what & FALLBACK_CARRIER)
		link_touch(link);
	if (action->what & FALLBACK_REPORT)
		seam_tell(engine, SEAM_CHANGED, link, 0);
	if (action->what & FALLBACK_REMEMBER)
		seam_tell(engine, SEAM_REMEMBER, link, (uint32_t)fallback_udp(link->fallback));
}

void link_event(struct link *link, const struct fallback_event *event)
{
	struct fallback_action action;

	if (!link->fallback)
		return;
	action = fallback_step(link->fallback, event, link->engine->now);
	carry_out(link, &action);
}

void link_simple_event(struct link *link, enum fallback_event_kind kind, enum carrier carrier)
{
	struct fallback_event event = { .kind = kind, .carrier = carrier };

	link_event(link, &event);
}

void link_session_made(struct link *link, enum carrier carrier)
{
	struct peer_stats stats;

	peer_stats(link->peer, link->engine->now, &stats);
	if (stats.handshake_rtt_us)
		link->rtt_us = stats.handshake_rtt_us;
	link->hello_due = true;
	link_simple_event(link, FALLBACK_RESPONSE, carrier);
	if (!link->leads)
		seam_tell(link->engine, SEAM_CHANGED, link, 0);
	/* The responder may not send before it has heard from us on the new session. */
	if (link->leads && link->engine->extensions)
		echo_send_hello(link, carrier);
	else if (!queue_packets(link->queue) || link_carrier(link) != carrier)
		link_keepalive(link, carrier);
	outbound_flush(link);
}

void link_received(struct link *link, enum carrier carrier, const struct received *received,
	const struct udp_path *path, struct stream *stream)
{
	/* Handshakes are told to the machine by themselves, since they do not show that data passes. */
	bool tell = received->kind != RECEIVED_RESPONSE && received->kind != RECEIVED_SUPERSEDED &&
		received->kind != RECEIVED_INITIATION;

	if (carrier == CARRIER_UDP) {
		link->got_udp |= tell;
		/* A cookie reply is sealed with what anybody on the path has seen: it moves nothing. */
		if (received->newest || (received->kind != RECEIVED_COOKIE && !endpoint_is_set(&link->udp.remote)))
			link->udp = *path;
	} else {
		link->got_tcp |= tell;
		bool first = !stream->authentic;

		stream_bind(link->engine, stream, link);
		stream->authentic = true;
		stream->in.limit = RECORD_MAX_LEN;
		if (first && parallel_first_record(link, stream, received))
			;
		else if (!stream->joined && !stream->stalled && (received->newest || !link->stream))
			stream_promote(link->engine, stream);
	}
	if (received->newest)
		link->carrier = carrier;
	link_touch(link);
}

void link_stream_gone(struct link *link, struct stream *gone)
{
	struct stream *youngest = NULL;

	if (link->stream != gone)
		return;
	/* One that data is sent on already, else the youngest. */
	for (struct stream *stream = link->engine->known.head; stream; stream = stream->next)
		if (stream->link == link && stream->authentic &&
			(!youngest || stream->joined > youngest->joined ||
				(stream->joined == youngest->joined && stream->born.ns > youngest->born.ns)))
			youngest = stream;
	link->stream = youngest;
	if (youngest) {
		youngest->stalled = false;
		parallel_join(link, youngest);
		return;
	}
	link->tcp_closed = true;
	link_touch(link);
	/* The leader may have no way to us but the connection that we made. */
	if (gone->dialled)
		link_take_lead(link);
}

/* While somebody else leads: nobody must wait for ever for a leader that has gone. */
static void watch_leader(struct link *link, bool got, bool sent)
{
	struct mono now = link->engine->now;

	if (got)
		link->unanswered = MONO_UNSET;
	else if (sent && !mono_is_set(link->unanswered))
		link->unanswered = now;
	else if (mono_is_set(link->unanswered) && mono_since_ms(now, link->unanswered) >= LEADER_SILENT_MS)
		link_take_lead(link);
}

static void tell_machine(struct link *link)
{
	bool got_udp = link->got_udp, got_tcp = link->got_tcp, sent_udp = link->sent_udp, sent_tcp = link->sent_tcp;
	bool udp_failed = link->udp_failed, tcp_closed = link->tcp_closed;

	link->got_udp = link->got_tcp = link->sent_udp = link->sent_tcp = false;
	link->udp_failed = link->tcp_closed = false;
	if (sent_tcp || link->data_tcp)
		pace_note(link);
	link->data_tcp = false;
	if (link->peer_leads)
		watch_leader(link, got_udp || got_tcp, sent_udp || sent_tcp);
	if (link->stream_stands) {
		link->stream_stands = false;
		if (link->stream)
			link_simple_event(link, FALLBACK_TCP_CONNECTED, CARRIER_TCP);
		else
			link_simple_event(link, FALLBACK_TCP_FAILED, CARRIER_TCP);
	}
	if (got_udp)
		link_simple_event(link, FALLBACK_RECEIVED, CARRIER_UDP);
	if (got_tcp)
		link_simple_event(link, FALLBACK_RECEIVED, CARRIER_TCP);
	if (sent_udp)
		link_simple_event(link, FALLBACK_SENT, CARRIER_UDP);
	if (sent_tcp)
		link_simple_event(link, FALLBACK_SENT, CARRIER_TCP);
	if (udp_failed)
		link_simple_event(link, FALLBACK_UDP_ERROR, CARRIER_UDP);
	if (tcp_closed && !link->stream)
		link_simple_event(link, FALLBACK_TCP_CLOSED, CARRIER_TCP);
}

void links_settle(struct engine *engine)
{
	/* What the machines say may touch links again (a send that fails at once): one more round for those, the rest
	 * in the next turn, so that no turn is endless. */
	for (int round = 0; round < 4 && engine->touched; round++) {
		struct link *list = engine->touched;

		engine->touched = NULL;
		for (struct link *link = list, *next; link; link = next) {
			next = link->next_touched;
			link->touched = false;
			link->next_touched = NULL;
			tell_machine(link);
			outbound_flush(link);
		}
	}
}
