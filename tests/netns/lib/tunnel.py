# SPDX-License-Identifier: MIT
"""Keys, and the programs that make tunnels: wgtcp-engine, wireguard-go, wgtcpd with wgtcp-cli."""

import json
import os
import pathlib
import re
import subprocess
import time

from lib.lab import Failure, wait_until

PORT = 51820


def wg(*args, input=None):
    return subprocess.run(["wg", *args], input=input, capture_output=True, text=True, check=True).stdout.strip()


class Key:
    def __init__(self):
        self.private = wg("genkey")
        self.public = wg("pubkey", input=self.private)


def preshared_key():
    return wg("genpsk")


def peer_text(key, allowed, endpoint=None, psk=None, keepalive=None, extra=""):
    text = f"[Peer]\nPublicKey = {key.public if isinstance(key, Key) else key}\nAllowedIPs = {allowed}\n"
    if endpoint:
        text += f"Endpoint = {endpoint}\n"
    if psk:
        text += f"PresharedKey = {psk}\n"
    if keepalive:
        text += f"PersistentKeepalive = {keepalive}\n"
    return text + extra


def interface_text(key, port=None, extra=""):
    return f"[Interface]\nPrivateKey = {key.private}\n" + (f"ListenPort = {port}\n" if port else "") + extra


class Device:
    """An interface of a userspace implementation in the foreground, set up by wg and ip."""

    def __init__(self, host, name, program, addresses, config=None, mtu=1420):
        self.host, self.name, self.program = host, name, program
        host.lab.note(f"{host.name}: {name} is made by {program.name}")
        wait_until(lambda: self._there(), f"{name} of {program.name}", interval=0.01)
        if config:
            self.setconf(config)
        for address in addresses:
            host.run("ip", "address", "add", address, "dev", name, *(["nodad"] if ":" in address else []))
        host.run("ip", "link", "set", name, "mtu", mtu, "up")

    def _there(self):
        if not self.program.running():
            raise Failure(f"{self.program.name} ended with {self.program.process.returncode}: {self.program.log}")
        return self.host.run("wg", "show", self.name, check_code=False).returncode == 0

    def setconf(self, config, verb="setconf"):
        path = self.host.lab.logs / f"{self.host.name}.{self.name}.conf"
        path.touch(mode=0o600)
        path.write_text(config)
        return self.host.run("wg", verb, self.name, path)

    def wg(self, *args):
        return self.host.run("wg", "set", self.name, *args)

    def show(self, what):
        """wg show NAME WHAT: a dictionary from public key to the other columns."""
        lines = self.host.run("wg", "show", self.name, what).stdout.splitlines()
        return {line.split("\t")[0]: line.split("\t")[1:] for line in lines}

    def handshake(self, key):
        return int(self.show("latest-handshakes")[key.public][0])

    def endpoint(self, key):
        return self.show("endpoints")[key.public][0]

    def received(self, key):
        return int(self.show("transfer")[key.public][0])

    def get(self):
        """What the engine says of itself by UAPI: interface keys, and a dictionary for each peer."""
        text = self.host.run("/usr/bin/python3", pathlib.Path(__file__).parent / "uapi.py",
                             f"/var/run/wireguard/{self.name}.sock", input="get=1\n\n").stdout
        top, peers, into = {}, {}, None
        into = top
        for line in text.splitlines():
            key, _, value = line.partition("=")
            if key == "public_key":
                into = peers[value] = {}
            elif key:
                into[key] = value
        return top, peers

    def set(self, text):
        """A UAPI set request; the errno it was answered with."""
        answer = self.host.run("/usr/bin/python3", pathlib.Path(__file__).parent / "uapi.py",
                               f"/var/run/wireguard/{self.name}.sock", input=f"set=1\n{text}\n").stdout
        return int(re.search(r"errno=(-?\d+)", answer).group(1))


def engine(host, name, addresses, config=None, wrap=(), **keywords):
    """wrap: what starts it in its own place, such as prlimit."""
    program = host.start(*wrap, host.lab.binary("wgtcp-engine"), "-f", name, name=f"engine-{name}")
    return Device(host, name, program, addresses, config, **keywords)


