# SPDX-License-Identifier: MIT
"""A clean Debian 12 of debootstrap, in a folder of the test's own, and what is different in it afterwards.

What was fetched is kept in the cache of the tests, so that the network is needed once. Everything is mounted in the mount
namespace of the test (case.py has made one), and is gone with it.
"""

import fcntl
import hashlib
import os
import pathlib
import shutil
import stat
import subprocess
import time

from lib.lab import Failure
from lib.packages import CACHE

BASE = CACHE / "debian-12"
# What a machine has that a minimal debootstrap leaves out, and that our packages would bring along otherwise.
INCLUDE = "systemd,sudo,ca-certificates,iproute2,procps"
LISTS_OLD_S = 5 * 86400
APT = """APT::Keep-Downloaded-Packages "true";
Binary::apt::APT::Keep-Downloaded-Packages "true";
APT::Sandbox::User "root";
"""


def run(command, what, **more):
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True, **more)
    if done.returncode:
        raise Failure(f"{what} ended with {done.returncode}: {(done.stderr or done.stdout).strip()[-400:]}")


def base():
    """The folder of the clean system; made when there is none."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / "debian-12.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not BASE.is_dir():
            new = CACHE / "debian-12.new"
            shutil.rmtree(new, ignore_errors=True)
            run(["debootstrap", "--variant=minbase", f"--include={INCLUDE}", "bookworm", new], "debootstrap")
            (new / "etc/apt/apt.conf.d/99wgtcp-tests").write_text(APT)
            run(["chroot", new, "apt-get", "clean"], "apt-get clean")
            new.rename(BASE)
        stamp = BASE / "var/lib/apt/lists"
        if time.time() - stamp.stat().st_mtime > LISTS_OLD_S:
            shutil.copy("/etc/resolv.conf", BASE / "etc/resolv.conf")
            run(["chroot", BASE, "apt-get", "-q", "update"], "apt-get update")
            os.utime(stamp)
    return BASE


class Root:
    """A copy of the clean system with /proc, /dev and /run of its own."""

    def __init__(self, lab):
        self.lab, self.path, self.typed = lab, lab.logs / "root", set()
        self.enter = ["chroot", self.path]
        run(["cp", "-a", "--reflink=auto", base(), self.path], "cp")
        (self.path / "etc/resolv.conf").write_text(pathlib.Path("/etc/resolv.conf").read_text())
        # sudo asks for the machine's own name, and the lab has no resolver.
        (self.path / "etc/hosts").write_text(f"127.0.0.1 localhost {os.uname().nodename}\n")
        # A copy: apt locks the folder, and another test may be at it.
        self.archives, self.kept = self.path / "var/cache/apt/archives", CACHE / "archives"
        self.kept.mkdir(exist_ok=True)
        run(["cp", "-a", "--reflink=auto", f"{self.kept}/.", self.archives], "cp")
        # The machine's own mounts stay as they are.
        run(["mount", "--make-rprivate", "/"], "mount")
        # A mount of its own, so that what runs there can have mount namespaces too.
        run(["mount", "--bind", self.path, self.path], "mount")
        for kind, folder in ("proc", "proc"), ("tmpfs", "dev"), ("tmpfs", "run"):
            run(["mount", "-t", kind, kind, self.path / folder], "mount")
        dev = self.path / "dev"
        for name, major, minor in (("null", 1, 3), ("zero", 1, 5), ("full", 1, 7), ("random", 1, 8), ("urandom", 1, 9),
                                   ("tty", 5, 0), ("net/tun", 10, 200)):
            (dev / name).parent.mkdir(exist_ok=True)
            os.mknod(dev / name, stat.S_IFCHR | 0o666, os.makedev(major, minor))
            os.chmod(dev / name, 0o666)
        (dev / "fd").symlink_to("/proc/self/fd")
        for folder, mode in ("pts", 0o755), ("shm", 0o1777):
            (dev / folder).mkdir()
            os.chmod(dev / folder, mode)
        self.download = self.path / "srv/download"
        self.download.mkdir()

    def be_the_root(self):
        """From now on commands have it as the root of their mount namespace: who enters a namespace leaves a chroot."""
        self.enter = ["unshare", "--mount", "sh", "-c", "cd \"$0\" && pivot_root . mnt && umount -l /mnt && exec \"$@\"", self.path]

    def command(self, line):
        """What runs a line of a shell there, as somebody who has gone to the folder of his downloads."""
        return [*self.enter, "/usr/bin/env", "-i", "HOME=/srv", "TERM=dumb", "LANG=C.UTF-8",
                "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND=noninteractive",
                "bash", "-c", f"cd /srv/download && {line}"]

    def shell(self, line, host=None, answer="", check_code=True, timeout=300):
        """Runs a line there, in the network of host (else this machine's, for apt)."""
        self.typed.add(line)
        prefix = host.prefix() if host else []
        done = subprocess.run([str(word) for word in prefix + self.command(line)], input=answer, capture_output=True, text=True,
                              timeout=timeout)
        self.lab.note(f"{host.name if host else 'root'}$ {line}  -> {done.returncode}\n{done.stdout}{done.stderr}")
        if check_code and done.returncode:
            raise Failure(f"'{line}' ended with {done.returncode}: {(done.stderr or done.stdout).strip()[-400:]}")
        return done

    def files(self):
        """Path -> type, mode, owner and content of everything but what is mounted there."""
        found = {}
        for folder, folders, files in os.walk(self.path):
            inside = os.path.relpath(folder, self.path)
            if inside in ("proc", "dev", "run", "sys", "var/cache/apt/archives", "srv/download"):
                folders.clear()
                continue
            for name in folders + files:
                path = os.path.join(folder, name)
                found[os.path.relpath(path, self.path)] = self._file(path)
        return found

    @staticmethod
    def _file(path):
        info = os.lstat(path)
        about = (oct(info.st_mode), info.st_uid, info.st_gid)
        if stat.S_ISLNK(info.st_mode):
            return about + (os.readlink(path),)
        if stat.S_ISREG(info.st_mode):
            with open(path, "rb") as file:
                return about + (hashlib.file_digest(file, "sha256").hexdigest(),)
        return about

    def programs(self):
        """What runs there, by its command line."""
        found = []
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if os.readlink(folder / "root") == str(self.path):
                    found.append((folder / "cmdline").read_text().replace("\0", " ").strip())
            except OSError:
                pass  # it has ended meanwhile
        return found

    def remove(self):
        """The copy goes; its mounts first, so that nothing outside is taken for a part of it."""
        for package in self.archives.glob("*.deb"):
            if not (self.kept / package.name).exists():
                new = self.kept / f".{package.name}.{os.getpid()}"
                shutil.copy(package, new)
                new.rename(self.kept / package.name)
        for folder in "run", "dev", "proc", "":
            subprocess.run(["umount", "--lazy", self.path / folder], capture_output=True)
        subprocess.run(["rm", "-rf", "--one-file-system", self.path], check=True)


def differences(before, after, kept):
    """What is not as before, one a line, without paths that one of the patterns of kept matches."""
    lines = []
    for path in sorted(before.keys() | after.keys()):
        if before.get(path) != after.get(path) and not any(pattern.fullmatch(path) for pattern in kept):
            lines.append(f"{'new' if path not in before else 'gone' if path not in after else 'changed'}: /{path}")
    return lines
