# SPDX-License-Identifier: MIT
"""What is measured against what. A subject joins two hosts, whose wire stands, by a tunnel of its own.

Each is a function (lab, client, server) -> Joined. The wire has 192.0.2.1 (client) and 192.0.2.2 (server).
"""

import os
import shutil
import subprocess

from lib.lab import Failure, wait_until
from lib.tunnel import PORT, Device, Key, interface_text, peer_text

CLIENT, SERVER = "192.0.2.1", "192.0.2.2"
INNER_CLIENT, INNER_SERVER = "10.99.0.1", "10.99.0.2"
RELAY_PORT = 4443


class Joined:
    """Addresses inside the tunnel, and the programs that carry it."""

    def __init__(self, client, server, programs=(), devices=()):
        self.client, self.server, self.programs, self.devices = client, server, list(programs), list(devices)

    def processes(self):
        """The programs and what they have started, as process numbers."""
        found = []
        for program in self.programs:
            todo = [program.pid]
            while todo:
                pid = todo.pop()
                found.append(pid)
                try:
                    with open(f"/proc/{pid}/task/{pid}/children") as children:
                        todo += [int(word) for word in children.read().split()]
                except OSError:
                    pass
        return found

    def carrier(self):
        """What the engine says it sends by; None where nobody tells."""
        for device in self.devices:
            for peer in device.get()[1].values():
                if "carrier" in peer:
                    return peer["carrier"]
        return None


def bare(lab, client, server):
    return Joined(CLIENT, SERVER)


def wireguard(program, transport=None, mtu=1420, name=None, endpoint=f"{SERVER}:{PORT}"):
    """A userspace implementation with UAPI, run as `PROGRAM -f NAME`. transport is for wgtcp-engine only."""
    def join(lab, client, server):
        keys, devices, programs = (Key(), Key()), [], []
        for host, own, other, address, inside, remote in (
                (server, keys[1], keys[0], INNER_SERVER, INNER_CLIENT, None),
                (client, keys[0], keys[1], INNER_CLIENT, INNER_SERVER, endpoint)):
            started = host.start(program, "-f", "wg-bench", name=os.path.basename(str(program)),
                                 env={"WG_PROCESS_FOREGROUND": "1", "LOG_LEVEL": "error"})
            device = Device(host, "wg-bench", started, [f"{address}/24"], mtu=mtu)
            if transport:
                listen = f"tcp_listen_port={PORT}\n" if transport == "tcp" and not remote else ""
                if device.set(f"transport={transport}\n{listen}"):
                    raise Failure(f"{program} does not take transport={transport}")
            device.setconf(interface_text(own, PORT) + peer_text(other, f"{inside}/32", remote))
            devices.append(device)
            programs.append(started)
        joined = Joined(INNER_CLIENT, INNER_SERVER, programs, devices if transport else [])
        wait_until(lambda: client.run("ping", "-c", "1", "-W", "1", INNER_SERVER, check_code=False).returncode == 0,
                   f"the first ping through {name or program}", interval=0.1)
        if transport and joined.carrier() != transport:
            raise Failure(f"wgtcp-engine uses {joined.carrier()} where {transport} was asked for")
        return joined
    return join


def relayed(program, name):
    """A userspace WireGuard that only knows UDP, its datagrams carried by wgtcp-bench-relay."""
    def join(lab, client, server):
        relays, tool = [], lab.binary("wgtcp-bench-relay")
        for host, words in (server, ("listen", RELAY_PORT, "127.0.0.1", PORT)), (
                client, ("connect", RELAY_PORT, SERVER, RELAY_PORT)):
            relays.append(host.start(tool, *words, name="relay"))
            relays[-1].wait_for_text("ready")
        joined = wireguard(program, name=name, endpoint=f"127.0.0.1:{RELAY_PORT}")(lab, client, server)
        joined.programs += relays
        return joined
    return join


def make_certificate(folder, name):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-subj", f"/CN={name}", "-days", "2", "-keyout", folder / f"{name}.key", "-out",
                    folder / f"{name}.crt"], check=True, capture_output=True)
    shown = subprocess.run(["openssl", "x509", "-noout", "-fingerprint", "-sha256", "-in", folder / f"{name}.crt"],
                           check=True, capture_output=True, text=True).stdout
    return shown.strip().split("=", 1)[1]


def openvpn(carrier, cipher):
    def join(lab, client, server):
        prints = {name: make_certificate(lab.logs, name) for name in ("client", "server")}
        programs = []
        for host, name, other, ends in ((server, "server", "client", (INNER_SERVER, INNER_CLIENT)),
                                        (client, "client", "server", (INNER_CLIENT, INNER_SERVER))):
            words = ["--dev", "tun0", "--dev-type", "tun", "--ifconfig", *ends, "--data-ciphers", cipher,
                     "--cert", lab.logs / f"{name}.crt", "--key", lab.logs / f"{name}.key",
                     "--peer-fingerprint", prints[other], "--verb", "1", "--port", "1194"]
            if name == "server":
                words += ["--tls-server", "--dh", "none"]
            else:
                words += ["--tls-client", "--remote", SERVER]
            proto = "udp" if carrier == "udp" else f"tcp-{name}"
            programs.append(host.start("openvpn", *words, "--proto", proto, name=f"openvpn-{name}"))
        wait_until(lambda: client.run("ping", "-c", "1", "-W", "1", INNER_SERVER, check_code=False).returncode == 0,
                   "the first ping through openvpn", interval=0.2)
        return Joined(INNER_CLIENT, INNER_SERVER, programs)
    return join


def subjects(binaries, engines=(), peers=()):
    """name: join, in the order of the tables. What is not installed is left out."""
    found = {"no tunnel": bare}
    for label, path in [("wgtcp", binaries / "wgtcp-engine"), *engines]:
        for transport in "udp", "tcp":
            found[f"{label} {transport}"] = wireguard(path, transport, name=label)
        found[f"{label} tcp, MTU 65000"] = wireguard(path, "tcp", mtu=65000, name=label)
    if shutil.which("wireguard-go"):
        found["wireguard-go"] = wireguard("wireguard-go")
        found["wireguard-go + relay"] = relayed("wireguard-go", "wireguard-go + relay")
    for path in peers:
        name, path = os.path.basename(path), os.path.abspath(path)
        found[name] = wireguard(path)
        found[f"{name} + relay"] = relayed(path, f"{name} + relay")
    if shutil.which("openvpn"):
        for carrier, cipher in (("udp", "AES-256-GCM"), ("udp", "CHACHA20-POLY1305"), ("tcp", "AES-256-GCM"),
                                ("tcp", "CHACHA20-POLY1305")):
            found[f"openvpn {carrier} {cipher.split('-')[0].lower()}"] = openvpn(carrier, cipher)
    return found
