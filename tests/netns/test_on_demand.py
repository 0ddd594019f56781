# SPDX-License-Identifier: MIT
"""AutoConnect and TrustedNetworks: by the network's name, the gateway's address, or its hardware address."""

import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lib import case, machine  # noqa: E402
from lib.case import main_path, waiting  # noqa: E402
from lib.lab import check  # noqa: E402
from lib.network import Site  # noqa: E402
from lib.tunnel import office  # noqa: E402


def place(lab, trusted, auto=True, before=None):
    site = Site(lab)
    lab.wire(site.client, "eth1", site.router.host, "c1")
    site.router.host.run("ip", "address", "add", "203.0.113.1/24", "dev", "c1")
    site.client.run("ip", "address", "add", "203.0.113.2/24", "dev", "eth1")
    for number in 1, 2:  # so that hardware addresses are known as they are on a real machine
        site.client.tool("pinger.py", ("192.0.2.1", "203.0.113.1")[number - 1], "--count", "1", "--grace", "5").result()
    if before:
        before(site)
    extra = f"TrustedNetworks = {trusted(site) if callable(trusted) else trusted}\n" + ("AutoConnect = on\n" if auto else "")
    server, daemon, _, _ = office(site, client_extra=extra)
    # AutoConnect is looked at when the daemon starts.
    daemon.program.stop()
    daemon.start()
    return site, daemon


def go(site, home):
    """Moves to the other network."""
    site.client.run("ip", "-6", "route", "del", "default", check_code=False)
    site.client.run("ip", "route", "replace", "default", "via", "192.0.2.1" if home else "203.0.113.1")


def stays_down(daemon, seconds=3):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        status = daemon.status("office")
        check(not status or status["state"] == "down", f"{status and status['state']} in a trusted network")
        time.sleep(0.2)


def back_and_forth(site, daemon):
    stays_down(daemon)
    go(site, home=False)
    daemon.wait_status("office", 10, state="up")
    go(site, home=True)
    daemon.wait_status("office", 10, state="down")
    go(site, home=False)
    daemon.wait_status("office", 10, state="up")


@main_path
@waiting
def test_trusted_by_the_gateways_address(lab):
    site, daemon = place(lab, "Elsewhere, 192.0.2.1")
    back_and_forth(site, daemon)


@waiting
def test_trusted_by_the_gateways_hardware_address(lab):
    def hardware(site):
        return json.loads(site.router.host.run("ip", "-j", "link", "show", "c0").stdout)[0]["address"].upper()
    site, daemon = place(lab, hardware)
    back_and_forth(site, daemon)


@waiting
def test_trusted_by_the_wireless_networks_name(lab):
    """By NetworkManager's bus interface; what answers there is a double, since no namespace has a wireless network."""
    made = {}

    def before(site):
        machine.own_etc(site.client)
        machine.start_bus(site.client)
        made["wireless"] = machine.Wireless(site.client)
        made["wireless"].say("ssid Caf\u00e9 am See")
    site, daemon = place(lab, "Home net, Caf\u00e9 am See", before=before)
    stays_down(daemon)
    made["wireless"].say("ssid Airport")
    daemon.wait_status("office", 10, state="up")
    made["wireless"].say("ssid Home net")
    daemon.wait_status("office", 10, state="down")
    made["wireless"].say("wired")
    daemon.wait_status("office", 10, state="up")


@waiting
def test_without_auto_connect_it_only_goes_down(lab):
    site, daemon = place(lab, "192.0.2.1", auto=False)
    go(site, home=False)
    stays_down(daemon)
    daemon.up("office")
    go(site, home=True)
    daemon.wait_status("office", 10, state="down")
    go(site, home=False)
    stays_down(daemon)


@waiting
def test_a_persons_word_holds_also_there(lab):
    site, daemon = place(lab, "192.0.2.1")
    daemon.up("office")
    time.sleep(2)
    check(daemon.status("office")["state"] == "up", "taken down against a person's word")


@waiting
def test_auto_connect_elsewhere_is_at_the_start(lab):
    site, daemon = place(lab, "10.9.9.9")
    daemon.wait_status("office", 10, state="up")


if __name__ == "__main__":
    sys.exit(case.main(globals()))
