# SPDX-License-Identifier: MIT
"""Sends stdin to a userspace engine's UAPI socket and prints the answer up to its errno line."""

import socket
import sys


def main():
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(20)
    connection.connect(sys.argv[1])
    connection.sendall(sys.stdin.buffer.read())
    answer = b""
    while b"errno=" not in answer or not answer.endswith(b"\n\n"):
        data = connection.recv(65536)
        if not data:
            break
        answer += data
    sys.stdout.buffer.write(answer)
    return 0


if __name__ == "__main__":
    sys.exit(main())
