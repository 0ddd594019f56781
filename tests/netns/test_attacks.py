# SPDX-License-Identifier: MIT
"""A hostile network against the engine: floods, crowds, replays, nonsense, resets. The short form counts and bounds; the long
form has the full sizes, and its figures are what is promised (README, Security). The relay's crowds are in test_relay.py."""

import json
import os
import pathlib
import re
import signal
import struct
import sys
import time
from types import SimpleNamespace

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lib import case  # noqa: E402
from lib.case import main_path, waiting  # noqa: E402
from lib.lab import check, cpu_s, wait_until  # noqa: E402
from lib.network import Site  # noqa: E402
from lib.relay import resident_kib  # noqa: E402
from lib.tunnel import PORT, Daemon, Key, engine, interface_text, peer_text  # noqa: E402

SERVER = "198.51.100.2"
CROWD_SERVER = "203.0.0.1"
GUEST_SERVER = "192.88.99.1"
FIRST = "203.0.1.1"


def family(pid):
    """The process and its children: a standalone engine has a dialler."""
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid] + [p for child in children for p in family(int(child))]


def resident(program):
    return sum(resident_kib(SimpleNamespace(pid=pid)) for pid in family(program.pid))


class Stage:
    """A server with two peers: the client, whose session stands, and a guest, who comes and goes; and an attacker whose
    addresses are 203.0.0.0/16."""

    def __init__(self, lab, client_extra="", sources=0, up=True, wrap=()):
        self.lab, self.site, self.wrap = lab, Site(lab), wrap
        self.key, self.client_key, self.guest_key = Key(), Key(), Key()
        self.server = engine(self.site.server, "wg-srv", ["10.77.0.1/24", "fd77::1/64"], interface_text(self.key, PORT) +
                             peer_text(self.client_key, "10.77.0.2/32, fd77::2/128") + peer_text(self.guest_key, "10.77.0.3/32"), wrap=wrap)
        self.program = self.server.program
        self.attacker, self.guest = lab.host("attacker"), lab.host("guest")
        lab.wire(self.attacker, "eth0", self.site.server, "crowd0")
        lab.wire(self.guest, "eth0", self.site.server, "guest0")
        self.site.server.run("ip", "address", "add", f"{CROWD_SERVER}/30", "dev", "crowd0")
        self.attacker.run("ip", "address", "add", "203.0.0.2/30", "dev", "eth0")
        # What goes to a forged source is lost beyond the attacker.
        self.site.server.run("ip", "route", "add", "203.0.0.0/16", "via", "203.0.0.2")
        for number in range(sources):
            self.attacker.run("ip", "address", "add", f"{self.source(number)}/32", "dev", "lo")
        self.attacker.run("sysctl", "-qw", "net.ipv4.ip_local_port_range=1024 65535")
        self.site.server.run("ip", "address", "add", f"{GUEST_SERVER}/24", "dev", "guest0")
        self.guest.run("ip", "address", "add", "192.88.99.2/24", "dev", "eth0")
        self.client = self._daemon(self.site.client, self.client_key, "10.77.0.2/24", SERVER, client_extra)
        self.comer = self._daemon(self.guest, self.guest_key, "10.77.0.3/24", GUEST_SERVER)
        if up:
            self.client.up("office")
        # The guest has never been here when the attack begins.

    @staticmethod
    def source(number):
        return f"203.0.{number // 250 + 1}.{number % 250 + 1}"

    def _daemon(self, host, key, address, server, extra=""):
        daemon = Daemon(host, wrap=self.wrap)
        daemon.profile("office", interface_text(key, extra=f"Address = {address}\n{extra}") +
                       peer_text(self.key, "10.77.0.0/24", f"{server}:{PORT}"))
        return daemon

    def attack(self, *args, host=None, to=CROWD_SERVER):
        host = host or self.attacker
        return host.start(self.lab.binary("wgtcp-attack"), *args, "--to", f"{to}:{PORT}", name="attack")

    def guest_comes(self, count, transport="auto"):
        """Seconds that each of its connects took."""
        took = []
        for _ in range(count):
            seconds, _ = self.comer.up("office", "--transport", transport, "--timeout", "40")
            took.append(seconds)
            self.comer.cli("down", "office")
        return sorted(took)

    def goodput(self, seconds):
        """Mbit/s of an inner TCP connection to the server."""
        sender = self.site.client.tool("transfer.py", "send", "10.77.0.1", "5001")
        time.sleep(seconds)
        sender.signal(signal.SIGTERM)
        result = sender.result()
        check(result["equal"], "hashes differ")
        return result["mbit"]

    def serve(self):
        self.site.server.tool("transfer.py", "serve", "10.77.0.1", "5001").wait_for_text("listening")

    def alive(self):
        result = self.site.client.tool("pinger.py", "10.77.0.1", "--count", 10, "--interval", 20, "--grace", "6").result()
        check(result["lost"] < 10, "no ping passes any more")
        check(self.program.running(), "the engine has ended")

    def connections(self, state="established"):
        return len(self.site.server.run("ss", "-Htn", "state", state, f"sport = :{PORT}").stdout.splitlines())

    def sockets(self, source):
        return self.site.server.run("ss", "-Htn", "state", "established", f"sport = :{PORT} and dst {source}").stdout


