/* SPDX-License-Identifier: MIT */
/* The client part's life: one turn after the other, and what is said on the seam. What the seam has no room
 * for is said again, with its newest value. */
#include "client/relay/client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define READY_MAX 64

struct relay_client *relay_client_new(const struct relay_ports *ports, struct seam *seam)
{
	struct relay_client *client = calloc(1, sizeof(*client));

	if (!client)
		return NULL;
	client->ports = *ports;
	client->seam = seam;
	client->seam_token.kind = TOKEN_SEAM;
	client->now = clock_now(ports->clock);
	client->say_again = MONO_NEVER;
	client->bytes = malloc(CLIENT_READ_LEN);
	for (size_t i = 0; i < RELAY_PEERS_MAX; i++)
		client->peers[i].client = client;
	if (client->bytes && pool_init(&client->pool)) {
		if (!loop_watch_seam(ports->loop, seam, LOOP_READ, &client->seam_token))
			return client;
		pool_wipe(&client->pool);
	}
	free(client->bytes);
	free(client);
	return NULL;
}

void relay_client_free(struct relay_client *client)
{
	if (!client)
		return;
	for (size_t i = 0; i < RELAY_PEERS_MAX; i++)
		peer_drop(&client->peers[i]);
	loop_watch_seam(client->ports.loop, client->seam, 0, NULL);
	pool_wipe(&client->pool);
	free(client->bytes);
	free(client);
}

/* ---- up the seam ---- */

static bool say(struct relay_client *client, const struct seam_message *message)
{
	if (!seam_send(client->seam, message))
		return true;
	client->say_again = mono_add_ms(client->now, SAY_AGAIN_MS);
	return false;
}

bool client_dial(struct peer *peer)
{
	struct seam_message message = { .kind = SEAM_DIAL, .attempt = ++peer->client->attempts };

	memcpy(message.public_key, peer->public_key, KEY_LEN);
	peer->attempt = message.attempt;
	if (!seam_send(peer->client->seam, &message))
		return true;
	peer->attempt = 0;
	return false;
}

void client_cancel_dial(struct peer *peer)
{
	struct seam_message message = { .kind = SEAM_DIAL_CANCEL, .attempt = peer->attempt };

	if (!peer->attempt)
		return;
	/* Lost or not: an answer to an attempt that is not ours any more is closed. */
	peer->attempt = 0;
	memcpy(message.public_key, peer->public_key, KEY_LEN);
	(void)seam_send(peer->client->seam, &message);
}

void client_news(struct peer *peer, enum relay_news news)
{
	/* Of two that contradict each other only the newer is true. */
	if (news == RELAY_NEWS_TCP_CONNECTED)
		peer->news &= ~(1u << RELAY_NEWS_TCP_CLOSED);
	if (news == RELAY_NEWS_TCP_CLOSED)
		peer->news &= ~(1u << RELAY_NEWS_TCP_CONNECTED);
	if (news == RELAY_NEWS_UDP_WINS)
		peer->news &= ~(1u << RELAY_NEWS_TCP_WINS);
	if (news == RELAY_NEWS_TCP_WINS)
		peer->news &= ~(1u << RELAY_NEWS_UDP_WINS);
	peer->news |= 1u << news;
}

static void tell_news(struct peer *peer)
{
	for (uint32_t news = RELAY_NEWS_TCP_CONNECTED; peer->news && news <= RELAY_NEWS_NO_ROOM; news++) {
		struct seam_message message = { .kind = SEAM_RELAY_NEWS, .value = news };

		if (!(peer->news & 1u << news))
			continue;
		if (news == RELAY_NEWS_TCP_CONNECTED)
			message.attempt = peer->rtt_us;
		memcpy(message.public_key, peer->public_key, KEY_LEN);
		if (!say(peer->client, &message))
			return;
		peer->news &= ~(1u << news);
	}
}

static struct mono seen_due(const struct traffic *traffic)
{
	if (!traffic->seen.received && !traffic->seen.sent)
		return MONO_NEVER;
	return mono_is_set(traffic->told) ? mono_add_ms(traffic->told, RELAY_SEEN_MS) : (struct mono){ 1 };
}

