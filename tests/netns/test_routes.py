# SPDX-License-Identifier: MIT
"""Routes, rules and MTU: what goes into the tunnel, what must not, and that nothing is left."""

import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lib import case, machine  # noqa: E402
from lib.case import main_path, waiting  # noqa: E402
from lib.lab import check, wait_until  # noqa: E402
from lib.network import Site  # noqa: E402
from lib.tunnel import Daemon, Key, engine, interface_text, office, peer_text  # noqa: E402
from lib.underlay import Underlay, check_look, look_of  # noqa: E402

ALL = "0.0.0.0/0, ::/0"
SPLIT = "10.77.0.0/24, fd77::/64"


def allow(daemon, allowed, name="office"):
    text = (daemon.config / f"{name}.conf").read_text()
    daemon.profile(name, text.replace(f"AllowedIPs = {SPLIT}", f"AllowedIPs = {allowed}"))


def full(site, allowed=ALL, **keywords):
    made = office(site, **keywords)
    allow(made[1], allowed)
    return made


def answers(site, target="10.77.0.1", count=10):
    return site.client.tool("pinger.py", target, "--count", str(count), "--grace", "3").result()["received"]


def loops(site):
    """Tunnel packets that were sent into the tunnel."""
    return site.client.counter("loop", "inside")


def watch_loops(site):
    site.client.nft("table inet loop { counter inside { }\n chain out { type filter hook postrouting priority 300;\n"
                    'oifname "office" th dport 51820 counter name "inside"\n}\n}\n')


def carried(site, daemon, transports=("udp", "tcp")):
    """Inner traffic passes by each carrier, and no carrier goes inside."""
    for transport in transports:
        seconds, done = daemon.up("office", "--transport", transport, check_code=False)
        check(done.returncode == 0, f"up over {transport}: {done.returncode} {done.stderr.strip()}")
        check(answers(site) >= 9 and answers(site, "fd77::1") >= 9, f"inner pings lost over {transport}")
        check(daemon.status("office")["carrier"] == transport, f"not over {transport}")
        check(loops(site) == 0, f"{loops(site)} packets of the carrier went into their own tunnel over {transport}")
        daemon.cli("down", "office")


@main_path
def test_full_tunnel_takes_everything_but_its_own_carrier(lab):
    """Handshakes too must not enter their own tunnel."""
    site = Site(lab)
    underlay = Underlay(site)
    server, daemon, _, _ = full(site)
    watch_loops(site)
    carried(site, daemon)
    daemon.up("office")
    before = underlay.leaks()["any"]
    for target in "203.0.113.7", "2001:db8:3::7":
        site.client.run("ping", "-c", "3", "-i", "0.2", "-W", "1", target, check_code=False)
    check(underlay.leaks()["any"] == before, f"went past the tunnel: {underlay.leaks()}")
    # The local network stays where it is.
    check(answers(site, "192.0.2.1") >= 9, "the router cannot be reached any more")
    for rule in ("-4", "-6"):
        text = site.client.run("ip", rule, "rule").stdout
        check(text.count("fwmark") == 2, f"rules: {text}")


@main_path
def test_full_tunnel_with_strict_reverse_path_filter(lab):
    """rp_filter=1: answers to both carriers come in by an interface to which no other route leads."""
    site = Site(lab)
    server, daemon, _, _ = full(site)
    watch_loops(site)
    site.client.run("sysctl", "-qw", "net.ipv4.conf.all.rp_filter=1", "net.ipv4.conf.default.rp_filter=1",
                    "net.ipv4.conf.eth0.rp_filter=1")
    before = look_of(site.client)
    carried(site, daemon)
    check_look(site.client, before, "at the end")


def test_reverse_path_filter_drops_without_our_marks(lab):
    """The same without what marks answers: so the test above means something."""
    site = Site(lab)
    server, daemon, _, _ = full(site)
    site.client.run("sysctl", "-qw", "net.ipv4.conf.all.rp_filter=1", "net.ipv4.conf.eth0.rp_filter=1")
    daemon.up("office")
    check(answers(site) >= 9, "inner pings lost")
    # Whoever would put them back at once is stopped.
    daemon.program.signal(19)
    site.client.run("nft", "flush", "ruleset")
    check(answers(site, count=5) == 0, "answers come in although nothing marks them")
    daemon.program.signal(18)
    _, seconds = wait_until(lambda: answers(site, count=1), "the marks to be put back", 20)
    lab.figure(f"put back after {seconds:.1f} s")


