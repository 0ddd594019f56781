# SPDX-License-Identifier: MIT
"""FallbackProfile: two profiles, one tunnel. The server stands for a WGTCP one: an interface that speaks only UDP and another
one that speaks only TCP, with keys, addresses and a port of their own; both reach the same host inside, 10.99.0.1."""

import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lib import case  # noqa: E402
from lib.case import main_path, waiting  # noqa: E402
from lib.lab import check, wait_until  # noqa: E402
from lib.network import Site  # noqa: E402
from lib.tunnel import PORT, Daemon, Key, engine, interface_text, peer_text  # noqa: E402
from lib.underlay import Underlay, check_look, look_of  # noqa: E402

TCP_PORT = 51821
SPLIT, FULL = "10.99.0.0/24, fd99::/64", "0.0.0.0/0, ::/0"


class Place:
    """Profiles "office" (UDP, 10.77.0.2) and "office-tcp" (TCP, 10.78.0.2)."""

    def __init__(self, lab, allowed=SPLIT, extra="", own_allowed="", second_extra=""):
        self.lab, self.site = lab, Site(lab)
        self.client, self.router = self.site.client, self.site.router
        keys = [Key() for _ in range(4)]
        server = self.site.server
        for name, net, own, theirs, port in (("wg-udp", 77, keys[0], keys[1], PORT), ("wg-tcp", 78, keys[2], keys[3], TCP_PORT)):
            engine(server, name, [f"10.{net}.0.1/24", f"fd{net}::1/64"],
                   interface_text(own, port) + peer_text(theirs, f"10.{net}.0.2/32, fd{net}::2/128"))
        server.run("ip", "address", "add", "10.99.0.1/32", "dev", "lo")
        server.run("ip", "address", "add", "fd99::1/128", "dev", "lo", "nodad")
        # Neither takes what the other one is for.
        server.nft(f"table inet only {{ chain in {{ type filter hook input priority 0;\n"
                   f"tcp dport {PORT} reject\nudp dport {TCP_PORT} reject\n}}\n}}")
        self.before = look_of(self.client)
        self.daemon = Daemon(self.client)
        self.profile("office", keys[1], 77, f"Transport = udp\nFallbackProfile = office-tcp\n{extra}", keys[0], allowed, PORT)
        self.profile("office-tcp", keys[3], 78, f"Transport = tcp\n{second_extra}", keys[2], own_allowed or allowed, TCP_PORT)

    def profile(self, name, key, net, extra, peer, allowed, port):
        self.daemon.profile(name, interface_text(
            key, extra=f"Address = 10.{net}.0.2/24, fd{net}::2/64\nMTU = 1380\n{extra}") + peer_text(
                peer, f"{allowed}" if "0.0.0.0/0" in allowed else f"{allowed}, 10.{net}.0.0/24, fd{net}::/64",
                f"198.51.100.2:{port}"))

    def carried_by(self, name, timeout=30, **wanted):
        status, seconds = self.daemon.wait_status("office", timeout, state="up", profile=name, interface=name, **wanted)
        return seconds

    def pings(self, count=10):
        for target in "10.99.0.1", "fd99::1":
            got = self.client.tool("pinger.py", target, "--count", str(count), "--grace", "3").result()["received"]
            check(got >= count - 1, f"{got} of {count} pings to {target}")

    def down(self):
        self.daemon.cli("down", "office")
        self.clean()

    def clean(self):
        check(self.daemon.status("office")["state"] == "down", f"{self.daemon.status('office')['state']}")
        check_look(self.client, self.before, "after down")
        check(not engines(self.client), f"engines still run: {engines(self.client)}")


def engines(host):
    lines = host.run("ps", "-eo", "pid,stat,args").stdout.splitlines()
    return [int(line.split()[0]) for line in lines if "--inherited" in line and line.split()[1][0] != "Z"]


def gauge(place):
    underlay = Underlay(place.site)
    place.router.host.nft(f"insert rule inet leaks seen ip daddr 198.51.100.2 tcp dport {TCP_PORT} return\n")
    return underlay


