# SPDX-License-Identifier: MIT
"""The editors of both toolkits, loaded by libnm as the settings programs do it, on a screen of the test's own."""

import pathlib
import subprocess
import sys

sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parents[1] / "netns"),
                str(pathlib.Path(__file__).parents[1] / "gui")]
from desktop.desk import COMPLAINTS, App, Desk  # noqa: E402
from lib import case  # noqa: E402
from lib.case import main_path  # noqa: E402
from lib.lab import check, wait_until  # noqa: E402
from lib.tunnel import Key, interface_text, peer_text, preshared_key  # noqa: E402


class Editor(App):
    """tests/nm/editor_host.c"""

    def __init__(self, desk, toolkit, path):
        self.desk, self.name = desk, f"nm-wgtcp-test-editor-{toolkit}"
        lab = desk.lab
        self.program = desk.host.start(lab.binary(self.name), lab.binary("libnm-vpn-plugin-wgtcp.so"), path, name=self.name,
                                       env=desk.env, stdin=subprocess.PIPE)
        self.program.wait_for_text("shown")

    def say(self, line):
        """One line to its stdin; what it answers."""
        before = len(self.program.out.read_text())
        self.program.process.stdin.write(line.encode() + b"\n")
        self.program.process.stdin.flush()
        return wait_until(lambda: self.program.out.read_text()[before:].strip(), f"an answer to {line}")[0]

    def type(self, label, text):
        """Writes into the entry that stands beside a label or shows a text."""
        done = self.desk.tool("a11y", "type", self.name, label, text, check_code=False)
        check(done.returncode == 0, f"cannot type into {label}: {done.stderr.strip()[-300:]}")


def profile(lab):
    path = lab.logs / "office.conf"
    path.touch(mode=0o600)
    path.write_text(interface_text(Key(), extra="Address = 10.77.0.2/24, fd77::2/64\nDNS = 10.77.0.53, corp.example\n"
                                   "KillSwitch = on\nPostUp = logger up\n")
                    + peer_text(Key(), "10.77.0.0/24, fd77::/64", "vpn.example.com:51820", preshared_key(), 25,
                                "TcpEndpoint = tcp.example.com:443\n")
                    + peer_text(Key(), "10.78.0.0/24", "[2001:db8::1]:51820"))
    return path


def lines(path):
    return sorted(line for line in path.read_text().splitlines() if line.strip())


def shown_and_written_back(lab, toolkit):
    desk = Desk(lab.host("desk"), size="800x1100")
    path = profile(lab)
    app = Editor(desk, toolkit, path)
    app.wait_for("Networks behind it")
    texts = app.texts()
    for text in "Private key", "Addresses", "Keys are stored", "Peer 1", "Peer 2", "Server for TCP", "Add a peer":
        check(text in texts, f"'{text}' is not shown: {sorted(texts)}")
    colours = desk.shot(f"editor-{toolkit}")
    check(colours > 50, f"the picture has {colours} colours")
    # What is not touched stays as it was, also what has no row (PostUp).
    said = app.say("update")
    check(said.startswith("updated"), said)
    exported = lab.logs / f"exported-{toolkit}.conf"
    said = app.say(f"export {exported}")
    check(said == "exported" and lines(exported) == lines(path), f"{said}: {exported}")
    # The parser's own sentence, and then what was typed.
    app.type("Server", "vpn.example.com")
    said = app.say("update")
    check(said.startswith("refused: ") and "Endpoint" in said, said)
    app.wait_for("Endpoint")
    desk.shot(f"refused-{toolkit}")
    app.type("Server", "new.example.com:443")
    said = app.say("update")
    check(said.startswith("updated") and "after 0" not in said, said)
    app.say(f"export {exported}")
    check("Endpoint = new.example.com:443" in exported.read_text(), "what was typed is not there")
    # A peer that is taken away, and then the editor itself, while the window still shows the rest.
    app.click("Remove this peer")
    app.say("update")
    app.say(f"export {exported}")
    check(exported.read_text().count("[Peer]") == 1, "the peer is still there")
    check(app.say("close") == "closed", "the editor does not close")
    app.click("Add a peer")
    check("Peer 3" not in app.texts(), "an editor that is closed still answers")
    check(not COMPLAINTS.search(app.program.said()), f"the toolkit complains: {app.program.log}")


@main_path
def test_gtk3_editor(lab):
    shown_and_written_back(lab, "gtk3")


@main_path
def test_gtk4_editor(lab):
    shown_and_written_back(lab, "gtk4")


if __name__ == "__main__":
    sys.exit(case.main(globals()))
