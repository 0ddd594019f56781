# SPDX-License-Identifier: MIT
"""wg and wg-quick work on our engine as on any other userspace implementation."""

import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lib import case  # noqa: E402
from lib.case import main_path  # noqa: E402
from lib.lab import check, wait_until  # noqa: E402
from lib.network import Site  # noqa: E402
from lib.tunnel import PORT, Key, engine, interface_text, peer_text, preshared_key, wireguard_go  # noqa: E402


@main_path
def test_show_and_showconf(lab):
    host, key, peer, psk = lab.host("host"), Key(), Key(), preshared_key()
    device = engine(host, "wg0", ["10.1.0.1/24"], interface_text(key, PORT, "FwMark = 0x2a\n") + peer_text(
        peer, "10.1.0.2/32, 10.2.0.0/16, fd00:1::/64", "192.0.2.9:4711", psk, 25))
    show = host.run("wg", "show", "wg0").stdout
    for wanted in (f"public key: {key.public}", f"listening port: {PORT}", "fwmark: 0x2a", f"peer: {peer.public}",
                   "preshared key: (hidden)", "endpoint: 192.0.2.9:4711", "10.1.0.2/32", "10.2.0.0/16", "fd00:1::/64",
                   "persistent keepalive: every 25 seconds"):
        check(wanted in show, f"wg show lacks '{wanted}'")
    conf = host.run("wg", "showconf", "wg0").stdout
    again = lab.logs / "again.conf"
    again.write_text(conf)
    host.run("wg", "setconf", "wg0", again)
    check(host.run("wg", "showconf", "wg0").stdout == conf, "showconf -> setconf -> showconf is not the same")
    for wanted in (f"PrivateKey = {key.private}", f"PresharedKey = {psk}", "FwMark = 0x2a"):
        check(wanted in conf, f"wg showconf lacks '{wanted.split()[0]}'")
    dump = host.run("wg", "show", "wg0", "dump").stdout.splitlines()
    check(len(dump) == 2 and len(dump[0].split("\t")) == 4 and len(dump[1].split("\t")) == 8, "wg show dump")
    check(host.run("wg", "show", "interfaces").stdout.strip() == "wg0", "wg show interfaces")


def test_set_changes_one_thing_at_a_time(lab):
    host, key, one, two = lab.host("host"), Key(), Key(), Key()
    device = engine(host, "wg0", [], interface_text(key, PORT))
    device.wg("peer", one.public, "allowed-ips", "10.1.0.0/24,fd00::/64")
    device.wg("peer", two.public, "allowed-ips", "10.2.0.0/24", "persistent-keepalive", 7)
    check(device.show("allowed-ips") == {one.public: ["10.1.0.0/24 fd00::/64"], two.public: ["10.2.0.0/24"]},
          f"allowed IPs: {device.show('allowed-ips')}")
    # A prefix belongs to one peer: the last one that was given it.
    device.wg("peer", two.public, "allowed-ips", "10.1.0.0/24")
    check(device.show("allowed-ips") == {one.public: ["fd00::/64"], two.public: ["10.1.0.0/24"]},
          f"after moving a prefix: {device.show('allowed-ips')}")
    device.wg("peer", two.public, "persistent-keepalive", "off")
    check(device.show("persistent-keepalive")[two.public] == ["off"], "persistent-keepalive off")
    device.wg("peer", one.public, "remove")
    check(list(device.show("allowed-ips")) == [two.public], "peer remove")
    device.wg("listen-port", PORT + 1, "fwmark", "0x51")
    check(host.run("wg", "show", "wg0", "listen-port").stdout.strip() == str(PORT + 1), "listen-port")
    check(host.run("wg", "show", "wg0", "fwmark").stdout.strip() == "0x51", "fwmark")
    sockets = host.run("ss", "-H", "-ulnp").stdout
    check(f":{PORT + 1} " in sockets and f":{PORT} " not in sockets, f"bound UDP ports: {sockets}")


def test_setconf_and_syncconf(lab):
    """syncconf keeps what has not changed: the session goes on. setconf starts over."""
    site = Site(lab)
    server_key, key, other = Key(), Key(), Key()
    server = engine(site.server, "wg-s", ["10.1.0.1/24"], interface_text(server_key, PORT) + peer_text(
        key, "10.1.0.2/32"))
    config = interface_text(key) + peer_text(server_key, "10.1.0.1/32", f"198.51.100.2:{PORT}")
    client = engine(site.client, "wg-c", ["10.1.0.2/24"], config)
    ping = lambda: site.client.tool("pinger.py", "10.1.0.1", "--count", "10", "--grace", "6").result()  # noqa: E731
    check(ping()["lost"] == 0, "no ping through the tunnel")
    before = client.received(server_key)
    client.setconf(config + peer_text(other, "10.9.0.0/16"), verb="syncconf")
    check(client.received(server_key) >= before, "syncconf reset an unchanged peer")
    check(set(client.show("allowed-ips")) == {server_key.public, other.public}, "syncconf did not add the peer")
    check(ping()["lost"] == 0, "no ping after syncconf")
    client.setconf(config)
    check(set(client.show("allowed-ips")) == {server_key.public}, "setconf did not replace the peers")
    check(client.received(server_key) == 0, "setconf kept the counters of a replaced peer")
    check(ping()["lost"] == 0, "no ping after setconf")


