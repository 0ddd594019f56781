# SPDX-License-Identifier: MIT
"""A guest under QEMU, wired to a host's network namespace, with a shell on a serial line.

The host has 10.98.N.1 and 2001:db8:98:N::1 on tapN, guest N has .2 and ::2. QEMU emulates the processor, so that it runs
everywhere and the same; a boot takes a few seconds.
"""

import re
import shlex
import socket
import time

from guest.image import Image
from lib.lab import Failure, wait_until

# Without cmpxchg16b: QEMU 7.2 emulates it in a way that now and then corrupts a newer kernel's lists of free memory.
# With rdrand: the kernel's WireGuard drops handshakes until its random numbers are good.
PROCESSOR = "Nehalem,-cx16,+rdrand"
BOOT_S = 120
COMMAND_S = 90


class Guest:
    def __init__(self, host, number=1, programs=(), files=(), disk=None, image=None, monitor=False):
        """Starts to boot; ready() waits for the end. host: a lab.Host. programs: paths, to be found in its /bin.
        files: texts by their paths. disk: a file that is its /dev/vda. image: another one than the usual."""
        self.host, self.number, self.name = host, number, f"guest{number}"
        self.v4, self.v6 = f"10.98.{number}.2", f"2001:db8:98:{number}::2"
        self.host_v4, self.host_v6 = f"10.98.{number}.1", f"2001:db8:98:{number}::1"
        self.tap, lab = f"tap{number}", host.lab
        image = image or Image(lab.binaries.parent / "guest")
        initrd = image.with_programs(programs, lab.logs / f"{self.name}.initrd", files)
        if self.tap not in host.links():  # it is there when the same machine boots again
            host.run("ip", "tuntap", "add", "dev", self.tap, "mode", "tap")
            host.run("ip", "address", "add", f"{self.host_v4}/24", "dev", self.tap)
            host.run("ip", "address", "add", f"{self.host_v6}/64", "dev", self.tap, "nodad")
            host.run("ip", "link", "set", self.tap, "up")
        more = ["-drive", f"file={disk},format=raw,if=virtio,cache=writeback"] if disk else []
        self._monitor = None
        if monitor:
            self._monitor = lab.logs / f"{self.name}.monitor"
            more += ["-monitor", f"unix:{self._monitor},server=on,wait=off"]
        self._console = lab.logs / f"{self.name}.console"
        self._console.unlink(missing_ok=True)  # of an earlier boot
        self._started = time.monotonic()
        command_line = ("console=ttyS0 quiet panic=-1 mitigations=off random.trust_cpu=on "
                        f"guest.addresses={self.v4}/24,{self.v6}/64")
        # The shell's line goes in by a socket and comes out into the program's .out file.
        self._line, theirs = socket.socketpair()
        with theirs:
            self.program = host.start(
                "qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", PROCESSOR, "-smp", "2",
                "-m", "512", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
                "-kernel", image.kernel, "-initrd", initrd, "-append", command_line,
                "-serial", f"file:{self._console}", "-chardev", "stdio,id=shell,signal=off", "-serial", "chardev:shell",
                "-netdev", f"tap,id=net,ifname={self.tap},script=no,downscript=no",
                "-device", "virtio-net-pci,netdev=net", *more, name=self.name, stdin=theirs)

    def console(self):
        return self._console.read_text(errors="replace") if self._console.exists() else ""

    def ready(self):
        """Waits until it is up; the seconds that it took."""
        def up():
            if not self.program.running():
                raise Failure(f"{self.name} ended with {self.program.process.returncode}: {self.program.log}")
            return re.search(r"guest-is-up (\S+) \S+\n", self.console())
        found, _ = wait_until(up, f"{self.name} to boot: {self._console}", BOOT_S, interval=0.05)
        self.release = found.group(1)
        return time.monotonic() - self._started

    def run(self, command, check_code=True, timeout=COMMAND_S):
        """Runs a line of shell; its exit code and what it printed."""
        mark = f"@@{time.monotonic_ns()}:"
        # The mark is put together by the guest, so that no echo of the line can be taken for it.
        line = f"( {command}\n) </dev/null 2>&1; printf '%s%s%s\\n' @@ {shlex.quote(mark[2:])} $?\n"
        start = self.program.out.stat().st_size
        self._line.sendall(line.encode())

        def answered():
            with open(self.program.out, "rb") as out:
                out.seek(start)
                text = out.read()
            if re.search(re.escape(mark).encode() + rb"\d+\r?\n", text):
                return text
            if not self.program.running():
                raise Failure(f"{self.name} ended during '{command}': {self._console}")
            return None
        text, _ = wait_until(answered, f"{self.name} to do '{command}'", timeout, interval=0.005)
        output, _, code = text.decode(errors="replace").replace("\r", "").rpartition(mark)
        code = int(code)
        self.host.lab.note(f"{self.name}$ {command}  -> {code}\n{output}")
        if check_code and code:
            raise Failure(f"{self.name}: '{command}' ended with {code}: {output.strip()[-300:]}")
        return code, output

    def tell(self, command):
        """A word to QEMU's own monitor: stop, cont."""
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(str(self._monitor))
            line.sendall(command.encode() + b"\n")
            line.settimeout(2)
            text = b""
            try:
                while text.count(b"(qemu)") < 2:
                    text += line.recv(4096) or b"(qemu)(qemu)"
            except TimeoutError:
                pass
        self.host.lab.note(f"{self.name} monitor: {command}")

    def cut_power(self):
        """The machine is gone at once, with what was not yet on its disk."""
        self.program.kill()

    def load(self, module):
        self.run(f"for module in $(cat /modules/{module}); do insmod /modules/$module.ko || exit 1; done")

    def write(self, path, text):
        self.run(f"umask 077; printf %s {shlex.quote(text)} >{path}")

    def wireguard(self, name, config, addresses, mtu=1420):
        """An in-kernel interface set up by wg and ip: the peer of what is tested."""
        self.write(f"/tmp/{name}.conf", config)
        lines = [f"ip link add {name} type wireguard", f"wg setconf {name} /tmp/{name}.conf"]
        lines += [f"ip address add {a} dev {name}" + (" nodad" if ":" in a else "") for a in addresses]
        self.run(" && ".join(lines + [f"ip link set {name} mtu {mtu} up"]))
