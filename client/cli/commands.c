/* SPDX-License-Identifier: MIT */
/* The table of subcommands. A new one is a line here and a run function. */
#include "client/cli/cli.h"

const struct command commands[] = {
	{ "up", "NAME", "brings a tunnel up",
		"Tries UDP first, and TCP where UDP is blocked, unless the profile or\n"
		"--transport says otherwise, and says which one it is. As root it starts the\n"
		"daemon if none runs. Ctrl-C takes back what it began.",
		OPTION_BIT(OPTION_TRANSPORT) | OPTION_BIT(OPTION_BACKEND) | OPTION_BIT(OPTION_TIMEOUT), 1, 1,
		run_up },
	{ "down", "NAME", "takes a tunnel down", "A tunnel that is down already is no error.", 0, 1, 1,
		run_down },
	{ "switch", "NAME udp|tcp|auto", "moves a living tunnel to another carrier",
		"Connections inside the tunnel go on. The choice holds until the next `up`;\n"
		"auto gives it back and tries UDP at once.",
		OPTION_BIT(OPTION_PEER), 2, 2, run_switch },
	{ "status", "[NAME]", "shows what tunnels are doing",
		"With NAME the exit code is 3 when it is not up. --json is a contract for\n"
		"programs (client/rpc/protocol.md).",
		OPTION_BIT(OPTION_WATCH), 0, 1, run_status },
	{ "list", "", "lists all profiles", "", 0, 0, 0, run_list },
	{ "import", "FILE", "adds a profile in wg-quick's format",
		"FILE may be - for standard input. --from wg-quick and --from networkmanager take\n"
		"all that those have, and change nothing there. No tunnel connects by itself\n"
		"unless its profile says so.",
		OPTION_BIT(OPTION_NAME) | OPTION_BIT(OPTION_REPLACE) | OPTION_BIT(OPTION_FROM), 0, 1,
		run_import },
	{ "export", "NAME", "writes a profile to standard output",
		"With its keys, for those who may read them.",
		OPTION_BIT(OPTION_QR) | OPTION_BIT(OPTION_HIDE_KEYS), 1, 1, run_export },
	{ "delete", "NAME", "removes a profile", "Not while its tunnel is up.", 0, 1, 1, run_delete },
	{ "set", "NAME KEY=VALUE...", "changes a profile",
		"KEY as in the profile's [Interface], or with --peer in that [Peer]; KEY=\n"
		"takes the key away. All are set, or none. Comments and other lines stay.",
		OPTION_BIT(OPTION_PEER), 2, ARGS_WORDS_MAX - 1, run_set },
	{ "doctor", "[NAME]", "says what works here and what does not",
		"In less than 10 s, each line with a verdict and a cure. With NAME it tries a\n"
		"handshake with the tunnel's server by UDP and by TCP, without bringing the\n"
		"tunnel up; the exit code is what `up` would end with.",
		0, 0, 1, run_doctor },
	{ "speedtest", "NAME", "says how fast it is, and how it answers meanwhile",
		"Measures down, up and both at once with iperf3, against the peer's address\n"
		"inside the tunnel: SpeedTestServer = on in its profile, or `iperf3 -s` there.\n"
		"--transport udp, tcp or both: over that carrier; both takes them in turns and\n"
		"says which suits better. The carrier is put back when the test ends.",
		OPTION_BIT(OPTION_TRANSPORT) | OPTION_BIT(OPTION_UDP) | OPTION_BIT(OPTION_RATE) |
			OPTION_BIT(OPTION_STREAMS) | OPTION_BIT(OPTION_DURATION) | OPTION_BIT(OPTION_PEER),
		1, 1, run_speedtest },
	{ "unlock", "", "ends the kill switch",
		"Whichever tunnel holds it and whatever the daemon does, also when none runs\n"
		"(as root). With --for everything may pass for a while, so that you can log in\n"
		"to a captive portal; `status` shows it, and it closes by itself.",
		OPTION_BIT(OPTION_FOR), 0, 0, run_unlock },
	{ "logs", "", "shows what the daemon has to say", "",
		OPTION_BIT(OPTION_LINES) | OPTION_BIT(OPTION_FOLLOW), 0, 0, run_logs },
	{ "server", "init|add [CLIENT]", "makes a server, and profiles for its clients",
		"init makes keys, a server's profile and a first client's (CLIENT, or \"client\")\n"
		"as a file and a QR code; add makes one for a further client. Both as root, and\n"
		"nothing else on this machine changes.",
		OPTION_BIT(OPTION_ENDPOINT) | OPTION_BIT(OPTION_PORT) | OPTION_BIT(OPTION_NAME) |
			OPTION_BIT(OPTION_OUTPUT),
		1, 2, run_server },
	{ "genkey", "", "makes a private key", "", 0, 0, 0, run_genkey },
	{ "pubkey", "", "turns a private key into its public key", "", 0, 0, 0, run_pubkey },
	{ "genpsk", "", "makes a preshared key", "", 0, 0, 0, run_genpsk },
	{ "version", "", "shows the version", "", 0, 0, 0, run_version },
	{ "help", "[COMMAND]", "explains a command", "", 0, 0, 1, run_help },
	{ 0 },
};
