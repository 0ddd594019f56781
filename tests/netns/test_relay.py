# SPDX-License-Identifier: MIT
"""wgtcp-relay in front of a stock WireGuard server: same keys, same addresses, by TCP."""

import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lib import case  # noqa: E402
from lib.case import main_path, waiting  # noqa: E402
from lib.lab import check, cpu_s, wait_until  # noqa: E402
from lib.network import Site  # noqa: E402
from lib.relay import ClientRelay, resident_kib, start_relay  # noqa: E402
from lib.tunnel import PORT, Daemon, Key, engine, interface_text, peer_text, wireguard_go  # noqa: E402

INNER = ["10.77.0.1/24", "fd77::1/64"]
TCP_PORT = 443


def stock_server(site, stock, server_key, client_key):
    server = stock(site.server, "wg-srv", INNER,
                   interface_text(server_key, PORT) + peer_text(client_key, "10.77.0.2/32, fd77::2/128"))
    if stock is engine:
        server.set("transport=udp\n")  # as a stock server: nothing listens on TCP
    return server


def relayed(lab, stock=wireguard_go, client_extra="", peer_extra="", up=True, limit=None):
    """A stock server without TCP, the relay in front of it, and the client's daemon with a profile that knows both."""
    site = Site(lab)
    server_key, client_key = Key(), Key()
    server = stock_server(site, stock, server_key, client_key)
    relay = start_relay(site.server, server_key, f"0.0.0.0:{TCP_PORT}", f"[::]:{TCP_PORT}", forward=f"127.0.0.1:{PORT}", limit=limit)
    daemon = Daemon(site.client)
    daemon.profile("office", interface_text(
        client_key, extra=f"Address = 10.77.0.2/24, fd77::2/64\n{client_extra}") + peer_text(
            server_key, "10.77.0.0/24, fd77::/64", f"198.51.100.2:{PORT}",
            extra=f"TcpEndpoint = 198.51.100.2:{TCP_PORT}\n{peer_extra}"))
    if up:
        daemon.up("office")
    return site, server, relay, daemon, server_key, client_key


def transfer(site, mib):
    serve = site.server.tool("transfer.py", "serve", "10.77.0.1", "5001")
    serve.wait_for_text("listening")
    return site.client.tool("transfer.py", "send", "10.77.0.1", "5001", "--mib", str(mib))


def pings(host, target="10.77.0.1", count=50, lost=0, **options):
    result = host.tool("pinger.py", target, "--count", count, "--interval", options.get("interval", 20), "--size",
                       options.get("size", 56), "--grace", "6").result()
    check(result["lost"] <= lost, f"{result['lost']} of {count} pings to {target} lost")
    return result


def with_udp_blocked(lab, stock):
    site, server, relay, daemon, _, client_key = relayed(lab, stock, up=False)
    site.router.block()
    seconds, _ = daemon.up("office")
    status = daemon.status("office")
    check(status["carrier"] == "tcp", f"carrier {status['carrier']}")
    pings(site.client)
    pings(site.client, "fd77::1")
    pings(site.client, count=10, size=1392)
    moved = transfer(site, 256 if lab.long else 32).result()
    lab.figure(f"up in {seconds:.2f} s, {moved['bytes'] >> 20} MiB at {moved['mbit']} Mbit/s")
    check(moved["equal"], "hashes differ")
    # The server sees one address for each source, within 127.0.0.0/8 and never an end of a network.
    address = server.endpoint(client_key).rpartition(":")[0]
    check(re.fullmatch(r"127\.\d+\.\d+\.\d+", address) and address.split(".")[3] not in ("0", "255"),
          f"the server sees its client at {address}")


@main_path
def test_wireguard_go_behind_the_relay(lab):
    """UDP blocked: up over TCP through the relay, ping in both families, full size, a transfer with its hash."""
    with_udp_blocked(lab, wireguard_go)


@main_path
def test_our_engine_behind_the_relay(lab):
    with_udp_blocked(lab, engine)


