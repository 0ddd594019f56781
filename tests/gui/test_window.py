# SPDX-License-Identifier: MIT
"""wgtcp-gui, seen and used as by somebody with a screen reader, with the real daemon and a real tunnel."""

import pathlib
import re
import statistics
import subprocess
import sys
import time
import zipfile

sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parents[1] / "netns")]
from desktop.desk import HERE, App, Desk  # noqa: E402
from lib import case, machine, polkit, speed  # noqa: E402
from lib.case import main_path, waiting  # noqa: E402
from lib.lab import Failure, check, wait_until  # noqa: E402
from lib.network import Site  # noqa: E402
from lib.stranger import User  # noqa: E402
from lib.tunnel import Daemon, Key, interface_text, office, peer_text  # noqa: E402

SOURCE = pathlib.Path(__file__).parents[2]
LANGUAGES = "de", "es", "fr"


def window(desk, *args, socket="/run/wgtcpd.sock", width=920, height=680, **env):
    settings = desk.folder / "config" / "wgtcp"
    settings.mkdir(exist_ok=True)
    (settings / "window.ini").write_text(f"[window]\nwidth={width}\nheight={height}\n")
    return App(desk, desk.lab.binary("wgtcp-gui"), "--socket", socket, *args, env=env)


def fake(desk, *args):
    """A daemon of made-up tunnels; its socket."""
    program = desk.start("/usr/bin/python3", HERE / "daemon.py", "/run/fake.sock", *args, name="fake")
    program.wait_for_text("listening")
    return program


def translations(lab):
    """A folder with the catalogues of all languages."""
    for language in LANGUAGES:
        folder = lab.logs / "locale" / language / "LC_MESSAGES"
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["msgfmt", "-o", folder / "wgtcp.mo", SOURCE / "gui" / "po" / f"{language}.po"], check=True)
    return str(lab.logs / "locale")


def looks(desk, name):
    colours = desk.shot(name)
    check(colours > 20, f"the picture {name} has only {colours} colours: is it blank?")


def profile(name, key=None):
    return interface_text(key or Key(), extra=f"# Name = {name}\nAddress = 10.5.1.2/24\n") + \
        peer_text(Key(), "10.5.1.0/24", "198.51.100.9:51820")


@main_path
def test_connect_with_a_click(lab):
    """The switch, the state in words, traffic and the graph; UDP blocked; off again."""
    site = Site(lab)
    office(site)
    desk = Desk(site.client)
    app = window(desk)
    app.wait_for("^Not connected")
    looks(desk, "1-down")
    app.click("Connect office")
    app.wait_for("^Connected over UDP$")
    pings = site.client.tool("pinger.py", "10.77.0.1", "--interval", "20", "--size", "1000")
    app.wait_for(r"^Receiving [1-9][\d.]* kbit/s, sending [1-9]")
    looks(desk, "2-udp")
    site.router.block()
    app.wait_for("^Connected over TCP: (this network blocks UDP|here UDP )", timeout=40)
    looks(desk, "3-tcp")
    pings.signal(15)
    check(pings.result()["received"] > 0, "nothing passed")
    app.click("Disconnect")
    app.wait_for("^Not connected$")
    wait_until(lambda: "office" not in site.client.links(), "the interface to go")
    app.check_quiet()


def test_carrier_by_choice(lab):
    """Chosen before connecting, and changed while connected: as on the command line, to the packet."""
    site = Site(lab)
    _, daemon, _, _ = office(site)
    desk = Desk(site.client)
    app = window(desk)
    app.wait_for("^Not connected")
    before = site.router.count("udp_up")
    app.click("TCP only")
    app.wait_for("^Not one packet over UDP")
    app.click("Connect office")
    app.wait_for("^Connected over TCP, as you chose")
    check(site.router.count("udp_up") == before, "packets over UDP although TCP was chosen")
    app.click("UDP only")
    app.wait_for("^Connected over UDP, as you chose")
    check(daemon.status("office")["carrier"] == "udp", "the daemon says otherwise")
    app.check_quiet()


def test_without_a_daemon(lab):
    """Not running, running without tunnels, killed, back: said at once, and no click needed."""
    site = Site(lab)
    desk = Desk(site.client)
    app = window(desk)
    app.wait_for("The service is not running")
    app.wait_for("sudo systemctl start wgtcpd")
    looks(desk, "1-not-running")
    daemon = Daemon(site.client)
    app.wait_for("No tunnels yet")
    looks(desk, "2-empty")
    daemon.profile("office", profile("Office"))
    daemon.program.kill()
    start = time.monotonic()
    app.wait_for("The service has stopped")
    told = time.monotonic() - start
    looks(desk, "3-stopped")
    daemon.start()
    start = time.monotonic()
    app.wait_for("^Office")
    lab.figure(f"stop told after {told:.1f} s, back {time.monotonic() - start:.1f} s after the daemon")
    check(told < lab.bound(3), f"told only after {told:.1f} s")
    app.check_quiet()


