# SPDX-License-Identifier: MIT
"""Names of servers: resolvers that are late, names that move, one family only."""

import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lib import case, machine  # noqa: E402
from lib.case import main_path, waiting  # noqa: E402
from lib.lab import check, wait_until  # noqa: E402
from lib.network import SERVER4, SERVER6, Site  # noqa: E402
from lib.tunnel import PORT, office  # noqa: E402

NAME = "vpn.example"
RESOLVER = "192.0.2.1"


def place(lab, addresses, resolv_conf=f"nameserver {RESOLVER}\n", prepare=None, **keywords):
    """A site with a name server on the router, and a profile whose endpoint is a name."""
    site = Site(lab)
    machine.own_etc(site.client, resolv_conf)
    if prepare:
        prepare(site)
    names = machine.Names(site.router.host, RESOLVER, {NAME: addresses})
    server, daemon, _, _ = office(site, endpoint=f"{NAME}:{PORT}", **keywords)
    return site, names, server, daemon


def ping(site, target="10.77.0.1"):
    return site.client.tool("pinger.py", target, "--count", "5", "--grace", "3").result()["received"]


def move(site, address):
    """The server gets another address in place of its own."""
    site.server.run("ip", "address", "del", f"{SERVER4}/24", "dev", "eth0")
    site.server.run("ip", "address", "add", f"{address}/24", "dev", "eth0")
    site.server.run("ip", "route", "replace", "default", "via", "198.51.100.1")


def endpoint(daemon):
    return daemon.status("office")["peers"][0]["endpoint"]


@main_path
def test_name_is_looked_up(lab):
    site, names, server, daemon = place(lab, [SERVER4, SERVER6])
    seconds, _ = daemon.up("office")
    lab.figure(f"up in {seconds:.3f} s")
    check(seconds <= lab.bound(0.6), f"up took {seconds:.3f} s")
    check(ping(site) == 5, "pings lost")
    kinds = {line.split()[1] for line in names.asked(NAME)}
    check(kinds == {"A", "AAAA"}, f"asked for {kinds}")
    check(NAME in (daemon.config / "office.conf").read_text(), "the profile lost the name")


def test_resolver_that_is_down_for_20_s_at_start(lab):
    """As at boot: it goes on asking, with back-off."""
    site, names, server, daemon = place(lab, [SERVER4])
    names.stop()
    site.router.host.run("nft", "add table inet late; add chain inet late in { type filter hook input priority 0; };"
                         " add rule inet late in udp dport 53 drop; add rule inet late in tcp dport 53 drop")
    up = site.client.start(lab.binary("wgtcp-cli"), "up", "office", "--timeout", "60", "--socket", daemon.socket)
    time.sleep(20)
    check(up.running(), f"gave up: {up.text()}")
    check(daemon.status("office")["cause"] == "dns-failed", f"cause {daemon.status('office')['cause']}")
    names.start()
    site.router.host.run("nft", "delete", "table", "inet", "late")
    start = time.monotonic()
    check(up.wait(30) == 0, f"up failed: {up.text()}")
    lab.figure(f"up {time.monotonic() - start:.1f} s after the resolver came")
    check(time.monotonic() - start < 8, "too late after the resolver came")
    check(ping(site) == 5, "pings lost")


test_resolver_that_is_down_for_20_s_at_start = waiting(test_resolver_that_is_down_for_20_s_at_start)


def test_name_that_does_not_exist(lab):
    site, names, server, daemon = place(lab, [SERVER4])
    names.set({})
    _, done = daemon.up("office", "--timeout", "3", check_code=False)
    check(done.returncode == 6 and NAME in done.stderr, f"{done.returncode}: {done.stderr}")
    check(len(done.stderr.strip().splitlines()) == 1, f"not one sentence: {done.stderr}")


@waiting
def test_server_that_moves_to_another_address(lab):
    """The name is looked up again when handshakes go unanswered, and never lost."""
    site, names, server, daemon = place(lab, [SERVER4])
    daemon.up("office")
    check(endpoint(daemon) == f"{SERVER4}:{PORT}", f"endpoint {endpoint(daemon)}")
    moved = "198.51.100.9"
    move(site, moved)
    names.set({NAME: [moved]})
    pings = site.client.tool("pinger.py", "10.77.0.1", "--interval", "200")
    start = time.monotonic()
    wait_until(lambda: endpoint(daemon) in (f"{moved}:{PORT}",) and daemon.status("office")["state"] == "up",
               "the tunnel at the new address", 60)
    lab.figure(f"found after {time.monotonic() - start:.1f} s")
    check(ping(site) == 5, "pings lost at the new address")
    pings.stop()
    check(NAME in (daemon.config / "office.conf").read_text(), "the profile lost the name")
    check(NAME in daemon.cli("export", "office").stdout, "export lost the name")


