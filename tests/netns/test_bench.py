# SPDX-License-Identifier: MIT
"""The benchmark: what it calls a meltdown, and that it runs, takes an interrupt and leaves nothing. No figure is judged."""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "bench"))
import meltdown  # noqa: E402
from lib import case  # noqa: E402
from lib.lab import check, wait_until  # noqa: E402

BENCH = pathlib.Path(__file__).parents[1] / "bench" / "run"


def test_what_a_meltdown_is(lab):
    """All three criteria together, and no two of them alone."""
    noise = random.Random(1)

    def bins(empty, fall):
        """600 of them, so many empty and evenly spread, the rest falling by so much of the mean over the run."""
        step = 1 / empty if empty else 1e9
        return [0 if i % step < 1 and empty else max(1, round(1e5 * (1 + fall * (0.5 - i / 600)) + noise.gauss(0, 1e4)))
                for i in range(600)]
    for empty, fall, timeouts, formal in ((0.25, 0.8, 32, True), (0.25, 0.8, 15, False), (0.1, 0.8, 32, False),
                                          (0.25, 0.05, 32, False), (0.25, -0.8, 32, False), (0, 0, 0, False)):
        told = meltdown.judge(bins(empty, fall), timeouts, 16, 60)
        check(told["formal_meltdown"] is formal, f"{empty} empty, falls by {fall}, {timeouts} timeouts: {told}")
        check(abs(told["empty_share"] - empty) < 0.02, f"{told}")
        check(abs(told["timeouts_per_flow_minute"] - timeouts / 16) < 0.01, f"{told}")
    change, t = meltdown.trend([100 - i / 10 + (i % 7) for i in range(600)])
    check(abs(change + 59.9 / 73) < 0.02 and t < -100, f"a fall of 82 % is called {change}, t {t}")


def bench(lab, *words):
    environment = {k: v for k, v in lab.environment().items() if k not in ("WGTCP_LAB", "WGTCP_BENCH_SCRATCH")}
    environment["TMPDIR"] = str(lab.logs)
    return subprocess.Popen([sys.executable, BENCH, "--bin", lab.binaries, "--quick", "--json", lab.logs / "figures.json",
                             "--subjects", "^(no tunnel|wgtcp udp)$", *words], env=environment, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)


def leftovers(lab):
    return [p.name for p in lab.logs.iterdir() if p.name.startswith("wgtcp-bench.")]


def test_runs(lab):
    program = bench(lab, "--seconds", "1", "--streams", "1", "--only", "clean", "--only", "flows/wgtcp")
    said = program.communicate(timeout=300)[0]
    check(program.returncode == 0, f"ended with {program.returncode}: {said[-300:]}")
    runs = json.loads((lab.logs / "figures.json").read_text())["runs"]
    problems = [run["problem"] for run in runs if "problem" in run]
    check(not problems, f"{problems}")
    check([(run["table"], run["subject"]) for run in runs] == [("clean", "no tunnel"), ("clean", "wgtcp udp"),
                                                               ("flows", "wgtcp udp")], f"other rows ran: {said[-300:]}")
    check(all(run["figures"]["iperf 1 up"]["mbit"] > 0 for run in runs[:2]), "nothing was carried")
    check("| wgtcp udp " in said, "no table was printed")
    check(not leftovers(lab), f"left behind: {leftovers(lab)}")


def test_interrupted(lab):
    for number in signal.SIGINT, signal.SIGTERM:
        program = bench(lab, "--seconds", "60", "--only", "clean/wgtcp")
        # The supervisor, unshare, the one inside, and then what it has started.
        path = pathlib.Path(f"/proc/{program.pid}/task/{program.pid}/children")
        wait_until(lambda: path.read_text().split(), "a child", timeout=60)
        outer = path.read_text().split()[0]
        inner_path = pathlib.Path(f"/proc/{outer}/task/{outer}/children")
        wait_until(lambda: inner_path.read_text().split(), "the one inside", timeout=60)
        inner = inner_path.read_text().split()[0]
        wait_until(lambda: len(pathlib.Path(f"/proc/{inner}/task/{inner}/children").read_text().split()) > 2, "its hosts",
                   timeout=60)
        os.kill(program.pid, number)
        said = program.communicate(timeout=60)[0]
        check(program.returncode == 128 + number, f"ended with {program.returncode}: {said[-200:]}")
        check((lab.logs / "figures.json").exists(), "the raw figures were not written")
        check(not pathlib.Path(f"/proc/{inner}").exists(), "it goes on")
        check(not leftovers(lab), f"left behind: {leftovers(lab)}")
        (lab.logs / "figures.json").unlink()


if __name__ == "__main__":
    sys.exit(case.main(globals()))