def route_of(host, target="10.99.0.1"):
    return json.loads(host.run("ip", "-j", "route", "get", target).stdout)[0].get("dev")


@main_path
def test_udp_works(lab):
    """The named profile stays out of it, and up says what would break."""
    place = Place(lab)
    seconds, done = place.daemon.up("office")
    lab.figure(f"up in {seconds:.2f} s")
    status = place.daemon.status("office")
    check(status["profile"] == "office" and status["carrier"] == "udp", f"{status['profile']} {status['carrier']}")
    check("office-tcp takes over" in done.stderr and "connections inside break" in done.stderr, f"up says: {done.stderr}")
    check("office-tcp" not in place.client.links(), "the second interface is there")
    check(place.router.count("syn_up") == 0, "TCP though UDP works")
    place.pings()
    place.down()


@main_path
def test_udp_blocked_from_the_start(lab):
    place = Place(lab)
    place.router.block()
    seconds, done = place.daemon.up("office")
    status = place.daemon.status("office")
    lab.figure(f"up in {seconds:.2f} s")
    check(status["profile"] == "office-tcp" and status["carrier"] == "tcp" and status["name"] == "office",
          f"{ {k: status[k] for k in ('name', 'profile', 'carrier', 'state')} }")
    check("office-tcp" in place.daemon.cli("status", "office").stdout, "status for people does not name the profile in use")
    check(route_of(place.client) == "office-tcp", f"the route leads to {route_of(place.client)}")
    place.pings()
    for line in "up office-tcp", "down office-tcp", "delete office-tcp", "switch office-tcp tcp":
        done = place.daemon.cli(*line.split(), check_code=False)
        check(done.returncode and "office" in done.stderr, f"{line}: {done.returncode} {done.stderr}")
    check(place.daemon.status("office-tcp")["state"] == "down", "the second one stands for itself")
    place.pings(5)
    place.down()


def change_and_return(lab, place, allowed):
    """Blocked while up: over; unblocked: back by a person's word."""
    place.daemon.up("office")
    place.carried_by("office", carrier="udp")
    pings = place.client.tool("pinger.py", "10.99.0.1")
    time.sleep(1)
    start = time.monotonic()
    place.router.block()
    place.carried_by("office-tcp", carrier="tcp")
    over = time.monotonic() - start
    check({"office", "office-tcp"} <= set(place.client.links()), "the second interface took the place of the first")
    place.pings(5)
    place.router.open()
    start = time.monotonic()
    place.daemon.cli("switch", "office", "auto")
    place.carried_by("office", carrier="udp")
    back = time.monotonic() - start
    place.pings(5)
    check(route_of(place.client) == "office", f"the route leads to {route_of(place.client)}")
    pings.signal(15)
    result = pings.result()
    lab.figure(f"over after {over:.1f} s, back after {back:.1f} s, longest gap {result['longest_gap_ms'] / 1000:.1f} s")


@main_path
@waiting
def test_blocked_and_unblocked_while_up(lab):
    place = Place(lab)
    change_and_return(lab, place, SPLIT)
    wait_until(lambda: "office-tcp" not in place.client.links(), "the second one to be taken down", 45)
    place.pings(5)
    place.down()


@main_path
@waiting
def test_full_tunnel_with_kill_switch(lab):
    """Not one probe goes past the two, whatever happens to them."""
    place = Place(lab, FULL, "KillSwitch = on\n")
    underlay = gauge(place)
    place.daemon.up("office")
    probes = place.client.tool("probes.py")
    looked = underlay.leaks()
    change_and_return(lab, place, FULL)
    place.daemon.cli("switch", "office", "tcp")
    place.carried_by("office-tcp")
    place.client.run("ip", "link", "delete", "office-tcp")
    place.carried_by("office")
    place.daemon.cli("switch", "office", "auto")
    place.router.block()
    place.carried_by("office-tcp")
    place.daemon.program.kill()
    place.daemon.start()
    place.daemon.up("office")
    place.carried_by("office-tcp")
    place.pings(5)
    probes.signal(15)
    tried = sum(probes.result()["tried"].values())
    leaks = {k: v - looked.get(k, 0) for k, v in underlay.leaks().items()}
    check(not any(leaks.values()), f"seen on the underlay: {leaks}")
    lab.figure(f"{tried} probes tried, 0 seen")
    place.down()


