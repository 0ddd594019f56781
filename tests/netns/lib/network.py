# SPDX-License-Identifier: MIT
"""The usual place of a test: client - router - server, with the firewall on the router.

Rules stand on the router so that neither end gets an error from its own kernel that a real network would not give.
"""

CLIENT4, SERVER4 = "192.0.2.2", "198.51.100.2"
CLIENT6, SERVER6 = "2001:db8:1::2", "2001:db8:2::2"

GAUGE = """
table inet gauge {
    counter udp_up { }
    counter udp_down { }
    counter tcp_up { }
    counter tcp_down { }
    counter syn_up { }
    counter syn_down { }
    chain seen {
        type filter hook prerouting priority -300;
        iifname "c0" meta l4proto udp counter name "udp_up"
        iifname "s0" meta l4proto udp counter name "udp_down"
        iifname "c0" meta l4proto tcp counter name "tcp_up"
        iifname "s0" meta l4proto tcp counter name "tcp_down"
        iifname "c0" tcp flags & (syn | ack) == syn counter name "syn_up"
        iifname "s0" tcp flags & (syn | ack) == syn counter name "syn_down"
    }
}
table inet block {
    counter blocked { }
    chain forward {
        type filter hook forward priority 0;
    }
}
"""

WAYS = {"up": 'iifname "c0" ', "down": 'iifname "s0" ', "both": ""}
HOWS = {"drop": "drop", "reject": "reject with icmpx port-unreachable",
        "prohibit": "reject with icmpx admin-prohibited", "reset": "reject with tcp reset"}


class Router:
    def __init__(self, host):
        self.host = host
        host.run("sysctl", "-qw", "net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1")
        host.nft(GAUGE)

    def count(self, name):
        return self.host.counter("gauge", name)

    def block(self, what="meta l4proto udp", way="both", how="drop"):
        """Adds a rule; what is an nftables match."""
        self.host.run("nft", "add", "rule", "inet", "block", "forward",
                      f'{WAYS[way]}{what} counter name "blocked" {HOWS[how]}')

    def open(self):
        self.host.run("nft", "flush", "chain", "inet", "block", "forward")

    def blocked(self):
        return self.host.counter("block", "blocked")


class Site:
    """single: no offloaded bursts on the wires, so that a rule on length sees what a real router would see."""

    def __init__(self, lab, single=False):
        self.lab = lab
        self.client, router, self.server = lab.host("client"), lab.host("router"), lab.host("server")
        lab.wire(self.client, "eth0", router, "c0")
        lab.wire(self.server, "eth0", router, "s0")
        for host, name, v4, v6 in ((router, "c0", "192.0.2.1", "2001:db8:1::1"),
                                   (router, "s0", "198.51.100.1", "2001:db8:2::1"),
                                   (self.client, "eth0", CLIENT4, CLIENT6), (self.server, "eth0", SERVER4, SERVER6)):
            host.run("ip", "address", "add", f"{v4}/24", "dev", name)
            host.run("ip", "address", "add", f"{v6}/64", "dev", name, "nodad")
            if single:
                host.run("ip", "link", "set", name, "gso_max_segs", "1")
        for host, v4, v6 in ((self.client, "192.0.2.1", "2001:db8:1::1"),
                             (self.server, "198.51.100.1", "2001:db8:2::1")):
            host.run("ip", "route", "add", "default", "via", v4)
            host.run("ip", "route", "add", "default", "via", v6)
        self.router = Router(router)
        # Neighbours are known before anything is measured.
        for target in SERVER4, SERVER6:
            self.client.tool("pinger.py", target, "--count", "1", "--grace", "5").result()
