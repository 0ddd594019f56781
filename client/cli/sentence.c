/* SPDX-License-Identifier: MIT */
#include "client/cli/sentence.h"

#include <string.h>

const char *sentence_carrier(enum carrier carrier)
{
	switch (carrier) {
	case CARRIER_NONE:
		return "";
	case CARRIER_UDP:
		return "UDP";
	case CARRIER_TCP:
		return "TCP";
	}
	return "";
}

const char *sentence_reason(enum rpc_reason reason, enum carrier carrier)
{
	switch (reason) {
	case RPC_REASON_NONE:
	case RPC_REASON_UDP_WORKS:
		return "";
	case RPC_REASON_CHOSEN:
		return "as chosen";
	case RPC_REASON_UDP_SILENT:
		return "this network blocks UDP";
	case RPC_REASON_UDP_REJECTED:
		return "this network rejects UDP";
	case RPC_REASON_UDP_NO_DATA:
		return "UDP passes handshakes here, but no data";
	case RPC_REASON_UDP_NO_LARGE:
		return "UDP drops full-size packets here";
	case RPC_REASON_UDP_FLAPPING:
		return "UDP comes and goes here, so TCP is kept until the network changes";
	case RPC_REASON_REMEMBERED:
		return carrier == CARRIER_UDP ? "" : "this network blocked UDP before";
	}
	return "";
}

const char *sentence_cause(enum rpc_cause cause)
{
	switch (cause) {
	case RPC_CAUSE_NONE:
		return "";
	case RPC_CAUSE_NO_NETWORK:
		return "there is no network";
	case RPC_CAUSE_CAPTIVE_PORTAL:
		return "this network wants you to log in first";
	case RPC_CAUSE_DNS_FAILED:
		return "the endpoint's name can not be looked up";
	case RPC_CAUSE_PEER_UNREACHABLE:
		return "nothing comes back from the peer";
	case RPC_CAUSE_HANDSHAKE_REFUSED:
		return "the peer can be reached, but answers no handshake: check the keys on both sides";
	case RPC_CAUSE_CLOCK:
		return "this computer's clock went back, so the peer takes its handshakes for old ones";
	case RPC_CAUSE_PERMISSION:
		return "a permission is missing";
	case RPC_CAUSE_BUSY:
		return "something else is under way";
	case RPC_CAUSE_CONFIG:
		return "the profile is wrong";
	}
	return "";
}

/* " over TCP: this network blocks UDP" */
static void add_carrier(const struct rpc_tunnel *tunnel, struct text *out)
{
	const char *reason = sentence_reason(tunnel->reason, tunnel->carrier);

	if (tunnel->carrier == CARRIER_NONE)
		return;
	text_addf(out, " over %s", sentence_carrier(tunnel->carrier));
	if (tunnel->reason == RPC_REASON_CHOSEN)
		text_addf(out, ", %s", reason);
	else if (reason[0])
		text_addf(out, ": %s", reason);
}

static bool carries(enum rpc_state state)
{
	switch (state) {
	case RPC_STATE_VERIFYING:
	case RPC_STATE_UP:
	case RPC_STATE_DEGRADED:
		return true;
	case RPC_STATE_DOWN:
	case RPC_STATE_CONNECTING:
	case RPC_STATE_RECONNECTING:
	case RPC_STATE_FAILED:
		break;
	}
	return false;
}

/* What is wrong, in the daemon's own words if it has some. */
static const char *trouble(const struct rpc_tunnel *tunnel)
{
	return tunnel->message[0] ? tunnel->message : sentence_cause(tunnel->cause);
}

/* A sentence without the full stop that its writer may have given it. */
static void add_trimmed(struct text *out, const char *sentence)
{
	size_t len = strlen(sentence);

	while (len && (sentence[len - 1] == '.' || sentence[len - 1] == ' '))
		len--;
	for (size_t i = 0; i < len; i++)
		text_add(out, (unsigned char)sentence[i] < 0x20 ? "?" : &sentence[i], 1);
}

void sentence_of_state(const struct rpc_tunnel *tunnel, struct text *out)
{
	text_addf(out, "%s", rpc_state_words[tunnel->state]);
	if (carries(tunnel->state))
		add_carrier(tunnel, out);
	if (tunnel->state != RPC_STATE_UP && trouble(tunnel)[0]) {
		text_addf(out, carries(tunnel->state) ? "; " : ": ");
		add_trimmed(out, trouble(tunnel));
	}
}

void sentence_of_tunnel(const struct rpc_tunnel *tunnel, bool already, struct text *out)
{
	text_add_clean(out, tunnel->name);
	text_addf(out, already ? " is already " : tunnel->state == RPC_STATE_FAILED ? " has " : " is ");
	sentence_of_state(tunnel, out);
	if (tunnel->verified != RPC_VERIFIED_NONE)
		text_addf(out, " (verified: %s)", rpc_verified_words[tunnel->verified]);
	text_addf(out, ".");
}

void sentence_duration(uint64_t seconds, struct text *out)
{
	uint64_t minutes = seconds / 60, hours = minutes / 60, days = hours / 24;

	if (seconds < 60)
		text_addf(out, "%u s", (unsigned)seconds);
	else if (minutes < 10)
		text_addf(out, "%u min %u s", (unsigned)minutes, (unsigned)(seconds % 60));
	else if (minutes < 60)
		text_addf(out, "%u min", (unsigned)minutes);
	else if (hours < 24)
		text_addf(out, "%u h %u min", (unsigned)hours, (unsigned)(minutes % 60));
	else
		text_addf(out, "%u d %u h", (unsigned)days, (unsigned)(hours % 24));
}

/* Three digits: "1.23", "12.3", "123". */
static void add_scaled(double value, const char *unit, struct text *out)
{
	text_addf(out, value < 9.995 ? "%.2f %s" : value < 99.95 ? "%.1f %s" : "%.0f %s", value, unit);
}

void sentence_bytes(uint64_t bytes, struct text *out)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double value = (double)bytes / 1024;
	size_t unit = 0;

	if (bytes < 1024) {
		text_addf(out, "%u B", (unsigned)bytes);
		return;
	}
	for (; value >= 1023.5 && unit < 5; unit++)
		value /= 1024;
	add_scaled(value, units[unit], out);
}

void sentence_rate(uint64_t bps, struct text *out)
{
	static const char *const units[] = { "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s" };
	double value = (double)bps / 1000;
	size_t unit = 0;

	if (bps < 1000) {
		text_addf(out, "%u bit/s", (unsigned)bps);
		return;
	}
	for (; value >= 999.5 && unit < 3; unit++)
		value /= 1000;
	add_scaled(value, units[unit], out);
}

void sentence_rtt(uint32_t us, struct text *out)
{
	if (us < 10000)
		text_addf(out, "%.1f ms", us / 1000.0);
	else
		text_addf(out, "%.0f ms", us / 1000.0);
}