def p99(values):
    return sorted(values)[min(len(values) - 1, int(len(values) * 0.99))] if values else 0


def flood(lab, name, *args, count, bound_s):
    stage = Stage(lab)
    stage.serve()
    span = 10 if lab.long else 2
    before = stage.goodput(span)
    memory = resident(stage.program)
    attack = stage.attack(*args, "--seconds", 200)
    time.sleep(1)
    start = time.monotonic()
    during = stage.goodput(span)
    took = stage.guest_comes(count)
    while lab.long and time.monotonic() < start + 58:
        took += stage.guest_comes(1)
    grown = resident(stage.program) - memory
    attack.signal(signal.SIGTERM)
    sent = attack.result()
    lab.figure(f"{name}: {sent['sent'] / sent['seconds']:.0f}/s for {sent['seconds']:.0f} s; {len(took)} connects, p99"
               f" {p99(took):.2f} s (bound {bound_s} s); goodput {before} -> {during} Mbit/s; {grown} KiB more memory")
    check(sent["sent"] > 0, "nothing was sent")
    check(during > 0, "the established flow stands still")
    check(lab.sanitized or grown <= 8192, f"{grown} KiB more memory (bound 8192)")
    stage.alive()


def test_junk_datagrams(lab):
    """A legitimate handshake and an established flow beside a flood of datagrams that mean nothing."""
    flood(lab, "junk", "junk", "--rate", 150000 if lab.long else 30000, count=3, bound_s=2)


def test_initiations_without_a_cookie(lab):
    """Valid mac1 from 10,000 forged sources: everybody is asked for a cookie, and who gives one gets in."""
    stage = Stage(lab)
    memory = resident(stage.program)
    attack = stage.attack("initiations", "--key", stage.key.public, "--first", FIRST, "--sources", 10000,
                          "--rate", 20000 if lab.long else 5000, "--seconds", 300)
    time.sleep(2)
    took = stage.guest_comes(20 if lab.long else 2, "udp")
    stage.alive()
    grown = resident(stage.program) - memory
    attack.signal(signal.SIGTERM)
    sent = attack.result()
    lab.figure(f"{sent['sent'] / sent['seconds']:.0f}/s for {sent['seconds']:.0f} s; {len(took)} connects by UDP, p95"
               f" {took[int(len(took) * 0.95)]:.2f} s (bound 11 s), {grown} KiB more memory (bound 8192 KiB)")
    check(lab.sanitized or grown <= 8192, f"{grown} KiB more memory")