def test_states_that_are_made_up(lab):
    """A portal with its button, a failure with its cure, and somebody who may only look."""
    site = Site(lab)
    for number, (args, texts) in enumerate((
            (("--state", "failed", "--cause", "captive-portal"),
             ("Could not connect: this network wants you to log in first", "Open the login page")),
            (("--state", "reconnecting", "--cause", "no-network"),
             ("Connection lost, reconnecting…: there is no network", "The tunnel follows by itself")),
            (("--state", "degraded", "--peers", "2", "--message", "the peer 0Zc4 is missing"),
             ("but not everything passes", "The peer 0Zc4 is missing", "Could not connect: the server does not answer")),
            (("--state", "up", "--profile", "by-tcp"), ("^Profile in use$", "^by-tcp$")),
            (("--state", "up", "--managed-by", "NetworkManager"), ("^Managed by$", "^NetworkManager$", "^Set up by NetworkManager")),
            (("--state", "reconnecting", "--lockdown", "on"),
             ("^The kill switch is closed: nothing goes out until Tunnel 0 is connected", "^on$")),
            (("--state", "up", "--lockdown", "open"), ("^The kill switch is open until ", "^open for a time$")),
            (("--permission", "read"), ("You may look, but not change anything",)),
            (("--permission", "read", "--tunnels", "0"), ("No tunnels yet", "sudo usermod -aG wgtcp root")))):
        desk = Desk(site.client)
        daemon = fake(desk, *args)
        app = window(desk, socket="/run/fake.sock")
        for text in texts:
            app.wait_for(text)
        looks(desk, f"state-{number}")
        app.check_quiet()
        app.program.stop()
        daemon.stop()
        desk.close()


@waiting
def test_kill_switch(lab):
    """On, closed when the way is blocked, opened for a time and for good: said, and so it is."""
    site = Site(lab)
    _, daemon, _, _ = office(site, client_extra="KillSwitch = on\n")
    desk = Desk(site.client)
    # Without a program that manages windows none is in front when a dialog has closed.
    desk.start("/usr/bin/python3", HERE / "notes.py", name="notes").wait_for_text("ready")
    app = window(desk)
    app.wait_for("^Not connected")
    app.click("Connect office")
    app.wait_for("^The kill switch is on: what does not go through office")
    site.router.block("meta l4proto { udp, tcp }")
    app.wait_for("^The kill switch is closed: nothing goes out until office is connected", timeout=60)
    looks(desk, "1-closed")
    app.click("Unlock…")
    app.wait_for("^Open the kill switch")
    looks(desk, "2-question")
    app.click("For five minutes")
    app.wait_for("^The kill switch is open until ")
    app.click("Unlock…")
    app.click("Open")
    app.wait_gone("^The kill switch is")
    check("wgtcp_kill_switch" not in site.client.run("nft", "list", "tables").stdout, "the kill switch is still there")
    # Somebody else's word is seen as well.
    site.router.open()
    daemon.cli("down", "office")
    daemon.up("office")
    app.wait_for("^The kill switch is on")
    daemon.cli("unlock")
    app.wait_gone("^The kill switch is", timeout=30)
    app.check_quiet()


def drag(desk, name, *arguments):
    """From the other program's window into the middle of ours, as a hand does it: not in one leap."""
    source = desk.start("/usr/bin/python3", HERE / "drag.py", *arguments, name=name)
    source.wait_for_text("ready")
    time.sleep(1)
    desk.xdotool("mousemove", "955", "40")
    time.sleep(0.3)
    desk.xdotool("mousedown", "1")
    time.sleep(0.3)
    # Within the source first, so that it is a drag, then across; over the target until it has said that it takes it.
    for x, y in [(952, 44), (945, 52)] + [(x, 200) for x in range(930, 400, -50)] + [(430 + 5 * (n % 2), 200) for n in range(8)]:
        desk.xdotool("mousemove", str(x), str(y))
        time.sleep(0.15)
    desk.xdotool("mouseup", "1")
    return source


def drop(desk, app, names, name, *arguments):
    """A hand that lets go too early on a busy machine tries again."""
    for patience in 6, 6, 6, 6, 20:
        source = drag(desk, name, *arguments)
        try:
            app.wait_for(f"^{names[0]}, ", timeout=patience)
            break
        except Failure:
            if patience == 20:
                raise
        finally:
            source.stop()
    for other in names[1:]:
        app.wait_for(f"^{other}, ")


