# SPDX-License-Identifier: MIT
"""The profile's DNS on machines with systemd-resolved, openresolv, Debian's resolvconf, or a plain file."""

import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lib import case, machine  # noqa: E402
from lib.case import main_path  # noqa: E402
from lib.lab import check, wait_until  # noqa: E402
from lib.network import Site  # noqa: E402
from lib.tunnel import office  # noqa: E402

PLAIN = "# kept as it is\noptions timeout:1 edns0\nsearch lan.example\nnameserver 192.0.2.53\n\n\n"
FULL = ("AllowedIPs = 10.77.0.0/24, fd77::/64", "AllowedIPs = 0.0.0.0/0, ::/0")


def place(lab, dns, resolv_conf=PLAIN, full=False, prepare=None):
    """A site whose client has an /etc of its own, and the profile office with this DNS line."""
    site = Site(lab)
    machine.own_etc(site.client, resolv_conf)
    if prepare:
        prepare(site.client)
    server, daemon, _, _ = office(site, client_extra=f"DNS = {dns}\n" if dns else "")
    if full:
        daemon.profile("office", (daemon.config / "office.conf").read_text().replace(*FULL))
    return site, daemon


def facts(host, path="/etc/resolv.conf"):
    """Bytes, owner, mode and time."""
    done = host.run("sh", "-c", f"stat -c '%u %g %a %Y %N' {path}; sha256sum {path}", check_code=False)
    return done.stdout


def warnings(done):
    return [line for line in (done.stdout + done.stderr).splitlines() if "arning" in line]


# ---- a plain file ----

@main_path
def test_plain_file_holds_the_tunnels_servers_and_comes_back(lab):
    """Byte for byte, and mode and owner with it."""
    site, daemon = place(lab, "10.77.0.53, fd77::53, corp.example")
    site.client.run("chmod", "640", "/etc/resolv.conf")
    before = facts(site.client)
    for _ in range(2):
        daemon.up("office")
        lines = machine.read(site.client, "/etc/resolv.conf").splitlines()
        check([line for line in lines if line.startswith("nameserver")] ==
              ["nameserver 10.77.0.53", "nameserver fd77::53"], f"servers: {lines}")
        check("search corp.example" in lines and "options timeout:1 edns0" in lines, f"search or options: {lines}")
        check(site.client.run("stat", "-c", "%U %a", "/etc/resolv.conf").stdout.strip() == "root 640",
              "owner or mode changed while up")
        daemon.cli("down", "office")
        check(facts(site.client) == before, f"not as before: {facts(site.client)} instead of {before}")


def test_plain_file_of_somebody_else(lab):
    """The daemon owns what is root's and has no privilege over what is not: it works, and the file is root's after it."""
    site, daemon = place(lab, "10.77.0.53")
    site.client.run("chown", "nobody:daemon", "/etc/resolv.conf")
    before = machine.read(site.client, "/etc/resolv.conf")
    daemon.up("office")
    check("nameserver 10.77.0.53" in machine.read(site.client, "/etc/resolv.conf"), "the tunnel's server is not there")
    daemon.cli("down", "office")
    check(machine.read(site.client, "/etc/resolv.conf") == before, "not as before")
    site.client.run("chown", "nobody:daemon", "/etc/resolv.conf")
    site.client.run("chmod", "600", "/etc/resolv.conf")
    _, done = daemon.up("office")
    check(any("resolv.conf" in line for line in warnings(done)), f"no word of a file that it may not read: {done.stderr}")


@main_path
def test_plain_file_comes_back_after_the_daemon_was_killed(lab):
    """As after a power cut: the next daemon cleans up before it looks up a server."""
    site, daemon = place(lab, "10.77.0.53")
    before = facts(site.client)
    daemon.up("office")
    check("10.77.0.53" in machine.read(site.client, "/etc/resolv.conf"), "DNS is not set")
    daemon.program.kill()
    check("10.77.0.53" in machine.read(site.client, "/etc/resolv.conf"), "nothing left to clean up")
    daemon.start()
    check(facts(site.client) == before, "the next daemon did not put the file back")
    daemon.up("office")
    check("10.77.0.53" in machine.read(site.client, "/etc/resolv.conf"), "DNS is not set again")
    daemon.cli("down", "office")
    check(facts(site.client) == before, "not as before after a second up and down")


def test_plain_file_comes_back_after_a_failed_up(lab):
    site, daemon = place(lab, "10.77.0.53")
    before = facts(site.client)
    site.router.block("meta nfproto { ipv4, ipv6 }")
    _, done = daemon.up("office", "--timeout", "3", check_code=False)
    check(done.returncode in (6, 7), f"exit code {done.returncode}")
    check(facts(site.client) == before, "a failed up left its DNS behind")