@waiting
def test_full_tunnel_without_kill_switch_does_not_leak(lab):
    """The change itself opens no gap: traffic has a route into a tunnel at each moment."""
    place = Place(lab, FULL)
    underlay = gauge(place)
    place.daemon.up("office")
    probes = place.client.tool("probes.py")
    time.sleep(0.3)
    looked = underlay.leaks()
    for turn in range(50 if lab.long else 5):
        place.daemon.cli("switch", "office", ("tcp", "udp")[turn % 2])
        place.carried_by(("office-tcp", "office")[turn % 2])
    leaks = {k: v - looked.get(k, 0) for k, v in underlay.leaks().items()}
    probes.signal(15)
    tried = sum(probes.result()["tried"].values())
    check(not any(leaks.values()), f"seen on the underlay: {leaks}")
    lab.figure(f"{turn + 1} changes, {tried} probes tried, 0 seen")
    place.pings(5)
    place.down()


def test_dns_goes_along(lab):
    place = Place(lab, extra="DNS = 10.99.0.1\n", second_extra="DNS = 10.99.0.2\n")
    place.daemon.up("office")
    resolv = lambda: place.client.run("cat", "/etc/resolv.conf").stdout  # noqa: E731
    wait_until(lambda: "10.99.0.1" in resolv(), "the first one's DNS")
    place.daemon.cli("switch", "office", "tcp")
    wait_until(lambda: "10.99.0.2" in resolv() and "10.99.0.1" not in resolv(), "the second one's DNS")
    place.daemon.cli("switch", "office", "udp")
    wait_until(lambda: "10.99.0.1" in resolv() and "10.99.0.2" not in resolv(), "the first one's DNS again")
    place.daemon.cli("down", "office")
    check("10.99.0." not in resolv(), f"left: {resolv()}")


@waiting
def test_server_inside_of_what_goes_through(lab):
    """AllowedIPs hold the servers' own network: neither tunnel is led into the other."""
    place = Place(lab, allowed=SPLIT + ", 198.51.100.0/24")
    change_and_return(lab, place, SPLIT)
    place.down()


def test_a_person_chooses(lab):
    """tcp is the named profile, udp the own one; neither is left by itself, and what is not possible changes nothing."""
    place = Place(lab)
    place.daemon.up("office")
    place.daemon.cli("switch", "office", "tcp")
    place.carried_by("office-tcp", 5)
    place.pings(5)
    place.router.block()
    done = place.daemon.cli("switch", "office", "udp", check_code=False)
    check(done.returncode == 7 and "stays where it was" in done.stderr, f"{done.returncode} {done.stderr}")
    place.carried_by("office-tcp", 5)
    place.pings(5)
    place.router.open()
    place.daemon.cli("switch", "office", "udp")
    place.carried_by("office", 5)
    place.pings(5)
    place.down()
    # Obeyed at up, too.
    place.router.block()
    seen = place.router.count("syn_up")
    done = place.daemon.cli("up", "office", "--transport", "udp", "--timeout", "4", check_code=False)
    check(done.returncode in (6, 7), f"{done.returncode} {done.stderr}")
    check(place.router.count("syn_up") == seen, "TCP though UDP was asked for and nothing else")
    place.daemon.cli("down", "office")


@waiting
def test_nothing_answers(lab):
    place = Place(lab)
    place.router.block("meta nfproto { ipv4, ipv6 }")
    seconds, done = place.daemon.up("office", check_code=False)
    lab.figure(f"{done.returncode} after {seconds:.1f} s")
    # The first one's word and the end of the wait come within the same half second.
    check(done.returncode in (6, 7), f"{done.returncode} {done.stderr}")
    check_look(place.client, place.before, "after a failure")
    check(not engines(place.client), "engines still run")