@waiting
def test_ways_to_import(lab):
    """The file chooser, files and text that are dropped, files and text that are pasted; no key is shown."""
    site = Site(lab)
    desk = Desk(site.client)
    daemon = Daemon(site.client)
    folder = lab.logs / "files"
    folder.mkdir()
    keys = {}
    for name in "Chosen", "Dropped", "Second", "Spoken", "Pasted", "Copied":
        keys[name] = Key()
        (folder / f"{name.lower()}.conf").write_text(profile(name, keys[name]))
    with zipfile.ZipFile(folder / "all.zip", "w") as archive:
        archive.writestr("zipped.conf", profile("Zipped"))
    app = window(desk)
    app.wait_for("No tunnels yet")
    desk.key("ctrl+o")
    time.sleep(2)
    looks(desk, "1-chooser")
    desk.xdotool("type", "--delay", "20", str((folder / "chosen.conf").resolve()))
    time.sleep(0.5)
    desk.key("Return")
    time.sleep(0.5)
    desk.key("Return")
    app.wait_for("^Chosen, ")
    drop(desk, app, ("Dropped", "Second", "Zipped"), "files", folder / "dropped.conf", folder / "second.conf",
         folder / "all.zip")
    drop(desk, app, ("Spoken",), "text", "--text", folder / "spoken.conf")
    for selection, target, name in (((folder / "pasted.conf").read_bytes(), "UTF8_STRING", "Pasted"),
                                    ((folder / "copied.conf").resolve().as_uri().encode() + b"\r\n", "text/uri-list",
                                     "Copied")):
        (folder / "clipboard").write_bytes(selection)
        clip = desk.start("xclip", "-selection", "clipboard", "-quiet", "-t", target, "-i", folder / "clipboard", name="xclip")
        time.sleep(1)
        app.action("paste")
        app.wait_for(f"^{name}, ")
        clip.stop()
    check(len(list(daemon.config.iterdir())) == 7, f"stored: {list(daemon.config.iterdir())}")
    check(not any(key.private in text for text in app.texts() for key in keys.values()), "a private key is on the screen")
    app.check_quiet()


@waiting
def test_notifications(lab):
    """Connected, moved and lost while another program is in front; each kind can be switched off."""
    site = Site(lab)
    _, daemon, _, _ = office(site)
    desk = Desk(site.client)
    notes = desk.start("/usr/bin/python3", HERE / "notes.py", name="notes")
    notes.wait_for_text("ready")
    app = window(desk)
    app.wait_for("^Not connected")
    front = desk.start("/usr/bin/python3", HERE / "drag.py", "--front", name="front")
    front.wait_for_text("ready")
    time.sleep(1)
    desk.xdotool("search", "--onlyvisible", "--name", "^elsewhere$", "windowfocus")
    time.sleep(0.5)
    daemon.up("office")
    notes.wait_for_text("is connected")
    daemon.cli("switch", "office", "tcp")
    notes.wait_for_text("TCP")
    app.action("preferences")
    for name in "A tunnel has connected", "A tunnel moved between UDP and TCP", "A network wants you to log in":
        app.wait_for(f"^{name}$")
    looks(desk, "1-preferences")
    app.click("A tunnel moved between UDP and TCP")
    desk.key("Escape")
    desk.xdotool("search", "--onlyvisible", "--name", "^elsewhere$", "windowfocus")
    time.sleep(0.5)
    before = len(notes.text().splitlines())
    daemon.cli("switch", "office", "udp")
    daemon.cli("switch", "office", "tcp")
    app.wait_for("^Connected over TCP")
    site.router.block("meta l4proto { udp, tcp }")
    app.wait_for("^Connection lost", timeout=60)
    wait_until(lambda: len(notes.text().splitlines()) > before, "the notification of the loss")
    said = notes.text().splitlines()[before:]
    check(len(said) == 1, f"said although it was switched off: {said}")
    app.check_quiet()


def test_import(lab):
    """Several files, an archive, one that is wrong: all that can be are in, and the wrong one is named with its line."""
    site = Site(lab)
    desk = Desk(site.client)
    daemon = Daemon(site.client)
    folder = lab.logs / "files"
    folder.mkdir()
    key = Key()
    (folder / "Büro Berlin (neu).conf").write_text(profile("Berlin", key))
    (folder / "wrong.conf").write_text("[Interface]\nPrivateKey = tooshort\n")
    with zipfile.ZipFile(folder / "all.zip", "w") as archive:
        archive.writestr("vpn/paris.conf", profile("Paris"))
        archive.writestr("vpn/../../../../etc/oslo.conf", profile("Oslo"))
        archive.writestr("vpn/readme.txt", "nothing")
    app = window(desk, *folder.glob("*"))
    app.wait_for(r"PrivateKey has 8 characters")
    looks(desk, "1-report")
    for name in "Berlin", "Paris", "Oslo":
        app.wait_for(f"^{name}")
    stored = sorted(p.name for p in daemon.config.iterdir())
    check(len(stored) == 3 and "paris.conf" in stored and "oslo.conf" in stored, f"stored: {stored}")
    check(not any(key.private in text for text in app.texts()), "the private key is on the screen")
    for log in lab.logs.glob("client.*.log"):
        check(key.private not in log.read_text(errors="replace"), f"the private key is in {log}")
    app.check_quiet()


