# SPDX-License-Identifier: MIT
"""The kill switch: nothing goes past the tunnel whatever happens, and nobody is locked out unawares.

Probes of an ordinary user go out each millisecond (lib/probes.py); what the router sees of them is counted before
everything else (lib/underlay.py)."""

import base64
import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lib import case, machine  # noqa: E402
from lib.case import main_path, waiting  # noqa: E402
from lib.lab import check, wait_until  # noqa: E402
from lib.network import Site  # noqa: E402
from lib.tunnel import PORT, Key, engine, interface_text, office, peer_text  # noqa: E402
from lib.underlay import Underlay, check_look, look_of  # noqa: E402


class Place:
    """A client with a full tunnel, probes that go on all the time, and what the underlay sees of them."""

    def __init__(self, lab, kill_switch="on", extra="", allowed="0.0.0.0/0, ::/0", own_etc=False, endpoint=None):
        self.lab = lab
        self.site = Site(lab)
        if own_etc:
            machine.own_etc(self.site.client)
        self.underlay = Underlay(self.site)
        self.site.server.run("ip", "address", "add", "198.51.100.3/24", "dev", "eth0")
        self.server, self.daemon, self.server_key, _ = office(
            self.site, client_extra=f"KillSwitch = {kill_switch}\n{extra}", endpoint=endpoint)
        text = (self.daemon.config / "office.conf").read_text()
        self.daemon.profile("office", text.replace("AllowedIPs = 10.77.0.0/24, fd77::/64", f"AllowedIPs = {allowed}"))
        self.client = self.site.client
        self.looked = {}

    def probe(self):
        """From here on."""
        self.probes = self.client.tool("probes.py")
        self.looked = self.underlay.leaks()

    def leaks(self):
        """Since the last look."""
        now = self.underlay.leaks()
        leaks, self.looked = {k: now[k] - self.looked.get(k, 0) for k in now}, now
        return leaks

    def end_probes(self):
        self.probes.signal(15)
        result = self.probes.result()
        tried = sum(result["tried"].values())
        check(min(result["tried"].values()) > 0, f"a kind of probe was never tried: {result['tried']}")
        return tried

    def answers(self, count=5):
        return self.client.tool("pinger.py", "10.77.0.1", "--count", str(count), "--grace", "3").result()["received"]

    def wait_up(self, **wanted):
        return self.daemon.wait_status("office", 30, state="up", **wanted)

    def locked(self):
        """The whole of what status says of the kill switch."""
        return json.loads(self.daemon.cli("status", "--json").stdout)["kill_switch"]


def engine_pid(host):
    lines = host.run("ps", "-eo", "pid,stat,args").stdout.splitlines()
    return [int(line.split()[0]) for line in lines if "--inherited" in line and line.split()[1][0] != "Z"]


# ---- transitions: each leaves the tunnel up ----

def switch_carrier(place, turn):
    # Not while it is just coming back from something else.
    place.daemon.cli("switch", "office", ("tcp", "udp")[turn % 2], check_code=False)


def change_endpoint(place, turn):
    # By what `wg set` uses.
    key = base64.b64decode(place.server_key.public).hex()
    place.client.run("/usr/bin/python3", pathlib.Path(__file__).parent / "lib/uapi.py",
                     "/var/run/wireguard/office.sock",
                     input=f"set=1\npublic_key={key}\nendpoint=198.51.100.{3 - turn % 2}:{PORT}\n\n")


def link_down_and_up(place, turn):
    place.client.run("ip", "link", "set", "eth0", "down")
    time.sleep(0.1)
    place.client.run("ip", "link", "set", "eth0", "up")
    place.client.run("ip", "address", "replace", "2001:db8:1::2/64", "dev", "eth0", "nodad")
    add_default_routes(place)


def add_default_routes(place):
    place.client.run("ip", "route", "replace", "default", "via", "192.0.2.1")
    place.client.run("ip", "-6", "route", "replace", "default", "via", "2001:db8:1::1")


