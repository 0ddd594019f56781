# SPDX-License-Identifier: MIT
"""What the network between client and server sees of the client, and what a machine looks like."""

import difflib
import json
import re

from lib.lab import Failure

PORT = 51820

# Before everything else on the router, so that nothing is missed. What the client may send: the tunnel's own packets,
# and, by IPv6, what keeps a link alive.
GAUGE = """
table inet leaks {
    counter by_tcp { }
    counter by_udp { }
    counter by_icmp { }
    counter by_dns { }
    counter by_v6 { }
    counter any { }
    chain other {
        meta nfproto ipv6 counter name "by_v6"
        counter name "any"
        th dport 53 counter name "by_dns" return
        meta l4proto tcp counter name "by_tcp" return
        meta l4proto udp counter name "by_udp" return
        meta l4proto { icmp, icmpv6 } counter name "by_icmp"
    }
    chain seen {
        type filter hook prerouting priority -310;
        iifname != "c0" return
        ip daddr { 198.51.100.2, 198.51.100.3 } th dport 51820 return
        ip6 daddr 2001:db8:2::2 th dport 51820 return
        ip6 hoplimit 255 icmpv6 type { nd-router-solicit, nd-neighbor-solicit, nd-neighbor-advert } return
        icmpv6 type { mld-listener-report, mld2-listener-report, mld-listener-done } return
        jump other
    }
}
"""


class Underlay:
    def __init__(self, site):
        self.host = site.router.host
        self.host.nft(GAUGE)
        # Where the probes go, so that the router has a reason to take them.
        for address in "203.0.113.1/24", "2001:db8:3::1/64":
            self.host.run("ip", "address", "add", address, "dev", "lo")
        # An ordinary user may ping.
        site.client.run("sysctl", "-qw", "net.ipv4.ping_group_range=0 2147483647")

    def leaks(self):
        """Packets of the client seen outside the tunnel, by kind."""
        text = self.host.run("nft", "-j", "list", "counters", "table", "inet", "leaks").stdout
        return {o["counter"]["name"]: o["counter"]["packets"] for o in json.loads(text)["nftables"] if "counter" in o}


def look_of(host):
    """Everything of a machine's network that `down` must leave as `up` found it, as one text."""
    parts = []
    for command in (["ip", "rule"], ["ip", "-6", "rule"], ["ip", "route", "show", "table", "all"],
                    ["ip", "-6", "route", "show", "table", "all"], ["ip", "-br", "address"], ["ip", "-br", "link"]):
        parts.append(f"$ {' '.join(command)}\n{host.run(*command).stdout}")
    # In the order of their names, not of their making, and without what they counted.
    rules = re.sub(r"packets \d+ bytes \d+", "", host.run("nft", "list", "ruleset").stdout)
    parts += sorted(re.split("^(?=table )", rules, flags=re.M))
    sysctls = host.run("sysctl", "-a", "-r", r"^net\.ipv[46]\.(conf|ip_forward|neigh|route|icmp|tcp_|fwmark)").stdout
    parts.append(sysctls)
    return "\n".join(parts)


def check_look(host, before, when):
    """Fails with the lines that differ."""
    now = look_of(host)
    if now != before:
        lines = [line for line in difflib.unified_diff(before.splitlines(), now.splitlines(), lineterm="", n=0)
                 if not line.startswith(("---", "+++", "@@"))]
        raise Failure(f"{when}, not everything is as it was: {lines[:12]}")
