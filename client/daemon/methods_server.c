/* SPDX-License-Identifier: MIT */
/* server.init and server.add: a server's profile, and one for each client. Nothing else on the machine
 * changes. */
#include "client/daemon/methods.h"

#include "client/daemon/daemon.h"
#include "client/daemon/manager.h"
#include "client/daemon/profiles.h"
#include "client/daemon/server_plan.h"
#include "core/port/privileged_socket.h"
#include "core/config/write.h"
#include "core/crypto/crypto.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* What networks that block nearly all let pass, by UDP (HTTP/3) and by TCP. */
#define DEFAULT_PORT 443
#define DEFAULT_NAME "server"
#define DEFAULT_CLIENT "client"
/* So long that a person can still tell it from others. */
#define CLIENT_NAME_MAX 64

struct plan {
	char name[PROFILE_NAME_LEN], client[CLIENT_NAME_MAX + 1], endpoint[SERVER_PLAN_ENDPOINT_LEN];
	char *text; /* the server's */
	size_t len;
	struct loaded loaded; /* what there was: server.add */
};

static bool wrong(struct rpc_error *error, enum rpc_code code, const char *sentence)
{
	rpc_error_set(error, code, "%s", sentence);
	return false;
}

static bool port_is_free(int type, uint16_t port)
{
	struct sockaddr_in6 address = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	int fd = socket(AF_INET6, type | SOCK_CLOEXEC, 0);
	bool taken;

	if (fd < 0)
		return true;
	taken = privileged_socket_bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 &&
		errno == EADDRINUSE;
	close(fd);
	return !taken;
}

/* The client's name becomes a comment in a file: one line of text. */
static bool read_client(const struct rpc_request *request, struct plan *plan, struct rpc_error *error)
{
	const char *name = request->client[0] ? request->client : DEFAULT_CLIENT;
	size_t i;

	for (i = 0; name[i]; i++)
		if ((unsigned char)name[i] < 0x20 || name[i] == 0x7f)
			return wrong(error, RPC_CODE_INVALID_PARAMS,
				"a client's name can not hold a line break or another control character");
	if (i > CLIENT_NAME_MAX)
		return wrong(error, RPC_CODE_INVALID_PARAMS,
			"a client's name may have 64 bytes; take a shorter one");
	memcpy(plan->client, name, i + 1);
	return true;
}

static bool read_endpoint(
	const struct rpc_request *request, uint16_t port, struct plan *plan, struct rpc_error *error)
{
	if (server_plan_endpoint(request->endpoint, port, plan->endpoint))
		return true;
	rpc_error_set(error, RPC_CODE_INVALID_PARAMS,
		"'%.100s' is not a host that clients can call: give its name or its address, without a port "
		"(--port sets "
		"that)",
		request->endpoint);
	return false;
}

static bool begin(
	struct daemon *daemon, const struct rpc_request *request, struct plan *plan, struct rpc_error *error)
{
	uint16_t port = (uint16_t)(request->port ? request->port : DEFAULT_PORT);
	uint8_t key[KEY_LEN], chance[SERVER_PLAN_CHANCE_LEN];
	const char *name = request->name[0] ? request->name : DEFAULT_NAME;
	struct profile_file file;

	if (!profile_name_parse(name, strlen(name), plan->name))
		return wrong(error, RPC_CODE_INVALID_PARAMS,
			"the server's tunnel needs a name of 1 to 15 of the characters A-Z a-z 0-9 _ = + . "
			"-");
	if (profiles_find(daemon->profiles, plan->name, &file)) {
		rpc_error_set(error, RPC_CODE_EXISTS,
			"there is a tunnel called %s already: `wgtcp-cli server add NAME` adds a client to "
			"it, --name "
			"makes another",
			plan->name);
		return false;
	}
	if (!read_endpoint(request, port, plan, error))
		return false;
	if (!port_is_free(SOCK_STREAM, port) || !port_is_free(SOCK_DGRAM, port)) {
		rpc_error_set(error, RPC_CODE_BUSY,
			"port %u is in use by another program here: take another one with --port",
			(unsigned)port);
		return false;
	}
	dh_generate(key);
	random_fill(chance, sizeof(chance));
	plan->text = server_plan_new(plan->endpoint, port, key, chance, &plan->len);
	secret_wipe(key, sizeof(key));
	return plan->text ? true : wrong(error, RPC_CODE_OTHER, "memory is short");
}

static bool go_on(
	struct daemon *daemon, const struct rpc_request *request, struct plan *plan, struct rpc_error *error)
{
	const char *name = request->name[0] ? request->name : DEFAULT_NAME;
	const struct profile *profile = &plan->loaded.profile;
	size_t i;

