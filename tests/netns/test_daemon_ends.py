# SPDX-License-Identifier: MIT
"""Daemon or engine die, are killed or are told to end."""

import json
import os
import pathlib
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lib import case  # noqa: E402
from lib.case import main_path, waiting  # noqa: E402
from lib.lab import check, wait_until  # noqa: E402
from lib.network import Site  # noqa: E402
from lib.tunnel import Daemon, Key, engine, interface_text, office, peer_text  # noqa: E402


def engines(host):
    """Processes of engines that a daemon started."""
    lines = host.run("ps", "-eo", "pid,stat,args").stdout.splitlines()
    return [int(line.split()[0]) for line in lines if "--inherited" in line and line.split()[1][0] != "Z"]


def answers(site):
    return site.client.tool("pinger.py", "10.77.0.1", "--count", "10", "--grace", "3").result()["received"]


def ours(routes):
    return [r for r in routes if "10.77." in r or "fd77:" in r]


def check_clean(site, before):
    check(site.client.links() == before[0], f"interfaces: {site.client.links()} instead of {before[0]}")
    check(site.client.routes() == before[1], "routes are not as they were before")
    check(not engines(site.client), f"engines still run: {engines(site.client)}")


@main_path
def test_up_and_down_leave_nothing(lab):
    site = Site(lab)
    server, daemon, _, _ = office(site)
    before = site.client.links(), site.client.routes()
    for _ in range(3):
        daemon.up("office")
        check("office" in site.client.links(), "no interface called like the tunnel")
        check(any(r.startswith("10.77.0.0/24 dev office") for r in site.client.routes()), "no route for AllowedIPs")
        check(answers(site) == 10, "pings lost")
        daemon.cli("down", "office")
        check_clean(site, before)
    check(daemon.cli("down", "office", check_code=False).returncode == 0, "a second down is an error")


@main_path
def test_daemon_is_killed_while_up(lab):
    site = Site(lab)
    server, daemon, _, _ = office(site)
    before = site.client.links(), site.client.routes()
    for turn in range(5 if lab.long else 2):
        daemon.up("office")
        daemon.program.kill()
        if turn % 2:
            time.sleep(0.5)
        daemon.start()
        seconds, done = daemon.up("office", check_code=False)
        check(done.returncode == 0, f"up after the kill: {done.returncode} {done.stderr.strip()}")
        check(site.client.links().count("office") == 1 and len(site.client.links()) == len(before[0]) + 1,
              f"interfaces: {site.client.links()}")
        check(len(engines(site.client)) == 1, f"{len(engines(site.client))} engines")
        routes = ours(site.client.routes())
        check(len(routes) == len(set(routes)), f"doubled routes: {routes}")
        check(answers(site) >= 9, "no ping after the restart")
        daemon.cli("down", "office")
        check_clean(site, before)


def test_daemon_is_killed_then_only_down(lab):
    site = Site(lab)
    server, daemon, _, _ = office(site)
    before = site.client.links(), site.client.routes()
    daemon.up("office")
    daemon.program.kill()
    daemon.start()
    done = daemon.cli("down", "office", check_code=False)
    check(done.returncode == 0, f"down after the kill: {done.returncode} {done.stderr.strip()}")
    wait_until(lambda: not engines(site.client), "the old engine to end")
    check_clean(site, before)


def test_daemon_is_killed_while_connecting(lab):
    site = Site(lab)
    server, daemon, _, _ = office(site)
    before = site.client.links(), site.client.routes()
    site.router.block("meta nfproto { ipv4, ipv6 }")
    up = site.client.start(lab.binary("wgtcp-cli"), "up", "office", "--socket", daemon.socket)
    wait_until(lambda: engines(site.client), "an engine")
    daemon.program.kill()
    code = up.wait(10)
    check(code == 1, f"wgtcp-cli up ended with {code} when its daemon went")
    site.router.open()
    daemon.start()
    daemon.up("office")
    check(answers(site) >= 9, "no ping after the restart")
    daemon.cli("down", "office")
    check_clean(site, before)


@main_path
def test_engine_is_killed(lab):
    """Noticed and restarted; the interface's routes are there again and traffic goes on."""
    site = Site(lab)
    server, daemon, _, _ = office(site)
    daemon.up("office")
    for turn in range(2):
        old = engines(site.client)
        check(len(old) == 1, f"{len(old)} engines")
        routes = ours(site.client.routes())
        pings = site.client.tool("pinger.py", "10.77.0.1", "--interval", "50")
        time.sleep(0.5)
        site.client.run("kill", "-9", old[0])
        wait_until(lambda: engines(site.client) and engines(site.client) != old, "another engine")
        daemon.wait_status("office", 20, state="up")
        time.sleep(1)
        pings.signal(15)
        result = pings.result()
        lab.figure(f"longest gap {result['longest_gap_ms']} ms")
        check(result["longest_gap_ms"] < lab.bound(5000), f"gap of {result['longest_gap_ms']} ms")
        check(ours(site.client.routes()) == routes, "routes differ after the restart")


