# SPDX-License-Identifier: MIT
"""Captive portals: said in words with the portal's address and exit code 8, and nothing loops."""

import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lib import case, machine  # noqa: E402
from lib.case import main_path, waiting  # noqa: E402
from lib.lab import check, wait_until  # noqa: E402
from lib.network import Site  # noqa: E402
from lib.tunnel import office  # noqa: E402

# The router itself, which the client reaches also while everything behind it is closed.
CHECK = "http://198.51.100.1:8080/generate_204"
LOGIN = "http://login.hotel.example/welcome?from=client"
EVERYTHING = "meta nfproto { ipv4, ipv6 }"


def place(lab, extra=f"PortalCheck = {CHECK}\n", resolv_conf="nameserver 192.0.2.1\n", **keywords):
    site = Site(lab)
    machine.own_etc(site.client, resolv_conf)
    server, daemon, _, _ = office(site, client_extra=extra, **keywords)
    return site, daemon


def close(site):
    site.router.block(EVERYTHING)


@main_path
def test_up_says_portal_and_where_it_is(lab):
    site, daemon = place(lab)
    before = site.client.links(), site.client.routes()
    web = machine.Web(site.router.host, "198.51.100.1", 8080, f"portal {LOGIN}")
    close(site)
    seconds, done = daemon.up("office", check_code=False)
    lab.figure(f"said after {seconds:.1f} s")
    check(done.returncode == 8, f"exit code {done.returncode}: {done.stderr}")
    check(LOGIN in done.stderr, f"the portal's address is not shown: {done.stderr}")
    check(len(done.stderr.strip().splitlines()) == 1, f"not one sentence: {done.stderr}")
    check(seconds < 6, f"said only after {seconds:.1f} s")
    status = daemon.status("office")
    check(status["state"] == "failed" and status["cause"] == "captive-portal", f"{status['state']}, {status['cause']}")
    check((site.client.links(), site.client.routes()) == before, "something was left behind")
    asked = len(web.asked())
    check(asked <= 3, f"asked {asked} times")
    time.sleep(3)
    check(len(web.asked()) == asked, "asks on although the tunnel is down")
    # Logged in:
    web.set("open")
    site.router.open()
    _, done = daemon.up("office", check_code=False)
    check(done.returncode == 0, f"up after the login: {done.returncode} {done.stderr}")


def test_json_says_portal(lab):
    site, daemon = place(lab)
    machine.Web(site.router.host, "198.51.100.1", 8080, f"portal {LOGIN}")
    close(site)
    done = daemon.cli("up", "office", "--json", check_code=False)
    answer = json.loads(done.stdout or done.stderr)
    check(done.returncode == 8 and "captive-portal" in json.dumps(answer), f"{done.returncode}: {answer}")


def test_page_in_place_of_the_answer(lab):
    """A portal that redirects nothing but answers itself."""
    site, daemon = place(lab)
    machine.Web(site.router.host, "198.51.100.1", 8080, "page")
    close(site)
    _, done = daemon.up("office", check_code=False)
    check(done.returncode == 8 and "http://198.51.100.1:8080" in done.stderr, f"{done.returncode}: {done.stderr}")


def test_no_portal_is_no_portal(lab):
    """The check answers as it should, or not at all: then it is the server that does not answer."""
    site, daemon = place(lab)
    web = machine.Web(site.router.host, "198.51.100.1", 8080, "open")
    close(site)
    for mode in "open", "online", "error", f"portal {CHECK}?again":
        web.set(mode)
        _, done = daemon.up("office", "--timeout", "4", check_code=False)
        check(done.returncode in (6, 7), f"{mode}: exit code {done.returncode}: {done.stderr}")
    check(web.asked(), "never asked")


@main_path
def test_nobody_is_asked_without_the_setting(lab):
    site, daemon = place(lab, extra="")
    site.router.host.nft("table inet eyes {\ncounter seen { }\nchain in {\ntype filter hook prerouting priority -310;\n"
                         'iifname "c0" tcp dport { 80, 443, 8080 } counter name "seen"\n}\n}\n')
    web = machine.Web(site.router.host, "198.51.100.1", 8080, f"portal {LOGIN}")
    close(site)
    _, done = daemon.up("office", "--timeout", "5", check_code=False)
    check(done.returncode in (6, 7), f"exit code {done.returncode}")
    check(not web.asked() and site.router.host.counter("eyes", "seen") == 0, "somebody was asked")


def test_nobody_is_asked_while_all_is_well(lab):
    site, daemon = place(lab)
    web = machine.Web(site.router.host, "198.51.100.1", 8080, "open")
    daemon.up("office")
    time.sleep(3)
    check(not web.asked(), f"asked without need: {web.asked()}")