def test_edit(lab):
    """A wrong value is explained where it stands, and cannot be saved; a right one is; the key stays."""
    site = Site(lab)
    desk = Desk(site.client)
    daemon = Daemon(site.client)
    key = Key()
    daemon.profile("office", profile("Office", key))
    app = window(desk)
    app.wait_for("^Office")
    app.action("edit")
    app.wait_for("^Addresses inside the tunnel")
    check(not any(key.private in text for text in app.texts()), "the private key is on the screen")
    app.type("Addresses inside the tunnel", "10.5.1.999/24")
    app.wait_for('^Address has "10.5.1.999/24"')
    looks(desk, "1-wrong")
    app.type("Addresses inside the tunnel", "10.6.1.2/24")
    app.wait_gone("10.5.1.999")
    app.type("Name", "Head office")
    app.click("Save")
    app.wait_for("^Head office, Not connected")
    text = (daemon.config / "office.conf").read_text()
    check("10.6.1.2/24" in text and key.private in text, f"not saved as it should be: {text.replace(key.private, '(key)')}")
    app.check_quiet()


def test_delete_and_undo(lab):
    """Undone, nothing has happened; left alone, it is gone, also when the window is closed at once."""
    site = Site(lab)
    desk = Desk(site.client)
    daemon = Daemon(site.client)
    daemon.profile("office", profile("Office"))
    daemon.profile("home", profile("Home"))
    app = window(desk)
    app.wait_for("^Home")
    app.action("delete")
    app.wait_for("^Home is deleted")
    app.click("Undo")
    app.wait_for("^Home, Not connected")
    check((daemon.config / "home.conf").exists(), "deleted although it was undone")
    app.action("delete")
    app.wait_for("^Home is deleted")
    app.wait_gone("^Home, ")
    check((daemon.config / "home.conf").exists(), "deleted before it could be undone")
    desk.host.run("gdbus", "call", "--session", "--dest", "org.wgtcp.Gui", "--object-path", "/org/wgtcp/Gui", "--method",
                  "org.gtk.Actions.Activate", "quit", "[]", "{}", env=desk.env)
    check(app.program.wait() == 0, "it did not end well")
    check(not (daemon.config / "home.conf").exists(), "not deleted when the window was closed")
    check((daemon.config / "office.conf").exists(), "the wrong one was deleted")
    app.check_quiet()


def test_key_only_after_a_question(lab):
    """The QR code comes after a yes, and the log and the report hold no key and no address."""
    site = Site(lab)
    _, daemon, server_key, client_key = office(site)
    desk = Desk(site.client)
    app = window(desk)
    app.wait_for("^office")
    app.action("qr")
    app.wait_for("Show the private key as a QR code")
    check("QR code of office" not in app.texts(), "shown before the answer")
    app.click("Show")
    app.wait_for("^QR code of office")
    looks(desk, "1-qr")
    # A sanitizer keeps what was freed, and has more memory than can be read.
    check(lab.sanitized or memory_holds(app.program.pid, "QR code of office"), "the memory cannot be looked at")
    app.click("Close")
    app.wait_gone("^QR code of office")
    check(lab.sanitized or not memory_holds(app.program.pid, client_key.private), "the private key is still in memory")
    app.action("log")
    app.wait_for("version .* is running")
    app.click("Copy a report without keys, addresses and names")
    app.wait_for("^Copied, without keys")
    # Who asks for the clipboard gets it from the program that filled it.
    report = desk.host.run("xclip", "-selection", "clipboard", "-out", env=desk.env).stdout
    check("wgtcp-gui" in report and "tunnel-1: down" in report, f"no report: {report[:200]!r}")
    for secret in client_key.private, client_key.public, server_key.public, "198.51.100.2", "office":
        check(secret not in report, f"{secret} is in the report")
    app.check_quiet()


def save_as(desk, app, path):
    """Through the question and the file chooser, by keys."""
    app.action("export")
    app.wait_for("^Export with the private key")
    app.click("Export…")
    time.sleep(2)
    desk.key("ctrl+a")
    desk.xdotool("type", "--delay", "20", str(path))
    time.sleep(0.5)
    desk.key("Return")


@waiting
def test_export_to_a_file(lab):
    """As the daemon has it, for its owner's eyes only, also in the place of a file that others could read; and where nothing can
    be written."""
    site = Site(lab)
    _, daemon, _, client_key = office(site)
    desk = Desk(site.client)
    folder = (lab.logs / "exports").resolve()
    folder.mkdir()
    wanted = (daemon.config / "office.conf").read_text()
    app = window(desk)
    app.wait_for("^office")
    fresh, old = folder / "fresh.conf", folder / "old.conf"
    save_as(desk, app, fresh)
    app.wait_for(r"^Exported as fresh\.conf")
    check(fresh.read_text() == wanted and client_key.private in wanted, "another text")
    check(fresh.stat().st_mode & 0o777 == 0o600, f"mode {fresh.stat().st_mode:o}")
    old.write_text("mine")
    old.chmod(0o644)
    save_as(desk, app, old)
    app.wait_for("already exists")
    looks(desk, "1-replace")
    desk.key("Return")
    app.wait_for(r"^Exported as old\.conf")
    check(old.read_text() == wanted and old.stat().st_mode & 0o777 == 0o600, f"replaced: mode {old.stat().st_mode:o}")
    # A place that takes nothing, root's writing neither.
    site.client.run("mount", "-t", "tmpfs", "-o", "size=4k,nr_inodes=1", "full", folder)
    save_as(desk, app, folder / "none.conf")
    app.wait_for("^office was not exported")
    looks(desk, "2-full")
    site.client.run("umount", folder)
    app.check_quiet()


