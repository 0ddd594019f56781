# SPDX-License-Identifier: MIT
"""wgtcp-cli doctor: in each place the right verdict, the exit code that `up` would give, and nothing left behind."""

import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lib import case, machine  # noqa: E402
from lib.case import main_path, waiting  # noqa: E402
from lib.lab import check  # noqa: E402
from lib.network import SERVER4, Site  # noqa: E402
from lib.tunnel import PORT, Key, interface_text, office, peer_text, preshared_key  # noqa: E402

NAME, RESOLVER = "vpn.example", "192.0.2.1"


class Seen:
    """What a diagnosis says: verdict, text and cure of each check by its word."""

    def __init__(self, code, seconds, answer):
        self.code, self.seconds, self.answer = code, seconds, answer
        self.checks = {one["check"]: one for one in answer["checks"]}

    def verdict(self, **wanted):
        for word, verdict in wanted.items():
            one = self.checks[word.replace("_", "-")]
            check(one["verdict"] == verdict, f"{word}: {one['verdict']}, not {verdict}: {one['text']}")
            check(verdict != "bad" or one["cure"] or word in ("udp", "tcp", "route", "ipv6", "tunnel"), f"{word}: no cure")

    def end(self, code, cause):
        check((self.code, self.answer["code"], self.answer["cause"]) == (code, code, cause),
              f"exit code {self.code}, code {self.answer['code']}, cause {self.answer['cause']}: {self.answer['summary']}")

    def says(self, word, text):
        one = self.checks[word]
        check(text in f"{one['text']} {one['cure']}", f"{word}: no '{text}' in: {one['text']}; {one['cure']}")


def state(host):
    """All that a diagnosis might leave behind."""
    return [host.run("ip", *words).stdout for words in (("-o", "link"), ("-4", "route", "show", "table", "all"),
                                                        ("-6", "route", "show", "table", "all"), ("rule",),
                                                        ("-6", "rule"), ("-o", "address"))] + \
        [host.run("sh", "-c", "ls /var/run/wireguard 2>/dev/null; nft list ruleset").stdout]


def doctor(site, daemon, name="office", after=None):
    before = state(site.client)
    start = time.monotonic()
    done = daemon.cli("doctor", *([name] if name else []), "--json", check_code=False)
    seconds = time.monotonic() - start
    check(done.stdout.startswith("{"), f"doctor ended with {done.returncode}: {done.stderr.strip()}")
    check(seconds < site.lab.bound(10), f"it took {seconds:.1f} s")
    time.sleep(0.3)
    left = [line for old, new in zip(before, state(site.client)) if old != new for line in new.splitlines()]
    check(not left, f"left behind: {left}")
    seen = Seen(done.returncode, seconds, json.loads(done.stdout))
    site.lab.figure(f"{seconds:.1f} s")
    return seen


def well(lab, **keywords):
    site = Site(lab)
    server, daemon, server_key, client_key = office(site, **keywords)
    return site, server, daemon, server_key, client_key


@main_path
@waiting
def test_all_is_well(lab):
    site, server, daemon, _, _ = well(lab)
    seen = doctor(site, daemon)
    seen.verdict(link="ok", route="ok", ipv4="ok", ipv6="ok", dns="ok", udp="ok", tcp="ok", handshake="ok", mtu="ok",
                 clock="unknown", kernel="ok", leftovers="ok", captive_portal="unknown", kill_switch="ok")
    seen.end(0, "none")
    seen.says("udp", "ms)")
    check(seen.answer["verdict"] == "ok", f"verdict {seen.answer['verdict']}")
    check(seen.seconds < lab.bound(4), f"with all well it took {seen.seconds:.1f} s")
    text = daemon.cli("doctor", "office").stdout
    check("office can come up, over UDP." in text and "answers by TCP" in text, text)
    # The handshakes leave the tunnel able to come up at once, and what is up stays as it is.
    seconds, _ = daemon.up("office")
    check(seconds < lab.bound(1), f"up took {seconds:.2f} s afterwards")
    before = daemon.status("office")["peers"][0]["last_handshake"]
    seen = doctor(site, daemon)
    seen.verdict(tunnel="ok", udp="ok", tcp="ok", handshake="ok", mtu="ok", clock="ok")
    seen.end(0, "none")
    check(daemon.status("office")["peers"][0]["last_handshake"] == before, "the living tunnel was disturbed")


