# SPDX-License-Identifier: MIT
"""wgtcp-tray over D-Bus, with a tray host of the test's own, the real daemon and a real tunnel."""

import json
import pathlib
import re
import sys

sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parents[1] / "netns")]
from desktop.desk import COMPLAINTS, HERE, Desk  # noqa: E402
from lib import case  # noqa: E402
from lib.case import main_path  # noqa: E402
from lib.lab import check, wait_until  # noqa: E402
from lib.network import Site  # noqa: E402
from lib.tunnel import office  # noqa: E402

ICONS = pathlib.Path(__file__).parents[2] / "gui" / "window" / "icons"


class Tray:
    def __init__(self, desk, socket="/run/wgtcpd.sock"):
        self.desk = desk
        self.host = desk.start("/usr/bin/python3", HERE / "tray.py", "host", name="tray-host")
        self.host.wait_for_text("ready")
        self.program = desk.start(desk.lab.binary("wgtcp-tray"), "--socket", socket, "--icons", ICONS)
        self.host.wait_for_text("item ")
        self.service, self.path = re.search(r"item (\S+) (\S+)", self.host.text()).groups()

    def show(self):
        return json.loads(self.desk.tool("tray", "show", self.service, self.path).stdout)

    def wait(self, test, what):
        return wait_until(lambda: (lambda shown: shown if test(shown) else None)(self.show()), what, interval=0.2)[0]

    def click(self, label):
        self.desk.tool("tray", "click", self.service, self.path, label)


def item(shown, label):
    return next((i for i in shown["menu"] if i["label"].startswith(label)), None)


@main_path
def test_tray_toggles_a_tunnel(lab):
    """Icon by state, a check item for each tunnel with carrier and rates, clicked on and off; the daemon goes."""
    site = Site(lab)
    _, daemon, _, _ = office(site)
    tray = Tray(Desk(site.client))
    shown = tray.wait(lambda s: item(s, "office"), "the tunnel in the menu")
    check(shown["icon"] == "wgtcp-off-symbolic" and shown["status"] == "Active", f"icon: {shown}")
    check((ICONS / f"{shown['icon']}.svg").exists(), f"there is no icon {shown['icon']}")
    check(item(shown, "office")["check"] == "checkmark" and not item(shown, "office")["on"], f"menu: {shown}")
    tray.click("office")
    shown = tray.wait(lambda s: s["icon"] == "wgtcp-on-symbolic", "the icon of a connected tunnel")
    daemon.wait_status("office", state="up")
    site.client.tool("pinger.py", "10.77.0.1", "--interval", "20", "--size", "1000")
    shown = tray.wait(lambda s: re.search(r"office: UDP, ↓ [1-9].*kbit/s, ↑ [1-9]", item(s, "office")["label"]),
                      "carrier and rates in the menu")
    check(item(shown, "office")["on"] and shown["title"] == "1 tunnel is connected", f"menu: {shown}")
    tray.click("office")
    tray.wait(lambda s: s["icon"] == "wgtcp-off-symbolic" and not item(s, "office")["on"], "the tunnel to go")
    daemon.wait_status("office", state="down")
    daemon.program.kill()
    shown = tray.wait(lambda s: s["icon"] == "wgtcp-attention-symbolic", "the icon of a daemon that is gone")
    check(shown["title"] == "The service has stopped" and not item(shown, "office"), f"menu: {shown}")
    daemon.start()
    # What was switched off or hidden is there again.
    shown = tray.wait(lambda s: item(s, "office"), "the tunnel in the menu again")
    check(item(shown, "office")["enabled"] and item(shown, "office")["visible"], f"menu: {shown}")
    tray.click("Quit")
    check(tray.program.wait() == 0, "it did not end well")
    check(not COMPLAINTS.search(tray.program.text()), f"the toolkit complains: {tray.program.log}")


def test_speed_test(lab):
    """Its item waits for a connected tunnel, and opens the window's test of it; the window's item opens the window."""
    site = Site(lab)
    _, daemon, _, _ = office(site)
    desk = Desk(site.client)
    desk.env["PATH"] = f"{lab.binary('wgtcp-gui').parent}:/usr/bin:/bin"
    tray = Tray(desk)
    shown = tray.wait(lambda s: item(s, "office"), "the tunnel in the menu")
    check(not item(shown, "Speed test")["enabled"], f"there is nothing to measure: {shown}")
    daemon.up("office")
    tray.wait(lambda s: item(s, "Speed test")["enabled"], "the speed test's item")
    tray.click("Speed test")
    wait_until(lambda: desk.host.run("xdotool", "search", "--onlyvisible", "--name", "^Speed test of office$", env=desk.env,
                                     check_code=False).stdout.strip(), "the window of the speed test")
    desk.shot("speed")
    tray.click("Open the window")
    windows = desk.xdotool("search", "--onlyvisible", "--name", "^wgtcp$").split()
    check(len(windows) == 1, f"{len(windows)} windows")


def test_without_a_tray(lab):
    """It ends with one sentence that says what to do, and waits for a desktop that comes later if it is told to."""
    site = Site(lab)
    desk = Desk(site.client)
    program = desk.start(lab.binary("wgtcp-tray"), name="alone")
    check(program.wait() == 1, f"exit code {program.process.returncode}")
    lines = program.out.read_text().splitlines() + program.log.read_text().splitlines()[1:]
    check(len(lines) == 1 and "StatusNotifierWatcher" in lines[0], f"not one sentence: {lines}")
    late = desk.start(lab.binary("wgtcp-tray"), "--wait", "30", "--icons", ICONS, name="late")
    host = desk.start("/usr/bin/python3", HERE / "tray.py", "host", name="tray-host")
    host.wait_for_text("item ")
    check(late.running(), "it ended although a tray came")


if __name__ == "__main__":
    sys.exit(case.main(globals()))
