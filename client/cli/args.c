/* SPDX-License-Identifier: MIT */
#include "client/cli/args.h"

#include "client/cli/suggest.h"
#include "core/base/text.h"

#include <stdio.h>
#include <string.h>

#define RATE_MIN 1000u
#define RATE_MAX 100000000000u

const struct option_text option_texts[OPTION_COUNT] = {
	[OPTION_HELP] = { 'h', "help", NULL, "shows this" },
	[OPTION_VERSION] = { 'V', "version", NULL, "says which version this is" },
	[OPTION_JSON] = { 0, "json", NULL, "writes the result as JSON (client/rpc/protocol.md)" },
	[OPTION_SOCKET] = { 0, "socket", "PATH", "where wgtcpd listens" },
	[OPTION_TRANSPORT] = { 't', "transport", "T", "auto, udp or tcp; for this run, whatever is set" },
	[OPTION_BACKEND] = { 0, "backend", "B", "auto, kernel or userspace; for this run" },
	[OPTION_TIMEOUT] = { 0, "timeout", "S", "gives up after so many seconds (1 to 3600)" },
	[OPTION_PEER] = { 0, "peer", "KEY", "only the peer with this public key" },
	[OPTION_WATCH] = { 'w', "watch", NULL, "goes on and shows changes as they come" },
	[OPTION_NAME] = { 0, "name", "N", "the tunnel's name, instead of one made from the file's" },
	[OPTION_REPLACE] = { 0, "replace", NULL, "over a tunnel that has this name already" },
	[OPTION_QR] = { 0, "qr", NULL, "as a QR code, for a telephone's camera" },
	[OPTION_HIDE_KEYS] = { 0, "hide-keys", NULL,
		"with \"(hidden)\" instead of private and preshared keys" },
	[OPTION_LINES] = { 'n', "lines", "N", "the newest N entries (1 to 10000)" },
	[OPTION_FOLLOW] = { 'f', "follow", NULL, "goes on with new entries as they come" },
	[OPTION_FROM] = { 0, "from", "WHOSE", "all that wg-quick or networkmanager has" },
	[OPTION_ENDPOINT] = { 0, "endpoint", "HOST",
		"the name or address by which clients reach this machine" },
	[OPTION_PORT] = { 0, "port", "N", "for UDP and TCP (443)" },
	[OPTION_OUTPUT] = { 'o', "output", "FILE", "where the client's profile goes; - standard output" },
	[OPTION_FOR] = { 0, "for", "TIME", "only for so long: 90s, 5m, 2h (1d at most)" },
	[OPTION_UDP] = { 'u', "udp", NULL, "datagrams inside, for loss and jitter at a rate" },
	[OPTION_RATE] = { 'b', "rate", "R", "with --udp: bits a second, as 800k or 20M (10M)" },
	[OPTION_STREAMS] = { 'P', "streams", "N", "connections side by side (1 to 32; default 1)" },
	[OPTION_DURATION] = { 'd', "duration", "S", "seconds for each measurement (1 to 300; default 5)" },
};

static bool refuse(struct args_error *error, const char *what, const char *typed, const char *nearest)
{
	if (nearest)
		snprintf(error->text, sizeof(error->text), "'%.60s' is not %s; did you mean '%.60s'?", typed,
			what, nearest);
	else
		snprintf(error->text, sizeof(error->text), "'%.60s' is not %s", typed, what);
	return false;
}

static bool refuse_unknown(struct args_error *error, const char *typed)
{
	struct suggestion suggestion;
	char name[60], nearest[40];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(typed, "="), typed);
	suggestion_start(&suggestion, name + strspn(name, "-"));
	for (int i = 0; i < OPTION_COUNT; i++)
		suggestion_offer(&suggestion, option_texts[i].name);
	if (suggestion.nearest)
		snprintf(nearest, sizeof(nearest), "--%s", suggestion.nearest);
	return refuse(error, "an option", name, suggestion.nearest ? nearest : NULL);
}

/* One option at argv[*i], which starts with '-'. */
static bool take_option(int argc, char *const argv[], int *i, struct args *args, struct args_error *error)
{
	const char *text = argv[*i], *value = NULL;
	bool is_long = text[1] == '-';
	size_t len = is_long ? strcspn(text + 2, "=") : 1;

	for (int option = 0; option < OPTION_COUNT; option++) {
		const struct option_text *known = &option_texts[option];

		if (is_long ? !text_equal(text + 2, len, known->name)
			    : !known->letter || known->letter != text[1])
			continue;
		if (is_long && text[2 + len])
			value = text + 2 + len + 1;
		else if (!is_long && text[2])
			value = text + 2;
		if (!known->value && value) {
			snprintf(error->text, sizeof(error->text), "--%s takes no value", known->name);
			return false;
		}
		if (known->value && !value) {
			if (*i + 1 >= argc) {
				snprintf(error->text, sizeof(error->text), "--%s needs a value: --%s %s",
					known->name, known->name, known->value);
				return false;
			}
			value = argv[++*i];
		}
		args->values[option] = known->value ? value : "";
		return true;
	}
	return refuse_unknown(error, text);
}

