# SPDX-License-Identifier: MIT
"""The choice between UDP and TCP while a tunnel is in use."""

import base64
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lib import case, emulator  # noqa: E402
from lib.case import main_path, waiting  # noqa: E402
from lib.lab import check, wait_until  # noqa: E402
from lib.network import Site  # noqa: E402
from lib.tunnel import PORT, Daemon, Key, engine, interface_text, office, peer_text, wireguard_go  # noqa: E402

DATA = "udp length >= 40 @th,64,8 4"  # WireGuard's type 4: transport data, keepalives too


def hexed(key):
    return base64.b64decode(key.public).hex()


def serve_transfer(site):
    program = site.server.tool("transfer.py", "serve", "10.77.0.1", "5001")
    program.wait_for_text("listening")
    return program


def start_transfer(site, *options):
    return site.client.tool("transfer.py", "send", "10.77.0.1", "5001", *options)


@main_path
def test_udp_dropped_during_a_transfer(lab):
    site = Site(lab)
    server, daemon, _, client_key = office(site)
    daemon.up("office")
    serve_transfer(site)
    transfer = start_transfer(site, "--mbit", *(["400", "--mib", "1024"] if lab.long else ["50"]))
    time.sleep(2)
    check(daemon.status("office")["carrier"] == "udp", "not on UDP to begin with")
    site.router.block()
    _, seconds = daemon.wait_status("office", lab.bound(10) + 5, carrier="tcp", state="up")
    lab.figure(f"on TCP {seconds:.1f} s after the block (bound 10 s)")
    check(seconds <= lab.bound(10), f"on TCP only after {seconds:.1f} s")
    if not lab.long:
        time.sleep(4)
        transfer.signal(15)
    check(transfer.wait(600) == 0, f"the inner connection broke: {transfer.log.read_text()[-300:]}")
    result = transfer.result()
    lab.figure(f"{result['bytes'] >> 20} MiB at {result['mbit']} Mb/s, longest stall {result['longest_stall_ms']} ms")
    check(result["equal"], "hashes differ")
    check(result["longest_stall_ms"] > 4000, "the transfer was over before the block was felt")
    check(server.get()[1][hexed(client_key)]["carrier"] == "tcp", "the server does not follow")


@waiting
def test_returns_to_udp_by_itself(lab):
    site = Site(lab)
    server, daemon, _, _ = office(site)
    daemon.up("office")
    pings = site.client.tool("pinger.py", "10.77.0.1", "--interval", "100")
    site.router.block()
    _, away = daemon.wait_status("office", 20, carrier="tcp", state="up")
    site.router.open()
    _, back = daemon.wait_status("office", 90, carrier="udp", state="up")
    # It stays, and the connection on TCP is closed after 30 s.
    end = time.monotonic() + 33
    while time.monotonic() < end:
        check(daemon.status("office")["carrier"] == "udp", "left UDP again although it works")
        time.sleep(1)
    connections = site.client.run("ss", "-Htn", "state", "established", "dport", f"= :{PORT}").stdout.strip()
    check(not connections, f"TCP still open 30 s after the return: {connections}")
    pings.signal(15)
    result = pings.result()
    lab.figure(f"away after {away:.1f} s, back {back:.1f} s after the block was lifted,"
               f" longest gap {result['longest_gap_ms'] / 1000:.1f} s")
    check(54 <= back + 1 and back <= 75, f"back after {back:.1f} s")


@waiting
def test_short_outage_does_not_move_it_for_good(lab):
    """UDP is gone for 10 s: wherever it went meanwhile, it is on UDP in the end."""
    site = Site(lab)
    server, daemon, _, _ = office(site)
    daemon.up("office")
    pings = site.client.tool("pinger.py", "10.77.0.1", "--interval", "100")
    site.router.block()
    time.sleep(10)
    site.router.open()
    daemon.wait_status("office", 90, carrier="udp", state="up", udp="ok")
    pings.signal(15)
    result = pings.result()
    lab.figure(f"longest gap {result['longest_gap_ms'] / 1000:.1f} s")
    check(5000 < result["longest_gap_ms"] < 12000, f"{result['longest_gap_ms']} ms without an answer")


