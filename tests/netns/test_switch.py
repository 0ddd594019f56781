# SPDX-License-Identifier: MIT
"""wgtcp-cli switch during a transfer and a 10 ms ping."""

import base64
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lib import case  # noqa: E402
from lib.case import main_path  # noqa: E402
from lib.lab import check  # noqa: E402
from lib.network import Site  # noqa: E402
from lib.tunnel import office  # noqa: E402


@main_path
def test_switch_to_tcp_and_back_under_load(lab):
    """Nobody notices: no gap, no byte lost, and both sides agree on the carrier and stay there."""
    site = Site(lab)
    server, daemon, _, client_key = office(site)
    daemon.up("office")
    serve = site.server.tool("transfer.py", "serve", "10.77.0.1", "5001")
    serve.wait_for_text("listening")
    transfer = site.client.tool("transfer.py", "send", "10.77.0.1", "5001", "--mbit", "50")
    pings = site.client.tool("pinger.py", "10.77.0.1")
    time.sleep(1)
    client = base64.b64decode(client_key.public).hex()
    count, slowest = 100 if lab.long else 10, 0.0
    for number in range(count):
        carrier = "udp" if number % 2 else "tcp"
        start = time.monotonic()
        daemon.cli("switch", "office", carrier)
        slowest = max(slowest, time.monotonic() - start)
        end = time.monotonic() + 1.3
        while time.monotonic() < end:
            # The server follows the newest packet: a late one on the old carrier must not move it back.
            ours = daemon.status("office")["carrier"]
            theirs = server.get()[1][client]["carrier"]
            settled = time.monotonic() > end - 1.0
            check(ours == carrier, f"switch {number} to {carrier}: we are on {ours}")
            check(theirs == carrier or not settled, f"switch {number} to {carrier}: the server is on {theirs}")
            time.sleep(0.2)
    pings.signal(15)
    transfer.signal(15)
    ping, moved = pings.result(), transfer.result()
    lab.figure(f"{count} switches, longest gap {ping['longest_gap_ms']} ms (bound 200 ms), {ping['lost']} of"
               f" {ping['sent']} pings lost, slowest switch {slowest:.2f} s, {moved['bytes'] >> 20} MiB equal")
    check(moved["equal"], "hashes differ")
    check(ping["longest_gap_ms"] <= lab.bound(200), f"gap of {ping['longest_gap_ms']} ms")


def test_switch_to_a_carrier_that_does_not_work(lab):
    """It stays where it was, and says so with an exit code."""
    site = Site(lab)
    server, daemon, _, _ = office(site)
    daemon.up("office")
    site.router.block("meta l4proto tcp")
    pings = site.client.tool("pinger.py", "10.77.0.1")
    done = daemon.cli("switch", "office", "tcp", check_code=False)
    check(done.returncode == 7, f"exit code {done.returncode} instead of 7: {done.stderr.strip()}")
    check(len(done.stderr.strip().splitlines()) == 1, f"not one sentence: {done.stderr}")
    pings.signal(15)
    result = pings.result()
    lab.figure(f"longest gap {result['longest_gap_ms']} ms: {done.stderr.strip()}")
    check(daemon.status("office")["carrier"] == "udp", "not on UDP any more")
    check(result["longest_gap_ms"] <= lab.bound(200), f"gap of {result['longest_gap_ms']} ms")


def test_switch_of_a_tunnel_that_is_down(lab):
    site = Site(lab)
    server, daemon, _, _ = office(site)
    done = daemon.cli("switch", "office", "tcp", check_code=False)
    check(done.returncode == 3, f"exit code {done.returncode} instead of 3: {done.stderr.strip()}")
    done = daemon.cli("switch", "ofice", "tcp", check_code=False)
    check(done.returncode == 5, f"exit code {done.returncode} instead of 5: {done.stderr.strip()}")
    done = daemon.cli("switch", "office", "sctp", check_code=False)
    check(done.returncode == 2, f"exit code {done.returncode} instead of 2: {done.stderr.strip()}")


if __name__ == "__main__":
    sys.exit(case.main(globals()))
