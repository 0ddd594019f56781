# SPDX-License-Identifier: MIT
"""wgtcp-relay as a server part, and many idle connections to it."""

import pathlib


def start_relay(host, server_key, *listen, forward):
    program = host.start(host.lab.binary("wgtcp-relay"), *[word for address in listen for word in ("--listen", address)],
                         "--forward", forward, "--public-key", server_key.public, name="relay")
    for _ in listen:
        program.wait_for_text(rf"(?s)(listening on.*){{{len(listen)}}}")
    return program


def resident_kib(program):
    for line in pathlib.Path(f"/proc/{program.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0

