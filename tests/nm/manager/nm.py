# SPDX-License-Identifier: MIT
"""NetworkManager 1.42 itself on a host of the lab, on a system bus of its own with the rules of a real one, and our plugin
laid out as `cmake --install` does it. Nothing is installed on the machine."""

import configparser
import pathlib
import time

from lib import machine, packages
from lib.lab import wait_until
from lib.network import Site
from lib.tunnel import PORT, Daemon, Key, engine, interface_text, peer_text

NM = "org.freedesktop.NetworkManager"
# As the system's own: calls are refused unless a policy allows them.
BUS_CONFIG = """<busconfig><type>system</type><listen>unix:path=/run/dbus/system_bus_socket</listen><auth>EXTERNAL</auth>
<policy context="default"><allow user="*"/><deny own="*"/><deny send_type="method_call"/>
<allow send_type="signal"/><allow send_requested_reply="true" send_type="method_return"/>
<allow send_requested_reply="true" send_type="error"/><allow receive_type="method_call"/>
<allow receive_type="method_return"/><allow receive_type="error"/><allow receive_type="signal"/>
<allow send_destination="org.freedesktop.DBus"/></policy>
<includedir>/run/system.d</includedir></busconfig>
"""
CONFIG = """[main]
plugins=keyfile
auth-polkit=root-only
dns={dns}
rc-manager={rc}
no-auto-default=*
[logging]
level=INFO
domains=ALL,VPN:DEBUG,PLATFORM:WARN
[connectivity]
enabled=false
"""
# A VPN needs a connection below it that NetworkManager has made itself.
WIRE = """[connection]
id=wire
uuid=6a0f6a0e-3f2f-4a6e-9a53-0d1d7a3f0001
type=ethernet
interface-name=eth0
[ipv4]
method=manual
addresses=192.0.2.2/24
gateway=192.0.2.1
dns=192.0.2.1
[ipv6]
method=manual
addresses=2001:db8:1::2/64
gateway=2001:db8:1::1
may-fail=true
"""