@waiting
def test_another_programs_rule(lab):
    """It is asked before the tunnel's, so a full tunnel that is up carries nothing."""
    site, _, daemon, _, _ = well(lab)
    text = (daemon.config / "office.conf").read_text()
    daemon.profile("office", text.replace("AllowedIPs = 10.77.0.0/24, fd77::/64", "AllowedIPs = 0.0.0.0/0, ::/0"))
    daemon.up("office")
    doctor(site, daemon).verdict(tunnel="ok", route="ok")
    for family, name in ("-4", "IPv4"), ("-6", "IPv6"):
        site.client.run("ip", family, "rule", "add", "pref", "100", "lookup", "main")
        seen = doctor(site, daemon)
        seen.verdict(route="bad")
        seen.says("route", f"{name}, but it goes out by eth0")
        site.client.run("ip", family, "rule", "del", "pref", "100")
    doctor(site, daemon).verdict(route="ok")


def test_machine_alone(lab):
    site, _, daemon, _, _ = well(lab)
    seen = doctor(site, daemon, name=None)
    seen.verdict(link="ok", route="ok", ipv4="ok", dns="unknown", kernel="ok", leftovers="ok")
    check("udp" not in seen.checks, "a peer without a name")
    seen.end(0, "none")
    done = daemon.cli("doctor", "nobody", check_code=False)
    check(done.returncode == 5, f"an unknown name: exit code {done.returncode}")


@waiting
def test_no_link(lab):
    site, _, daemon, _, _ = well(lab)
    site.client.run("ip", "link", "set", "eth0", "down")
    seen = doctor(site, daemon)
    seen.verdict(link="bad", route="bad", ipv4="bad", udp="unknown", tcp="unknown", handshake="unknown")
    seen.says("link", "eth0")
    seen.end(6, "no-network")


@waiting
def test_no_route(lab):
    site, _, daemon, _, _ = well(lab)
    for family in "-4", "-6":
        site.client.run("ip", family, "route", "del", "default")
    seen = doctor(site, daemon)
    seen.verdict(link="ok", route="bad", ipv4="bad", udp="unknown", tcp="unknown")
    seen.end(6, "no-network")


@waiting
def test_dns_dead(lab):
    site = Site(lab)
    machine.own_etc(site.client, f"nameserver {RESOLVER}\n")
    _, daemon, _, _ = office(site, endpoint=f"{NAME}:{PORT}")
    seen = doctor(site, daemon)  # nobody listens on the router
    seen.verdict(link="ok", route="ok", dns="bad", udp="unknown", tcp="unknown")
    seen.says("dns", "no DNS server answers")
    seen.end(6, "dns-failed")
    check(seen.checks["dns"]["subject"] == NAME, f"about {seen.checks['dns']['subject']}")
    names = machine.Names(site.router.host, RESOLVER, {NAME: [SERVER4]})
    seen = doctor(site, daemon)
    seen.verdict(dns="ok", udp="ok", tcp="ok")
    seen.end(0, "none")
    # An address from before lets the tunnel come up, and is not taken for DNS.
    daemon.up("office")
    daemon.cli("down", "office")
    names.stop()
    seen = doctor(site, daemon)
    seen.verdict(dns="bad", udp="ok")
    seen.end(0, "none")


@waiting
def test_udp_dropped(lab):
    site, _, daemon, _, _ = well(lab)
    site.router.block()
    seen = doctor(site, daemon)
    seen.verdict(udp="warning", tcp="ok", handshake="ok", mtu="ok")
    seen.says("udp", "nothing comes back")
    seen.end(0, "none")


@waiting
def test_udp_rejected(lab):
    for how in "reject", "prohibit":
        site, _, daemon, _, _ = well(lab) if how == "reject" else (site, None, daemon, None, None)
        site.router.open()
        site.router.block(how=how)
        seen = doctor(site, daemon)
        seen.verdict(udp="warning", tcp="ok", handshake="ok")
        seen.says("udp", "rejected")
        seen.end(0, "none")
    daemon.cli("set", "office", "Transport=udp")
    before = site.router.count("tcp_up")
    seen = doctor(site, daemon)
    seen.verdict(udp="bad", tcp="ok")
    seen.says("udp", "rejected")
    seen.says("tcp", "only UDP")
    seen.end(7, "peer-unreachable")
    check(site.router.count("tcp_up") == before, "TCP packets with Transport = udp")


@waiting
def test_tcp_refused(lab):
    site, server, daemon, _, _ = well(lab)
    site.router.block("meta l4proto tcp", how="reset")
    seen = doctor(site, daemon)
    seen.verdict(udp="ok", tcp="warning", handshake="ok")
    seen.says("tcp", "refused")
    seen.end(0, "none")


@waiting
def test_both_dropped(lab):
    site, _, daemon, _, _ = well(lab)
    site.router.block("meta l4proto { tcp, udp }")
    seen = doctor(site, daemon)
    seen.verdict(link="ok", route="ok", udp="bad", tcp="bad", handshake="unknown", mtu="unknown")
    seen.end(7, "peer-unreachable")


