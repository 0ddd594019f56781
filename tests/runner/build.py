# SPDX-License-Identifier: MIT
"""Builds of the tree, and the unit, contract and fuzz-replay tests in them by ctest."""

import os
import re
import shutil
import subprocess
import time
import xml.etree.ElementTree as xml

import children

PROGRAMS = ("wgtcp-engine", "wgtcpd", "wgtcp-cli", "wgtcp-relay", "wgtcp-gui", "wgtcp-tray", "wgtcp-emulator", "wgtcp-attack", "wgtcp-strike.so",
            "wgtcp-bench-packets", "wgtcp-bench-relay", "wgtcp-bench-handshakes",
            "vm_kernel_tunnel", "vm_probes", "vm_wireless")
# The NetworkManager plugin as it is laid out by its test.
PLUGIN = ("nm-wgtcp-service", "nm-wgtcp-auth-dialog", "nm-wgtcp-service.name", "nm-wgtcp-service.conf", "libnm-vpn-plugin-wgtcp.so",
          "libnm-vpn-plugin-wgtcp-editor.so", "libnm-gtk4-vpn-plugin-wgtcp-editor.so", "nm-wgtcp-test-editor-gtk3",
          "nm-wgtcp-test-editor-gtk4")


class Build:
    def __init__(self, report, source, base, logs, kind, compiler="gcc", sanitize=""):
        self.report, self.source, self.kind = report, source, kind
        self.folder, self.bin = base / f"build-{kind}", base / f"bin-{kind}"
        self.log = logs / f"build-{kind}.log"
        self.compiler, self.sanitize = compiler, sanitize
        self.made = False

    def make(self):
        start = time.monotonic()
        configure = ["cmake", "-S", self.source, "-B", self.folder, "-G", "Ninja", "-DWGTCP_WERROR=ON",
                     f"-DCMAKE_C_COMPILER={self.compiler}", f"-DWGTCP_SANITIZE={self.sanitize}"]
        with open(self.log, "w") as log:
            # One file that does not compile must not hide what else is wrong.
            done = all(children.run(command, stdout=log, stderr=subprocess.STDOUT).returncode == 0 for command in (
                configure, ["cmake", "--build", self.folder, "--parallel", "2", "--", "-k", "0"]))
        self._stage()
        # Without any program there is nothing that the network tests could say beyond this one failure.
        self.made = any(self.bin.iterdir())
        if not done:
            self.report.fail(f"build/{self.kind}", f"{self._first_error()}; log: {self.log}")
            return
        warnings = len(re.findall(r"warning:", self.log.read_text(errors="replace")))
        self.report.ok(f"build/{self.kind}", time.monotonic() - start, f"{warnings} warnings")

    def _first_error(self):
        for line in self.log.read_text(errors="replace").splitlines():
            if re.search(r"\berror: |CMake Error|undefined reference", line):
                return line.strip()
        return "cmake failed"

    def _stage(self):
        """All programs in one folder, as they are when installed: the daemon looks for the engine beside itself."""
        shutil.rmtree(self.bin, ignore_errors=True)
        self.bin.mkdir(parents=True)
        for folder, folders, files in os.walk(self.folder):
            # Unit tests have programs of these names that only pretend to be them.
            if folder == str(self.folder / "tests"):
                folders.remove("unit")
            for name in files:
                if name in PROGRAMS + PLUGIN:
                    os.link(os.path.join(folder, name), self.bin / name)

    def test(self, matches):
        """Everything that ctest knows; each of its tests is one of ours."""
        junit, output = self.log.with_name(f"ctest-{self.kind}.xml"), self.log.with_name(f"ctest-{self.kind}.log")
        env = dict(os.environ, ASAN_OPTIONS="detect_leaks=1", UBSAN_OPTIONS="print_stacktrace=1",
                   CTEST_OUTPUT_ON_FAILURE="1")
        with open(output, "w") as log:
            children.run(["ctest", "--test-dir", self.folder, "-j", "2", "--output-junit", junit, "--timeout", "180"],
                         stdout=log, stderr=subprocess.STDOUT, env=env)
        if not junit.exists():
            self.report.fail(f"ctest/{self.kind}", f"ctest gave no results; log: {output}")
            return
        for case in sorted(xml.parse(junit).getroot().iter("testcase"), key=lambda c: c.get("name")):
            self._judge(case, matches, output)

    def _judge(self, case, matches, output):
        group, _, short = case.get("name").partition("_")
        group = {"test": "unit", "contract": "contract", "fuzz": "fuzz"}.get(group, "unit")
        name = f"{group}/{short or case.get('name')}" + (f"[{self.kind}]" if self.kind != "gcc" else "")
        if not matches(name):
            return
        text = case.findtext("system-out") or ""
        counts = [int(n) for n in re.findall(r"^\[==========\].*?(\d+) test\(s\) run", text, re.M)]
        replayed = re.search(r"(\d+) inputs replayed", text)
        note = f"{sum(counts)} cases" if counts else f"{replayed.group(1)} inputs" if replayed else ""
        if case.get("status") == "run":
            self.report.ok(name, float(case.get("time") or 0), note)
        elif case.get("status") == "fail":
            log = output.with_name(name.replace("/", "-") + ".log")
            log.write_text(text)
            self.report.fail(name, f"{self._reason(case, text)}; log: {log}")
        else:
            self.report.skip(name, case.get("status"))

    @staticmethod
    def _reason(case, text):
        for pattern in r"ERROR: \w+Sanitizer.*", r".*runtime error:.*", r"\[  FAILED  \] (?!\d).*", r".*error:.*":
            found = re.search(pattern, text)
            if found:
                return found.group(0).strip()
        failure = case.find("failure")
        return (failure.get("message") if failure is not None else None) or "failed"
