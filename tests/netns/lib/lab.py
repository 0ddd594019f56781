# SPDX-License-Identifier: MIT
"""Hosts made of namespaces, and the programs that run on them.

A Host is a network namespace and a mount namespace with a /run of its own, held by one sleeping process: nothing has a
name in the system, so nothing can be left behind. case.py runs the whole test in a PID namespace whose end ends every
process, also when the test is interrupted or killed.
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import time

# On a busy machine of 2 cores everything may take longer; a deadline for waiting is not a bound that is measured.
PATIENCE_S = 20

SANITIZER_MARKS = re.compile(r"ERROR: (Address|Leak|Undefined)\w*Sanitizer|runtime error:|Assertion .* failed")


class Failure(Exception):
    """What the test wanted to see did not happen."""


def check(condition, text):
    if not condition:
        raise Failure(text)


def cpu_s(pids):
    """Seconds of processor time that these have taken."""
    ticks = 0
    for pid in pids:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def wait_until(test, what, timeout=PATIENCE_S, interval=0.02):
    """Returns the first true value of test() and the seconds it took."""
    start = time.monotonic()
    while True:
        value = test()
        if value:
            return value, time.monotonic() - start
        if time.monotonic() - start > timeout:
            raise Failure(f"waited {timeout} s in vain for {what}")
        time.sleep(interval)


class Program:
    """A program running on a host, its output in a log."""

    def __init__(self, host, name, argv, env, stdin=None):
        self.host, self.name = host, name
        self.log = host.lab.logs / f"{host.name}.{name}.log"
        self.out = host.lab.logs / f"{host.name}.{name}.out"
        self.ended_by_us = False
        with open(self.log, "ab") as log, open(self.out, "wb") as out:
            log.write(("$ " + " ".join(map(str, argv)) + "\n").encode())
            log.flush()
            self.process = subprocess.Popen(
                host.prefix() + [str(a) for a in argv], stdin=stdin or subprocess.DEVNULL, stdout=out, stderr=log,
                env=env, start_new_session=True)

    @property
    def pid(self):
        # nsenter without a PID namespace executes in place: the process is the program itself.
        return self.process.pid

    def running(self):
        return self.process.poll() is None

    def text(self):
        return self.out.read_text(errors="replace") + self.log.read_text(errors="replace")

    def said(self):
        """What it has printed, without the command line that heads its log."""
        return self.out.read_text(errors="replace") + self.log.read_text(errors="replace").partition("\n")[2]

    def wait_for_text(self, pattern, timeout=PATIENCE_S):
        def seen():
            if re.search(pattern, self.said()):
                return True
            if not self.running() and not re.search(pattern, self.said()):
                raise Failure(f"{self.name} ended with {self.process.returncode}: {self.log}")
            return False
        return wait_until(seen, f"'{pattern}' from {self.name}", timeout)

    def wait(self, timeout=PATIENCE_S):
        """The exit code."""
        self.ended_by_us = True
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise Failure(f"{self.name} did not end within {timeout} s") from None

    def signal(self, number):
        self.ended_by_us = True
        if self.running():
            self.process.send_signal(number)

    def stop(self, timeout=5):
        """SIGTERM, then SIGKILL: true when the first was enough."""
        self.ended_by_us = True
        if not self.running():
            return True
        if self.process.stdin:
            self.process.stdin.close()
        self.process.terminate()
        try:
            self.process.wait(timeout)
            return True
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return False

    def kill(self):
        self.ended_by_us = True
        self.process.kill()
        self.process.wait()

    def result(self):
        """The JSON that a tool wrote at its end."""
        code = self.wait(PATIENCE_S + 10)
        text = self.out.read_text()
        if code or not text:
            raise Failure(f"{self.name} ended with {code}: {self.log.read_text(errors='replace')[-300:]}")
        return json.loads(text)


class Host:
    def __init__(self, lab, name):
        self.lab, self.name = lab, name
        self.programs = []
        self._count = {}
        ready = ("mount -t tmpfs tmpfs /run && mount -t tmpfs tmpfs /var/lib && mount -t sysfs sysfs /sys 2>/dev/null;"
                 " ip link set lo up; sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0"
                 " net.ipv6.conf.all.accept_dad=0 net.ipv6.conf.default.accept_dad=0;"
                 " echo ready; exec sleep infinity")
        self.holder = subprocess.Popen(["unshare", "--net", "--mount", "sh", "-c", ready], stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, start_new_session=True)
        if self.holder.stdout.readline() != b"ready\n":
            raise Failure(f"cannot make a network namespace for {name}: are we root?")

    def prefix(self):
        return ["nsenter", "--target", str(self.holder.pid), "--net", "--mount", "--"]

    def netns(self):
        return f"/proc/{self.holder.pid}/ns/net"

    def run(self, *argv, input=None, check_code=True, timeout=PATIENCE_S * 2, env=None):
        """Runs to the end; its CompletedProcess with text. Every command goes to the log."""
        argv = [str(a) for a in argv]
        try:
            done = subprocess.run(self.prefix() + argv, input=input, capture_output=True, timeout=timeout,
                                  encoding="utf-8", errors="replace", env=self.lab.environment(env))
        except subprocess.TimeoutExpired:
            raise Failure(f"{self.name}: '{' '.join(argv)}' did not end within {timeout} s") from None
        self.lab.note(f"{self.name}$ {' '.join(argv)}  -> {done.returncode}\n{done.stdout}{done.stderr}")
        if check_code and done.returncode:
            raise Failure(f"{self.name}: '{' '.join(argv)}' ended with {done.returncode}: {done.stderr.strip()[-300:]}")
        return done

    def start(self, *argv, name=None, env=None, stdin=None):
        name = name or os.path.basename(str(argv[0]))
        number = self._count[name] = self._count.get(name, 0) + 1
        program = Program(self, name if number == 1 else f"{name}{number}", argv, self.lab.environment(env), stdin)
        self.programs.append(program)
        return program

    def tool(self, tool, *args, **keywords):
        """Starts one of the measuring tools that lie beside this file."""
        script = pathlib.Path(__file__).parent / tool
        return self.start("/usr/bin/python3", script, *args, name=script.stem, **keywords)

    def nft(self, rules):
        self.run("nft", "-f", "-", input=rules)

    def counter(self, table, name):
        """Packets that a named nftables counter saw."""
        text = self.run("nft", "-j", "list", "counter", "inet", table, name).stdout
        return next(o["counter"]["packets"] for o in json.loads(text)["nftables"] if "counter" in o)

    def links(self):
        return [link["ifname"] for link in json.loads(self.run("ip", "-j", "link").stdout)]

    def routes(self):
        """All routes of both families, one a line, without those that the kernel makes for its own addresses."""
        lines = []
        for family in "-4", "-6":
            out = self.run("ip", family, "route", "show", "table", "all").stdout
            lines += [line.strip() for line in out.splitlines()
                      if "table local" not in line and not re.search(r"fe80:|ff00:|multicast|anycast", line)]
        return sorted(lines)


class Lab:
    def __init__(self, binaries, logs, long=False, sanitized=False):
        self.binaries, self.logs = pathlib.Path(binaries), pathlib.Path(logs)
        self.long, self.sanitized = long, sanitized
        self.hosts, self.notes = [], []
        self.logs.mkdir(parents=True, exist_ok=True)

    def note(self, text):
        with open(self.logs / "commands.log", "a", encoding="utf-8") as log:
            log.write(f"[{time.monotonic():.3f}] {text}\n")

    def figure(self, text):
        """A measured figure, printed behind the test's name."""
        self.notes.append(text)
        self.note(text)

    def bound(self, seconds):
        """Sanitized programs are slower; the figures are judged on the ordinary ones."""
        return seconds * 4 if self.sanitized else seconds

    def binary(self, name):
        path = self.binaries / name
        if not path.exists():
            raise Failure(f"{path} is missing")
        return path

    def environment(self, extra=None):
        env = dict(os.environ, LC_ALL="C.UTF-8", NO_COLOR="1",
                   PATH=f"{self.binaries}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                   ASAN_OPTIONS=f"log_path={self.logs}/sanitizer:exitcode=99:fast_unwind_on_malloc=0",
                   UBSAN_OPTIONS=f"log_path={self.logs}/sanitizer:print_stacktrace=1:exitcode=99")
        env.update(extra or {})
        return env

    def host(self, name):
        host = Host(self, name)
        self.hosts.append(host)
        return host

    def wire(self, a, name_a, b, name_b):
        """A veth pair between two hosts."""
        subprocess.run(["ip", "link", "add", name_a, "netns", str(a.holder.pid), "type", "veth",
                        "peer", "name", name_b, "netns", str(b.holder.pid)], check=True)
        a.run("ip", "link", "set", name_a, "up")
        b.run("ip", "link", "set", name_b, "up")

    def close(self):
        """Ends everything. Returns what went wrong unseen: crashes, sanitizer reports, programs that would not end."""
        problems = []
        for host in self.hosts:
            for program in reversed(host.programs):
                code = program.process.poll()
                if code is not None and not program.ended_by_us and (code < 0 or code == 99):
                    problems.append(f"{program.name} on {host.name} died with {code}: {program.log}")
                if not program.stop(10 if self.sanitized else 5):
                    problems.append(f"{program.name} on {host.name} did not end on SIGTERM: {program.log}")
        for host in self.hosts:
            host.holder.send_signal(signal.SIGKILL)
            host.holder.wait()
        for path in sorted(self.logs.iterdir()):
            if path.name.startswith("sanitizer."):
                problems.append(f"sanitizer report: {path}")
            elif path.suffix in (".log", ".out") and SANITIZER_MARKS.search(path.read_text(errors="replace")):
                problems.append(f"sanitizer report or failed assertion in {path}")
        return problems