static void tell_seen(struct peer *peer, struct traffic *traffic, enum carrier carrier)
{
	struct seam_message message = { 0 };

	if (!mono_reached(peer->client->now, seen_due(traffic)))
		return;
	traffic->seen.carrier = carrier;
	relay_seen_write(&message, &traffic->seen);
	memcpy(message.public_key, peer->public_key, KEY_LEN);
	if (!say(peer->client, &message))
		return;
	*traffic = (struct traffic){ .told = peer->client->now };
}

static void tell(struct relay_client *client)
{
	const struct seam_message ready = { .kind = SEAM_READY };

	client->say_again = MONO_NEVER;
	for (size_t i = 0; i < RELAY_PEERS_MAX; i++) {
		struct peer *peer = &client->peers[i];

		if (!peer->used)
			continue;
		tell_news(peer);
		tell_seen(peer, &peer->udp, CARRIER_UDP);
		tell_seen(peer, &peer->tcp, CARRIER_TCP);
	}
	if (client->ready_due && say(client, &ready))
		client->ready_due = false;
}

/* ---- down the seam ---- */

static struct peer *find(struct relay_client *client, const uint8_t public_key[KEY_LEN])
{
	for (size_t i = 0; i < RELAY_PEERS_MAX; i++)
		if (client->peers[i].used && !memcmp(client->peers[i].public_key, public_key, KEY_LEN))
			return &client->peers[i];
	return NULL;
}

static struct peer *add(struct relay_client *client, const uint8_t public_key[KEY_LEN])
{
	for (size_t i = 0; i < RELAY_PEERS_MAX; i++) {
		struct peer *peer = &client->peers[i];
		uint64_t seed;

		if (peer->used)
			continue;
		random_fill(&seed, sizeof(seed));
		*peer = (struct peer){ .client = client, .used = true, .copies_due = MONO_NEVER };
		memcpy(peer->public_key, public_key, KEY_LEN);
		race_init(&peer->race, seed);
		return peer;
	}
	return NULL;
}

/* Whatever it is, it is of no use here. */
static void close_datagram(int handle)
{
	struct datagram *datagram;

	if (handle >= 0 && !datagram_adopt(handle, &datagram))
		datagram_close(datagram);
}

static void close_tcp(int handle)
{
	struct tcp *tcp;

	if (handle >= 0 && !tcp_adopt(handle, &tcp))
		tcp_close(tcp);
}

static void take_peer(struct relay_client *client, const struct seam_message *message, int handle)
{
	struct peer *peer = find(client, message->public_key);
	struct seam_message no_room = { .kind = SEAM_RELAY_NEWS, .value = RELAY_NEWS_NO_ROOM };

	if (handle < 0) {
		if (peer)
			peer_drop(peer);
		return;
	}
	if (!peer)
		peer = add(client, message->public_key);
	if (peer) {
		peer_set_kernel(peer, handle);
		return;
	}
	memcpy(no_room.public_key, message->public_key, KEY_LEN);
	(void)seam_send(client->seam, &no_room);
	close_datagram(handle);
}

static void take_connected(struct peer *peer, const struct seam_message *message, int handle)
{
	if (message->attempt && (!peer || message->attempt != peer->attempt)) {
		close_tcp(handle);
		return;
	}
	if (!peer || handle < 0) {
		close_tcp(handle);
		return;
	}
	if (!message->attempt)
		client_cancel_dial(peer);
	peer->attempt = 0;
	peer_set_stream(peer, handle);
}

static void take_event(struct peer *peer, enum race_event_kind kind)
{
	const struct race_event event = { .kind = kind };

	if (peer)
		peer_event(peer, &event);
}

static void take_use(struct peer *peer, uint32_t use)
{
	const struct race_event event = { .kind = RACE_USE, .use = (enum relay_use)use };

	if (peer && use <= RELAY_USE_BOTH)
		peer_event(peer, &event);
}