@waiting
def test_engine_hangs(lab):
    """Stopped, as one that loops for ever would look: whoever asks for the status finds it out."""
    site = Site(lab)
    server, daemon, _, _ = office(site)
    daemon.up("office")
    first = engines(site.client)
    os.kill(first[0], signal.SIGSTOP)
    time.sleep(1)  # what was just read is not asked for again
    daemon.cli("status", "office", check_code=False)
    wait_until(lambda: engines(site.client) and engines(site.client) != first and len(engines(site.client)) == 1,
               "another engine instead", 40, interval=0.2)
    daemon.wait_status("office", timeout=30, state="up")
    check(answers(site) == 10, "pings lost")
    check("does not answer, and" in daemon.cli("logs").stdout, "the log does not say it")


@waiting
def test_rounds_leave_nothing(lab):
    """5 rounds, 200 in the long form: up, to TCP, every other time back, down."""
    site = Site(lab)
    server, daemon, _, _ = office(site)
    daemon.up("office")
    daemon.cli("down", "office")
    before = site.client.links(), site.client.routes()

    def handles():
        return len(site.client.run("ls", f"/proc/{daemon.program.pid}/fd").stdout.split())
    held = handles()
    for turn in range(200 if lab.long else 5):
        daemon.up("office")
        daemon.cli("switch", "office", "tcp")
        if turn % 2:
            daemon.cli("switch", "office", "udp")
        daemon.cli("down", "office")
        check_clean(site, before)
    check(handles() == held, f"{handles()} descriptors instead of {held}")
    # Without connections that the system itself still has to end.
    left = [line for line in site.client.run("ss", "-Hnatu").stdout.splitlines()
            if line.split()[1] in ("LISTEN", "UNCONN", "ESTAB", "SYN-SENT", "CLOSE-WAIT")]
    check(not left, f"sockets are left: {left}")


@waiting
def test_daemon_is_killed_at_any_point(lab):
    """Of a bring-up and of a switch, 6 or 50 of them: the next one leaves nothing of it."""
    site = Site(lab)
    server, daemon, _, _ = office(site)
    before = site.client.links(), site.client.routes()
    for turn in range(50 if lab.long else 6):
        line = ["up", "office"]
        if turn % 3 == 2:
            daemon.up("office")
            line = ["switch", "office", "tcp"]
        asks = site.client.start(lab.binary("wgtcp-cli"), *line, "--socket", daemon.socket, name="asks")
        time.sleep(turn % 10 * 0.012)
        # One that still waits for an answer would start a daemon of its own.
        asks.kill()
        daemon.program.kill()
        daemon.start()
        wait_until(lambda: not engines(site.client), "the old engine to end")
        check_clean(site, before)
    daemon.up("office")
    check(answers(site) >= 9, "no ping at the end")


def test_interface_is_deleted(lab):
    """Somebody takes the interface away: no longer called up, and up works again."""
    site = Site(lab)
    server, daemon, _, _ = office(site)
    before = site.client.links(), site.client.routes()
    daemon.up("office")
    site.client.run("ip", "link", "delete", "office")
    wait_until(lambda: (daemon.status("office") or {}).get("state") != "up", "the state to change")
    daemon.cli("down", "office", check_code=False)
    wait_until(lambda: not engines(site.client), "the engine to end")
    check_clean(site, before)
    daemon.up("office")
    check(answers(site) >= 9, "no ping")


def test_daemon_is_told_to_end(lab):
    site = Site(lab)
    server, daemon, _, _ = office(site)
    before = site.client.links(), site.client.routes()
    daemon.up("office")
    check(daemon.program.stop(), "wgtcpd did not end on SIGTERM")
    wait_until(lambda: not engines(site.client), "the engine to end")
    check_clean(site, before)


def test_only_one_daemon(lab):
    site = Site(lab)
    server, daemon, _, _ = office(site)
    second = site.client.run(lab.binary("wgtcpd"), "--foreground", "--socket", daemon.socket, "--config-dir",
                             daemon.config, "--state-dir", daemon.state, check_code=False, timeout=10)
    check(second.returncode != 0 and second.stderr.strip(), f"a second daemon started: {second.stderr}")
    check(daemon.cli("list").returncode == 0, "the second daemon broke the first")


