# SPDX-License-Identifier: MIT
"""Joins two hosts by wgtcp-emulator."""

import socket


class Wire:
    def __init__(self, lab, program, path):
        self.lab, self.program, self.path = lab, program, path

    def ask(self, text):
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        connection.settimeout(10)
        connection.connect(str(self.path))
        connection.send(text.encode())
        answer = connection.recv(4096).decode().strip()
        connection.close()
        self.lab.note(f"emulator: {text} -> {answer}")
        return answer

    def set(self, *words):
        """ "ok", or what is wrong with the words ("delay=20ms", "a:loss=1%", ...)."""
        return self.ask(" ".join(words))

    def stats(self):
        """{"a": {...}, "b": {...}}: what came from end a, and from end b."""
        ways = {}
        for line in self.ask("stats").splitlines():
            end, *words = line.split()
            ways[end] = {k: int(v) for k, v in (w.split("=", 1) for w in words[:9])}
        return ways


def join(lab, a, name_a, b, name_b, *words, seed=1):
    """Makes device name_a on host a and name_b on host b, joined; both without addresses and down."""
    number = sum(p.name.startswith("emulator") for p in a.programs) + 1
    # Below /tmp, since a socket's path may not be longer than 107 bytes and that of the logs can be.
    path = f"/tmp/wgtcp-emulator-{a.holder.pid}-{number}-{id(lab) & 0xFFFFFF:x}.sock"
    arguments = [x for word in words for x in ("--set", word)]
    program = a.start(lab.binary("wgtcp-emulator"), "--a", f"{a.netns()}:{name_a}", "--b", f"{b.netns()}:{name_b}",
                      "--control", path, "--seed", seed, *arguments, name="emulator")
    program.wait_for_text("ready")
    return Wire(lab, program, path)


def pair(lab, address_a, address_b, *words, seed=1):
    a, b = lab.host("a"), lab.host("b")
    wire = join(lab, a, "wire0", b, "wire0", *words, seed=seed)
    for host, address in (a, address_a), (b, address_b):
        host.run("ip", "address", "add", f"{address}/24", "dev", "wire0")
        host.run("ip", "link", "set", "wire0", "mtu", "1500", "up")
    return a, b, wire