def set_mark(daemon, ahead_s):
    daemon.program.stop()
    path = daemon.state / "timestamp"
    check(path.exists(), "no mark is stored")
    stored = path.read_text()
    path.write_text(stored.replace(stored.split()[0].split(".")[0], str(int(time.time()) + ahead_s), 1))
    daemon.start()


@waiting
def test_clock_behind_the_mark(lab):
    site, _, daemon, _, _ = well(lab)
    daemon.up("office")
    daemon.cli("down", "office")
    seen = doctor(site, daemon)
    seen.verdict(clock="ok")
    set_mark(daemon, 7200)
    seen = doctor(site, daemon)
    seen.verdict(clock="warning", udp="ok", handshake="ok")
    seen.says("clock", "timedatectl")
    seen.end(0, "none")


def wrong(lab, server_side, clock=False):
    site = Site(lab)
    server, daemon, server_key, client_key = office(site)
    if server_side:
        daemon.profile("office", interface_text(client_key, extra="Address = 10.77.0.2/24\n") + peer_text(
            Key(), "10.77.0.0/24", f"198.51.100.2:{PORT}"))
    else:
        daemon.profile("office", interface_text(Key(), extra="Address = 10.77.0.2/24\n") + peer_text(
            server_key, "10.77.0.0/24", f"198.51.100.2:{PORT}"))
    seen = doctor(site, daemon)
    seen.verdict(udp="bad", tcp="bad", handshake="bad")
    seen.end(7, "handshake-refused")
    cure = seen.checks["handshake"]["cure"]
    check("PublicKey" in cure and "pubkey" in cure, cure)
    check("clock" not in cure, f"the clock is named without evidence: {cure}")
    return site, daemon, seen


@main_path
@waiting
def test_wrong_server_key(lab):
    site, daemon, _ = wrong(lab, True)
    set_mark(daemon, 7200)
    seen = doctor(site, daemon)
    seen.verdict(clock="warning", handshake="bad")
    seen.end(7, "handshake-refused")
    check(seen.checks["handshake"]["cure"].startswith("1. set this machine's clock"), seen.checks["handshake"]["cure"])


@waiting
def test_wrong_own_key(lab):
    """And `up` and `status` name the same cause."""
    _, daemon, _ = wrong(lab, False)
    seconds, done = daemon.up("office", "--timeout", "40", check_code=False)
    check(done.returncode == 7, f"up ended with {done.returncode}: {done.stderr}")
    status = daemon.status("office")
    check(status["state"] == "failed" and status["cause"] == "handshake-refused", f"{status['state']} {status['cause']}")
    check("PublicKey" in done.stderr, done.stderr)


@waiting
def test_wrong_preshared_key(lab):
    """A server that knows us answers also then, and the answer does not open: told apart from every other wrong key, by
    doctor and by up; also where there is only UDP."""
    site = Site(lab)
    server, daemon, server_key, client_key = office(site)
    server.setconf(interface_text(server_key, PORT) + peer_text(client_key, "10.77.0.2/32", psk=preshared_key()))
    for transport in "auto", "udp":
        daemon.profile("office", interface_text(client_key, extra=f"Address = 10.77.0.2/24\nTransport = {transport}\n")
                       + peer_text(server_key, "10.77.0.0/24", f"198.51.100.2:{PORT}", psk=preshared_key()))
        seen = doctor(site, daemon)
        seen.verdict(handshake="bad")
        seen.says("handshake", "preshared key")
        seen.end(7, "handshake-refused")
        check("PresharedKey" in seen.checks["handshake"]["cure"], seen.checks["handshake"]["cure"])
        if transport == "auto":
            continue
        seconds, done = daemon.up("office", "--timeout", "25", check_code=False)
        check(done.returncode == 7 and "preshared key" in done.stderr, f"up: {done.returncode} {done.stderr}")
        status = daemon.status("office")
        check(status["cause"] == "handshake-refused" and "PresharedKey" in status["message"], f"status: {status}")


@waiting
def test_server_of_the_other_family(lab):
    """An endpoint with an IPv6 address only, on a network without IPv6: said so, and not "not connected"."""
    site = Site(lab)
    server, daemon, _, _ = office(site, endpoint="[2001:db8:2::2]:51820")
    site.client.run("ip", "-6", "address", "flush", "dev", "eth0")
    site.client.run("ip", "-6", "route", "flush", "default")
    seen = doctor(site, daemon)
    seen.verdict(ipv4="ok", ipv6="bad", link="ok", route="ok")
    seen.end(6, "no-network")
    check("only an IPv6 address" in seen.answer["summary"], seen.answer["summary"])
    seconds, done = daemon.up("office", "--timeout", "4", check_code=False)
    check(done.returncode == 6 and "only an IPv6 address" in done.stderr, f"up: {done.returncode} {done.stderr}")


