# SPDX-License-Identifier: MIT
"""What makes a host of the lab a machine with a resolver: an /etc of its own, a system bus, systemd-resolved, openresolv,
NetworkManager, and a name server elsewhere."""

from lib import packages
from lib.lab import wait_until

BUS = "unix:path=/run/dbus/system_bus_socket"
BUS_CONFIG = """<busconfig><type>system</type><listen>unix:path=/run/dbus/system_bus_socket</listen><auth>EXTERNAL</auth>
<policy context="default"><allow user="*"/><allow own="*"/><allow send_destination="*" eavesdrop="true"/>
<allow eavesdrop="true"/></policy></busconfig>
"""


def own_etc(host, resolv_conf="nameserver 192.0.2.53\n"):
    """/etc and /var/lib as this host alone sees them. resolv_conf None: missing."""
    host.run("sh", "-c", "cp -a /etc /run/etc && mount --bind /run/etc /etc && mount -t tmpfs tmpfs /var/lib"
             " && rm -f /etc/resolv.conf && rm -rf /etc/resolvconf /etc/resolvconf.conf")
    if resolv_conf is not None:
        write(host, "/etc/resolv.conf", resolv_conf)


def write(host, path, text):
    host.run("sh", "-c", f"cat > {path}", input=text)


def read(host, path):
    return host.run("cat", path).stdout


def start_bus(host):
    host.run("mkdir", "-p", "/run/dbus")
    write(host, "/run/bus.conf", BUS_CONFIG)
    bus = host.start("dbus-daemon", "--config-file=/run/bus.conf", "--nofork", name="dbus-daemon")
    wait_until(lambda: host.run("test", "-S", "/run/dbus/system_bus_socket", check_code=False).returncode == 0,
               "the bus's socket")
    return bus


def bus_call(host, name, path, interface, member, *arguments, verb="call"):
    return host.run("busctl", f"--address={BUS}", verb, name, path, interface, member, *arguments).stdout.strip()


def libraries():
    """Of the same version as systemd-resolved, whatever the machine has."""
    return f"LD_LIBRARY_PATH={next(packages.folder('libsystemd-shared').rglob('libsystemd-shared-*.so')).parent}"


def is_on_bus(host, name):
    return bus_call(host, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameHasOwner",
                    "s", name) == "b true"


def start_resolved(host):
    """systemd-resolved itself, with its stub, and /etc/resolv.conf leading there."""
    root = packages.folder("systemd-resolved")
    host.run("sh", "-c", "echo 'systemd-resolve:x:994:994::/:/usr/sbin/nologin' >>/etc/passwd"
             " && echo 'systemd-resolve:x:994:' >>/etc/group")
    host.run("mkdir", "-p", "/run/systemd")
    resolved = host.start("env", libraries(), root / "lib/systemd/systemd-resolved",
                          name="systemd-resolved")
    wait_until(lambda: is_on_bus(host, "org.freedesktop.resolve1"), "systemd-resolved on the bus")
    host.run("ln", "-sfn", "/run/systemd/resolve/stub-resolv.conf", "/etc/resolv.conf")
    return resolved


def resolvectl(host, *arguments, check_code=True):
    return host.run("env", libraries(), f"DBUS_SYSTEM_BUS_ADDRESS={BUS}",
                    packages.folder("systemd-resolved") / "usr/bin/resolvectl", *arguments, check_code=check_code).stdout


def install(host, package):
    """Lays the files of an unpacked package over /usr and /etc as this host alone sees them."""
    if host.run("test", "-d", "/run/usr", check_code=False).returncode:
        host.run("sh", "-c", "mkdir /run/usr /run/usr.work && mount -t overlay overlay"
                 " -o lowerdir=/usr,upperdir=/run/usr,workdir=/run/usr.work /usr")
    root = packages.folder(package)
    for folder, target in (("usr", "/usr"), ("sbin", "/usr/sbin"), ("lib", "/usr/lib"), ("etc", "/etc")):
        if (root / folder).is_dir():
            host.run("cp", "-a", f"{root / folder}/.", target)