BROWSER = """[Desktop Entry]
Type=Application
Name=Browser
Exec=sh -c 'echo "$0" >>{seen}' %u
MimeType=x-scheme-handler/http;
"""


@waiting
def test_login_page(lab):
    """The button of a captive portal opens a page, without TLS, in the person's browser."""
    site = Site(lab)
    desk = Desk(site.client)
    seen = desk.folder / "seen"
    applications = desk.folder / "data" / "applications"
    applications.mkdir()
    (applications / "browser.desktop").write_text(BROWSER.format(seen=seen))
    (desk.folder / "config" / "mimeapps.list").write_text("[Default Applications]\nx-scheme-handler/http=browser.desktop\n")
    fake(desk, "--state", "failed", "--cause", "captive-portal")
    app = window(desk, socket="/run/fake.sock")
    app.wait_for("^Open the login page$")
    app.click("Open the login page")
    wait_until(lambda: seen.exists() and seen.read_text(), "the page to be opened")
    check(seen.read_text().startswith("http://"), f"opened: {seen.read_text()!r}")
    app.check_quiet()


@waiting
def test_somebody_who_is_not_root(lab):
    """A member of the group connects; keys are given when polkit says so, and the refusal names the way."""
    site = Site(lab)
    machine.own_etc(site.client)
    polkit.make_group(site.client)
    polkit.start(site.client)
    _, daemon, _, client_key = office(site)
    desk = Desk(site.client, user=User(site.client, polkit.CURIOUS, groups=[polkit.GROUP]))
    app = window(desk)
    app.wait_for("^Not connected")
    app.click("Connect office")
    app.wait_for("^Connected over UDP$")

    def ask_for_qr():
        app.action("qr")
        app.wait_for("Show the private key as a QR code")
        app.click("Show")
    ask_for_qr()
    app.wait_for("Only an administrator may take private keys out of the service")
    looks(desk, "1-refused")
    check(client_key.private not in " ".join(app.texts()), "the key is on the screen")
    app.click("Close")
    polkit.allow(site.client, "org.wgtcp.export-keys")

    def given():
        ask_for_qr()
        return wait_until(lambda: next((text for text in app.texts() if re.search(
            "^QR code of office|Only an administrator may", text)), None), "an answer")[0].startswith("QR")
    for _ in range(10):  # polkitd takes the rule when it sees it
        if given():
            break
        app.click("Close")
        time.sleep(1)
    looks(desk, "2-given")
    app.wait_for("^QR code of office")
    check(f"user {polkit.CURIOUS}" in daemon.cli("logs").stdout, "the log does not say who got the keys")
    check(daemon.status("office")["state"] == "up", "not up")
    app.check_quiet()


@waiting
def test_why(lab):
    """The daemon's doctor with its progress, verdicts and cures; again after a change; and the daemon goes."""
    site = Site(lab)
    _, daemon, _, _ = office(site)
    desk = Desk(site.client)
    app = window(desk)
    app.wait_for("^office")
    app.action("why")
    app.wait_for("^Nothing is wrong$", timeout=40)
    app.wait_for("^Way to the server$")
    looks(desk, "1-right")
    site.router.block()
    app.click("Look again")
    app.wait_for("^(Asking the server by|Looking)")
    looks(desk, "2-asking")
    app.wait_for("^It works, with a reservation$|^Nothing is wrong$", timeout=40)
    looks(desk, "3-udp-blocked")
    site.server.run("ip", "link", "set", "eth0", "down")
    app.click("Look again")
    app.wait_for("^This is why it does not work$", timeout=40)
    check(any("→ " in text for text in app.texts()), f"no cure: {sorted(app.texts())}")
    looks(desk, "4-wrong")
    daemon.program.kill()
    app.wait_for("The service has stopped")
    app.check_quiet()


def ask_for_speed(app, seconds):
    app.action("speed")
    app.wait_for("^How fast is this tunnel")
    app.type("Seconds in each direction", str(seconds))


@waiting
def test_speed(lab):
    """Live gauges, the result; stopped, and killed: nothing is left of it."""
    site = Site(lab)
    pair = speed.Pair(site.client, site.server)
    desk = Desk(site.client)
    app = window(desk)
    app.wait_for("^Connected over UDP$")
    ask_for_speed(app, 2)
    looks(desk, "1-start")
    app.click("Start")
    app.wait_for("^Download over UDP$", timeout=40)
    app.wait_for(r"^\d.* [MG]bit/s$")
    looks(desk, "2-download")
    app.wait_for("^Responsiveness$", timeout=60)
    app.wait_for("^Both at once$")
    looks(desk, "3-result")
    check(not speed.processes(site.client), "iperf3 is left after the test")
    app.click("Measure again")
    app.type("Seconds in each direction", "30")
    app.click("Start")
    speed.wait_for_process(site.client)
    app.click("Stop")
    speed.wait_for_none(site.client)
    app.wait_for("^How fast is this tunnel")
    # The daemon has ended it too: the next one may begin.
    app.click("Start")
    speed.wait_for_process(site.client)
    app.check_quiet()
    app.program.kill()
    speed.wait_for_none(site.client)
    pair.client.wait_status("office", transport="auto")