def lose_default_route(place, turn):
    place.client.run("ip", "route", "del", "default")
    place.client.run("ip", "-6", "route", "del", "default")
    time.sleep(0.1)
    add_default_routes(place)


def routes_of_a_hostile_network(place, turn):
    """As DHCP's option 121 brings them: halves of everything, and the very hosts, past the tunnel."""
    routes = (("-4", "0.0.0.0/1"), ("-4", "128.0.0.0/1"), ("-4", "203.0.113.7/32"), ("-4", "198.51.100.2/32"),
              ("-6", "::/1"), ("-6", "8000::/1"), ("-6", "2001:db8:3::7/128"), ("-6", "2001:db8:2::2/128"))
    for verb in "replace", "del":
        for family, prefix in routes:
            place.client.run("ip", family, "route", verb, prefix, "via",
                             "192.0.2.1" if family == "-4" else "2001:db8:1::1", check_code=False)
        time.sleep(0.15)


def kill_engine(place, turn):
    old = engine_pid(place.client)
    place.client.run("kill", "-9", *old)
    wait_until(lambda: engine_pid(place.client) and engine_pid(place.client) != old, "another engine")


def kill_daemon(place, turn):
    place.daemon.program.kill()
    time.sleep(0.1)
    place.daemon.start()


def restart_daemon(place, turn):
    check(place.daemon.program.stop(), "wgtcpd did not end on SIGTERM")
    place.daemon.start()


def connect_again(place, turn):
    """The interface goes, the tunnel fails, a person brings it up again."""
    place.client.run("ip", "link", "delete", "office")
    place.daemon.wait_status("office", 10, state="failed")
    place.daemon.up("office")


def tunnel_down_and_up(place, turn):
    """The tunnel's own link, by somebody else; its routes go with it."""
    place.client.run("ip", "link", "set", "office", "down")
    time.sleep(0.02)
    place.client.run("ip", "link", "set", "office", "up", check_code=False)


def flush_our_table(place, turn):
    place.client.run("ip", "-6" if turn % 2 else "-4", "route", "flush", "table", str(PORT), check_code=False)


def block_udp(place, turn):
    place.site.router.block()
    place.daemon.wait_status("office", 30, carrier="tcp")
    place.site.router.open()


TRANSITIONS = (switch_carrier, change_endpoint, link_down_and_up, routes_of_a_hostile_network, kill_engine,
               lose_default_route, kill_daemon, connect_again, restart_daemon, tunnel_down_and_up, flush_our_table)


