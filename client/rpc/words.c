/* SPDX-License-Identifier: MIT */
/* The protocol's words; the order is that of the enums in words.h. */
#include "client/rpc/words.h"

#include <stddef.h>
#include <string.h>

const char *const rpc_state_words[] = { "down", "connecting", "verifying", "up", "degraded", "reconnecting",
	"failed", NULL };
const char *const rpc_cause_words[] = { "none", "no-network", "captive-portal", "dns-failed",
	"peer-unreachable", "handshake-refused", "clock", "permission", "busy", "config", NULL };
const char *const rpc_verified_words[] = { "none", "handshake", "small", "full", NULL };
const char *const rpc_udp_words[] = { "unknown", "ok", "blocked", "unused", NULL };
const char *const rpc_large_words[] = { "unknown", "there", "back", NULL };
const char *const rpc_reason_words[] = { "none", "chosen", "udp-silent", "udp-rejected", "udp-no-data",
	"udp-no-large", "udp-flapping", "remembered", "udp-works", NULL };
const char *const rpc_backend_words[] = { "none", "kernel", "kernel-wgtcp", "kernel-relay", "userspace",
	NULL };
const char *const rpc_backend_choice_words[] = { "auto", "kernel", "userspace", NULL };
const char *const rpc_permission_words[] = { "read", "all", NULL };
const char *const rpc_kill_switch_words[] = { "off", "on", "open", NULL };
const char *const rpc_check_words[] = { "tunnel", "link", "route", "ipv4", "ipv6", "dns", "captive-portal",
	"udp", "tcp", "handshake", "mtu", "clock", "kernel", "leftovers", "kill-switch", NULL };
const char *const rpc_verdict_words[] = { "ok", "warning", "bad", "unknown", NULL };
const char *const rpc_level_words[] = { "error", "warning", "info", "debug", NULL };
const char *const rpc_step_words[] = { "starting", "waiting-for-network", "resolving", "trying-udp",
	"trying-tcp", "verifying", NULL };
const char *const rpc_method_words[] = { "daemon.info", "tunnel.list", "tunnel.up", "tunnel.down",
	"tunnel.status", "tunnel.import", "tunnel.export", "tunnel.delete", "tunnel.set", "tunnel.switch",
	"killswitch.unlock", "diagnose", "logs", "watch", "speedtest.prepare", "speedtest.end", "history",
	"server.init", "server.add", NULL };
const char *const rpc_resolution_words[] = { "minute", "hour", NULL };
const char *const rpc_notice_words[] = { "state", "stats", "progress", "log", "speedtest", NULL };
const char *const rpc_carrier_words[] = { "none", "udp", "tcp", NULL };
const char *const rpc_transport_words[] = { "auto", "udp", "tcp", NULL };

bool rpc_word_parse(const char *const words[], const char *text, int *value)
{
	for (int i = 0; words[i]; i++) {
		if (!strcmp(words[i], text)) {
			*value = i;
			return true;
		}
	}
	return false;
}
