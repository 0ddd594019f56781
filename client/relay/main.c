/* SPDX-License-Identifier: MIT */
/* wgtcp-relay: WireGuard datagrams to records on TCP, and back. */
#include "client/relay/arguments.h"
#include "client/relay/run.h"
#include "core/port/streams.h"

#include <stdio.h>

static const char help[] = RELAY_PROGRAM
	" - makes a WireGuard server reachable by TCP\n"
	"\n"
	"usage: " RELAY_PROGRAM " --listen ADDR:PORT --forward ADDR:PORT --public-key KEY\n"
	"       " RELAY_PROGRAM " --inherited\n"
	"       " RELAY_PROGRAM " --version | --help\n"
	"\n"
	"Takes TCP connections of wgtcp clients and gives their messages to an ordinary\n"
	"WireGuard server by UDP, and the server's to them. Keys and addresses stay as\n"
	"they are, and the relay can read nothing of what passes.\n"
	"\n"
	"  --listen ADDR:PORT   where clients connect by TCP; may be given up to 8 times\n"
	"  --activated          besides --listen, or alone: systemd listens\n"
	"  --forward ADDR:PORT  where the WireGuard server takes UDP\n"
	"  --public-key KEY     the server's public key: `wg show INTERFACE public-key`\n"
	"  --inherited          beside a kernel client: sockets come by descriptor 3\n"
	"\n"
	"In front of a server on this machine:\n"
	"\n"
	"  " RELAY_PROGRAM " --listen 0.0.0.0:443 --listen [::]:443 --forward 127.0.0.1:51820 \\\n"
	"      --public-key \"$(wg show wg0 public-key)\"\n"
	"\n"
	"and in the client's profile, in section [Peer]: TcpEndpoint = SERVER:443\n"
	"It stays in the foreground and ends on SIGTERM or SIGINT.\n";

int main(int argc, char **argv)
{
	struct arguments arguments;
	char error[ARGUMENTS_ERROR_LEN];

	streams_hold();
	if (!arguments_parse(argc, argv, &arguments, error)) {
		fprintf(stderr, RELAY_PROGRAM ": %s\n", error);
		return 2;
	}
	switch (arguments.role) {
	case ROLE_HELP:
		fputs(help, stdout);
		return 0;
	case ROLE_VERSION:
		puts(RELAY_PROGRAM " " WGTCP_VERSION);
		return 0;
	case ROLE_SERVER:
		return relay_run_server(&arguments);
	case ROLE_INHERITED:
		return relay_run_inherited();
	}
	return 1;
}
