# SPDX-License-Identifier: MIT
"""Medians, tables, and what machine the figures are from."""

import os
import pathlib
import platform
import re
import statistics
import subprocess


def output(*argv):
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = (done.stdout + done.stderr).strip().splitlines()
    return "; ".join(line.strip() for line in lines[:2]) or None


def read(path):
    try:
        return pathlib.Path(path).read_text().strip()
    except OSError:
        return None


def environment(engine):
    cpu = re.search(r"model name\s*:\s*(.*)", read("/proc/cpuinfo") or "")
    return {"kernel": platform.release(), "cpu": cpu[1] if cpu else platform.machine(), "cores": os.cpu_count(),
            "hypervisor": " hypervisor" in (read("/proc/cpuinfo") or ""),
            "load_at_start": os.getloadavg(), "congestion_control": read("/proc/sys/net/ipv4/tcp_congestion_control"),
            "available_congestion_control": read("/proc/sys/net/ipv4/tcp_available_congestion_control"),
            "rmem_max": read("/proc/sys/net/core/rmem_max"), "wmem_max": read("/proc/sys/net/core/wmem_max"),
            "wgtcp_engine": output(engine, "--version"), "iperf3": output("iperf3", "--version"),
            "wireguard_go": output("dpkg-query", "-W", "-f", "${Version}", "wireguard-go"),
            "openvpn": output("openvpn", "--version"), "nginx": output("nginx", "-v"), "h2load": output("h2load", "--version")}


def median(values):
    values = [v for v in values if v is not None]
    return statistics.median(values) if values else None


def show(value, digits=0):
    return "-" if value is None else f"{value:,.{digits}f}"


def spread(values, digits=0):
    """The median, and from where to where the runs went."""
    values = [v for v in values if v is not None]
    if not values:
        return "-"
    if len(values) == 1:
        return show(values[0], digits)
    return f"{show(median(values), digits)} ({show(min(values), digits)}..{show(max(values), digits)})"


def table(title, heads, rows):
    cells = [heads] + [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(heads))]
    print(f"\n{title}\n")
    for number, row in enumerate(cells):
        print("| " + " | ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths))) + " |")
        if number == 0:
            print("|" + "|".join("-" * (w + 2) for w in widths) + "|")