def wireguard_go(host, name, addresses, config=None, **keywords):
    program = host.start("wireguard-go", "-f", name, name=f"wireguard-go-{name}",
                         env={"WG_PROCESS_FOREGROUND": "1", "LOG_LEVEL": "verbose"})
    return Device(host, name, program, addresses, config, **keywords)


class Daemon:
    """wgtcpd on a host with folders of its own, and wgtcp-cli that talks to it."""

    def __init__(self, host, name="wgtcpd", wrap=()):
        self.host, self.wrap = host, wrap
        base = host.lab.logs / f"{host.name}.{name}"
        self.config, self.state, self.socket = base / "config", base / "state", pathlib.Path("/run/wgtcpd.sock")
        for folder in self.config, self.state:
            folder.mkdir(parents=True, exist_ok=True)
            folder.chmod(0o700)
        self.program = None
        self.start()

    def start(self):
        self.program = self.host.start(*self.wrap, self.host.lab.binary("wgtcpd"), "--foreground", "--socket", self.socket,
                                       "--config-dir", self.config, "--state-dir", self.state, name="wgtcpd")
        wait_until(self._answers, "wgtcpd's socket", interval=0.01)

    def _answers(self):
        if not self.program.running():
            raise Failure(f"wgtcpd ended with {self.program.process.returncode}: {self.program.log}")
        return self.cli("list", check_code=False).returncode == 0

    def cli(self, *args, check_code=True, timeout=60, input=None):
        return self.host.run(self.host.lab.binary("wgtcp-cli"), *args, "--socket", self.socket,
                             check_code=check_code, timeout=timeout, input=input)

    def profile(self, name, text, backend="userspace"):
        """backend: unless the text names one; what is tested here must not hang on this machine's kernel. None: auto."""
        if backend and "Backend =" not in text:
            text = text.replace("[Interface]\n", f"[Interface]\nBackend = {backend}\n", 1)
        path = self.config / f"{name}.conf"
        path.touch(mode=0o600)
        path.write_text(text)

    def up(self, name, *args, check_code=True):
        """Seconds until wgtcp-cli up came back, and how."""
        start = time.monotonic()
        done = self.cli("up", name, *args, check_code=check_code)
        return time.monotonic() - start, done

    def status(self, name):
        """The tunnel's entry of status --json; None when it has none."""
        done = self.cli("status", name, "--json", check_code=False)
        if done.returncode not in (0, 3):
            raise Failure(f"status ended with {done.returncode}: {done.stderr.strip()}")
        if not done.stdout.strip():
            return None
        for tunnel in json.loads(done.stdout)["tunnels"]:
            if tunnel["name"] == name:
                return tunnel
        return None

    def wait_status(self, name, timeout=20, **wanted):
        """Waits until the fields have these values; the status and the seconds it took."""
        last = {}

        def matches():
            last["status"] = self.status(name)
            status = last["status"]
            return status if status and all(status.get(k) == v for k, v in wanted.items()) else None
        try:
            return wait_until(matches, f"{wanted} of {name}", timeout, interval=0.05)
        except Failure as why:
            raise Failure(f"{why}; last: { {k: (last['status'] or {}).get(k) for k in wanted} }") from None


def office(site, server_extra="", client_extra="", peer_extra="", server_program="engine", endpoint=None, mtu=1420,
           backend="userspace"):
    """A server for one client, the client's daemon, and its profile "office". Inner addresses 10.77.0.1 and .2."""
    server_key, client_key = Key(), Key()
    address = ["10.77.0.1/24", "fd77::1/64"]
    config = interface_text(server_key, PORT, server_extra) + peer_text(client_key, "10.77.0.2/32, fd77::2/128")
    server = engine(site.server, "wg-srv", address, config, mtu=mtu)
    daemon = Daemon(site.client)
    daemon.profile("office", interface_text(
        client_key, extra=f"Address = 10.77.0.2/24, fd77::2/64\nMTU = {mtu}\n{client_extra}") + peer_text(
            server_key, "10.77.0.0/24, fd77::/64", endpoint or f"198.51.100.2:{PORT}", extra=peer_extra), backend)
    return server, daemon, server_key, client_key
