# SPDX-License-Identifier: MIT
"""The systemd units: understood as they stand, and no more exposed than was promised (the lower the better)."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# What `systemd-analyze security` may say of each at most.
EXPOSURE = {"wgtcpd.service": 2.5, "wgtcp-engine@.service": 1.0, "wgtcp-relay@.service": 1.0, "wgtcp-dialler@.service": 2.5,
            "wgtcp-killswitch.service": 2.5}


def place(source, folder):
    """The units as they are installed, but with programs that every machine has: they are not run."""
    for path in sorted(source.glob("*.service.in")) + sorted(source.glob("*.socket")):
        text = re.sub(r"@CMAKE_INSTALL_FULL_S?BINDIR@/\S+", "/bin/true", path.read_text())
        (folder / path.name.removesuffix(".in")).write_text(text)


def main():
    source = pathlib.Path(sys.argv[1]) / "packaging/systemd"
    if not shutil.which("systemd-analyze"):
        print("systemd-analyze is missing: packaging/install-deps --test installs it")
        return 1
    problems, notes = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        place(source, folder)
        units = sorted(p.name for p in folder.iterdir())
        for unit in set(EXPOSURE) ^ {u for u in units if u.endswith(".service")}:
            problems.append(f"{unit}: no bar for it here, or no such unit")
        for unit in units:
            instance = unit.replace("@.", "@x.")
            # The man pages are not installed where this runs.
            done = subprocess.run(["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", folder / instance],
                                  capture_output=True, text=True)
            words = [line for line in (done.stdout + done.stderr).splitlines() if unit.split("@")[0] in line]
            problems += [f"{unit}: {line}" for line in words]
        for unit, bar in EXPOSURE.items():
            if unit not in units:
                continue
            done = subprocess.run(["systemd-analyze", "security", "--offline=yes", "--no-pager", folder / unit],
                                  capture_output=True, text=True)
            found = re.search(r"Overall exposure level for \S+: ([\d.]+)", done.stdout)
            if not found or float(found.group(1)) > bar:
                problems.append(f"{unit}: exposure {found.group(1) if found else done.stderr.strip()} is over {bar}")
            else:
                notes.append(f"{unit} {found.group(1)} (at most {bar})")
    print("\n".join(problems))
    print(f"units: {problems[0]}" if problems else "exposure: " + ", ".join(notes))
    return 1 if problems or not notes else 0


if __name__ == "__main__":
    sys.exit(main())
