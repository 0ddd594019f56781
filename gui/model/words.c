/* SPDX-License-Identifier: MIT */
#include "gui/model/words.h"

#include "gui/model/translate.h"

#include <stdio.h>
#include <string.h>

enum words_shape words_shape(enum rpc_state state)
{
	switch (state) {
	case RPC_STATE_DOWN:
		return WORDS_SHAPE_OFF;
	case RPC_STATE_CONNECTING:
	case RPC_STATE_VERIFYING:
	case RPC_STATE_RECONNECTING:
		return WORDS_SHAPE_BUSY;
	case RPC_STATE_UP:
		return WORDS_SHAPE_ON;
	case RPC_STATE_DEGRADED:
	case RPC_STATE_FAILED:
		return WORDS_SHAPE_ATTENTION;
	}
	return WORDS_SHAPE_OFF;
}

bool words_is_on(enum rpc_state state)
{
	return state != RPC_STATE_DOWN && state != RPC_STATE_FAILED;
}

bool words_passes(enum rpc_state state)
{
	return state == RPC_STATE_UP || state == RPC_STATE_DEGRADED;
}

const char *words_carrier(enum carrier carrier)
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

const char *words_transport(enum transport transport)
{
	switch (transport) {
	case TRANSPORT_AUTO:
		return _("Automatic");
	case TRANSPORT_UDP:
		return _("UDP only");
	case TRANSPORT_TCP:
		return _("TCP only");
	}
	return "";
}

const char *words_backend(enum rpc_backend backend)
{
	switch (backend) {
	case RPC_BACKEND_NONE:
		return "";
	case RPC_BACKEND_KERNEL:
		return _("In the kernel");
	case RPC_BACKEND_KERNEL_WGTCP:
		return _("In the kernel, with the WGTCP module");
	case RPC_BACKEND_KERNEL_RELAY:
		return _("In the kernel, TCP by wgtcp-relay");
	case RPC_BACKEND_USERSPACE:
		return _("In userspace (wgtcp-engine)");
	}
	return "";
}

const char *words_verified(enum rpc_verified verified)
{
	switch (verified) {
	case RPC_VERIFIED_NONE:
		return _("Nothing yet");
	case RPC_VERIFIED_HANDSHAKE:
		return _("The handshake; nothing inside answers a question");
	case RPC_VERIFIED_SMALL:
		return _("Small packets both ways, full-size ones not");
	case RPC_VERIFIED_FULL:
		return _("Small and full-size packets both ways");
	}
	return "";
}

const char *words_reason(enum rpc_reason reason, enum carrier carrier)
{
	switch (reason) {
	case RPC_REASON_NONE:
	case RPC_REASON_UDP_WORKS:
		return "";
	case RPC_REASON_CHOSEN:
		return _("as you chose");
	case RPC_REASON_UDP_SILENT:
		return _("this network blocks UDP");
	case RPC_REASON_UDP_REJECTED:
		return _("this network rejects UDP");
	case RPC_REASON_UDP_NO_DATA:
		return _("here UDP passes handshakes, but no data");
	case RPC_REASON_UDP_NO_LARGE:
		return _("here UDP loses full-size packets");
	case RPC_REASON_UDP_FLAPPING:
		return _("UDP comes and goes here, so it stays on TCP until the network changes");
	case RPC_REASON_REMEMBERED:
		return carrier == CARRIER_TCP ? _("this network blocked UDP before") : "";
	}
	return "";
}

const char *words_cause(enum rpc_cause cause)
{
	switch (cause) {
	case RPC_CAUSE_NONE:
		return "";
	case RPC_CAUSE_NO_NETWORK:
		return _("there is no network");
	case RPC_CAUSE_CAPTIVE_PORTAL:
		return _("this network wants you to log in first");
	case RPC_CAUSE_DNS_FAILED:
		return _("the server's name cannot be looked up");
	case RPC_CAUSE_PEER_UNREACHABLE:
		return _("the server does not answer");
	case RPC_CAUSE_HANDSHAKE_REFUSED:
		return _("the server can be reached, but refuses the handshake");
	case RPC_CAUSE_CLOCK:
		return _("this computer's clock went back");
	case RPC_CAUSE_PERMISSION:
		return _("a permission is missing");
	case RPC_CAUSE_BUSY:
		return _("something else is under way");
	case RPC_CAUSE_CONFIG:
		return _("the profile is wrong");
	}
	return "";
}

