# SPDX-License-Identifier: MIT
"""Bad profiles and junk: file, line, cause and cure, the documented exit code, and nothing left behind."""

import pathlib
import random
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lib import case  # noqa: E402
from lib.case import main_path  # noqa: E402
from lib.lab import check, wait_until  # noqa: E402
from lib.tunnel import Daemon, Key, interface_text, peer_text, preshared_key  # noqa: E402

BAD = pathlib.Path(__file__).resolve().parents[1] / "unit/core/config/bad"


def tree(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes() if p.is_file() else None for p in folder.rglob("*")}


def refuse(daemon, path, codes=(1,)):
    """Imports what must not be taken; the error text."""
    before = tree(daemon.config)
    done = daemon.cli("import", path, check_code=False)
    check(done.returncode in codes, f"{path.name}: exit code {done.returncode}: {done.stderr.strip()}")
    check(not done.stdout.strip(), f"{path.name}: something on stdout: {done.stdout.strip()}")
    check(tree(daemon.config) == before, f"{path.name}: something was left behind")
    check(done.stderr.strip(), f"{path.name}: refused without a word")
    check(not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", done.stderr), f"{path.name}: control characters in the error")
    check(len(done.stderr) < 4000, f"{path.name}: an error of {len(done.stderr)} characters")
    return done.stderr


def names_line(text, path):
    return re.search(rf"{re.escape(path.name)}:\d+(:\d+)?: \S+", text)


@main_path
def test_every_bad_profile(lab):
    daemon = Daemon(lab.host("host"))
    files = sorted(BAD.glob("*.conf"))
    check(len(files) >= 20, f"only {len(files)} bad profiles in {BAD}")
    for path in files:
        text = refuse(daemon, path)
        check(names_line(text, path), f"{path.name}: no file and line: {text.strip()}")
        cure = re.search(rf"{re.escape(path.name)}:\d+(?::\d+)?: (.*)", text).group(1)
        check(len(cure.split()) >= 4, f"{path.name}: no sentence: {cure}")
    lab.figure(f"{len(files)} bad profiles refused")


@main_path
def test_junk(lab):
    """Random bytes, a picture's head, one very long line, nothing at all, NUL bytes, a folder, a device, no file."""
    host = lab.host("host")
    daemon = Daemon(host)
    rnd = random.Random(1)
    junk = {"random.conf": rnd.randbytes(4096), "png.conf": b"\x89PNG\r\n\x1a\n" + rnd.randbytes(100),
            "long-line.conf": b"[Interface]\nPrivateKey = " + b"A" * 60000 + b"\n", "empty.conf": b"",
            "nul.conf": b"[Interface]\nPrivateKey\0 = x\n", "newlines.conf": b"\n" * 5000,
            "deep.conf": b"[" * 3000 + b"\n", "utf16.conf": "[Interface]\nPrivateKey = x\n".encode("utf-16")}
    for number in range(20):
        junk[f"bits-{number}.conf"] = rnd.randbytes(rnd.randrange(1, 3000))
    for name, data in junk.items():
        path = lab.logs / name
        path.write_bytes(data)
        text = refuse(daemon, path)
        check(names_line(text, path) or not data.strip(), f"{name}: no file and line: {text.strip()}")
    big = lab.logs / "big.conf"
    big.write_bytes(b"# comment\n" * 300000)
    refuse(daemon, big)
    for path in lab.logs, pathlib.Path("/dev/zero"), pathlib.Path("/nowhere/office.conf"):
        done = daemon.cli("import", path, check_code=False, timeout=20)
        check(done.returncode == 1 and done.stderr.strip(), f"{path}: exit code {done.returncode}")
    check(daemon.cli("list").returncode == 0, "the daemon does not answer any more")


@main_path
def test_mutations_of_a_good_profile(lab):
    """Single bytes changed: it is taken whole or refused whole, and the daemon lives."""
    daemon = Daemon(lab.host("host"))
    good = (interface_text(Key(), extra="Address = 10.0.0.2/24\nDNS = 10.0.0.1\n") + peer_text(
        Key(), "10.0.0.0/24", "vpn.example.com:51820", keepalive=25)).encode()
    path = lab.logs / "good.conf"
    path.write_bytes(good)
    check(daemon.cli("import", path).returncode == 0, "the good profile was refused")
    daemon.cli("delete", "good")
    rnd, taken, refused = random.Random(2), 0, 0
    for number in range(300 if lab.long else 60):
        data = bytearray(good)
        for _ in range(rnd.randrange(1, 4)):
            data[rnd.randrange(len(data))] = rnd.randrange(256)
        path = lab.logs / "changed.conf"
        path.write_bytes(data)
        before = tree(daemon.config)
        done = daemon.cli("import", path, check_code=False)
        if done.returncode == 0:
            taken += 1
            check("changed" in daemon.cli("list").stdout, "imported, but not in the list")
            daemon.cli("delete", "changed")
        else:
            refused += 1
            check(done.returncode == 1, f"exit code {done.returncode}: {done.stderr}")
            check(names_line(done.stderr, path), f"no file and line: {done.stderr.strip()}")
        check(tree(daemon.config) == before, f"something was left behind by change {number}")
    lab.figure(f"{taken} taken, {refused} refused")
    check(refused > 10, "hardly anything was refused")


def test_usage(lab):
    host = lab.host("host")
    daemon = Daemon(host)
    table = [(["frobnicate"], 2), (["up"], 2), (["up", "a", "b"], 2), (["up", "x", "--transport", "pigeon"], 2),
             (["up", "x", "--timeout", "soon"], 2), (["up", "nowhere"], 5), (["status", "nowhere"], 5),
             (["down", "nowhere"], 5), (["delete", "nowhere"], 5), (["export", "nowhere"], 5),
             (["set", "nowhere", "MTU=1400"], 5), (["set", "nowhere", "MTU"], 2), (["up", "../etc/passwd"], 5),
             (["up", "x" * 300], 5), ([], 2), (["--no-such-option", "list"], 2)]
    for words, code in table:
        done = daemon.cli(*words, check_code=False)
        check(done.returncode == code or (code == 5 and done.returncode == 2),
              f"{' '.join(words)}: exit code {done.returncode} instead of {code}: {done.stderr.strip()}")
        check(done.stderr.strip(), f"{' '.join(words)}: failed without a word")
    gone = host.run(lab.binary("wgtcp-cli"), "status", "--socket", "/run/nobody.sock", check_code=False)
    check(gone.returncode == 1 and "/run/nobody.sock" in gone.stderr, f"no daemon: {gone.returncode} {gone.stderr}")


def test_closed_streams(lab):
    """Nothing of ours takes their numbers: what is printed would go into a socket or a file."""
    host = lab.host("host")
    daemon = Daemon(host)
    daemon.profile("office", interface_text(Key(), extra="Address = 10.0.0.2/24\n"))
    for words in "status", "list", "export office", "genkey", "--help":
        done = host.run("sh", "-c", f"{lab.binary('wgtcp-cli')} {words} --socket {daemon.socket} >&-", check_code=False)
        check(done.returncode == 1, f"{words}: {done.returncode} {done.stderr.strip()}")
    other = host.start("sh", "-c", f"exec {lab.binary('wgtcpd')} --foreground --socket /run/closed.sock --config-dir"
                       f" {daemon.config} --state-dir /run/closed <&- >&- 2>&-", name="closed")
    wait_until(lambda: host.run(lab.binary("wgtcp-cli"), "list", "--socket", "/run/closed.sock",
                                check_code=False).returncode == 0, "the daemon")
    held = host.run("sh", "-c", f"cd /proc/{other.pid}/fd && readlink 0 1 2").stdout.split()
    check(held == ["/dev/null"] * 3, f"its streams are {held}")


def test_set_is_all_or_nothing(lab):
    daemon = Daemon(lab.host("host"))
    daemon.profile("office", "# keep this comment\n" + interface_text(Key(), extra="Address = 10.0.0.2/24\n") + peer_text(
        Key(), "10.0.0.0/24", "192.0.2.1:51820"))
    before = tree(daemon.config)
    for words in (["MTU=99999"], ["Transport=pigeon"], ["NoSuchKey=1"], ["MTU=1400", "ListenPort=70000"],
                  ["PrivateKey=short"]):
        done = daemon.cli("set", "office", *words, check_code=False)
        check(done.returncode in (1, 2), f"{words}: exit code {done.returncode}")
        check(tree(daemon.config) == before, f"{words}: half applied")
    daemon.cli("set", "office", "MTU=1400")
    text = (daemon.config / "office.conf").read_text()
    check("MTU = 1400" in text and "# keep this comment" in text, f"after set: {text}")
    check((daemon.config / "office.conf").stat().st_mode & 0o777 == 0o600, "mode of the profile")


def test_keys_do_not_leak(lab):
    """Nowhere but by export: not in status, list, logs, errors or the daemon's output."""
    host = lab.host("host")
    daemon = Daemon(host)
    key = Key()
    psk = preshared_key()
    path = lab.logs / "office.conf"
    path.write_text(interface_text(key, extra="Address = 10.0.0.2/24\n") + peer_text(
        Key(), "10.0.0.0/24", "192.0.2.1:51820", psk=psk))
    daemon.cli("import", path)
    daemon.cli("up", "office", "--timeout", "2", check_code=False)
    for words in (["status"], ["status", "--json"], ["list", "--json"], ["logs"], ["status", "office"]):
        done = daemon.cli(*words, check_code=False)
        check(key.private not in done.stdout + done.stderr and psk not in done.stdout + done.stderr,
              f"{' '.join(words)} shows a key")
    check(key.private not in daemon.program.text() and psk not in daemon.program.text(), "wgtcpd's output shows a key")
    export = daemon.cli("export", "office").stdout
    check(key.private in export and psk in export, "export does not give the keys")


def test_keys_that_can_not_work(lab):
    """Our own key as the peer's is refused by up; the same key and peer in two tunnels is warned of while both are up."""
    daemon = Daemon(lab.host("host"))
    key, peer = Key(), Key()
    daemon.profile("mirror", interface_text(key, extra="Address = 10.77.0.2/24\n") + peer_text(
        key, "10.77.0.0/24", "192.0.2.9:51820"))
    _, done = daemon.up("mirror", check_code=False)
    check(done.returncode == 1 and "own PrivateKey" in done.stderr, f"{done.returncode}: {done.stderr}")
    for number in 1, 2:
        daemon.profile(f"twin{number}", interface_text(key, 51820 + number, f"Address = 10.78.{number}.2/24\n")
                       + peer_text(peer, f"10.78.{number}.0/24"))
    _, done = daemon.up("twin1")
    check("same PrivateKey" not in done.stderr, done.stderr)
    _, done = daemon.up("twin2")
    check("twin1 is up with the same PrivateKey" in done.stderr, done.stderr)
    check("same PrivateKey" in daemon.cli("status", "twin2").stdout, "status does not show the warning")
    daemon.cli("down", "twin1")
    check("same PrivateKey" not in daemon.cli("status", "twin2").stdout, "status warns of a tunnel that is down")


if __name__ == "__main__":
    sys.exit(case.main(globals()))
