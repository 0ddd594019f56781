# SPDX-License-Identifier: MIT
"""What an interactive packet waits beside a bulk load."""

import json
import re
import statistics

import measures
from lib.lab import Failure, wait_until


def times_of(text):
    return [float(word) for word in re.findall(r"time=([\d.]+) ms", text)]


def ping_beside_bulk(client, server, joined, seconds, streams=4, congestion="cubic"):
    """{base_ms, p50_ms, p95_ms, lost, mbit}: ping each 50 ms, alone, and during the second part of a bulk run."""
    warm = 4
    alone = times_of(client.run("ping", "-c", "20", "-i", "0.1", joined.server).stdout)
    listener = server.start("iperf3", "-s", "-1", "-B", joined.server, "-p", measures.PORT, name="iperf3-server")
    wait_until(lambda: f":{measures.PORT} " in server.run("ss", "-tnlH").stdout, "iperf3's server", interval=0.05)
    bulk = client.start("iperf3", "-c", joined.server, "-p", measures.PORT, "-t", seconds, "-O", warm, "-P", streams, "-J",
                        "-C", congestion, name="bulk")
    count = seconds * 20
    # The load has filled what it can fill when the pings start.
    client.run("sleep", warm)
    done = client.run("ping", "-c", count, "-i", "0.05", "-W", "2", joined.server, check_code=False, timeout=seconds + 30)
    times = sorted(times_of(done.stdout))
    bulk.wait(seconds + 30)
    listener.stop()
    if not times or not alone:
        raise Failure(f"ping: {done.stdout[-200:]}")
    try:
        mbit = json.loads(bulk.out.read_text())["end"]["sum_received"]["bits_per_second"] / 1e6
    except (ValueError, KeyError):
        raise Failure(f"iperf3: {bulk.out.read_text()[-300:]}") from None
    return {"base_ms": statistics.median(alone), "p50_ms": statistics.median(times),
            "p95_ms": times[min(len(times) * 95 // 100, len(times) - 1)], "lost": count - len(times), "mbit": round(mbit, 1)}
