# SPDX-License-Identifier: MIT
"""An X server (Xvfb), a session bus and the accessibility bus on one host of the lab; everything that they write lies in
the logs of the test."""

import os
import pathlib
import re
import subprocess
import time

from lib.lab import Failure, check, wait_until

HERE = pathlib.Path(__file__).parent
# GTK 4.8 dies when it is asked for a widget that is there but not drawn yet (GetChildAtIndex of one without a path). That
# fault is the toolkit's: the tests wait until what a click brings is drawn.
DRAWN_S = 0.5
# What a toolkit says when it is used wrongly.
COMPLAINTS = re.compile(r"\b(WARNING|CRITICAL|ERROR)\b")

BUS_CONFIG = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path={path}</listen>
  <auth>EXTERNAL</auth>
  <standard_session_servicedirs/>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"""


class Desk:
    def __init__(self, host, size="1000x760", user=None, **env):
        """user: lib.stranger.User, who sits there in place of root, and sees of the lab's folders what a desk needs."""
        self.host, self.lab, self.started = host, host.lab, []
        self.user, self.mounts = user, {}
        self.folder = (host.lab.logs / f"{host.name}.desk").resolve()
        for name in "run", "config", "cache", "data":
            (self.folder / name).mkdir(parents=True, mode=0o700, exist_ok=True)
        # A path to a socket is short: the folder of the logs may not be. And it is another one for each desk: what the bus of
        # the last one had started may still be about to remove its sockets.
        host.desks = getattr(host, "desks", 0) + 1
        self.run = pathlib.Path(f"/run/desk-{host.desks}")
        host.run("mkdir", "-m", "700", self.run)
        home = self.folder
        if user:
            for number, folder in enumerate((self.folder, HERE, self.lab.binary("wgtcp-gui").parent)):
                self.mounts[str(folder)] = f"/run/seen-{number}"
                host.run("mkdir", f"/run/seen-{number}")
                host.run("mount", "--bind", folder, f"/run/seen-{number}")
            home = pathlib.Path("/run/seen-0")
            host.run("chown", "-R", str(user.uid), self.run, home)
        read, write = os.pipe()
        self.server = subprocess.Popen(
            host.prefix() + ["Xvfb", "-displayfd", str(write), "-screen", "0", f"{size}x24", "-nolisten", "tcp"],
            pass_fds=[write], stdin=subprocess.DEVNULL, start_new_session=True,
            stdout=open(self.folder / "xvfb.log", "wb"), stderr=subprocess.STDOUT)
        os.close(write)
        with os.fdopen(read) as pipe:
            number = pipe.readline().strip()
        check(number, f"Xvfb did not start: {self.folder / 'xvfb.log'}")
        config = self.folder / "bus.conf"
        config.write_text(BUS_CONFIG.format(path=self.run / "bus"))
        self.env = {
            "DISPLAY": f":{number}", "DBUS_SESSION_BUS_ADDRESS": f"unix:path={self.run}/bus",
            "XDG_RUNTIME_DIR": str(self.run), "XDG_CONFIG_HOME": str(home / "config"),
            "XDG_CACHE_HOME": str(home / "cache"), "XDG_DATA_HOME": str(home / "data"),
            "HOME": str(home), "GSK_RENDERER": "cairo", "GDK_BACKEND": "x11", "GTK_A11Y": "atspi",
            "GSETTINGS_BACKEND": "memory", "NO_AT_BRIDGE": "0", "GTK_USE_PORTAL": "0", "ADW_DISABLE_PORTAL": "1",
            # Toolkits and font libraries keep caches to the end.
            "ASAN_OPTIONS": f"log_path={self.lab.logs}/sanitizer:detect_leaks=0:exitcode=99",
        }
        self.env.update(env)
        self.bus = self.start("dbus-daemon", "--nofork", "--config-file", config, name="dbus-daemon")
        wait_until(lambda: host.run("test", "-S", self.run / "bus", check_code=False).returncode == 0, "the session bus")

    def close(self):
        """Another desk can take its place."""
        for program in reversed(self.started):
            program.stop()
        self.server.terminate()
        self.server.wait()

    def as_seen(self, argv):
        """By whoever sits there."""
        prefix = self.user.prefix if self.user else []
        argv = [str(word) for word in argv]
        for folder, seen in self.mounts.items():
            argv = [word.replace(folder, seen) for word in argv]
        return prefix + argv

    def start(self, *argv, name=None, env=None):
        name = name or pathlib.Path(str(argv[0])).name
        program = self.host.start(*self.as_seen(argv), name=name, env={**self.env, **(env or {})})
        self.started.append(program)
        return program

    def tool(self, tool, *args, check_code=True, timeout=60):
        return self.host.run(*self.as_seen(["/usr/bin/python3", HERE / f"{tool}.py", *args]), env=self.env,
                             check_code=check_code, timeout=timeout)

    def xdotool(self, *args):
        return self.host.run("xdotool", *args, env=self.env).stdout.strip()

    def key(self, *keys):
        self.xdotool("key", *keys)

    def shot(self, name):
        """A picture of the whole screen; how many colours it has."""
        path = self.lab.logs / f"{name}.png"
        self.host.run("import", "-window", "root", path, env=self.env)
        return int(self.host.run("identify", "-format", "%k", path, env=self.env).stdout)


