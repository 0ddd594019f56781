# SPDX-License-Identifier: MIT
"""What other programs take away from a tunnel that is up is put back at once: its link, addresses, routes, rules, and the
marks on answers. A fight ends in a sentence."""

import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lib import case  # noqa: E402
from lib.case import main_path, waiting  # noqa: E402
from lib.lab import check, wait_until  # noqa: E402
from lib.network import Site  # noqa: E402
from lib.tunnel import office  # noqa: E402
from lib.underlay import Underlay, look_of  # noqa: E402

ALL, SPLIT = "0.0.0.0/0, ::/0", "10.77.0.0/24, fd77::/64"

# What each is called, and what does it; full tunnels only. TABLE is the mark of the tunnel.
TAKERS = (
    ("link down and up", "ip link set office down; ip link set office up"),
    ("link down", "ip link set office down"),
    ("name", "ip link set office down; ip link set office name bureau; true"),
    ("IPv4 routes", "ip route flush table TABLE"),
    ("IPv6 routes", "ip -6 route flush table TABLE"),
    ("another route in the place of ours", "ip route replace default dev eth0 table TABLE"),
    ("one rule", "ip rule del not fwmark TABLE lookup TABLE"),
    ("all rules", "for f in -4 -6; do for p in 32764 32765; do ip $f rule del pref $p; done; done"),
    ("IPv4 address", "ip address flush dev office"),
    ("IPv6 address", "ip -6 address flush dev office"),
    ("marks on answers", "nft flush ruleset"),
)


class Place:
    def __init__(self, lab, allowed=ALL, extra=""):
        self.site = Site(lab)
        self.client = self.site.client
        self.underlay = Underlay(self.site)
        self.server, self.daemon, _, _ = office(self.site, client_extra=extra)
        text = (self.daemon.config / "office.conf").read_text()
        self.daemon.profile("office", text.replace(f"AllowedIPs = {SPLIT}", f"AllowedIPs = {allowed}"))
        self.daemon.up("office")
        self.daemon.wait_status("office", state="up")
        rule = next(r for r in json.loads(self.client.run("ip", "-j", "rule").stdout) if "fwmark" in r) if allowed == ALL \
            else {"fwmark": "0"}
        self.table = int(rule["fwmark"], 16)

    def take(self, command):
        # A flush looks again, up to ten times, and is not always the quicker one.
        self.client.run("sh", "-c", command.replace("TABLE", str(self.table)), check_code="flush" not in command)

    def logs(self):
        return self.daemon.cli("logs").stdout

    def answers(self, target="10.77.0.1"):
        return self.client.tool("pinger.py", target, "--count", "5", "--grace", "3").result()["received"]

    def way(self, target):
        return json.loads(self.client.run("ip", "-j", "route", "get", target).stdout)[0]["dev"]


@main_path
def test_each_thing_is_put_back(lab):
    """A full tunnel: rules, routes, addresses, links and filter are as before, at once, and traffic goes inside."""
    place = Place(lab)
    before, times = look_of(place.client), []
    for name, command in TAKERS:
        told = place.logs().count("another program took away")
        start = time.monotonic()
        place.take(command)
        wait_until(lambda: look_of(place.client) == before, f"{name} to be put back", 20, interval=0.02)
        times.append(time.monotonic() - start)
        check(place.logs().count("another program took away") > told, f"{name}: the log does not say so")
        for target in "203.0.113.7", "2001:db8:3::7":
            check(place.way(target) == "office", f"{name}: {target} goes out by {place.way(target)}")
        check(place.answers() >= 4 and place.answers("fd77::1") >= 4, f"{name}: inner pings lost")
        status = place.daemon.status("office")
        check(status["state"] == "up", f"{name}: {status['state']}, {status['cause']}: {status['message']}")
    lab.figure(f"put back after {max(times):.2f} s at most, looking at it included")
    place.daemon.cli("down", "office")
    check("office" not in "\n".join(place.client.routes()), "a route was left")
    check("fwmark" not in place.client.run("ip", "rule").stdout, "a rule was left")


def test_an_mtu_without_ipv6(lab):
    """Less than 1280, with which a link loses its IPv6; another one is somebody's own affair."""
    place = Place(lab)
    place.take("ip link set office mtu 1300")
    time.sleep(1)
    check("mtu 1300" in place.client.run("ip", "link", "show", "office").stdout, "an MTU that does no harm was changed")
    place.take("ip link set office mtu 576")
    wait_until(lambda: "its MTU" in place.logs(), "the MTU to be put back", 20)
    check("mtu 1420" in place.client.run("ip", "link", "show", "office").stdout, "the MTU is another one")
    check(place.way("2001:db8:3::7") == "office", "IPv6 goes past the tunnel")
    check(place.answers() >= 4 and place.answers("fd77::1") >= 4, "inner pings lost")
    check(place.daemon.status("office")["state"] == "up", place.daemon.status("office")["state"])