def crowd(lab, count, sources, bound_s):
    """Idle connections, each opened again when it is closed, while somebody who has never been here connects by TCP."""
    stage = Stage(lab, sources=sources)
    before = resident(stage.program)
    idle = stage.attacker.tool("connections.py", CROWD_SERVER, PORT, "--count", count, "--again",
                               *[word for number in range(sources) for word in ("--from", stage.source(number))])
    idle.wait_for_text("open", 60)
    time.sleep(1)
    took = stage.guest_comes(50 if lab.long else 2, "tcp")
    # It has been authentic before, and the crowd has all places.
    grown = resident(stage.program) - before
    stage.alive()
    idle.stop()
    lab.figure(f"{count} connections from {sources} sources: {len(took)} connects by TCP, first {took[0]:.2f} s, p99 {p99(took):.2f} s"
               f" (bound {bound_s} s), {grown} KiB more memory (bound 4096 KiB)")
    check(lab.sanitized or grown <= 4096, f"{grown} KiB more memory")


def test_idle_connections_from_one_source(lab):
    crowd(lab, 10000 if lab.long else 1500, 1, 2)


def test_idle_connections_from_many_sources(lab):
    crowd(lab, 4096 if lab.long else 2048, 256 if lab.long else 128, 10)


@waiting
def test_slow_and_silent_strangers(lab):
    """Closed when their time is over, not before; in half the time when most places are taken."""
    stage = Stage(lab, sources=100)

    def several(count, seconds, *sources, say):
        return stage.attacker.tool("connections.py", CROWD_SERVER, PORT, "--count", count, "--say", say, "--seconds", seconds,
                                   *[word for number in sources for word in ("--from", stage.source(number))])
    cases = {"silence": (5.5, 6), "drip": (9.5, 10), "junk": (9.5, 10), "bad-mac": (9.5, 10)}
    crowds = {say: several(4, 13, number, say=say) for number, say in enumerate(cases)}
    for say, (least, bound) in cases.items():
        result = crowds[say].result()
        lab.figure(f"{say}: closed after {result['first_closed_s']} to {result['last_closed_s']} s (bound {bound} s)")
        check(result["opened"] == result["closed"] == 4, f"{say}: {result}")
        check(result["first_closed_s"] >= least, f"{say}: {result}")
    # 8 of each of 100 sources: more than half of 1,024 places.
    result = several(800, 20, *range(100), say="silence").result()
    lab.figure(f"800 at once: closed after {result['first_closed_s']} to {result['last_closed_s']} s (3 s while pressed)")
    check(result["opened"] == result["closed"] == 800, f"{result}")
    check(result["first_closed_s"] >= 2, f"{result}")
    stage.alive()


