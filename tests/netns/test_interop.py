# SPDX-License-Identifier: MIT
"""Hand in hand with an implementation that nobody here wrote: Debian's wireguard-go, over UDP."""

import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lib import case  # noqa: E402
from lib.case import main_path, waiting  # noqa: E402
from lib.lab import check, wait_until  # noqa: E402
from lib.network import Site  # noqa: E402
from lib.tunnel import (PORT, Key, engine, interface_text, peer_text, preshared_key, wireguard_go)  # noqa: E402

LEFT = ["10.66.0.1/24", "fd66::1/64"]
RIGHT = ["10.66.0.2/24", "fd66::2/64"]
LEFT_ALLOWED, RIGHT_ALLOWED = "10.66.0.1/32, fd66::1/128", "10.66.0.2/32, fd66::2/128"


def two(lab, left=engine, right=wireguard_go, outer=4, psk=None, left_endpoint=True, right_endpoint=False,
        left_keepalive=None, right_keepalive=None):
    """left on the client's host, right on the server's. Both listen, so that either can have an endpoint."""
    site = Site(lab)
    left_key, right_key = Key(), Key()
    client, server = ("192.0.2.2", "198.51.100.2") if outer == 4 else ("[2001:db8:1::2]", "[2001:db8:2::2]")
    b = right(site.server, "wg-b", RIGHT, interface_text(right_key, PORT) + peer_text(
        left_key, LEFT_ALLOWED, f"{client}:{PORT}" if right_endpoint else None, psk, right_keepalive))
    a = left(site.client, "wg-a", LEFT, interface_text(left_key, PORT) + peer_text(
        right_key, RIGHT_ALLOWED, f"{server}:{PORT}" if left_endpoint else None, psk, left_keepalive))
    return site, a, b, left_key, right_key


def ping(host, *targets, count=20, interval=20, size=56, lost=0):
    for target in targets:
        result = host.tool("pinger.py", target, "--count", count, "--interval", interval, "--size", size,
                           "--grace", "6").result()
        check(result["lost"] <= lost, f"{result['lost']} of {count} pings to {target} lost")
    return result


def both_families_both_sizes(host, *targets):
    ping(host, *targets)
    # As large as the tunnel's MTU: 1420 - 20 - 8, and for IPv6 1420 - 40 - 8.
    for target in targets:
        ping(host, target, count=5, size=1372 if ":" in target else 1392)


@main_path
def test_we_initiate_over_ipv4(lab):
    site, a, b, _, key = two(lab)
    both_families_both_sizes(site.client, "10.66.0.2", "fd66::2")
    check(a.endpoint(key) == f"198.51.100.2:{PORT}", "endpoint as wg shows it")
    check(site.router.count("tcp_up") == 0, "TCP packets towards a peer that answers UDP")


@main_path
def test_we_respond_over_ipv4(lab):
    site, a, b, _, _ = two(lab, left=wireguard_go, right=engine)
    both_families_both_sizes(site.client, "10.66.0.2", "fd66::2")


def test_we_initiate_over_ipv6(lab):
    site, a, b, _, key = two(lab, outer=6)
    both_families_both_sizes(site.client, "10.66.0.2", "fd66::2")
    check(a.endpoint(key) == f"[2001:db8:2::2]:{PORT}", "endpoint as wg shows it")


def test_we_respond_over_ipv6(lab):
    site, a, b, _, _ = two(lab, left=wireguard_go, right=engine, outer=6)
    both_families_both_sizes(site.client, "10.66.0.2", "fd66::2")


@main_path
def test_preshared_key(lab):
    site, a, b, _, key = two(lab, psk=preshared_key())
    ping(site.client, "10.66.0.2")
    # Another one on our side only: the next handshake must fail.
    path = lab.logs / "other.psk"
    path.write_text(preshared_key())
    before = a.handshake(key)
    a.wg("peer", key.public, "remove")
    a.wg("peer", key.public, "preshared-key", path, "endpoint", f"198.51.100.2:{PORT}", "allowed-ips", "10.66.0.2/32")
    result = site.client.tool("pinger.py", "10.66.0.2", "--count", "20", "--interval", "50").result()
    check(before and result["received"] == 0, "packets passed with different preshared keys")
    check(a.handshake(key) == 0, "a handshake was shown with different preshared keys")


def test_both_initiate_at_once(lab):
    """Whichever handshake wins, both directions work and stay."""
    site, a, b, left_key, right_key = two(lab, right_endpoint=True)
    for turn in range(3):
        pings = [site.client.tool("pinger.py", "10.66.0.2", "--count", "50", "--grace", "6"),
                 site.server.tool("pinger.py", "10.66.0.1", "--count", "50", "--grace", "6")]
        for program in pings:
            result = program.result()
            check(result["lost"] == 0, f"{result['lost']} of 50 pings lost in turn {turn}")
        # A new start on both sides: the peers forget their sessions.
        a.wg("peer", right_key.public, "remove")
        b.wg("peer", left_key.public, "remove")
        a.wg("peer", right_key.public, "endpoint", f"198.51.100.2:{PORT}", "allowed-ips", "10.66.0.2/32")
        b.wg("peer", left_key.public, "endpoint", f"192.0.2.2:{PORT}", "allowed-ips", "10.66.0.1/32")


@waiting
def test_keepalive_of_ours(lab):
    """Without any traffic of the user: a handshake at once, then one keepalive each interval, seen by the other."""
    site, a, b, left_key, _ = two(lab, left_keepalive=2)
    wait_until(lambda: b.handshake(left_key), "a handshake without traffic")
    keepalives = lambda: b.program.text().count("Receiving keepalive packet")  # noqa: E731
    before = keepalives()
    time.sleep(11)
    seen = keepalives() - before
    lab.figure(f"{seen:.0f} keepalives in 11 s at an interval of 2 s")
    check(4 <= seen <= 6, f"{seen} keepalives in 11 s at an interval of 2 s")


