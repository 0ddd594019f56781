# SPDX-License-Identifier: MIT
"""`wgtcp-cli import --from`: what wg-quick and NetworkManager have, read and left as it is."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lib import case, machine  # noqa: E402
from lib.lab import check  # noqa: E402
from lib.tunnel import Daemon, Key, interface_text, peer_text  # noqa: E402

NM = "/etc/NetworkManager/system-connections"


def listing(host, folder):
    return host.run("sh", "-c", f"cd {folder} && ls -l --time-style=full-iso && sha256sum *").stdout


def test_from_wg_quick(lab):
    host = lab.host("client")
    machine.own_etc(host)
    host.run("sh", "-c", "rm -rf /etc/wireguard && mkdir -m 700 /etc/wireguard")
    text = interface_text(Key(), extra="Address = 10.77.0.2/24\nPostUp = iptables -A INPUT\n") + peer_text(
        Key(), "10.77.0.0/24", "192.0.2.1:51820")
    for name in "office", "home":
        machine.write(host, f"/etc/wireguard/{name}.conf", text)
    machine.write(host, "/etc/wireguard/broken.conf", text.replace("PrivateKey", "PrivatKey"))
    before = listing(host, "/etc/wireguard")
    daemon = Daemon(host)
    daemon.profile("home", text)
    done = daemon.cli("import", "--from", "wg-quick", check_code=False)
    check(done.returncode == 1 and "office is imported" in done.stdout, f"{done.stdout}{done.stderr}")
    check("home.conf is there already, and left as it is" in done.stdout, done.stdout)
    check("broken.conf" in done.stderr and "PrivateKey" in done.stderr, done.stderr)
    check("PostUp" in done.stderr, "nothing said of the hook that is not run")
    check((daemon.config / "office.conf").read_text() == text, "another text")
    check(listing(host, "/etc/wireguard") == before, "/etc/wireguard was touched")


def test_from_network_manager(lab):
    host = lab.host("client")
    machine.own_etc(host)
    host.run("sh", "-c", f"rm -rf /etc/NetworkManager && mkdir -p -m 700 {NM}")
    key, peer = Key(), Key()
    connection = ("[connection]\nid=Our office\ntype=wireguard\nautoconnect=true\n\n[wireguard]\nprivate-key=" + key.private
                  + "\n\n[wireguard-peer." + peer.public + "]\nendpoint=vpn.example.org:51820\n"
                  "allowed-ips=10.8.0.0/24;fd08::/64;\n\n[ipv4]\naddress1=10.8.0.2/24\nmethod=manual\n")
    machine.write(host, f"'{NM}/Our office.nmconnection'", connection)
    machine.write(host, f"{NM}/ether.nmconnection", "[connection]\nid=ether\ntype=ethernet\n")
    machine.write(host, f"{NM}/agent.nmconnection", connection.replace("private-key=", "private-key-flags=1\nx="))
    before = listing(host, NM)
    daemon = Daemon(host)
    done = daemon.cli("import", "--from", "networkmanager", check_code=False)
    check(done.returncode == 1 and "keeps its private key elsewhere" in done.stderr, done.stderr)
    check(key.private not in done.stdout + done.stderr, "a key was shown")
    names = [path.name for path in daemon.config.iterdir()]
    check(len(names) == 1, f"{names}: {done.stdout}{done.stderr}")
    text = (daemon.config / names[0]).read_text()
    check(key.private in text and peer.public in text and "AllowedIPs = 10.8.0.0/24, fd08::/64" in text, "incomplete")
    check("AutoConnect" not in text, "it would connect by itself")
    check("Our office" in daemon.cli("list").stdout, "another name")
    check(listing(host, NM) == before, "NetworkManager's files were touched")
    again = daemon.cli("import", "--from", "networkmanager", check_code=False)
    check("is there already" in again.stdout, again.stdout)
    check(daemon.cli("import", "--from", "pidgin", check_code=False).returncode == 2, "an unknown source")


if __name__ == "__main__":
    sys.exit(case.main(globals()))