def test_plain_file_comes_back_when_the_daemon_ends(lab):
    site, daemon = place(lab, "10.77.0.53")
    before = facts(site.client)
    daemon.up("office")
    check(daemon.program.stop(), "wgtcpd did not end on SIGTERM")
    check(facts(site.client) == before, "not as before")


def test_link_is_followed_and_stays(lab):
    site, daemon = place(lab, "10.77.0.53", None)
    site.client.run("mkdir", "/etc/here")
    machine.write(site.client, "/etc/here/resolv.real", PLAIN)
    site.client.run("ln", "-s", "here/resolv.real", "/etc/resolv.conf")
    before = facts(site.client), facts(site.client, "/etc/here/resolv.real")
    daemon.up("office")
    check(site.client.run("readlink", "/etc/resolv.conf").stdout.strip() == "here/resolv.real", "the link is gone")
    check("10.77.0.53" in machine.read(site.client, "/etc/resolv.conf"), "DNS is not set")
    daemon.cli("down", "office")
    check((facts(site.client), facts(site.client, "/etc/here/resolv.real")) == before, "not as before")


def test_immutable_file_is_a_warning(lab):
    """The tunnel comes up without its DNS, on a file system that has the attribute."""
    site, daemon = place(lab, "10.77.0.53", None)
    host = site.client
    folder = lab.logs / "immutable"
    folder.mkdir()
    (folder / "resolv.conf").write_text(PLAIN)
    done = host.run("chattr", "+i", folder / "resolv.conf", check_code=False)
    if done.returncode:
        raise case.Skip("this file system has no immutable files")
    try:
        host.run("ln", "-s", folder / "resolv.conf", "/etc/resolv.conf")
        _, done = daemon.up("office", check_code=False)
        check(done.returncode == 0, f"up failed: {done.stderr}")
        check("immutable" in done.stdout + done.stderr, f"nothing said: {done.stdout}{done.stderr}")
        check((folder / "resolv.conf").read_text() == PLAIN, "the file changed")
        check(sorted(p.name for p in folder.iterdir()) == ["resolv.conf"], "something was left beside it")
        daemon.cli("down", "office")
    finally:
        host.run("chattr", "-i", folder / "resolv.conf", check_code=False)


def test_missing_file_is_a_warning(lab):
    site, daemon = place(lab, "10.77.0.53", None)
    _, done = daemon.up("office", check_code=False)
    check(done.returncode == 0, f"up failed: {done.stderr}")
    check("missing" in done.stdout + done.stderr, f"nothing said: {done.stdout}{done.stderr}")
    daemon.cli("down", "office")
    check(site.client.run("test", "-e", "/etc/resolv.conf", check_code=False).returncode, "a file was left behind")


def test_dangling_link_is_a_warning(lab):
    site, daemon = place(lab, "10.77.0.53", None)
    site.client.run("ln", "-s", "/run/nowhere/resolv.conf", "/etc/resolv.conf")
    _, done = daemon.up("office", check_code=False)
    check(done.returncode == 0, f"up failed: {done.stderr}")
    check("leads nowhere" in done.stdout + done.stderr, f"nothing said: {done.stdout}{done.stderr}")
    daemon.cli("down", "office")
    check(site.client.run("readlink", "/etc/resolv.conf").stdout.strip() == "/run/nowhere/resolv.conf", "link changed")


def test_mounted_file_is_overwritten_in_place(lab):
    """As containers have it: it can not be replaced."""
    site, daemon = place(lab, "10.77.0.53")
    machine.write(site.client, "/run/mounted", PLAIN)
    site.client.run("mount", "--bind", "/run/mounted", "/etc/resolv.conf")
    before = machine.read(site.client, "/etc/resolv.conf")
    _, done = daemon.up("office")
    check("10.77.0.53" in machine.read(site.client, "/etc/resolv.conf"), f"DNS is not set: {done.stderr}")
    daemon.cli("down", "office")
    check(machine.read(site.client, "/etc/resolv.conf") == before, "not as before")


def test_another_program_writes_the_file_while_up(lab):
    """A DHCP client in a new network: the tunnel's stays in force, and its own is what comes back."""
    site, daemon = place(lab, "10.77.0.53")
    daemon.up("office")
    new = "nameserver 192.0.2.99\n"
    machine.write(site.client, "/etc/resolv.conf.dhcp", new)
    site.client.run("mv", "/etc/resolv.conf.dhcp", "/etc/resolv.conf")
    wait_until(lambda: "10.77.0.53" in machine.read(site.client, "/etc/resolv.conf"), "the tunnel's DNS again")
    daemon.cli("down", "office")
    check(machine.read(site.client, "/etc/resolv.conf") == new, "what the other program wrote did not come back")


