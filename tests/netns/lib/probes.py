# SPDX-License-Identifier: MIT
"""Sends a packet each millisecond, as an ordinary user's programs would: TCP, UDP, ICMP and name look-ups, by IPv4 and
IPv6, to places outside of every tunnel and to the server's own address.

    probes.py [--interval MS] [--user UID]

Goes on until SIGTERM; then one JSON object tells how many of each kind were tried and how many the kernel took.
"""

import argparse
import errno
import json
import os
import signal
import socket
import struct
import sys
import time

# Nobody is there; the server's address with other ports than the tunnel's is.
TARGETS4 = ("203.0.113.7", "198.51.100.2")
TARGETS6 = ("2001:db8:3::7", "2001:db8:2::2")
QUERY = struct.pack("!HHHHHH", 0x4242, 0x0100, 1, 0, 0, 0) + b"\x05probe\x07invalid\x00" + struct.pack("!HH", 1, 1)


class Tcp:
    """A connection attempt that is given up at once; its SYN is what counts."""

    def __init__(self, family, target):
        self.family, self.target = family, (target, 80)

    def send(self):
        with socket.socket(self.family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK) as sock:
            error = sock.connect_ex(self.target)
            if error and error != errno.EINPROGRESS:
                raise OSError(error, os.strerror(error))


class Datagram:
    def __init__(self, family, target, port, data, protocol=0):
        self.sock = socket.socket(family, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK, protocol)
        self.target, self.data = (target, port), data

    def send(self):
        self.sock.sendto(self.data, self.target)


def kinds():
    for family, targets, icmp, echo in ((socket.AF_INET, TARGETS4, socket.IPPROTO_ICMP, 8),
                                        (socket.AF_INET6, TARGETS6, socket.IPPROTO_ICMPV6, 128)):
        version = 4 if family == socket.AF_INET else 6
        for place, target in zip(("elsewhere", "server"), targets):
            yield f"tcp{version}-{place}", Tcp(family, target)
            yield f"udp{version}-{place}", Datagram(family, target, 9, b"probe")
            yield f"dns{version}-{place}", Datagram(family, target, 53, QUERY)
            yield f"icmp{version}-{place}", Datagram(family, target, 0, struct.pack("!BBHHH", echo, 0, 0, 0, 1) + b"probe",
                                                     icmp)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--interval", type=float, default=1)
    parser.add_argument("--user", type=int, default=65534)
    args = parser.parse_args()
    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(True))
    os.setgroups([])
    os.setgid(args.user)
    os.setuid(args.user)
    probes = list(kinds())
    tried, taken = {name: 0 for name, _ in probes}, {name: 0 for name, _ in probes}
    due, turn = time.monotonic(), 0
    while not stop:
        name, probe = probes[turn % len(probes)]
        turn += 1
        tried[name] += 1
        try:
            probe.send()
            taken[name] += 1
        except OSError:
            pass
        due = max(due + args.interval / 1000, time.monotonic() - 0.05)
        wait = due - time.monotonic()
        if wait > 0:
            time.sleep(wait)
    json.dump({"tried": tried, "taken": taken}, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
