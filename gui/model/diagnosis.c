/* SPDX-License-Identifier: MIT */
/* Used by gui/window/why_view.c; any thread. */
#include "gui/model/diagnosis.h"

#include "gui/model/translate.h"
#include "gui/model/words.h"

#include <stdio.h>
#include <string.h>

const char *diagnosis_title(enum rpc_check_kind check)
{
	switch (check) {
	case RPC_CHECK_TUNNEL:
		return _("Tunnel");
	case RPC_CHECK_LINK:
		return _("Network");
	case RPC_CHECK_ROUTE:
		return _("Way to the server");
	case RPC_CHECK_IPV4:
		return "IPv4";
	case RPC_CHECK_IPV6:
		return "IPv6";
	case RPC_CHECK_DNS:
		return _("Look-up of names");
	case RPC_CHECK_CAPTIVE_PORTAL:
		return _("Login page of the network");
	case RPC_CHECK_UDP:
		return "UDP";
	case RPC_CHECK_TCP:
		return "TCP";
	case RPC_CHECK_HANDSHAKE:
		return _("Handshake");
	case RPC_CHECK_MTU:
		return _("Large packets");
	case RPC_CHECK_CLOCK:
		return _("Clock");
	case RPC_CHECK_KERNEL:
		return _("Kernel");
	case RPC_CHECK_LEFTOVERS:
		return _("Leftovers");
	case RPC_CHECK_KILL_SWITCH:
		return _("Kill switch");
	}
	return "";
}

const char *diagnosis_verdict(enum rpc_verdict verdict)
{
	switch (verdict) {
	case RPC_VERDICT_OK:
		return _("right");
	case RPC_VERDICT_WARNING:
		return _("to be watched");
	case RPC_VERDICT_BAD:
		return _("wrong");
	case RPC_VERDICT_UNKNOWN:
		return _("not known");
	}
	return "";
}

const char *diagnosis_step(enum rpc_step step)
{
	switch (step) {
	case RPC_STEP_STARTING:
	case RPC_STEP_WAITING_FOR_NETWORK:
		return _("Looking at this computer and its network…");
	case RPC_STEP_RESOLVING:
		return _("Looking up the server…");
	case RPC_STEP_TRYING_UDP:
		return _("Asking the server by UDP…");
	case RPC_STEP_TRYING_TCP:
		return _("Asking the server by TCP…");
	case RPC_STEP_VERIFYING:
		return _("Checking that data passes…");
	}
	return "";
}

void diagnosis_text(const struct rpc_check *check, char *out, size_t size)
{
	char text[RPC_SENTENCE_LEN], cure[RPC_SENTENCE_LEN];

	snprintf(text, sizeof(text), "%s", check->text);
	snprintf(cure, sizeof(cure), "%s", check->cure);
	/* After a subject the sentence goes on, and "eth0: connected" begins with a name. */
	if (!check->subject[0] && text[strcspn(text, " :")] != ':')
		words_capitalize(text, "");
	words_capitalize(cure, "");
	snprintf(out, size, "%s%s%s%s%s", check->subject, check->subject[0] ? ": " : "", text,
		cure[0] ? "\n→ " : "", cure);
}
