# SPDX-License-Identifier: MIT
"""The Debian packages of this tree, by packaging/build-deb; built once for a state of the tree and kept in the cache."""

import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile

from lib.lab import Failure
from lib.packages import CACHE

SOURCE = pathlib.Path(__file__).resolve().parents[3]
NAMES = ("wgtcp", "wgtcp-gui", "network-manager-wgtcp")


def git(*arguments):
    return subprocess.run(["git", "-c", f"safe.directory={SOURCE}", "-C", SOURCE, *arguments], capture_output=True,
                          check=True).stdout.decode()


def state():
    """A name for all that goes into the packages: the files, and the time of the last change."""
    listed = sorted(git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0"))
    files = [(name, hashlib.sha256((SOURCE / name).read_bytes()).hexdigest()) for name in listed
             if (SOURCE / name).is_file() and not name.startswith("tests/")]
    return hashlib.sha256(repr((files, git("log", "-1", "--format=%ct"))).encode()).hexdigest()[:16]


def build(folder, log, cached=True):
    """Into a new folder. cached: by ccache, where that is installed: what was compiled once is not compiled again."""
    environment = dict(os.environ, GIT_CONFIG_COUNT="1", GIT_CONFIG_KEY_0="safe.directory", GIT_CONFIG_VALUE_0=str(SOURCE))
    environment.pop("CMAKE_C_COMPILER_LAUNCHER", None)
    if cached and shutil.which("ccache"):
        environment.update(CMAKE_C_COMPILER_LAUNCHER="ccache", CCACHE_DIR=str(CACHE / "ccache"), CCACHE_NOHASHDIR="1",
                           CCACHE_BASEDIR=tempfile.gettempdir(), CCACHE_MAXSIZE="300M")
    folder.mkdir(parents=True)
    with open(log, "wb") as out:
        code = subprocess.run([SOURCE / "packaging/build-deb", folder], stdin=subprocess.DEVNULL, stdout=out,
                              stderr=subprocess.STDOUT, env=environment).returncode
    if code:
        raise Failure(f"packaging/build-deb ended with {code}; log: {log}")


def packages(lab, into):
    """Copies the packages of this tree into a folder; or those in WGTCP_TEST_PACKAGES, which somebody has built."""
    if "WGTCP_TEST_PACKAGES" in os.environ:
        shutil.copytree(os.environ["WGTCP_TEST_PACKAGES"], into, dirs_exist_ok=True)
        return
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / "built.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        built = CACHE / "built" / state()
        if not built.is_dir():
            shutil.rmtree(built.parent, ignore_errors=True)
            new = built.with_suffix(".new")
            build(new, lab.logs / "build-deb.log")
            new.rename(built)
        for path in built.iterdir():
            shutil.copy(path, into)


def package(folder, name):
    found = list(folder.glob(f"{name}_*.deb"))
    if len(found) != 1:
        raise Failure(f"{len(found)} packages {name} in {folder}")
    return found[0]
