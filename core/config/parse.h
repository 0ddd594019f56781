/* SPDX-License-Identifier: MIT */
/* Profile text to struct profile. */
#ifndef WGTCP_CORE_CONFIG_PARSE_H
#define WGTCP_CORE_CONFIG_PARSE_H

#include "core/config/profile.h"

#define PROFILE_SENTENCE_LEN 320
#define PROFILE_WARNINGS_MAX 16

/* What is wrong, and what to do about it. Never holds a secret. */
struct profile_error {
	const char *file_name; /* as given to the parser, borrowed */
	unsigned line, column; /* from 1; column in bytes */
	char sentence[PROFILE_SENTENCE_LEN];
};

enum profile_warning_kind {
	PROFILE_WARN_IPV6_LEAK,   /* all IPv4 goes through the tunnel, IPv6 past it */
	PROFILE_WARN_DNS_OUTSIDE, /* a DNS server that no peer's AllowedIPs holds */
	PROFILE_WARN_SAME_PREFIX, /* two peers hold the same prefix */
	PROFILE_WARN_HOOKS,       /* PreUp and the like are never run */
	PROFILE_WARN_SAVE_CONFIG, /* SaveConfig has no effect */
	PROFILE_WARN_NO_PEER,     /* nobody to talk to */
	PROFILE_WARN_NO_ENDPOINT, /* we cannot call, and nobody can call us */
};

struct profile_warning {
	enum profile_warning_kind kind;
	unsigned line;
	char sentence[PROFILE_SENTENCE_LEN];
};

struct profile_warnings {
	size_t count;
	size_t left_off; /* found, but no room */
	struct profile_warning items[PROFILE_WARNINGS_MAX];
};

/* Parses len bytes. On success out (freed by the caller with profile_free) and warnings are written, on
 * failure only error. warnings may be NULL. The caller prints "file:line: sentence". */
bool profile_parse(const char *file_name, const char *text, size_t len, struct profile *out,
	struct profile_error *error, struct profile_warnings *warnings);

#endif
