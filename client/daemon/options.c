/* SPDX-License-Identifier: MIT */
/* Called once, by main. */
#include "client/daemon/options.h"

#include "client/daemon/lockdown.h"
#include "core/base/text.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
	"wgtcpd [--foreground] [--socket PATH] [--config-dir DIR] [--state-dir DIR]\n"
	"\n"
	"Manages WGTCP tunnels; wgtcp-cli talks to it.\n"
	"\n"
	"  --socket PATH     listen there (" DEFAULT_SOCKET ")\n"
	"  --config-dir DIR  profiles, NAME.conf (" DEFAULT_CONFIG_FOLDER ", and /etc/wireguard then)\n"
	"  --state-dir DIR   what outlives it (" DEFAULT_STATE_FOLDER "); one daemon for each\n"
	"  --foreground      stay; messages go to standard error\n"
	"\n"
	"and ends at once, where no daemon runs:\n"
	"\n"
	"  --restore-killswitch  puts the kill switch in place as it was when the machine\n"
	"                        went down, and that of profiles which connect by\n"
	"                        themselves; for the start of the machine\n"
	"  --unlock [--for S]    ends the kill switch, or opens it for S seconds\n"
	"\n"
	"  --version, --help\n";

bool options_parse(int argc, char **argv, struct options *out, int *code)
{
	enum { SOCKET = 256, CONFIG, STATE, FOREGROUND, RESTORE, UNLOCK, FOR, VERSION, HELP };
	static const struct option known[] = {
		{ "socket", required_argument, NULL, SOCKET },
		{ "config-dir", required_argument, NULL, CONFIG },
		{ "state-dir", required_argument, NULL, STATE },
		{ "foreground", no_argument, NULL, FOREGROUND },
		{ "restore-killswitch", no_argument, NULL, RESTORE },
		{ "unlock", no_argument, NULL, UNLOCK },
		{ "for", required_argument, NULL, FOR },
		{ "version", no_argument, NULL, VERSION },
		{ "help", no_argument, NULL, HELP },
		{ NULL, 0, NULL, 0 },
	};
	struct options options = { .socket = DEFAULT_SOCKET,
		.config_folder = DEFAULT_CONFIG_FOLDER,
		.state_folder = DEFAULT_STATE_FOLDER };
	uint64_t seconds;
	int option;

	while ((option = getopt_long(argc, argv, "hV", known, NULL)) != -1)
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
		case RESTORE:
			options.task = OPTIONS_RESTORE;
			break;
		case UNLOCK:
			options.task = OPTIONS_UNLOCK;
			break;
		case FOR:
			if (!text_parse_decimal(optarg, strlen(optarg), 1, LOCKDOWN_OPEN_MAX_S, &seconds)) {
				fprintf(stderr, "wgtcpd: --for takes 1 to %d seconds, not '%s'\n",
					LOCKDOWN_OPEN_MAX_S, optarg);
				*code = 2;
				return false;
			}
			options.for_s = (uint32_t)seconds;
			break;
		case VERSION:
		case 'V':
			printf("wgtcpd %s\n", WGTCP_VERSION);
			*code = 0;
			return false;
		case HELP:
		case 'h':
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
	if (options.for_s && options.task != OPTIONS_UNLOCK) {
		fputs("wgtcpd: --for goes with --unlock\n", stderr);
		*code = 2;
		return false;
	}
	*out = options;
	return true;
}
