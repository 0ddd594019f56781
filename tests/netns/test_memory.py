# SPDX-License-Identifier: MIT
"""What a network did to UDP is remembered for that network and for no other."""

import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lib import case, emulator  # noqa: E402
from lib.case import main_path  # noqa: E402
from lib.lab import check  # noqa: E402
from lib.network import CLIENT4, SERVER4, Router, Site  # noqa: E402
from lib.tunnel import PORT, office  # noqa: E402


class FarSite:
    """client - router - emulator - server, with a round trip of 2 x delay."""

    def __init__(self, lab, delay):
        self.lab = lab
        self.client, router, self.server = lab.host("client"), lab.host("router"), lab.host("server")
        lab.wire(self.client, "eth0", router, "c0")
        self.wire = emulator.join(lab, router, "s0", self.server, "eth0", f"delay={delay}ms")
        for host, name, address in ((self.client, "eth0", CLIENT4), (router, "c0", "192.0.2.1"),
                                    (router, "s0", "198.51.100.1"), (self.server, "eth0", SERVER4)):
            host.run("ip", "address", "add", f"{address}/24", "dev", name)
            host.run("ip", "link", "set", name, "mtu", "1500", "up")
        self.client.run("ip", "route", "add", "default", "via", "192.0.2.1")
        self.server.run("ip", "route", "add", "default", "via", "198.51.100.1")
        self.router = Router(router)
        self.client.tool("pinger.py", SERVER4, "--count", "1", "--grace", "5").result()


@main_path
def test_blocked_network_connects_over_tcp_at_once(lab):
    """In at most 3 round trips + 150 ms, also after the daemon was started again."""
    site = FarSite(lab, 50)
    server, daemon, _, _ = office(site)
    site.router.block()
    first, _ = daemon.up("office")
    daemon.wait_status("office", 10, udp="blocked")
    check((daemon.state / "networks").stat().st_mode & 0o777 == 0o600, "others may read what is remembered")
    times = []
    for run in range(20 if lab.long else 5):
        daemon.cli("down", "office")
        if run == 1:
            daemon.program.stop()
            daemon.start()
        seconds, _ = daemon.up("office")
        check(daemon.status("office")["carrier"] == "tcp", "not over TCP")
        times.append(seconds)
    bound = 3 * 0.1 + 0.15
    lab.figure(f"round trip 100 ms: first {first:.3f} s, then at worst {max(times):.3f} s of {len(times)}"
               f" (bound {bound:.3f} s)")
    check(max(times) <= lab.bound(bound), f"up took {max(times):.3f} s")


def test_another_network_is_not_blamed(lab):
    """Blocked in one, open in the other: each connects its own way."""
    site = Site(lab)
    lab.wire(site.client, "eth1", site.router.host, "c1")
    site.router.host.run("ip", "address", "add", "203.0.113.1/24", "dev", "c1")
    site.client.run("ip", "address", "add", "203.0.113.2/24", "dev", "eth1")
    site.client.tool("pinger.py", "203.0.113.1", "--count", "1", "--grace", "5").result()
    server, daemon, _, _ = office(site)
    site.router.block('iifname "c0" meta l4proto udp', "both")
    daemon.up("office")
    daemon.wait_status("office", 10, udp="blocked", carrier="tcp")
    daemon.cli("down", "office")
    site.client.run("ip", "route", "replace", "default", "via", "203.0.113.1")
    seconds, _ = daemon.up("office")
    status = daemon.status("office")
    check(status["carrier"] == "udp", f"over {status['carrier']} in a network that lets UDP pass")
    daemon.cli("down", "office")
    site.client.run("ip", "route", "replace", "default", "via", "192.0.2.1")
    seconds, _ = daemon.up("office")
    check(daemon.status("office")["carrier"] == "tcp" and seconds < lab.bound(0.4),
          f"the first network is forgotten: {daemon.status('office')['carrier']} after {seconds:.3f} s")


def test_file_does_not_tell_where_the_machine_was(lab):
    site = Site(lab)
    server, daemon, server_key, _ = office(site)
    site.router.block()
    daemon.up("office")
    daemon.wait_status("office", 10, udp="blocked")
    time.sleep(0.2)
    text = (daemon.state / "networks").read_text().lower()
    hardware = site.router.host.run("cat", "/sys/class/net/c0/address").stdout.strip()
    check(text.count("\n") == 2, f"not a key and one entry: {text.count(chr(10))} lines")
    for secret in hardware, hardware.replace(":", ""), SERVER4, str(PORT), server_key.public.lower():
        check(secret not in text.splitlines()[1], f"{secret} can be read in it")


if __name__ == "__main__":
    sys.exit(case.main(globals()))
