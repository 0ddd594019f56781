/* SPDX-License-Identifier: MIT */
/* What a person probably meant. Pure. */
#ifndef WGTCP_CLIENT_CLI_SUGGEST_H
#define WGTCP_CLIENT_CLI_SUGGEST_H

#include <stddef.h>

/* Keeps the nearest of the words that it is shown. */
struct suggestion {
	const char *typed;
	const char *nearest; /* NULL: none is near enough to be named */
	size_t distance;
};

void suggestion_start(struct suggestion *suggestion, const char *typed);
void suggestion_offer(struct suggestion *suggestion, const char *word);

#endif