def test_bad_requests_change_nothing(lab):
    host, key, peer = lab.host("host"), Key(), Key()
    device = engine(host, "wg0", [], interface_text(key, PORT) + peer_text(peer, "10.1.0.0/24"))
    before = host.run("wg", "showconf", "wg0").stdout
    hexed = "11" * 32
    for text in (f"listen_port=70000\n", "nonsense=1\n", f"public_key={hexed}\nallowed_ip=10.0.0.0/33\n",
                 f"public_key={hexed}\nallowed_ip=10.0.0.0/8\nendpoint=nowhere\n", f"public_key={hexed[2:]}\n",
                 f"listen_port=1234\npublic_key={hexed}\nwhatever=1\n"):
        error = device.set(text)
        check(error != 0, f"{text!r} was taken")
        check(host.run("wg", "showconf", "wg0").stdout == before, f"{text!r} changed something")


def test_listen_port_that_is_taken(lab):
    host, key = lab.host("host"), Key()
    taker = host.start("/usr/bin/python3", "-c", "import socket,time; s=socket.socket(socket.AF_INET,socket.SOCK_DGRAM);"
                       "s.bind(('0.0.0.0',4000)); print('bound',flush=True); time.sleep(60)", name="taker")
    taker.wait_for_text("bound")
    device = engine(host, "wg0", [], interface_text(key, PORT))
    done = host.run("wg", "set", "wg0", "listen-port", 4000, check_code=False)
    check(done.returncode != 0 and "in use" in done.stderr, f"taken port: {done.returncode} {done.stderr}")
    check(host.run("wg", "show", "wg0", "listen-port").stdout.strip() == str(PORT), "the old port was given up")
    taker.stop()


def test_ends_clean(lab):
    """SIGTERM, and a deleted interface: process, socket file and interface are gone."""
    host, key = lab.host("host"), Key()
    for how in "terminate", "delete":
        device = engine(host, "wg0", ["10.1.0.1/24"], interface_text(key, PORT))
        if how == "terminate":
            device.program.signal(15)
        else:
            host.run("ip", "link", "delete", "wg0")
        device.program.wait(5)
        check("wg0" not in host.links(), f"{how}: the interface is still there")
        left = host.run("ls", "/var/run/wireguard").stdout.strip()
        check(not left, f"{how}: left in /var/run/wireguard: {left}")
        names = host.run("ps", "-eo", "args").stdout
        check("wgtcp-engine -f wg0" not in names, f"{how}: a process is still there: {names}")


def test_stale_socket_is_replaced(lab):
    host, key = lab.host("host"), Key()
    device = engine(host, "wg0", [], interface_text(key, PORT))
    for line in host.run("ps", "-eo", "pid,args").stdout.splitlines():
        if "wgtcp-engine -f wg0" in line and "nsenter" not in line:
            host.run("kill", "-9", line.split()[0], check_code=False)
    device.program.wait(5)
    wait_until(lambda: "wg0" not in host.links(), "the interface of a killed engine to vanish")
    again = engine(host, "wg0", [], interface_text(key, PORT))
    check(again.show("endpoints") == {}, "the new engine does not answer")
    second = host.run(lab.binary("wgtcp-engine"), "-f", "wg0", check_code=False, timeout=10)
    check(second.returncode != 0, "a second engine for the same interface started")
    check(host.run("wg", "show", "wg0").returncode == 0, "the second engine broke the first")


def test_timestamps_do_not_go_back_over_a_restart(lab):
    """The engine was used while the clock was an hour ahead; after a restart with the right clock the peer, which has
    seen those timestamps, must still answer."""
    site = Site(lab)
    server_key, key = Key(), Key()
    wireguard_go(site.server, "wg-s", ["10.1.0.1/24"], interface_text(server_key, PORT) + peer_text(key, "10.1.0.2/32"))
    config = interface_text(key) + peer_text(server_key, "10.1.0.0/24", f"198.51.100.2:{PORT}")
    kept = "/var/lib/wgtcp/wg-c.timestamp"
    ahead = int(time.time()) + 3600

    def connect():
        device = engine(site.client, "wg-c", ["10.1.0.2/24"], config)
        result = site.client.tool("pinger.py", "10.1.0.1", "--count", "5", "--grace", "3").result()
        seconds = int(site.client.run("cat", kept).stdout.split(".")[0])
        device.program.stop()
        wait_until(lambda: "wg-c" not in site.client.links(), "the interface of a stopped engine to vanish")
        return result["lost"], seconds

    lost, seconds = connect()
    check(lost == 0 and seconds < ahead, f"{lost} of 5 pings lost, mark {seconds}")
    site.client.run("tee", kept, input=f"{ahead}.000000000\n")
    lost, seconds = connect()
    check(lost == 0 and seconds >= ahead, f"{lost} of 5 pings lost with the mark ahead, and it is {seconds}, not {ahead}")
    lost, again = connect()
    check(lost == 0 and again >= seconds, f"{lost} of 5 pings lost after the restart; the mark went back by {seconds - again}")


