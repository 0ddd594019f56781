/* SPDX-License-Identifier: MIT */
#include "gui/model/why.h"

#include "gui/model/translate.h"
#include "gui/model/units.h"
#include "gui/model/words.h"

#include <stdarg.h>
#include <stdio.h>

/* A handshake is renewed every two minutes while data passes; after three it is void (WireGuard paper, 6.1). */
#define HANDSHAKE_OLD_S 180

struct lines {
	struct why_line *items;
	size_t count;
	bool is_broken; /* a line was bad: what depends on it is not judged */
};

__attribute__((format(printf, 4, 5))) static void add(
	struct lines *lines, enum why_mark mark, const char *title, const char *format, ...)
{
	struct why_line *line = &lines->items[lines->count++];
	va_list args;

	line->mark = mark;
	line->title = title;
	va_start(args, format);
	vsnprintf(line->text, sizeof(line->text), format, args);
	va_end(args);
	if (mark == WHY_BAD)
		lines->is_broken = true;
}

static void add_service(struct lines *lines, enum service_state service, const struct status_model *model)
{
	if (service != SERVICE_READY)
		add(lines, WHY_BAD, _("Service"), "%s", service_words(service).title);
	else if (model->has_info)
		add(lines, WHY_GOOD, _("Service"), _("wgtcpd %s is running."), model->info.daemon_version);
	else
		add(lines, WHY_UNKNOWN, _("Service"), "%s", _("It is running, and has not said more yet."));
}

static void add_profile(struct lines *lines, const struct model_tunnel *tunnel)
{
	if (tunnel->profile_error[0])
		add(lines, WHY_BAD, _("Profile"), "%s", tunnel->profile_error);
	else if (tunnel->status.cause == RPC_CAUSE_CONFIG)
		add(lines, WHY_BAD, _("Profile"), "%s", tunnel->status.message);
	else
		add(lines, WHY_GOOD, _("Profile"), "%s", _("It can be read, and nothing in it is wrong."));
}

/* The causes that lie between this computer and the server, before any handshake. */
static void add_network(struct lines *lines, const struct rpc_tunnel *status)
{
	enum rpc_cause cause = status->cause;

	if (cause == RPC_CAUSE_NO_NETWORK || cause == RPC_CAUSE_CAPTIVE_PORTAL || cause == RPC_CAUSE_DNS_FAILED)
		add(lines, WHY_BAD, _("Network"), "%s", words_cure(cause));
	else if (status->state == RPC_STATE_DOWN || lines->is_broken)
		add(lines, WHY_UNKNOWN, _("Network"), "%s", _("Not tried: the tunnel is not switched on."));
	else
		add(lines, WHY_GOOD, _("Network"), "%s", _("There is one, and it asks for no login."));
}

static void add_udp(struct lines *lines, const struct rpc_tunnel *status)
{
	const char *reason = words_reason(status->reason, CARRIER_TCP);

	switch (status->udp) {
	case RPC_UDP_OK:
		add(lines, WHY_GOOD, "UDP", "%s", _("It passes here."));
		return;
	case RPC_UDP_BLOCKED:
		/* No fault of its own as long as TCP carries the tunnel. */
		add(lines, words_passes(status->state) ? WHY_GOOD : WHY_BAD, "UDP",
			_("It does not pass here (%s). TCP takes its place where the server listens for it."),
			reason[0] ? reason : words_reason(RPC_REASON_UDP_SILENT, CARRIER_TCP));
		return;
	case RPC_UDP_UNKNOWN:
		add(lines, WHY_UNKNOWN, "UDP", "%s", _("Not known yet."));
		return;
	case RPC_UDP_UNUSED:
		add(lines, WHY_UNKNOWN, "UDP", "%s", _("Not tried, since TCP was chosen."));
		return;
	}
}

static uint64_t newest_handshake(const struct rpc_tunnel *status)
{
	uint64_t newest = 0;

	for (size_t i = 0; i < status->peer_count; i++) {
		if (status->peers[i].last_handshake > newest)
			newest = status->peers[i].last_handshake;
	}
	return newest;
}

static void add_server(struct lines *lines, const struct rpc_tunnel *status, uint64_t now)
{
	uint64_t handshake = newest_handshake(status);
	char ago[UNITS_LEN];

	units_ago(handshake, now, ago, sizeof(ago));
	if (status->cause == RPC_CAUSE_PEER_UNREACHABLE || status->cause == RPC_CAUSE_HANDSHAKE_REFUSED ||
		status->cause == RPC_CAUSE_CLOCK)
		add(lines, WHY_BAD, _("Server"), "%s", words_cure(status->cause));
	else if (words_passes(status->state))
		add(lines, WHY_GOOD, _("Server"), _("It answers; the last handshake was %s."), ago);
	else if (handshake && now < handshake + HANDSHAKE_OLD_S)
		add(lines, WHY_UNKNOWN, _("Server"), _("It answered %s."), ago);
	else
		add(lines, WHY_UNKNOWN, _("Server"), "%s", _("It was not asked."));
}

static void add_data(struct lines *lines, const struct rpc_tunnel *status)
{
	enum why_mark mark = WHY_UNKNOWN;

	if (!words_passes(status->state)) {
		add(lines, WHY_UNKNOWN, _("Data"), "%s", _("Nothing passes while the tunnel is not connected."));
		return;
	}
	switch (status->verified) {
	case RPC_VERIFIED_NONE:
	case RPC_VERIFIED_HANDSHAKE:
		break;
	case RPC_VERIFIED_SMALL:
		mark = WHY_BAD;
		break;
	case RPC_VERIFIED_FULL:
		mark = WHY_GOOD;
		break;
	}
	add(lines, mark, _("Data"), _("What was seen to pass: %s."), words_verified(status->verified));
}

size_t why_lines(enum service_state service, const struct status_model *model, const struct model_tunnel *tunnel,
	uint64_t now, struct why_line out[WHY_LINES_MAX])
{
	const struct rpc_tunnel *status = &tunnel->status;
	struct lines lines = { .items = out };

	add_service(&lines, service, model);
	if (lines.is_broken)
		return lines.count;
	add_profile(&lines, tunnel);
	add_network(&lines, status);
	add_udp(&lines, status);
	add_server(&lines, status, now);
	add_data(&lines, status);
	if (status->message[0] && status->cause != RPC_CAUSE_CONFIG)
		add(&lines, WHY_BAD, _("In the service's words"), "%s", status->message);
	else if (tunnel->trouble[0])
		add(&lines, WHY_BAD, _("In the service's words"), "%s", tunnel->trouble);
	return lines.count;
}
