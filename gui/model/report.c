/* SPDX-License-Identifier: MIT */
#include "gui/model/report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LINE_LEN 1400

__attribute__((format(printf, 3, 4))) static void add_line(
	struct redactor *redactor, struct redact_text *out, const char *format, ...)
{
	char line[LINE_LEN];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	redact(redactor, line, strlen(line), out);
	redact_text_add(out, "\n", 1);
}

static void add_tunnel(struct redactor *redactor, const struct model_tunnel *tunnel, struct redact_text *out)
{
	const struct rpc_tunnel *status = &tunnel->status;

	add_line(redactor, out, "%s: %s, cause %s, reason %s, verified %s, carrier %s, wanted %s, udp %s, backend %s, mtu %u",
		tunnel->name, rpc_state_words[status->state], rpc_cause_words[status->cause],
		rpc_reason_words[status->reason], rpc_verified_words[status->verified],
		rpc_carrier_words[status->carrier], rpc_transport_words[status->transport],
		rpc_udp_words[status->udp], rpc_backend_words[status->backend], status->mtu);
	if (status->message[0])
		add_line(redactor, out, "  message: %s", status->message);
	if (tunnel->trouble[0])
		add_line(redactor, out, "  last trouble: %s", tunnel->trouble);
	if (tunnel->profile_error[0])
		add_line(redactor, out, "  profile: %s", tunnel->profile_error);
	for (size_t i = 0; i < status->warnings.count; i++)
		add_line(redactor, out, "  warning: %s", status->warnings.items[i]);
	for (size_t i = 0; i < status->peer_count; i++) {
		const struct rpc_peer *peer = &status->peers[i];

		add_line(redactor, out,
			"  peer %s at %s: %s, carrier %s, rtt %" PRIu32 " us, received %" PRIu64 " bytes, sent %" PRIu64
			" bytes",
			peer->public_key, peer->endpoint[0] ? peer->endpoint : "(none)", rpc_state_words[peer->state],
			rpc_carrier_words[peer->carrier], peer->rtt_us, peer->rx_bytes, peer->tx_bytes);
	}
}

void report_write(const struct status_model *model, const struct rpc_log *log, size_t log_count, const char *program,
	struct redact_text *out)
{
	struct redactor redactor = { 0 };

	for (size_t i = 0; i < model->count; i++) {
		redact_tunnel(&redactor, model->tunnels[i]->name);
		if (strcmp(model->tunnels[i]->shown, model->tunnels[i]->name) != 0)
			redact_tunnel(&redactor, model->tunnels[i]->shown);
	}
	redact_text_add(out, program, strlen(program));
	redact_text_add(out, "\n", 1);
	if (model->has_info) {
		/* Not redacted: a version looks like an address. */
		char line[100];

		snprintf(line, sizeof(line), "wgtcpd %s, permission %s\n", model->info.daemon_version,
			rpc_permission_words[model->info.permission]);
		redact_text_add(out, line, strlen(line));
	} else {
		add_line(&redactor, out, "wgtcpd does not answer");
	}
	for (size_t i = 0; i < model->count; i++)
		add_tunnel(&redactor, model->tunnels[i], out);
	for (size_t i = 0; i < log_count; i++)
		add_line(&redactor, out, "%" PRIu64 ".%03u %s %s: %s", log[i].time_ms / 1000,
			(unsigned)(log[i].time_ms % 1000), rpc_level_words[log[i].level],
			log[i].name[0] ? log[i].name : "-", log[i].text);
}

void report_log_line(const struct rpc_log *entry, const char *clock, char *out, size_t size)
{
	snprintf(out, size, "%s %s%s%s: %s", clock, rpc_level_words[entry->level], entry->name[0] ? " " : "",
		entry->name, entry->text);
}