@waiting
def test_a_peer_that_does_not_read(lab):
    """An engine that is stopped keeps its window shut: little waits for it, and its connection ends."""
    stage = Stage(lab, up=False)
    stalled = engine(stage.site.client, "wg-cli", ["10.77.0.2/24"], interface_text(stage.client_key) + peer_text(
        stage.key, "10.77.0.0/24", f"{SERVER}:{PORT}"))
    stalled.set("transport=tcp\n")
    stage.site.client.tool("pinger.py", "10.77.0.1", "--count", 5, "--grace", "6").result()
    check(stage.connections() >= 1, "no connection to begin with")
    stopped = family(stalled.program.pid)

    def shut(number):
        for pid in stopped:
            os.kill(pid, number)
    # Packets lie in a fixed pool. A short stall uses of it what any may: the long one shall take nothing beyond it.
    shut(signal.SIGSTOP)
    stage.site.server.tool("datagrams.py", "send", "10.77.0.2", "5002", "--count", 20000, "--size", 1300).result()
    time.sleep(1)
    shut(signal.SIGCONT)
    time.sleep(1)
    stage.site.client.tool("pinger.py", "10.77.0.1", "--count", 5, "--grace", "20").result()
    check(stage.sockets("192.0.2.2"), "the short stall has ended the connection")
    before = resident(stage.program)
    shut(signal.SIGSTOP)
    load = stage.site.server.tool("datagrams.py", "send", "10.77.0.2", "5002", "--count", 400000, "--size", 1300, "--rate", 20000)
    waits = []  # in the socket while it stands, in bytes

    def ended():
        said = stage.site.server.run("ss", "-Htnm", "dst 192.0.2.2").stdout
        if said:
            waits.append(sum(int(queued) for queued in re.findall(r"skmem:\([^)]*,w(\d+),", said)))
        return not stage.sockets("192.0.2.2")
    _, seconds = wait_until(ended, "the end of a connection that is not read", 120)
    grown = resident(stage.program) - before
    load.kill()
    shut(signal.SIGCONT)
    lab.figure(f"ended after {seconds:.1f} s (bound 20 s), {grown} KiB beyond the packet pool, {waits[-1] // 1024} KiB"
               " in its socket (bound 512 KiB each)")
    check(lab.sanitized or grown <= 512, f"{grown} KiB more memory for a peer that does not read")
    check(0 < waits[-1] <= 512 * 1024, f"{waits[-1]} bytes wait in the socket")


@waiting
def test_no_descriptor_is_left(lab):
    """Nobody is woken all the time by who waits for one, and who comes later gets in: the engine, and the daemon's own socket."""
    stage = Stage(lab, wrap=("prlimit", "--nofile=48:48"))
    stage.alive()
    pids = family(stage.program.pid)
    # Strangers make room for each other: one who comes back at once would be turned out again, and again.
    crowd = stage.attacker.tool("connections.py", CROWD_SERVER, PORT, "--count", 60, "--seconds", 30)
    crowd.wait_for_text("open", 60)
    before = cpu_s(pids)
    time.sleep(4)
    spent = cpu_s(pids) - before
    stage.alive()
    crowd.stop()
    check(spent < 1, f"the engine took {spent:.2f} s of 4 s")
    took = stage.guest_comes(1, "tcp")
    lab.figure(f"the engine took {spent:.2f} s of 4 s; then a connect by TCP in {took[0]:.2f} s")

    daemon = stage.client
    pid = daemon.program.pid
    holders = stage.site.client.start("/usr/bin/python3", "-c", """
import socket, sys, time
held = []
for _ in range(60):
    s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); held.append(s)
print("held", flush=True); time.sleep(60)""", daemon.socket, name="holders")
    holders.wait_for_text("held")
    before = cpu_s([pid])
    time.sleep(4)
    spent = cpu_s([pid]) - before
    check(spent < 1, f"the daemon took {spent:.2f} s of 4 s")
    holders.kill()
    _, seconds = wait_until(lambda: daemon.cli("list", check_code=False, timeout=30).returncode == 0, "the daemon to answer")
    lab.figure(f"the daemon {spent:.2f} s; then an answer after {seconds:.2f} s")


@waiting
def test_half_open_connections(lab):
    """Both ways dropped without a reset while data goes: noticed, and the place is free again."""
    stage = Stage(lab, client_extra="Transport = tcp\n")
    pinger = stage.site.server.tool("pinger.py", "10.77.0.2", "--interval", "100", "--seconds", "60")
    stage.alive()
    stage.site.router.block("meta l4proto tcp")
    _, seconds = wait_until(lambda: not stage.sockets("192.0.2.2"), "the end of a half-open connection", 120)
    pinger.stop()
    lab.figure(f"noticed after {seconds:.1f} s (bound 20 s)")


