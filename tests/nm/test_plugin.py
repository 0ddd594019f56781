# SPDX-License-Identifier: MIT
"""The NetworkManager plugin with a real NetworkManager: import, up, traffic, fallback, down, delete; what goes wrong."""

import json
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parents[1] / "netns"),
                str(pathlib.Path(__file__).parents[1] / "gui")]
from desktop.desk import App, Desk  # noqa: E402
from lib import case, machine  # noqa: E402
from lib.case import waiting  # noqa: E402
from lib.lab import check, wait_until  # noqa: E402
from lib.tunnel import Key  # noqa: E402
from manager.nm import passes, place, server_for  # noqa: E402


# Not with sanitizers: nmcli is not built with them and loads the plugin. What it loads is, in unit/nm_import.
def test_import_up_fallback_down_delete(lab):
    site, nm, text, _, _ = place(lab)
    before = site.client.links(), site.client.routes()
    said = nm.import_profile("office", text).stdout
    check("successfully added" in said, said)
    seconds, _ = nm.up("office")
    lab.figure(f"up after {seconds:.1f} s")
    check(passes(site.client, "10.77.0.1") and passes(site.client, "fd77::1"), "nothing passes")
    status = nm.daemon.status("office")
    check(status["state"] == "up" and status["managed_by"] == "NetworkManager", f"{status}")
    site.router.block()
    status, seconds = nm.daemon.wait_status("office", 40, state="up", carrier="tcp")
    lab.figure(f"on TCP {seconds:.1f} s after UDP was blocked")
    check(passes(site.client, "10.77.0.1"), "nothing passes over TCP")
    nm.down("office")
    wait_until(lambda: (site.client.links(), site.client.routes()) == before, "everything to be as it was")
    check(nm.daemon.cli("status", "office", check_code=False).returncode == 5, "the daemon still knows it")
    nm.nmcli("connection", "delete", "office")
    check("office" not in nm.nmcli("-t", "-f", "NAME", "connection").stdout, "not deleted")


def fails(nm, name, reason, log_text=None):
    before = nm.host.links(), nm.host.routes()
    seconds, done = nm.up(name, check_code=False)
    check(done.returncode != 0, "came up")
    nm.lab.figure(f"{name}: {seconds:.1f} s, {done.stderr.splitlines()[0]}")
    check(seconds < nm.lab.bound(20.5), f"took {seconds:.1f} s")
    check(reason in nm.log(), f"NetworkManager does not say {reason}: {done.stderr}")
    wait_until(lambda: (nm.host.links(), nm.host.routes()) == before, "nothing to be left")
    return done


@waiting
def test_wrong_key_is_login_failed(lab):
    site, nm, text, _, (server_key, client_key) = place(lab)
    nm.import_profile("office", text.replace(client_key.private, Key().private))
    done = fails(nm, "office", "failure: login-failed")
    check("Invalid secrets" in done.stderr, f"NetworkManager's reason: {done.stderr}")


@waiting
def test_wrong_endpoint_is_connect_failed(lab):
    site, nm, text, _, _ = place(lab, endpoint="198.51.100.77:51820")
    nm.import_profile("office", text)
    fails(nm, "office", "failure: connect-failed")


def test_no_daemon_is_service_start_failed(lab):
    site, nm, text, _, _ = place(lab, daemon=False)
    nm.import_profile("office", text)
    done = fails(nm, "office", "wgtcpd does not run")
    check("service failed to start" in done.stderr, done.stderr)


def test_line_break_in_a_value_is_refused(lab):
    """What other plugins wrote into a file that root parsed."""
    site, nm, text, _, _ = place(lab)
    nm.import_profile("office", text)
    nm.nmcli("connection", "modify", "office", "+vpn.data", "backend = userspace\nPostUp=touch /run/owned")
    done = fails(nm, "office", "control character")
    check("service failed to start" in done.stderr, done.stderr)
    check(site.client.run("test", "-e", "/run/owned", check_code=False).returncode == 1, "a command was run")


def test_two_at_once(lab):
    site, nm, text, _, _ = place(lab)
    second, _, _ = server_for(site, "2", net="10.78.0", net6="fd78:", allowed="10.78.0.0/24, fd78::/64", port=51821)
    nm.import_profile("office", text)
    nm.import_profile("branch", second)
    nm.up("office")
    nm.up("branch")
    check(set(nm.active()) == {"office", "branch"}, f"active: {nm.active()}")
    check(passes(site.client, "10.77.0.1") and passes(site.client, "10.78.0.1"), "nothing passes")
    nm.down("office")
    check(passes(site.client, "10.78.0.1"), "the other one has gone too")
    nm.down("branch")


