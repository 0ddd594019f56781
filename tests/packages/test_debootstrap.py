# SPDX-License-Identifier: MIT
"""In a clean debootstrap of Debian 12: the README's commands word for word, from the packages to a tunnel that is up over UDP and
over TCP, an upgrade, doctor, down and purge; and the file system is as before."""

import pathlib
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "netns")]
from clean import build  # noqa: E402
from clean.root import Root, differences, run  # noqa: E402
from lib import case  # noqa: E402
from lib.case import waiting  # noqa: E402
from lib.lab import Failure, check, wait_until  # noqa: E402
from lib.network import Site  # noqa: E402
from lib.tunnel import Daemon  # noqa: E402

README = build.SOURCE / "README.md"
# What dpkg, apt and systemd's tools keep for themselves, and logs.
KEPT = [re.compile(pattern) for pattern in (
    r"var/log(/.*)?", r"var/lib/dpkg(/.*)?", r"var/lib/apt(/.*)?", r"var/cache/(apt|debconf|ldconfig|man)(/.*)?",
    r"etc/ld\.so\.cache", r"etc/(passwd|group|shadow|gshadow)-", r"etc/resolv\.conf",
    r"tmp|var/tmp|root|srv",
    # systemd suggests it, for which apt lets it stay.
    r"usr/(lib/[^/]+|share/doc)/libqrencode(4|\.so\.4[.\d]*)(/.*)?",
    r"var/lib/systemd(/(random-seed|catalog(/.*)?))?", r"usr/(lib|share)(/.*)?/__pycache__(/.*)?")]


# Lines of the README that are typed elsewhere, and where.
ELSEWHERE = {
    "sudo packaging/demo": "netns/demo/*, and here with --long",
    "sudo tests/run": "what runs this",
    "sudo packaging/install-deps --package": "here with --long",
    "packaging/build-deb": "what is installed here; word for word with --long",
    "sudo apt install ./wgtcp-gui_*.deb": "what is in it: gui/*",
    "sudo apt install ./network-manager-wgtcp_*.deb": "what is in it: nm/*",
    "sudo wgtcp-cli import --from wg-quick": "netns/migration/*",
    "wgtcp-cli status office --watch": "netns/*: it goes on until it is interrupted",
    "sudo wgtcp-cli speedtest office": "netns/speedtest/*",
    "sudo usermod -aG wgtcp $USER": "the group is here; what its members may: unit/daemon_*",
    "sudo wgtcp-relay --listen 0.0.0.0:443 --forward 127.0.0.1:51820 --public-key \"$(sudo wg show wg0 public-key)\"": "netns/relay/*",
    "sudo packaging/install-deps --bench": "a measurement",
}