def test_newest_of_two_tunnels_holds(lab):
    site, daemon = place(lab, "10.77.0.53")
    before = facts(site.client)
    text = (daemon.config / "office.conf").read_text().replace("10.77.0", "10.78.0").replace("fd77:", "fd78:")
    daemon.profile("second", text.replace("Endpoint = 198.51.100.2:51820\n", ""))
    daemon.up("office")
    daemon.up("second")
    check("10.78.0.53" in machine.read(site.client, "/etc/resolv.conf"), "the newest does not hold")
    daemon.cli("down", "second")
    check("10.77.0.53" in machine.read(site.client, "/etc/resolv.conf"), "the first one's did not come back")
    daemon.up("second")
    daemon.cli("down", "office")
    check("10.78.0.53" in machine.read(site.client, "/etc/resolv.conf"), "the second one's is gone with the first")
    daemon.cli("down", "second")
    check(facts(site.client) == before, "not as before")


def test_without_dns_nothing_is_touched(lab):
    """Not one byte of the file, nor its times."""
    site, daemon = place(lab, None)
    before = facts(site.client)
    daemon.up("office")
    check(facts(site.client) == before, "touched without a DNS line")
    daemon.cli("down", "office")


def test_server_outside_allowed_ips_is_warned_of(lab):
    """No name would be found, so `up` says how to reach the server."""
    site, daemon = place(lab, "9.9.9.9")
    _, done = daemon.up("office")
    said = done.stdout + done.stderr
    check("9.9.9.9" in said and "AllowedIPs" in said, f"nothing said: {said}")


# ---- systemd-resolved ----

def with_resolved(host):
    machine.start_bus(host)
    machine.start_resolved(host)


@main_path
def test_resolved_full_tunnel_takes_all_names(lab):
    """`~.` and default-route, so that the Wi-Fi's server is not asked too."""
    site, daemon = place(lab, "10.77.0.53, corp.example", full=True, prepare=with_resolved)
    before = facts(site.client), machine.resolvectl(site.client, "status")
    daemon.up("office")
    status = machine.resolvectl(site.client, "status", "office")
    check("DNS Servers: 10.77.0.53" in status, f"server: {status}")
    check("~." in status and "corp.example" in status, f"domains: {status}")
    check("+DefaultRoute" in status, f"default route: {status}")
    check(facts(site.client).splitlines()[0] == before[0].splitlines()[0], "the link to resolved's file was touched")
    daemon.cli("down", "office")
    wait_until(lambda: (facts(site.client), machine.resolvectl(site.client, "status")) == before, "all to be as before")


@main_path
def test_resolved_split_tunnel_takes_only_its_domains(lab):
    """Its names go inside, all others where they went."""
    site, daemon = place(lab, "10.77.0.53, corp.example", prepare=with_resolved)
    uplink = machine.Names(site.router.host, "192.0.2.1", {"www.example": ["192.0.2.80"]})
    inside = machine.Names(site.server, "10.77.0.1", {"wiki.corp.example": ["10.77.0.80"]})
    text = (daemon.config / "office.conf").read_text().replace("10.77.0.53", "10.77.0.1")
    daemon.profile("office", text)
    machine.resolvectl(site.client, "dns", "eth0", "192.0.2.1")
    daemon.up("office")
    status = machine.resolvectl(site.client, "status", "office")
    check("-DefaultRoute" in status and "~." not in status, f"status: {status}")
    check("10.77.0.80" in machine.resolvectl(site.client, "query", "wiki.corp.example"), "inside is not found")
    check("192.0.2.80" in machine.resolvectl(site.client, "query", "www.example"), "outside is not found")
    check(not inside.asked("www.example"), "the tunnel's server was asked for what is not its own")
    check(not uplink.asked("wiki.corp.example"), "the uplink's server was asked for what is inside")


def test_resolved_full_tunnel_asks_nobody_else(lab):
    """Seen at the servers themselves."""
    site, daemon = place(lab, "10.77.0.1", full=True, prepare=with_resolved)
    uplink = machine.Names(site.router.host, "192.0.2.1", {"www.example": ["192.0.2.80"]})
    inside = machine.Names(site.server, "10.77.0.1", {"www.example": ["10.77.0.80"]})
    machine.resolvectl(site.client, "dns", "eth0", "192.0.2.1")
    check("192.0.2.80" in machine.resolvectl(site.client, "query", "www.example"), "the uplink does not answer")
    daemon.up("office")
    before = len(uplink.asked())
    for i in range(5):
        machine.resolvectl(site.client, "query", f"n{i}.example", check_code=False)
    check("10.77.0.80" in machine.resolvectl(site.client, "query", "www.example"), "the tunnel's server is not asked")
    check(len(uplink.asked()) == before, f"the uplink's server was asked: {uplink.asked()[before:]}")
    check(inside.asked("n1.example"), "the tunnel's server was not asked")


