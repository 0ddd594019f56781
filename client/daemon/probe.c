/* SPDX-License-Identifier: MIT */
/* The probe process: see probe.h. */
#include "client/daemon/probe.h"
#include "client/daemon/probe_ask.h"
#include "client/daemon/probe_fetch.h"
#include "client/daemon/probe_look_up.h"
#include "client/daemon/probe_portal.h"
#include "core/port/privileges.h"

#include <ares.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define HANDLES_MAX 256
#define EACH_MAX 16

struct request {
	uint32_t id; /* 0: free */
	struct look_up *look_up;
	struct portal *portal;
	size_t first, count; /* of what it waits for */
};

static struct request requests[PROBE_REQUESTS_MAX];
static int handle;

static void drop_privileges(const struct identity *identity)
{
	const struct rlimit handles = { HANDLES_MAX, HANDLES_MAX };
	int err = identity_become(identity);

	/* Without such a user it still has no privilege. */
	if ((err && err != -EINVAL && err != -EPERM) || setrlimit(RLIMIT_NOFILE, &handles) != 0)
		_exit(1);
	/* A change of user takes this back, so it comes after. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
		_exit(1);
	prctl(PR_SET_NAME, "wgtcpd-probe");
}

static void answer(const struct probe_message *message)
{
	if (send(handle, message, sizeof(*message), MSG_NOSIGNAL) != (ssize_t)sizeof(*message))
		_exit(0); /* blocking: the daemon always reads, or is gone */
}

static void free_request(struct request *request)
{
	look_up_free(request->look_up);
	portal_free(request->portal);
	*request = (struct request){ 0 };
}

static struct request *find(uint32_t id)
{
	size_t i;

	for (i = 0; i < PROBE_REQUESTS_MAX; i++)
		if (requests[i].id == id)
			return &requests[i];
	return NULL;
}

static void tell_failed(uint32_t id, uint32_t kind)
{
	answer(&(struct probe_message){ .kind = kind == PROBE_PORTAL ? PROBE_PORTAL_SEEN : PROBE_ADDRESSES,
		.id = id,
		.status = PROBE_FAILED,
		.portal = PROBE_PORTAL_UNKNOWN,
		.last = 1 });
}

static void answered(enum ip_family family, enum probe_status status, const struct ip_address *addresses,
	size_t count, void *user)
{
	const struct request *request = user;
	struct probe_message message = {
		.kind = PROBE_ADDRESSES, .id = request->id, .status = status, .family = (uint32_t)family
	};

	if (count > PROBE_ADDRESSES_MAX)
		count = PROBE_ADDRESSES_MAX;
	message.count = (uint32_t)count;
	if (count)
		memcpy(message.addresses, addresses, count * sizeof(*addresses));
	answer(&message);
}

static void begin(struct probe_message *message)
{
	struct request *request = message->id && !find(message->id) ? find(0) : NULL;

	message->text[sizeof(message->text) - 1] = 0;
	if (!request) {
		tell_failed(message->id, message->kind);
		return;
	}
	request->id = message->id;
	if (message->kind == PROBE_PORTAL)
		request->portal = portal_new(message);
	else
		request->look_up = look_up_new(message, message->text, answered, request);
	if (!request->portal && !request->look_up) {
		tell_failed(message->id, message->kind);
		free_request(request);
	}
}

static void obey(void)
{
	static struct probe_message message;
	ssize_t len = recv(handle, &message, sizeof(message), MSG_DONTWAIT);
	struct request *request;

	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (len != (ssize_t)sizeof(message))
		_exit(0);
	switch ((enum probe_kind)message.kind) {
	case PROBE_LOOK_UP:
	case PROBE_PORTAL:
		begin(&message);
		return;
	case PROBE_CANCEL:
		request = message.id ? find(message.id) : NULL;
		if (request)
			free_request(request);
		return;
	case PROBE_ADDRESSES:
	case PROBE_PORTAL_SEEN:
		return;
	}
}

/* Tells what is over. */
static void finish(struct request *request)
{
	struct probe_message message = { .id = request->id, .last = 1 };
	enum probe_portal portal;
	const char *url;

	if (request->look_up && look_up_is_over(request->look_up)) {
		message.kind = PROBE_ADDRESSES;
		message.status = PROBE_NONE;
	} else if (request->portal && portal_is_over(request->portal, &portal, &url)) {
		message.kind = PROBE_PORTAL_SEEN;
		message.portal = portal;
		strncpy(message.text, url, sizeof(message.text) - 1);
	} else {
		return;
	}
	answer(&message);
	free_request(request);
}

static void turn(void)
{
	static struct pollfd wait[1 + PROBE_REQUESTS_MAX * EACH_MAX];
	size_t count = 1, i;
	int timeout_ms = -1;

	static_assert(LOOK_UP_HANDLES_MAX <= EACH_MAX && FETCH_HANDLES_MAX <= EACH_MAX, "room in wait");
	wait[0] = (struct pollfd){ .fd = handle, .events = POLLIN };
	for (i = 0; i < PROBE_REQUESTS_MAX; i++) {
		struct request *request = &requests[i];

		request->first = count;
		request->count = 0;
		if (request->look_up)
			request->count = look_up_wait(request->look_up, &wait[count], &timeout_ms);
		else if (request->portal)
			request->count = portal_wait(request->portal, &wait[count], &timeout_ms);
		count += request->count;
	}
	if (poll(wait, count, timeout_ms) < 0 && errno != EINTR)
		_exit(1);
	for (i = 0; i < PROBE_REQUESTS_MAX; i++) {
		struct request *request = &requests[i];

		if (!request->id)
			continue;
		if (request->look_up)
			look_up_turn(request->look_up, &wait[request->first], request->count);
		else
			portal_turn(request->portal, &wait[request->first], request->count);
		finish(request);
	}
	if (wait[0].revents)
		obey();
}

_Noreturn void probe_run(int requests_handle, int questions, const struct identity *identity)
{
	size_t i;

	handle = requests_handle;
	probe_ask_open(questions);
	drop_privileges(identity);
	if (ares_library_init(ARES_LIB_INIT_ALL) != ARES_SUCCESS)
		_exit(1);
	for (;;) {
		turn();
		/* What was answered at once (the hosts file, an address): not with the next thing that
		 * happens. */
		for (i = 0; i < PROBE_REQUESTS_MAX; i++)
			if (requests[i].id)
				finish(&requests[i]);
	}
}