@waiting
def test_speed_of_both_carriers(lab):
    """UDP and TCP in turns, a sentence about which suits better, and the carrier is what it was."""
    site = Site(lab)
    pair = speed.Pair(site.client, site.server)
    desk = Desk(site.client)
    app = window(desk)
    app.wait_for("^Connected over UDP$")
    ask_for_speed(app, 1)
    app.click("Compare UDP and TCP")
    app.click("Start")
    app.wait_for("^Download over TCP$", timeout=60)
    app.wait_for("suits better here$|^Both carriers do equally well", timeout=120)
    for title in "^Over UDP$", "^Over TCP$":
        app.wait_for(title)
    looks(desk, "1-result")
    pair.client.wait_status("office", transport="auto")
    app.check_quiet()


@waiting
def test_closed_in_the_middle(lab):
    """Views that are closed while they wait, and a daemon that goes during a speed test: nothing is left, nothing ends."""
    site = Site(lab)
    pair = speed.Pair(site.client, site.server)
    desk = Desk(site.client)
    app = window(desk)
    app.wait_for("^Connected over UDP$")
    for _ in range(3):
        app.action("why")
        desk.key("Escape")
        time.sleep(0.3)
    app.action("why")
    app.wait_for("^Nothing is wrong$|^The check did not take place$|^Not everything|^It works", timeout=40)
    desk.key("Escape")
    for _ in range(2):
        ask_for_speed(app, 30)
        app.click("Start")
        speed.wait_for_process(site.client)
        desk.key("Escape")
        speed.wait_for_none(site.client)
        app.wait_gone("^Speed test of")
    ask_for_speed(app, 30)
    app.click("Start")
    speed.wait_for_process(site.client)
    pair.client.program.kill()
    app.wait_for("^There is no result$")
    app.wait_for("^The service has stopped")
    speed.wait_for_none(site.client)
    pair.client.start()
    app.click("Measure again")
    app.wait_for("^office, ", timeout=30)
    app.check_quiet()


@waiting
def test_no_speed(lab):
    """A tunnel that is down, and a server that answers no speed test: said with what to do."""
    site = Site(lab)
    pair = speed.Pair(site.client, site.server, answers=False)
    desk = Desk(site.client)
    app = window(desk)
    app.wait_for("^Connected over UDP$")
    ask_for_speed(app, 1)
    app.click("Start")
    app.wait_for("SpeedTestServer = on", timeout=60)
    looks(desk, "1-no-server")
    pair.client.cli("down", "office")
    app.click("Measure again")
    app.click("Start")
    app.wait_for("The tunnel is not connected")
    looks(desk, "2-down")
    app.check_quiet()


@waiting
def test_languages_fit_a_telephone(lab):
    """360 pixels wide in every language, also with text at 200 %; and nothing of it in English."""
    site = Site(lab)
    office(site)
    folder = translations(lab)
    words = {"de": "Nicht verbunden", "es": "Sin conexión", "fr": "Non connecté", "": "Not connected"}
    for language, word in words.items():
        for percent in 100, 200:
            desk = Desk(site.client, LANGUAGE=language, WGTCP_LOCALE_DIR=folder)
            if percent == 200:
                (desk.folder / "xsettings").write_text("Xft/DPI 196608\n")
                desk.start("xsettingsd", "-c", desk.folder / "xsettings", name="xsettingsd")
                time.sleep(0.5)
            app = window(desk, width=360, height=720)
            app.wait_for(f"^{word}$")
            size = desk.xdotool("search", "--onlyvisible", "--name", "^wgtcp$", "getwindowgeometry")
            width = int(size.rpartition("Geometry: ")[2].split("x")[0])
            looks(desk, f"{language or 'en'}-{percent}")
            check(width <= 360, f"{width} pixels wide in '{language}' at {percent} %")
            app.check_quiet()
            app.program.stop()
            desk.close()


