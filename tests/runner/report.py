# SPDX-License-Identifier: MIT
"""One line for each test, and the line that counts them. Several threads report."""

import pathlib
import sys
import threading


class Report:
    def __init__(self, skips_file):
        self.lock = threading.Lock()
        self.passed, self.failed, self.skipped = 0, [], 0
        self.again = []
        self.allowed = {}
        for line in pathlib.Path(skips_file).read_text().splitlines():
            if line.strip() and not line.startswith("#"):
                name, _, reason = line.partition(":")
                self.allowed[name.strip()] = reason.strip()

    def _print(self, line):
        print(line, flush=True)

    def ok(self, name, seconds, note=""):
        with self.lock:
            self.passed += 1
            self._print(f"ok {name} ({seconds:.1f} s){': ' + note if note else ''}")

    def ok_again(self, name, seconds, note, reason):
        """It failed before, beside others."""
        self.again.append(name)
        self.ok(name, seconds, f"SECOND TRY, the first: {reason}{'; now: ' + note if note else ''}")

    def list(self, lines):
        """What a check looked at, one a line."""
        with self.lock:
            for line in lines:
                self._print(f"  {line}")

    def fail(self, name, reason):
        with self.lock:
            self.failed.append(name)
            self._print(f"FAIL {name}: {reason}")

    def skip(self, name, reason):
        with self.lock:
            if name in self.allowed:
                self.skipped += 1
                self._print(f"skip {name}: {reason}")
                return
        self.fail(name, f"skipped, and tests/skips.txt does not list it: {reason}")

    def say(self, text):
        with self.lock:
            self._print(text)

    def finish(self):
        """The exit code."""
        if self.failed:
            self._print("")
            for name in self.failed:
                self._print(f"FAIL {name}")
        for name in self.again:
            self._print(f"passed at the second try only: {name}")
        line = f"{self.passed} passed, {len(self.failed)} failed"
        if self.skipped:
            line += f", {self.skipped} skipped"
        self._print(line)
        sys.stdout.flush()
        # Nothing run is no success: a wrong pattern must not look like one.
        return 1 if self.failed or not self.passed else 0