def switches(lab, stock):
    site, server, relay, daemon, _, client_key = relayed(lab, stock)
    serve = site.server.tool("transfer.py", "serve", "10.77.0.1", "5001")
    serve.wait_for_text("listening")
    moving = site.client.tool("transfer.py", "send", "10.77.0.1", "5001", "--mbit", "50")
    pinger = site.client.tool("pinger.py", "10.77.0.1")
    time.sleep(1)
    handshake = server.handshake(client_key)
    count = 40 if lab.long else 8
    for number in range(count):
        carrier = "udp" if number % 2 else "tcp"
        daemon.cli("switch", "office", carrier)
        time.sleep(1)
        check(daemon.status("office")["carrier"] == carrier, f"switch {number}: not on {carrier}")
        where = server.endpoint(client_key)
        check(where.startswith("127." if carrier == "tcp" else "192.0.2.2:"), f"switch {number}: server sends to {where}")
    # Well within the 120 s of a session.
    if not lab.long:
        check(server.handshake(client_key) == handshake, "a switch needed a new handshake")
    pinger.signal(15)
    moving.signal(15)
    ping, moved = pinger.result(), moving.result()
    lab.figure(f"{count} switches, longest gap {ping['longest_gap_ms']} ms (bound 200 ms), {ping['lost']} of"
               f" {ping['sent']} pings lost, {moved['bytes'] >> 20} MiB equal")
    check(moved["equal"], "hashes differ")
    check(ping["longest_gap_ms"] <= lab.bound(200), f"gap of {ping['longest_gap_ms']} ms")


@main_path
def test_switch_between_udp_and_the_relay(lab):
    """The session that began by UDP goes on through the relay and back, under load, without a new handshake."""
    switches(lab, wireguard_go)


def test_switch_with_our_engine_behind_the_relay(lab):
    switches(lab, engine)


def test_relay_started_anew(lab):
    """The new relay knows nothing of the session; the client goes on in it all the same."""
    site, server, relay, daemon, server_key, client_key = relayed(lab)
    daemon.cli("switch", "office", "tcp")
    pings(site.client)
    handshake = server.handshake(client_key)
    gaps = []
    for _ in range(3):
        pinger = site.client.tool("pinger.py", "10.77.0.1")
        time.sleep(0.5)
        relay.kill()
        relay = start_relay(site.server, server_key, f"0.0.0.0:{TCP_PORT}", f"[::]:{TCP_PORT}",
                            forward=f"127.0.0.1:{PORT}")
        time.sleep(3)
        pinger.signal(15)
        gaps.append(pinger.result()["longest_gap_ms"])
        check(daemon.status("office")["carrier"] == "tcp", "not on TCP any more")
    lab.figure(f"longest gaps {', '.join(map(str, gaps))} ms")
    check(max(gaps) <= lab.bound(2000), f"gap of {max(gaps)} ms")
    check(server.handshake(client_key) == handshake, "it needed a new handshake")


@waiting
def test_server_down_and_back(lab):
    """The forward target goes away and comes back: connections are held, and traffic goes on by itself."""
    site, server, relay, daemon, server_key, client_key = relayed(lab)
    daemon.cli("switch", "office", "tcp")
    pings(site.client)
    server.program.stop()
    site.client.tool("pinger.py", "10.77.0.1", "--interval", "100", "--seconds", "8").wait()
    check("nobody listens" in relay.text(), "the relay does not say that the server is gone")
    server = stock_server(site, wireguard_go, server_key, client_key)
    pinger = site.client.tool("pinger.py", "10.77.0.1", "--interval", "50")
    _, seconds = wait_until(lambda: server.handshake(client_key), "a handshake with the new server", 60)
    time.sleep(2)
    pinger.signal(15)
    pinger.result()
    pings(site.client)
    lab.figure(f"handshake {seconds:.1f} s after the server was back")
    check(relay.running(), "the relay has ended")


def under_load(lab, stock, rate):
    """The server wants cookies of everybody. The relay answers it; not one cookie reply goes to TCP."""
    site, server, relay, daemon, server_key, client_key = relayed(lab, stock, up=False)
    site.router.block()
    site.router.host.nft("""
table inet records {
    counter cookie_replies { }
    counter initiations { }
    chain seen {
        type filter hook prerouting priority -200;
        iifname "s0" tcp sport 443 @ih,0,64 0x000000480000aca5 @ih,64,32 0x03000000 counter name "cookie_replies"
        iifname "c0" tcp dport 443 @ih,0,64 0x0000009c0000b625 counter name "initiations"
    }
}
""")
    # Cookie replies of the server to the relay's flows; the flood comes from 127.0.0.1.
    site.server.nft("""
table inet cookies {
    counter asked { }
    chain seen {
        type filter hook input priority 0;
        iifname "lo" udp sport 51820 udp length 72 @ih,0,32 0x03000000 ip daddr != 127.0.0.1 counter name "asked"
    }
}
""")
    # A quick machine may work off one flood, or be between two bursts just then: a few tries, with more of them.
    floods, worst = [], 0
    for _ in range(6):
        if len(floods) < 3:
            floods.append(site.server.tool("initiations.py", "127.0.0.1", PORT, server_key.public, "--rate", rate))
            floods[-1].wait_for_text("ready")
        time.sleep(0.5)
        seconds, _ = daemon.up("office", "--timeout", "40")
        worst = max(worst, seconds)
        pings(site.client, lost=10)  # the server's own socket overflows
        if site.server.counter("cookies", "asked") > 0:
            break
        daemon.cli("down", "office")
    seconds = worst
    for flood in floods:
        flood.stop()
    count = site.router.host.counter("records", "cookie_replies")
    sent = site.router.host.counter("records", "initiations")
    asked = site.server.counter("cookies", "asked")
    lab.figure(f"up in {seconds:.2f} s at {len(floods)} x {rate} forged initiations a second, {sent} initiations of the client, {asked}"
               f" cookie replies to the relay")
    check(asked > 0, "the server never wanted a cookie of the relay: nothing was tested")
    check(sent > 0, "the gauge saw no initiation: it does not measure")
    check(count == 0, f"{count} cookie replies went to TCP")
    check(seconds <= lab.bound(11), f"up in {seconds:.2f} s (bound 11 s)")


