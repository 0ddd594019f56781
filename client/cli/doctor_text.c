/* SPDX-License-Identifier: MIT */
/* Verdict, what was looked at, and what was found, in three columns; the last one is wrapped at the
 * terminal's width. */
#include "client/cli/doctor_text.h"

#include <string.h>

#define VERDICT_COLUMNS 9
#define FOUND_COLUMN 25

static const char *label_of(enum rpc_check_kind check)
{
	switch (check) {
	case RPC_CHECK_TUNNEL:
		return "tunnel";
	case RPC_CHECK_LINK:
		return "link";
	case RPC_CHECK_ROUTE:
		return "route";
	case RPC_CHECK_IPV4:
		return "IPv4";
	case RPC_CHECK_IPV6:
		return "IPv6";
	case RPC_CHECK_DNS:
		return "DNS";
	case RPC_CHECK_CAPTIVE_PORTAL:
		return "captive portal";
	case RPC_CHECK_UDP:
		return "UDP";
	case RPC_CHECK_TCP:
		return "TCP";
	case RPC_CHECK_HANDSHAKE:
		return "handshake";
	case RPC_CHECK_MTU:
		return "large packets";
	case RPC_CHECK_CLOCK:
		return "clock";
	case RPC_CHECK_KERNEL:
		return "kernel";
	case RPC_CHECK_LEFTOVERS:
		return "leftovers";
	case RPC_CHECK_KILL_SWITCH:
		return "kill switch";
	}
	return "";
}

static const char *colour_of(enum rpc_verdict verdict)
{
	switch (verdict) {
	case RPC_VERDICT_OK:
		return "\033[32m";
	case RPC_VERDICT_WARNING:
		return "\033[33m";
	case RPC_VERDICT_BAD:
		return "\033[31m";
	case RPC_VERDICT_UNKNOWN:
		break;
	}
	return "";
}

/* Takes text. */
static void add_wrapped(struct text *out, struct text *text, const struct status_style *style)
{
	/* A narrow terminal has no room for columns. */
	size_t indent = style->width && style->width < 2 * FOUND_COLUMN ? 4 : FOUND_COLUMN;

	text_add_wrapped(out, text->bytes ? text->bytes : "", FOUND_COLUMN, indent, style->width);
	text_addf(out, "\n");
	text_free(text);
}

static void add_check(const struct rpc_check *check, const struct status_style *style, struct text *out)
{
	const char *colour = style->colour ? colour_of(check->verdict) : "";
	const char *word = rpc_verdict_words[check->verdict];
	struct text found = { 0 };

	text_addf(out, "%s%s%s%*s", colour, word, colour[0] ? "\033[0m" : "",
		(int)(VERDICT_COLUMNS - strlen(word)), "");
	text_addf(out, "%-*s", FOUND_COLUMN - VERDICT_COLUMNS, label_of(check->check));
	if (check->subject[0]) {
		text_add_clean(&found, check->subject);
		text_addf(&found, ": ");
	}
	text_add_clean(&found, check->text);
	add_wrapped(out, &found, style);
	if (!check->cure[0])
		return;
	text_addf(out, "%*s", FOUND_COLUMN, "");
	text_addf(&found, "cure: ");
	text_add_clean(&found, check->cure);
	add_wrapped(out, &found, style);
}

void doctor_text(const struct rpc_diagnosis *diagnosis, const struct status_style *style, struct text *out)
{
	struct text sum = { 0 };

	for (size_t i = 0; i < diagnosis->check_count; i++)
		add_check(&diagnosis->checks[i], style, out);
	text_add_clean(&sum, diagnosis->summary);
	text_addf(&sum, ".");
	if (sum.bytes && sum.bytes[0] >= 'a' && sum.bytes[0] <= 'z' && !diagnosis->name[0])
		sum.bytes[0] = (char)(sum.bytes[0] - 'a' + 'A');
	text_addf(out, "\n");
	text_add_wrapped(out, sum.bytes ? sum.bytes : "", 0, 0, style->width);
	text_addf(out, "\n");
	text_free(&sum);
}
