# SPDX-License-Identifier: MIT
"""The tables: what is measured on which wire, and how it is printed. Each is a function of a Bench (see run)."""

import json
import time

import beside
import measures
import meltdown as trial
import report
import subjects
import web as pages
from lib import emulator
from lib.tunnel import Key


def veth(lab, client, server):
    lab.wire(client, "bench-c", server, "bench-s")
    for host, device, address in (client, "bench-c", subjects.CLIENT), (server, "bench-s", subjects.SERVER):
        host.run("ip", "address", "add", f"{address}/24", "dev", device)


def emulated(round_trip_ms, seed, *words):
    def wire(lab, client, server):
        emulator.join(lab, client, "bench-c", server, "bench-s", f"delay={round_trip_ms / 2}ms", *words, seed=seed)
        for host, device, address in (client, "bench-c", subjects.CLIENT), (server, "bench-s", subjects.SERVER):
            host.run("ip", "address", "add", f"{address}/24", "dev", device)
            host.run("ip", "link", "set", device, "mtu", "1500", "up")
    return wire


def clean(bench):
    args = bench.args
    streams = [int(word) for word in args.streams.split(",")]

    def measure_with(inner):
        def measure(client, server, joined):
            figures = {"ping": measures.ping(client, joined)}
            for count in streams:
                for reverse in False, True:
                    figures[f"iperf {count} {'down' if reverse else 'up'}"] = measures.iperf(
                        client, server, joined, args.seconds, count, reverse, inner)
            for size in 64, 512:
                figures[f"packets {size}"] = measures.packets(client, server, joined, size, min(args.seconds, 5))
            figures["memory"] = {"mib": measures.resident_mib(joined)}
            return figures
        return measure

    inners = args.inner.split(",")
    for round_number in range(args.rounds):
        for inner in inners:
            for name, join in bench.chosen("clean").items():
                found = inner == "found"
                bench.in_lab("clean", name, round_number, join, measure_with(None if found else inner), veth,
                             "found" if found else "cubic", inner=inner)

    def row(name, inner):
        def of(measure, key):
            return bench.values("clean", name, measure, key, inner=inner)
        first = f"iperf {streams[0]} up"
        return [name, *(report.show(report.median(of(f"iperf {n} {way}", "mbit")))
                        for n in streams for way in ("up", "down")),
                report.show(report.median(of("ping", "avg_ms")), 3), report.show(report.median(of(first, "cpu_pct"))),
                report.show(report.median(of(first, "cpu_s_per_gb")), 2),
                report.show(report.median(of(first, "engine_s_per_gb")), 2),
                report.show(report.median(of("packets 64", "kpps"))),
                report.show(report.median(of("packets 512", "kpps"))),
                report.show(report.median(of("memory", "mib")), 1)]
    for inner in inners:
        default = bench.raw["environment"]["congestion_control"] if inner == "found" else bench.defaults.get("cubic")
        report.table(f"Clean path, Mb/s by iperf3, inner {inner} (the namespaces' default: {default}), medians of "
                     f"{args.rounds} rounds of {args.seconds} s",
                     ["", *(f"{n} {way}" for n in streams for way in ("up", "down")), "ping ms", "cpu_pct", "cpu-s/GB",
                      "tunnel cpu-s/GB", "64 B kpps", "512 B kpps", "RSS MiB"],
                     [row(name, inner) for name in bench.chosen("clean")])
        report.table("The same, 1 stream up and 64-byte packets: medians and spread",
                     ["", "Mb/s", "cpu-s/GB", "64 B kpps", "ping ms"],
                     [[name, *(report.spread(bench.values("clean", name, measure, key, inner=inner), digits)
                               for measure, key, digits in ((f"iperf {streams[0]} up", "mbit", 0),
                                                            (f"iperf {streams[0]} up", "cpu_s_per_gb", 2),
                                                            ("packets 64", "kpps", 0), ("ping", "avg_ms", 3)))]
                      for name in bench.chosen("clean")])


