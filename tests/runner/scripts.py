# SPDX-License-Identifier: MIT
"""The tests in network namespaces and the lint checks: each is a script that is run for itself."""

import concurrent.futures
import re
import subprocess
import sys
import time

import children


class NetworkTest:
    def __init__(self, path, name, waiting, main):
        self.path, self.case, self.waiting, self.main = path, name, waiting, main
        self.name = f"{path.parent.name}/{path.stem[5:]}/{name}"


def network_tests(folder):
    found = []
    for path in sorted(folder.glob("test_*.py")):
        listed = children.run([sys.executable, path, "--list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if listed.returncode:
            raise SystemExit(f"tests/run: {path} cannot be read:\n{listed.stderr}")
        for line in listed.stdout.splitlines():
            name, lane, weight = line.split()
            found.append(NetworkTest(path, name, lane == "waiting", weight == "main"))
    return found


def run_network_test(test, build, logs, long, attempt=""):
    """("ok", seconds, figures), or ("FAIL" or "skip", reason)."""
    kind, suffix = build.kind, "" if build.kind == "gcc" else f"[{build.kind}]"
    folder = logs / (test.name.replace("/", "-") + suffix + attempt)
    command = [sys.executable, test.path, "--bin", build.bin, "--logs", folder]
    command += (["--long"] if long else []) + (["--sanitized"] if kind != "gcc" else []) + [test.case]
    try:
        done = children.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            timeout=7200 if long else 1800 if test.path.parent.name == "packages" else 420)
    except subprocess.TimeoutExpired:
        return "FAIL", f"did not end in time; log: {folder}"
    for line in done.stdout.splitlines():
        passed = re.match(rf"ok {re.escape(test.case)} \(([\d.]+) s\)(?:: )?(.*)", line)
        if passed and done.returncode == 0:
            return "ok", float(passed.group(1)), passed.group(2)
        other = re.match(rf"(FAIL|skip) {re.escape(test.case)}: (.*)", line)
        if other:
            return other.group(1), other.group(2)
    return "FAIL", f"no result, exit code {done.returncode}: {done.stderr.strip()[-300:]!r}; log: {folder}"


class Lanes:
    """Tests that wait for timers run beside everything else; the others one after the other.

    What failed while others ran beside it is tried once more at the end, alone: these tests are about time, and a machine that
    stands still for seconds fails them. Both results are printed and counted apart; more than a few are no accident."""

    AGAIN_MAX = 3

    def __init__(self, report, logs, long):
        self.report, self.logs, self.long = report, logs, long
        self.pool = concurrent.futures.ThreadPoolExecutor(max_workers=5)
        self.running, self.failed = [], []

    def _run(self, test, build):
        name = test.name + ("" if build.kind == "gcc" else f"[{build.kind}]")
        result = run_network_test(test, build, self.logs, self.long)
        if result[0] == "ok":
            self.report.ok(name, *result[1:])
        elif result[0] == "skip":
            self.report.skip(name, result[1])
        else:
            self.report.say(f"failed, and comes again at the end: {name}: {result[1]}")
            self.failed.append((name, test, build, result[1]))

    def start_waiting(self, tests, build):
        self.running += [self.pool.submit(self._run, test, build) for test in tests]

    def run_busy(self, tests, build):
        for test in tests:
            self._run(test, build)

    def finish(self):
        for future in self.running:
            future.result()
        self.pool.shutdown()
        for name, test, build, reason in self.failed:
            if len(self.failed) > self.AGAIN_MAX:
                self.report.fail(name, reason)
                continue
            result = run_network_test(test, build, self.logs, self.long, ".again")
            if result[0] == "ok":
                self.report.ok_again(name, *result[1:], reason)
            else:
                self.report.fail(name, f"twice: {reason}; {result[1]}")


def lint_checks(folder):
    return sorted(p for p in folder.iterdir() if p.suffix in (".py", ".sh"))


def run_lint(report, path, source, build, logs):
    """A check gets the source folder and a build; it prints what is wrong, or what it looked at, and exits 0 or 1."""
    start = time.monotonic()
    name, log = f"lint/{path.stem}", logs / f"lint-{path.stem}.log"
    interpreter = [sys.executable] if path.suffix == ".py" else ["sh"] if path.read_text().startswith("#!/bin/sh") \
        else ["bash"]
    done = children.run(interpreter + [path, source, build.folder], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                        text=True, cwd=source)
    log.write_text(done.stdout)
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    last = lines[-1] if lines else ""
    if done.returncode:
        report.fail(name, f"{last}; log: {log}")
    else:
        report.ok(name, time.monotonic() - start, last)
        report.list(lines[:-1])

