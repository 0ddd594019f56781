/* SPDX-License-Identifier: MIT */
/* Called once, by main. */
#include "client/daemon/options.h"

#include <getopt.h>
#include <stdio.h>

static const char help[] =
	"wgtcpd [--foreground] [--socket PATH] [--config-dir DIR] [--state-dir DIR]\n"
	"\n"
	"Manages WGTCP tunnels; wgtcp-cli talks to it.\n"
	"\n"
	"  --socket PATH     listen there (" DEFAULT_SOCKET ")\n"
	"  --config-dir DIR  profiles, NAME.conf (" DEFAULT_CONFIG_FOLDER
	"; and then those in /etc/wireguard too)\n"
	"  --state-dir DIR   what is kept over restarts (" DEFAULT_STATE_FOLDER "); one daemon for each\n"
	"  --foreground      stay; messages go to standard error\n"
	"  --version, --help\n";

bool options_parse(int argc, char **argv, struct options *out, int *code)
{
	enum { SOCKET = 256, CONFIG, STATE, FOREGROUND, VERSION, HELP };
	static const struct option known[] = {
		{ "socket", required_argument, NULL, SOCKET },
		{ "config-dir", required_argument, NULL, CONFIG },
		{ "state-dir", required_argument, NULL, STATE },
		{ "foreground", no_argument, NULL, FOREGROUND },
		{ "version", no_argument, NULL, VERSION },
		{ "help", no_argument, NULL, HELP },
		{ NULL, 0, NULL, 0 },
	};
	struct options options = { DEFAULT_SOCKET, DEFAULT_CONFIG_FOLDER, DEFAULT_STATE_FOLDER, false };
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1)
		switch (option) {
		case SOCKET:
			options.socket = optarg;
			break;
		case CONFIG:
			options.config_folder = optarg;
			break;
		case STATE:
			options.state_folder = optarg;
			break;
		case FOREGROUND:
			options.foreground = true;
			break;
		case VERSION:
			printf("wgtcpd %s\n", WGTCP_VERSION);
			*code = 0;
			return false;
		case HELP:
			fputs(help, stdout);
			*code = 0;
			return false;
		default: /* getopt has said what is wrong */
			fputs("wgtcpd: `wgtcpd --help` shows the options\n", stderr);
			*code = 2;
			return false;
		}
	if (optind < argc) {
		fprintf(stderr, "wgtcpd: '%s' is not an option: `wgtcpd --help` shows them\n", argv[optind]);
		*code = 2;
		return false;
	}
	*out = options;
	return true;
}
