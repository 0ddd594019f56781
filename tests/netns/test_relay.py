# SPDX-License-Identifier: MIT
"""wgtcp-relay in front of a stock WireGuard server: same keys, same addresses, by TCP."""

import base64
import pathlib
import re
import socket
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lib import case  # noqa: E402
from lib.case import main_path, waiting  # noqa: E402
from lib.lab import check, wait_until  # noqa: E402
from lib.network import Site  # noqa: E402
from lib.relay import start_relay  # noqa: E402
from lib.tunnel import PORT, Daemon, Key, engine, interface_text, peer_text, wireguard_go  # noqa: E402

INNER = ["10.77.0.1/24", "fd77::1/64"]
TCP_PORT = 443


def relayed(lab, stock=wireguard_go, client_extra="", peer_extra="", up=True):
    """A stock server without TCP, the relay in front of it, and the client's daemon with a profile that knows both."""
    site = Site(lab)
    server_key, client_key = Key(), Key()
    # The server's own extra: with our engine as the stock server nothing may listen on TCP.
    extra = "" if stock is wireguard_go else "Transport = udp\n"
    server = stock(site.server, "wg-srv", INNER,
                   interface_text(server_key, PORT) + peer_text(client_key, "10.77.0.2/32, fd77::2/128"))
    if extra:
        server.set("transport=udp\n")
    relay = start_relay(site.server, server_key, f"0.0.0.0:{TCP_PORT}", f"[::]:{TCP_PORT}", forward=f"127.0.0.1:{PORT}")
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


if __name__ == "__main__":
    sys.exit(case.main(globals()))