@waiting
def test_looks(lab):
    """Dark, high contrast, from right to left and narrow, each view once: there is a picture, and nothing complains."""
    site = Site(lab)
    office(site)[1].up("office")
    folder = translations(lab)
    for name, width, env in (("dark", 920, {"ADW_DEBUG_COLOR_SCHEME": "prefer-dark"}),
                             ("contrast", 920, {"ADW_DEBUG_HIGH_CONTRAST": "1"}),
                             ("right-to-left", 920, {"WGTCP_TEXT_DIRECTION": "rtl"}),
                             ("narrow", 360, {"LANGUAGE": "de", "WGTCP_LOCALE_DIR": folder})):
        desk = Desk(site.client)
        app = window(desk, width=width, height=720, **env)
        app.wait_for("^(Connected over|Verbunden über) UDP$")
        looks(desk, f"{name}-page")
        for action in "why", "speed", "log", "edit", "preferences":
            app.action(action)
            time.sleep(1)
            looks(desk, f"{name}-{action}")
        if width == 360:
            # No program that manages windows is there: made as narrow as they allow, as a telephone would.
            for number in desk.xdotool("search", "--onlyvisible", "--class", ".").split():
                desk.xdotool("windowsize", number, "360", "640")
            time.sleep(1)
            looks(desk, "narrow-all")
            sizes = [int(size) for size in re.findall(r"Geometry: (\d+)x", desk.xdotool(
                "search", "--onlyvisible", "--class", ".", "getwindowgeometry", "%@"))]
            # With the shadow that a window draws for itself here.
            check(len(sizes) >= 5 and max(sizes) <= 370, f"widths of the windows: {sizes}")
        app.check_quiet()
        app.program.stop()
        desk.close()


@waiting
def test_everything_has_a_name(lab):
    """Each control of each view that can be used or read has a role and a name; the list of them lies in the logs."""
    site = Site(lab)
    _, daemon, _, _ = office(site)
    daemon.up("office")
    desk = Desk(site.client)
    app = window(desk)
    app.wait_for("^Connected over UDP$")
    app.wait_for("^Receiving")
    images = {name for role, name, _ in app.tree() if role == "image"}
    check({"Throughput of the last 5 minutes", "Round trip time of the last 5 minutes"} <= images, f"images: {images}")
    roles = {"push button", "toggle button", "check box", "radio button", "text", "combo box", "slider", "spin button"}
    listed, nameless = [], []
    for action, text in ((None, None), ("why", "^Why does it not work"), ("speed", "^How fast is this tunnel"),
                         ("edit", "^Addresses inside the tunnel"), ("log", "^Log of the service"),
                         ("preferences", "^Notifications$"), ("about", "^About$|wgtcp")):
        if action:
            app.action(action)
            app.wait_for(text)
        for role, name, description in app.tree():
            if role in roles:
                listed.append(f"{action or 'window'}\t{role}\t{name}\t{description}")
                if not name.strip():
                    nameless.append(listed[-1])
    (lab.logs / "controls.txt").write_text("\n".join(listed) + "\n")
    check(not nameless, f"without a name: {nameless[:5]}")
    used = len(set(line.partition("\t")[2] for line in listed))
    check(used > 40, f"only {used} controls were seen")
    lab.figure(f"{used} controls, all with a name")


def test_reader_asks_for_a_closed_dialog(lab):
    """By a number that no window has any more: the toolkit must not die of it, whatever windows there have been."""
    site = Site(lab)
    desk = Desk(site.client)
    fake(desk, "--tunnels", "1", "--state", "up")
    app = window(desk, socket="/run/fake.sock")
    app.wait_for("^Tunnel 0")
    for action, text in ((None, "^Tunnel 0"), ("shortcuts", "^Connect or disconnect"), ("export", "^Export with the private key"),
                         ("about", "^wgtcp"), ("preferences", "^A tunnel has connected$")):
        if action:
            app.action(action)
            app.wait_for(text)
        for _ in range(2):
            desk.tool("a11y", "gone", app.name, check_code=False)
            check(app.program.running(), f"it ended after '{action}'")
            desk.key("Escape")
    app.wait_for("^Tunnel 0")
    app.check_quiet()


@waiting
def test_by_keys_alone(lab):
    """No pointer: connect, choose the carrier, every view opened by its keys and closed by Escape, and quit."""
    site = Site(lab)
    _, daemon, _, _ = office(site)
    desk = Desk(site.client)
    app = window(desk)
    app.wait_for("^Not connected")
    desk.key("ctrl+Return")
    app.wait_for("^Connected over UDP$")
    for keys, text in (("ctrl+d", "^Nothing is wrong$"), ("ctrl+t", "^How fast is this tunnel"),
                       ("ctrl+e", "^Addresses inside the tunnel"), ("ctrl+l", "^Log of the service"),
                       ("ctrl+comma", "^A tunnel has connected$"), ("ctrl+r", "^Show the private key as a QR code"),
                       ("ctrl+s", "^Export with the private key"), ("ctrl+question", "^Connect or disconnect|Shortcuts")):
        desk.xdotool("search", "--onlyvisible", "--name", "^wgtcp$", "windowfocus")
        time.sleep(0.3)
        desk.key(keys)
        app.wait_for(text, timeout=40)
        desk.key("Escape")
        app.wait_gone(text)
    # From one control to the next, as far as it goes, and nothing traps the focus.
    desk.xdotool("search", "--onlyvisible", "--name", "^wgtcp$", "windowfocus")
    seen = set()
    for _ in range(25):
        desk.key("Tab")
        seen.add(desk.tool("a11y", "focus", app.name, check_code=False).stdout.strip())
    lab.figure(f"{len(seen)} places of the focus by Tab")
    check(len(seen) >= 6, f"Tab goes nowhere: {seen}")
    desk.key("ctrl+Return")
    app.wait_for("^Not connected$")
    daemon.wait_status("office", state="down")
    desk.key("ctrl+q")
    check(app.program.wait() == 0, "it did not end well")