@main_path
def test_wg_quick(lab):
    """up, traffic, save, strip, down with Debian's wg-quick; wireguard-go as the other side."""
    site = Site(lab)
    server_key, key = Key(), Key()
    server = wireguard_go(site.server, "wg-s", ["10.1.0.1/24", "fd00:1::1/64"], interface_text(
        server_key, PORT) + peer_text(key, "10.1.0.2/32, fd00:1::2/128"))
    config = lab.logs / "office.conf"
    config.touch(mode=0o600)
    config.write_text(interface_text(key, extra="Address = 10.1.0.2/32, fd00:1::2/128\nMTU = 1380\n") + peer_text(
        server_key, "10.1.0.0/24, 10.3.0.0/16, fd00:1::/64", f"198.51.100.2:{PORT}", keepalive=25))
    env = {"WG_QUICK_USERSPACE_IMPLEMENTATION": str(lab.binary("wgtcp-engine"))}
    before = site.client.routes()
    up = site.client.run("wg-quick", "up", config, env=env)
    check("office" in site.client.links(), "no interface after wg-quick up")
    link = site.client.run("ip", "link", "show", "office").stdout
    check("mtu 1380" in link, f"MTU: {link}")
    routes = "\n".join(site.client.routes())
    for prefix in "10.1.0.0/24", "10.3.0.0/16", "fd00:1::/64":
        check(re.search(rf"{re.escape(prefix)} dev office", routes), f"no route to {prefix}")
    for target in "10.1.0.1", "fd00:1::1":
        result = site.client.tool("pinger.py", target, "--count", "20", "--grace", "6").result()
        check(result["lost"] == 0, f"{result['lost']} of 20 pings to {target} lost")
    check("PersistentKeepalive = 25" in site.client.run("wg-quick", "strip", config).stdout, "wg-quick strip")
    site.client.run("wg-quick", "down", config, env=env)
    wait_until(lambda: "office" not in site.client.links(), "the interface to vanish after wg-quick down")
    check(site.client.routes() == before, "routes are not as they were")


def test_wg_quick_full_tunnel(lab):
    """AllowedIPs 0.0.0.0/0: wg-quick sets a mark, and our sockets must carry it, else the tunnel swallows itself."""
    site = Site(lab)
    server_key, key = Key(), Key()
    server = engine(site.server, "wg-s", ["10.1.0.1/24"], interface_text(server_key, PORT) + peer_text(
        key, "10.1.0.2/32"))
    config = lab.logs / "office.conf"
    config.touch(mode=0o600)
    config.write_text(interface_text(key, extra="Address = 10.1.0.2/32\n") + peer_text(
        server_key, "0.0.0.0/0", f"198.51.100.2:{PORT}"))
    env = {"WG_QUICK_USERSPACE_IMPLEMENTATION": str(lab.binary("wgtcp-engine"))}
    site.client.run("wg-quick", "up", config, env=env)
    result = site.client.tool("pinger.py", "10.1.0.1", "--count", "20", "--grace", "6").result()
    check(result["lost"] == 0, f"{result['lost']} of 20 pings lost")
    site.client.run("wg-quick", "down", config, env=env)


def test_many_allowed_ips(lab):
    """3,000 prefixes on one peer: all applied, nothing lost at a boundary."""
    host, key, peer = lab.host("host"), Key(), Key()
    prefixes = [f"10.{i // 250}.{i % 250}.0/24" for i in range(2500)] + [f"fd00:{i:x}::/32" for i in range(1, 501)]
    device = engine(host, "wg0", [], interface_text(key, PORT) + peer_text(peer, ", ".join(prefixes)))
    seen = device.show("allowed-ips")[peer.public][0].split()
    check(sorted(seen) == sorted(prefixes), f"{len(seen)} of {len(prefixes)} prefixes seen, or others")


def test_asked_while_it_starts(lab):
    """`wg` takes away a socket that refuses it: none does, however early it is asked."""
    host = lab.host("a")
    asking = [host.start("sh", "-c", "while :; do wg show wg0 >/dev/null 2>&1; done", name="ask") for _ in range(3)]
    for _ in range(40 if lab.long else 10):
        program = host.start(lab.binary("wgtcp-engine"), "-f", "wg0")
        wait_until(lambda: host.run("wg", "show", "wg0", check_code=False).returncode == 0, "wg0 to answer")
        program.stop()
    for program in asking:
        program.stop()


if __name__ == "__main__":
    sys.exit(case.main(globals()))