def test_wireguard_go_under_load(lab):
    under_load(lab, wireguard_go, 30000)


def test_our_engine_under_load(lab):
    under_load(lab, engine, 2000)


def test_junk_is_held_not_closed(lab):
    """Whatever a stranger says, its connection stays for a while: a WGTCP peer would redial without a pause."""
    site, server, relay, daemon, _, _ = relayed(lab)
    crowds = {say: site.client.tool("connections.py", "198.51.100.2", TCP_PORT, "--count", 4, "--say", say, "--seconds",
                                    "12") for say in ("silence", "junk", "bad-mac", "http")}
    daemon.cli("switch", "office", "tcp")
    pings(site.client)
    for say, crowd in crowds.items():
        result = crowd.result()
        lab.figure(f"{say}: closed after {result['first_closed_s']} to {result['last_closed_s']} s")
        check(result["opened"] == 4 and result["closed"] == 4, f"{say}: {result}")
        least = 5.5 if say == "silence" else 9.5
        check(least <= result["first_closed_s"] and result["last_closed_s"] <= 11, f"{say}: {result}")
    pings(site.client)


def crowd(lab, count, sources, bound_s):
    """Idle connections, each opened again when it is closed, while somebody who has never been here connects."""
    site, server, relay, daemon, _, client_key = relayed(lab, up=False)
    other = lab.host("crowd")
    lab.wire(other, "eth0", site.server, "crowd0")
    other.run("ip", "address", "add", "203.0.113.2/16", "dev", "eth0")
    site.server.run("ip", "address", "add", "203.0.0.1/16", "dev", "crowd0")
    addresses = [f"203.0.{number // 250 + 1}.{number % 250 + 1}" for number in range(sources)]
    for address in addresses:
        other.run("ip", "address", "add", f"{address}/16", "dev", "eth0")
    other.run("sysctl", "-qw", "net.ipv4.ip_local_port_range=1024 65535")
    site.router.block()
    before = resident_kib(relay)
    idle = other.tool("connections.py", "203.0.0.1", TCP_PORT, "--count", count, "--again",
                      *[word for address in addresses for word in ("--from", address)])
    idle.wait_for_text("open", 60)
    time.sleep(1)
    took = []
    for _ in range(100 if lab.long else 2):
        seconds, _ = daemon.up("office", "--timeout", "40")
        took.append(seconds)
        pings(site.client, count=5)
        daemon.cli("down", "office")
    daemon.up("office", "--timeout", "40")
    time.sleep(8)
    pings(site.client)
    grown = resident_kib(relay) - before
    idle.stop()
    worst = sorted(took)[int(len(took) * 0.99) - 1] if lab.long else max(took)
    lab.figure(f"{count} connections from {sources} sources: {len(took)} connects, first {took[0]:.2f} s, p99 {worst:.2f} s (bound"
               f" {bound_s} s), {grown} KiB more memory (bound 4096 KiB)")
    check(worst <= lab.bound(bound_s), f"connect took {worst:.2f} s")
    check(lab.sanitized or grown <= 4096, f"{grown} KiB more memory")


def test_idle_connections_from_one_source(lab):
    crowd(lab, 10000 if lab.long else 1000, 1, 2)


def test_idle_connections_from_many_sources(lab):
    crowd(lab, 4096 if lab.long else 2048, 256 if lab.long else 128, 10)


