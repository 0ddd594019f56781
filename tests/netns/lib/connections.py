# SPDX-License-Identifier: MIT
"""Opens TCP connections that say nothing, or something wrong, and tells what becomes of them.

    connections.py ADDRESS PORT --count N [--from ADDRESS]... [--say silence|junk|bad-mac|http|drip] [--seconds S] [--again]

Prints "open" when all stand, or have been tried for 5 s. At the end one JSON object: opened, refused, closed (how many
the other side has ended), first_closed_s and last_closed_s (since each was opened), open (at the end). --again opens a new
one for each that was closed. drip says a byte of an initiation each second.
"""

import argparse
import json
import os
import resource
import select
import signal
import socket
import struct
import sys
import time


def record(message):
    """A record as in docs/wire.md section 2."""
    length = 8 + len(message)
    check = (length >> 16) ^ (length & 0xFFFF)
    check = ((check << 5 | check >> 11) & 0xFFFF) ^ 0xA5A5
    return struct.pack("!IBBH", length, 0, 0, check) + message


WORDS = {
    "silence": b"",
    "junk": os.urandom(200),
    "bad-mac": record(b"\x01\0\0\0" + os.urandom(144)),
    "http": b"GET / HTTP/1.1\r\nHost: office.example\r\n\r\n",
    "drip": b"",
}
DRIP = record(b"\x01\0\0\0" + bytes(144))


class Crowd:
    def __init__(self, args):
        self.args, self.poll = args, select.epoll()
        self.waiting, self.standing, self.ages = {}, {}, []
        self.opened = self.refused = self.number = 0
        self.again = False
        self.dripped = time.monotonic()

    def drip(self):
        if self.args.say != "drip" or time.monotonic() < self.dripped + 1:
            return
        self.dripped = time.monotonic()
        for one, since in self.standing.values():
            at = int(self.dripped - since)
            try:
                one.send(DRIP[at:at + 1])
            except OSError:
                pass

    def open(self):
        sources = self.args.source or [None]
        family = socket.AF_INET6 if ":" in self.args.address else socket.AF_INET
        one = socket.socket(family, socket.SOCK_STREAM)
        one.setblocking(False)
        source = sources[self.number % len(sources)]
        self.number += 1
        if source:
            one.setsockopt(socket.SOL_IP, 24, 1)  # IP_BIND_ADDRESS_NO_PORT
            one.bind((source, 0))
        try:
            one.connect((self.args.address, self.args.port))
        except BlockingIOError:
            pass
        self.waiting[one.fileno()] = one
        self.poll.register(one.fileno(), select.EPOLLOUT | select.EPOLLERR)

    def step(self, timeout):
        for fd, _ in self.poll.poll(timeout):
            if fd in self.waiting:
                one = self.waiting.pop(fd)
                if one.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                    self.refused += 1
                    self.poll.unregister(fd)
                    one.close()
                    continue
                self.opened += 1
                self.standing[fd] = (one, time.monotonic())
                self.poll.modify(fd, select.EPOLLIN | select.EPOLLRDHUP)
                if WORDS[self.args.say]:
                    one.send(WORDS[self.args.say])
                continue
            one, since = self.standing.pop(fd)
            self.ages.append(time.monotonic() - since)
            self.poll.unregister(fd)
            one.close()
            if self.again:
                self.open()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("port", type=int)
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--from", dest="source", action="append")
    parser.add_argument("--say", choices=WORDS, default="silence")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--again", action="store_true")
    args = parser.parse_args()
    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(True))
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 65536), hard))
    crowd, start = Crowd(args), time.monotonic()
    for _ in range(args.count):
        crowd.open()
        if crowd.number % 64 == 0:
            crowd.step(0)
    while crowd.waiting and time.monotonic() < start + 5:
        crowd.step(0.1)
    print("open", file=sys.stderr, flush=True)
    crowd.again = args.again
    while not stop and (args.seconds is None or time.monotonic() < start + args.seconds):
        crowd.step(0.1)
        crowd.drip()
    ages = sorted(crowd.ages)
    json.dump({"opened": crowd.opened, "refused": crowd.refused, "closed": len(ages), "open": len(crowd.standing),
               "first_closed_s": round(ages[0], 2) if ages else None,
               "last_closed_s": round(ages[-1], 2) if ages else None}, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