def strict_ipv6(lab, priority):
    """firewalld's IPv6_rpfilter=yes: rules as it writes them."""
    site = Site(lab)
    server, daemon, _, _ = full(site, endpoint="[2001:db8:2::2]:51820")
    watch_loops(site)
    site.client.nft("table inet firewalld { counter dropped { }\n chain prerouting {\n"
                    f"type filter hook prerouting priority {priority};\n"
                    "icmpv6 type { nd-router-advert, nd-neighbor-solicit, nd-neighbor-advert } accept\n"
                    'meta nfproto ipv6 fib saddr . mark . iif oif missing counter name "dropped" drop\n}\n}\n')
    carried(site, daemon)
    check(site.client.counter("firewalld", "dropped") == 0, "the filter dropped something")
    daemon.up("office")
    daemon.program.signal(19)
    site.client.run("nft", "delete", "table", "inet", "wgtcp_mark_51820")
    check(answers(site, count=5) == 0, "answers come in although nothing marks them")
    daemon.program.signal(18)
    wait_until(lambda: answers(site, count=1), "the marks to be put back", 20)


def test_strict_ipv6_reverse_path_filter(lab):
    """It works, or a sentence says why not."""
    strict_ipv6(lab, "mangle + 10")


def test_strict_ipv6_reverse_path_filter_before_connection_tracking(lab):
    """The same in the place where older releases have it."""
    strict_ipv6(lab, "raw + 10")


@main_path
def test_server_inside_allowed_ips(lab):
    """A prefix of AllowedIPs holds the server's own address."""
    site = Site(lab)
    server, daemon, _, _ = full(site, allowed=f"{SPLIT}, 198.51.100.0/24, 2001:db8:2::/64")
    watch_loops(site)
    before = look_of(site.client)
    carried(site, daemon)
    daemon.up("office")
    check(answers(site, "198.51.100.2") >= 9, "the server's own address is not reached through the tunnel")
    route = json.loads(site.client.run("ip", "-j", "route", "get", "198.51.100.9").stdout)[0]
    check(route["dev"] == "office", f"what is beside the server does not go into the tunnel: {route}")
    route = json.loads(site.client.run("ip", "-j", "route", "get", "203.0.113.7").stdout)[0]
    check(route["dev"] == "eth0", f"what is outside of AllowedIPs goes into the tunnel: {route}")
    daemon.cli("down", "office")
    check_look(site.client, before, "at the end")


@waiting
def test_server_moves_to_inside_allowed_ips(lab):
    """Its name stands for another address, which a prefix of AllowedIPs holds: the carriers get a mark, and the prefix's
    route a table of its own, while the tunnel is up."""
    site = Site(lab)
    machine.own_etc(site.client)
    router = site.router.host
    router.run("ip", "address", "add", "192.0.2.53/24", "dev", "c0")
    names = machine.Names(router, "192.0.2.53", {"vpn.example": ["198.51.100.2"]})
    server, daemon, _, _ = full(site, allowed=f"{SPLIT}, 198.51.100.64/26", endpoint="vpn.example:51820")
    site.server.run("ip", "address", "add", "198.51.100.70/24", "dev", "eth0")
    watch_loops(site)
    before = look_of(site.client)
    daemon.up("office")
    check("fwmark" not in site.client.run("ip", "rule").stdout, "a rule where none is needed")
    names.set({"vpn.example": ["198.51.100.70"]})
    site.router.block("ip daddr 198.51.100.2")
    site.router.block("ip saddr 198.51.100.2")
    pings = site.client.tool("pinger.py", "10.77.0.1", "--interval", "100")
    # On a change of network names are looked up again at once.
    site.client.run("ip", "address", "add", "192.0.2.99/24", "dev", "eth0")
    _, seconds = wait_until(lambda: daemon.status("office")["peers"][0]["endpoint"] == "198.51.100.70:51820" and
                            answers(site, count=2) == 2, "the tunnel to follow", 60, interval=0.5)
    pings.signal(15)
    lab.figure(f"followed after {seconds:.1f} s")
    site.client.run("ip", "address", "del", "192.0.2.99/24", "dev", "eth0")
    check(loops(site) == 0, f"{loops(site)} packets of the carrier went into their own tunnel")
    route = json.loads(site.client.run("ip", "-j", "route", "get", "198.51.100.99").stdout)[0]
    check(route["dev"] == "office", f"the prefix does not go into the tunnel any more: {route}")
    daemon.cli("down", "office")
    check_look(site.client, before, "at the end")