bool args_parse(int argc, char *const argv[], struct args *out, struct args_error *error)
{
	struct args args = { 0 };
	bool only_words = false;

	for (int i = 1; i < argc; i++) {
		if (!only_words && !strcmp(argv[i], "--")) {
			only_words = true;
		} else if (!only_words && argv[i][0] == '-' && argv[i][1]) {
			if (!take_option(argc, argv, &i, &args, error))
				return false;
		} else if (args.word_count == ARGS_WORDS_MAX) {
			snprintf(error->text, sizeof(error->text), "more than %d words are too many",
				ARGS_WORDS_MAX);
			return false;
		} else {
			args.words[args.word_count++] = argv[i];
		}
	}
	*out = args;
	return true;
}

bool args_check(const struct args *args, uint32_t allowed, struct args_error *error)
{
	for (int option = 0; option < OPTION_COUNT; option++) {
		if (args->values[option] && !(allowed & OPTION_BIT(option))) {
			snprintf(error->text, sizeof(error->text), "it takes no --%s",
				option_texts[option].name);
			return false;
		}
	}
	return true;
}

bool args_number(const struct args *args, enum option option, uint32_t min, uint32_t max, uint32_t *out,
	struct args_error *error)
{
	const char *text = args->values[option];
	uint64_t number;

	if (!text)
		return true;
	if (!text_parse_decimal(text, strlen(text), min, max, &number)) {
		snprintf(error->text, sizeof(error->text),
			"--%s must be a whole number from %u to %u, not '%.40s'", option_texts[option].name,
			min, max, text);
		return false;
	}
	*out = (uint32_t)number;
	return true;
}

bool args_duration(
	const struct args *args, enum option option, uint32_t max_s, uint32_t *out, struct args_error *error)
{
	static const struct {
		char letter;
		uint32_t seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 } };
	const char *text = args->values[option];
	size_t len = text ? strlen(text) : 0;
	uint32_t unit = 1;
	uint64_t number;

	if (!text)
		return true;
	for (size_t i = 0; len && i < sizeof(units) / sizeof(units[0]); i++) {
		if (text[len - 1] == units[i].letter) {
			unit = units[i].seconds;
			len--;
			break;
		}
	}
	if (!text_parse_decimal(text, len, 1, max_s / unit, &number)) {
		snprintf(error->text, sizeof(error->text),
			"--%s takes a time such as 90s, 5m or 2h, 1d at most, not '%.40s'",
			option_texts[option].name, text);
		return false;
	}
	*out = (uint32_t)number * unit;
	return true;
}

bool args_rate(const struct args *args, enum option option, uint64_t *out, struct args_error *error)
{
	static const struct {
		char letters[3];
		uint64_t bits;
	} units[] = { { "kK", 1000 }, { "mM", 1000000 }, { "gG", 1000000000 } };
	const char *text = args->values[option];
	size_t len = text ? strlen(text) : 0;
	uint64_t unit = 1, number;

	if (!text)
		return true;
	for (size_t i = 0; len && i < sizeof(units) / sizeof(units[0]); i++) {
		if (strchr(units[i].letters, text[len - 1])) {
			unit = units[i].bits;
			len--;
			break;
		}
	}
	if (!text_parse_decimal(text, len, 1, RATE_MAX / unit, &number) || number * unit < RATE_MIN) {
		snprintf(error->text, sizeof(error->text),
			"--%s takes bits a second such as 800k, 20M or 1G (1k to 100G), not '%.40s'",
			option_texts[option].name, text);
		return false;
	}
	*out = number * unit;
	return true;
}

bool args_word(
	const char *text, const char *what, const char *const words[], int *out, struct args_error *error)
{
	size_t len;

	for (int i = 0; words[i]; i++) {
		if (text_equal_nocase(text, strlen(text), words[i])) {
			*out = i;
			return true;
		}
	}
	len = (size_t)snprintf(error->text, sizeof(error->text), "the %s must be", what);
	for (int i = 0; words[i] && len < sizeof(error->text); i++) {
		const char *joint = !i ? "" : words[i + 1] ? "," : " or";

		len += (size_t)snprintf(
			error->text + len, sizeof(error->text) - len, "%s %s", joint, words[i]);
	}
	if (len < sizeof(error->text))
		snprintf(error->text + len, sizeof(error->text) - len, ", not '%.40s'", text);
	return false;
}