class App:
    """A program on the desk, seen and moved as by somebody who uses a screen reader."""

    def __init__(self, desk, program, *args, name=None, env=None):
        self.desk, self.name = desk, name or pathlib.Path(str(program)).name
        self.program = desk.start(program, *args, name=self.name, env=env)

    def tree(self):
        """A line for each control that can be seen: role, name and description, divided by tabs."""
        return [line.split("\t") for line in self.desk.tool("a11y", "tree", self.name).stdout.splitlines()]

    def texts(self):
        return {part for line in self.tree() for part in line[1:] if part}

    def wait_for(self, pattern, timeout=20):
        def seen():
            if not self.program.running():
                raise Failure(f"{self.name} ended with {self.program.process.returncode}: {self.program.log}")
            return next((t for t in self.texts() if re.search(pattern, t)), None)
        try:
            return wait_until(seen, f"'{pattern}' in the window", timeout, interval=0.2)[0]
        except Failure as why:
            self.desk.shot("failed")
            raise Failure(f"{why}; there is: {sorted(self.texts())}") from None

    def wait_gone(self, pattern, timeout=20):
        wait_until(lambda: not any(re.search(pattern, t) for t in self.texts()), f"'{pattern}' to go", timeout,
                   interval=0.2)

    def click(self, name, role=None):
        done = self.desk.tool("a11y", "click", self.name, name, *([role] if role else []), check_code=False)
        if done.returncode:
            self.desk.shot("failed")
            raise Failure(f"cannot click '{name}': {done.stderr.strip()[-300:]}")
        time.sleep(DRAWN_S)

    def action(self, name):
        """An action of the window, as its menu and its keys do it."""
        self.desk.host.run(*self.desk.as_seen(
            ["gdbus", "call", "--session", "--dest", "org.wgtcp.Gui", "--object-path", "/org/wgtcp/Gui/window/1",
             "--method", "org.gtk.Actions.Activate", name, "[]", "{}"]), env=self.desk.env)
        time.sleep(DRAWN_S)

    def cpu_s(self):
        """Processor time that it has used, all its threads."""
        fields = pathlib.Path(f"/proc/{self.program.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def heap_kib(self):
        """Memory of its own that it has written to."""
        rollup = pathlib.Path(f"/proc/{self.program.pid}/smaps_rollup").read_text()
        return int(re.search(r"^Private_Dirty:\s+(\d+)", rollup, re.M).group(1))

    def type(self, name, text):
        done = self.desk.tool("a11y", "type", self.name, name, text, check_code=False)
        if done.returncode:
            raise Failure(f"cannot type into '{name}': {done.stderr.strip()[-300:]}")
        time.sleep(DRAWN_S)

    def check_quiet(self):
        """Nothing that the toolkit complains of on stderr."""
        lines = [line for line in self.program.text().splitlines() if COMPLAINTS.search(line)]
        check(not lines, f"{self.name} complains: {lines[:3]}: {self.program.log}")
