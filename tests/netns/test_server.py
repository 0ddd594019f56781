# SPDX-License-Identifier: MIT
"""A server and its clients made by `wgtcp-cli server`, used as a person would: two files, three commands."""

import pathlib
import stat
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lib import case  # noqa: E402
from lib.lab import check  # noqa: E402
from lib.network import Site  # noqa: E402
from lib.tunnel import Daemon  # noqa: E402


def inner_address(daemon):
    """The server's, which is the first of its network."""
    for line in (daemon.config / "server.conf").read_text().splitlines():
        if line.startswith("Address = "):
            return line.split("= ")[1].split("/")[0]
    raise AssertionError("no Address")


def test_server_from_nothing(lab):
    """Init, add, import, up: over UDP, and over TCP where UDP is blocked; the second client too."""
    site = Site(lab)
    server, client = Daemon(site.server), Daemon(site.client)
    first, second = lab.logs / "client.conf", lab.logs / "anna.conf"
    said = server.cli("server", "init", "--endpoint", "198.51.100.2", "--output", first).stdout
    check("Nothing was opened in a firewall" in said and "port 443 must be open to this machine" in said, said)
    check(stat.S_IMODE(first.stat().st_mode) == 0o600, "others may read the client's key")
    server.cli("up", "server")
    client.cli("import", first, "--name", "office")
    client.cli("set", "office", "Backend=userspace")
    inner = inner_address(server)
    check("    name       client\n" in server.cli("status", "server").stdout, "status does not name the client")
    client.up("office")
    check(site.client.tool("pinger.py", inner, "--count", "10", "--grace", "3").result()["received"] == 10, "no answer")
    check(client.status("office")["carrier"] == "udp", "not over UDP")
    client.cli("down", "office")
    site.router.block()
    client.up("office")
    check(client.status("office")["carrier"] == "tcp", "not over TCP")
    check(site.client.tool("pinger.py", inner, "--count", "10", "--grace", "3").result()["received"] == 10, "no answer")
    client.cli("down", "office")

    said = server.cli("server", "add", "Anna's laptop", "--output", second).stdout
    check("from its next start on" in said, said)
    server.cli("down", "server")
    server.cli("up", "server")
    client.cli("import", second, "--name", "anna")
    client.cli("set", "anna", "Backend=userspace")
    client.up("anna")
    check(site.client.tool("pinger.py", inner, "--count", "10", "--grace", "3").result()["received"] == 10, "no answer")


def test_what_is_refused(lab):
    site = Site(lab)
    daemon = Daemon(site.server)
    out = lab.logs / "x.conf"

    def refused(code, words, *args):
        done = daemon.cli("server", *args, "--output", out, check_code=False)
        check(done.returncode == code and words in done.stderr and not out.exists(),
              f"{args}: {done.returncode} {done.stdout}{done.stderr}")

    refused(5, "server init", "add", "anna")
    refused(1, "not a host", "init", "--endpoint", "a b")
    refused(1, "not a host", "init", "--endpoint", "vpn.example\nPostUp = true")
    refused(1, "control character", "init", "one\nPostUp = true", "--endpoint", "vpn.example")
    check(not list(daemon.config.iterdir()), f"left behind: {list(daemon.config.iterdir())}")
    listener = site.server.start("/usr/bin/python3", "-c", "import socket,time\ns=socket.create_server(('',443))\n"
                                 "print('here', s.getsockname()[1],flush=True)\ntime.sleep(60)")
    listener.wait_for_text("here 443")
    refused(1, "in use", "init", "--endpoint", "vpn.example")
    listener.stop()
    daemon.cli("server", "init", "--endpoint", "vpn.example", "--port", "51820", "--output", "-")
    refused(1, "already", "init", "--endpoint", "vpn.example")
    refused(1, "has a client called client already", "add", "client")
    text = daemon.cli("server", "add", "anna", "--output", "-").stdout
    check("Endpoint = vpn.example:51820" in text, "the endpoint was forgotten")
    done = daemon.cli("server", "add", "anna2", "--json")
    check('"text":"[Interface]' in done.stdout, done.stdout[:100])


if __name__ == "__main__":
    sys.exit(case.main(globals()))