def flows(bench):
    def measure(client, server, joined):
        return {"packets": measures.packets(client, server, joined, 500, min(bench.args.seconds, 5), 5000)}
    for round_number in range(bench.args.rounds):
        for name, join in bench.chosen("flows").items():
            bench.in_lab("flows", name, round_number, join, measure, veth, "found")
    report.table("UDP, 500 bytes, 5,000 flows", ["", "kpps", "Mb/s of payload"],
                 [[name, report.spread(bench.values("flows", name, "packets", "kpps")),
                   report.spread(bench.values("flows", name, "packets", "mbit"))] for name in bench.chosen("flows")])


def matrix(bench):
    args = bench.args
    delays, losses = ([float(word) for word in words.split(",")] for words in (args.delays, args.losses))
    outer = bench.outer()
    cells = [(delay, loss) for delay in delays for loss in losses]
    for round_number in range(args.rounds):
        for delay, loss in cells:
            for name, join in bench.chosen("matrix").items():
                # A tunnel of its own for each: what the carrier learned with the first would warm the second.
                for inner in "cubic", "bbr":
                    def measure(client, server, joined):
                        return {inner: measures.iperf(client, server, joined, args.seconds, 4, congestion=inner)}
                    bench.in_lab("matrix", name, round_number, join, measure,
                                 emulated(delay, round_number + 1, f"loss={loss}%"), outer, delay=delay, loss=loss)
    for inner in "cubic", "bbr":
        report.table(f"4 streams, inner {inner.upper()}, carriers with {outer}: Mb/s, medians of {args.rounds}",
                     ["", *(f"{delay:g} ms {loss:g} %" for delay, loss in cells)],
                     [[name, *(report.show(report.median(bench.values("matrix", name, inner, "mbit", delay=delay,
                                                                      loss=loss))) for delay, loss in cells)]
                      for name in bench.chosen("matrix")])


def handshakes(bench):
    lab = bench.lab("handshakes")
    host = lab.host("host")
    for round_number in range(bench.args.rounds):
        done = host.run(lab.binary("wgtcp-bench-handshakes"), 5000, timeout=120)
        bench.note("handshakes", "wgtcp", round_number, {"handshakes": json.loads(done.stdout)})
    lab.close()
    report.table("Handshakes a second on one core", ["", "answered", "initiated"],
                 [["wgtcp", *(report.spread(bench.values("handshakes", "wgtcp", "handshakes", key))
                              for key in ("answered_per_s", "initiated_per_s"))]])


def idle(bench):
    args = bench.args
    wait = 30 if args.quick else 100
    names = [name for name in bench.chosen("idle") if name != "no tunnel" and not name.startswith("openvpn")]

    def measure(client, server, joined):
        client.run("sh", "-c", "wg set wg-bench peer $(wg show wg-bench peers) persistent-keepalive 25")
        time.sleep(15)  # what the first packets owe is over
        figures = {"idle": {"wakeups": measures.wakeups(joined, wait), "mib": measures.resident_mib(joined)}}
        text = "".join(f"[Peer]\nPublicKey = {Key().public}\nAllowedIPs = 10.{100 + i // 250}.{i % 250}.0/24\n"
                       for i in range(999))
        path = client.lab.logs / "peers.conf"
        path.write_text(text)
        server.run("wg", "addconf", "wg-bench", path, timeout=60)
        figures["idle"]["mib_1000"] = measures.resident_mib(joined)
        return figures
    for name in names:
        bench.in_lab("idle", name, 0, bench.subjects[name], measure, veth, "found")
    report.table("Idle, keepalive 25", ["", "wake-ups a second", "RSS MiB, 1 peer", "RSS MiB, 1,000 peers"],
                 [[name, *(report.spread(bench.values("idle", name, "idle", key), digits)
                           for key, digits in (("wakeups", 2), ("mib", 1), ("mib_1000", 1)))] for name in names])


