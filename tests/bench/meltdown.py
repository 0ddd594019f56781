# SPDX-License-Identifier: MIT
"""The meltdown trial: many inner connections through one slow, lossy wire, and whether they starve each other.

A formal meltdown is all three of: at least 20 % of the receiver's 100 ms bins without a byte; a linear trend over the run
of -20 % or worse with t <= -2; at least one inner retransmission timeout for each flow and minute.
"""

import json
import math
import time

from lib.lab import Failure, wait_until

PORT = 5201
FLOWS = 16
CONDITIONS = {"clean": (), "random 7.5 %": ("loss=7.5%",), "bursts 4.42 %": ("ge=1%,25%,90%,1%",)}
EMPTY_SHARE, TREND, TREND_T, TIMEOUTS = 0.20, -0.20, -2.0, 1.0


def trend(values):
    """The change over the run as a share of the mean, by least squares, and the slope's t."""
    n, mean = len(values), sum(values) / len(values)
    middle = (n - 1) / 2
    spread = sum((i - middle) ** 2 for i in range(n))
    if n < 3 or mean <= 0:
        return 0.0, 0.0
    slope = sum((i - middle) * (v - mean) for i, v in enumerate(values)) / spread
    rest = sum((v - mean - slope * (i - middle)) ** 2 for i, v in enumerate(values))
    error = math.sqrt(rest / (n - 2) / spread)
    return slope * (n - 1) / mean, slope / error if error else 0.0


def judge(bins, timeouts, flows, seconds):
    empty = sum(not b for b in bins) / len(bins)
    change, t = trend(bins)
    rate = timeouts / flows / (seconds / 60)
    return {"empty_share": round(empty, 4), "trend": round(change, 4), "trend_t": round(t, 2),
            "timeouts_per_flow_minute": round(rate, 3),
            "formal_meltdown": empty >= EMPTY_SHARE and change <= TREND and t <= TREND_T and rate >= TIMEOUTS}


def longest_stall(bins):
    longest = now = 0
    for b in bins:
        now = 0 if b else now + 1
        longest = max(longest, now)
    return longest


def counters(host):
    """What all TCP connections of a namespace have counted, {name: value}."""
    lines = host.run("cat", "/proc/net/netstat").stdout.splitlines()
    told = {}
    for names, values in zip(lines[::2], lines[1::2]):
        told.update(zip(names.split()[1:], map(int, values.split()[1:])))
    return told


def inner_host(client, joined):
    """A host behind the client. Its TCP counters are those of the inner connections alone; what the tunnel's own
    connection counts stays in the client's. The client translates its address, so that the server needs no route."""
    inner = client.lab.host("inner")
    inner.lab.wire(client, "bench-i", inner, "eth0")
    client.run("ip", "address", "add", "198.51.100.1/24", "dev", "bench-i")
    inner.run("ip", "address", "add", "198.51.100.2/24", "dev", "eth0")
    inner.run("ip", "route", "add", "default", "via", "198.51.100.1")
    client.run("sysctl", "-qw", "net.ipv4.ip_forward=1")
    client.nft("table ip bench { chain out { type nat hook postrouting priority 100;"
               " ip saddr 198.51.100.0/24 masquerade; }\n"
               # The inner connections learn the tunnel's size as they start, as behind any router.
               " chain forward { type filter hook forward priority 0;"
               " tcp flags syn tcp option maxseg size set rt mtu; }\n}\n")
    return inner


def run(client, server, joined, seconds, omit, congestion="cubic"):
    """{mbit, empty_share, trend, trend_t, timeouts_per_flow_minute, formal_meltdown, longest_stall_ms, bins}"""
    inner = inner_host(client, joined)
    listener = server.start("iperf3", "-s", "-1", "-J", "-i", "0.1", "-B", joined.server, "-p", PORT, name="iperf3-server")
    wait_until(lambda: f":{PORT} " in server.run("ss", "-tnlH").stdout, "iperf3's server", interval=0.05)
    done = inner.start("iperf3", "-c", joined.server, "-p", PORT, "-t", seconds, "-O", omit, "-P", FLOWS, "-C", congestion,
                       "-i", "0.1", "-J", name="iperf3-client")
    # The run proper begins when all flows stand and the omitted seconds are over.
    wait_until(lambda: len(inner.run("ss", "-tnH", "state", "established", "dport", f"= :{PORT}").stdout.splitlines())
               > FLOWS, "all flows", timeout=60, interval=0.1)
    time.sleep(omit)
    before = counters(inner)
    time.sleep(seconds)
    after = counters(inner)
    done.wait(120)
    listener.wait(120)
    try:
        told = json.loads(listener.out.read_text())
        bins = [i["sum"]["bytes"] for i in told["intervals"] if not i["sum"]["omitted"]]
    except (ValueError, KeyError) as why:
        raise Failure(f"iperf3: {why}: {listener.out.read_text()[-200:]} {done.out.read_text()[-200:]}") from None
    # An interval shorter than the others ends the run.
    bins = bins[:seconds * 10]
    if len(bins) < seconds * 5:
        raise Failure(f"iperf3's server told of {len(bins)} intervals only")
    timeouts = after["TCPTimeouts"] - before["TCPTimeouts"]
    return {"mbit": round(sum(bins) * 8 / (len(bins) / 10) / 1e6, 2), "timeouts": timeouts,
            "longest_stall_ms": longest_stall(bins) * 100, **judge(bins, timeouts, FLOWS, seconds), "bins": bins}
