# SPDX-License-Identifier: MIT
"""Programs of Debian packages that must not be installed for a test, since installing them changes the machine's own
network: they are unpacked into a cache and run from there, on hosts of the lab only.

    packages.py        fetches and unpacks all of them (tests/run does that before the tests)
"""

import fcntl
import os
import pathlib
import subprocess
import sys

PACKAGES = ("systemd-resolved", "libsystemd-shared", "openresolv", "resolvconf", "network-manager",
            "hostapd", "iw")
CACHE = pathlib.Path(os.environ.get("WGTCP_TEST_CACHE", "/var/cache/wgtcp-tests"))


def fetch():
    """The folder of each package. Needs the network once."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        missing = [name for name in PACKAGES if not (CACHE / name).is_dir()]
        if missing:
            command = ["apt-get", "-q", "-o", "APT::Sandbox::User=root", "download", *missing]
            done = subprocess.run(command, cwd=CACHE, capture_output=True, text=True)
            if done.returncode:
                subprocess.run(["apt-get", "-q", "update"], capture_output=True)
                done = subprocess.run(command, cwd=CACHE, capture_output=True, text=True)
            if done.returncode:
                raise SystemExit(f"these packages cannot be fetched: {' '.join(missing)}: {done.stderr.strip()[-300:]}")
        for name in missing:
            archive = max(CACHE.glob(f"{name}_*.deb"), key=lambda path: path.stat().st_mtime)
            new = CACHE / f".{name}.new"
            subprocess.run(["rm", "-rf", new], check=True)
            subprocess.run(["dpkg-deb", "-x", archive, new], check=True)
            new.rename(CACHE / name)
            archive.unlink()


def folder(name):
    if not (CACHE / name).is_dir():
        fetch()
    return CACHE / name


if __name__ == "__main__":
    fetch()
    sys.exit(0)