def web(bench):
    args = bench.args
    wires = {"veth": lambda seed: veth, "56 ms": lambda seed: emulated(56, seed),
             "56 ms 0.5 %": lambda seed: emulated(56, seed, "loss=0.5%")}

    def measure_on(wire):
        def measure(client, server, joined):
            server_program = pages.start_server(server, joined)
            fresh, requests = (200, 20000) if wire == "veth" else (50 if args.quick else 200, 2000)
            figures = {"fresh": pages.fresh_connections(client, joined, fresh), "mix": pages.mix(client, joined, requests)}
            server_program.stop()
            return figures
        return measure
    for round_number in range(args.rounds):
        for wire, make in wires.items():
            for name, join in bench.chosen("web").items():
                bench.in_lab("web", name, round_number, join, measure_on(wire), make(round_number + 1),
                             "cubic" if wire == "veth" else bench.outer(), path=wire)

    def show(name, wire, measure, key, digits=0):
        return report.show(report.median(bench.values("web", name, measure, key, path=wire)), digits)
    for wire in wires:
        report.table(f"Web on {wire}: fresh TLS 1.3 connections in a row; HTTP/2, 50 connections x 10 streams",
                     ["", "connection ms", "p95 ms", "connections/s", "requests/s", "Mb/s", "mean ms", "failed"],
                     [[name, show(name, wire, "fresh", "median_ms", 2), show(name, wire, "fresh", "p95_ms", 2),
                       show(name, wire, "fresh", "per_s"), show(name, wire, "mix", "requests_per_s"),
                       show(name, wire, "mix", "mbit"), show(name, wire, "mix", "mean_ms", 1),
                       show(name, wire, "mix", "failed")] for name in bench.chosen("web")])


def interactive(bench):
    args = bench.args
    for round_number in range(args.rounds):
        for name, join in bench.chosen("interactive").items():
            def measure(client, server, joined):
                return {"ping": beside.ping_beside_bulk(client, server, joined, args.seconds)}
            bench.in_lab("interactive", name, round_number, join, measure,
                         emulated(56, round_number + 1, "rate=50mbit", "queue=1bdp"), bench.outer())
    report.table("Ping beside 4 streams of inner CUBIC: 56 ms, 50 Mb/s, a queue of one bandwidth-delay product",
                 ["", "alone ms", "p50 ms", "p95 ms", "lost", "bulk Mb/s"],
                 [[name, *(report.spread(bench.values("interactive", name, "ping", key), digits)
                           for key, digits in (("base_ms", 1), ("p50_ms", 1), ("p95_ms", 1), ("lost", 0),
                                               ("mbit", 1)))] for name in bench.chosen("interactive")])


def meltdown(bench):
    args = bench.args
    delays, seconds, omit = ((200,), 15, 3) if args.quick else ((200, 400), 60, 5)
    cells = [(delay, condition) for delay in delays for condition in trial.CONDITIONS]
    for round_number in range(args.rounds):
        for delay, condition in cells:
            for name, join in bench.chosen("meltdown").items():
                def measure(client, server, joined):
                    return {"trial": trial.run(client, server, joined, seconds, omit)}
                bench.in_lab("meltdown", name, round_number, join, measure,
                             emulated(delay, round_number + 1, "rate=50mbit", "queue=1bdp", *trial.CONDITIONS[condition]),
                             bench.outer(), delay=delay, condition=condition)

    def row(name, delay, condition):
        def of(key):
            return bench.values("meltdown", name, "trial", key, delay=delay, condition=condition)
        verdicts = of("formal_meltdown")
        return [name, report.spread(of("mbit"), 1), *(report.show(report.median([100 * v for v in of(key)]), 1)
                                                      for key in ("empty_share", "trend")),
                report.show(report.median(of("trend_t")), 1), report.show(report.median(of("timeouts_per_flow_minute")), 1),
                report.show(report.median(of("longest_stall_ms"))), f"{sum(verdicts)} of {len(verdicts)}"]
    for delay, condition in cells:
        report.table(f"Meltdown trial, {delay} ms, {condition}: 50 Mb/s, 16 inner CUBIC flows, {seconds} s after {omit} s",
                     ["", "Mb/s", "empty bins %", "trend %", "t", "RTO/flow/min", "longest stall ms", "formal meltdown"],
                     [row(name, delay, condition) for name in bench.chosen("meltdown")])


TABLES = {"clean": clean, "flows": flows, "matrix": matrix, "handshakes": handshakes, "idle": idle, "web": web,
          "interactive": interactive, "meltdown": meltdown}