def test_halves_of_everything(lab):
    """0.0.0.0/1 and 128.0.0.0/1, as some profiles write it: a full tunnel like any other."""
    site = Site(lab)
    server, daemon, _, _ = full(site, allowed="0.0.0.0/1, 128.0.0.0/1, ::/1, 8000::/1")
    watch_loops(site)
    carried(site, daemon)


def test_default_route_lost_and_back(lab):
    """Without a default route the carrier's packets go nowhere rather than into the tunnel; and it comes back
   ."""
    site = Site(lab)
    server, daemon, _, _ = full(site)
    watch_loops(site)
    daemon.up("office")
    for _ in range(2):
        site.client.run("ip", "route", "del", "default")
        site.client.run("ip", "-6", "route", "del", "default")
        time.sleep(2)
        site.client.tool("pinger.py", "10.77.0.1", "--count", "50", "--interval", "20", "--grace", "0").result()
        check(loops(site) == 0, f"{loops(site)} packets of the carrier went into their own tunnel")
        site.client.run("ip", "route", "add", "default", "via", "192.0.2.1")
        site.client.run("ip", "-6", "route", "add", "default", "via", "2001:db8:1::1")
        _, seconds = wait_until(lambda: answers(site, count=1), "inner traffic to come back", 20)
        lab.figure(f"back after {seconds:.1f} s")
    daemon.cli("down", "office")
    # The route came back beside the tunnel; none of it may be ours.
    check("office" not in "\n".join(site.client.routes()), "a route was left")


def test_ipv6_goes_past_an_ipv4_tunnel_with_a_warning(lab):
    """AllowedIPs = 0.0.0.0/0 on a host that has IPv6 too."""
    site = Site(lab)
    underlay = Underlay(site)
    server, daemon, _, _ = full(site, allowed="0.0.0.0/0")
    seconds, done = daemon.up("office")
    check("IPv6" in done.stderr and "KillSwitch" in done.stderr, f"no warning: {done.stderr}")
    site.client.run("ping", "-c", "2", "-i", "0.2", "-W", "1", "2001:db8:3::7", check_code=False)
    check(underlay.leaks()["by_v6"] > 0, "IPv6 does not pass, so the warning is wrong")


def test_ipv6_only_underlay(lab):
    """Nothing but IPv6 outside; IPv4 and IPv6 inside."""
    site = Site(lab)
    server, daemon, _, _ = full(site, endpoint="[2001:db8:2::2]:51820")
    watch_loops(site)
    site.client.run("ip", "-4", "route", "flush", "dev", "eth0")
    site.client.run("ip", "-4", "address", "flush", "dev", "eth0")
    carried(site, daemon)


def test_link_local_endpoint(lab):
    """A server beside us, by its link-local address with a scope."""
    site = Site(lab)
    router = site.router.host
    server_key, client_key = Key(), Key()
    engine(router, "wg-srv", ["10.77.0.1/24", "fd77::1/64"], interface_text(server_key, 51820) + peer_text(
        client_key, "10.77.0.2/32, fd77::2/128"))
    address = next(a["local"] for link in json.loads(router.run("ip", "-j", "-6", "address", "show", "dev", "c0").stdout)
                   for a in link["addr_info"] if a.get("scope") == "link")
    daemon = Daemon(site.client)
    daemon.profile("office", interface_text(client_key, extra="Address = 10.77.0.2/24, fd77::2/64\n") + peer_text(
        server_key, ALL, f"[{address}%eth0]:51820"))
    watch_loops(site)
    carried(site, daemon)