@main_path
def test_asked_to_try_udp_it_does_so_at_once(lab):
    site = Site(lab)
    server, daemon, _, _ = office(site)
    site.router.block()
    daemon.up("office")
    site.router.open()
    start = time.monotonic()
    daemon.cli("switch", "office", "auto")
    daemon.wait_status("office", 10, carrier="udp", state="up")
    lab.figure(f"back {time.monotonic() - start:.2f} s after being asked")
    check(time.monotonic() - start < lab.bound(3), "took too long")


def test_failed_trial_of_udp_is_not_felt(lab):
    """UDP is still dropped when it is tried again: the trial costs at most a moment."""
    site = Site(lab)
    server, daemon, _, _ = office(site)
    site.router.block()
    daemon.up("office")
    pings = site.client.tool("pinger.py", "10.77.0.1")
    for _ in range(3):
        daemon.cli("switch", "office", "auto", check_code=False)
        time.sleep(1)
    pings.signal(15)
    result = pings.result()
    lab.figure(f"longest gap {result['longest_gap_ms']} ms, {result['lost']} of {result['sent']} lost")
    check(daemon.status("office")["carrier"] == "tcp", "not on TCP any more")
    check(result["longest_gap_ms"] <= lab.bound(700), f"gap of {result['longest_gap_ms']} ms")


@main_path
def test_handshakes_pass_but_data_does_not(lab):
    """A target that answers: not called up on UDP, falls back, says why."""
    site = Site(lab, single=True)
    server, daemon, _, _ = office(site)
    site.router.block(DATA)
    seconds, done = daemon.up("office")
    status = daemon.status("office")
    lab.figure(f"up after {seconds:.1f} s, reason {status.get('reason')}")
    check(status["carrier"] == "tcp" and status["verified"] == "full",
          f"{status['state']} over {status['carrier']}, verified {status['verified']}")
    check(status["reason"] == "udp-no-data", f"reason {status['reason']}")
    check(site.router.blocked() > 0, "no data was tried over UDP")
    result = site.client.tool("pinger.py", "10.77.0.1", "--count", "20").result()
    check(result["lost"] == 0, "pings lost over TCP")


def test_large_packets_do_not_pass(lab):
    site = Site(lab, single=True)
    server, daemon, _, _ = office(site)
    site.router.block("udp length > 1300")
    seconds, done = daemon.up("office")
    status = daemon.status("office")
    lab.figure(f"up after {seconds:.1f} s, reason {status.get('reason')}")
    check(status["carrier"] == "tcp" and status["verified"] == "full",
          f"{status['state']} over {status['carrier']}, verified {status['verified']}")
    check(status["reason"] == "udp-no-large", f"reason {status['reason']}")
    result = site.client.tool("pinger.py", "10.77.0.1", "--count", "5", "--size", "1392").result()
    check(result["lost"] == 0, "full-size pings lost over TCP")


def test_data_stops_passing_later(lab):
    """As before, but in the middle of a session: handshakes still pass, so only an echo can tell."""
    site = Site(lab, single=True)
    server, daemon, _, _ = office(site)
    daemon.up("office")
    check(daemon.status("office")["carrier"] == "udp", "not on UDP to begin with")
    pings = site.client.tool("pinger.py", "10.77.0.1", "--interval", "100")
    time.sleep(1)
    site.router.block(DATA)
    status, seconds = daemon.wait_status("office", 25, carrier="tcp", state="up")
    time.sleep(1)
    pings.signal(15)
    lab.figure(f"on TCP after {seconds:.1f} s, longest gap {pings.result()['longest_gap_ms'] / 1000:.1f} s")
    check(seconds <= lab.bound(12), f"on TCP only after {seconds:.1f} s")