class Manager:
    """NetworkManager on site.client; daemon: wgtcpd at the place where the plugin looks for it."""

    def __init__(self, site, daemon=True, dns="none", rc="unmanaged"):
        self.site, self.lab, self.host = site, site.lab, site.client
        self.host.run("mkdir", "-p", "/run/wgtcp", "/run/system.d", "/run/NetworkManager")
        machine.own_etc(self.host, "nameserver 192.0.2.53\n")
        self.config = CONFIG.format(dns=dns, rc=rc)
        self._install()
        machine.write(self.host, "/run/bus.conf", BUS_CONFIG)
        self.host.run("mkdir", "-p", "/run/dbus", "/var/lib/NetworkManager", "/etc/NetworkManager/system-connections")
        self.host.start("dbus-daemon", "--config-file=/run/bus.conf", "--nofork", name="dbus-daemon")
        wait_until(lambda: self.host.run("test", "-S", "/run/dbus/system_bus_socket", check_code=False).returncode == 0,
                   "the bus's socket")
        self.daemon = PlacedDaemon(self.host) if daemon else None
        self.host.run("mount", "-o", "remount,ro", "/sys")  # it would wait for udev, which is not there
        path = "/etc/NetworkManager/system-connections/wire.nmconnection"
        machine.write(self.host, path, WIRE)
        self.host.run("chmod", "600", path)
        self.program = None
        self.start()

    def _install(self):
        """Where the .name file says; D-Bus policies into a folder of the private bus."""
        name_file = self.lab.binary("nm-wgtcp-service.name")
        parsed = configparser.ConfigParser(interpolation=None)
        parsed.read(name_file)
        self.plugin = pathlib.Path(parsed["libnm"]["plugin"])
        service = pathlib.Path(parsed["VPN Connection"]["program"])
        self.dialog = pathlib.Path(parsed["GNOME"]["auth-dialog"])
        self.host.run("sh", "-c", "mkdir /run/usr /run/usr.work && mount -t overlay overlay"
                      " -o lowerdir=/usr,upperdir=/run/usr,workdir=/run/usr.work /usr")
        self.host.run("mkdir", "-p", "/usr/lib/NetworkManager/VPN", self.plugin.parent, service.parent)
        self.host.run("cp", name_file, "/usr/lib/NetworkManager/VPN/")
        for target in (service, self.dialog, self.plugin):
            self.host.run("cp", self.lab.binary(target.name), target)
        for editor in self.lab.binaries.glob("*editor.so"):
            self.host.run("cp", editor, self.plugin.parent)
        root = packages.folder("network-manager")
        self.host.run("cp", self.lab.binary("nm-wgtcp-service.conf"),
                      root / "usr/share/dbus-1/system.d/org.freedesktop.NetworkManager.conf", "/run/system.d/")

    def start(self):
        machine.write(self.host, "/run/nm.conf", self.config)
        self.program = self.host.start(packages.folder("network-manager") / "usr/sbin/NetworkManager", "--debug",
                                       "--config", "/run/nm.conf", name="NetworkManager",
                                       env={"LD_LIBRARY_PATH": ""})
        wait_until(lambda: self.nmcli("-t", "-f", "RUNNING", "general", check_code=False).stdout.strip() == "running",
                   "NetworkManager")
        wait_until(lambda: "eth0:connected\n" in self.nmcli("-t", "-f", "DEVICE,STATE", "device", check_code=False).stdout,
                   "NetworkManager to connect eth0")
        wait_until(lambda: "default via 192.0.2.1" in self.host.run("ip", "route").stdout, "the default route")

    def nmcli(self, *arguments, check_code=True, timeout=60, input=None):
        return self.host.run(packages.folder("network-manager") / "usr/bin/nmcli", *arguments, check_code=check_code,
                             timeout=timeout, input=input, env={"DBUS_SYSTEM_BUS_ADDRESS": machine.BUS})

    def import_profile(self, name, text):
        path = self.lab.logs / f"{name}.conf"
        path.touch(mode=0o600)
        path.write_text(text)
        return self.nmcli("connection", "import", "type", "wgtcp", "file", path)

    def up(self, name, check_code=True, timeout=60):
        start = time.monotonic()
        done = self.nmcli("--wait", "40", "connection", "up", name, check_code=check_code, timeout=timeout)
        return time.monotonic() - start, done

    def down(self, name):
        return self.nmcli("connection", "down", name)

    def active(self):
        """Names of the VPN connections that are up."""
        lines = self.nmcli("-t", "-f", "NAME,TYPE,STATE", "connection", "show", "--active").stdout.splitlines()
        return [line.split(":")[0] for line in lines if line.split(":")[1] == "vpn" and line.endswith(":activated")]

    def log(self):
        return self.program.log.read_text(errors="replace") + self.program.out.read_text(errors="replace")


class PlacedDaemon(Daemon):
    """At the path that everybody uses."""

    def __init__(self, host):
        self.placed = pathlib.Path("/run/wgtcp/wgtcpd.sock")
        super().__init__(host)

    def start(self):
        self.socket = self.placed
        super().start()


def ping(host, address, **keywords):
    return host.tool("pinger.py", address, "--count", "3", "--interval", "100", "--grace", "5").result()


def passes(host, address):
    return host.run("ping", "-c", "1", "-W", "2", address, check_code=False).returncode == 0


def place(lab, number=1, client_extra="", peer_extra="", allowed="10.77.0.0/24, fd77::/64", endpoint=None, **keywords):
    """A site with its NetworkManager, a server, and the text of a profile for it."""
    site = Site(lab)
    manager = Manager(site, **keywords)
    text, server, keys = server_for(site, "", client_extra, peer_extra, allowed, endpoint)
    return site, manager, text, server, keys


def server_for(site, suffix="", client_extra="", peer_extra="", allowed="10.77.0.0/24, fd77::/64", endpoint=None,
               net="10.77.0", net6="fd77:", port=PORT):
    server_key, client_key = Key(), Key()
    config = interface_text(server_key, port) + peer_text(client_key, f"{net}.2/32, {net6}:2/128")
    server = engine(site.server, f"wg-srv{suffix}", [f"{net}.1/24", f"{net6}:1/64"], config)
    text = interface_text(client_key, extra=f"Backend = userspace\nAddress = {net}.2/24, {net6}:2/64\n{client_extra}") \
        + peer_text(server_key, allowed, endpoint or f"198.51.100.2:{port}", extra=peer_extra)
    return text, server, (server_key, client_key)
