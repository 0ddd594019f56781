# SPDX-License-Identifier: MIT
"""One figure each: rates by iperf3, the machine's work meanwhile, ping, packets a second, memory, wake-ups."""

import json
import os
import pathlib
import re
import time

from lib.lab import Failure, wait_until

PORT = 5201
TICKS = os.sysconf("SC_CLK_TCK")


def machine_busy():
    """Seconds that all cores together have worked since the start, and how many cores there are."""
    with open("/proc/stat") as stat:
        lines = stat.read().splitlines()
    user, nice, system, _, _, irq, softirq, steal = (int(word) for word in lines[0].split()[1:9])
    cores = sum(1 for line in lines if re.match(r"cpu\d", line))
    return (user + nice + system + irq + softirq + steal) / TICKS, cores


def processes_busy(pids):
    total = 0
    for pid in pids:
        try:
            words = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        total += int(words[11]) + int(words[12])
    return total / TICKS


def iperf(client, server, joined, seconds, streams=1, reverse=False, congestion=None):
    """{mbit, retransmits, cpu_pct, cpu_s_per_gb, engine_s_per_gb}: one iperf3 run, its first second left out of the
    rate. The work is of the whole machine over the whole run, for all the bytes that arrived."""
    listener = server.start("iperf3", "-s", "-1", "-B", joined.server, "-p", PORT, name="iperf3-server")
    wait_until(lambda: f":{PORT} " in server.run("ss", "-tnlH").stdout, "iperf3's server", interval=0.05)
    words = ["-c", joined.server, "-p", PORT, "-t", seconds, "-O", 1, "-P", streams, "-J"]
    words += ["-R"] if reverse else []
    words += ["-C", congestion] if congestion else []
    pids = joined.processes()
    busy, cores = machine_busy()
    engine, start = processes_busy(pids), time.monotonic()
    done = client.run("iperf3", *words, check_code=False, timeout=seconds + 60)
    elapsed = time.monotonic() - start
    busy, engine = machine_busy()[0] - busy, processes_busy(pids) - engine
    listener.stop()
    try:
        told = json.loads(done.stdout)
        end = told["end"]
        mbit = end["sum_received"]["bits_per_second"] / 1e6
    except (ValueError, KeyError):
        raise Failure(f"iperf3: {done.stdout[-300:]} {done.stderr[-300:]}") from None
    carried = mbit * 1e6 / 8 * (seconds + 1) / 1e9
    return {"mbit": round(mbit, 1), "retransmits": end.get("sum_sent", {}).get("retransmits"),
            "cpu_pct": round(100 * busy / elapsed / cores, 1),
            "cpu_s_per_gb": round(busy / carried, 3) if carried else None,
            "engine_s_per_gb": round(engine / carried, 3) if carried else None}


def ping(client, joined, count=30, interval=0.2):
    """{avg_ms, min_ms, max_ms, lost}"""
    done = client.run("ping", "-c", count, "-i", interval, joined.server, check_code=False)
    times = re.search(r"= ([\d.]+)/([\d.]+)/([\d.]+)/", done.stdout)
    counts = re.search(r"(\d+) packets transmitted, (\d+) received", done.stdout)
    if not times or not counts:
        raise Failure(f"ping: {done.stdout[-200:]}")
    return {"min_ms": float(times[1]), "avg_ms": float(times[2]), "max_ms": float(times[3]),
            "lost": int(counts[1]) - int(counts[2])}


def packets(client, server, joined, size, seconds, flows=1):
    """{kpps, mbit}: what arrives of UDP packets of so many bytes sent as fast as the kernel takes them."""
    tool = server.lab.binary("wgtcp-bench-packets")
    counter = server.start(tool, "count", joined.server, PORT, name="count")
    counter.wait_for_text("ready")
    done = client.run(tool, "send", joined.client, joined.server, PORT, size, flows, seconds, timeout=seconds + 30)
    counter.wait(30)
    told = json.loads(counter.out.read_text().splitlines()[-1])
    return {"kpps": told["kpps"], "sent": json.loads(done.stdout)["sent"],
            "mbit": round(told["payload_bytes"] * 8 / told["seconds"] / 1e6, 1) if told["seconds"] else 0}


def status(pid, key):
    found = re.search(rf"^{key}:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M)
    return int(found[1]) if found else 0


def resident_mib(joined):
    """Of the largest process on one side: that which moves the packets."""
    return round(max((status(pid, "VmRSS") for pid in joined.processes()), default=0) / 1024, 1)


def wakeups(joined, seconds):
    """Wake-ups a second of each process while nothing is sent; the busiest one's."""
    def counts():
        return {pid: status(pid, "voluntary_ctxt_switches") for pid in joined.processes()}
    before = counts()
    time.sleep(seconds)
    after = counts()
    return round(max((after[pid] - count for pid, count in before.items()), default=0) / seconds, 3)