@waiting
def test_moving_to_a_portal_network_while_up(lab):
    """The state says so; after the login it goes on by itself."""
    site, daemon = place(lab)
    web = machine.Web(site.router.host, "198.51.100.1", 8080, f"portal {LOGIN}")
    daemon.up("office")
    close(site)
    pings = site.client.tool("pinger.py", "10.77.0.1", "--interval", "200")
    start = time.monotonic()
    status, _ = daemon.wait_status("office", 60, state="reconnecting", cause="captive-portal")
    lab.figure(f"said after {time.monotonic() - start:.1f} s")
    check(LOGIN in (status["message"] or ""), f"message: {status['message']}")
    check(LOGIN in daemon.cli("status", "office", check_code=False).stdout, "status does not show the address")
    asked = len(web.asked())
    time.sleep(10)
    check(len(web.asked()) - asked <= 4, f"asked {len(web.asked()) - asked} times in 10 s")
    web.set("open")
    site.router.open()
    start = time.monotonic()
    daemon.wait_status("office", 40, state="up", cause="none")
    lab.figure(f"up again {time.monotonic() - start:.1f} s after the login")
    pings.stop()


def test_name_of_the_check_is_looked_up_past_the_tunnel(lab):
    """By name, at the network's resolver, in a full tunnel that is dead."""
    site, daemon = place(lab, extra="PortalCheck = http://check.example:8080/generate_204\nDNS = 10.77.0.53\n")
    daemon.profile("office", (daemon.config / "office.conf").read_text().replace(
        "AllowedIPs = 10.77.0.0/24, fd77::/64", "AllowedIPs = 0.0.0.0/0, ::/0"))
    names = machine.Names(site.router.host, "192.0.2.1", {"check.example": ["198.51.100.1"]})
    web = machine.Web(site.router.host, "198.51.100.1", 8080, f"portal {LOGIN}")
    close(site)
    _, done = daemon.up("office", check_code=False)
    check(done.returncode == 8 and LOGIN in done.stderr, f"{done.returncode}: {done.stderr}")
    check(names.asked("check.example") and web.asked(), "not asked")


def test_network_offers_its_own_word(lab):
    """RFC 8910 and 8908: the lease names an API, which answers by JSON over TLS; nothing is set in the profile."""
    site, daemon = place(lab, extra="")
    certificate = machine.authority(site.client, "api.hotel.example", "198.51.100.1")
    web = machine.Web(site.router.host, "198.51.100.1", 8443, "json "
                      + json.dumps({"captive": True, "user-portal-url": LOGIN}), certificate)
    site.client.run("mkdir", "-p", "/run/systemd/netif/leases")
    machine.write(site.client, "/run/systemd/netif/leases/2",
                  "ADDRESS=192.0.2.2\nCAPTIVE_PORTAL=https://198.51.100.1:8443/api\n")
    close(site)
    _, done = daemon.up("office", check_code=False)
    check(done.returncode == 8 and LOGIN in done.stderr, f"{done.returncode}: {done.stderr}")
    web.set('json {"captive": false}')
    _, done = daemon.up("office", "--timeout", "4", check_code=False)
    check(done.returncode in (6, 7), f"not captive, and yet {done.returncode}: {done.stderr}")
    check(web.asked(), "never asked")


def test_word_of_a_stranger_does_not_count(lab):
    """The same without a certificate that anybody vouches for."""
    site, daemon = place(lab, extra="")
    certificate = machine.authority(site.server, "api.hotel.example", "198.51.100.1")
    machine.Web(site.router.host, "198.51.100.1", 8443, 'json {"captive": true}', certificate)
    site.client.run("mkdir", "-p", "/run/systemd/netif/leases")
    machine.write(site.client, "/run/systemd/netif/leases/2", "CAPTIVE_PORTAL=https://198.51.100.1:8443/api\n")
    close(site)
    _, done = daemon.up("office", "--timeout", "4", check_code=False)
    check(done.returncode in (6, 7), f"exit code {done.returncode}: {done.stderr}")


@waiting
def test_networkmanager_knows_of_the_portal(lab):
    """NetworkManager itself on a private bus: its word counts, and nobody else is asked."""
    site, daemon = place(lab, extra="")
    daemon.program.stop()
    machine.start_bus(site.client)
    web = machine.Web(site.router.host, "198.51.100.1", 8080, f"portal {LOGIN}")
    machine.start_network_manager(site.client, CHECK)
    wait_until(lambda: machine.connectivity(site.client) == 2, "NetworkManager to find the portal", 30)
    close(site)
    daemon.start()
    _, done = daemon.up("office", check_code=False)
    check(done.returncode == 8, f"exit code {done.returncode}: {done.stderr}")
    check(CHECK in done.stderr, f"no address to open: {done.stderr}")
    web.set("online")
    site.router.open()
    wait_until(lambda: daemon.up("office", check_code=False)[1].returncode == 0, "up after the login", 40, 1)


if __name__ == "__main__":
    sys.exit(case.main(globals()))
