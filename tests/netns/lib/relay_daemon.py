# SPDX-License-Identifier: MIT
"""Plays wgtcpd for one wgtcp-relay --inherited: opens its sockets, dials, and tells what it hears.

    relay_daemon.py PROGRAM KEY --loopback PORT --kernel PORT --udp ADDRESS:PORT --tcp ADDRESS:PORT

KEY is the peer's public key. Commands, one a line on stdin: race, udp, tcp, both (what to use), close, memory N, network,
drop (the peer), stop. One JSON object a line on stdout for each message of the relay, with the seconds since the start.
The layout of a message is that of struct seam_message (core/port/seam.h) on a machine of 64 bits.
"""

import argparse
import array
import base64
import json
import os
import re
import select
import socket
import struct
import subprocess
import sys
import time

LAYOUT = struct.Struct("<IIH6xQ32sQI4xI16sI16s?7x")
USES = {"race": 0, "udp": 1, "tcp": 2, "both": 3}
NEWS = {1: "tcp-connected", 2: "tcp-closed", 3: "udp-failed", 4: "udp-wins", 5: "tcp-wins", 6: "fresh-wanted",
        7: "no-room"}


def kinds():
    """The numbers of the messages, as the header counts them."""
    header = os.path.join(os.path.dirname(__file__), "../../../core/port/seam.h")
    with open(header, encoding="utf-8") as text:
        body = re.search(r"enum seam_kind \{(.*?)\n\};", text.read(), re.S).group(1)
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
    return {name: number for number, name in enumerate(re.findall(r"SEAM_\w+", body))}


KIND = kinds()
NAME = {number: name for name, number in KIND.items()}


def endpoint(text):
    host, _, port = text.rpartition(":")
    return host.strip("[]"), int(port)


class Daemon:
    def __init__(self, args):
        self.args, self.key, self.start = args, base64.b64decode(args.key), time.monotonic()
        self.seam, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.relay = subprocess.Popen([args.program, "--inherited"], stdin=subprocess.DEVNULL, close_fds=True,
                                      preexec_fn=lambda: os.dup2(theirs.fileno(), 3), pass_fds=[3])
        theirs.close()
        self.dials = {}

    def send(self, kind, value=0, attempt=0, handle=None):
        message = LAYOUT.pack(KIND[kind], value, 0, attempt, self.key, 0, 0, 0, b"", 0, b"", False)
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [handle]))] if handle is not None else []
        self.seam.sendmsg([message], rights)

    def tell(self, what, **more):
        print(json.dumps({"at": round(time.monotonic() - self.start, 3), "what": what, **more}), flush=True)

    def set_up(self):
        kernel = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        kernel.bind(("127.0.0.1", self.args.loopback))
        kernel.connect(("127.0.0.1", self.args.kernel))
        outer = socket.socket(socket.AF_INET6 if ":" in endpoint(self.args.udp)[0] else socket.AF_INET, socket.SOCK_DGRAM)
        outer.connect(endpoint(self.args.udp))
        self.send("SEAM_RELAY_PEER", handle=kernel.fileno())
        self.send("SEAM_RELAY_UDP", handle=outer.fileno())
        kernel.close()
        outer.close()

    def dial(self, attempt):
        target = endpoint(self.args.tcp)
        one = socket.socket(socket.AF_INET6 if ":" in target[0] else socket.AF_INET, socket.SOCK_STREAM)
        one.setblocking(False)
        one.connect_ex(target)
        self.dials[one] = attempt
        self.tell("dial")

    def dialled(self, one):
        attempt = self.dials.pop(one)
        error = one.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if error:
            self.send("SEAM_DIAL_FAILED", error, attempt)
        else:
            self.send("SEAM_CONNECTED", attempt=attempt, handle=one.fileno())
        one.close()

    def hear(self):
        data = self.seam.recv(LAYOUT.size)
        if not data:
            self.tell("gone")
            return False
        kind, value, port, attempt, key = LAYOUT.unpack(data)[:5]
        name = NAME[kind]
        if name == "SEAM_DIAL":
            self.dial(attempt)
        elif name == "SEAM_DIAL_CANCEL":
            for one in [one for one, number in self.dials.items() if number == attempt]:
                del self.dials[one]
                one.close()
        elif name == "SEAM_RELAY_NEWS":
            self.tell(NEWS[value], rtt_us=attempt)
        elif name == "SEAM_RELAY_SEEN":
            self.tell("seen", carrier={1: "udp", 2: "tcp"}[value >> 16], largest=value & 0xFFFF, types=port & 0xFF,
                      received=attempt >> 32, sent=attempt & 0xFFFFFFFF, ours=key == self.key)
        else:
            self.tell(name)
        return True

    def command(self, line):
        word, *rest = line.split() or [""]
        if word in USES:
            self.send("SEAM_RELAY_USE", USES[word])
        elif word == "memory":
            self.send("SEAM_MEMORY", int(rest[0]))
        elif word:
            self.send({"close": "SEAM_RELAY_CLOSE", "network": "SEAM_NETWORK", "drop": "SEAM_RELAY_PEER",
                       "stop": "SEAM_STOP"}[word])

    def run(self):
        self.set_up()
        commands = b""
        while True:
            ready, writable, _ = select.select([self.seam, sys.stdin.buffer], list(self.dials), [])
            for one in writable:
                if one in self.dials:
                    self.dialled(one)
            if self.seam in ready and not self.hear():
                return self.relay.wait(5)
            if sys.stdin.buffer in ready:
                data = os.read(0, 4096)
                if not data:
                    self.seam.close()
                    return self.relay.wait(5)
                commands += data
                *lines, commands = commands.split(b"\n")
                for line in lines:
                    self.command(line.decode())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("key")
    parser.add_argument("--loopback", type=int, required=True)
    parser.add_argument("--kernel", type=int, required=True)
    parser.add_argument("--udp", required=True)
    parser.add_argument("--tcp", required=True)
    return Daemon(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
