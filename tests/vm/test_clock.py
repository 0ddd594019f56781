# SPDX-License-Identifier: MIT
"""Clocks in a kernel of its own: set forward and back while the tunnel is up, and a machine that its host stops. Inner
traffic is to flow again within 5 s. (To sleep in earnest and wake again is more than the emulated machine can do.)"""

import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "netns")]
from guest import Guest  # noqa: E402
from guest.daemon import PROGRAMS, GuestDaemon  # noqa: E402
from lib import case  # noqa: E402
from lib.case import waiting  # noqa: E402
from lib.lab import check, wait_until  # noqa: E402
from lib.tunnel import PORT, Key, engine, interface_text, peer_text  # noqa: E402

WITHIN_S = 5


class Place:
    def __init__(self, lab):
        self.lab, self.host = lab, lab.host("host")
        self.guest = Guest(self.host, programs=[lab.binary(name) for name in PROGRAMS], monitor=True,
                           files={"/early": "mkdir -p /var; ln -s /run /var/run; load tun\n"})
        self.guest.ready()
        self.server_key, self.client_key = Key(), Key()
        self.server = engine(self.host, "wg-srv", ["10.77.0.1/24"], interface_text(
            self.server_key, PORT) + peer_text(self.client_key, "10.77.0.2/32"))
        self.daemon = GuestDaemon(self.guest)
        self.daemon.profile("office", interface_text(
            self.client_key, extra="Address = 10.77.0.2/24\nBackend = userspace\n") + peer_text(
                self.server_key, "10.77.0.0/24", f"{self.guest.host_v4}:{PORT}"))
        self.daemon.up("office")
        self.pings()

    def pings(self):
        self.guest.run("ping -c 3 -i 0.1 -W 5 -q 10.77.0.1")

    def flows(self, what):
        """Seconds until an inner echo is answered again, by this machine's clock."""
        start = time.monotonic()
        # As ping would see it who is there all the time: one a moment, none waited for long.
        wait_until(lambda: self.guest.run("ping -c 1 -W 1 -q 10.77.0.1", check_code=False)[0] == 0,
                   f"inner traffic after {what}", 60, interval=0.05)
        seconds = time.monotonic() - start
        self.lab.figure(f"{what}: flows after {seconds:.1f} s")
        return seconds

    def check_flows(self, what):
        seconds = self.flows(what)
        check(seconds <= self.lab.bound(WITHIN_S) + 5, f"{what}: {seconds:.1f} s (asked: {WITHIN_S} s, and an emulated "
              "processor on a busy machine)")

    def handshake_anew(self):
        """Whether a new session can be made: what a server that saw the old clock would say."""
        self.daemon.cli("down office")
        self.daemon.up("office")
        self.pings()

    def clock(self, verdict):
        text = self.daemon.cli("doctor office", check_code=False)[1]
        line = next((line for line in text.splitlines() if "clock" in line.lower()), "")
        check(verdict in line, f"doctor says of the clock: {line or text}")


def test_clock_set_forward_and_back(lab):
    place = Place(lab)
    now = int(place.guest.run("date +%s")[1])
    for what, second in (("an hour forward", now + 3600), ("two hours back", now - 3600), ("to 1970", 1000)):
        place.guest.run(f"date -s @{second} >/dev/null")
        place.check_flows(what)
        check(place.daemon.status("office")["state"] == "up", f"{what}: {place.daemon.status('office')['state']}")
        # Timestamps never go back, whatever the clock does: the server takes the next handshake.
        place.handshake_anew()
    place.clock("behind")
    place.guest.run(f"date -s @{now + 7200} >/dev/null")
    place.handshake_anew()
    place.clock("not behind")


@waiting
def test_stopped_by_its_host(lab):
    """As a virtual machine is: no clock of its own goes on, its peer's does. In the long form beyond the life of a session."""
    place, seconds = Place(lab), 200 if lab.long else 15
    place.guest.tell("stop")
    time.sleep(seconds)
    place.guest.tell("cont")
    place.check_flows(f"stopped for {seconds} s")


if __name__ == "__main__":
    sys.exit(case.main(globals()))