def test_few_descriptors(lab):
    """With hardly any the relay keeps fewer places: it does not run short, who is in stays in, who comes later gets in."""
    site, server, relay, daemon, _, _ = relayed(lab, limit=64)
    daemon.cli("switch", "office", "tcp")
    pings(site.client)
    other = lab.host("crowd")
    lab.wire(other, "eth0", site.server, "crowd0")
    other.run("ip", "address", "add", "203.0.113.2/24", "dev", "eth0")
    site.server.run("ip", "address", "add", "203.0.113.1/24", "dev", "crowd0")
    crowd = other.tool("connections.py", "203.0.113.1", TCP_PORT, "--count", 90, "--again")
    crowd.wait_for_text("open", 60)
    before, most = cpu_s([relay.pid]), 0
    for _ in range(20):
        most = max(most, len(list(pathlib.Path(f"/proc/{relay.pid}/fd").iterdir())))
        time.sleep(0.1)
    pings(site.client, count=10)
    spent = cpu_s([relay.pid]) - before
    daemon.cli("down", "office")
    site.router.block()
    seconds, _ = daemon.up("office", "--timeout", "20")
    pings(site.client, count=10)
    crowd.stop()
    lab.figure(f"at most {most} of 64 descriptors in use, {spent:.2f} s of 2.2 s; a connect beside the crowd in {seconds:.2f} s")
    check(most <= 64, f"{most} descriptors in use")


@waiting
def test_half_open_connections_end(lab):
    """Both ways dropped without a reset: the relay's end is gone within the keepalive's time."""
    site, server, relay, daemon, _, _ = relayed(lab)
    daemon.cli("switch", "office", "tcp")
    pings(site.client)

    def connections():
        return len(site.server.run("ss", "-Htn", "state", "established", f"sport = :{TCP_PORT}").stdout.splitlines())
    check(connections() >= 1, "no connection to begin with")
    site.router.block("meta l4proto tcp")
    _, seconds = wait_until(lambda: connections() == 0, "the end of a half-open connection", 60)
    lab.figure(f"ended after {seconds:.1f} s")
    check(seconds <= 45, f"ended after {seconds:.1f} s")


# ---- beside a stock client ----


def beside(lab, behind_relay=False, udp="198.51.100.2", tcp="198.51.100.2"):
    """wireguard-go as the kernel, its endpoint the relay's loopback port; the server our engine, or a stock one behind a
    relay of its own."""
    site = Site(lab)
    server_key, client_key = Key(), Key()
    allowed = "10.77.0.2/32, fd77::2/128"
    tcp_port = PORT
    if behind_relay:
        server = stock_server(site, wireguard_go, server_key, client_key)
        start_relay(site.server, server_key, f"0.0.0.0:{TCP_PORT}", forward=f"127.0.0.1:{PORT}")
        tcp_port = TCP_PORT
    else:
        server = engine(site.server, "wg-srv", INNER, interface_text(server_key, PORT) + peer_text(client_key, allowed))
    client = wireguard_go(site.client, "wg-cli", ["10.77.0.2/24", "fd77::2/64"], interface_text(client_key, PORT))
    relay = ClientRelay(site.client, server_key, PORT, f"{udp}:{PORT}", f"{tcp}:{tcp_port}")
    return site, server, client, relay, server_key, client_key


def add_peer(client, key):
    client.wg("peer", key.public, "endpoint", f"127.0.0.1:{ClientRelay.LOOPBACK}", "allowed-ips", "10.77.0.0/24,fd77::/64")


def race(lab, what, how, wins, bound, way="both", **options):
    site, server, client, relay, server_key, client_key = beside(lab, **options)
    if what:
        site.router.block(what, way, how)
    relay.say("race")
    add_peer(client, server_key)
    pinger = site.client.tool("pinger.py", "10.77.0.1", "--interval", "20", "--seconds", "6")
    start = time.monotonic()
    fresh = 0
    while time.monotonic() < start + 5 and not relay.heard(wins):
        if len(relay.heard("fresh-wanted")) > fresh:
            fresh += 1
            client.wg("peer", server_key.public, "remove")
            add_peer(client, server_key)
        time.sleep(0.01)
    seconds = time.monotonic() - start
    check(relay.heard(wins), f"not '{wins}': {relay.heard()}")
    other = "udp-wins" if wins == "tcp-wins" else "tcp-wins"
    check(not relay.heard(other), f"'{other}' as well")
    result = pinger.result()
    check(result["received"] > 200, f"{result['received']} of {result['sent']} pings")
    pings(site.client)
    pings(site.client, "fd77::1", count=10)
    pings(site.client, count=10, size=1392)
    lab.figure(f"{wins} after {seconds:.2f} s (bound {bound} s), {fresh} fresh initiations wanted")
    check(seconds <= lab.bound(bound), f"{seconds:.2f} s")
    return site, server, client, relay, server_key, client_key, fresh