def test_only_ipv6_here(lab):
    """A and AAAA, and a machine without IPv4 to the outside."""
    site, names, server, daemon = place(lab, [SERVER4, SERVER6])
    site.client.run("ip", "-4", "route", "del", "default")
    seconds, _ = daemon.up("office")
    lab.figure(f"up in {seconds:.3f} s")
    check(endpoint(daemon) == f"[{SERVER6}]:{PORT}", f"endpoint {endpoint(daemon)}")
    check(ping(site) == 5, "pings lost")


def test_only_ipv4_here(lab):
    site, names, server, daemon = place(lab, [SERVER4, SERVER6])
    site.client.run("ip", "-6", "route", "del", "default")
    daemon.up("office")
    check(endpoint(daemon) == f"{SERVER4}:{PORT}", f"endpoint {endpoint(daemon)}")
    check(ping(site) == 5, "pings lost")


def test_ipv6_comes_first_where_both_are_there(lab):
    """When both answer."""
    site, names, server, daemon = place(lab, [SERVER4, SERVER6])
    daemon.up("office")
    check(endpoint(daemon) == f"[{SERVER6}]:{PORT}", f"endpoint {endpoint(daemon)}")


def test_ipv6_that_leads_nowhere(lab):
    """A router announces IPv6 and drops it: the other family is found within the first connect."""
    site, names, server, daemon = place(lab, [SERVER4, SERVER6])
    site.router.block("meta nfproto ipv6")
    seconds, done = daemon.up("office", check_code=False)
    lab.figure(f"up in {seconds:.3f} s")
    check(done.returncode == 0, f"up failed: {done.stderr}")
    check(ping(site) == 5, "pings lost")
    start = time.monotonic()
    daemon.wait_status("office", 20, carrier="udp", state="up")
    lab.figure(f"over UDP and IPv4 {time.monotonic() - start:.1f} s later")


@main_path
def test_where_it_answered_before_is_tried_while_the_resolver_is_down(lab):
    site, names, server, daemon = place(lab, [SERVER4])
    daemon.up("office")
    wait_until(lambda: (daemon.state / "addresses").exists(), "the address to be remembered")
    check((daemon.state / "addresses").stat().st_mode & 0o777 == 0o600, "others may read it")
    daemon.cli("down", "office")
    daemon.program.stop()
    names.stop()
    daemon.start()
    seconds, done = daemon.up("office", check_code=False)
    lab.figure(f"up in {seconds:.3f} s")
    check(done.returncode == 0, f"up failed: {done.stderr}")
    check(seconds < lab.bound(1.5), f"up took {seconds:.3f} s")


def test_hosts_file_comes_first(lab):
    site, names, server, daemon = place(lab, ["203.0.113.9"])
    site.client.run("sh", "-c", f"echo '{SERVER4} {NAME}' >> /etc/hosts")
    daemon.up("office")
    check(endpoint(daemon) == f"{SERVER4}:{PORT}", f"endpoint {endpoint(daemon)}")


def full(daemon, dns):
    text = (daemon.config / "office.conf").read_text()
    daemon.profile("office", text.replace("AllowedIPs = 10.77.0.0/24, fd77::/64", "AllowedIPs = 0.0.0.0/0, ::/0")
                   .replace("MTU =", f"DNS = {dns}\nMTU ="))


