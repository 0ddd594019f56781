# SPDX-License-Identifier: MIT
"""wgtcp-cli up on networks that treat UDP well, badly and not at all."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lib import case  # noqa: E402
from lib.case import main_path, waiting  # noqa: E402
from lib.lab import check  # noqa: E402
from lib.network import Site  # noqa: E402
from lib.tunnel import office  # noqa: E402


def forget(daemon):
    """What a network did before must not help: each run is the first."""
    daemon.program.stop()
    for path in daemon.state.rglob("*"):
        if path.is_file():
            path.unlink()
    daemon.start()


def connect(lab, rules, carrier, bound, udp=None, endpoint=None, runs=None, check_router=None):
    site = Site(lab)
    server, daemon, _, _ = office(site, endpoint=endpoint)
    for rule in rules:
        site.router.block(*rule)
    times = []
    for run in range(runs or (20 if lab.long else 5)):
        if run:
            forget(daemon)
        syn = site.router.count("syn_up")
        seconds, done = daemon.up("office", check_code=False)
        check(done.returncode == 0, f"run {run}: up ended with {done.returncode}: {done.stderr.strip()}")
        status = daemon.status("office")
        check(status["state"] == "up" and status["carrier"] == carrier,
              f"run {run}: {status['state']} over {status['carrier']}")
        if udp:
            check(status["udp"] == udp, f"run {run}: udp is {status['udp']}, not {udp}")
        result = site.client.tool("pinger.py", "10.77.0.1", "--count", "5", "--grace", "3").result()
        check(result["lost"] == 0, f"run {run}: {result['lost']} of 5 pings lost after up")
        check(daemon.status("office")["verified"] == "full", f"run {run}: verified {status['verified']}")
        if carrier == "udp":
            check(site.router.count("syn_up") == syn, f"run {run}: a SYN left although UDP answers")
        times.append(seconds)
        daemon.cli("down", "office")
    lab.figure(f"worst {max(times):.3f} s, best {min(times):.3f} s of {len(times)} (bound {bound} s)")
    check(max(times) <= lab.bound(bound), f"up took {max(times):.3f} s")


@main_path
def test_udp_open(lab):
    connect(lab, [], "udp", 0.5, udp="ok")


def test_udp_open_over_ipv6(lab):
    connect(lab, [], "udp", 0.5, udp="ok", endpoint="[2001:db8:2::2]:51820", runs=2)


@main_path
def test_udp_dropped(lab):
    connect(lab, [("meta l4proto udp", "both", "drop")], "tcp", 1.5)


def test_udp_dropped_over_ipv6(lab):
    connect(lab, [("meta l4proto udp", "both", "drop")], "tcp", 1.5, endpoint="[2001:db8:2::2]:51820", runs=2)


@main_path
def test_udp_rejected(lab):
    connect(lab, [("meta l4proto udp", "both", "reject")], "tcp", 0.7)


def test_udp_prohibited(lab):
    connect(lab, [("meta l4proto udp", "both", "prohibit")], "tcp", 0.7, runs=2)


def test_udp_way_back_dropped(lab):
    connect(lab, [("meta l4proto udp", "down", "drop")], "tcp", 3)


def test_udp_called_blocked(lab):
    """TCP authenticated and nothing by UDP within 3 s of the start: then, and not before it is known, it says so."""
    site = Site(lab)
    server, daemon, _, _ = office(site)
    site.router.block()
    daemon.up("office")
    status, seconds = daemon.wait_status("office", 10, udp="blocked", state="up", carrier="tcp")
    check(status["cause"] == "none", f"cause {status['cause']} of a tunnel that is up")
    text = daemon.cli("status", "office").stdout
    check("tcp" in text.lower(), f"status does not say TCP: {text}")


def test_blocked_network_is_remembered(lab):
    """The second time on a network that dropped UDP, TCP is dialled at once."""
    site = Site(lab)
    server, daemon, _, _ = office(site)
    site.router.block()
    first, _ = daemon.up("office")
    daemon.wait_status("office", 10, udp="blocked")
    daemon.cli("down", "office")
    second, _ = daemon.up("office")
    lab.figure(f"first {first:.3f} s, then {second:.3f} s")
    check(second < first, "not faster the second time")
    check(second <= lab.bound(0.5), f"second up took {second:.3f} s")


@main_path
def test_nothing_answers(lab):
    """Exit code 7, one sentence, and nothing left: no interface, no route, no process."""
    site = Site(lab)
    server, daemon, _, _ = office(site)
    site.router.block("meta nfproto { ipv4, ipv6 }")
    before = site.client.links(), site.client.routes()
    seconds, done = daemon.up("office", "--timeout", "8", check_code=False)
    check(done.returncode in (6, 7), f"exit code {done.returncode}: {done.stderr.strip()}")
    check(len(done.stderr.strip().splitlines()) == 1, f"not one sentence: {done.stderr}")
    check(seconds < 12, f"up took {seconds:.1f} s with --timeout 8")
    check((site.client.links(), site.client.routes()) == before, "an interface or a route was left behind")
    check(daemon.status("office")["state"] in ("down", "failed"), "still trying after the error")
    check("--inherited" not in site.client.run("ps", "-eo", "args").stdout, "an engine was left running")


@waiting
def test_no_answer_within_20_s(lab):
    """Without --timeout it gives up after 20 s and names the cause."""
    site = Site(lab)
    server, daemon, _, _ = office(site)
    site.router.block("meta nfproto { ipv4, ipv6 }")
    seconds, done = daemon.up("office", check_code=False)
    lab.figure(f"gave up after {seconds:.1f} s: {done.stderr.strip()}")
    check(done.returncode == 7, f"exit code {done.returncode} instead of 7")
    check(19 <= seconds <= 22, f"gave up after {seconds:.1f} s")


if __name__ == "__main__":
    sys.exit(case.main(globals()))
