# SPDX-License-Identifier: MIT
"""Sends an ICMP echo every few milliseconds and tells the longest time without an answer.

    pinger.py TARGET [--interval MS] [--size BYTES] [--count N | --seconds S] [--from INTERFACE]

Without --count or --seconds it goes on until SIGTERM. The result is one JSON object on stdout. longest_gap_ms is the
longest time between two answers coming in, or from the start to the first, so a late answer counts as a gap just as a
lost one.
"""

import argparse
import json
import os
import select
import signal
import socket
import struct
import sys
import time


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def open_socket(target, interface):
    v6 = ":" in target
    if v6:
        sock = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
    else:
        sock = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    if interface:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, interface.encode())
    sock.setblocking(False)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    return sock, v6


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("target")
    parser.add_argument("--interval", type=float, default=10)
    parser.add_argument("--size", type=int, default=56, help="bytes behind the ICMP header")
    parser.add_argument("--count", type=int)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--grace", type=float, default=1.0, help="seconds to wait for late answers")
    parser.add_argument("--from", dest="interface")
    args = parser.parse_args()
    try:
        # A busy machine must not make the one who measures late.
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(10))
    except PermissionError:
        pass
    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(True))
    signal.signal(signal.SIGINT, lambda *_: stop.append(True))
    sock, v6 = open_socket(args.target, args.interface)
    identity = os.getpid() & 0xFFFF
    request_type, reply_type, skip = (128, 129, 0) if v6 else (8, 0, 20)
    sent_at, answered, refused = {}, {}, 0
    gap, gap_at, last_answer = 0.0, 0.0, None
    start = due = time.monotonic()
    last_send = None

    def finished(now):
        return bool(stop) or (args.count and len(sent_at) >= args.count) or \
            (args.seconds and now - start >= args.seconds)

    def take(now):
        nonlocal gap, gap_at, last_answer
        while True:
            try:
                data = sock.recv(65536)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                continue
            data = data[skip:]
            if len(data) < 16 or data[0] != reply_type:
                continue
            got, _, number = struct.unpack("!HHQ", data[4:16])
            if got != identity or number not in sent_at or number in answered:
                continue
            answered[number] = now - sent_at[number]
            before = last_answer if last_answer is not None else start
            if now - before > gap:
                gap, gap_at = now - before, before - start
            last_answer = now

    while True:
        now = time.monotonic()
        take(now)
        if finished(now):
            break
        if now >= due:
            number = len(sent_at)
            body = struct.pack("!Q", number) + bytes(max(0, args.size - 8))
            packet = struct.pack("!BBHHH", request_type, 0, 0, identity, number & 0xFFFF) + body
            if not v6:
                packet = packet[:2] + struct.pack("!H", checksum(packet)) + packet[4:]
            sent_at[number] = now
            last_send = now
            try:
                sock.sendto(packet, (args.target, 0))
            except OSError:
                refused += 1
            due = max(due + args.interval / 1000, now - 0.1)
        select.select([sock], [], [], max(0, due - time.monotonic()))
    end = time.monotonic() + args.grace
    while len(answered) < len(sent_at) and time.monotonic() < end:
        select.select([sock], [], [], max(0, end - time.monotonic()))
        take(time.monotonic())
    if last_send is not None:
        # Nothing came any more before the end: that is a gap too.
        last = last_answer if last_answer is not None else start
        if last_send - last > gap:
            gap, gap_at = last_send - last, last - start
    times = sorted(answered.values())
    json.dump({"sent": len(sent_at), "received": len(answered), "lost": len(sent_at) - len(answered),
               "refused": refused, "longest_gap_ms": round(gap * 1000, 1), "gap_at_s": round(gap_at, 3),
               "median_ms": round(times[len(times) // 2] * 1000, 3) if times else None,
               "worst_ms": round(times[-1] * 1000, 3) if times else None}, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
