# SPDX-License-Identifier: MIT
"""The client's network changes under it, or the machine sleeps."""

import pathlib
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lib import case, machine  # noqa: E402
from lib.case import main_path, waiting  # noqa: E402
from lib.lab import check, wait_until  # noqa: E402
from lib.network import Site  # noqa: E402
from lib.tunnel import office  # noqa: E402

INNER = "10.77.0.1"


class Flow:
    """An inner TCP connection and a ping that run over what happens."""

    def __init__(self, site):
        self.site = site
        self.serve = site.server.tool("transfer.py", "serve", INNER, "5001")
        self.serve.wait_for_text("listening")
        self.transfer = site.client.tool("transfer.py", "send", INNER, "5001", "--mbit", "2")
        self.pings = site.client.tool("pinger.py", INNER, "--interval", "20")
        time.sleep(1)

    def end(self, bound, what):
        time.sleep(0.5)
        for program in self.pings, self.transfer:
            program.signal(signal.SIGTERM)
        pings, moved = self.pings.result(), self.transfer.result()
        gap = pings["longest_gap_ms"] / 1000
        self.site.lab.figure(f"{what}: longest gap {gap:.2f} s (bound {bound} s)")
        check(moved["equal"], "the inner TCP connection lost bytes")
        check(gap <= self.site.lab.bound(bound), f"{what}: gap of {gap:.2f} s")


def place(lab, **keywords):
    site = Site(lab)
    server, daemon, _, _ = office(site, **keywords)
    return site, server, daemon


def second_uplink(lab, site):
    """Another way from the client to the router, without an address on the client yet."""
    router = site.router.host
    lab.wire(site.client, "eth1", router, "c1")
    router.run("ip", "address", "add", "203.0.113.1/24", "dev", "c1")


def use(site, device, address, gateway, metric=None):
    site.client.run("ip", "link", "set", device, "up")
    site.client.run("ip", "address", "replace", f"{address}/24", "dev", device)
    site.client.run("ip", "route", "replace", "default", "via", gateway, *(["metric", metric] if metric else []))


def change_address(lab, transport):
    """A socket bound to the old address would send into nothing, without an error."""
    site, server, daemon = place(lab, client_extra=f"Transport = {transport}\n")
    daemon.up("office")
    flow = Flow(site)
    site.client.run("ip", "address", "del", "192.0.2.2/24", "dev", "eth0")
    use(site, "eth0", "192.0.2.77", "192.0.2.1")
    time.sleep(3)
    flow.end(2, f"another address, {transport}")


@main_path
def test_another_address_over_udp(lab):
    change_address(lab, "udp")


@main_path
def test_another_address_over_tcp(lab):
    change_address(lab, "tcp")


def change_uplink(lab, transport):
    site, server, daemon = place(lab, client_extra=f"Transport = {transport}\n")
    second_uplink(lab, site)
    daemon.up("office")
    flow = Flow(site)
    site.client.run("ip", "link", "set", "eth0", "down")
    use(site, "eth1", "203.0.113.2", "203.0.113.1")
    time.sleep(3)
    flow.end(2, f"another uplink, {transport}")


def test_another_uplink_over_udp(lab):
    change_uplink(lab, "udp")


def test_another_uplink_over_tcp(lab):
    change_uplink(lab, "tcp")


def test_another_uplink_with_the_old_one_still_there(lab):
    """The better one comes: both carriers move to it."""
    site, server, daemon = place(lab, client_extra="Transport = tcp\n")
    second_uplink(lab, site)
    site.client.run("ip", "route", "replace", "default", "via", "192.0.2.1", "metric", "200")
    site.client.run("ip", "route", "del", "default", "via", "192.0.2.1", "metric", "0", check_code=False)
    daemon.up("office")
    use(site, "eth1", "203.0.113.2", "203.0.113.1", 100)

    def ways():
        lines = site.client.run("ss", "-Htn", "state", "established").stdout.splitlines()
        return [line.split()[2] for line in lines if line.split()[3].endswith(":51820")]
    wait_until(lambda: ways() and all(way.startswith("203.0.113.2:") for way in ways()), "TCP on the better uplink", 10)
    result = site.client.tool("pinger.py", INNER, "--count", "5", "--grace", "3").result()
    check(result["lost"] == 0, f"{result['lost']} pings lost")


def test_default_route_is_gone_for_a_while(lab):
    """By a full tunnel: nothing loops, and it goes on when the route is back."""
    site, server, daemon = place(lab)
    text = (daemon.config / "office.conf").read_text()
    daemon.profile("office", text.replace("AllowedIPs = 10.77.0.0/24, fd77::/64", "AllowedIPs = 0.0.0.0/0, ::/0"))
    daemon.up("office")
    flow = Flow(site)
    site.client.run("ip", "route", "del", "default", "via", "192.0.2.1")
    time.sleep(3)
    before = site.client.run("cat", "/sys/class/net/office/statistics/tx_packets").stdout
    time.sleep(1)
    after = site.client.run("cat", "/sys/class/net/office/statistics/tx_packets").stdout
    check(int(after) - int(before) < 500, f"{int(after) - int(before)} packets in a second: something goes in circles")
    site.client.run("ip", "route", "replace", "default", "via", "192.0.2.1")
    time.sleep(3)
    flow.end(4 + 2, "default route gone for 4 s")


# ---- sleep ----