@main_path
def test_full_tunnel_asks_the_networks_own_resolver_for_its_server(lab):
    """Past the tunnel, though the tunnel holds the default route and DNS: by the resolver's own list."""
    site, names, server, daemon = place(lab, [SERVER4])
    full(daemon, "10.77.0.53")
    # Not in the client's own network, so that only the mark leads there.
    far = "198.51.100.1"
    outside = machine.Names(site.router.host, far, {NAME: [SERVER4]})
    machine.write(site.client, "/etc/resolv.conf", f"nameserver {far}\n")
    daemon.up("office")
    check("10.77.0.53" in machine.read(site.client, "/etc/resolv.conf"), "the tunnel's DNS is not set")
    before = len(outside.asked(NAME))
    # Another address: it has to ask again.
    move(site, "198.51.100.9")
    outside.set({NAME: ["198.51.100.9"]})
    pings = site.client.tool("pinger.py", "10.77.0.1", "--interval", "200")
    wait_until(lambda: endpoint(daemon) == f"198.51.100.9:{PORT}", "the new address", 60)
    pings.stop()
    lines = outside.asked(NAME)[before:]
    check(lines and all(line.split()[2] == "192.0.2.2" for line in lines), f"asked from {lines}")


def test_full_tunnel_asks_resolveds_uplinks(lab):
    """The same with systemd-resolved, which knows the servers of each link."""
    def prepare(site):
        machine.start_bus(site.client)
        machine.start_resolved(site.client)
    far = "198.51.100.1"
    site, names, server, daemon = place(lab, [SERVER4], None, prepare)
    outside = machine.Names(site.router.host, far, {NAME: [SERVER4]})
    machine.resolvectl(site.client, "dns", "eth0", far)
    full(daemon, "10.77.0.53")
    daemon.up("office")
    check(outside.asked(NAME), "the uplink's server was not asked")
    before = len(outside.asked(NAME))
    move(site, "198.51.100.9")
    outside.set({NAME: ["198.51.100.9"]})
    pings = site.client.tool("pinger.py", "10.77.0.1", "--interval", "200")
    wait_until(lambda: endpoint(daemon) == f"198.51.100.9:{PORT}", "the new address", 60)
    pings.stop()
    check(len(outside.asked(NAME)) > before, "the uplink's server was not asked again")


def test_network_that_changes_has_its_own_resolver(lab):
    """Looked up again, there, when the network changes."""
    site, names, server, daemon = place(lab, [SERVER4])
    daemon.up("office")
    other = machine.Names(site.router.host, "198.51.100.1", {NAME: [SERVER4]})
    time.sleep(5.5)  # younger answers are not asked for again
    machine.write(site.client, "/etc/resolv.conf", "nameserver 198.51.100.1\n")
    site.client.run("ip", "address", "del", "192.0.2.2/24", "dev", "eth0")
    site.client.run("ip", "address", "add", "192.0.2.7/24", "dev", "eth0")
    site.client.run("ip", "route", "replace", "default", "via", "192.0.2.1")
    wait_until(lambda: other.asked(NAME), "a look-up at the new resolver", 10)


test_network_that_changes_has_its_own_resolver = waiting(test_network_that_changes_has_its_own_resolver)


@main_path
def test_probe_process_has_no_privilege_and_is_started_again(lab):
    site, names, server, daemon = place(lab, [SERVER4])

    def probes():
        lines = site.client.run("ps", "-eo", "pid,uid,stat,comm").stdout.splitlines()
        return [(int(line.split()[0]), line.split()[1]) for line in lines
                if line.split()[3] == "wgtcpd-probe" and line.split()[2][0] != "Z"]
    (pid, uid), *_ = wait_until(probes, "the probe process")[0]
    if lab.sanitized:
        lab.figure("whom it runs as is not looked at: a sanitized program is not shut in")
    else:
        check(uid not in ("0", "65534"), f"it runs as {uid}")
    status = site.client.run("cat", f"/proc/{pid}/status").stdout
    fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    check(fields["NoNewPrivs"].strip() == "1" and fields["CapEff"].strip() == "0" * 16 and
          fields["CapPrm"].strip() == "0" * 16 and fields["Groups"].strip() == "", f"privileges: {fields}")
    handles = site.client.run("ls", f"/proc/{pid}/fd").stdout.split()
    check(set(handles) <= {"0", "1", "2", "3", "4"}, f"descriptors: {handles}")
    site.client.run("kill", "-9", pid)
    wait_until(lambda: any(other != pid for other, _ in probes()), "another probe process")
    _, done = daemon.up("office", check_code=False)
    check(done.returncode == 0, f"up failed: {done.stderr}")
    daemon.program.kill()
    wait_until(lambda: not probes(), "the probe to end with the daemon")


if __name__ == "__main__":
    sys.exit(case.main(globals()))