def test_table_off_and_table_number(lab):
    site = Site(lab)
    server, daemon, _, _ = full(site, client_extra="Table = off\n")
    before = look_of(site.client)
    daemon.up("office")
    routes = [r for r in site.client.routes() if "office" in r and "proto kernel" not in r]
    check(not routes, f"Table = off, and routes: {routes}")
    check("fwmark" not in site.client.run("ip", "rule").stdout, "Table = off, and a rule")
    daemon.cli("down", "office")
    daemon.cli("set", "office", "Table=1234")
    daemon.up("office")
    routes = [r for r in site.client.routes() if "office" in r and "proto kernel" not in r]
    check(len(routes) == 2 and all("table 1234" in r for r in routes), f"Table = 1234: {routes}")
    check("fwmark" not in site.client.run("ip", "rule").stdout, "Table = 1234, and a rule")
    daemon.cli("down", "office")
    check_look(site.client, before, "at the end")


def test_fwmark_of_the_profile(lab):
    """FwMark is on the packets of both carriers, and chooses the table of a full tunnel."""
    site = Site(lab)
    server, daemon, _, _ = full(site, client_extra="FwMark = 0x4d2\n")
    site.client.nft("table inet marks { counter by_udp { }\n counter by_tcp { }\n chain out { type filter hook output priority 0;\n"
                    'th dport 51820 meta mark 0x4d2 meta l4proto udp counter name "by_udp"\n'
                    'th dport 51820 meta mark 0x4d2 meta l4proto tcp counter name "by_tcp"\n}\n}\n')
    watch_loops(site)
    carried(site, daemon)
    check(site.client.counter("marks", "by_udp") > 10 and site.client.counter("marks", "by_tcp") > 10, "no marks")
    daemon.up("office")
    check("fwmark 0x4d2 lookup 1234" in site.client.run("ip", "rule").stdout, "not the table of the mark")
    daemon.cli("down", "office")
    daemon.cli("set", "office", "FwMark=254")
    seconds, done = daemon.up("office", check_code=False)
    check(done.returncode == 1 and "FwMark" in done.stderr, f"FwMark = 254: {done.returncode} {done.stderr}")


def second_tunnel(site, daemon, name, allowed, extra=""):
    """Another server on another port of the same host."""
    server_key, client_key = Key(), Key()
    engine(site.server, f"wg-{name}", ["10.78.0.1/24"], interface_text(server_key, 51900) + peer_text(
        client_key, "10.78.0.2/32"))
    daemon.profile(name, interface_text(client_key, extra=f"Address = 10.78.0.2/24\n{extra}") + peer_text(
        server_key, allowed, "198.51.100.2:51900"))


def test_only_one_full_tunnel(lab):
    site = Site(lab)
    server, daemon, _, _ = full(site)
    second_tunnel(site, daemon, "home", "0.0.0.0/0")
    daemon.up("office")
    before = look_of(site.client)
    seconds, done = daemon.up("home", check_code=False)
    check(done.returncode == 1 and "office takes all traffic" in done.stderr, f"{done.returncode} {done.stderr}")
    check(len(done.stderr.strip().splitlines()) == 1, f"not one sentence: {done.stderr}")
    check_look(site.client, before, "the second one changed something")
    check(answers(site) >= 9, "the first one does not work any more")
    daemon.cli("down", "office")
    daemon.up("home")
    check(answers(site, "10.78.0.1") >= 9, "the second one does not work after the first has gone")


def test_a_full_tunnel_and_a_split_one(lab):
    """Beside each other, in either order; what one leaves behind takes nothing from the other."""
    site = Site(lab)
    server, daemon, _, _ = full(site)
    second_tunnel(site, daemon, "home", "10.78.0.0/24, 198.51.100.64/26")
    before = look_of(site.client)
    for order in ("office", "home"), ("home", "office"):
        for name in order:
            daemon.up(name)
        check(answers(site) >= 9 and answers(site, "10.78.0.1") >= 9, f"{order}: inner pings lost")
        daemon.cli("down", order[0])
        left = "10.77.0.1" if order[1] == "office" else "10.78.0.1"
        check(answers(site, left) >= 9, f"{order}: the other one broke")
        daemon.cli("down", order[1])
        check_look(site.client, before, "at the end")


