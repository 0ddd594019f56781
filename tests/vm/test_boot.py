# SPDX-License-Identifier: MIT
"""The kill switch from the first moment of a machine on: a guest that boots, loses its power, boots again. Probes of an
ordinary user run from before its network is up; what of them reaches the wire is counted on the host's side."""

import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "netns")]
from guest import Guest  # noqa: E402
from guest.daemon import PROGRAMS  # noqa: E402
from lib import case  # noqa: E402
from lib.lab import check, wait_until  # noqa: E402
from lib.tunnel import PORT, Key, engine, interface_text, peer_text  # noqa: E402

NOBODY4, NOBODY6 = "203.0.113.7", "2001:db8:3::7"

# Before everything else, and before the host decides what to do with it.
GAUGE = f"""
table inet leaks {{
    counter any {{ }}
    chain seen {{
        type filter hook prerouting priority -310;
        iifname != "tap1" return
        ip daddr 10.98.1.1 th dport {PORT} return
        ip6 hoplimit 255 icmpv6 type {{ nd-router-solicit, nd-neighbor-solicit, nd-neighbor-advert }} return
        icmpv6 type {{ mld-listener-report, mld2-listener-report, mld-listener-done }} return
        counter name "any"
    }}
}}
"""

# As wgtcp-killswitch.service does it: the disk, the packet filter, then the wall; and only then a network. The probes
# are there already.
EARLY = f"""
mkdir -p /disk /etc /var/lib
load virtio_blk; load ext4
for module in nft_reject_inet nft_socket nft_ct tun; do load $module; done
mount -t ext4 /dev/vda /disk
ln -s /run /var/run; ln -s /disk/wgtcp /etc/wgtcp; ln -s /disk/state /var/lib/wgtcp
sysctl -qw net.ipv4.ping_group_range="0 2147483647"
(vm_probes {NOBODY4} {NOBODY6} >/tmp/probes.out 2>&1 & echo $! >/tmp/probes.pid)
wgtcpd --restore-killswitch >/tmp/restore.out 2>&1; echo "restore-ended-with $?"
"""
LATE = """
ip route add default via 10.98.1.1
ip route add default via 2001:db8:98:1::1
echo network-is-up $(cut -d' ' -f1 /proc/uptime)
"""


class Machine:
    def __init__(self, lab):
        self.lab, self.host = lab, lab.host("host")
        self.server_key, self.client_key = Key(), Key()
        self.disk = lab.logs / "disk"
        content = lab.logs / "content"
        (content / "wgtcp").mkdir(parents=True)
        (content / "state").mkdir()
        (content / "state").chmod(0o700)
        profile = content / "wgtcp/office.conf"
        profile.write_text(interface_text(
            self.client_key, extra="Address = 10.77.0.2/24, fd77::2/64\nBackend = userspace\nKillSwitch = on\n") + peer_text(
                self.server_key, "0.0.0.0/0, ::/0", f"10.98.1.1:{PORT}"))
        profile.chmod(0o600)
        subprocess.run(["mkfs.ext4", "-q", "-d", content, self.disk, "16M"], check=True)
        self.host.nft(GAUGE)
        self.guest = None

    def boot(self):
        lab = self.lab
        self.guest = Guest(self.host, programs=[lab.binary(name) for name in PROGRAMS] + [lab.binary("vm_probes")],
                           files={"/early": EARLY, "/late": LATE}, disk=self.disk)
        if not hasattr(self, "server"):
            self.server = engine(self.host, "wg-srv", ["10.77.0.1/24", "fd77::1/64"], interface_text(
                self.server_key, PORT) + peer_text(self.client_key, "10.77.0.2/32, fd77::2/128"))
        seconds = self.guest.ready()
        check("restore-ended-with 0" in self.guest.console(), "the early program failed")
        return seconds

    def start_daemon(self):
        self.guest.run("(wgtcpd --foreground >/tmp/wgtcpd.log 2>&1 & echo $! >/tmp/wgtcpd.pid)")

    def cli(self, line, check_code=True):
        return self.guest.run(f"wgtcp-cli {line}", check_code=check_code)

    def wait_up(self):
        def up():
            return '"state":"up"' in self.cli("status --json", check_code=False)[1].replace(" ", "")
        wait_until(up, "the tunnel to be up", 60, interval=0.2)
        self.guest.run("ping -c 3 -i 0.2 -W 5 -q 10.77.0.1 && ping -c 3 -i 0.2 -W 5 -q fd77::1")

    def leaks(self):
        return self.host.counter("leaks", "any")

    def probes(self):
        """How many this boot has tried; they end."""
        return int(re.search(r"tried (\d+)", self.guest.run(
            "kill $(cat /tmp/probes.pid); sleep 0.5; cat /tmp/probes.out")[1]).group(1))

    def more_leaks(self, wait_s=2):
        before = self.leaks()
        time.sleep(wait_s)
        return self.leaks() - before


def test_shut_from_boot_until_the_tunnel_stands(lab):
    """Power cut, boot, daemon killed, boot again: 0 probes on the wire from the early program on; and unlock without a
    daemon opens it for good."""
    machine, booted = Machine(lab), []

    booted.append(machine.boot())
    wait_until(lambda: machine.leaks() > 100, "probes to be seen while nothing is on (positive control)", 60)
    machine.start_daemon()
    wait_until(lambda: machine.cli("list", check_code=False)[0] == 0, "wgtcpd", 60)
    machine.cli("up office")
    machine.wait_up()
    check(machine.more_leaks() == 0, "probes are seen while the kill switch is on")
    machine.guest.cut_power()

    seen = machine.leaks()
    booted.append(machine.boot())
    time.sleep(5)
    check(machine.leaks() == seen, f"{machine.leaks() - seen} packets outside before the daemon came")
    machine.start_daemon()
    machine.wait_up()
    check(machine.leaks() == seen, f"{machine.leaks() - seen} packets outside")
    machine.guest.run("kill -9 $(cat /tmp/wgtcpd.pid)")
    check(machine.more_leaks() == 0, "outside after the daemon was killed")
    tried = machine.probes()
    machine.guest.cut_power()

    booted.append(machine.boot())
    time.sleep(2)
    check(machine.leaks() == seen, f"{machine.leaks() - seen} packets outside after the daemon was killed, and a boot")
    # Nobody is locked out: without a daemon, and whatever state anything is in.
    machine.cli("unlock")
    wait_until(lambda: machine.leaks() > seen, "probes to be seen after unlock", 20)
    machine.guest.run("sync; cat /tmp/restore.out")
    machine.probes()
    machine.guest.cut_power()

    booted.append(machine.boot())
    wait_until(lambda: machine.leaks() > seen + 100, "probes to be seen after unlock and a boot", 30)
    lab.figure(f"4 boots of {max(booted):.0f} s at most; {tried} probes while shut, 0 seen")


if __name__ == "__main__":
    sys.exit(case.main(globals()))
