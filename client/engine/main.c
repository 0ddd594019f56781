/* SPDX-License-Identifier: MIT */
/* wgtcp-engine: the engine below wgtcpd (--inherited), or alone as a drop-in for other userspace
 * implementations. */
#include "client/engine/engine.h"
#include "core/crypto/crypto.h"
#include "core/port/standalone.h"
#include "core/port/streams.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM "wgtcp-engine"
#define STATE_DIRECTORY "/var/lib/wgtcp"
#define UAPI_DIRECTORY "/var/run/wireguard"
#define SEAM_HANDLE 3

static const char help[] =
	PROGRAM " - WireGuard in userspace, over UDP and TCP\n"
		"\n"
		"usage: " PROGRAM " [-f|--foreground] IFNAME\n"
		"       " PROGRAM " -f --engine SOCKET IFNAME\n"
		"       " PROGRAM " --inherited | --activated\n"
		"       " PROGRAM " --version | --help\n"
		"\n"
		"Makes the TUN device IFNAME and its socket " UAPI_DIRECTORY "/IFNAME.sock and\n"
		"goes to the background. Configure it with wg(8), or have wg-quick(8) do it:\n"
		"\n"
		"  WG_QUICK_USERSPACE_IMPLEMENTATION=" PROGRAM " wg-quick up NAME\n"
		"\n"
		"  -f, --foreground     stay in the foreground (or set WG_PROCESS_FOREGROUND=1)\n"
		"      --engine SOCKET  do not start the engine's process: the service manager\n"
		"                       does, when SOCKET is connected to\n"
		"      --activated      be that engine: the service manager hands the socket over\n"
		"      --inherited      device and sockets come from wgtcpd by descriptor 3\n"
		"\n"
		"It ends on SIGTERM or SIGINT, and when the device is deleted (ip link delete).\n";

static int run_inherited(void)
{
	int err = engine_run_inherited(SEAM_HANDLE);

	if (err)
		fprintf(stderr, PROGRAM ": the engine stopped: %s.\n", strerror(-err));
	return err ? 1 : 0;
}

/* With the implementation that seals packets on this machine. */
static int print_version(void)
{
	if (!crypto_init()) {
		fputs(PROGRAM ": the self-test of the crypto libraries failed.\n", stderr);
		return 1;
	}
	printf(PROGRAM " " WGTCP_VERSION "\nChaCha20-Poly1305 by %s\n", crypto_aead_name());
	return 0;
}

int main(int argc, char **argv)
{
	const char *environment = getenv("WG_PROCESS_FOREGROUND");
	struct standalone_settings settings = { .program = PROGRAM,
		.uapi_directory = UAPI_DIRECTORY,
		.state_directory = STATE_DIRECTORY,
		.foreground = environment && strcmp(environment, "1") == 0,
		.engine = engine_run_inherited };

	streams_hold();
	if (argc == 2 && strcmp(argv[1], "--inherited") == 0)
		return run_inherited();
	if (argc == 2 && strcmp(argv[1], "--activated") == 0)
		return standalone_serve(PROGRAM, engine_run_inherited);
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
			fputs(help, stdout);
			return 0;
		}
		if (strcmp(argv[i], "--version") == 0) {
			return print_version();
		}
		if (strcmp(argv[i], "-f") == 0 || strcmp(argv[i], "--foreground") == 0) {
			settings.foreground = true;
		} else if (strcmp(argv[i], "--engine") == 0 && i + 1 < argc) {
			settings.engine_socket = argv[++i];
		} else if (argv[i][0] == '-' || settings.interface) {
			fprintf(stderr, PROGRAM ": \"%s\" is not understood here; see " PROGRAM " --help.\n",
				argv[i]);
			return 2;
		} else {
			settings.interface = argv[i];
		}
	}
	if (!settings.interface) {
		fputs(PROGRAM ": the name of an interface is missing; see " PROGRAM " --help.\n", stderr);
		return 2;
	}
	return standalone_run(&settings);
}
