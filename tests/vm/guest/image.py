# SPDX-License-Identifier: MIT
"""What a guest boots: Debian's cloud kernel and an initrd with a few of its modules and of this machine's programs.

Everything comes from Debian packages. The kernel is downloaded by apt-get, not installed. One image serves all tests of a
run; what a single test brings along is a second archive behind it, since the kernel unpacks them one after the other.
"""

import fcntl
import lzma
import os
import pathlib
import re
import shutil
import subprocess

from lib.lab import Failure

KERNEL = "linux-image-cloud-amd64"
# Loaded at boot, and there to be loaded by a test.
BOOT_MODULES = ("virtio_pci", "virtio_net")
MORE_MODULES = ("wireguard", "tun", "virtio_blk", "ext4", "nft_reject_inet", "nft_socket", "nft_ct")
# dash and not busybox as the shell: Debian's busybox runs its own ip and ping before those that are meant.
PROGRAMS = ("dash", "ip", "ping", "wg")
APPLETS = ("cat", "cut", "date", "dd", "dmesg", "echo", "grep", "head", "insmod", "kill", "ln", "ls", "mkdir", "mount", "nc", "reboot", "rm", "rmmod",
           "sed", "setsid", "sha256sum", "sleep", "stty", "sync", "sysctl", "timeout", "tr", "uname", "wc")

# The console tells how far it is, the second serial line is a shell. A test may bring along what is done before the network
# is up and right after.
INIT = """#!/bin/sh
export PATH=/bin HOME=/
mount -t proc proc /proc; mount -t sysfs sysfs /sys; mount -t devtmpfs dev /dev
mount -t tmpfs tmpfs /run; mount -t tmpfs tmpfs /tmp
for module in $(cat /modules/boot); do insmod /modules/$module.ko; done
load() { for module in $(cat /modules/$1); do insmod /modules/$module.ko 2>/dev/null; done; }
sysctl -qw net.ipv6.conf.all.accept_dad=0 net.ipv6.conf.default.accept_dad=0
ip link set lo up
if [ -f /early ]; then . /early; fi
for word in $(cat /proc/cmdline); do case $word in
guest.addresses=*) for address in $(echo ${word#*=} | tr , ' '); do ip address add $address dev eth0; done ;;
esac; done
ip link set eth0 up
if [ -f /late ]; then . /late; fi
stty -F /dev/ttyS1 raw -echo
(while :; do PS1= PS2= setsid /bin/dash </dev/ttyS1 >/dev/ttyS1 2>&1; sleep 1; done) &
echo guest-is-up $(uname -r) $(cut -d' ' -f1 /proc/uptime)
while :; do sleep 1000; done
"""


def run(*argv, **keywords):
    done = subprocess.run([str(a) for a in argv], capture_output=True, **keywords)
    if done.returncode:
        raise Failure(f"'{' '.join(map(str, argv))}' ended with {done.returncode}: "
                      f"{done.stderr.decode(errors='replace').strip()[-300:]}")
    return done.stdout


def libraries(program):
    """The shared libraries that the loader takes for it."""
    return re.findall(r"(/\S+\.so\S*)", subprocess.run(["ldd", program], capture_output=True, text=True).stdout)


def add_program(root, source, name=None):
    target = root / "bin" / (name or pathlib.Path(source).name)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)
    target.chmod(0o755)
    for library in libraries(source):
        copy = root / library.lstrip("/")
        copy.parent.mkdir(parents=True, exist_ok=True)
        if not copy.exists():
            shutil.copy(library, copy)


def archive(root, target):
    names = b"\0".join(str(p.relative_to(root)).encode() for p in sorted(root.rglob("*")))
    target.write_bytes(run("cpio", "--null", "--create", "--format=newc", "--quiet", cwd=root, input=names))


class Image:
    def __init__(self, folder, kernel=KERNEL, modules=MORE_MODULES):
        """Builds it in this folder unless it is there. Several tests may ask at once."""
        self.folder, self.package, self.modules = pathlib.Path(folder), kernel, modules
        self.kernel, self.initrd = self.folder / "vmlinuz", self.folder / "initrd"
        self.folder.mkdir(parents=True, exist_ok=True)
        with open(self.folder / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not self.initrd.exists():
                self._build()

    def with_programs(self, programs, target, files=()):
        """An initrd that has these programs too, and files of these texts by their paths."""
        if not programs and not files:
            return self.initrd
        root = target.with_suffix(".root")
        shutil.rmtree(root, ignore_errors=True)
        for program in programs:
            add_program(root, program)
        for path, text in dict(files).items():
            (root / path.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
            (root / path.lstrip("/")).write_text(text)
        archive(root, target)
        shutil.rmtree(root)
        with open(target, "r+b") as out:
            own = out.read()
            out.seek(0)
            out.write(self.initrd.read_bytes() + own)
        return target

    def _download(self):
        """The unpacked kernel package. WGTCP_VM_KERNEL names a folder with another one, for trials by hand."""
        if os.environ.get("WGTCP_VM_KERNEL"):
            return pathlib.Path(os.environ["WGTCP_VM_KERNEL"])
        if not self._fetch():
            run("apt-get", "update")
            if not self._fetch():
                raise Failure(f"apt-get cannot download the kernel package behind {self.package}")
        unpacked = self.folder / "kernel"
        run("dpkg-deb", "-x", next(self.folder.glob("linux-image-*.deb")), unpacked)
        return unpacked

    def _fetch(self):
        listed = run("apt-cache", "depends", self.package).decode()
        found = re.search(r"Depends: (linux-image-[0-9]\S+)", listed)
        return found and subprocess.run(["apt-get", "download", found.group(1)], cwd=self.folder,
                                        capture_output=True).returncode == 0

    def _add_modules(self, unpacked, root):
        """Copies modules with all that they need; a list of names in the order of loading for each."""
        files = {p.name.partition(".")[0].replace("-", "_"): p for p in unpacked.rglob("*.ko*")}
        target = root / "modules"
        target.mkdir()

        def add(name, order):
            if name in order or name not in files:  # not a file: built in
                return
            path = files[name]
            data = lzma.open(path).read() if path.suffix == ".xz" else path.read_bytes()
            for need in filter(None, re.search(rb"depends=([^\0]*)\0", data).group(1).decode().split(",")):
                add(need.replace("-", "_"), order)
            (target / f"{name}.ko").write_bytes(data)
            order.append(name)
        boot = []
        for name in BOOT_MODULES:
            add(name, boot)
        (target / "boot").write_text("\n".join(boot) + "\n")
        for name in self.modules:
            order = list(boot)
            add(name, order)
            (target / name).write_text("\n".join(order[len(boot):]) + "\n")

    def _build(self):
        unpacked, root = self._download(), self.folder / "root"
        shutil.rmtree(root, ignore_errors=True)
        for name in "bin proc sys dev run tmp etc".split():
            (root / name).mkdir(parents=True)
        shutil.copy(shutil.which("busybox"), root / "bin/busybox")
        for applet in APPLETS:
            (root / "bin" / applet).symlink_to("busybox")
        for program in PROGRAMS:
            add_program(root, shutil.which(program))
        (root / "bin/sh").symlink_to("dash")
        self._add_modules(unpacked, root)
        (root / "init").write_text(INIT)
        (root / "init").chmod(0o755)
        shutil.copy(next(unpacked.glob("boot/vmlinuz-*")), self.kernel)
        archive(root, self.folder / "initrd.new")
        shutil.rmtree(root)
        (self.folder / "initrd.new").rename(self.initrd)
