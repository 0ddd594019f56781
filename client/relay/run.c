/* SPDX-License-Identifier: MIT */
/* Each part as a process. The server part: What needs privileges (ports below 1024, the limit of handles)
 * comes first; the loop only ever opens UDP sockets, which anybody may. */
#include "client/relay/run.h"

#include "core/crypto/crypto.h"
#include "core/port/loop.h"
#include "core/port/process.h"
#include "core/port/sandbox.h"
#include "core/port/seam.h"
#include "core/port/tcp.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* All places, two handles each, and some spare. */
#define HANDLES_WANTED 12288
#define SEAM_HANDLE 3

static int complain(const char *what, int err)
{
	fprintf(stderr, RELAY_PROGRAM ": %s: %s.\n", what, strerror(-err));
	return 1;
}

static void complain_listen(const struct endpoint *endpoint, int err)
{
	char text[ENDPOINT_TEXT_LEN];
	const char *cure;

	switch (-err) {
	case EADDRINUSE:
		cure = "another program listens there; stop that one, or choose another port";
		break;
	case EACCES:
	case EPERM:
		cure = "ports below 1024 need root or CAP_NET_BIND_SERVICE";
		break;
	case EADDRNOTAVAIL:
		cure = "this machine has no such address; 0.0.0.0 and [::] stand for all of them";
		break;
	default:
		cure = strerror(-err);
	}
	fprintf(stderr, RELAY_PROGRAM ": can not listen on %s: %s.\n", endpoint_write(endpoint, text), cure);
}

/* Those that the service manager listens on, which needs no privilege here. */
static int take_listeners(struct tcp_listener *out[RELAY_LISTENERS_MAX], size_t *count)
{
	int first = -1, err = 0;
	size_t given = process_given_sockets(&first);

	if (!given || given > RELAY_LISTENERS_MAX - *count) {
		fprintf(stderr,
			RELAY_PROGRAM ": --activated needs 1 to %d listening sockets from the service "
				      "manager, and got %zu.\n",
			RELAY_LISTENERS_MAX, given);
		return -EBADF;
	}
	for (size_t i = 0; i < given && !err; i++) {
		err = tcp_listener_adopt(first + (int)i, &out[*count]);
		if (!err)
			++*count;
	}
	return err;
}

/* *count: how many there are in all. */
static int open_listeners(
	const struct arguments *arguments, struct tcp_listener *out[RELAY_LISTENERS_MAX], size_t *count)
{
	for (size_t i = 0; i < arguments->listen_count; i++) {
		int err = tcp_listener_open(&arguments->listen[i], &out[i]);

		if (err) {
			complain_listen(&arguments->listen[i], err);
			return err;
		}
		*count = i + 1;
	}
	return arguments->activated ? take_listeners(out, count) : 0;
}

/* A kernel that lacks a piece still has a relay, and who runs it is told. */
static int shut_in(enum sandbox which)
{
	char lacks[SANDBOX_LACKS_LEN];
	int err = sandbox_enter(which, lacks);

	if (!err && lacks[0])
		fprintf(stderr, RELAY_PROGRAM ": runs without %s.\n", lacks);
	return err;
}

/* Once for each change. */
static void say_target(const struct arguments *arguments, enum relay_target target)
{
	char text[ENDPOINT_TEXT_LEN];

	endpoint_write(&arguments->forward, text);
	switch (target) {
	case RELAY_TARGET_ANSWERS:
		fprintf(stderr, RELAY_PROGRAM ": the server at %s answers.\n", text);
		break;
	case RELAY_TARGET_REFUSES:
		fprintf(stderr,
			RELAY_PROGRAM
			": nobody listens at %s (UDP); connections wait until the server is there.\n",
			text);
		break;
	case RELAY_TARGET_UNKNOWN:
		break;
	}
}

static void say_ready(const struct arguments *arguments)
{
	char from[ENDPOINT_TEXT_LEN], to[ENDPOINT_TEXT_LEN];

	for (size_t i = 0; i < arguments->listen_count; i++)
		fprintf(stderr, RELAY_PROGRAM ": listening on %s (TCP), forwarding to %s (UDP).\n",
			endpoint_write(&arguments->listen[i], from), endpoint_write(&arguments->forward, to));
	if (arguments->activated)
		fprintf(stderr,
			RELAY_PROGRAM ": listening for the service manager, forwarding to %s (UDP).\n",
			endpoint_write(&arguments->forward, to));
}

int relay_run_server(const struct arguments *arguments)
{
	struct tcp_listener *listeners[RELAY_LISTENERS_MAX] = { NULL };
	struct relay_settings settings = { .forward = arguments->forward };
	enum relay_target told = RELAY_TARGET_UNKNOWN;
	struct relay_ports ports = { 0 };
	struct relay_server *server = NULL;
	size_t listener_count = 0;
	int err;

	memcpy(settings.public_key, arguments->public_key, sizeof(settings.public_key));
	if (!crypto_init())
		return complain("the crypto libraries do not work here", -ENOTSUP);
	settings.handles = process_allow_handles(HANDLES_WANTED);
	err = open_listeners(arguments, listeners, &listener_count);
	if (err)
		goto out;
	err = loop_open(&ports.loop);
	if (!err) {
		server = relay_server_new(&ports, &settings);
		err = server ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < listener_count && !err; i++) {
		err = relay_server_listen(server, listeners[i]);
		listeners[i] = NULL;
	}
	if (!err)
		err = shut_in(SANDBOX_RELAY_SERVER);
	if (!err)
		say_ready(arguments);
	while (!err) {
		err = relay_server_turn(server);
		if (relay_server_target(server) != told) {
			told = relay_server_target(server);
			say_target(arguments, told);
		}
	}
	complain("the relay stopped", err);
out:
	relay_server_free(server);
	for (size_t i = 0; i < RELAY_LISTENERS_MAX; i++)
		if (listeners[i])
			tcp_listener_close(listeners[i]);
	if (ports.loop)
		loop_close(ports.loop);
	return 1;
}

int relay_run_inherited(void)
{
	struct relay_ports ports = { 0 };
	struct relay_client *client = NULL;
	struct seam *seam;
	int err;

	if (!crypto_init())
		return complain("the crypto libraries do not work here", -ENOTSUP);
	err = seam_adopt(SEAM_HANDLE, &seam);
	if (err)
		return complain("descriptor 3 is not the seam to wgtcpd, which starts --inherited", err);
	err = loop_open(&ports.loop);
	if (err)
		goto out;
	client = relay_client_new(&ports, seam);
	if (!client)
		err = -ENOMEM;
	else
		err = shut_in(SANDBOX_RELAY);
	while (!err)
		err = relay_client_turn(client);
	if (err > 0)
		err = 0;
out:
	relay_client_free(client);
	if (ports.loop)
		loop_close(ports.loop);
	seam_close(seam);
	return err ? complain("the relay stopped", err) : 0;
}