@main_path
def test_everything_is_as_it_was(lab):
    """Rules, routes, addresses, packet filter and sysctls, byte for byte: after down, after a failed up, after a crash
    with a restart."""
    site = Site(lab)
    server, daemon, _, _ = full(site, client_extra="KillSwitch = on\n")
    site.client.nft("table inet users_own { chain x { type filter hook input priority 0; tcp dport 22 accept\n}\n}\n")
    before = look_of(site.client)
    for _ in range(2):
        daemon.up("office")
        check(look_of(site.client) != before, "the look of a machine does not show a tunnel")
        daemon.cli("down", "office")
        check_look(site.client, before, "after down")
    site.router.block("meta nfproto { ipv4, ipv6 }")
    seconds, done = daemon.up("office", "--timeout", "2", check_code=False)
    check(done.returncode != 0, "up although nothing passes")
    check_look(site.client, before, "after an up that failed")
    site.router.open()
    daemon.up("office")
    daemon.program.kill()
    daemon.start()
    daemon.cli("down", "office")
    wait_until(lambda: look_of(site.client) == before, "everything to be as it was after a crash", 10)
    daemon.cli("set", "office", "KillSwitch=off")
    daemon.up("office")
    daemon.program.kill()
    daemon.start()
    wait_until(lambda: look_of(site.client) == before, "everything to be as it was after a crash and a restart", 10)
    daemon.up("office")
    check(daemon.program.stop(), "wgtcpd did not end on SIGTERM")
    wait_until(lambda: look_of(site.client) == before, "everything to be as it was after SIGTERM", 10)


def mtu_of(site):
    return json.loads(site.client.run("ip", "-j", "link", "show", "office").stdout)[0]["mtu"]


def test_mtu_follows_the_route(lab):
    """1420 on the usual 1500 bytes; less where less fits, and when that changes; as the profile says, if it does."""
    site = Site(lab)
    server, daemon, _, _ = full(site)
    text = (daemon.config / "office.conf").read_text().replace("MTU = 1420\n", "")
    daemon.profile("office", text)
    for transport, route, expected in (("udp", 1500, 1420), ("udp", 9000, 1420), ("udp", 1492, 1420), ("udp", 1400, 1340),
                                       ("udp", 1300, 1280), ("tcp", 1500, 1420), ("tcp", 1400, 1308)):
        site.client.run("ip", "link", "set", "eth0", "mtu", route)
        daemon.up("office", "--transport", transport)
        check(mtu_of(site) == expected, f"{transport}, route {route}: MTU {mtu_of(site)} instead of {expected}")
        check(daemon.status("office")["mtu"] == expected, f"status says {daemon.status('office')['mtu']}")
        daemon.cli("down", "office")
    site.client.run("ip", "link", "set", "eth0", "mtu", 1500)
    daemon.up("office")
    site.client.run("ip", "route", "replace", "198.51.100.0/24", "via", "192.0.2.1", "mtu", "1380")
    wait_until(lambda: mtu_of(site) == 1320, "the MTU to follow the route")
    daemon.cli("down", "office")
    daemon.cli("set", "office", "MTU=1300")
    daemon.up("office")
    check(mtu_of(site) == 1300, f"MTU = 1300, and it is {mtu_of(site)}")


def test_mtu_over_ipv6(lab):
    site = Site(lab)
    server, daemon, _, _ = full(site, endpoint="[2001:db8:2::2]:51820")
    daemon.profile("office", (daemon.config / "office.conf").read_text().replace("MTU = 1420\n", ""))
    site.client.run("ip", "link", "set", "eth0", "mtu", 1440)
    daemon.up("office")
    check(mtu_of(site) == 1360, f"MTU {mtu_of(site)} instead of 1360")


if __name__ == "__main__":
    sys.exit(case.main(globals()))