def test_replayed_packets(lab):
    """Transport packets and initiations again and again, from everywhere: none is taken, and no path moves."""
    stage = Stage(lab, client_extra="Transport = udp\nExtensions = off\n")
    router = stage.site.router.host
    count = 1000000 if lab.long else 60000
    replay = stage.attack("replay", "--interface", "s0", "--first", FIRST, "--sources", 1000, "--seconds", 6,
                          "--count", count, "--rate", 30000, host=router, to=SERVER)
    replay.wait_for_text("ready")
    stage.client.cli("down", "office")
    stage.client.up("office")
    stage.site.client.tool("pinger.py", "10.77.0.1", "--count", 100, "--interval", 20).result()
    replay.wait_for_text("kept", 60)
    time.sleep(0.5)  # what the client itself still says
    endpoint, received = stage.server.endpoint(stage.client_key), stage.server.received(stage.client_key)
    client = int(stage.site.client.run("wg", "show", "office", "transfer").stdout.split()[2])
    moved, handshake = 0, stage.server.handshake(stage.client_key)
    while replay.running():
        moved += stage.server.endpoint(stage.client_key) != endpoint
        time.sleep(0.5)
    sent = replay.result()
    client = int(stage.site.client.run("wg", "show", "office", "transfer").stdout.split()[2]) - client
    taken = stage.server.received(stage.client_key) - received
    lab.figure(f"{sent['sent']} sent again ({sent['data']} data packets and {sent['initiations']} initiations kept): {taken} bytes"
               f" taken, {client} bytes said by the client meanwhile, endpoint moved {moved} times")
    check(sent["initiations"] > 0 and sent["data"] > 50 and sent["sent"] >= count, f"{sent}")
    check(taken <= client, f"{taken} bytes were taken, the client has sent {client}")
    check(moved == 0 and stage.server.endpoint(stage.client_key) == endpoint, "the endpoint has moved")
    check(stage.server.handshake(stage.client_key) == handshake or taken, "a handshake was made of a replay")
    stage.alive()


LENGTHS_TOOL = """
import os, socket, sys
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
out.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
noise, sent = os.urandom(65536), 0
for length in range(65508):
    for kind in range(5) if sys.argv[2] == "long" or length < 256 else (length % 5,):
        datagram = (bytes([kind, 0, 0, 0]) + noise)[:length]
        try:
            out.sendto(datagram, ("127.0.0.1", int(sys.argv[1])))
            sent += 1
        except OSError as why:
            sys.exit(f"{length}: {why}")
print('{"sent": %d}' % sent)
"""


@main_path
def test_every_datagram_length(lab):
    """0 to 65507 bytes, of each message type: the engine goes on, and what is delivered is what was sent."""
    stage = Stage(lab)
    pinger = stage.site.client.tool("pinger.py", "10.77.0.1", "--interval", "20", "--grace", "6")
    sent = stage.site.server.start("/usr/bin/python3", "-c", LENGTHS_TOOL, PORT, "long" if lab.long else "short", name="lengths")
    sent = sent.result()
    pinger.signal(signal.SIGTERM)
    ping = pinger.result()
    lab.figure(f"{sent['sent']} datagrams, {ping['lost']} of {ping['sent']} pings lost beside them")
    check(sent["sent"] >= 65508, f"{sent}")
    check(ping["lost"] < ping["sent"], "no ping passed")
    stage.alive()


HEADERS_TOOL = """
import json, resource, select, socket, sys, time
words, sources, target = json.load(sys.stdin), json.loads(sys.argv[1]), (sys.argv[2], int(sys.argv[3]))
resource.setrlimit(resource.RLIMIT_NOFILE, (8192, 8192))
poll, ones, early, answers = select.epoll(), {}, 0, 0

def look(timeout):
    global early, answers
    for fd, _ in poll.poll(timeout):
        one, since = ones.pop(fd)
        poll.unregister(fd)
        early += time.monotonic() - since < 2  # 3 s in a crowd
        try:
            answers += len(one.recv(1))
        except OSError:
            pass

for number, word in enumerate(words):
    one = socket.socket(); one.settimeout(20)
    one.bind((sources[number % len(sources)], 0)); one.connect(target)
    one.sendall(bytes.fromhex(word)); one.setblocking(False)
    ones[one.fileno()] = one, time.monotonic()
    poll.register(one.fileno(), select.EPOLLIN | select.EPOLLRDHUP)
    look(0)
end = time.monotonic() + 2
while time.monotonic() < end:
    look(0.1)
print(json.dumps({"sent": len(words), "closed_at_once": early, "answered": answers}))
"""


