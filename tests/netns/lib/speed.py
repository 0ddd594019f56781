# SPDX-License-Identifier: MIT
"""Two daemons with a tunnel between them that answers speed tests, and what to look at around one."""

import json
import os
import pathlib

from lib.lab import wait_until
from lib.network import SERVER4
from lib.tunnel import PORT, Daemon, Key, interface_text, peer_text

IPERF_PORT = 5201
INNER = "10.77.0.1"


class Pair:
    """`home` on the server (10.77.0.1), `office` on the client (10.77.0.2), up over UDP."""

    def __init__(self, client, server, endpoint=SERVER4, answers=True, client_extra=""):
        self.client_key, self.server_key = Key(), Key()
        self.server, self.client = Daemon(server), Daemon(client)
        self.server.profile("home", interface_text(
            self.server_key, PORT, f"Address = 10.77.0.1/24, fd77::1/64\nSpeedTestServer = {'on' if answers else 'off'}\n")
            + peer_text(self.client_key, "10.77.0.2/32, fd77::2/128"))
        self.client.profile("office", interface_text(
            self.client_key, extra=f"Address = 10.77.0.2/24, fd77::2/64\n{client_extra}")
            + peer_text(self.server_key, "10.77.0.0/24, fd77::/64", f"{endpoint}:{PORT}"))
        self.server.up("home")
        self.client.up("office")

    def test(self, *arguments, check_code=True, timeout=180):
        return self.client.cli("speedtest", "office", *arguments, check_code=check_code, timeout=timeout)

    def result(self, *arguments, **keywords):
        return json.loads(self.test("--json", *arguments, **keywords).stdout)


def namespace(pid):
    try:
        return os.readlink(f"/proc/{pid}/ns/net")
    except OSError:
        return None


def processes(host, name="iperf3"):
    """Numbers of the processes of that name on that host."""
    own = namespace(host.holder.pid)
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if (folder / "comm").read_text().strip() == name and namespace(folder.name) == own:
                found.append(int(folder.name))
        except OSError:
            pass
    return found


def wait_for_process(host, name="iperf3", timeout=30):
    return wait_until(lambda: processes(host, name), f"{name} on {host.name}", timeout)[0][0]


def wait_for_none(host, name="iperf3", timeout=30):
    wait_until(lambda: not processes(host, name), f"the end of {name} on {host.name}", timeout)


def status_of(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)


def handle_kinds(pid):
    return sorted(os.readlink(link) for link in pathlib.Path(f"/proc/{pid}/fd").iterdir())


def handles(pid):
    return len(handle_kinds(pid))


def memory_kib(pid):
    return int(status_of(pid)["RssAnon"].split()[0])


def connects(host, address, source=None, interface=None, port=IPERF_PORT, patience=3):
    """How a TCP connection from that host ends: "open", "refused", "silence" or another word."""
    script = ("import socket, sys\n"
              "s = socket.socket(socket.AF_INET6 if ':' in sys.argv[1] else socket.AF_INET)\n"
              "s.settimeout(float(sys.argv[5]))\n"
              "if sys.argv[4]: s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, sys.argv[4].encode())\n"
              "if sys.argv[3]: s.bind((sys.argv[3], 0))\n"
              "try:\n    s.connect((sys.argv[1], int(sys.argv[2]))); print('open')\n"
              "except ConnectionRefusedError: print('refused')\n"
              "except TimeoutError: print('silence')\n"
              "except OSError as why: print(why.strerror)\n")
    return host.run("/usr/bin/python3", "-c", script, address, port, source or "", interface or "", patience).stdout.strip()


def ask(daemon, method, **params):
    """One request to a daemon; its result."""
    script = ("import json, socket, sys\n"
              "s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.sendall(sys.argv[2].encode() + b'\\n')\n"
              "print(s.makefile().readline())\n")
    request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    return json.loads(daemon.host.run("/usr/bin/python3", "-c", script, daemon.socket, request).stdout)["result"]
