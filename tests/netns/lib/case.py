# SPDX-License-Identifier: MIT
"""Runs the test functions of one file and prints one line for each.

    ok NAME (1.2 s): measured figures
    FAIL NAME: reason; log: PATH
    skip NAME: reason
"""

import argparse
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import time
import traceback

from lib.lab import Failure, Lab


class Skip(Exception):
    """The test cannot run here; a skip counts as a failure unless tests/skips.txt has it."""


def enter_pid_namespace():
    """So that whatever happens to us, every process that we started ends."""
    if os.environ.get("WGTCP_LAB") == "1":
        return
    os.environ["WGTCP_LAB"] = "1"
    command = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", sys.executable] + sys.argv
    os.execvp(command[0], command)


def run_one(name, function, args):
    logs = pathlib.Path(args.logs) / name
    shutil.rmtree(logs, ignore_errors=True)
    start = time.monotonic()
    lab = Lab(args.bin, logs, args.long, args.sanitized)
    problem = skip = None
    try:
        function(lab)
    except Skip as why:
        skip = str(why)
    except Failure as why:
        problem = str(why)
        lab.note(traceback.format_exc())
    except Exception as why:  # a fault of the test itself is a failure of the test
        problem = f"{type(why).__name__}: {why}"
        lab.note(traceback.format_exc())
    problems = ([problem] if problem else []) + lab.close()
    seconds = time.monotonic() - start
    figures = f": {'; '.join(lab.notes)}" if lab.notes else ""
    if problems:
        print(f"FAIL {name}: {'; '.join(problems)}{' [' + '; '.join(lab.notes) + ']' if lab.notes else ''};"
              f" log: {logs}".replace("\n", " | "), flush=True)
        return False
    if skip:
        print(f"skip {name}: {skip}", flush=True)
        return True
    print(f"ok {name} ({seconds:.1f} s){figures}", flush=True)
    return True


def main(functions):
    """functions: globals() of the test file. Its tests are the functions called test_*, in the order of the file."""
    tests = {name[5:]: f for name, f in functions.items() if name.startswith("test_") and callable(f)}
    parser = argparse.ArgumentParser(description=functions.get("__doc__"))
    parser.add_argument("--bin", help="folder with the programs")
    parser.add_argument("--logs", help="folder for logs", default=None)
    parser.add_argument("--long", action="store_true", help="the long form of repeated tests")
    parser.add_argument("--sanitized", action="store_true", help="the programs are built with sanitizers")
    parser.add_argument("--list", action="store_true", help="print the names and whether they may run beside others")
    parser.add_argument("only", nargs="*", help="names of tests; default: all")
    args = parser.parse_args()
    if args.list:
        for name, function in tests.items():
            lane = "waiting" if getattr(function, "waiting", False) else "busy"
            print(name, lane, "main" if getattr(function, "main_path", False) else "more")
        return 0
    if not args.bin:
        parser.error("--bin is needed")
    enter_pid_namespace()
    args.bin = os.path.abspath(args.bin)
    args.logs = os.path.abspath(args.logs or tempfile.mkdtemp(prefix="wgtcp-netns."))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    unknown = [name for name in args.only if name not in tests]
    if unknown:
        parser.error(f"no such test: {', '.join(unknown)}")
    failed = [name for name in (args.only or tests) if not run_one(name, tests[name], args)]
    return 1 if failed else 0


def waiting(function):
    """Marks a test that mostly waits for timers: it may run beside others."""
    function.waiting = True
    return function


def main_path(function):
    """Marks a test that also runs with the sanitized programs."""
    function.main_path = True
    return function
