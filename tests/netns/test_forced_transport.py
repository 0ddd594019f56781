# SPDX-License-Identifier: MIT
"""A forced transport is obeyed to the packet. The counters stand on the router before
everything else, so they also count what is dropped there."""

import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lib import case  # noqa: E402
from lib.case import main_path, waiting  # noqa: E402
from lib.lab import check  # noqa: E402
from lib.network import Site  # noqa: E402
from lib.tunnel import office  # noqa: E402


def counts(site, carrier):
    return site.router.count(f"{carrier}_up") + site.router.count(f"{carrier}_down")


def use(site, seconds):
    site.client.tool("pinger.py", "10.77.0.1", "--seconds", seconds, "--interval", "50").result()


@waiting
@main_path
def test_udp_forced_and_udp_open(lab):
    site = Site(lab)
    server, daemon, _, _ = office(site, client_extra="Transport = udp\n")
    daemon.up("office")
    use(site, 5)
    check(daemon.status("office")["udp"] == "ok", "udp is not ok")
    check(counts(site, "tcp") == 0, f"{counts(site, 'tcp')} TCP packets with Transport = udp")
    check(counts(site, "udp") > 50, "the UDP counters do not count")


@waiting
@main_path
def test_udp_forced_and_udp_blocked(lab):
    site = Site(lab)
    server, daemon, _, _ = office(site, client_extra="Transport = udp\n")
    site.router.block()
    seconds, done = daemon.up("office", "--timeout", "8", check_code=False)
    check(done.returncode in (6, 7), f"exit code {done.returncode}")
    check(counts(site, "tcp") == 0, f"{counts(site, 'tcp')} TCP packets with Transport = udp")
    check(counts(site, "udp") > 0, "UDP was not tried")
    site.router.open()
    daemon.up("office")
    site.router.block()
    use(site, 15)
    check(counts(site, "tcp") == 0, f"{counts(site, 'tcp')} TCP packets after UDP was blocked in use")
    status = daemon.status("office")
    check(status["carrier"] != "tcp" and status["state"] != "up", f"{status['state']} over {status['carrier']}")


def tcp_forced(lab, blocked):
    site = Site(lab)
    server, daemon, _, _ = office(site, client_extra="Transport = tcp\n")
    if blocked:
        site.router.block()
    daemon.up("office")
    use(site, 5)
    status = daemon.status("office")
    check((status["state"], status["carrier"], status["udp"]) == ("up", "tcp", "unused"),
          f"{status['state']} over {status['carrier']}, udp {status['udp']}")
    check(counts(site, "udp") == 0, f"{counts(site, 'udp')} UDP packets with Transport = tcp")
    check(counts(site, "tcp") > 50, "the TCP counters do not count")


@waiting
@main_path
def test_tcp_forced_and_udp_open(lab):
    tcp_forced(lab, False)


@waiting
def test_tcp_forced_and_udp_blocked(lab):
    tcp_forced(lab, True)


@waiting
def test_tcp_forced_and_tcp_blocked(lab):
    site = Site(lab)
    server, daemon, _, _ = office(site, client_extra="Transport = tcp\n")
    site.router.block("meta l4proto tcp")
    seconds, done = daemon.up("office", "--timeout", "8", check_code=False)
    check(done.returncode in (6, 7), f"exit code {done.returncode}")
    check(counts(site, "udp") == 0, f"{counts(site, 'udp')} UDP packets with Transport = tcp")


def test_not_forced_the_same_counters_count(lab):
    site = Site(lab)
    server, daemon, _, _ = office(site)
    site.router.block()
    daemon.up("office")
    use(site, 2)
    check(counts(site, "udp") > 0 and counts(site, "tcp") > 0,
          f"{counts(site, 'udp')} UDP and {counts(site, 'tcp')} TCP packets")


def test_setting_is_read_at_each_connect(lab):
    """Change the profile, or say it on the command line: the next up obeys, and the one after is as the profile says."""
    site = Site(lab)
    server, daemon, _, _ = office(site)
    for how, wanted in (("auto", "udp"), ("tcp", "tcp"), ("udp", "udp"), ("tcp", "tcp")):
        daemon.cli("set", "office", f"Transport={how}")
        daemon.up("office")
        check(daemon.status("office")["carrier"] == wanted, f"{how}: over {daemon.status('office')['carrier']}")
        daemon.cli("down", "office")
    before = counts(site, "tcp")
    daemon.up("office", "--transport", "udp")
    use(site, 1)
    status = daemon.status("office")
    check((status["carrier"], status["transport"]) == ("udp", "udp"), f"--transport udp: {status['carrier']}")
    check(counts(site, "tcp") == before, "TCP packets with --transport udp")
    daemon.cli("down", "office")
    daemon.up("office")
    check(daemon.status("office")["carrier"] == "tcp", "--transport of one up outlived it")


def test_each_carrier_keeps_its_own_port(lab):
    """Different ports for UDP and TCP: no packet of the one on the port of the other."""
    site = Site(lab)
    server, daemon, _, _ = office(site, peer_extra="TcpEndpoint = 198.51.100.2:4443\n")
    check(server.set("tcp_listen_port=4443\n") == 0, "tcp_listen_port refused")
    site.router.block()
    site.router.host.nft("table inet ports { counter wrong { }\n chain seen { type filter hook prerouting priority -300;\n"
                         "ip daddr 198.51.100.2 tcp dport != 4443 counter name wrong\n"
                         "ip daddr 198.51.100.2 udp dport != 51820 counter name wrong\n}\n}\n")
    daemon.up("office")
    use(site, 1)
    check(daemon.status("office")["carrier"] == "tcp", "not over TCP")
    check(site.router.host.counter("ports", "wrong") == 0, "packets on the port of the other carrier")


def test_udp_port_that_passes(lab):
    """Only UDP to port 53 passes: with UdpPorts it is found."""
    site = Site(lab)
    server, daemon, _, _ = office(site, peer_extra="UdpPorts = 443, 53\n", client_extra="Transport = udp\n")
    site.router.block("udp dport != 53", way="up")
    site.server.nft("table inet move { chain in { type nat hook prerouting priority -100;\n"
                    "udp dport { 443, 53 } redirect to :51820\n}\n}\n")
    seconds, done = daemon.up("office", check_code=False)
    lab.figure(f"exit code {done.returncode} after {seconds:.1f} s")
    check(done.returncode == 0, done.stderr.strip())
    check(daemon.status("office")["peers"][0]["endpoint"] == "198.51.100.2:53",
          f"endpoint {daemon.status('office')['peers'][0]['endpoint']}")


if __name__ == "__main__":
    sys.exit(case.main(globals()))