def commands(section):
    """The lines to type of a section of the README, without the comments behind them."""
    text = README.read_text()
    found = re.search(rf"^## {re.escape(section)}\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    check(found, f"README.md has no section '{section}'")
    return [re.sub(r"\s+# .*", "", line.strip()) for line in re.findall(r"^    \S.*", found.group(1), re.M)]


def all_commands():
    """Of the whole README, those within its sentences and tables too."""
    text = README.read_text()
    lines = {line for title in re.findall(r"^## (.*)", text, re.M) for line in commands(title)}
    lines |= {line for line in re.findall(r"`([^`\n]+)`", text) if re.match(r"(sudo|wgtcp-cli|packaging/build-deb) ", line)}
    # What repeats a measurement takes its minutes, wherever it is run.
    return {line for line in lines if not re.match(r"sudo tests/(run --long|bench/run) ", line)}


def administrator(lab, site):
    """A server, and the file that its administrator sends."""
    server = Daemon(site.server)
    server.cli("server", "init", "--endpoint", "198.51.100.2", "--output", lab.logs / "office.conf")
    server.cli("up", "server")
    text = (server.config / "server.conf").read_text()
    return lab.logs / "office.conf", re.search(r"^Address = ([\d.]+)", text, re.M).group(1)


def answers(site, inner):
    return site.client.tool("pinger.py", inner, "--count", "5", "--grace", "5").result()["received"] == 5


def upgrade(root):
    """As on a machine with systemd, as far as the package can tell: what it said, and what it asked systemd for."""
    systemctl, asked = root.path / "usr/bin/systemctl", root.path / "run/systemctl.asked"
    real = systemctl.rename(systemctl.with_name("systemctl.real"))
    systemctl.write_text("#!/bin/sh\necho \"$@\" >>/run/systemctl.asked\n")
    systemctl.chmod(0o755)
    (root.path / "run/systemd/system").mkdir(parents=True)
    done = root.shell("sudo apt-get install -y --reinstall ./wgtcp_*.deb")
    text = "".join(line for line in asked.read_text().splitlines(keepends=True) if "wgtcpd" in line)
    real.rename(systemctl)
    shutil.rmtree(root.path / "run/systemd")
    asked.unlink()
    return done.stdout, text


@waiting
def test_readme_from_packages_to_purge(lab):
    root = Root(lab)
    try:
        # After the root, so that its mounts are the hosts' too.
        first_ten_minutes(lab, Site(lab), root)
    finally:
        root.remove()


def first_ten_minutes(lab, site, root):
    before = root.files()
    build.packages(lab, root.download)
    profile, inner = administrator(lab, site)
    shutil.copy(profile, root.download)
    site.client.run("mount", "-t", "sysfs", "sysfs", root.path / "sys")

    connect, remove = commands("Connect: three commands"), commands("Remove it")
    check(len(connect) == 3 and connect[0].startswith("sudo apt install ./wgtcp_"), f"not three commands: {connect}")
    start = time.monotonic()
    # apt gets what the packages depend on from this machine's network; the rest is typed in the client's.
    root.shell(connect[0], answer="y\n")
    installed = time.monotonic()
    for line in connect[1:]:
        root.shell(line, host=site.client)
    lab.figure(f"three commands: {time.monotonic() - start:.1f} s, {time.monotonic() - installed:.1f} s of them after apt")
    check(answers(site, inner), "nothing passes through the tunnel")
    check("over UDP" in root.shell("wgtcp-cli status", host=site.client).stdout, "not over UDP")
    enabled = root.path / "etc/systemd/system/sockets.target.wants/wgtcpd.socket"
    check(enabled.is_symlink(), "wgtcpd.socket is not enabled")
    check(not list((root.path / "etc/systemd/system").glob("*/wgtcp-killswitch*")), "the kill switch was enabled unasked")
    root.shell("getent group wgtcp && getent passwd wgtcp-engine wgtcp-relay wgtcp-probe")

    def types(line, **more):
        return root.shell(line, host=site.client, **more)

    # The table under the three.
    types("sudo wgtcp-cli switch office tcp")
    check(answers(site, inner), "nothing passes over TCP")
    types("sudo wgtcp-cli switch office auto")
    done = types("sudo wgtcp-cli doctor office", check_code=False)
    check(done.returncode == 0, f"doctor ended with {done.returncode}: {done.stdout}")
    types("wgtcp-cli status office")
    types("sudo wgtcp-cli export office --qr")
    check("office" in types("sudo wgtcp-cli logs").stdout, "the log does not name the tunnel")

    # An upgrade (here to the same version) interrupts nothing.
    engine = site.client.run("pgrep", "-x", "wgtcp-engine").stdout
    said, asked = upgrade(root)
    check("tunnels are up and stay so" in said and not re.search(r"stop|restart", asked), f"upgrade: {asked}\n{said}")
    check(site.client.run("pgrep", "-x", "wgtcp-engine").stdout == engine and answers(site, inner), "the upgrade ended the tunnel")

    types("sudo wgtcp-cli down office")
    check("office" not in site.client.links(), "the interface stays")
    types("sudo wgtcp-cli set office KillSwitch=on")
    types("sudo wgtcp-cli up office")
    check("inet wgtcp" in site.client.run("nft", "list", "tables").stdout, "no kill switch")
    types("sudo wgtcp-cli unlock")
    types("sudo wgtcp-cli down office")
    said, asked = upgrade(root)
    check("restart wgtcpd.service" in asked, f"with nothing up, the old daemon stays: {asked}\n{said}")

    # A server, as far as one can be started beside the client; and two files for one tunnel.
    for line in commands("A server in five minutes"):
        if line in ELSEWHERE:
            continue
        if line == "sudo wgtcp-cli import office.conf":
            types("sudo wgtcp-cli delete office")
            shutil.copy(profile, root.download / "office-tcp.conf")
        types(line)
    for name in "client", "anna":
        check((root.download / f"{name}.conf").stat().st_mode & 0o777 == 0o600, f"{name}.conf can be read by others")
    types("sudo wgtcp-cli down server")

    # Removing while it is up takes it down, and the daemon with it.
    types("sudo wgtcp-cli up office")
    untyped = all_commands() - root.typed - set(remove) - ELSEWHERE.keys()
    check(not untyped, f"nobody tries these lines of the README: {sorted(untyped)}")
    for line in remove:
        types(line, answer="y\n")
    wait_until(lambda: "office" not in site.client.links(), "the interface to go")
    left = root.programs()
    check(not left, f"still running: {left}")
    check(not list((root.path / "run").glob("wgtcp*")) and not list((root.path / "run").glob("wireguard")), "/run/wgtcp stays")
    changed = differences(before, root.files(), KEPT)
    lab.note("\n".join(changed))
    check(not changed, f"{len(changed)} files are not as before: {'; '.join(changed[:8])}")
    lab.figure(f"{len(before)} files as before")


@waiting
def test_readme_from_a_clean_clone(lab):
    """What is typed in a clone, word for word, with --long: it installs some 500 packages. Else: that what it would install has
    all that the packages are built with."""
    listed = subprocess.run([build.SOURCE / "packaging/install-deps", "--package", "--list"], capture_output=True, text=True)
    control = (build.SOURCE / "packaging/debian/control").read_text()
    wanted = re.findall(r"^ ([a-z0-9.+-]+)", re.search(r"^Build-Depends:\n(.*?)^\S", control, re.M | re.S).group(1), re.M)
    missing = set(wanted) - set(listed.stdout.split()) - {"debhelper-compat"}
    check(wanted and not missing, f"packaging/install-deps --package lacks {missing}")
    if not lab.long:
        return
    root = Root(lab)
    root.be_the_root()
    try:
        run(["git", "-c", f"safe.directory={build.SOURCE}", "clone", "-q", build.SOURCE, root.path / "srv/download/wgtcp"], "git clone")
        lines = commands("Two commands")
        check(lines[1] == "sudo tests/run", f"the second command: {lines}")
        for line in [lines[0]] + lines[2:]:
            start = time.monotonic()
            root.shell(f"cd wgtcp && {line}", timeout=3600)
            lab.figure(f"{line}: {time.monotonic() - start:.0f} s")
    finally:
        root.remove()


@waiting
def test_window_and_plugin_come_and_go(lab):
    """All three packages: what they depend on is there, and with --long (some 300 packages) they are installed, say what
    they are, and purged without a trace."""
    root = Root(lab)
    try:
        build.packages(lab, root.download)
        names = sorted(f"./{path.name}" for path in root.download.glob("*.deb") if "dbgsym" not in path.name)
        check(len(names) == 3, f"packages: {names}")
        install = f"apt-get install -y --no-install-recommends {' '.join(names)}"
        said = root.shell(f"{install} --simulate").stdout
        check(all(f"Inst {name}" in said for name in ("wgtcp ", "wgtcp-gui ", "network-manager-wgtcp ")), said[-300:])
        if not lab.long:
            return
        root.shell(install, timeout=1200)
        for line in "wgtcp-gui --help", "wgtcp-tray --version || wgtcp-tray --help", "wgtcp-engine --version":
            root.shell(line)
        for path in ("usr/lib/NetworkManager/VPN/nm-wgtcp-service.name", "usr/share/polkit-1/actions/org.wgtcp.policy",
                     "usr/share/icons/hicolor/scalable/apps/org.wgtcp.Gui.svg", "etc/xdg/autostart/org.wgtcp.Tray.desktop"):
            check((root.path / path).exists(), f"/{path} is missing")
        libraries = root.shell("find /usr/lib /usr/libexec /usr/bin /usr/sbin -name '*wgtcp*' -type f").stdout.split()
        for path in libraries:
            said = root.shell(f"ldd {path} 2>&1 || true").stdout
            check("not found" not in said, f"{path}: {said}")
        root.shell("apt-get purge -y network-manager-wgtcp wgtcp-gui wgtcp")
        left = [path for path in root.files() if "wgtcp" in path
                and not path.startswith(("var/cache/apt/", "etc/apt/apt.conf.d/99wgtcp-tests"))]
        check(not left, f"still there: {left}")
        lab.figure(f"{len(libraries)} programs and libraries find what they need")
    finally:
        root.remove()


@waiting
def test_lintian_finds_nothing(lab):
    folder = lab.logs / "packages"
    folder.mkdir()
    build.packages(lab, folder)
    changes = next(folder.glob("*.changes"))
    done = subprocess.run(["lintian", "--allow-root", "--fail-on", "error,warning", "--tag-display-limit", "0", changes],
                          capture_output=True, text=True)
    check(done.returncode == 0, f"lintian: {done.stdout.strip()[:400]} {done.stderr.strip()[:200]}")


@waiting
def test_two_builds_are_the_same(lab):
    """From one tree, in two folders, with --long also compiled twice; and the version is that of CMakeLists.txt."""
    first, second = lab.logs / "first", lab.logs / "second"
    first.mkdir()
    build.packages(lab, first)
    build.build(second, lab.logs / "second.log", cached=not lab.long)
    names = sorted(path.name for path in first.glob("*.deb"))
    check(names == sorted(path.name for path in second.glob("*.deb")) and len(names) >= len(build.NAMES), f"packages: {names}")
    other = [name for name in names if (first / name).read_bytes() != (second / name).read_bytes()]
    check(not other, f"not the same: {other}")
    version = re.search(r"^project\(wgtcp VERSION ([\d.]+)", (build.SOURCE / "CMakeLists.txt").read_text(), re.M).group(1)
    check(all(f"_{version}_" in name for name in names), f"version {version}: {names}")
    lab.figure(f"{len(names)} packages")


if __name__ == "__main__":
    sys.exit(case.main(globals()))
