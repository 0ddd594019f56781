# SPDX-License-Identifier: MIT
"""The daemon's kernel backends on the real in-kernel WireGuard, in a virtual machine: alone, and with wgtcp-relay beside it.

The guest is the client. Its server, on the host's side of the wire, is our engine, which takes UDP and TCP. Software
emulation is slow and this machine is busy: times are the guest's own.
"""

import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "netns")]
from guest import Guest  # noqa: E402
from guest.daemon import PROGRAMS, GuestDaemon, GuestPing  # noqa: E402
from lib import case  # noqa: E402
from lib.lab import check, wait_until  # noqa: E402
from lib.tunnel import PORT, Key, engine, interface_text, peer_text  # noqa: E402

GATE = """
table inet gate {
    counter udp_in { }
    counter tcp_in { }
    counter udp_out { }
    counter tcp_out { }
    chain in {
        type filter hook input priority 0;
        iifname "tap1" udp dport 51820 counter name "udp_in"
        iifname "tap1" tcp dport 51820 counter name "tcp_in"
        jump rules_in
    }
    chain out {
        type filter hook output priority 0;
        oifname "tap1" udp sport 51820 counter name "udp_out"
        oifname "tap1" tcp sport 51820 counter name "tcp_out"
        jump rules_out
    }
    chain rules_in { }
    chain rules_out { }
}
"""


class Office:
    """A server on the host and a client in the guest."""

    def __init__(self, lab, load=True, outer=4, client_extra="", peer_extra=""):
        self.lab, self.host = lab, lab.host("host")
        self.guest = Guest(self.host, programs=[lab.binary(name) for name in PROGRAMS])
        lab.figure(f"{self.guest.ready():.1f} s to boot")
        if load:
            self.guest.load("wireguard")
        self.host.nft(GATE)
        self.server_key, self.client_key = Key(), Key()
        self.server = engine(self.host, "wg-srv", ["10.77.0.1/24", "fd77::1/64"], interface_text(
            self.server_key, PORT) + peer_text(self.client_key, "10.77.0.2/32, fd77::2/128"))
        self.daemon = GuestDaemon(self.guest)
        end = f"{self.guest.host_v4}:{PORT}" if outer == 4 else f"[{self.guest.host_v6}]:{PORT}"
        self.daemon.profile("office", interface_text(
            self.client_key, extra=f"Address = 10.77.0.2/24, fd77::2/64\n{client_extra}") + peer_text(
                self.server_key, "10.77.0.0/24, fd77::/64", end, extra=peer_extra))

    def block(self, way="both", how="drop", what="udp"):
        port = {"in": "dport", "out": "sport"}
        for side in ("in", "out"):
            if way in ("both", side):
                self.host.run("nft", "add", "rule", "inet", "gate", f"rules_{side}", what, port[side], PORT, how)

    def open(self):
        for side in "in", "out":
            self.host.run("nft", "flush", "chain", "inet", "gate", f"rules_{side}")

    def count(self, name):
        return self.host.counter("gate", name)

    def pings(self, count=5):
        for target in "10.77.0.1", "fd77::1":
            self.guest.run(f"ping -c {count} -i 0.05 -W 5 -q {target}")
            self.guest.run(f"ping -c 3 -i 0.05 -W 5 -q -M do -s {1332 if ':' in target else 1352} {target}")


def test_without_the_module(lab):
    """auto takes userspace and says why; kernel is one clear sentence."""
    office = Office(lab, load=False)
    code, text = office.daemon.cli("up office --backend kernel", check_code=False)
    check(code == 1 and "no module wireguard" in text and "--backend userspace" in text, f"{code}: {text}")
    check("office" not in office.daemon.links(), "something is left")


def test_up_by_udp(lab):
    office = Office(lab)
    seconds = office.daemon.up("office")
    status = office.daemon.status("office")
    lab.figure(f"up in {seconds:.2f} s")
    check(status["backend"] == "kernel" and status["carrier"] == "udp" and status["state"] == "up",
          f"{ {k: status[k] for k in ('backend', 'carrier', 'state', 'verified')} }")
    check("this kernel has WireGuard" in status["backend_reason"], f"because: {status['backend_reason']}")
    office.pings()
    check(office.count("tcp_in") == 0, "TCP though UDP answers at once")
    # The relay has left the path: the kernel sends to the server itself.
    wait_until(lambda: office.guest.run("wg show office endpoints")[1].split()[1] == f"{office.guest.host_v4}:{PORT}",
               "the kernel to point at the server", 20)
    office.pings()
    office.daemon.cli("down office")
    check("office" not in office.daemon.links(), "the interface is left")


if __name__ == "__main__":
    sys.exit(case.main(globals()))
