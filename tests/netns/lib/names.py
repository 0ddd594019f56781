# SPDX-License-Identifier: MIT
"""A small name server for tests, by UDP and TCP.

    names.py ADDRESS TABLE ASKED

Each line of TABLE is a name and its addresses; it is read again for each question. ASKED gets a line "NAME TYPE FROM"
for each question.
"""

import ipaddress
import select
import socket
import struct
import sys


def parse_name(data, at):
    labels = []
    while data[at]:
        labels.append(data[at + 1:at + 1 + data[at]].decode("ascii", "replace"))
        at += 1 + data[at]
    return ".".join(labels).lower(), at + 1


def answer(query, table, log, sender):
    if len(query) < 17:
        return None
    name, end = parse_name(query, 12)
    kind = struct.unpack("!H", query[end:end + 2])[0]
    log.write(f"{name} {({1: 'A', 28: 'AAAA'}).get(kind, kind)} {sender}\n")
    log.flush()
    with open(table, encoding="ascii") as lines:
        known = {line.split()[0]: line.split()[1:] for line in lines if line.strip()}
    addresses = [ipaddress.ip_address(a) for a in known.get(name, [])]
    wanted = [a.packed for a in addresses if a.version == {1: 4, 28: 6}.get(kind)]
    code = 0 if name in known else 3
    body = b"".join(b"\xc0\x0c" + struct.pack("!HHIH", kind, 1, 5, len(a)) + a for a in wanted)
    return query[:2] + struct.pack("!HHHHH", 0x8180 | code, 1, len(wanted), 0, 0) + query[12:end + 4] + body


def main():
    address, table, asked = sys.argv[1:]
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    udp, tcp = socket.socket(family, socket.SOCK_DGRAM), socket.socket(family, socket.SOCK_STREAM)
    tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    udp.bind((address, 53))
    tcp.bind((address, 53))
    tcp.listen(8)
    print("listening", flush=True)
    with open(asked, "a", encoding="ascii") as log:
        while True:
            for ready in select.select([udp, tcp], [], [])[0]:
                try:
                    if ready is udp:
                        query, sender = udp.recvfrom(4096)
                        reply = answer(query, table, log, sender[0])
                        if reply:
                            udp.sendto(reply, sender)
                    else:
                        connection, sender = tcp.accept()
                        with connection:
                            connection.settimeout(2)
                            query = connection.recv(4096)
                            reply = answer(query[2:], table, log, sender[0])
                            if reply:
                                connection.sendall(struct.pack("!H", len(reply)) + reply)
                except (OSError, IndexError, struct.error) as error:
                    print(error, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