class Names:
    """A name server on a host. It answers from a table and keeps a list of what it was asked."""

    def __init__(self, host, address, table):
        self.host, self.address = host, address
        self.table = host.lab.logs / f"{host.name}.{address}.names"
        self.asked_file = host.lab.logs / f"{host.name}.{address}.asked"
        self.asked_file.write_text("")
        self.set(table)
        self.program = None
        self.start()

    def start(self):
        self.program = self.host.tool("names.py", self.address, self.table, self.asked_file)
        self.program.wait_for_text("listening")

    def stop(self):
        self.program.stop()

    def set(self, table):
        """{name: [address, ...]}; read again with each question."""
        new = self.table.with_suffix(".new")
        new.write_text("".join(f"{name} {' '.join(addresses)}\n" for name, addresses in table.items()))
        new.rename(self.table)

    def asked(self, name=None):
        lines = self.asked_file.read_text().splitlines()
        return [line for line in lines if name is None or line.split()[0] == name]


class Web:
    """A web server on a host (lib/web.py), whose answers can be changed."""

    def __init__(self, host, address, port, mode, certificate=None):
        base = host.lab.logs / f"{host.name}.{address}.{port}"
        self.mode_file, self.asked_file = base.with_suffix(".mode"), base.with_suffix(".asked")
        self.asked_file.write_text("")
        self.set(mode)
        self.program = host.tool("web.py", address, port, self.mode_file, self.asked_file,
                                 *([certificate] if certificate else []))
        self.program.wait_for_text("listening")

    def set(self, mode):
        new = self.mode_file.with_suffix(".new")
        new.write_text(mode)
        new.rename(self.mode_file)

    def asked(self):
        return self.asked_file.read_text().splitlines()


def authority(host, name, address):
    """A certificate for a name, with its key, from an authority that this host alone trusts; the PEM file."""
    folder = host.lab.logs / "authority"
    folder.mkdir(exist_ok=True)
    pem = folder / f"{name}.pem"
    host.run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
             "-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name},IP:{address}", "-keyout", folder / "key",
             "-out", folder / "certificate")
    pem.write_text((folder / "key").read_text() + (folder / "certificate").read_text())
    host.run("sh", "-c", f"cat {folder}/certificate >> /etc/ssl/certs/ca-certificates.crt")
    return pem


NM_CONFIG = """[main]
plugins=keyfile
auth-polkit=root-only
dns=none
rc-manager=unmanaged
[logging]
level=INFO
[connectivity]
enabled=true
uri={uri}
interval=60
"""
NM = "org.freedesktop.NetworkManager"


def start_network_manager(host, uri):
    """NetworkManager itself on the private bus; it finds the addresses that are there and checks them by uri."""
    write(host, "/run/nm.conf", NM_CONFIG.format(uri=uri))
    host.run("mkdir", "-p", "/run/NetworkManager", "/var/lib/NetworkManager", "/etc/NetworkManager/system-connections")
    host.run("mount", "-o", "remount,ro", "/sys")  # it would wait for udev, which is not there
    program = host.start(packages.folder("network-manager") / "usr/sbin/NetworkManager", "--debug", "--config",
                         "/run/nm.conf", name="NetworkManager")
    wait_until(lambda: is_on_bus(host, NM), "NetworkManager on the bus")
    return program


def connectivity(host):
    """What NetworkManager itself thinks: 2 is a portal, 4 all well."""
    told = bus_call(host, NM, "/org/freedesktop/NetworkManager", NM, "Connectivity", verb="get-property")
    return int(told.split()[1])


class Wireless:
    """A double of NetworkManager (lib/wireless.py) for what needs a wireless network."""

    def __init__(self, host):
        self.program = host.tool("wireless.py", stdin=-1, env={"DBUS_SYSTEM_BUS_ADDRESS": BUS})
        self.program.wait_for_text("ready")

    def say(self, line):
        self.program.process.stdin.write(line.encode() + b"\n")
        self.program.process.stdin.flush()
