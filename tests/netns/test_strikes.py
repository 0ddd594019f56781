# SPDX-License-Identifier: MIT
"""One call fails: memory, or a call of the system, at each place where a program of ours makes one, in turn. None crashes or
hangs, what ends says why, nothing runs with more rights than it should, and nothing is left behind.

--long: each place, which is a line of a program: of the calls that it makes there the first, one between, and the last. Else
a sample of them, the same each time."""

import pathlib
import random
import re
import struct
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lib import case  # noqa: E402
from lib.case import waiting  # noqa: E402
from lib.lab import Failure, check, wait_until  # noqa: E402
from lib.network import Site  # noqa: E402
from lib.tunnel import Daemon, Key, interface_text, peer_text  # noqa: E402

MEMORY, SYSTEM = 1, 2
KINDS = {MEMORY: "memory", SYSTEM: "system"}
LAYOUT = "III52s"
PLACES_MAX = 16384
# Without these a process would have more rights than it should: it must not go on.
CONFINING = {"prctl", "syscall", "setgroups", "setresuid", "setresgid", "setrlimit"}


class Striker:
    """What is loaded into a program, and which call of it fails."""

    def __init__(self, lab):
        self.lab = lab
        self.file = lab.logs / "strike"
        self.environment = {"LD_PRELOAD": str(lab.binary("wgtcp-strike.so")), "STRIKE_FILE": str(self.file)}

    def arm(self, kind, at):
        self.file.write_bytes(struct.pack(LAYOUT, kind, at, 0, b"") + bytes(8 * PLACES_MAX))

    def seen(self):
        """How many calls there were, and the name of the one that failed."""
        _, _, count, name = struct.unpack_from(LAYOUT, self.file.read_bytes())
        return count, name.rstrip(b"\0").decode()

    def places(self, kind, run, most):
        """The numbers of the calls to fail, after one run in which none does."""
        self.arm(kind, 0)
        run()
        count, _ = self.seen()
        check(count > 0, f"no call of kind {KINDS[kind]} was seen: is the library loaded?")
        check(count < PLACES_MAX, f"{count} calls of kind {KINDS[kind]}")
        calls = {}
        for number, place in enumerate(struct.unpack_from(f"{count}Q", self.file.read_bytes(), struct.calcsize(LAYOUT) + 8), 1):
            calls.setdefault(place, []).append(number)
        numbers = sorted({of[at] for of in calls.values() for at in (0, len(of) // 2, -1)})
        self.lab.note(f"{KINDS[kind]}: {count} calls at {len(calls)} places")
        if not self.lab.long and len(numbers) > most:
            numbers = sorted(random.Random(7).sample(numbers, most))
        return numbers

    def each(self, run, judge, most, kinds=(MEMORY, SYSTEM)):
        """run() for each place; judge(its result, the name of the call) says what is wrong, or nothing."""
        for kind in kinds:
            numbers = self.places(kind, run, most)
            wrong = []
            for number in numbers:
                self.arm(kind, number)
                result = run()
                name = self.seen()[1]
                problem = judge(result, name)
                if problem:
                    wrong.append(f"{KINDS[kind]} {number} ({name}): {problem}")
            check(not wrong, f"{len(wrong)} of {len(numbers)}: {'; '.join(wrong[:6])}")
            yield len(numbers)


def judge_end(done, _name):
    """Of a program that ran to its end."""
    if done.returncode < 0 or done.returncode > 100:
        return f"ended with {done.returncode}: {done.stderr[-200:]}"
    said = done.stderr.strip()
    if done.returncode and (not said or "(null)" in said):
        return f"exit code {done.returncode} and no reason: {said!r}"
    return None


COMMANDS = (["list"], ["status"], ["status", "office", "--json"], ["up", "office", "--timeout", "3"], ["switch", "office", "auto"],
            ["down", "office"], ["import", "FILE", "--name", "other"], ["export", "office"], ["export", "office", "--qr"],
            ["set", "office", "MTU=1400"], ["delete", "other"], ["logs"], ["genkey"], ["unlock"], ["--help"],
            ["server", "init", "--endpoint", "vpn.example", "--output", "NEW"])


@waiting
def test_commands(lab):
    """wgtcp-cli, beside a daemon in which nothing fails."""
    host = lab.host("host")
    daemon = Daemon(host)
    text = interface_text(Key(), extra="Address = 10.0.0.2/24\n") + peer_text(Key(), "10.0.0.0/24", "192.0.2.1:51820")
    daemon.profile("office", text)
    file = lab.logs / "mine.conf"
    file.write_text(text)
    striker, total = Striker(lab), 0
    for words in COMMANDS:
        new = lab.logs / "new.conf"
        argv = [str({"FILE": file, "NEW": new}.get(word, word)) for word in words]

        def run():
            new.unlink(missing_ok=True)
            for name in "other", "server":
                (daemon.config / f"{name}.conf").unlink(missing_ok=True)
            if words[0] == "delete":
                daemon.profile("other", text)
            return host.run(lab.binary("wgtcp-cli"), *argv, "--socket", daemon.socket, check_code=False, timeout=40,
                            env=striker.environment)

        striker.arm(MEMORY, 0)
        usual = run().returncode

        def judge(done, name):
            if new.exists() and "[Peer]" not in new.read_text():
                return "half a file"
            # A code may be an answer: 3, it is not up.
            return None if done.returncode == usual else judge_end(done, name)
        try:
            total += sum(striker.each(run, judge, 1 if words[0] == "up" else 6))
        except Failure as why:
            raise Failure(f"{' '.join(words)}: {why}") from None
    check(daemon.program.running(), "the daemon has ended")
    daemon.cli("down", "office")
    lab.figure(f"{total} calls failed, one at a time")


def of_program(host, name):
    """{pid: its status} of the processes that run a program."""
    found = {}
    for line in host.run("ps", "-eo", "pid,stat,args").stdout.splitlines()[1:]:
        pid, stat, args = line.split(None, 2)
        if name in args.split()[0] and stat[0] != "Z":
            try:
                found[pid] = pathlib.Path(f"/proc/{pid}/status").read_text()
            except OSError:
                pass
    return found


def wait_for_end(host, name):
    wait_until(lambda: not of_program(host, name), f"all of {name} to end", 15, interval=0.05)


class Started:
    """A program that stays, started with a strike and ended by SIGTERM."""

    def __init__(self, striker, host, program, ready, argv):
        self.host, self.program = host, host.start(host.lab.binary(program), *argv, env=striker.environment)
        try:
            wait_until(lambda: not self.program.running() or ready(), f"{program} to start or to end", 20)
        except Failure:
            self.came_up = None
            return
        self.came_up = self.program.running()

    def end(self):
        if not self.program.running():
            code = self.program.process.returncode
        else:
            self.program.signal(15)
            code = self.program.wait(15)
        said = re.sub(r"\x1b\[[0-9;]*m", "", self.program.said()).strip()
        self.program.log.unlink()
        self.program.out.unlink()
        return code, said


def judge_start(code, said, came_up):
    if came_up is None:
        return "neither started nor ended"
    if code < 0 and code != -15:
        return f"ended by signal {-code}: {said[-200:]}"
    if not came_up and code == 0:
        return "ended with 0 and did nothing"
    if not came_up and (not said or "(null)" in said):
        return f"exit code {code} and no reason"
    return None


@waiting
def test_engine(lab):
    """Started by hand, told its peers by wg, ended: it starts or says why not, and is never without its bounds."""
    host = lab.host("host")
    striker = Striker(lab)
    config = lab.logs / "wg.conf"
    config.write_text(interface_text(Key(), 51820) + peer_text(Key(), "10.0.0.0/24", "192.0.2.1:51820", keepalive=1))

    def run():
        started = Started(striker, host, "wgtcp-engine", lambda: host.run(
            "test", "-S", "/run/wireguard/wg9.sock", check_code=False).returncode == 0, ["-f", "wg9"])
        free = []
        if started.came_up:
            host.run("wg", "setconf", "wg9", config, check_code=False, timeout=20)
            host.run("ip", "link", "set", "wg9", "up", check_code=False)
            time.sleep(0.05)
            free = [pid for pid, status in of_program(host, "wgtcp-engine").items()
                    if "CapEff:\t0000000000000000" in status and "Seccomp:\t2" not in status]
        code, said = started.end()
        wait_for_end(host, "wgtcp-engine")
        links = host.links()
        socket = host.run("ls", "/run/wireguard", check_code=False).stdout.split()
        host.run("sh", "-c", "rm -f /run/wireguard/*; ip link del wg9 2>/dev/null || true")
        return started.came_up, code, said, free, links, socket

    def judge(result, name):
        came_up, code, said, free, links, socket = result
        if free and name in CONFINING:
            return f"processes {free} went on without their bounds"
        if "wg9" in links:
            return f"the interface stays: {links}"
        # Whose it is could not be found out: it stays.
        if socket and name not in ("unlinkat", "stat"):
            return f"left: {socket}"
        return judge_start(code, said, came_up)
    lab.figure(f"{sum(striker.each(run, judge, 30))} calls failed, one at a time")


@waiting
def test_relay(lab):
    """In front of a server."""
    host = lab.host("host")
    striker, key = Striker(lab), Key()

    def run():
        started = Started(striker, host, "wgtcp-relay", lambda: ":4443 " in host.run("ss", "-Htln").stdout, [
            "--listen", "127.0.0.1:4443", "--forward", "127.0.0.1:51820", "--public-key", key.public])
        if started.came_up:
            host.run("sh", "-c", "exec 3<>/dev/tcp/127.0.0.1/4443 2>/dev/null; sleep 0.05", check_code=False)
        code, said = started.end()
        wait_for_end(host, "wgtcp-relay")
        return started.came_up, code, said

    def judge(result, _name):
        came_up, code, said = result
        return judge_start(code, said, came_up)
    lab.figure(f"{sum(striker.each(run, judge, 30))} calls failed, one at a time")


@waiting
def test_daemon(lab):
    """Started, a tunnel up and down, ended. Whatever a failing call leaves, the next daemon removes."""
    host = Site(lab).client
    daemon = Daemon(host)
    daemon.profile("office", interface_text(Key(), extra="Address = 10.0.0.2/24\nKillSwitch = on\n") + peer_text(
        Key(), "0.0.0.0/0", "198.51.100.2:51820"))
    daemon.program.stop()
    striker = Striker(lab)

    def look():
        rules = host.run("ip", "rule").stdout.splitlines()
        return host.links(), len(rules), host.run("nft", "list", "tables").stdout
    clean = look()

    def cli(*words):
        done = host.run(lab.binary("wgtcp-cli"), *words, "--socket", daemon.socket, check_code=False, timeout=40)
        return judge_end(done, "")

    def run():
        started = Started(striker, host, "wgtcpd", lambda: host.run(
            lab.binary("wgtcp-cli"), "list", "--socket", daemon.socket, check_code=False).returncode == 0, [
            "--foreground", "--socket", daemon.socket, "--config-dir", daemon.config, "--state-dir", daemon.state])
        wrong = [cli(*words) for words in (("up", "office", "--timeout", "1"), ("status",), ("down", "office"))
                 ] if started.came_up else []
        code, said = started.end()
        wait_for_end(host, "wgtcpd")
        left = look()
        if left != clean:
            daemon.start()
            # What a kill switch holds comes up again by itself, and would put it on again after an unlock.
            host.run(lab.binary("wgtcp-cli"), "down", "office", "--socket", daemon.socket, check_code=False)
            host.run(lab.binary("wgtcp-cli"), "unlock", "--socket", daemon.socket, check_code=False)
            daemon.program.stop()
            left = look()
        return started.came_up, code, said, next((text for text in wrong if text), None), left

    def judge(result, _name):
        came_up, code, said, wrong, left = result
        return wrong or (f"left behind: {left}" if left != clean else judge_start(code, said, came_up))
    lab.figure(f"{sum(striker.each(run, judge, 25))} calls failed, one at a time")


if __name__ == "__main__":
    sys.exit(case.main(globals()))
