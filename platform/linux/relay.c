/* SPDX-License-Identifier: MIT */
/* The UAPI clients of one interface. The front's thread. */
#include "platform/linux/relay.h"

#include "platform/linux/relay_client.h"
#include "platform/linux/uapi_socket.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

struct slot {
	struct client *client;
	short socket_events, stream_events; /* as epoll has them */
};

struct relay {
	int epoll; /* only to wake up: what is ready is asked of each client */
	struct uapi_socket listener;
	struct client *judged; /* its SET is with the front */
	struct slot slots[RELAY_CLIENTS_MAX];
};

static int watch(const struct relay *relay, int fd, short events, int operation)
{
	struct epoll_event event = { .events = (uint32_t)events };

	return epoll_ctl(relay->epoll, operation, fd, &event) < 0 ? -errno : 0;
}

int relay_open(const char *directory, const char *interface, struct relay **out)
{
	struct relay *relay = calloc(1, sizeof(*relay));
	int err;

	if (!relay)
		return -ENOMEM;
	relay->listener.fd = -1;
	relay->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (relay->epoll < 0) {
		err = -errno;
		free(relay);
		return err;
	}
	err = directory ? uapi_socket_open(directory, interface, &relay->listener) : 0;
	if (!err && directory)
		err = watch(relay, relay->listener.fd, POLLIN, EPOLL_CTL_ADD);
	if (err) {
		relay_close(relay);
		return err;
	}
	*out = relay;
	return 0;
}

static void drop(struct relay *relay, struct slot *slot)
{
	if (relay->judged == slot->client)
		relay->judged = NULL;
	client_free(slot->client); /* epoll forgets what is closed */
	*slot = (struct slot){ 0 };
}

void relay_drop_all(struct relay *relay)
{
	for (size_t i = 0; i < RELAY_CLIENTS_MAX; i++)
		if (relay->slots[i].client)
			drop(relay, &relay->slots[i]);
}

void relay_close(struct relay *relay)
{
	if (!relay)
		return;
	relay_drop_all(relay);
	uapi_socket_close(&relay->listener);
	close(relay->epoll);
	free(relay);
}

int relay_handle(const struct relay *relay)
{
	return relay->epoll;
}

struct mono relay_deadline(const struct relay *relay)
{
	struct mono deadline = MONO_NEVER;

	for (size_t i = 0; i < RELAY_CLIENTS_MAX; i++)
		if (relay->slots[i].client)
			deadline = mono_min(deadline, client_deadline(relay->slots[i].client));
	return deadline;
}

/* A free slot, made free if need be by the client that has been idle for longest. NULL: all are at work. */
static struct slot *find_slot(struct relay *relay)
{
	struct slot *idle = NULL;

	for (size_t i = 0; i < RELAY_CLIENTS_MAX; i++) {
		struct slot *slot = &relay->slots[i];

		if (!slot->client)
			return slot;
		if (client_deadline(slot->client).ns == MONO_NEVER.ns &&
			(!idle || slot->client->since.ns < idle->client->since.ns))
			idle = slot;
	}
	if (idle)
		drop(relay, idle);
	return idle;
}

/* Takes socket, also on failure. */
static int add_client(struct relay *relay, int socket, struct mono now)
{
	struct slot *slot = find_slot(relay);
	int stream[2], err;

	if (!slot) {
		close(socket);
		return -EBUSY;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, stream) < 0) {
		err = -errno;
		close(socket);
		return err;
	}
	slot->client = client_new(socket, stream[0], stream[1], now);
	if (!slot->client)
		return -ENOMEM;
	slot->socket_events = client_socket_events(slot->client);
	slot->stream_events = client_stream_events(slot->client);
	err = watch(relay, socket, slot->socket_events, EPOLL_CTL_ADD);
	if (!err)
		err = watch(relay, stream[0], slot->stream_events, EPOLL_CTL_ADD);
	if (err)
		drop(relay, slot);
	return err;
}

int relay_connect(struct relay *relay)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	/* "since" is only looked at once a request has begun. */
	int err = add_client(relay, ends[0], MONO_UNSET);
	if (err) {
		close(ends[1]);
		return err;
	}
	return ends[1];
}

static void accept_clients(struct relay *relay, struct mono now)
{
	for (int i = 0; relay->listener.fd >= 0 && i < RELAY_CLIENTS_MAX; i++) {
		int fd = accept4(relay->listener.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0 && errno != ECONNABORTED && errno != EINTR)
			return;
		if (fd >= 0)
			(void)add_client(relay, fd, now);
	}
}

/* Either end gone: a client that hung up, or an engine that closed this stream. */
static bool hung_up(const struct client *client)
{
	struct pollfd ends[2] = { { .fd = client->socket }, { .fd = client->stream } };

	return poll(ends, 2, 0) > 0 && ((ends[0].revents | ends[1].revents) & (POLLHUP | POLLERR));
}

static void update_watch(struct relay *relay, struct slot *slot)
{
	short socket_events = client_socket_events(slot->client);
	short stream_events = client_stream_events(slot->client);

	if (socket_events != slot->socket_events)
		(void)watch(relay, slot->client->socket, socket_events, EPOLL_CTL_MOD);
	if (stream_events != slot->stream_events)
		(void)watch(relay, slot->client->stream, stream_events, EPOLL_CTL_MOD);
	slot->socket_events = socket_events;
	slot->stream_events = stream_events;
}

/* True: *out is something for the front. */
static bool step(struct relay *relay, struct slot *slot, struct mono now, struct relay_event *out)
{
	struct client *client = slot->client;

	if (client->engine_end >= 0) {
		*out = (struct relay_event){ .kind = RELAY_STREAM, .fd = client->engine_end };
		client->engine_end = -1;
		return true;
	}
	if (!client_step(client, now) || (client->state != CLIENT_JUDGED && hung_up(client))) {
		drop(relay, slot);
		return false;
	}
	update_watch(relay, slot);
	if (client->state != CLIENT_JUDGED)
		return false;
	relay->judged = client;
	*out = (struct relay_event){
		.kind = RELAY_SET, .fd = -1, .text = client->in, .len = client->request_len
	};
	return true;
}

void relay_next(struct relay *relay, struct mono now, struct relay_event *out)
{
	accept_clients(relay, now);
	for (size_t i = 0; i < RELAY_CLIENTS_MAX; i++)
		if (relay->slots[i].client && step(relay, &relay->slots[i], now, out))
			return;
	*out = (struct relay_event){ .kind = RELAY_NOTHING, .fd = -1 };
}

void relay_pass(struct relay *relay, struct mono now)
{
	if (relay->judged)
		client_pass(relay->judged, now);
	relay->judged = NULL;
}

void relay_refuse(struct relay *relay, int error, struct mono now)
{
	if (relay->judged)
		client_refuse(relay->judged, error, now);
	relay->judged = NULL;
}