static void take(struct relay_client *client, const struct seam_message *message, int handle)
{
	struct peer *peer = find(client, message->public_key);

	switch ((enum seam_kind)message->kind) {
	case SEAM_RELAY_PEER:
		take_peer(client, message, handle);
		break;
	case SEAM_RELAY_UDP:
		if (peer)
			peer_set_outer(peer, handle);
		else
			close_datagram(handle);
		break;
	case SEAM_RELAY_USE:
		take_use(peer, message->value);
		break;
	case SEAM_RELAY_CLOSE:
		if (peer) {
			client_cancel_dial(peer);
			peer_close_stream(peer);
		}
		take_event(peer, RACE_CLOSE);
		break;
	case SEAM_CONNECTED:
		take_connected(peer, message, handle);
		break;
	case SEAM_DIAL_FAILED:
		if (peer && peer->attempt && peer->attempt == message->attempt) {
			peer->attempt = 0;
			take_event(peer, RACE_TCP_FAILED);
		}
		break;
	case SEAM_MEMORY:
		if (peer && message->value <= FALLBACK_MEMORY_BLOCKED)
			race_set_memory(&peer->race, (enum fallback_memory)message->value);
		break;
	case SEAM_NETWORK:
	case SEAM_RESUMED:
		for (size_t i = 0; i < RELAY_PEERS_MAX; i++)
			if (client->peers[i].used)
				take_event(&client->peers[i], RACE_NETWORK);
		break;
	case SEAM_STOP:
		client->stopping = true;
		break;
	/* An engine's. */
	case SEAM_TUN:
	case SEAM_UDP:
	case SEAM_LISTENER:
	case SEAM_CONTROL:
	case SEAM_LINK:
	case SEAM_FLOOR:
	case SEAM_PROBE:
	case SEAM_START:
	case SEAM_RETRY_UDP:
	/* Upwards only. */
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
		close_datagram(handle);
		break;
	}
}

static void seam_ready(struct relay_client *client)
{
	struct seam_message message;
	int handle, error;

	while (!(error = seam_receive(client->seam, &message, &handle))) {
		take(client, &message, handle);
		client->ready_due = true;
	}
	if (error == -EPIPE)
		client->stopping = true;
}

/* ---- turns ---- */

struct mono relay_client_deadline(const struct relay_client *client)
{
	struct mono deadline = client->say_again;

	for (size_t i = 0; i < RELAY_PEERS_MAX; i++) {
		const struct peer *peer = &client->peers[i];

		if (!peer->used)
			continue;
		deadline = mono_min(deadline, mono_min(race_deadline(&peer->race), peer->copies_due));
		/* While the seam is full there is no hurry. */
		if (client->say_again.ns == MONO_NEVER.ns)
			deadline = mono_min(deadline, mono_min(seen_due(&peer->udp), seen_due(&peer->tcp)));
	}
	return deadline;
}

static void do_ready(struct relay_client *client, const struct loop_ready *ready)
{
	struct client_token *token = ready->token;
	struct peer *peer = token->peer;

	switch (token->kind) {
	case TOKEN_SEAM:
		seam_ready(client);
		break;
	case TOKEN_KERNEL:
		peer_from_kernel(peer);
		break;
	case TOKEN_OUTER:
		peer_from_outer(peer);
		break;
	case TOKEN_STREAM:
		if (peer->channel.tcp)
			peer_stream_ready(peer, ready->what);
		break;
	}
}

int relay_client_turn(struct relay_client *client)
{
	struct loop_ready ready[READY_MAX];
	int count = loop_wait(client->ports.loop, relay_client_deadline(client), ready, READY_MAX);

	if (count < 0 && count != -EINTR)
		return count;
	client->now = clock_now(client->ports.clock);
	for (int i = 0; i < count; i++)
		do_ready(client, &ready[i]);
	for (size_t i = 0; i < RELAY_PEERS_MAX; i++) {
		struct peer *peer = &client->peers[i];

		if (peer->used && mono_reached(client->now, race_deadline(&peer->race)))
			take_event(peer, RACE_TICK);
		if (peer->used && mono_reached(client->now, peer->copies_due))
			peer_send_copies(peer);
	}
	tell(client);
	return client->stopping ? 1 : 0;
}