const char *words_cure(enum rpc_cause cause)
{
	switch (cause) {
	case RPC_CAUSE_NONE:
		return "";
	case RPC_CAUSE_NO_NETWORK:
		return _("Connect to Wi-Fi or plug in a cable. The tunnel follows by itself.");
	case RPC_CAUSE_CAPTIVE_PORTAL:
		return _("Open the login page of this network, log in, then connect again.");
	case RPC_CAUSE_DNS_FAILED:
		return _("Check the name in Endpoint, and whether other names can be looked up.");
	case RPC_CAUSE_PEER_UNREACHABLE:
		return _("Check that the server runs, that its address and port in Endpoint are right, and that its "
			 "firewall lets them through.");
	case RPC_CAUSE_HANDSHAKE_REFUSED:
		return _("Check the keys: the server must know this profile's public key, and the profile the server's.");
	case RPC_CAUSE_CLOCK:
		return _("Set the clock: the server takes older handshakes for repeated ones.");
	case RPC_CAUSE_PERMISSION:
		return _("See the log for what the service was not allowed to do.");
	case RPC_CAUSE_BUSY:
		return _("Wait a moment, then try again.");
	case RPC_CAUSE_CONFIG:
		return _("Correct that line in the file, or import the profile again.");
	}
	return "";
}

const char *words_step(enum rpc_step step)
{
	switch (step) {
	case RPC_STEP_STARTING:
		return _("Connecting…");
	case RPC_STEP_WAITING_FOR_NETWORK:
		return _("Waiting for a network…");
	case RPC_STEP_RESOLVING:
		return _("Looking up the server…");
	case RPC_STEP_TRYING_UDP:
		return _("Trying UDP…");
	case RPC_STEP_TRYING_TCP:
		return _("Trying TCP…");
	case RPC_STEP_VERIFYING:
		return _("Checking that data passes…");
	}
	return "";
}

void words_capitalize(char *sentence, const char *tunnel_name)
{
	size_t len = strlen(tunnel_name);

	if ((len && !strncmp(sentence, tunnel_name, len)) || !strncmp(sentence, "wg", 2))
		return;
	if (sentence[0] >= 'a' && sentence[0] <= 'z')
		sentence[0] = (char)(sentence[0] - 'a' + 'A');
}

void words_state(const struct rpc_tunnel *tunnel, const enum rpc_step *step, char *out, size_t size)
{
	const char *carrier = words_carrier(tunnel->carrier);

	switch (tunnel->state) {
	case RPC_STATE_DOWN:
		snprintf(out, size, "%s", _("Not connected"));
		return;
	case RPC_STATE_CONNECTING:
		snprintf(out, size, "%s", words_step(step ? *step : RPC_STEP_STARTING));
		return;
	case RPC_STATE_VERIFYING:
		snprintf(out, size, "%s", words_step(RPC_STEP_VERIFYING));
		return;
	case RPC_STATE_UP:
		if (carrier[0])
			snprintf(out, size, _("Connected over %s"), carrier);
		else
			snprintf(out, size, "%s", _("Connected"));
		return;
	case RPC_STATE_DEGRADED:
		if (carrier[0])
			snprintf(out, size, _("Connected over %s, but not everything passes"), carrier);
		else
			snprintf(out, size, "%s", _("Connected, but not everything passes"));
		return;
	case RPC_STATE_RECONNECTING:
		snprintf(out, size, "%s", _("Connection lost, reconnecting…"));
		return;
	case RPC_STATE_FAILED:
		snprintf(out, size, "%s", _("Could not connect"));
		return;
	}
}

void words_sentence(const struct rpc_tunnel *tunnel, const enum rpc_step *step, char *out, size_t size)
{
	const char *why = "";
	char state[WORDS_LEN];

	words_state(tunnel, step, state, sizeof(state));
	if (tunnel->state != RPC_STATE_DOWN && tunnel->state != RPC_STATE_UP)
		why = words_cause(tunnel->cause);
	if (!why[0] && words_passes(tunnel->state))
		why = words_reason(tunnel->reason, tunnel->carrier);
	if (!why[0])
		snprintf(out, size, "%s", state);
	else if (tunnel->state == RPC_STATE_UP && tunnel->reason == RPC_REASON_CHOSEN)
		snprintf(out, size, "%s, %s", state, why);
	else
		/* Translators: what it does, and why: "Connected over TCP: this network blocks UDP" */
		snprintf(out, size, _("%s: %s"), state, why);
}
