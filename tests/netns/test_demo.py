# SPDX-License-Identifier: MIT
"""packaging/demo holds what it promises, and takes everything away when it is interrupted."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lib import case  # noqa: E402
from lib.case import waiting  # noqa: E402
from lib.lab import check, wait_until  # noqa: E402

DEMO = pathlib.Path(__file__).resolve().parents[2] / "packaging/demo"


def start(lab):
    scratch = lab.logs / "tmp"
    scratch.mkdir()
    env = lab.environment({"TMPDIR": str(scratch)})
    out = open(lab.logs / "demo.log", "wb")
    return scratch, subprocess.Popen([DEMO, "--bin", lab.binaries], stdin=subprocess.DEVNULL, stdout=out,
                                     stderr=subprocess.STDOUT, env=env, start_new_session=True)


def programs():
    lines = subprocess.run(["ps", "-eo", "stat,args"], capture_output=True, text=True).stdout.splitlines()
    return [line for line in lines if not line.startswith("Z") and re.search("wgtcp|sleep infinity|transfer.py", line)
            and "test_demo" not in line]


def check_gone(scratch):
    wait_until(lambda: not programs(), "the demo's programs to end", 5)
    check(not list(scratch.iterdir()), f"left behind: {list(scratch.iterdir())}")


@waiting
def test_every_step_holds(lab):
    scratch, demo = start(lab)
    try:
        code = demo.wait(240)
    finally:
        demo.kill()
    text = (lab.logs / "demo.log").read_text()
    missed = re.findall(r"✗ not so.*", text)
    check(code == 0 and not missed, f"exit code {code}; {'; '.join(missed)}")
    lab.figure(f"{text.count('✓')} steps held")
    check(text.count("✓") >= 9, "steps are missing")
    check_gone(scratch)


def test_interrupted(lab):
    for number in signal.SIGINT, signal.SIGTERM:
        scratch, demo = start(lab)
        wait_until(lambda: "1. Up" in (lab.logs / "demo.log").read_text(), "the demo to be under way", 20)
        time.sleep(0.5)
        os.kill(demo.pid, number)
        code = demo.wait(10)
        check(code != 0, "an interrupted demo ended with 0")
        check_gone(scratch)
        scratch.rmdir()


if __name__ == "__main__":
    sys.exit(case.main(globals()))