def test_name_of_a_profile_of_ours(lab):
    """The daemon has a profile of that name already: another interface, and both live."""
    site, nm, text, _, _ = place(lab)
    second, _, _ = server_for(site, "2", net="10.78.0", net6="fd78:", allowed="10.78.0.0/24, fd78::/64", port=51821)
    nm.daemon.profile("office", second)
    nm.daemon.up("office")
    said = nm.import_profile("office", text).stdout
    uuid = said.partition("(")[2].partition(")")[0]
    nm.up(uuid)
    check(passes(site.client, "10.77.0.1") and passes(site.client, "10.78.0.1"), "nothing passes")
    nm.down(uuid)
    check(passes(site.client, "10.78.0.1"), "ours has gone too")


def test_daemon_killed_while_up(lab):
    site, nm, text, _, _ = place(lab)
    nm.import_profile("office", text)
    nm.up("office")
    nm.daemon.program.kill()
    wait_until(lambda: not nm.active(), "NetworkManager to see it")
    # Whichever it sees first: that the device is gone, or what the service says.
    check("disconnected (was activated)" in nm.log() or "failure: connect-failed" in nm.log(), "not a word of it")
    nm.daemon.start()
    wait_until(lambda: "office" not in site.client.links(), "the leftovers to go")
    nm.up("office")
    check(passes(site.client, "10.77.0.1"), "nothing passes")
    nm.down("office")


def test_network_manager_ends_and_comes_back(lab):
    site, nm, text, _, _ = place(lab)
    nm.import_profile("office", text)
    nm.up("office")
    nm.program.stop()
    wait_until(lambda: "office" not in site.client.links(), "the tunnel to go with an orderly end")
    nm.start()
    nm.up("office")
    check(passes(site.client, "10.77.0.1"), "nothing passes")
    nm.program.kill()
    wait_until(lambda: "office" not in site.client.links(), "the tunnel to go with a killed NetworkManager")
    nm.start()
    nm.up("office")
    check(passes(site.client, "10.77.0.1"), "nothing passes")
    nm.down("office")


def test_secrets_are_asked_for_and_stored(lab):
    """A connection without its key: asked for once, stored by NetworkManager for root, not asked for again."""
    site, nm, text, _, (_, client_key) = place(lab)
    nm.import_profile("office", text)
    file = "/etc/NetworkManager/system-connections/office.nmconnection"
    site.client.run("sed", "-i", "/^private-key=/d", file)
    nm.nmcli("connection", "reload")
    seconds, done = nm.up("office", check_code=False)
    check(done.returncode != 0 and "secrets" in done.stderr, f"without a key: {done.stderr}")
    nm.nmcli("--ask", "--wait", "40", "connection", "up", "office", input=client_key.private + "\n")
    check(passes(site.client, "10.77.0.1"), "nothing passes")
    nm.down("office")
    nm.up("office")
    stored = site.client.run("cat", file).stdout
    check(client_key.private in stored, "the key is not stored")
    check(client_key.private not in nm.log(), "the key is in the log")
    nm.down("office")


def test_unknown_key_and_strange_file_are_refused(lab):
    site, nm, text, _, _ = place(lab)
    for name, changed, words in (
            ("typo", text.replace("MTU", "MTU").replace("AllowedIPs", "AllowedIP"), "did you mean AllowedIPs"),
            ("strange", "client\nremote vpn.example 1194\n", "no WireGuard profile"),
            ("key", text.replace("PublicKey = ", "PublicKey = x"), "PublicKey")):
        path = lab.logs / f"{name}.conf"
        path.write_text(changed)
        done = nm.nmcli("connection", "import", "type", "wgtcp", "file", path, check_code=False)
        check(done.returncode != 0 and words in done.stderr, f"{name}: {done.stderr}")
    check("wgtcp" not in nm.nmcli("-t", "-f", "NAME,TYPE", "connection").stdout, "something was added")


def test_seen_in_status_and_window(lab):
    site, nm, text, _, _ = place(lab)
    nm.import_profile("office", text)
    nm.up("office")
    check("NetworkManager" in nm.daemon.cli("status", "office").stdout, "status does not name the manager")
    desk = Desk(site.client)
    app = App(desk, lab.binary("wgtcp-gui"), "--socket", nm.daemon.socket)
    app.wait_for("^office")
    app.wait_for("Managed by")
    app.wait_for("^NetworkManager$")
    desk.shot("managed")
    nm.down("office")
    app.wait_gone("^office$")
    desk.close()


