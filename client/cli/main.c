/* SPDX-License-Identifier: MIT */
#include "client/cli/cli.h"
#include "core/port/streams.h"

int main(int argc, char **argv)
{
	streams_hold();
	return cli_main(argc, argv);
}
