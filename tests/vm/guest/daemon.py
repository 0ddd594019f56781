# SPDX-License-Identifier: MIT
"""wgtcpd and wgtcp-cli inside a guest, with the guest's own WireGuard in the kernel under them."""

import json
import re
import time

from lib.lab import Failure, check, wait_until

PROGRAMS = ("wgtcpd", "wgtcp-cli", "wgtcp-relay", "wgtcp-engine")
SOCKET, CONFIG, STATE = "/run/wgtcpd.sock", "/tmp/config", "/tmp/state"


class GuestDaemon:
    def __init__(self, guest):
        self.guest = guest
        guest.run(f"mkdir -p -m 700 {CONFIG} {STATE}")
        self.start()

    def start(self):
        self.guest.run(f"(wgtcpd --foreground --socket {SOCKET} --config-dir {CONFIG} --state-dir {STATE} "
                       ">>/tmp/wgtcpd.log 2>&1 & echo $! >/tmp/wgtcpd.pid)")
        wait_until(self._answers, "wgtcpd's socket in the guest", 60)

    def _answers(self):
        if self.guest.run("kill -0 $(cat /tmp/wgtcpd.pid)", check_code=False)[0]:
            raise Failure(f"wgtcpd in the guest ended: {self.log().strip()[-300:]}")
        return self.cli("list", check_code=False)[0] == 0

    def log(self):
        return self.guest.run("cat /tmp/wgtcpd.log")[1]

    def kill(self, signal=9, what="/tmp/wgtcpd.pid"):
        self.guest.run(f"kill -{signal} $(cat {what})")
        wait_until(lambda: self.guest.run(f"kill -0 $(cat {what})", check_code=False)[0], "wgtcpd to end", 20)

    def profile(self, name, text):
        self.guest.write(f"{CONFIG}/{name}.conf", text)

    def cli(self, line, check_code=True):
        return self.guest.run(f"wgtcp-cli {line} --socket {SOCKET}", check_code=check_code)

    def up(self, name, more=""):
        """Seconds in the guest's own time."""
        _, text = self.guest.run(f"cut -d' ' -f1 /proc/uptime; wgtcp-cli up {name} {more} --socket {SOCKET} || exit; "
                                 "cut -d' ' -f1 /proc/uptime")
        times = re.findall(r"^(\d+\.\d+)$", text, re.M)
        return float(times[-1]) - float(times[0])

    def status(self, name):
        for tunnel in json.loads(self.cli(f"status {name} --json", check_code=False)[1] or '{"tunnels":[]}')["tunnels"]:
            if tunnel["name"] == name:
                return tunnel
        return {}

    def wait_status(self, name, timeout=40, **wanted):
        last = {}

        def matches():
            last["status"] = self.status(name)
            return all(last["status"].get(k) == v for k, v in wanted.items()) and last["status"]
        try:
            return wait_until(matches, f"{wanted} of {name}", timeout, interval=0.1)
        except Failure as why:
            raise Failure(f"{why}; last: { {k: last['status'].get(k) for k in wanted} }") from None

    def processes(self, name):
        _, text = self.guest.run("for p in /proc/[0-9]*; do echo $(cat $p/comm 2>/dev/null); done", check_code=False)
        return text.split("\n").count(name)

    def kill_all(self, *names):
        """Every process of these names."""
        for name in names:
            self.guest.run(f"for p in /proc/[0-9]*; do [ \"$(cat $p/comm 2>/dev/null)\" = {name} ] && kill -9 ${{p#/proc/}};"
                           " done; true")

    def links(self):
        return re.findall(r"^\d+: ([^:@]+)", self.guest.run("ip -o link")[1], re.M)


class GuestPing:
    """Echoes from the guest, timed by its own clock."""

    def __init__(self, guest, target, interval_ms=20, size=56):
        self.guest, self.interval = guest, interval_ms
        self.file = f"/tmp/ping.{time.monotonic_ns()}"
        guest.run(f"(ping -n -D -i {interval_ms / 1000} -s {size} {target} >{self.file} 2>&1 & echo $! >{self.file}.pid)")

    def stop(self):
        """Milliseconds of the longest time between two answers, answers, and how many were sent."""
        self.guest.run(f"kill -INT $(cat {self.file}.pid); sleep 0.3")
        _, text = self.guest.run(f"cat {self.file}")
        times = [float(t) for t in re.findall(r"^\[(\d+\.\d+)\] \d+ bytes", text, re.M)]
        check(len(times) > 1, f"no answers: {text[-200:]}")
        sent = int(re.search(r"(\d+) packets transmitted", text).group(1))
        return max(b - a for a, b in zip(times, times[1:])) * 1000, len(times), sent