def silent_server(lab, rule=None, client_extra="", answers=False):
    """wireguard-go knows no echo of ours; without ICMP nobody answers."""
    site = Site(lab, single=True)
    server_key, client_key = Key(), Key()
    wireguard_go(site.server, "wg-srv", ["10.77.0.1/24"], interface_text(server_key, PORT) + peer_text(
        client_key, "10.77.0.2/32"))
    if not answers:
        site.server.run("sysctl", "-qw", "net.ipv4.icmp_echo_ignore_all=1")
    daemon = Daemon(site.client)
    daemon.profile("office", interface_text(client_key, extra=f"Address = 10.77.0.2/24\n{client_extra}") + peer_text(
        server_key, "10.77.0.0/24", f"198.51.100.2:{PORT}"))
    if rule:
        site.router.block(rule)
    return site, daemon


@main_path
def test_silent_target_is_not_judged(lab):
    """Nobody answers any echo, on no carrier: up, and it says that only the handshake was seen."""
    site, daemon = silent_server(lab)
    seconds, _ = daemon.up("office")
    status = daemon.status("office")
    lab.figure(f"up after {seconds:.1f} s")
    check((status["state"], status["carrier"], status["verified"]) == ("up", "udp", "handshake"),
          f"{status['state']} over {status['carrier']}, verified {status['verified']}")


def test_silent_target_with_data_dropped(lab):
    site, daemon = silent_server(lab, DATA)
    daemon.up("office")
    status = daemon.status("office")
    check(status["verified"] == "handshake", f"verified {status['verified']} though no data passes")
    check(status["state"] in ("up", "degraded"), f"state {status['state']}")


def test_icmp_target_that_answers(lab):
    """A peer of another make: verified by ICMP to the first address of the network."""
    site, daemon = silent_server(lab, answers=True)
    daemon.up("office")
    status, _ = daemon.wait_status("office", 5, state="up", verified="full")
    check(status["carrier"] == "udp", f"over {status['carrier']}")


def carrier_port(site):
    """The client's port of its established connection to the server."""
    lines = site.client.run("ss", "-Htn", "state", "established", "dport", f"= :{PORT}").stdout.split("\n")
    ports = [re.search(r":(\d+)\s+\S+:\d+", line).group(1) for line in lines if line.strip()]
    return ports[0] if len(ports) == 1 else None


@waiting
@main_path
def test_half_open_tcp(lab):
    """A middlebox forgets the connection: both ways dropped, no RST, default kernel settings."""
    site = Site(lab)
    server, daemon, _, _ = office(site)
    site.router.block()
    daemon.up("office")
    port, _ = wait_until(lambda: carrier_port(site), "one TCP connection")
    pings = site.client.tool("pinger.py", "10.77.0.1", "--interval", "100")
    time.sleep(1)
    site.router.block(f"tcp sport {port}")
    site.router.block(f"tcp dport {port}")
    start = time.monotonic()
    wait_until(lambda: carrier_port(site) not in (None, port), "another connection", 40)
    noticed = time.monotonic() - start
    time.sleep(2)
    pings.signal(15)
    result = pings.result()
    lab.figure(f"redialled after {noticed:.1f} s, longest gap {result['longest_gap_ms'] / 1000:.1f} s (bound 20 s)")
    check(result["longest_gap_ms"] <= lab.bound(20000), f"{result['longest_gap_ms']} ms without an answer")
    check(daemon.status("office")["state"] == "up", "not up after the redial")


def test_server_goes_and_comes_back(lab):
    """The server's engine is killed and started again: the tunnel is back without anybody's help."""
    site = Site(lab)
    server, daemon, server_key, client_key = office(site)
    site.router.block()
    daemon.up("office")
    server.program.signal(9)
    wait_until(lambda: "wg-srv" not in site.server.links(), "the server's interface to vanish")
    daemon.wait_status("office", 30, state="reconnecting")
    engine(site.server, "wg-srv", ["10.77.0.1/24"], interface_text(server_key, PORT) + peer_text(
        client_key, "10.77.0.2/32"))
    start = time.monotonic()
    pings = site.client.tool("pinger.py", "10.77.0.1", "--interval", "100")
    daemon.wait_status("office", 60, state="up")
    lab.figure(f"back after {time.monotonic() - start:.1f} s")
    pings.signal(15)
    check(pings.result()["received"] > 0 or site.client.tool(
        "pinger.py", "10.77.0.1", "--count", "20").result()["received"] > 15, "up, but no ping passes")