def full_tunnel(lab, names):
    """All traffic; UDP and TCP at different hosts, by name."""
    site, nm, text, server, keys = place(lab, endpoint="udp.vpn.example:51820", allowed="0.0.0.0/0, ::/0",
                                         client_extra="DNS = 10.77.0.1\n", dns="default", rc="file")
    site.server.run("ip", "address", "add", "198.51.100.3/24", "dev", "eth0")
    site.server.run("ip", "address", "add", "198.51.100.4/24", "dev", "eth0")
    text += "TcpEndpoint = tcp.vpn.example:51820\n"
    names = machine.Names(site.router.host, "192.0.2.1", names)
    return site, nm, text, names


def outside(site):
    """A counter of what leaves the client past the tunnel, but for its carriers, name look-ups and neighbours."""
    site.router.host.nft("table inet eyes {\ncounter past { }\nchain in {\ntype filter hook prerouting priority -310;\n"
                         'iifname "c0" ip daddr 203.0.113.0/24 counter name "past"\n'
                         'iifname "c0" ip6 daddr 2001:db8:99::/64 counter name "past"\n}\n}\n')
    return lambda: site.router.host.counter("eyes", "past")


@waiting
def test_full_tunnel_with_two_hosts_and_a_name_that_moves(lab):
    """resolv.conf names the tunnel's server only; the peers' names are still looked up outside. NetworkManager could guard one gateway by a route; here rules lead everything into the tunnel but its carriers."""
    site, nm, text, names = full_tunnel(
        lab, {"udp.vpn.example": ["198.51.100.2"], "tcp.vpn.example": ["198.51.100.3"]})
    site.server.run("ip", "address", "add", "203.0.113.9/32", "dev", "lo")
    site.server.run("ip", "address", "add", "2001:db8:99::9/128", "dev", "lo")
    past = outside(site)
    nm.import_profile("office", text)
    nm.up("office")
    wait_until(lambda: passes(site.client, "203.0.113.9"), "traffic through the tunnel")
    check(passes(site.client, "2001:db8:99::9"), "no IPv6 through the tunnel")
    check(past() == 0, "it went past the tunnel")
    routes = site.client.run("ip", "-4", "route", "show", "table", "main").stdout
    check("198.51.100" not in routes, f"a route to the server beside the tunnel: {routes}")
    # The other carrier, at another host.
    site.router.block()
    nm.daemon.wait_status("office", 40, state="up", carrier="tcp")
    check(passes(site.client, "203.0.113.9"), "nothing passes over TCP")
    status = nm.daemon.status("office")
    check(status["peers"][0]["endpoint"].startswith("198.51.100.3"), f"{status['peers']}")
    # The server for TCP is elsewhere from now on.
    names.set({"udp.vpn.example": ["198.51.100.4"], "tcp.vpn.example": ["198.51.100.4"]})
    site.server.run("ip", "address", "del", "198.51.100.3/24", "dev", "eth0")

    def moved():
        status = nm.daemon.status("office")
        return status["state"] == "up" and (status["peers"][0]["endpoint"] or "").startswith("198.51.100.4")
    _, seconds = wait_until(moved, "the tunnel to follow the name", 120, 0.2)
    lab.figure(f"at the new address {seconds:.1f} s after it moved")
    wait_until(lambda: passes(site.client, "203.0.113.9"), "traffic through the moved server")
    check(past() == 0, "it went past the tunnel")
    nm.down("office")
    check(passes(site.client, "198.51.100.2"), "the way outside is not back")


