# SPDX-License-Identifier: MIT
"""Numbered UDP datagrams whose contents follow from their number.

    datagrams.py send ADDRESS PORT --count N --size BYTES [--rate PER_SECOND] [--burst N]
    datagrams.py receive ADDRESS PORT [--quiet SECONDS]

receive ends when nothing has come for --quiet seconds after the first one, and tells received, damaged, disordered,
doubled as one JSON object. --burst N hands N datagrams of one size to the kernel as one (UDP_SEGMENT).
"""

import argparse
import json
import random
import socket
import sys
import time


def contents(number, size):
    return (number.to_bytes(8, "big") + random.Random(number).randbytes(size))[:size]


def send(args, sock):
    if args.burst > 1:
        sock.setsockopt(socket.IPPROTO_UDP, 103, args.size)  # UDP_SEGMENT
    start = time.monotonic()
    for number in range(0, args.count, args.burst):
        rest = range(number, min(number + args.burst, args.count))
        sock.sendto(b"".join(contents(n, args.size) for n in rest), (args.address, args.port))
        if args.rate:
            ahead = (number + args.burst) / args.rate - (time.monotonic() - start)
            if ahead > 0.001:
                time.sleep(ahead)
    json.dump({"sent": args.count}, sys.stdout)


def receive(args, sock):
    sock.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
    sock.bind((args.address, args.port))
    print("ready", flush=True)
    seen, newest, damaged, disordered, doubled = set(), -1, 0, 0, 0
    sock.settimeout(20)
    try:
        while True:
            data = sock.recv(65536)
            sock.settimeout(args.quiet)
            number = int.from_bytes(data[:8], "big")
            damaged += data != contents(number, len(data))
            doubled += number in seen
            disordered += number < newest
            newest = max(newest, number)
            seen.add(number)
    except TimeoutError:
        pass
    print(json.dumps({"received": len(seen), "damaged": damaged, "disordered": disordered, "doubled": doubled}))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=("send", "receive"))
    parser.add_argument("address")
    parser.add_argument("port", type=int)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--size", type=int, default=100)
    parser.add_argument("--rate", type=float)
    parser.add_argument("--burst", type=int, default=1)
    parser.add_argument("--quiet", type=float, default=1)
    args = parser.parse_args()
    sock = socket.socket(socket.AF_INET6 if ":" in args.address else socket.AF_INET, socket.SOCK_DGRAM)
    (send if args.mode == "send" else receive)(args, sock)
    return 0


if __name__ == "__main__":
    sys.exit(main())
