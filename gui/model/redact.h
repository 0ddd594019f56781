/* SPDX-License-Identifier: MIT */
/* Text that a person may show to strangers: keys, addresses, names of hosts and of tunnels are replaced, each
 * always by the same word, so that who reads it can still tell them apart. Pure. */
#ifndef WGTCP_GUI_MODEL_REDACT_H
#define WGTCP_GUI_MODEL_REDACT_H

#include <stdbool.h>
#include <stddef.h>

#define REDACT_SEEN_MAX 256
#define REDACT_WORD_LEN 128

/* Output that grows; text is NUL-terminated once something was added. */
struct redact_text {
	char *text;
	size_t len, room;
	bool failed; /* memory was short: text ends early */
};

enum redact_kind { REDACT_KEY, REDACT_ADDRESS, REDACT_HOST, REDACT_TUNNEL };

/* All zero: nothing seen yet. */
struct redactor {
	struct {
		enum redact_kind kind;
		char word[REDACT_WORD_LEN];
	} seen[REDACT_SEEN_MAX];
	size_t seen_count;
};

void redact_text_add(struct redact_text *out, const char *bytes, size_t len);
void redact_text_free(struct redact_text *out);

/* Names to be replaced as "tunnel-1" and so on, before redact. */
void redact_tunnel(struct redactor *redactor, const char *name);
/* Adds text of len bytes to out, redacted. */
void redact(struct redactor *redactor, const char *text, size_t len, struct redact_text *out);

#endif