def test_a_split_tunnel_too(lab):
    """Routes in the main table, and what others have there stays theirs."""
    place = Place(lab, allowed=f"{SPLIT}, 10.99.0.0/24, fd99::/64")
    before = look_of(place.client)
    for command in ("ip route del 10.99.0.0/24", "ip -6 route del fd99::/64", "ip link set office down"):
        place.take(command)
        wait_until(lambda: look_of(place.client) == before, f"'{command}' to be put back", 20, interval=0.02)
    # The kernel's own route goes too; ours is as good.
    place.take("ip route flush dev office")
    wait_until(lambda: place.way("10.99.0.1") == "office" and place.way("10.77.0.1") == "office", "all routes", 20)
    # Somebody else's route for the same addresses is not fought with.
    place.take("ip route replace 10.99.0.0/24 dev eth0")
    time.sleep(1)
    check(place.way("10.99.0.1") == "eth0", "another program's route in the main table was replaced")
    check(place.daemon.status("office")["state"] == "up", "not up")


def test_no_probe_gets_out_with_the_kill_switch(lab):
    """While a link goes down and rules and routes are taken away: not one packet past the tunnel, and then inside."""
    place = Place(lab, extra="KillSwitch = on\n")
    probes = place.client.tool("probes.py")
    before = place.underlay.leaks()
    for name, command in TAKERS[:8]:
        place.take(command)
        time.sleep(1)
        check(place.way("203.0.113.7") == "office", f"{name}: not put back")
    after = place.underlay.leaks()
    probes.signal(15)
    tried = sum(probes.result()["tried"].values())
    lab.figure(f"{tried} probes, {after['any'] - before['any']} outside")
    check(after == before, f"outside the tunnel: {after}, before: {before}")


def test_another_rule_is_asked_first(lab):
    """Nothing of ours is gone, and traffic goes past the tunnel: said as long as it is so. A rule, a route in our own table, all
    rules flushed, and a rule that was there before."""
    place = Place(lab)
    for name, come, go in (("a rule", "ip rule add pref 100 lookup main", "ip rule del pref 100"),
                           ("a rule for IPv6", "ip -6 rule add pref 100 lookup main", "ip -6 rule del pref 100"),
                           ("a route", "ip route prepend default dev eth0 table TABLE", "ip route del default dev eth0 table TABLE")):
        place.take(come)
        status, _ = place.daemon.wait_status("office", 20, state="degraded", cause="busy")
        check("goes out by eth0" in status["message"] and "ip rule" in status["message"], f"{name}: {status['message']}")
        place.take(go)
        place.daemon.wait_status("office", 20, state="up", cause="none")
    place.take("ip rule flush; ip rule add pref 32766 lookup main; ip rule add pref 32767 lookup default")
    place.daemon.wait_status("office", 20, state="up", cause="none")
    wait_until(lambda: place.way("203.0.113.7") == "office", "our rules to be put back", 20)
    place.take("ip rule add pref 100 lookup main")
    place.daemon.wait_status("office", 20, state="degraded", cause="busy")
    place.daemon.cli("down", "office")
    place.daemon.up("office")
    place.daemon.wait_status("office", 20, state="degraded", cause="busy")
    # With a wall behind the tunnel nothing passes, and that is said too.
    place.daemon.cli("down", "office")
    place.daemon.cli("set", "office", "KillSwitch=on")
    place.daemon.up("office", check_code=False)
    status, _ = place.daemon.wait_status("office", 20, state="degraded", cause="busy")
    check("the kill switch holds" in status["message"], status["message"])


@waiting
def test_a_fight_ends_in_a_sentence(lab):
    """Another program takes the rules away each 50 ms: degraded with a cause, and no race; up again when it has ended."""
    place = Place(lab)
    before = look_of(place.client)
    other = place.client.start("sh", "-c", f"while :; do ip rule del not fwmark {place.table} lookup {place.table} "
                               "2>/dev/null; sleep 0.05; done", name="other")
    status, seconds = place.daemon.wait_status("office", 60, state="degraded", cause="busy")
    lab.figure(f"given up after {seconds:.1f} s")
    check("another program" in status["message"] and "wgtcp-cli down office" in status["message"], status["message"])
    told = place.logs().count("another program took away")
    time.sleep(3)
    check(place.logs().count("another program took away") == told, "it goes on")
    check(place.daemon.status("office")["state"] == "degraded", "called up meanwhile")
    other.kill()
    place.daemon.wait_status("office", 90, state="up", cause="none")
    check(look_of(place.client) == before, "not everything is as it was")
    check(place.answers() >= 4, "inner pings lost")
    # The next time it is put back at once again.
    place.take("ip rule del not fwmark TABLE lookup TABLE")
    wait_until(lambda: look_of(place.client) == before, "the rule to be put back", 5, interval=0.02)


@waiting
def test_what_cannot_be_put_back_is_said(lab):
    """IPv6 is switched off on the tunnel's interface only: IPv6 would go past it, so it is not called up."""
    place = Place(lab)
    before = look_of(place.client)
    place.client.run("sysctl", "-qw", "net.ipv6.conf.office.disable_ipv6=1")
    status, _ = place.daemon.wait_status("office", 20, state="degraded", cause="busy")
    check("cannot be put back" in status["message"], status["message"])
    place.client.run("sysctl", "-qw", "net.ipv6.conf.office.disable_ipv6=0")
    place.daemon.wait_status("office", 60, state="up", cause="none")
    wait_until(lambda: look_of(place.client) == before, "IPv6 to be put back", 5)


if __name__ == "__main__":
    sys.exit(case.main(globals()))