@waiting
def test_own_key_taken_away(lab):
    """These keys have worked on this network, so it is not the server's that is wrong."""
    site, server, daemon, _, client_key = well(lab)
    daemon.up("office")
    daemon.cli("down", "office")
    server.wg("peer", client_key.public, "remove")
    seen = doctor(site, daemon)
    seen.verdict(udp="bad", handshake="bad")
    seen.end(7, "handshake-refused")
    check(seen.checks["handshake"]["cure"].startswith("1. see that the server knows"), seen.checks["handshake"]["cure"])


@waiting
def test_interface_is_taken(lab):
    site, _, daemon, _, _ = well(lab)
    site.client.run("ip", "tuntap", "add", "office", "mode", "tun")
    seen = doctor(site, daemon)
    seen.verdict(leftovers="bad")
    seen.end(1, "busy")


def large_packets_dropped(lab, way, expected, client_only=""):
    site = Site(lab, single=True)
    _, daemon, _, _ = office(site, client_extra=f"Transport = udp\n{client_only}")
    site.router.block("meta l4proto udp meta length > 1400", way=way)
    seen = doctor(site, daemon)
    seen.verdict(udp="ok", mtu="warning", handshake="ok")
    seen.says("mtu", expected)
    seen.says("mtu", "MTU = 1280")
    seen.end(0, "none")


@waiting
def test_large_packets_dropped(lab):
    """On the way there; on the way back; by echoes of our own."""
    large_packets_dropped(lab, "up", "lost on the way to the server")


@waiting
def test_large_packets_dropped_on_the_way_back(lab):
    large_packets_dropped(lab, "down", "lost on the way back")


@waiting
def test_large_packets_dropped_beside_another_server(lab):
    """One without our echoes: a large datagram to a closed port shows the way there, and only that."""
    large_packets_dropped(lab, "down", "lost on the way back", client_only="Extensions = off\n")


@waiting
def test_large_packets_dropped_to_another_server(lab):
    large_packets_dropped(lab, "up", "on the way there or back", client_only="Extensions = off\n")


PORTAL = """
import http.server
class Portal(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(302)
        self.send_header("Location", "http://portal.example/login")
        self.end_headers()
http.server.HTTPServer(("192.0.2.1", 80), Portal).serve_forever()
"""


@waiting
def test_captive_portal(lab):
    """The profile names whom to ask; without that nobody is asked."""
    site, _, daemon, _, _ = well(lab)
    site.router.block("meta l4proto { tcp, udp }")
    site.router.host.start("/usr/bin/python3", "-c", PORTAL, name="portal")
    seen = doctor(site, daemon)
    seen.verdict(captive_portal="unknown", udp="bad", tcp="bad")
    seen.end(7, "peer-unreachable")
    log = lab.logs / "router.portal.log"
    check("\"GET /" not in log.read_text(), "somebody was asked without the setting")
    daemon.cli("set", "office", "PortalCheck=http://192.0.2.1/generate_204")
    seen = doctor(site, daemon)
    seen.verdict(captive_portal="bad", udp="bad", tcp="bad")
    seen.says("captive-portal", "http://portal.example/login")
    check("\"GET /generate_204" in log.read_text(), "nobody was asked")
    seen.end(8, "captive-portal")


@waiting
def test_kill_switch_lets_it_look(lab):
    """With the kill switch held by another tunnel its own packets pass, and only they."""
    site, _, daemon, server_key, _ = well(lab)
    daemon.profile("other", interface_text(Key(), extra="Address = 10.78.0.2/24\nKillSwitch = on\n") + peer_text(
        Key(), "10.78.0.0/24", f"198.51.100.9:{PORT}"))
    daemon.cli("set", "office", "KillSwitch=on")
    daemon.up("office")
    seen = doctor(site, daemon, "other")
    seen.verdict(kill_switch="ok", udp="bad", tcp="bad", handshake="unknown")
    seen.end(7, "peer-unreachable")
    daemon.cli("down", "office")


@waiting
def test_tunnel_comes_up_meanwhile(lab):
    """Two engines with one key would take the server's answers from each other."""
    site, _, daemon, _, _ = well(lab)
    site.router.block("meta l4proto { tcp, udp }")
    asked = site.client.start(lab.binary("wgtcp-cli"), "doctor", "office", "--json", "--socket", daemon.socket)
    time.sleep(1)
    done = daemon.cli("doctor", check_code=False)
    check(done.returncode == 1 and "another diagnosis" in done.stderr, f"a second one: {done.stderr}")
    site.router.open()
    daemon.up("office")
    code = asked.process.wait(5)
    check(code == 1, f"the one under way ended with {code}")
    check(not site.client.run("ip", "link", "show", "wgtcp-doctor", check_code=False).stdout, "its interface stayed")


if __name__ == "__main__":
    sys.exit(case.main(globals()))