def test_link_that_was_down_is_configured_again(lab):
    """A switch of the kernel's WGTCP takes the link down for a moment, and its routes and IPv6 addresses with it."""
    site, nm, text, _, _ = place(lab)
    nm.import_profile("office", text)
    nm.up("office")

    def seen():
        return (site.client.run("ip", "-o", "address", "show", "dev", "office", "scope", "global").stdout.count("inet"),
                sorted(line.split()[0] for family in ("-4", "-6")
                       for line in site.client.run("ip", family, "route", "show", "dev", "office").stdout.splitlines()))
    before = wait_until(lambda: (lambda now: now if now[0] == 2 and "fd77::/64" in now[1] else None)(seen()), "the configuration")[0]
    for _ in range(2):
        site.client.run("ip", "link", "set", "office", "down")
        site.client.run("ip", "link", "set", "office", "up")
        _, seconds = wait_until(lambda: seen() == before, f"{before} again")
        lab.figure(f"configured again after {seconds:.1f} s")
        check(passes(site.client, "10.77.0.1") and passes(site.client, "fd77::1"), "nothing passes")
    check(nm.active() == ["office"], f"active: {nm.active()}")
    nm.down("office")
    log = nm.daemon.program.text()
    check("took away" not in log and "put back" not in log, "the daemon fought for what is not its own")


def test_full_tunnel_ends_in_peace(lab):
    """NetworkManager clears the link before it says so; the daemon does not take that for an attack."""
    site, nm, text, _ = full_tunnel(lab, {"udp.vpn.example": ["198.51.100.2"], "tcp.vpn.example": ["198.51.100.3"]})
    nm.import_profile("office", text)
    for _ in range(3):
        nm.up("office")
        nm.down("office")
    wait_until(lambda: "office" not in site.client.links(), "the link to go")
    check("fwmark" not in site.client.run("ip", "rule").stdout, "rules are left")
    log = nm.daemon.program.text()
    check("took away" not in log and "put back" not in log, "the daemon fought for what is not its own")


def test_names_are_networkmanagers(lab):
    """It writes resolv.conf itself, from what the plugin hands over; the daemon sets nothing."""
    site, nm, text, _, _ = place(lab, client_extra="DNS = 10.77.0.1, fd77::1, corp.example\n", dns="default", rc="file")
    before = machine.read(site.client, "/etc/resolv.conf")
    nm.import_profile("office", text)
    nm.up("office")
    wait_until(lambda: "10.77.0.1" in machine.read(site.client, "/etc/resolv.conf"), "NetworkManager's resolv.conf")
    now = machine.read(site.client, "/etc/resolv.conf")
    check("fd77::1" in now and "corp.example" in now and "NetworkManager" in now, now)
    nm.down("office")
    wait_until(lambda: machine.read(site.client, "/etc/resolv.conf") == before, "the old resolv.conf")


ASK = """import json, os, socket, sys
if sys.argv[2] != "0":
    os.setgroups([]); os.setgid(int(sys.argv[2])); os.setuid(int(sys.argv[2]))
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.sendall(sys.stdin.buffer.read())
f = s.makefile()
for line in f:
    if "id" in json.loads(line):
        print(line, end="")
        break
"""


def test_given_over_the_protocol(lab):
    """What is wrong is refused with its code; the tunnel ends with the connection that asked for it."""
    site, nm, text, _, (server_key, client_key) = place(lab)
    nm.daemon.profile("home", text)

    def ask(params, user=0):
        line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tunnel.up", "params": params}) + "\n"
        return json.loads(site.client.run("/usr/bin/python3", "-c", ASK, nm.daemon.socket, user, input=line).stdout)
    peer = {"public_key": server_key.public, "allowed_ips": ["10.77.0.0/24"], "endpoint": "198.51.100.2:51820"}
    given = {"private_key": client_key.private, "addresses": ["10.77.0.2/24"], "backend": "userspace", "peers": [peer]}
    good = {"name": "x", "managed_by": "tests", "given": given}
    for what, params, user, code in (
            ("an ordinary user", good, 65534, 4), ("nobody's", {**good, "managed_by": ""}, 0, -32602),
            ("a profile's name", {**good, "name": "home"}, 0, 22), ("no name", {**good, "name": "a/b"}, 0, -32602),
            ("text for a list", {**good, "given": {**given, "peers": "x"}}, 0, -32602),
            ("a line break", {**good, "given": {**given, "table": "off\nPostUp=x"}}, 0, 20),
            ("no key", {**good, "given": {"peers": []}}, 0, -32602)):
        answer = ask(params, user)
        check(answer.get("error", {}).get("code") == code, f"{what}: {answer}")
        check(client_key.private not in json.dumps(answer), f"{what}: the key comes back")
    answer = ask(good)
    check(answer["result"]["tunnel"]["managed_by"] == "tests" and answer["result"]["routes"] == ["10.77.0.0/24"], f"{answer}")
    wait_until(lambda: "x" not in site.client.links(), "the tunnel to end with its connection")


if __name__ == "__main__":
    sys.exit(case.main(globals()))