@main_path
@waiting
def test_nothing_leaves_over_many_transitions(lab):
    """40 transitions, 1,000 in the long form: not one packet of the probes outside the tunnel."""
    place = Place(lab)
    place.daemon.up("office")
    place.probe()
    turns, counted, worst = (1000 if lab.long else 40), {}, 0
    for turn in range(turns):
        # Each meets each of the others sooner or later.
        transition = TRANSITIONS[(turn + turn // len(TRANSITIONS)) % len(TRANSITIONS)]
        transition(place, turn)
        counted[transition.__name__] = counted.get(transition.__name__, 0) + 1
        # Some while still under way, most when it is over.
        if turn % 4:
            _, seconds = place.wait_up()
            worst = max(worst, seconds)
        leaks = place.leaks()
        check(not any(leaks.values()), f"turn {turn}, {transition.__name__}: seen on the underlay: {leaks}")
    place.wait_up()
    check(place.answers() >= 4, "the tunnel does not work at the end")
    tried = place.end_probes()
    leaks = place.leaks()
    check(not any(leaks.values()), f"seen on the underlay: {leaks}")
    lab.figure(f"{turns} transitions of {len(counted)} kinds, {tried} probes tried, 0 seen; up again after at most {worst:.1f} s")


def test_without_it_the_same_probes_are_seen(lab):
    """The positive control: the same transitions with KillSwitch = off, and every kind of probe is seen."""
    place = Place(lab, kill_switch="off")
    place.daemon.up("office")
    place.probe()
    seen = {}
    for turn, transition in enumerate((routes_of_a_hostile_network, kill_daemon)):
        transition(place, turn)
        time.sleep(0.5)
        for kind, count in place.leaks().items():
            seen[kind] = seen.get(kind, 0) + count
        place.daemon.up("office")
    place.end_probes()
    lab.figure(", ".join(f"{k} {v}" for k, v in seen.items()))
    check(all(seen.values()), f"a kind of probe is not seen although nothing stops it: {seen}")


@waiting
def test_nothing_leaves_while_keys_are_renewed(lab):
    """A session is renewed after 120 s; in the short form by a new engine's first handshake and by falling back."""
    place = Place(lab)
    place.daemon.up("office")
    place.probe()
    block_udp(place, 0)
    if lab.long:
        first = place.daemon.status("office")["peers"][0]["last_handshake"]
        wait_until(lambda: place.daemon.status("office")["peers"][0]["last_handshake"] > first and place.answers(1),
                   "a renewed session", 150, interval=1)
    place.end_probes()
    leaks = place.leaks()
    check(not any(leaks.values()), f"seen on the underlay: {leaks}")


@main_path
def test_ipv4_tunnel_blocks_ipv6(lab):
    """AllowedIPs = 0.0.0.0/0 on a host that has IPv6 too."""
    place = Place(lab, allowed="0.0.0.0/0")
    place.daemon.up("office")
    place.probe()
    time.sleep(1)
    place.end_probes()
    leaks = place.leaks()
    check(not any(leaks.values()), f"seen on the underlay: {leaks}")
    check(place.answers() >= 4, "IPv4 does not pass the tunnel")


def test_ends_with_down_and_says_so_at_up(lab):
    place = Place(lab)
    before = look_of(place.client)
    seconds, done = place.daemon.up("office")
    check("kill switch is on" in done.stderr and "unlock" in done.stderr, f"up does not say it: {done.stderr}")
    check(place.locked() == {"state": "on", "open_until": 0, "tunnels": ["office"]}, f"status: {place.locked()}")
    check(place.daemon.status("office")["kill_switch"] == "on", "the tunnel's own status")
    check("The kill switch is on (office)" in place.daemon.cli("status").stdout, "status for people")
    place.daemon.cli("down", "office")
    check(place.locked()["state"] == "off", f"after down: {place.locked()}")
    check_look(place.client, before, "at the end")


@main_path
def test_comes_back_when_a_firewall_starts_anew(lab):
    """`flush ruleset`, as many firewalls begin, takes everybody's rules away."""
    place = Place(lab)
    place.daemon.up("office")
    for _ in range(3):
        place.client.nft("flush ruleset\ntable inet filter { chain in { type filter hook input priority 0; }\n}\n")
        wait_until(lambda: "wgtcp_kill_switch" in place.client.run("nft", "list", "tables").stdout, "it to be put back", 2)
    check("put back" in place.daemon.program.log.read_text(), "the log does not say it")
    check(not reached(place) and place.answers() >= 4, "it is not as it was")
    place.daemon.cli("unlock")
    place.client.nft("flush ruleset")
    time.sleep(0.3)
    check("wgtcp_kill_switch" not in place.client.run("nft", "list", "tables").stdout, "it comes back after unlock")


def test_first_connect_that_fails_leaves_no_lock(lab):
    """Nobody was protected before, so nobody is locked out after."""
    place = Place(lab)
    place.site.router.block("meta nfproto { ipv4, ipv6 }")
    before = look_of(place.client)
    seconds, done = place.daemon.up("office", "--timeout", "2", check_code=False)
    check(done.returncode != 0 and "kill switch stays on" not in done.stderr, f"{done.returncode} {done.stderr}")
    check(look_of(place.client) == before and place.locked()["state"] == "off", f"locked: {place.locked()}")


@main_path
def test_stays_shut_when_the_tunnel_breaks(lab):
    """The interface is deleted: failed, shut, and it says so; down ends it."""
    place = Place(lab)
    place.daemon.up("office")
    place.probe()
    place.client.run("ip", "link", "delete", "office")
    status, _ = place.daemon.wait_status("office", 10, state="failed")
    check("kill switch stays on" in status["message"], f"it does not say so: {status['message']}")
    check(status["kill_switch"] == "on", "status")
    time.sleep(0.5)
    place.site.router.block("meta nfproto { ipv4, ipv6 }")
    seconds, done = place.daemon.up("office", "--timeout", "2", check_code=False)
    check(done.returncode != 0 and "kill switch stays on" in done.stderr, f"a second failure: {done.stderr}")
    place.end_probes()
    leaks = place.leaks()
    check(not any(leaks.values()), f"seen on the underlay: {leaks}")
    place.site.router.open()
    place.daemon.cli("down", "office")
    check(place.locked()["state"] == "off", "down does not end it")


@main_path
def test_survives_the_daemon_and_brings_the_tunnel_back(lab):
    """SIGKILL and SIGTERM: shut while no daemon runs; the next one brings the tunnel back by itself (one owner,
    and it is told why)."""
    place = Place(lab)
    place.daemon.up("office")
    place.probe()
    for end in place.daemon.program.kill, lambda: place.daemon.program.stop():
        end()
        time.sleep(0.5)
        leaks = place.leaks()
        check(not any(leaks.values()), f"seen on the underlay without a daemon: {leaks}")
        place.daemon.start()
        check("kill switch is on" in place.daemon.program.log.read_text(), "the log does not say it")
        place.wait_up()
        check(place.answers() >= 4, "the tunnel does not come back")
    place.end_probes()
    check(not any(place.leaks().values()), "seen on the underlay")


def test_server_known_by_name(lab):
    """Its name is looked up past the kill switch, and nobody else's is: at a restart nothing else could be looked up."""
    place = Place(lab, own_etc=True, endpoint=f"vpn.example:{PORT}")
    router = place.site.router.host
    router.run("ip", "address", "add", "192.0.2.53/24", "dev", "c0")
    names = machine.Names(router, "192.0.2.53", {"vpn.example": ["198.51.100.2"], "other.example": ["198.51.100.2"]})
    place.daemon.up("office")
    for end in place.daemon.program.kill, lambda: place.daemon.program.stop():
        end()
        place.daemon.start()
        place.wait_up()
    done = place.client.run("getent", "ahosts", "other.example", check_code=False, timeout=60)
    check(done.returncode != 0 and not names.asked("other.example"), "anybody's names are looked up past it")
    check(names.asked("vpn.example"), "the name was never asked for")


@main_path
def test_holds_at_boot(lab):
    """From before the network is up until the tunnel stands, for what was on when the machine went down, and for what
    connects by itself."""
    for how in "was on", "AutoConnect":
        place = Place(lab, extra="AutoConnect = on\n" if how == "AutoConnect" else "")
        daemon = place.daemon
        if how == "was on":
            daemon.up("office")
        daemon.program.kill()
        # The machine: no packet filter, no network, no processes of ours.
        wait_until(lambda: not engine_pid(place.client), "the engine to end")
        place.client.run("nft", "flush", "ruleset")
        for family in "-4", "-6":
            while place.client.run("ip", family, "rule", "del", "priority", "32765", check_code=False).returncode == 0:
                pass
            while place.client.run("ip", family, "rule", "del", "priority", "32764", check_code=False).returncode == 0:
                pass
        place.client.run("ip", "link", "set", "eth0", "down")
        restore = [lab.binary("wgtcpd"), "--restore-killswitch", "--config-dir", daemon.config, "--state-dir", daemon.state]
        place.client.run(*restore)
        place.probe()
        place.client.run("ip", "link", "set", "eth0", "up")
        place.client.run("ip", "address", "replace", "2001:db8:1::2/64", "dev", "eth0", "nodad")
        add_default_routes(place)
        time.sleep(0.5)
        leaks = place.leaks()
        check(not any(leaks.values()), f"{how}: seen on the underlay before the daemon: {leaks}")
        daemon.start()
        place.wait_up()
        check(place.answers() >= 4, f"{how}: the tunnel does not come up at boot")
        # Beside a daemon it changes nothing.
        check(place.client.run(*restore, check_code=False).returncode == 1, "it ran beside a daemon")
        check(place.answers() >= 4, "it cut the tunnel")
        place.end_probes()
        leaks = place.leaks()
        check(not any(leaks.values()), f"{how}: seen on the underlay: {leaks}")
        daemon.cli("down", "office")
        daemon.program.stop()


def test_nothing_is_restored_where_nothing_was_on(lab):
    place = Place(lab)
    place.daemon.program.stop()
    before = look_of(place.client)
    place.client.run(lab.binary("wgtcpd"), "--restore-killswitch", "--config-dir", place.daemon.config, "--state-dir",
                     place.daemon.state)
    check_look(place.client, before, "it changed something")


def reached(place):
    """Whether the underlay can be reached past the tunnel: a portal's login page, as it were."""
    return place.client.run("ping", "-c", "1", "-W", "1", "203.0.113.1", check_code=False).returncode == 0


def test_unlock_while_up(lab):
    place = Place(lab)
    place.daemon.up("office")
    check(not reached(place), "it is not shut")
    done = place.daemon.cli("unlock")
    check(done.stdout == "The kill switch is off.\n", f"unlock said: {done.stdout}")
    check(place.locked()["state"] == "off" and place.answers() >= 4, "the tunnel is not up any more")
    # The tunnel still takes everything; but what goes past it may.
    place.client.run("ip", "route", "add", "203.0.113.0/24", "via", "192.0.2.1")
    check(reached(place), "still shut")
    check("off already" in place.daemon.cli("unlock").stdout, "a second unlock")
    place.daemon.program.kill()
    place.daemon.start()
    check(place.locked()["state"] == "off", "it came back by itself")


@main_path
def test_unlock_without_a_daemon(lab):
    """As root, in any state: none runs, one hangs, the state folder is empty."""
    place = Place(lab)
    cli, state = lab.binary("wgtcp-cli"), place.daemon.state
    # The folders that a person does not name.
    place.client.run("sh", "-c", f"mkdir -p /var/lib && mount -t tmpfs tmpfs /var/lib && mkdir /var/lib/wgtcp"
                     f" && mount --bind {state} /var/lib/wgtcp")
    place.daemon.up("office")
    place.daemon.program.kill()
    wait_until(lambda: not engine_pid(place.client), "the engine to end")
    check(not reached(place), "it is not shut")
    done = place.client.run(cli, "unlock", "--socket", place.daemon.socket)
    check(done.stdout == "The kill switch is off.\n" and not done.stderr, f"unlock said: {done.stdout} {done.stderr}")
    place.client.run("ip", "route", "add", "203.0.113.0/24", "via", "192.0.2.1", check_code=False)
    check(reached(place), "still shut")
    place.daemon.start()
    check(place.locked()["state"] == "off", "the next daemon shut it again")
    # One that hangs.
    place.daemon.up("office")
    check(not reached(place), "it is not shut the second time")
    place.daemon.program.signal(19)
    done = place.client.run(cli, "unlock", "--socket", place.daemon.socket)
    check(reached(place), "still shut beside a daemon that hangs")
    place.daemon.program.kill()
    # Its file is lost.
    for path in state.iterdir():
        path.unlink()
    place.daemon.start()
    place.daemon.up("office")
    place.daemon.program.kill()
    (state / "killswitch").unlink()
    check(not reached(place), "it is not shut the third time")
    place.client.run(cli, "unlock", "--socket", place.daemon.socket)
    check(reached(place), "still shut without its file")
    # Somebody who may not.
    done = place.client.run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", cli, "unlock", "--socket",
                            place.daemon.socket, check_code=False)
    check(done.returncode != 0 and "sudo" in done.stderr and reached(place), f"anybody may: {done.returncode} {done.stderr}")


@main_path
def test_opened_for_a_portal_login(lab):
    """unlock --for: the underlay is reached for a while, also by what the tunnel would take; status shows it; it closes
    by itself, also when the daemon is killed meanwhile."""
    for kill in False, True:
        place = Place(lab, extra="DNS = 10.77.0.53\n", own_etc=True)
        place.daemon.up("office")
        check("10.77.0.53" in machine.read(place.client, "/etc/resolv.conf"), "DNS is not set")
        before = look_of(place.client)
        check(not reached(place), "it is not shut")
        done = place.daemon.cli("unlock", "--for", "4s")
        check("open for 4 s" in done.stdout, f"unlock said: {done.stdout}")
        check(reached(place), "the portal cannot be reached")
        check("192.0.2.53" in machine.read(place.client, "/etc/resolv.conf"), "the portal's name cannot be looked up")
        check(place.locked()["state"] == "open" and place.locked()["open_until"] > 0, f"status: {place.locked()}")
        check(place.daemon.status("office")["kill_switch"] == "open", "the tunnel's own status")
        check("The kill switch is open for" in place.daemon.cli("status").stdout, "status for people")
        if kill:
            place.daemon.program.kill()
        time.sleep(4.5)
        place.probe()
        time.sleep(0.5)
        place.end_probes()
        leaks = place.leaks()
        check(not any(leaks.values()), f"after its time: {leaks}")
        if kill:
            place.daemon.start()
            place.wait_up()
        check(place.locked() == {"state": "on", "open_until": 0, "tunnels": ["office"]}, f"status: {place.locked()}")
        check(place.answers() >= 4, "the tunnel does not work after it was closed again")
        check_look(place.client, before, "at the end")
        check("10.77.0.53" in machine.read(place.client, "/etc/resolv.conf"), "DNS is not set again")
        place.daemon.cli("down", "office")
        place.daemon.program.stop()


def test_portal_on_a_network_we_move_to(lab):
    """Mid-session everything stops: shut, and status says what is on and how to open it."""
    place = Place(lab)
    place.daemon.up("office")
    place.site.router.block("meta nfproto { ipv4, ipv6 }")
    place.client.tool("pinger.py", "10.77.0.1", "--count", "20", "--interval", "50", "--grace", "1").result()
    wait_until(lambda: place.daemon.status("office")["state"] != "up", "the state to change", 40)
    text = place.daemon.cli("status").stdout
    check("kill switch is on" in text and "unlock" in text, f"status gives no hint: {text}")


def test_local_network_by_setting(lab):
    """KillSwitchAllowLan: the neighbours, but not their resolver."""
    for setting, expected in ("off", False), ("on", True):
        place = Place(lab, extra=f"KillSwitchAllowLan = {setting}\n")
        router = place.site.router.host
        router.run("ip", "address", "add", "10.9.0.1/24", "dev", "c0")
        place.client.run("ip", "address", "add", "10.9.0.2/24", "dev", "eth0")
        router.nft("table inet lan { counter dns_seen { }\n chain in { type filter hook prerouting priority -300;\n"
                   'ip daddr 10.9.0.1 udp dport 53 counter name "dns_seen"\n}\n}\n')
        place.daemon.up("office")
        seen = place.client.run("ping", "-c", "2", "-i", "0.2", "-W", "1", "10.9.0.1", check_code=False).returncode == 0
        check(seen == expected, f"KillSwitchAllowLan = {setting}: neighbour reached: {seen}")
        place.client.run("/usr/bin/python3", "-c", "import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
                         "try: s.sendto(b'x', ('10.9.0.1', 53))\nexcept OSError: pass")
        check(router.counter("lan", "dns_seen") == 0, "a look-up went to the local network's resolver")
        # Private addresses elsewhere are not the local network, whatever the network says of routes (DHCP option 121).
        router.run("ip", "address", "add", "10.12.0.1/32", "dev", "lo")
        place.client.run("ip", "route", "add", "10.12.0.1", "via", "192.0.2.1")

        def reached(target):
            return place.client.run("ping", "-c", "1", "-W", "1", target, check_code=False).returncode == 0
        check(not reached("10.12.0.1"), "a private address behind a router was reached")
        # Another network comes, and goes.
        router.run("ip", "address", "add", "10.11.0.1/24", "dev", "c0")
        place.client.run("ip", "address", "add", "10.11.0.2/24", "dev", "eth0")
        if expected:
            wait_until(lambda: reached("10.11.0.1"), "the new neighbours to be reached", 10)
            place.client.run("ip", "address", "del", "10.11.0.2/24", "dev", "eth0")
            place.client.run("ip", "route", "add", "10.11.0.1", "via", "192.0.2.1")
            wait_until(lambda: not reached("10.11.0.1"), "what is no neighbour any more to be out of reach", 10)
        else:
            check(not reached("10.11.0.1"), "new neighbours are reached")
        place.daemon.cli("down", "office")
        place.daemon.program.stop()


def test_forwarded_packets_are_held_too(lab):
    """Containers and virtual machines behind this one."""
    place = Place(lab)
    guest = lab.host("guest")
    lab.wire(guest, "eth0", place.client, "v0")
    place.client.run("ip", "address", "add", "172.30.0.1/24", "dev", "v0")
    guest.run("ip", "address", "add", "172.30.0.2/24", "dev", "eth0")
    guest.run("ip", "route", "add", "default", "via", "172.30.0.1")
    place.client.run("sysctl", "-qw", "net.ipv4.ip_forward=1")
    place.underlay.leaks()
    guest.run("ping", "-c", "1", "-W", "1", "203.0.113.7", check_code=False)
    check(place.underlay.leaks()["any"] > 0, "the guest's packets are not forwarded at all")
    place.daemon.up("office")
    place.client.run("ip", "route", "add", "203.0.113.7", "via", "192.0.2.1")
    before = place.underlay.leaks()["any"]
    guest.run("ping", "-c", "3", "-i", "0.2", "-W", "1", "203.0.113.7", check_code=False)
    check(place.underlay.leaks()["any"] == before, "forwarded past the tunnel")


def test_dhcp_and_neighbours_pass(lab):
    """What keeps a link alive is never held: neighbour discovery and DHCP, by IPv4 and IPv6."""
    place = Place(lab)
    router = place.site.router.host
    router.nft("table inet alive { counter dhcp4 { }\n counter dhcp6 { }\n chain in { type filter hook prerouting priority -300;\n"
               'udp sport 68 udp dport 67 counter name "dhcp4"\nudp sport 546 udp dport 547 counter name "dhcp6"\n}\n}\n')
    place.daemon.up("office")
    send = ("import socket, sys\ns = socket.socket(socket.AF_INET6 if ':' in sys.argv[1] else socket.AF_INET, "
            "socket.SOCK_DGRAM)\ns.setsockopt(socket.SOL_SOCKET, 25, b'eth0')\ns.bind(('', int(sys.argv[2])))\n"
            "s.sendto(b'x', (sys.argv[1], int(sys.argv[3])))")
    place.client.run("/usr/bin/python3", "-c", send, "192.0.2.1", 68, 67)
    place.client.run("/usr/bin/python3", "-c", send, "ff02::1:2%eth0", 546, 547)
    check(router.counter("alive", "dhcp4") == 1, "DHCP is held")
    wait_until(lambda: router.counter("alive", "dhcp6") == 1, "DHCPv6 to pass", 3)
    mark = 51820
    for family, neighbour, own in ("-4", "192.0.2.1", "192.0.2.2"), ("-6", "2001:db8:1::1", "2001:db8:1::2"):
        place.client.run("ip", family, "neigh", "flush", "dev", "eth0")
        place.client.run("ping", "-c", "1", "-W", "2", "-m", mark, neighbour)
        router.run("ip", family, "neigh", "flush", "dev", "c0")
        router.run("ping", "-c", "1", "-W", "1", own, check_code=False)
        check(f"{own} lladdr" in router.run("ip", family, "neigh", "show", "dev", "c0").stdout,
              f"asked for its address by {family}, it does not answer")


NO_NFTABLES = """
int nft_run_cmd_from_buffer(void *nft, const char *commands) { (void)nft; (void)commands; return -1; }
const char *nft_ctx_get_error_buffer(void *nft)
{
    (void)nft;
    return "/dev/stdin:1:1-2: Error: Could not process rule: Operation not supported\\nadd table inet x\\n";
}
"""


def test_kernel_without_a_packet_filter_is_told_plainly(lab):
    """Nothing half done, and one sentence with the cure."""
    place = Place(lab)
    place.daemon.program.stop()
    before = look_of(place.client)
    library = lab.logs / "no-nftables.so"
    place.client.run("cc", "-shared", "-fPIC", "-x", "c", "-o", library, "-", input=NO_NFTABLES)
    place.daemon.program = place.client.start(
        lab.binary("wgtcpd"), "--foreground", "--socket", place.daemon.socket, "--config-dir", place.daemon.config,
        "--state-dir", place.daemon.state, name="wgtcpd-without", env={
            "LD_PRELOAD": str(library), "ASAN_OPTIONS": lab.environment()["ASAN_OPTIONS"] + ":verify_asan_link_order=0"})
    wait_until(place.daemon._answers, "wgtcpd's socket")
    seconds, done = place.daemon.up("office", check_code=False)
    check(done.returncode == 1, f"exit code {done.returncode}")
    check("this kernel lacks" in done.stderr and "modprobe" in done.stderr and "KillSwitch = off" in done.stderr,
          f"no cure: {done.stderr}")
    check(len(done.stderr.strip().splitlines()) == 1, f"not one sentence: {done.stderr}")
    check_look(place.client, before, "something was left")
    place.daemon.cli("set", "office", "KillSwitch=off")
    place.daemon.up("office")
    check(place.answers() >= 4, "a tunnel without it does not work either")


def test_two_tunnels_hold_it(lab):
    """It is on until the last of them is down; the stricter one counts."""
    place = Place(lab, extra="KillSwitchAllowLan = on\n", allowed="10.77.0.0/24, fd77::/64")
    server_key, client_key = Key(), Key()
    engine(place.site.server, "wg-home", ["10.78.0.1/24"], interface_text(server_key, 51900) + peer_text(
        client_key, "10.78.0.2/32"))
    place.daemon.profile("home", interface_text(client_key, extra="Address = 10.78.0.2/24\nKillSwitch = on\n") + peer_text(
        server_key, "10.78.0.0/24", "198.51.100.2:51900"))
    seconds, done = place.daemon.up("office")
    check("AllowedIPs does not hold everything" in done.stderr, f"no word of what cannot be reached: {done.stderr}")
    place.daemon.up("home")
    check(sorted(place.locked()["tunnels"]) == ["home", "office"], f"{place.locked()}")
    check(place.answers() >= 4, "the first one does not work beside the second")
    check(not reached(place), "it is not shut")
    place.daemon.cli("down", "home")
    check(place.locked()["tunnels"] == ["office"] and not reached(place), "the first down ended it")
    place.daemon.cli("down", "office")
    check(reached(place), "still shut")


def test_the_disk_is_full(lab):
    """It is on all the same, and up says what it cannot promise then."""
    place = Place(lab)
    state = place.daemon.state
    place.daemon.program.stop()
    place.client.run("mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "tmpfs", state)
    place.client.run("sh", "-c", f"head -c 131072 /dev/zero >{state}/fill", check_code=False)
    place.daemon.start()
    _, done = place.daemon.up("office")
    check("could not be written down" in done.stderr and "No space left" in done.stderr, f"up says: {done.stderr}")
    check("after a restart" not in done.stderr, f"up promises too much: {done.stderr}")
    check(place.daemon.status("office")["kill_switch"] == "on", "the kill switch is off")
    place.daemon.cli("down", "office")
    place.client.run("rm", f"{state}/fill")
    _, done = place.daemon.up("office")
    check("could not be written down" not in done.stderr and "after a restart" in done.stderr, f"up says: {done.stderr}")


if __name__ == "__main__":
    sys.exit(case.main(globals()))
