# SPDX-License-Identifier: MIT
"""Counts the records of docs/wire.md section 2 that pass an interface, until SIGTERM.

    records.py INTERFACE PORT

Says "listening" to stderr, and prints at the end one JSON object: records, large (longer than any packet of an ordinary wire), longest, lost
(places where the capture misses bytes, and what follows there is not looked at). Only connections whose beginning was seen
are counted.
"""

import json
import signal
import socket
import struct
import sys

SYN, USUAL = 0x02, 1600
SO_RCVBUFFORCE = 33


class Way:
    """One direction of a connection."""

    def __init__(self, sequence):
        self.next, self.rest, self.skip = sequence, b"", 0


def main():
    interface, port = sys.argv[1], int(sys.argv[2])
    capture = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0003))
    capture.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 256 << 20)
    capture.bind((interface, 0))
    capture.settimeout(0.2)
    stop, ways = [], {}
    seen = {"records": 0, "large": 0, "longest": 0, "lost": 0}
    signal.signal(signal.SIGTERM, lambda *_: stop.append(True))
    print("listening", file=sys.stderr, flush=True)
    while True:
        try:
            packet = capture.recv(1 << 17)
        except TimeoutError:
            if stop:
                break
            continue
        if packet[0] != 0x45 or packet[9] != 6:
            continue
        source, destination, sequence = struct.unpack_from("!HHI", packet, 20)
        if port not in (source, destination):
            continue
        name = packet[12:20] + packet[20:24]
        data = packet[20 + (packet[32] >> 4) * 4:struct.unpack_from("!H", packet, 2)[0]]
        if packet[33] & SYN:
            ways[name] = Way((sequence + 1) & 0xFFFFFFFF)
        way = ways.get(name)
        if way is None or not data:
            continue
        old = (way.next - sequence) & 0xFFFFFFFF
        if old > 1 << 31:
            seen["lost"] += 1
            del ways[name]
            continue
        data = data[old:]  # what was sent again
        way.next = (way.next + len(data)) & 0xFFFFFFFF
        while data:
            take = min(way.skip, len(data))
            way.skip -= take
            data = data[take:]
            way.rest, data = way.rest + data[:4 - len(way.rest)], data[4 - len(way.rest):]
            if len(way.rest) == 4:
                length = struct.unpack("!I", way.rest)[0]
                seen["records"] += 1
                seen["large"] += length > USUAL
                seen["longest"] = max(seen["longest"], length)
                way.rest, way.skip = b"", length - 4
    print(json.dumps(seen), flush=True)


main()