def headers():
    """Every field of a record's header x classes of values, before a message that looks like an initiation."""
    for length in 0, 1, 7, 8, 39, 40, 44, 155, 156, 157, 160, 1024, 1025, 65543, 65544, 1 << 31, (1 << 32) - 1:
        for kind in 0, 1, 127, 255:
            for flags in 0, 1, 2, 128, 255:
                for check_kind in "right", "wrong", "zero":
                    value = (length >> 16) ^ (length & 0xFFFF) ^ (flags << 8 | kind)
                    value = ((value << 5 | value >> 11) & 0xFFFF) ^ 0xA5A5
                    value = {"right": value, "wrong": value ^ 1, "zero": 0}[check_kind]
                    yield struct.pack("!IBBH", length, kind, flags, value) + b"\x01\0\0\0" + bytes(144)


@main_path
def test_record_headers(lab):
    """Nothing that a header may say ends the engine, is answered, or closes the connection at once."""
    stage = Stage(lab, sources=60)
    words = [word.hex() for word in headers()]
    sources = [stage.source(number) for number in range(60)]
    pinger = stage.site.client.tool("pinger.py", "10.77.0.1", "--interval", "20", "--grace", "6")
    waves, total, closed = 0, 0, 0
    step = 1 if lab.long else 3
    words = words[::step]
    for at in range(0, len(words), 480):
        done = stage.attacker.run("/usr/bin/python3", "-c", HEADERS_TOOL, json.dumps(sources), CROWD_SERVER, PORT,
                                  input=json.dumps(words[at:at + 480]), timeout=120)
        result = json.loads(done.stdout)
        total, closed, waves = total + result["sent"], closed + result["closed_at_once"], waves + 1
        check(result["answered"] == 0, f"{result}")
    pinger.signal(signal.SIGTERM)
    ping = pinger.result()
    lab.figure(f"{total} headers in {waves} waves, {closed} closed at once, {ping['lost']} of {ping['sent']} pings lost")
    check(closed == 0, f"{closed} connections were accepted and closed")
    stage.alive()


def resets(lab, *extra):
    stage = Stage(lab, client_extra="Transport = tcp\n")
    stage.serve()
    sender = stage.site.client.tool("transfer.py", "send", "10.77.0.1", "5001", "--mbit", 20)
    stage.alive()
    count = 500 if lab.long else 6
    attack = stage.attack("reset", "--interface", "s0", "--count", count, "--pause", 0.2, *extra, host=stage.site.router.host,
                          to=SERVER)
    attack.wait_for_text("ready")
    attack.wait(1200 if lab.long else 240)
    result = attack.result()
    sender.signal(signal.SIGTERM)
    moved = sender.result()
    took = result["ms"]
    lab.figure(f"{result['done']} injected, recovered in {sorted(took)[len(took) // 2] if took else 0:.0f} ms (median),"
               f" {p99(took):.0f} ms (p99; bound 300 ms + 2 RTT), {moved['bytes'] >> 20} MiB equal")
    check(result["done"] == count and result["failed"] == 0, f"{result['failed']} of {result['done']} did not recover")
    check(moved["equal"], "hashes differ")
    stage.alive()


def test_resets_are_injected(lab):
    """RST at the right sequence number, to either end in turn: the carrier is dialled again, the inner transfer goes on."""
    resets(lab)


def test_ends_are_injected(lab):
    """The same with FIN."""
    resets(lab, "--fin")


if __name__ == "__main__":
    sys.exit(case.main(globals()))