	if (!profiles_name(daemon->profiles, name, plan->name, error)) {
		if (error->code == RPC_CODE_NO_SUCH_TUNNEL && !request->name[0])
			rpc_error_set(error, RPC_CODE_NO_SUCH_TUNNEL,
				"there is no server here yet: `wgtcp-cli server init --endpoint HOST` makes "
				"one");
		return false;
	}
	if (!profiles_load(daemon->profiles, plan->name, &plan->loaded, error))
		return false;
	if (!profile->has_listen_port) {
		rpc_error_set(error, RPC_CODE_CONFIG,
			"%s is no server: it has no ListenPort that clients could call", plan->name);
		return false;
	}
	for (i = 0; i < profile->peer_count; i++) {
		if (strcmp(profile->peers[i].name, plan->client) != 0)
			continue;
		rpc_error_set(error, RPC_CODE_EXISTS,
			"%s has a client called %s already: take another name, or take its [Peer] out of "
			"%.200s first",
			plan->name, plan->client, plan->loaded.path);
		return false;
	}
	if (request->endpoint[0])
		return read_endpoint(request,
			(uint16_t)(request->port ? request->port : profile->listen_port), plan, error);
	if (server_plan_noted(plan->loaded.text, plan->loaded.len, plan->endpoint))
		return true;
	rpc_error_set(error, RPC_CODE_CONFIG,
		"%.200s does not say where clients reach this server: give it with --endpoint HOST",
		plan->loaded.path);
	return false;
}

/* One client more in plan->text, and its own profile in *client. */
static bool add_client(struct plan *plan, char **client, size_t *client_len, struct rpc_error *error)
{
	uint8_t key[KEY_LEN], public_key[KEY_LEN], psk[KEY_LEN], server_key[KEY_LEN];
	struct profile server = { 0 }, check = { 0 };
	struct profile_warnings warnings;
	struct profile_error bad = { 0 };
	struct server_place place;
	char *longer = NULL;
	size_t longer_len = 0;
	bool done = false;

	if (!profile_parse(plan->name, plan->text, plan->len, &server, &bad, &warnings)) {
		profile_error_tell(error, plan->name, &bad);
		return false;
	}
	dh_generate(key);
	dh_public(public_key, key);
	dh_public(server_key, server.private_key);
	random_fill(psk, sizeof(psk));
	if (!server_plan_place(&server, &place)) {
		rpc_error_set(error, RPC_CODE_CONFIG,
			"the networks in Address of %s have no room for another client: give it a larger one",
			plan->name);
		goto out;
	}
	longer = server_plan_add(plan->text, plan->len, plan->client, public_key, psk, &place, &longer_len);
	*client = server_plan_client(plan->endpoint, key, server_key, psk, &place, client_len);
	if (!longer || !*client) {
		wrong(error, RPC_CODE_OTHER, "memory is short");
		goto out;
	}
	/* What is stored and given away must be what a person could have written. */
	if (!profile_parse(plan->client, *client, *client_len, &check, &bad, &warnings)) {
		profile_error_tell(error, plan->client, &bad);
		goto out;
	}
	profile_free(&check);
	if (!profile_parse(plan->name, longer, longer_len, &check, &bad, &warnings)) {
		profile_error_tell(error, plan->name, &bad);
		goto out;
	}
	profile_text_free(plan->text, plan->len);
	plan->text = longer;
	plan->len = longer_len;
	longer = NULL;
	done = true;
out:
	profile_text_free(longer, longer_len);
	profile_free(&server);
	profile_free(&check);
	secret_wipe(key, sizeof(key));
	secret_wipe(psk, sizeof(psk));
	return done;
}

void method_server(struct daemon *daemon, struct client *client, const struct rpc_request *request)
{
	struct rpc_result result = { .method = request->method };
	struct rpc_served *served = &result.served;
	const struct tunnel *tunnel;
	struct rpc_error error = { 0 };
	struct plan plan = { 0 };
	char *text = NULL;
	size_t len = 0;

	if (!client_is_root(client)) {
		rpc_error_set(&error, RPC_CODE_NOT_PERMITTED, "only root may make a server's keys: use sudo");
		error.cause = RPC_CAUSE_PERMISSION;
		goto out;
	}
	if (request->port > 65535) {
		rpc_error_set(&error, RPC_CODE_INVALID_PARAMS, "a port is a number from 1 to 65535");
		goto out;
	}
	if (!read_client(request, &plan, &error))
		goto out;
	if (request->method == RPC_METHOD_SERVER_INIT) {
		if (!begin(daemon, request, &plan, &error))
			goto out;
	} else {
		if (!go_on(daemon, request, &plan, &error))
			goto out;
		plan.text = plan.loaded.text;
		plan.len = plan.loaded.len;
		plan.loaded.text = NULL;
		plan.loaded.len = 0;
	}
	if (!add_client(&plan, &text, &len, &error) ||
		!profiles_store(daemon->profiles, plan.name, plan.text, plan.len, served->file, &error))
		goto out;
	tunnel = manager_find(daemon->manager, plan.name);
	snprintf(served->name, sizeof(served->name), "%s", plan.name);
	snprintf(served->client, sizeof(served->client), "%s", plan.client);
	snprintf(served->endpoint, sizeof(served->endpoint), "%s", plan.endpoint);
	served->text = text;
	text = NULL;
	served->changed = !tunnel || tunnel_phase(tunnel) == TUNNEL_DOWN;
	if (plan.loaded.read_only)
		notes_add(&served->warnings, 0,
			"the profile belongs to wg-quick and is not written to: a changed copy of it is used "
			"from now on");
	journal_say(daemon->journal, JOURNAL_INFO, plan.name,
		request->method == RPC_METHOD_SERVER_INIT ? "server made" : "client added");
	client_reply(client, &request->id, &result);
out:
	if (error.code)
		client_reply_error(client, &request->id, &error);
	rpc_result_free(&result);
	profile_text_free(text, len);
	profile_text_free(plan.text, plan.len);
	loaded_free(&plan.loaded);
}
