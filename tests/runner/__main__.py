# SPDX-License-Identifier: MIT
"""What tests/run does once Python is there."""

import argparse
import fnmatch
import os
import pathlib
import shutil
import signal
import sys
import tempfile

import children
import scripts
from build import Build
from report import Report


def stop_when_told(folder):
    """On an interrupt nothing goes on and nothing stays, whatever the threads wait for."""
    def stop(number, _):
        children.kill_all()
        if folder:
            shutil.rmtree(folder, ignore_errors=True)
        print("interrupted", flush=True)
        os._exit(128 + number)
    for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
        signal.signal(number, stop)


def main():
    parser = argparse.ArgumentParser(prog="tests/run")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--only", metavar="PATTERN")
    parser.add_argument("--sanitize", action="store_true")
    parser.add_argument("--build", metavar="DIR")
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    source = pathlib.Path(__file__).resolve().parents[2]
    report = Report(source / "tests" / "skips.txt")
    base = pathlib.Path(os.path.abspath(args.build) if args.build else tempfile.mkdtemp(prefix="wgtcp-tests."))
    stop_when_told(None if args.build else base)
    logs = base / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    # In network namespaces, against a kernel in a virtual machine, on a desktop without a screen, and in a clean system.
    network = [test for folder in ("netns", "vm", "gui", "nm", "packages") for test in scripts.network_tests(source / "tests" / folder)]
    lint = scripts.lint_checks(source / "tests/lint")

    def matches(name):
        # "[asan]" stands behind a name literally, which a glob would take for a set.
        return not args.only or name == args.only or fnmatch.fnmatchcase(name, args.only) or \
            fnmatch.fnmatchcase(name.partition("[")[0], args.only)

    if args.list:
        print("\n".join([t.name for t in network] + [f"lint/{p.stem}" for p in lint]))
        return 0
    gcc = Build(report, source, base, logs, "gcc")
    clang = Build(report, source, base, logs, "clang", compiler="clang")
    asan = Build(report, source, base, logs, "asan", sanitize="address,undefined")
    lanes = scripts.Lanes(report, logs, args.long)
    report.say(f"Logs: {logs}")

    network = [t for t in network if matches(t.name)]
    lint = [p for p in lint if matches(f"lint/{p.stem}")]
    only_scripts = bool(args.only) and args.only.startswith(("netns/", "vm/", "gui/", "nm/", "packages/", "lint/"))
    waiting, busy = [t for t in network if t.waiting], [t for t in network if not t.waiting]
    plain = not (only_scripts and args.sanitize and not lint)
    # What was built is tested, also when something else does not compile: that is one failure more, not fewer tests.
    if plain:
        gcc.make()
        if gcc.made and not args.sanitize:
            lanes.start_waiting(waiting, gcc)
        for path in lint:
            scripts.run_lint(report, path, source, gcc, logs)
        if gcc.made and not only_scripts:
            gcc.test(matches)
    if not only_scripts:
        clang.make()
    sanitized = network if args.sanitize else [t for t in network if t.main]
    if not only_scripts or sanitized:
        asan.make()
        if asan.made:
            lanes.start_waiting([t for t in sanitized if t.waiting], asan)
        if asan.made and not only_scripts:
            asan.test(matches)
    # Timed tests come when nothing builds any more.
    if gcc.made and not args.sanitize:
        lanes.run_busy(busy, gcc)
    if asan.made:
        lanes.run_busy([t for t in sanitized if not t.waiting], asan)
    lanes.finish()
    code = report.finish()
    if code == 0 and not args.build:
        shutil.rmtree(base, ignore_errors=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