def test_resolved_is_as_before_after_the_daemon_was_killed(lab):
    site, daemon = place(lab, "10.77.0.53, corp.example", full=True, prepare=with_resolved)
    before = machine.resolvectl(site.client, "status")
    daemon.up("office")
    daemon.program.kill()
    daemon.start()
    wait_until(lambda: machine.resolvectl(site.client, "status") == before, "resolved to be as before")
    daemon.up("office")
    check("10.77.0.53" in machine.resolvectl(site.client, "status", "office"), "DNS is not set again")


def test_resolved_that_does_not_answer_is_passed_over(lab):
    """A bus, and resolv.conf leading to resolved, but nobody there: the file is guarded instead."""
    site, daemon = place(lab, "10.77.0.53", "nameserver 127.0.0.53\n", prepare=machine.start_bus)
    before = facts(site.client)
    seconds, _ = daemon.up("office")
    check("10.77.0.53" in machine.read(site.client, "/etc/resolv.conf"), "DNS is not set")
    daemon.cli("down", "office")
    check(facts(site.client) == before, "not as before")


# ---- resolvconf ----

def with_openresolv(host):
    machine.install(host, "openresolv")
    host.run("resolvconf", "-a", "eth0.dhcp", input="nameserver 192.0.2.53\nsearch lan.example\n")


@main_path
def test_openresolv_puts_the_tunnels_servers_first(lab):
    """On a machine without systemd-resolved."""
    site, daemon = place(lab, "10.77.0.53, corp.example", prepare=with_openresolv)
    before = facts(site.client), site.client.run("resolvconf", "-l").stdout
    check("192.0.2.53" in machine.read(site.client, "/etc/resolv.conf"), "openresolv does not work here")
    daemon.up("office")
    text = machine.read(site.client, "/etc/resolv.conf")
    servers = [line for line in text.splitlines() if line.startswith("nameserver")]
    check(servers == ["nameserver 10.77.0.53"], f"servers: {servers}")
    check("corp.example" in text, f"search: {text}")
    daemon.cli("down", "office")
    check(machine.read(site.client, "/etc/resolv.conf") and
          (facts(site.client).split()[-2:], site.client.run("resolvconf", "-l").stdout) ==
          (before[0].split()[-2:], before[1]), "not as before")


def test_openresolv_gets_the_plain_name_beside_a_leftover_interface_order(lab):
    """The file of Debian's resolvconf is left over, the program is another."""
    def prepare(host):
        with_openresolv(host)
        host.run("mkdir", "-p", "/etc/resolvconf")
        machine.write(host, "/etc/resolvconf/interface-order", "lo*\ntun*\neth*\n")
    site, daemon = place(lab, "10.77.0.53", prepare=prepare)
    daemon.up("office")
    names = site.client.run("resolvconf", "-i").stdout.split()
    check("office" in names and "tun.office" not in names, f"interfaces: {names}")


def test_debians_resolvconf_gets_the_name_that_it_puts_first(lab):
    def prepare(host):
        machine.install(host, "resolvconf")
        host.run("mkdir", "-p", "/run/resolvconf/interface")
        host.run("touch", "/run/resolvconf/enable-updates")
        host.run("ln", "-sfn", "/run/resolvconf/resolv.conf", "/etc/resolv.conf")
        host.run("resolvconf", "-a", "eth0.dhclient", input="nameserver 192.0.2.53\n")
    site, daemon = place(lab, "10.77.0.53", None, prepare=prepare)
    check("192.0.2.53" in machine.read(site.client, "/etc/resolv.conf"), "resolvconf does not work here")
    daemon.up("office")
    servers = [line.split()[1] for line in machine.read(site.client, "/etc/resolv.conf").splitlines()
               if line.startswith("nameserver")]
    check(servers[:1] == ["10.77.0.53"], f"servers: {servers}")
    check("tun.office" in site.client.run("ls", "/run/resolvconf/interface").stdout, "it is called otherwise")
    daemon.cli("down", "office")
    check("10.77.0.53" not in machine.read(site.client, "/etc/resolv.conf"), "still there after down")


def test_openresolv_is_as_before_after_the_daemon_was_killed(lab):
    site, daemon = place(lab, "10.77.0.53", prepare=with_openresolv)
    before = site.client.run("resolvconf", "-l").stdout
    daemon.up("office")
    daemon.program.kill()
    check("10.77.0.53" in machine.read(site.client, "/etc/resolv.conf"), "nothing left to clean up")
    daemon.start()
    wait_until(lambda: site.client.run("resolvconf", "-l").stdout == before, "openresolv to be as before")
    time.sleep(0.5)
    check("10.77.0.53" not in machine.read(site.client, "/etc/resolv.conf"), "the old DNS is still there")


if __name__ == "__main__":
    sys.exit(case.main(globals()))