def test_it_is_light(lab):
    """Processor time to the first window and while it idles with a graph."""
    site = Site(lab)
    office(site)[1].up("office")
    desk = Desk(site.client)
    # What the first start of any program of this toolkit writes to its caches is not ours.
    warm = window(desk)
    warm.wait_for("^Connected over UDP$")
    warm.program.stop()
    app = window(desk)
    app.wait_for("^Connected over UDP$")
    first = app.cpu_s()
    time.sleep(3)
    start, since = app.cpu_s(), time.monotonic()
    time.sleep(10)
    idle = (app.cpu_s() - start) / (time.monotonic() - since) * 100
    lab.figure(f"{first * 1000:.0f} ms of processor time to the first window, {idle:.1f} % of a core with a living graph,"
               " all drawn in software")
    check(first < 0.6 or lab.sanitized, f"{first * 1000:.0f} ms to the first window")
    check(idle < 3 or lab.sanitized, f"{idle:.1f} % of a core")


def test_memory_stays_flat(lab):
    """200 tunnels, and one of them changes its state some thousand times."""
    site = Site(lab)
    desk = Desk(site.client)
    flood = 10000 if lab.long else 2000
    daemon = fake(desk, "--tunnels", "200", "--flood", flood)
    app = window(desk, socket="/run/fake.sock")
    app.wait_for("^Tunnel 0")
    # The first rounds fill caches of fonts and icons.
    time.sleep(2)
    before = app.heap_kib()
    daemon.wait_for_text("flooded", timeout=120)
    time.sleep(1)
    after = app.heap_kib()
    start, since = app.cpu_s(), time.monotonic()
    time.sleep(5)
    idle = (app.cpu_s() - start) / (time.monotonic() - since) * 100
    lab.figure(f"{after - before} KiB more after {flood} changes of state, {idle:.1f} % of a core afterwards")
    check(after - before <= 1024 or lab.sanitized, f"{after - before} KiB more")
    check(idle < 1 or lab.sanitized, f"{idle:.1f} % of a core while nothing happens")
    app.check_quiet()


def test_scrolling_200_tunnels(lab):
    """Figure: what a frame costs while a list of 200 connected tunnels scrolls, drawn in software."""
    site = Site(lab)
    desk = Desk(site.client)
    fake(desk, "--tunnels", "200", "--state", "up")
    app = window(desk, socket="/run/fake.sock", WGTCP_FRAME_TIMES="1")
    app.wait_for("^Tunnel 0")
    time.sleep(2)
    before = len(app.program.text().splitlines())
    desk.xdotool("mousemove", "150", "300")
    for _ in range(5):
        for button in "5", "4":
            desk.xdotool("click", "--repeat", "20", "--delay", "30", button)
    found = [(float(mean), float(worst)) for mean, worst in re.findall(
        r"frames: \d+, mean ([\d.]+) ms, worst ([\d.]+) ms", "\n".join(app.program.text().splitlines()[before:]))]
    check(len(found) >= 3, f"it did not scroll: {found}")
    worst = sorted(w for _, w in found)
    lab.figure(f"mean {statistics.mean(m for m, _ in found):.1f} ms a frame, worst of 20 frames: median "
               f"{statistics.median(worst):.1f} ms, largest {worst[-1]:.1f} ms, over {20 * len(found)} frames (wanted: 16 ms)")
    app.check_quiet()


def memory_holds(pid, *secrets):
    """Which of these are anywhere in the memory that the process can write to."""
    found = set()
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in maps:
            where, rights = line.split()[:2]
            if not rights.startswith("rw") or "[vvar" in line:
                continue
            start, end = (int(part, 16) for part in where.split("-"))
            try:
                memory.seek(start)
                data = memory.read(end - start)
            except OSError:
                continue
            found |= {secret for secret in secrets if secret.encode() in data}
    return found


def test_second_start_presents_the_first(lab):
    """One window, whoever starts it; and when it is closed the program ends: it hides nowhere."""
    site = Site(lab)
    desk = Desk(site.client)
    fake(desk)
    app = window(desk, socket="/run/fake.sock")
    app.wait_for("^Tunnel 0")
    second = desk.start(lab.binary("wgtcp-gui"), name="second")
    check(second.wait() == 0, "the second one did not hand over")
    windows = desk.xdotool("search", "--onlyvisible", "--name", "^wgtcp$").split()
    check(len(windows) == 1, f"{len(windows)} windows")
    app.click("Close")
    check(app.program.wait() == 0, "it did not end when its window was closed")


if __name__ == "__main__":
    sys.exit(case.main(globals()))
