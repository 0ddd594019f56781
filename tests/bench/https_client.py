# SPDX-License-Identifier: MIT
"""https_client.py ADDRESS PORT COUNT: that many fresh TLS 1.3 connections, one after the other; figures as JSON."""

import json
import socket
import ssl
import statistics
import sys
import time


def fetch(context, address, port):
    with socket.create_connection((address, port), timeout=60) as plain:
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with context.wrap_socket(plain) as tls:
            if tls.version() != "TLSv1.3" or tls.session_reused:
                raise SystemExit("https_client: not a fresh TLS 1.3 connection")
            tls.sendall(f"GET /small.html HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n".encode())
            answer = b""
            while piece := tls.recv(65536):
                answer += piece
    if not answer.startswith(b"HTTP/1.1 200"):
        raise SystemExit(f"https_client: {answer[:60]}")


def main():
    address, port, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    times, start = [], time.monotonic()
    for _ in range(count):
        before = time.monotonic()
        fetch(context, address, port)
        times.append((time.monotonic() - before) * 1000)
    json.dump({"median_ms": round(statistics.median(times), 3), "p95_ms": round(sorted(times)[count * 95 // 100], 3),
               "per_s": round(count / (time.monotonic() - start), 1)}, sys.stdout)


if __name__ == "__main__":
    main()
