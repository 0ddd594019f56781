# SPDX-License-Identifier: MIT
"""Moves bytes over one TCP connection and compares hashes at both ends.

    transfer.py serve ADDRESS PORT
    transfer.py send ADDRESS PORT [--mib N] [--mbit R]

send goes on until N MiB are over, or without --mib until SIGTERM; --mbit holds it to a rate. It tells as one JSON
object: bytes, seconds, equal (the hashes), longest_stall_ms (as the receiver saw it). Any end of the connection before
the receiver's answer is an error: that is how a broken inner connection shows.
"""

import argparse
import hashlib
import json
import os
import signal
import socket
import sys
import time

BLOCK = 256 * 1024


def family(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def serve(args):
    listener = socket.socket(family(args.address), socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((args.address, args.port))
    listener.listen(4)
    print("listening", flush=True)
    while True:
        connection, _ = listener.accept()
        digest, count, stall, last = hashlib.sha256(), 0, 0.0, time.monotonic()
        try:
            while data := connection.recv(BLOCK):
                now = time.monotonic()
                stall, last = max(stall, now - last), now
                digest.update(data)
                count += len(data)
            answer = {"hash": digest.hexdigest(), "bytes": count, "longest_stall_ms": round(stall * 1000, 1)}
            connection.sendall(json.dumps(answer).encode())
        except OSError as error:
            print(f"connection broke after {count} bytes: {error}", file=sys.stderr, flush=True)
        connection.close()


def send(args):
    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(True))
    connection = socket.socket(family(args.address), socket.SOCK_STREAM)
    connection.settimeout(args.patience)
    connection.connect((args.address, args.port))
    # One random block, different at each turn by its first bytes: a lost, doubled or moved block changes the hash.
    random, digest, count, turn = bytearray(os.urandom(BLOCK)), hashlib.sha256(), 0, 0
    total = args.mib * 1024 * 1024 if args.mib else None
    start = time.monotonic()
    while not stop and (total is None or count < total):
        random[:8] = turn.to_bytes(8, "big")
        block = bytes(random) if total is None else bytes(random[:min(BLOCK, total - count)])
        connection.sendall(block)
        digest.update(block)
        count += len(block)
        turn += 1
        if args.mbit:
            ahead = count * 8 / (args.mbit * 1e6) - (time.monotonic() - start)
            if ahead > 0:
                time.sleep(ahead)
    connection.shutdown(socket.SHUT_WR)
    answer = b""
    while data := connection.recv(4096):
        answer += data
    seconds = time.monotonic() - start
    told = json.loads(answer)
    json.dump({"bytes": count, "seconds": round(seconds, 3), "mbit": round(count * 8 / seconds / 1e6, 1),
               "equal": told["hash"] == digest.hexdigest() and told["bytes"] == count,
               "longest_stall_ms": told["longest_stall_ms"]}, sys.stdout)
    return 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=("serve", "send"))
    parser.add_argument("address")
    parser.add_argument("port", type=int)
    parser.add_argument("--mib", type=int)
    parser.add_argument("--mbit", type=float)
    parser.add_argument("--patience", type=float, default=120)
    args = parser.parse_args()
    return serve(args) if args.mode == "serve" else send(args)


if __name__ == "__main__":
    sys.exit(main())
