# SPDX-License-Identifier: MIT
"""wgtcp-relay in front of a stock server, and beside a stock client."""

import json
import pathlib
import subprocess

from lib.lab import wait_until


def start_relay(host, server_key, *listen, forward, limit=None):
    """limit: of descriptors."""
    program = host.start(*(["prlimit", f"--nofile={limit}:{limit}"] if limit else []), host.lab.binary("wgtcp-relay"),
                         *[word for address in listen for word in ("--listen", address)],
                         "--forward", forward, "--public-key", server_key.public, name="relay")
    program.wait_for_text(rf"(?s)(listening on.*){{{len(listen)}}}")
    return program


def resident_kib(program):
    for line in pathlib.Path(f"/proc/{program.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


class ClientRelay:
    """relay_daemon.py and its wgtcp-relay --inherited."""

    LOOPBACK = 40001

    def __init__(self, host, server_key, kernel_port, udp, tcp):
        self.program = host.tool("relay_daemon.py", host.lab.binary("wgtcp-relay"), server_key.public, "--loopback",
                                 self.LOOPBACK, "--kernel", kernel_port, "--udp", udp, "--tcp", tcp,
                                 stdin=subprocess.PIPE)
        wait_until(lambda: any(m["what"] == "SEAM_READY" for m in self.heard()), "the relay to take everything in")

    def say(self, *lines):
        self.program.process.stdin.write("".join(line + "\n" for line in lines).encode())
        self.program.process.stdin.flush()

    def heard(self, what=None):
        lines = self.program.out.read_text().split("\n")[:-1]
        messages = [json.loads(line) for line in lines]
        return [m for m in messages if what is None or m["what"] == what]

    def received(self, carrier):
        return sum(m["received"] for m in self.heard("seen") if m["carrier"] == carrier)

    def sent(self, carrier):
        return sum(m["sent"] for m in self.heard("seen") if m["carrier"] == carrier)