def test_bad_settings(lab):
    place = Place(lab)
    office = place.daemon.config / "office.conf"
    good = office.read_text()
    second = place.daemon.config / "office-tcp.conf"
    good_second = second.read_text()

    def refused(code, *words):
        done = place.daemon.cli("up", "office", check_code=False)
        check(done.returncode == code and all(w in done.stderr for w in words), f"{done.returncode}: {done.stderr}")
        check(len(done.stderr.strip().splitlines()) <= 2, f"more than a sentence: {done.stderr}")
        check_look(place.client, place.before, "after a refusal")

    office.write_text(good.replace("FallbackProfile = office-tcp", "FallbackProfile = office"))
    refused(1, "names the profile itself")
    office.write_text(good.replace("FallbackProfile = office-tcp", "FallbackProfile = missing"))
    refused(1, "FallbackProfile = missing cannot be used", "missing")
    office.write_text(good)
    second.write_text(good_second.replace("[Interface]\n", "[Interface]\nFallbackProfile = office\n"))
    refused(1, "chains are not possible")
    second.write_text(good_second.replace("PrivateKey", "PrivateKee"))
    refused(1, "FallbackProfile = office-tcp cannot be used", "PrivateKee")
    second.write_text(good_second)
    place.client.run("ip", "tuntap", "add", "office-tcp", "mode", "tun")
    done = place.daemon.cli("up", "office", check_code=False)
    check(done.returncode == 1 and "an interface called office-tcp already" in done.stderr, f"{done.returncode} {done.stderr}")
    place.client.run("ip", "link", "delete", "office-tcp")
    place.daemon.up("office-tcp")
    done = place.daemon.cli("up", "office", check_code=False)
    check(done.returncode == 1 and "wgtcp-cli down office-tcp" in done.stderr, f"{done.returncode} {done.stderr}")
    place.daemon.cli("down", "office-tcp")
    place.daemon.up("office")
    place.down()


@waiting
def test_daemon_is_killed_in_between(lab):
    """At various points of a change: the next one leaves nothing of either."""
    place = Place(lab, FULL)
    for turn in range(50 if lab.long else 5):
        place.daemon.up("office")
        change = place.client.start(lab.binary("wgtcp-cli"), "switch", "office", "tcp", "--socket", place.daemon.socket,
                                    name="switch")
        time.sleep(turn % 10 * 0.02)
        # One that still waits for an answer would start a daemon of its own.
        change.kill()
        place.daemon.program.kill()
        place.daemon.start()
        wait_until(lambda: not engines(place.client), "the old engines to end")
        check_look(place.client, place.before, f"after kill {turn}")
    place.daemon.up("office")
    place.pings(5)
    place.down()


@waiting
def test_engines_are_killed(lab):
    """Either one: it is started again, and the tunnel is there."""
    place = Place(lab)
    place.daemon.up("office")
    place.daemon.cli("switch", "office", "tcp")
    for _ in range(3):
        for pid in engines(place.client):
            place.client.run("kill", "-9", pid, check_code=False)
        time.sleep(0.3)
        wait_until(lambda: place.daemon.status("office")["state"] == "up" and
                   place.client.tool("pinger.py", "10.99.0.1", "--count", "3", "--grace", "2").result()["received"] == 3,
                   "the tunnel to be there again", 40, interval=0.3)
    place.down()


@waiting
def test_rounds_leave_nothing(lab):
    """5 rounds, 200 in the long form, of up, change, change back and down."""
    place = Place(lab)
    place.daemon.up("office")
    place.down()
    handles = lambda: len(place.client.run("ls", f"/proc/{place.daemon.program.pid}/fd").stdout.split())  # noqa: E731
    before = handles()
    for turn in range(200 if lab.long else 5):
        place.daemon.up("office")
        place.daemon.cli("switch", "office", "tcp")
        if turn % 2:
            place.daemon.cli("switch", "office", "udp")
        place.down()
    check(handles() == before, f"{handles()} descriptors instead of {before}")


if __name__ == "__main__":
    sys.exit(case.main(globals()))