@waiting
def test_client_gets_another_address(lab):
    """A socket bound to the old address must not stay; UDP is tried at once on a changed network."""
    site = Site(lab)
    server, daemon, _, _ = office(site)
    daemon.up("office")
    for carrier in "udp", "tcp":
        if carrier == "tcp":
            site.router.block()
            daemon.cli("switch", "office", "tcp")
            daemon.cli("switch", "office", "auto", check_code=False)
        old, new = ("192.0.2.2", "192.0.2.70") if carrier == "udp" else ("192.0.2.70", "192.0.2.71")
        pings = site.client.tool("pinger.py", "10.77.0.1", "--interval", "50")
        time.sleep(0.5)
        site.client.run("ip", "address", "del", f"{old}/24", "dev", "eth0")
        site.client.run("ip", "address", "add", f"{new}/24", "dev", "eth0")
        site.client.run("ip", "route", "replace", "default", "via", "192.0.2.1")
        time.sleep(6)
        pings.signal(15)
        result = pings.result()
        lab.figure(f"{carrier}: longest gap {result['longest_gap_ms'] / 1000:.1f} s")
        check(result["longest_gap_ms"] < lab.bound(4000), f"{carrier}: gap of {result['longest_gap_ms']} ms")


def test_network_goes_and_comes_back(lab):
    """No route for a while: it waits, says so, and is back at once."""
    site = Site(lab)
    server, daemon, _, _ = office(site)
    daemon.up("office")
    site.client.run("ip", "link", "set", "eth0", "down")
    status, _ = daemon.wait_status("office", 30, cause="no-network")
    site.client.run("ip", "link", "set", "eth0", "up")
    site.client.run("ip", "address", "replace", "2001:db8:1::2/64", "dev", "eth0", "nodad")
    site.client.run("ip", "route", "replace", "default", "via", "192.0.2.1")
    _, seconds = daemon.wait_status("office", 20, state="up", cause="none")
    lab.figure(f"back {seconds:.1f} s after the route")
    check(seconds < lab.bound(6), f"back only after {seconds:.1f} s")
    check(site.client.tool("pinger.py", "10.77.0.1", "--count", "20").result()["received"] >= 18, "pings lost")


def test_bulk_over_a_lossy_wire(lab):
    """1 % loss and 50 ms, both ways at once over TCP: never stalls for good."""
    a, b, wire = emulator.pair(lab, "192.0.2.2", "192.0.2.1", "delay=25ms", "loss=1%", "rate=50mbit", "queue=256k")
    server_key, client_key = Key(), Key()
    server = engine(b, "wg-srv", ["10.77.0.1/24"], interface_text(server_key, PORT) + peer_text(
        client_key, "10.77.0.2/32"))
    daemon = Daemon(a)
    daemon.profile("office", interface_text(
        client_key, extra="Address = 10.77.0.2/24\nTransport = tcp\n") + peer_text(
            server_key, "10.77.0.0/24", f"192.0.2.1:{PORT}"))
    daemon.up("office")
    serves = [b.tool("transfer.py", "serve", "10.77.0.1", "5001"), a.tool("transfer.py", "serve", "10.77.0.2", "5001")]
    for serve in serves:
        serve.wait_for_text("listening")
    transfers = [a.tool("transfer.py", "send", "10.77.0.1", "5001"), b.tool("transfer.py", "send", "10.77.0.2", "5001")]
    time.sleep(10)
    for transfer in transfers:
        transfer.signal(15)
    for transfer, way in zip(transfers, ("up", "down")):
        check(transfer.wait(60) == 0, f"{way}: {transfer.log.read_text()[-300:]}")
        result = transfer.result()
        lab.figure(f"{way} {result['mbit']} Mb/s, longest stall {result['longest_stall_ms']} ms")
        check(result["equal"], f"{way}: hashes differ")
        check(result["longest_stall_ms"] < 5000, f"{way}: stalled for {result['longest_stall_ms']} ms")


if __name__ == "__main__":
    sys.exit(case.main(globals()))