@main_path
def test_beside_a_client_with_udp_open(lab):
    site, _, client, relay, server_key, _, _ = race(lab, None, None, "udp-wins", 0.5)
    check(site.router.count("syn_up") == 0, "a SYN though UDP answers at once")
    # The daemon points the kernel at the peer and takes it out of the relay: nothing is lost.
    pinger = site.client.tool("pinger.py", "10.77.0.1")
    time.sleep(0.5)
    client.wg("peer", server_key.public, "endpoint", f"198.51.100.2:{PORT}")
    time.sleep(0.5)
    relay.say("drop")
    time.sleep(0.5)
    pinger.signal(15)
    result = pinger.result()
    lab.figure(f"out of the path: longest gap {result['longest_gap_ms']} ms")
    check(result["longest_gap_ms"] <= lab.bound(200), f"gap of {result['longest_gap_ms']} ms")


@main_path
def test_beside_a_client_with_udp_dropped(lab):
    site, server, client, relay, server_key, client_key, _ = race(lab, "meta l4proto udp", "drop", "tcp-wins", 1.5)
    moved = transfer(site, 128 if lab.long else 16).result()
    lab.figure(f"{moved['bytes'] >> 20} MiB at {moved['mbit']} Mbit/s")
    check(moved["equal"], "hashes differ")
    relay.say("stop")
    check(relay.program.wait() == 0, "the relay did not end in order")


def test_beside_a_client_with_udp_rejected(lab):
    race(lab, "meta l4proto udp", "reject", "tcp-wins", 0.7)


def test_beside_a_client_with_the_way_back_dropped(lab):
    """The copy by TCP is a replay to the server: a fresh initiation is asked for, and answered."""
    *_, fresh = race(lab, "meta l4proto udp", "drop", "tcp-wins", 3, way="down")
    check(fresh == 1, f"{fresh} fresh initiations wanted")


def test_relay_to_relay(lab):
    """Stock client, our relay beside it; stock server, our relay in front of it."""
    race(lab, "meta l4proto udp", "drop", "tcp-wins", 1.5, behind_relay=True)


@main_path
def test_beside_a_client_switching(lab):
    """Both carriers in turn, as the daemon says, under load; a trial of UDP while it is blocked costs nothing."""
    site, server, client, relay, server_key, client_key, _ = race(lab, None, None, "udp-wins", 0.5)
    serve = site.server.tool("transfer.py", "serve", "10.77.0.1", "5001")
    serve.wait_for_text("listening")
    moving = site.client.tool("transfer.py", "send", "10.77.0.1", "5001", "--mbit", "20")
    pinger = site.client.tool("pinger.py", "10.77.0.1")
    for _ in range(10 if lab.long else 3):
        for use in "both", "tcp", "both", "udp":
            relay.say(use)
            time.sleep(0.7)
    relay.say("both")
    time.sleep(0.3)
    relay.say("tcp")
    time.sleep(0.3)
    site.router.block()
    before = relay.received("udp")
    relay.say("both")
    time.sleep(1)
    relay.say("tcp")
    time.sleep(0.5)
    blocked = relay.received("udp") - before
    pinger.signal(15)
    moving.signal(15)
    ping, moved = pinger.result(), moving.result()
    lab.figure(f"longest gap {ping['longest_gap_ms']} ms (bound 200 ms), {ping['lost']} of {ping['sent']} pings lost")
    check(moved["equal"], "hashes differ")
    check(ping["longest_gap_ms"] <= lab.bound(200), f"gap of {ping['longest_gap_ms']} ms")
    check(ping["lost"] <= 2, f"{ping['lost']} pings lost")
    check(blocked <= 1, f"{blocked} messages came by UDP though it is blocked")


def test_beside_a_client_forced_carriers(lab):
    """Not one packet on the other carrier."""
    site, server, client, relay, server_key, _ = beside(lab)
    relay.say("tcp")
    add_peer(client, server_key)
    pings(site.client, lost=5)
    check(site.router.count("udp_up") == 0, "UDP though TCP is forced")
    check(site.router.count("tcp_up") > 0, "the gauge saw nothing")
    site, server, client, relay, server_key, _ = beside(lab)
    site.router.block()
    relay.say("memory 2", "udp")
    add_peer(client, server_key)
    result = site.client.tool("pinger.py", "10.77.0.1", "--count", "100", "--interval", "50").result()
    check(result["received"] == 0, "pings answered though UDP is blocked")
    check(site.router.count("tcp_up") == 0, "TCP though UDP is forced")
    check(site.router.count("udp_up") > 0, "the gauge saw nothing")


if __name__ == "__main__":
    sys.exit(case.main(globals()))
