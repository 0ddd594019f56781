# SPDX-License-Identifier: MIT
"""Bursts of TCP in one message (docs/wire.md section 5): on a clean stream between two of our engines, and nowhere else."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lib import case  # noqa: E402
from lib.case import main_path  # noqa: E402
from lib.lab import check, wait_until  # noqa: E402
from lib.tunnel import PORT, Key, engine, interface_text, peer_text  # noqa: E402

CLIENT, SERVER = "192.0.2.1", "192.0.2.2"
INSIDE_CLIENT, INSIDE_SERVER = "10.77.0.2", "10.77.0.1"
LAN_SERVER, LAN_HOST = "10.88.0.1", "10.88.0.2"
MIB = 48


class Pair:
    """Two engines on a wire; behind the server another host, on a wire with a smaller MTU."""

    def __init__(self, lab, server_extra="", transport="tcp"):
        self.lab, self.port = lab, 5000
        self.client, self.server, self.lan = lab.host("client"), lab.host("server"), lab.host("lan")
        lab.wire(self.client, "eth0", self.server, "eth0")
        lab.wire(self.server, "eth1", self.lan, "eth0")
        for host, name, address in ((self.client, "eth0", CLIENT), (self.server, "eth0", SERVER),
                                    (self.server, "eth1", LAN_SERVER), (self.lan, "eth0", LAN_HOST)):
            host.run("ip", "address", "add", f"{address}/24", "dev", name)
            host.run("ip", "link", "set", name, "up")
        for host, name in ((self.server, "eth1"), (self.lan, "eth0")):
            host.run("ip", "link", "set", name, "mtu", "1300")
        self.server.run("sysctl", "-qw", "net.ipv4.ip_forward=1")
        self.lan.run("ip", "route", "add", "10.77.0.0/24", "via", LAN_SERVER)
        client_key, server_key = Key(), Key()
        self.there = engine(self.server, "wg0", [f"{INSIDE_SERVER}/24"],
                            interface_text(server_key, PORT) + peer_text(client_key, f"{INSIDE_CLIENT}/32"))
        check(self.there.set(f"tcp_listen_port={PORT}\n" + server_extra) == 0, "refused")
        self.here = engine(self.client, "wg0", [f"{INSIDE_CLIENT}/24"], interface_text(client_key) + peer_text(
            server_key, "10.77.0.0/24, 10.88.0.0/24", f"{SERVER}:{PORT}"))
        self.client.run("ip", "route", "add", "10.88.0.0/24", "dev", "wg0")
        self.records = self.client.tool("records.py", "eth0", str(PORT))
        self.records.wait_for_text("listening")
        check(self.here.set(f"transport={transport}\n") == 0, "refused")
        wait_until(lambda: self.client.run("ping", "-c", "1", "-W", "1", INSIDE_SERVER, check_code=False).returncode == 0,
                   "an answer through the tunnel")

    def move(self, a, b, to):
        self.port += 1
        b.tool("transfer.py", "serve", to, str(self.port)).wait_for_text("listening")
        moved = a.tool("transfer.py", "send", to, str(self.port), "--mib", str(MIB)).result()
        check(moved["equal"] and moved["bytes"] == MIB << 20, "hashes differ")

    def seen(self):
        self.records.signal(15)
        return self.records.result()


@main_path
def test_a_clean_stream_carries_bursts(lab):
    pair = Pair(lab)
    pair.move(pair.client, pair.server, INSIDE_SERVER)
    pair.move(pair.server, pair.client, INSIDE_CLIENT)
    seen = pair.seen()
    lab.figure(f"{2 * MIB} MiB in {seen['records']} records, {seen['large']} of them bursts, the longest {seen['longest']} bytes")
    check(seen["large"] > 100 and seen["longest"] > 20000, f"hardly a burst: {seen}")


def test_a_burst_is_cut_where_the_next_wire_is_smaller(lab):
    """The server's kernel cuts what it forwards, and the sender learns the smaller MTU as from any router."""
    pair = Pair(lab)
    pair.move(pair.client, pair.lan, LAN_HOST)
    pair.move(pair.lan, pair.client, INSIDE_CLIENT)
    seen = pair.seen()
    check(seen["large"] > 50, f"hardly a burst: {seen}")


def test_no_bursts_where_they_are_not_known(lab):
    """A peer that says no hello, as any other WireGuard, gets packets; the records are all seen, so none was large."""
    pair = Pair(lab, server_extra="extensions=off\n")
    pair.move(pair.client, pair.server, INSIDE_SERVER)
    pair.move(pair.server, pair.client, INSIDE_CLIENT)
    seen = pair.seen()
    check(seen["records"] > 2 * MIB * 500, f"not everything was seen: {seen}")
    check(not seen["large"], f"{seen['large']} bursts to a peer that has shown nothing")


if __name__ == "__main__":
    sys.exit(case.main(globals()))