@waiting
def test_keepalive_of_theirs(lab):
    site, a, b, _, right_key = two(lab, left_endpoint=False, right_endpoint=True, right_keepalive=2)
    wait_until(lambda: a.handshake(right_key), "a handshake without traffic")
    before = a.received(right_key)
    time.sleep(11)
    seen = (a.received(right_key) - before) / 32
    check(4 <= seen <= 6, f"{seen} keepalives in 11 s at an interval of 2 s")


def move_client(site, to):
    site.client.run("ip", "address", "del", "192.0.2.2/24", "dev", "eth0")
    site.client.run("ip", "address", "add", f"{to}/24", "dev", "eth0")
    site.client.run("ip", "route", "replace", "default", "via", "192.0.2.1")


def test_we_roam(lab):
    site, a, b, left_key, _ = two(lab)
    ping(site.client, "10.66.0.2")
    pings = site.client.tool("pinger.py", "10.66.0.2")
    time.sleep(0.5)
    move_client(site, "192.0.2.77")
    wait_until(lambda: b.endpoint(left_key) == f"192.0.2.77:{PORT}", "wireguard-go to see the new address")
    time.sleep(0.5)
    pings.signal(15)
    result = pings.result()
    lab.figure(f"longest gap {result['longest_gap_ms']} ms")
    check(result["longest_gap_ms"] < 2000, f"{result['longest_gap_ms']} ms without an answer")


def test_they_roam(lab):
    site, a, b, left_key, _ = two(lab, left=wireguard_go, right=engine)
    ping(site.client, "10.66.0.2")
    move_client(site, "192.0.2.77")
    # wireguard-go keeps to its old source address until its socket is a new one.
    a.wg("listen-port", PORT + 9)
    ping(site.client, "10.66.0.2", lost=5)
    check(b.endpoint(left_key) == f"192.0.2.77:{PORT + 9}", f"our engine still shows {b.endpoint(left_key)}")
    ping(site.server, "10.66.0.1")


def test_they_roam_from_ipv4_to_ipv6(lab):
    site, a, b, left_key, right_key = two(lab, left=wireguard_go, right=engine)
    ping(site.client, "10.66.0.2")
    a.wg("peer", right_key.public, "endpoint", f"[2001:db8:2::2]:{PORT}")
    ping(site.client, "10.66.0.2", lost=5)
    check(b.endpoint(left_key) == f"[2001:db8:1::2]:{PORT}", f"our engine still shows {b.endpoint(left_key)}")
    ping(site.server, "fd66::1")


def test_20_peers(lab):
    """One engine, 20 wireguard-go interfaces: each gets its own packets, and only those."""
    site = Site(lab)
    server_key, keys = Key(), [Key() for _ in range(20)]
    config = interface_text(server_key, PORT)
    for i, key in enumerate(keys):
        config += peer_text(key, f"10.66.0.{100 + i}/32", psk=preshared_key() if i % 2 else None)
    server = engine(site.server, "wg-b", ["10.66.0.1/24"], config)
    psk = {k: v[0] for k, v in server.show("preshared-keys").items()}
    for i, key in enumerate(keys):
        own = psk[key.public]
        wireguard_go(site.client, f"wg-{i}", [f"10.66.0.{100 + i}/32"], interface_text(key) + peer_text(
            server_key, "10.66.0.0/24", f"198.51.100.2:{PORT}", psk=None if own == "(none)" else own))
        # Answers leave through the interface whose address was asked.
        site.client.run("ip", "route", "add", "10.66.0.1", "dev", f"wg-{i}", "table", 100 + i)
        site.client.run("ip", "rule", "add", "from", f"10.66.0.{100 + i}", "lookup", 100 + i)
    pings = [site.client.tool("pinger.py", "10.66.0.1", "--from", f"wg-{i}", "--count", "20", "--interval", "50",
                              "--grace", "6") for i in range(20)]
    for i, program in enumerate(pings):
        result = program.result()
        check(result["lost"] == 0, f"peer {i} lost {result['lost']} of 20 pings")
    for i in range(20):
        ping(site.server, f"10.66.0.{100 + i}", count=3)
    check(all(server.handshake(key) for key in keys), "a peer without handshake")
    ports = {server.endpoint(key) for key in keys}
    check(len(ports) == 20, f"{len(ports)} different endpoints of 20 peers")


def rekey(lab, left, right):
    """A ping each 100 ms over two rekeys: not one may be lost, and each side must show new handshakes."""
    site, a, b, left_key, right_key = two(lab, left=left, right=right)
    ping(site.client, "10.66.0.2", count=3)
    first = a.handshake(right_key), b.handshake(left_key)
    pings = site.client.tool("pinger.py", "10.66.0.2", "--interval", "100", "--seconds", "255" if lab.long else "130")
    code = pings.wait(300)
    check(code == 0, "the pinger broke")
    result = pings.result()
    after = a.handshake(right_key) - first[0], b.handshake(left_key) - first[1]
    lab.figure(f"handshake renewed after {after[0]} s, longest gap {result['longest_gap_ms']} ms")
    check(result["lost"] == 0, f"{result['lost']} of {result['sent']} pings lost")
    wanted = 240 if lab.long else 120
    check(all(wanted - 2 <= s <= wanted + 12 for s in after), f"handshakes renewed after {after} s")


@waiting
def test_we_rekey(lab):
    rekey(lab, engine, wireguard_go)


@waiting
def test_they_rekey(lab):
    rekey(lab, wireguard_go, engine)


if __name__ == "__main__":
    sys.exit(case.main(globals()))