def freeze(site, daemon, number):
    """Daemon, spawner, probe and engine of the client, as a machine that sleeps stops them."""
    lines = site.client.run("ps", "-eo", "pid,stat,args").stdout.splitlines()
    for line in lines:
        pid, state, program = line.split()[:3]
        if state[0] != "Z" and ("wgtcpd" in program or "--inherited" in line):
            site.client.run("kill", f"-{number}", pid)


class Login:
    """A bus on which somebody is called logind, since a signal counts only from its sender's name."""

    def __init__(self, site):
        machine.own_etc(site.client)
        machine.start_bus(site.client)
        self.site = site
        self.program = site.client.tool("login.py", stdin=-1, env={"DBUS_SYSTEM_BUS_ADDRESS": machine.BUS})
        self.program.wait_for_text("ready")

    def say(self, begins):
        self.program.process.stdin.write(b"sleep\n" if begins else b"wake\n")
        self.program.process.stdin.flush()
        time.sleep(0.05)


def sleeps(lab, transport, seconds, link=False):
    site = Site(lab)
    login = Login(site)
    server, daemon, _, _ = office(site, client_extra=f"Transport = {transport}\n")
    daemon.up("office")
    serve = site.server.tool("transfer.py", "serve", INNER, "5001")
    serve.wait_for_text("listening")
    transfer = site.client.tool("transfer.py", "send", INNER, "5001", "--mbit", "1", "--patience", "200")
    time.sleep(1)
    login.say(True)
    freeze(site, daemon, "STOP")
    transfer.process.send_signal(signal.SIGSTOP)  # a machine that sleeps does not send either
    if link:
        site.client.run("ip", "link", "set", "eth0", "down")
    time.sleep(seconds)
    freeze(site, daemon, "CONT")
    transfer.process.send_signal(signal.SIGCONT)
    login.say(False)
    if link:
        time.sleep(2)
        use(site, "eth0", "192.0.2.2", "192.0.2.1")
    pings = site.client.tool("pinger.py", INNER, "--interval", "20", "--seconds", "8").result()
    gap = pings["longest_gap_ms"] / 1000
    lab.figure(f"{seconds} s of sleep, {transport}: traffic again after {gap:.2f} s (bound 5 s)")
    check(pings["received"] and gap <= lab.bound(5), f"traffic only {gap:.2f} s after the sleep")
    transfer.signal(signal.SIGTERM)
    check(transfer.result()["equal"], "the inner TCP connection lost bytes")
    check("awake again" in daemon.cli("logs").stdout, "the sleep was not noticed")


@waiting
def test_sleep_over_udp(lab):
    """A fresh handshake at once on resume."""
    sleeps(lab, "udp", 60 if lab.long else 20)


@waiting
def test_sleep_over_tcp(lab):
    sleeps(lab, "tcp", 60 if lab.long else 20)


@waiting
def test_sleep_of_a_minute(lab):
    sleeps(lab, "auto", 60)


@waiting
def test_sleep_after_which_the_old_connection_is_dead(lab):
    """The middlebox has forgotten it, and says nothing."""
    site = Site(lab)
    login = Login(site)
    server, daemon, _, _ = office(site, client_extra="Transport = tcp\n")
    daemon.up("office")
    line = next(x for x in site.client.run("ss", "-Htn", "state", "established").stdout.splitlines()
                if x.split()[3].endswith(":51820"))
    port = line.split()[2].rsplit(":", 1)[1]
    login.say(True)
    freeze(site, daemon, "STOP")
    site.router.block(f"tcp sport {port}", "up")
    site.router.block(f"tcp dport {port}", "down")
    time.sleep(10)
    freeze(site, daemon, "CONT")
    login.say(False)
    pings = site.client.tool("pinger.py", INNER, "--interval", "20", "--seconds", "8").result()
    gap = pings["longest_gap_ms"] / 1000
    lab.figure(f"traffic again after {gap:.2f} s (bound 5 s)")
    check(pings["received"] and gap <= lab.bound(5), f"traffic only {gap:.2f} s after the sleep")


@waiting
def test_sleep_with_the_link_off_until_later(lab):
    """Asleep, awake without a link, and then with one."""
    sleeps(lab, "auto", 10, link=True)


def test_frozen_without_any_signal(lab):
    """Only stopped, as a virtual machine is: nobody tells."""
    site, server, daemon = place(lab)
    daemon.up("office")
    freeze(site, daemon, "STOP")
    time.sleep(60 if lab.long else 15)
    freeze(site, daemon, "CONT")
    pings = site.client.tool("pinger.py", INNER, "--interval", "20", "--seconds", "6").result()
    gap = pings["longest_gap_ms"] / 1000
    lab.figure(f"traffic again after {gap:.2f} s (bound 5 s)")
    check(pings["received"] and gap <= lab.bound(5), f"traffic only {gap:.2f} s later")


test_frozen_without_any_signal = waiting(test_frozen_without_any_signal)


def test_clock_that_went_back_an_hour(lab):
    """A server takes an older timestamp for a replay, so ours never go back, whatever the clock does."""
    site, server, daemon = place(lab)
    daemon.program.stop()
    (daemon.state / "timestamp").write_text(f"{int(time.time()) + 3600}.000000000\n")
    daemon.start()
    daemon.up("office")  # the server has now seen the time in an hour
    daemon.cli("down", "office")
    for kill in False, True:
        daemon.program.kill() if kill else daemon.program.stop()
        daemon.start()
        seconds, done = daemon.up("office", check_code=False)
        check(done.returncode == 0, f"up after the clock went back: {done.returncode} {done.stderr.strip()}")
        daemon.cli("down", "office")


if __name__ == "__main__":
    sys.exit(case.main(globals()))
