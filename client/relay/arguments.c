/* SPDX-License-Identifier: MIT */
/* Called by main. Options stand as "--name value" or "--name=value". */
#include "client/relay/arguments.h"

#include "core/crypto/crypto.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum option {
	OPTION_LISTEN,
	OPTION_ACTIVATED,
	OPTION_FORWARD,
	OPTION_KEY,
	OPTION_INHERITED,
	OPTION_HELP,
	OPTION_VERSION
};

static const struct {
	const char *name;
	enum option option;
	bool has_value;
} options[] = {
	{ "--listen", OPTION_LISTEN, true },
	{ "--activated", OPTION_ACTIVATED, false },
	{ "--forward", OPTION_FORWARD, true },
	{ "--public-key", OPTION_KEY, true },
	{ "--inherited", OPTION_INHERITED, false },
	{ "--help", OPTION_HELP, false },
	{ "-h", OPTION_HELP, false },
	{ "--version", OPTION_VERSION, false },
};
#define OPTIONS (sizeof(options) / sizeof(options[0]))

__attribute__((format(printf, 2, 3))) static bool complain(
	char error[ARGUMENTS_ERROR_LEN], const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(error, ARGUMENTS_ERROR_LEN, format, list);
	va_end(list);
	return false;
}

/* The option's number, OPTIONS if there is none of that name; *value is what stands behind "=", or NULL. */
static size_t find(const char *word, const char **value)
{
	const char *equals = strchr(word, '=');
	size_t len = equals ? (size_t)(equals - word) : strlen(word);
	size_t i = 0;

	while (i < OPTIONS && (strlen(options[i].name) != len || strncmp(options[i].name, word, len) != 0))
		i++;
	*value = equals ? equals + 1 : NULL;
	return i;
}

static bool take_endpoint(const char *name, const char *text, struct endpoint *out, char *error)
{
	if (endpoint_parse(text, strlen(text), out))
		return true;
	return complain(error,
		"\"%.60s\" is not an address and port for %s; write it as 192.0.2.1:443 or [2001:db8::1]:443 "
		"(names are not looked up here).",
		text, name);
}

static bool take_key(const char *text, struct arguments *arguments, char *error)
{
	if (key_parse(text, strlen(text), arguments->public_key))
		return true;
	return complain(error, "--public-key is not a WireGuard key; give the 44 characters that `wg show "
			       "INTERFACE public-key` "
			       "prints on the server.");
}

static bool is_zero(const uint8_t key[32])
{
	static const uint8_t zero[32];

	return memcmp(key, zero, sizeof(zero)) == 0;
}

static bool check_server(const struct arguments *arguments, char *error)
{
	if (!arguments->listen_count && !arguments->activated)
		return complain(error, "--listen ADDR:PORT is missing: where clients connect by TCP.");
	if (!endpoint_is_set(&arguments->forward))
		return complain(
			error, "--forward ADDR:PORT is missing: where the WireGuard server takes UDP.");
	if (is_zero(arguments->public_key))
		return complain(
			error, "--public-key KEY is missing: the public key of the WireGuard server.");
	return true;
}

bool arguments_parse(int argc, char *const *argv, struct arguments *out, char error[ARGUMENTS_ERROR_LEN])
{
	struct arguments arguments = { .role = ROLE_SERVER };
	bool inherited = false, server = false;

	for (int i = 1; i < argc; i++) {
		const char *value;
		size_t found = find(argv[i], &value);

		if (found == OPTIONS)
			return complain(
				error, "\"%.60s\" is not understood here; see wgtcp-relay --help.", argv[i]);
		if (options[found].has_value && !value && i + 1 < argc)
			value = argv[++i];
		if (options[found].has_value != (value != NULL))
			return complain(error, "%s %s; see wgtcp-relay --help.", options[found].name,
				options[found].has_value ? "needs a value behind it" : "takes no value");
		switch (options[found].option) {
		case OPTION_LISTEN:
			if (arguments.listen_count == RELAY_LISTENERS_MAX)
				return complain(error,
					"More than %d times --listen; use an address that covers several.",
					RELAY_LISTENERS_MAX);
			if (!take_endpoint(
				    "--listen", value, &arguments.listen[arguments.listen_count++], error))
				return false;
			server = true;
			break;
		case OPTION_ACTIVATED:
			arguments.activated = true;
			server = true;
			break;
		case OPTION_FORWARD:
			if (!take_endpoint("--forward", value, &arguments.forward, error))
				return false;
			server = true;
			break;
		case OPTION_KEY:
			if (!take_key(value, &arguments, error))
				return false;
			server = true;
			break;
		case OPTION_INHERITED:
			inherited = true;
			break;
		case OPTION_HELP:
		case OPTION_VERSION:
			*out = (struct arguments){
				.role = options[found].option == OPTION_HELP ? ROLE_HELP : ROLE_VERSION
			};
			return true;
		}
	}
	if (inherited && server)
		return complain(
			error, "--inherited takes everything from wgtcpd; leave the other options out.");
	if (!inherited && !check_server(&arguments, error))
		return false;
	arguments.role = inherited ? ROLE_INHERITED : ROLE_SERVER;
	*out = arguments;
	return true;
}
