/* SPDX-License-Identifier: MIT */
/* The command line as options and words. Pure. */
#ifndef WGTCP_CLIENT_CLI_ARGS_H
#define WGTCP_CLIENT_CLI_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option {
	OPTION_HELP,
	OPTION_VERSION,
	OPTION_JSON,
	OPTION_SOCKET,
	OPTION_TRANSPORT,
	OPTION_BACKEND,
	OPTION_TIMEOUT,
	OPTION_PEER,
	OPTION_WATCH,
	OPTION_NAME,
	OPTION_REPLACE,
	OPTION_QR,
	OPTION_HIDE_KEYS,
	OPTION_LINES,
	OPTION_FOLLOW,
	OPTION_FOR,
	OPTION_FROM,
	OPTION_ENDPOINT,
	OPTION_PORT,
	OPTION_OUTPUT,
	OPTION_UDP,
	OPTION_RATE,
	OPTION_STREAMS,
	OPTION_DURATION,
	OPTION_COUNT
};

#define OPTION_BIT(option) (1u << (option))
/* What every command takes. */
#define OPTIONS_ALWAYS (OPTION_BIT(OPTION_HELP) | OPTION_BIT(OPTION_JSON) | OPTION_BIT(OPTION_SOCKET))

struct option_text {
	char letter;       /* 0: has none */
	const char *name;  /* without its dashes */
	const char *value; /* what stands for the value in help; NULL: takes none */
	const char *help;
};

extern const struct option_text option_texts[OPTION_COUNT];

#define ARGS_WORDS_MAX 32

struct args {
	const char *values[OPTION_COUNT]; /* NULL: not given; "" for one that takes no value */
	const char *words[ARGS_WORDS_MAX];
	size_t word_count;
};

struct args_error {
	char text[320]; /* a sentence without the name of the program, without a full stop */
};

/* Options may stand anywhere, "--" ends them; "--name value", "--name=value", "-n value", "-nvalue". The
 * result points into argv. */
bool args_parse(int argc, char *const argv[], struct args *out, struct args_error *error);
/* False when an option outside of `allowed` (bits) was given. */
bool args_check(const struct args *args, uint32_t allowed, struct args_error *error);
/* A whole number of an option, from min to max; *out stays as it is when the option was not given. */
bool args_number(const struct args *args, enum option option, uint32_t min, uint32_t max, uint32_t *out,
	struct args_error *error);
/* A time of an option as "90s", "5m", "2h" or "1d" (a number alone is seconds) in seconds, from 1 to max_s;
 * *out stays as it is when the option was not given. */
bool args_duration(
	const struct args *args, enum option option, uint32_t max_s, uint32_t *out, struct args_error *error);
/* A rate of an option as "800k", "20M" or "1G" (a number alone is bits a second), from 1k to 100G; *out stays as it is
 * when the option was not given. */
bool args_rate(const struct args *args, enum option option, uint64_t *out, struct args_error *error);
/* One of words (ended by NULL) as its index. False with an error when it is none of them. */
bool args_word(
	const char *text, const char *what, const char *const words[], int *out, struct args_error *error);

#endif
