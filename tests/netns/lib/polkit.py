# SPDX-License-Identifier: MIT
"""polkitd itself on a host of the lab, with our policy, and a person called curious whom a rule may allow something."""

import pathlib

from lib import machine
from lib.lab import wait_until

CURIOUS, GROUP = 40001, 40100
RULE = """polkit.addRule(function(action, subject) {
    if (action.id == "%s" && subject.user == "curious") return polkit.Result.YES;
});
"""


def make_group(host):
    """The group wgtcp, on a host with an /etc of its own."""
    host.run("sh", "-c", f"sed -i '/^wgtcp:/d' /etc/group && echo 'wgtcp:x:{GROUP}:' >>/etc/group")


def start(host):
    policy = pathlib.Path(__file__).resolve().parents[3] / "packaging/polkit/org.wgtcp.policy"
    host.run("sh", "-c", "mkdir /run/usr /run/usr.work && mount -t overlay overlay"
             " -o lowerdir=/usr,upperdir=/run/usr,workdir=/run/usr.work /usr && mkdir -p /usr/share/polkit-1/actions")
    host.run("sh", "-c", "cat >/usr/share/polkit-1/actions/org.wgtcp.policy", input=policy.read_text())
    host.run("sh", "-c", f"echo 'curious:x:{CURIOUS}:{CURIOUS}::/:/bin/sh' >>/etc/passwd && rm -f /etc/polkit-1/rules.d/*")
    machine.start_bus(host)
    program = host.start("/usr/lib/polkit-1/polkitd", "--no-debug", env={"DBUS_SYSTEM_BUS_ADDRESS": machine.BUS}, name="polkitd")
    wait_until(lambda: machine.is_on_bus(host, "org.freedesktop.PolicyKit1"), "polkit on the bus")
    return program


def allow(host, action):
    """polkitd reads it by itself, soon."""
    host.run("sh", "-c", "cat >/etc/polkit-1/rules.d/10-test.rules && chmod 644 /etc/polkit-1/rules.d/10-test.rules",
             input=RULE % action)