def test_up_starts_a_daemon(lab):
    """As root, up starts the daemon if none runs."""
    site = Site(lab)
    server, daemon, _, _ = office(site)
    check(daemon.program.stop(), "wgtcpd did not end on SIGTERM")
    # Its default folders, in this host's own view of the file system.
    site.client.run("sh", "-c", "cp -a /etc /run/etc && mount --bind /run/etc /etc && mount -t tmpfs tmpfs /var/lib"
                    f" && rm -rf /etc/wgtcp && mkdir -m 755 /etc/wgtcp && cp {daemon.config}/office.conf /etc/wgtcp/"
                    " && chmod 600 /etc/wgtcp/office.conf")
    done = site.client.run(lab.binary("wgtcp-cli"), "up", "office", check_code=False)
    check(done.returncode == 0, f"up without a daemon: {done.returncode} {done.stderr.strip()}")
    check(answers(site) >= 9, "no ping")
    site.client.run(lab.binary("wgtcp-cli"), "down", "office")
    for line in site.client.run("ps", "-eo", "pid,comm").stdout.splitlines():
        if line.split()[1] == "wgtcpd":
            site.client.run("kill", line.split()[0])


def test_two_ups_at_once(lab):
    site = Site(lab)
    server, daemon, _, _ = office(site)
    ups = [site.client.start(lab.binary("wgtcp-cli"), "up", "office", "--socket", daemon.socket) for _ in range(3)]
    codes = [up.wait(30) for up in ups]
    check(codes == [0, 0, 0], f"exit codes {codes}")
    check(len(engines(site.client)) == 1, f"{len(engines(site.client))} engines")


def test_one_route_each(lab):
    """Several prefixes, IPv4 and IPv6, and a host prefix: one route each."""
    site = Site(lab)
    server, daemon, _, _ = office(site)
    text = (daemon.config / "office.conf").read_text().replace(
        "AllowedIPs = 10.77.0.0/24, fd77::/64", "AllowedIPs = 10.77.0.0/24, fd77::/64\nAllowedIPs = 10.255.1.1/32, "
        "172.16.1.0/24,192.168.1.0/24\nAllowedIPs = fd99:1::/48")
    daemon.profile("office", text)
    daemon.up("office")
    routes = "\n".join(site.client.routes())
    for prefix in "10.77.0.0/24", "10.255.1.1", "172.16.1.0/24", "192.168.1.0/24", "fd77::/64", "fd99:1::/48":
        # The kernel makes one by itself for the network of an address.
        lines = [line for line in routes.splitlines() if line.startswith(prefix + " dev office")]
        added = [line for line in lines if "proto kernel" not in line]
        check(lines and len(added) <= 1, f"routes to {prefix}: {lines}")


def test_one_of_two_peers_is_not_there(lab):
    """Traffic passes, so it is up; the one that is missing is named, and comes when it is there."""
    site = Site(lab)
    server, daemon, _, client_key = office(site)
    other = Key()
    text = (daemon.config / "office.conf").read_text() + peer_text(other, "10.78.0.0/24", "198.51.100.2:51899")
    daemon.profile("office", text)
    seconds, done = daemon.up("office", "--timeout", "4")
    check("degraded" in done.stdout and other.public in done.stdout, f"up says: {done.stdout}{done.stderr}")
    check(answers(site) == 10, "pings lost")
    status, _ = daemon.wait_status("office", state="degraded")
    check(status["message"].startswith("1 of 2 peers") and other.public in status["message"], status["message"])
    states = {peer["public_key"]: peer["state"] for peer in status["peers"]}
    check(states[other.public] != "up" and list(states.values()).count("up") == 1, f"peers: {states}")
    engine(site.server, "wg-late", ["10.78.0.1/24"], interface_text(other, 51899) + peer_text(
        client_key, "10.77.0.2/32"))
    status, _ = daemon.wait_status("office", timeout=90, state="up")
    check(not status["message"], status["message"])


def test_up_again_after_a_change(lab):
    """What is up stays as it is, and that its profile is another one now is said."""
    site = Site(lab)
    server, daemon, _, _ = office(site)
    daemon.up("office")
    _, done = daemon.up("office")
    check("has changed" not in done.stderr, done.stderr)
    daemon.cli("set", "office", "MTU=1300")
    for _ in range(2):
        _, done = daemon.up("office")
        check(done.stderr.count("has changed since") == 1, done.stderr)
    daemon.cli("down", "office")
    _, done = daemon.up("office")
    check("has changed" not in done.stderr and daemon.status("office")["mtu"] == 1300, done.stderr)


def test_hundreds_of_profiles(lab):
    """More than one message of the protocol can hold."""
    site = Site(lab)
    server, daemon, _, _ = office(site)
    text = (daemon.config / "office.conf").read_text()
    for number in range(400):
        daemon.profile(f"office{number:03}", text.replace("[Interface]\n", "[Interface]\n# Name = " + "x" * 60 + "\n"))
    for command in "list", "status":
        done = daemon.cli(command, "--json")
        names = [entry["name"] for entry in json.loads(done.stdout)["tunnels"]]
        check(len(names) == 401 and names == sorted(set(names)), f"{command}: {len(names)} names")


if __name__ == "__main__":
    sys.exit(case.main(globals()))
