# SPDX-License-Identifier: MIT
"""wgtcp-cli speedtest, SpeedTestServer, history, and what is left when something goes wrong in the middle."""

import fcntl
import json
import os
import pathlib
import random
import re
import select
import signal
import statistics
import struct
import subprocess
import sys
import termios
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lib import case, emulator, speed  # noqa: E402
from lib.case import main_path, waiting  # noqa: E402
from lib.lab import Failure, check, wait_until  # noqa: E402
from lib.network import Site  # noqa: E402
from lib.speed import INNER, Pair  # noqa: E402
from lib.tunnel import Key, interface_text, peer_text  # noqa: E402


def narrow(lab, *words):
    """Client and server on an emulated line, with the tunnel up."""
    client, server, wire = emulator.pair(lab, "192.0.2.2", "198.51.100.2", *words)
    client.run("ip", "route", "add", "198.51.100.0/24", "dev", "wire0")
    server.run("ip", "route", "add", "192.0.2.0/24", "dev", "wire0")
    return Pair(client, server), wire


def one_sentence(done, code, *words):
    check(done.returncode == code, f"exit code {done.returncode} instead of {code}: {done.stderr.strip()}")
    lines = done.stderr.strip().splitlines()
    check(len(lines) == 1, f"not one sentence: {done.stderr}")
    for word in words:
        check(word in lines[0], f"'{word}' is not in: {lines[0]}")


@main_path
def test_both_directions_and_at_once(lab):
    """The main path: nobody has to start anything, and the table has all that was measured."""
    site = Site(lab)
    pair = Pair(site.client, site.server)
    done = pair.test("--duration", "1")
    for words in (r"^idle ", r"^down +[\d.]+ ", r"^up +[\d.]+ ", r"^both, down +[\d.]+", r"^both, up +[\d.]+",
                  r"over UDP, userspace", r"^Responsiveness: \d+ round trips a minute"):
        check(re.search(words, done.stdout, re.M), f"no {words} in: {done.stdout}")
    result = pair.result("--duration", "1", "--transport", "tcp", "--streams", "3")
    check(result["rounds"][0]["carrier"] == "tcp", f"carrier {result['rounds'][0]['carrier']}")
    check(result["streams"] == 3 and result["rounds"][0]["down"]["down"]["bytes"] > 0, f"{result}")
    check(result["rounds"][0]["both"]["up"]["bytes"] > 0 and result["rounds"][0]["both"]["down"]["bytes"] > 0, f"{result}")
    check(pair.client.status("office")["transport"] == "auto", "the carrier was not put back")
    lab.figure(f"TCP {result['summary']['down_bps'] / 1e6:.0f} Mbit/s down, {result['summary']['up_bps'] / 1e6:.0f} up")


def test_agrees_with_iperf3_by_hand(lab):
    """Figure: within 3 %, interleaved on the same path. Judged with room for a busy machine."""
    pair, _ = narrow(lab, "rate=50mbit", "queue=128k", "delay=5ms")
    ours, theirs = {"down": [], "up": []}, {"down": [], "up": []}
    for _ in range(5 if lab.long else 2):
        result = pair.result("--duration", "4" if lab.long else "2")
        for way in ours:
            ours[way].append(result["rounds"][0][way][way]["bps"])
            by_hand = pair.client.host.run("iperf3", "-c", INNER, "-J", "-t", "4" if lab.long else "2",
                                           *(["-R"] if way == "down" else [])).stdout
            theirs[way].append(json.loads(by_hand)["end"]["sum_received"]["bits_per_second"])
    for way in ours:
        a, b = statistics.median(ours[way]), statistics.median(theirs[way])
        lab.figure(f"{way}: {a / 1e6:.2f} and by hand {b / 1e6:.2f} Mbit/s, {abs(a - b) / b * 100:.1f} % apart (bound 3 %)")
        check(abs(a - b) / b < 0.15, f"{way}: {a} and {b} are too far apart")


def pings(host, seconds):
    return host.start("ping", "-D", "-n", "-i", "0.1", "-w", seconds, INNER, name="ping")


def test_latency_idle_and_loaded(lab):
    """Figures: 40 ms and 20 Mbit/s; idle within 2 ms of a separate ping, loaded within 10 %."""
    pair, _ = narrow(lab, "rate=20mbit", "queue=192k", "delay=20ms")
    duration = 8 if lab.long else 5
    # One that fills a queue, whatever this machine's default is: BBR hardly does.
    for host in pair.client.host, pair.server.host:
        host.run("sysctl", "-qw", "net.ipv4.tcp_congestion_control=reno")
    pair.result("--duration", "1")  # the server's iperf3 is there: no wait for it below
    ping, start = pings(pair.client.host, 3 * duration + 10), time.time()
    result = pair.result("--duration", str(duration))
    ping.stop()
    samples = [(float(at), float(ms)) for at, ms in re.findall(r"\[([\d.]+)\].*time=([\d.]+) ms", ping.said())]
    idle = statistics.median(ms for at, ms in samples if at < start + 2)
    # The download begins 3 s after the start, and the queue is full a second later.
    loaded = statistics.median(ms for at, ms in samples if start + 4.5 < at < start + 2.8 + duration)
    ours = result["rounds"][0]
    told_idle, told_loaded = ours["idle"]["p50_ms"], ours["down"]["latency"]["p50_ms"]
    lab.figure(f"idle {told_idle:.1f} ms, ping {idle:.1f} ms (bound 2 ms apart); loaded {told_loaded:.1f} ms, ping "
               f"{loaded:.1f} ms, {abs(told_loaded - loaded) / loaded * 100:.1f} % apart (bound 10 %); "
               f"{result['summary']['responsiveness_rpm']} round trips a minute")
    check(abs(told_idle - idle) < 10, f"idle {told_idle} and {idle} ms")
    check(abs(told_loaded - loaded) / loaded < 0.35, f"loaded {told_loaded} and {loaded} ms")
    check(told_loaded > told_idle * 1.2, "the line was not loaded")


@waiting
def test_datagrams_at_a_rate(lab):
    """--udp: 5 % of the datagrams are lost on the line, and it says so."""
    pair, wire = narrow(lab, "delay=5ms")
    pair.result("--duration", "1", "--udp")
    check(wire.set("a:loss=5%") == "ok", "emulator")
    result = pair.result("--duration", "4", "--udp", "--rate", "8M")
    up = result["rounds"][0]["up"]["up"]
    share = up["lost"] / up["packets"] * 100
    lab.figure(f"{share:.1f} % lost at 8 Mbit/s (5 % on the line), jitter {up['jitter_ms']} ms")
    check(result["inside"] == "udp" and result["rate_bps"] == 8000000, f"{result}")
    check(1.5 < share < 10, f"{share} % lost")
    check(5e6 < up["bps"] < 9e6, f"{up['bps']} bits a second")


@waiting
def test_both_carriers_in_turns(lab):
    """A B A B, what suits better and why, and the carrier is what it was; also when it is interrupted or killed."""
    site = Site(lab)
    pair = Pair(site.client, site.server)
    result = pair.result("--duration", "1", "--transport", "both")
    check([r["carrier"] for r in result["rounds"]] == ["udp", "tcp", "udp", "tcp"], f"{result['rounds']}")
    check(result["sentence"] and result["better"] in ("udp", "tcp", "none"), f"{result['sentence']}")
    lab.figure(result["sentence"])
    check(pair.client.status("office")["transport"] == "auto", "the carrier was not put back")
    for number in signal.SIGINT, signal.SIGKILL:
        program = site.client.start(lab.binary("wgtcp-cli"), "speedtest", "office", "--transport", "tcp", "--duration", "20",
                                    "--socket", pair.client.socket)
        speed.wait_for_process(site.client)
        check(pair.client.status("office")["transport"] == "tcp", "not on TCP")
        program.signal(number)
        code = program.wait()
        check(number == signal.SIGKILL or code == 130, f"exit code {code}")
        speed.wait_for_none(site.client)
        pair.client.wait_status("office", transport="auto")


@waiting
def test_child_without_privileges(lab):
    """iperf3 on either side: nobody, no capability, no descriptor of ours, filtered."""
    site = Site(lab)
    pair = Pair(site.client, site.server)
    program = site.client.start(lab.binary("wgtcp-cli"), "speedtest", "office", "--duration", "20", "--socket",
                                pair.client.socket)
    for host in site.client, site.server:
        pid = speed.wait_for_process(host)
        time.sleep(1)  # past its start
        status = speed.status_of(pid)
        check(status["Uid"].split() == ["65534"] * 4 and status["Gid"].split() == ["65534"] * 4, f"ids of {host.name}")
        check(not status["Groups"].strip(), f"groups: {status['Groups']}")
        for kind in "CapInh", "CapPrm", "CapEff", "CapAmb":
            check(int(status[kind], 16) == 0, f"{kind} {status[kind]} on {host.name}")
        check(status["NoNewPrivs"] == "1" and status["Seccomp"] == "2", f"{host.name}: not filtered")
        kinds = [str(link.readlink()) for link in pathlib.Path(f"/proc/{pid}/fd").iterdir()]
        strange = [kind for kind in kinds if not re.match(r"/dev/(null|urandom)|pipe:|socket:|/tmp/iperf3", kind)]
        check(not strange, f"{host.name} has {strange}")
    program.signal(signal.SIGINT)
    check(program.wait() == 130, "exit code")
    speed.wait_for_none(site.client)


def left_over(pair):
    """The history is written every ten minutes, whoever tests."""
    daemon = pair.client
    return {"handles": speed.handles(daemon.program.pid), "state": sorted({p.name for p in daemon.state.iterdir()} - {"history"}),
            "links": daemon.host.links(), "temporary": sorted(p.name for p in pathlib.Path("/tmp").glob("iperf3.*"))}


def wait_for_the_same(pair, before):
    last = {}

    def same():
        last.update(left_over(pair))
        # One more is the socket of the first echo, which stays as long as the tunnel.
        return last["handles"] <= before["handles"] + 1 and \
            {**last, "handles": 0} == {**before, "handles": 0}
    try:
        wait_until(same, "")
    except Failure:
        raise Failure(f"{last} instead of {before}: {speed.handle_kinds(pair.client.program.pid)}") from None


@waiting
def test_many_in_a_row(lab):
    """200 tests (short form: 8), a quarter of them interrupted at random: nothing is left, memory is flat."""
    site = Site(lab)
    pair = Pair(site.client, site.server)
    pair.test("--duration", "1")
    before, memory = left_over(pair), speed.memory_kib(pair.client.program.pid)
    count, chance = 200 if lab.long else 8, random.Random(6)
    interrupted = set(chance.sample(range(count), count // 4))
    for number in range(count):
        # Mostly at a rate: it is not the data that counts here.
        program = site.client.start(lab.binary("wgtcp-cli"), "speedtest", "office", "--duration", "1", "--socket",
                                    pair.client.socket, *(["--udp"] if number % 4 else []), name=f"test{number}")
        if number in interrupted:
            time.sleep(chance.uniform(0, 7))
            program.signal(chance.choice((signal.SIGINT, signal.SIGTERM, signal.SIGKILL)))
        code = program.wait(60)
        check(number in interrupted or code == 0, f"test {number} ended with {code}: {program.said()[-300:]}")
    speed.wait_for_none(site.client)
    speed.wait_for_none(site.server, timeout=90)  # nobody tests any more
    wait_for_the_same(pair, before)
    grown = speed.memory_kib(pair.client.program.pid) - memory
    lab.figure(f"{count} tests, {len(interrupted)} interrupted; the daemon's memory grew by {grown} KiB")
    check(grown < (2048 if not lab.sanitized else 1 << 20), f"the daemon's memory grew by {grown} KiB")


@waiting
def test_server_answers_its_peers_only(lab):
    """Not from the underlay, not from another tunnel, not from an address that no peer has; also while it runs."""
    site = Site(lab)
    pair = Pair(site.client, site.server)
    # A second client with a tunnel of its own to the same server, which routes the first tunnel's address into it.
    other_key, other_server = Key(), Key()
    pair.server.profile("other", interface_text(other_server, 51999, "Address = 10.88.0.1/24\n") +
                        peer_text(other_key, "10.88.0.2/32"))
    pair.server.up("other")
    pair.client.profile("away", interface_text(other_key, extra="Address = 10.88.0.2/24\nTable = off\n") +
                        peer_text(other_server, "10.88.0.0/24, 10.77.0.1/32", "198.51.100.2:51999"))
    pair.client.up("away")
    site.router.host.run("ip", "route", "add", "10.77.0.0/24", "via", "198.51.100.2")
    site.client.run("ip", "route", "add", "10.77.0.1/32", "via", "10.88.0.1", "dev", "away", "table", "88", "onlink")
    site.client.run("ip", "rule", "add", "from", "10.88.0.2", "table", "88")
    # What leaves the tunnel with an address that is not the client's is dropped before it gets there.
    site.client.run("ip", "address", "add", "10.77.0.99/32", "dev", "office")

    def look(when):
        check(speed.connects(site.router.host, INNER) != "open", f"{when}: open from the underlay")
        check(speed.connects(site.client, INNER, "10.88.0.2", "away") != "open", f"{when}: open from another tunnel")
        check(speed.connects(site.client, INNER, "10.77.0.99") != "open", f"{when}: open for an address of nobody's")
        check(speed.connects(site.server, "198.51.100.2") != "open", f"{when}: open on the underlay's address")
        check(speed.connects(site.server, "10.88.0.1") != "open", f"{when}: open on another tunnel's address")

    look("before")
    check(not speed.processes(site.server), "an attempt from elsewhere starts a server")
    # The same places reach it where they may: the way there works.
    check(speed.connects(site.client, "10.77.0.1", port=9, patience=3) == "refused", "no way to the server")
    check(speed.connects(site.client, INNER, patience=10) == "open", "closed for its peer")
    program = site.client.start(lab.binary("wgtcp-cli"), "speedtest", "office", "--duration", "30", "--socket",
                                pair.client.socket)
    speed.wait_for_process(site.client)
    speed.wait_for_process(site.server)
    look("while it runs")
    program.signal(signal.SIGINT)
    program.wait()
    pair.server.cli("down", "home")
    speed.wait_for_none(site.server)


@waiting
def test_plain_clients_and_servers(lab):
    """Any iperf3 may call SpeedTestServer, by IPv6 too once it is idle again, and any `iperf3 -s` answers our test."""
    site = Site(lab)
    pair = Pair(site.client, site.server)
    site.client.run("iperf3", "-c", INNER, "-t", "1")
    speed.wait_for_none(site.server, timeout=90)
    site.client.run("iperf3", "-6", "-c", "fd77::1", "-t", "1")
    pair.server.cli("down", "home")
    pair.server.cli("set", "home", "SpeedTestServer=off")
    pair.server.up("home")
    pair.client.wait_status("office", state="up")
    server = site.server.start("iperf3", "-s", "-B", INNER)
    time.sleep(0.5)
    check(pair.result("--duration", "1")["summary"]["down_bps"] > 0, "nothing measured")
    server.stop()


@waiting
def test_nobody_answers(lab):
    """No server, no iperf3 here, a busy server, a firewall: a sentence each, with what to do."""
    site = Site(lab)
    pair = Pair(site.client, site.server, answers=False)
    one_sentence(pair.test("--duration", "1", check_code=False), 7, "iperf3 -s -B 10.77.0.1", "SpeedTestServer = on")
    server = site.server.start("iperf3", "-s", "-B", INNER)
    time.sleep(0.5)
    other = site.client.start("iperf3", "-c", INNER, "-t", "30", name="other")
    time.sleep(1)
    one_sentence(pair.test("--duration", "1", check_code=False), 1, "busy")
    other.stop()
    server.stop()
    site.server.nft("table inet f { chain i { type filter hook input priority 0; tcp dport 5201 drop; }; }")
    one_sentence(pair.test("--duration", "1", check_code=False), 7, "firewall")
    site.client.run("mount", "--bind", "/dev/null", "/usr/bin/iperf3")
    one_sentence(pair.test("--duration", "1", check_code=False), 1, "apt install iperf3")
    one_sentence(pair.test("--duration", "0", check_code=False), 2, "--duration")
    one_sentence(pair.test("--rate", "5M", check_code=False), 2, "--udp")
    pair.client.cli("down", "office")
    one_sentence(pair.test(check_code=False), 3, "is not up")
    check(not speed.processes(site.client), "something is left")


HOSTILE = """
import socket, struct, sys, time
how = sys.argv[1]
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("10.77.0.1", 5201)); s.listen(5); print("listening", flush=True)
held = []
while True:
    c, _ = s.accept(); held.append(c)
    try:
        if how == "silent": continue
        c.recv(37)
        if how == "close": c.close()
        elif how == "junk": c.sendall(b"HTTP/1.1 400 Bad Request\\r\\n\\r\\n" * 100); c.close()
        elif how == "huge":                         # asks for parameters, then for results, and sends a flood
            c.sendall(bytes([9])); c.recv(65536)
            c.sendall(bytes([13])); c.recv(65536)
            c.sendall(struct.pack("!I", 0x7fffffff))
            while True: c.sendall(b"[" * 65536)
        elif how == "endless":                      # the test never starts
            c.sendall(bytes([9])); c.recv(65536); c.sendall(bytes([10]))
        elif how == "version": c.sendall(bytes([99]))
    except OSError: pass
"""


@waiting
def test_hostile_servers(lab):
    """Silent, closing, talking nonsense, flooding, never beginning, of another kind: each has an end and a sentence."""
    site = Site(lab)
    pair = Pair(site.client, site.server, answers=False)
    before = left_over(pair)
    for how in "close", "junk", "version", "huge", "endless", "silent":
        server = site.server.start("/usr/bin/python3", "-c", HOSTILE, how, name=how)
        server.wait_for_text("listening")
        start = time.monotonic()
        done = pair.test("--duration", "1", check_code=False)
        seconds = time.monotonic() - start
        server.kill()
        check(done.returncode in (1, 6), f"{how}: exit code {done.returncode}: {done.stdout}{done.stderr}")
        check(len(done.stderr.strip().splitlines()) == 1, f"{how}: not one sentence: {done.stderr}")
        check(not speed.processes(site.client), f"{how}: something is left")
        lab.figure(f"{how}: {seconds:.0f} s")
        check(seconds < 60, f"{how} took {seconds:.0f} s")
        time.sleep(0.3)
    wait_for_the_same(pair, before)


@waiting
def test_lost_in_the_middle(lab):
    """The tunnel taken down, the daemon ended, the line cut: a clear end, and no child."""
    site = Site(lab)
    pair = Pair(site.client, site.server)

    def begin():
        program = site.client.start(lab.binary("wgtcp-cli"), "speedtest", "office", "--duration", "60", "--socket",
                                    pair.client.socket)
        speed.wait_for_process(site.client)
        time.sleep(1)
        return program

    program = begin()
    pair.client.cli("down", "office")
    check(program.wait(30) == 1 and "broke in the middle" in program.said(), f"down: {program.said()}")
    speed.wait_for_none(site.client)
    pair.client.up("office")
    program = begin()
    site.router.block("meta l4proto { tcp, udp }")
    check(program.wait(60) == 1, f"cut: {program.said()}")
    lab.figure(f"line cut: {program.said().strip()}")
    speed.wait_for_none(site.client)
    site.router.open()
    pair.client.wait_status("office", state="up", timeout=60)
    program = begin()
    pair.client.program.kill()
    check(program.wait(30) == 1, f"daemon killed: {program.said()}")
    speed.wait_for_none(site.client)


@waiting
def test_history_over_restarts(lab):
    """Bytes by the minute and by the hour, still there after the daemon has been ended and started."""
    site = Site(lab)
    pair = Pair(site.client, site.server)
    pair.result("--duration", "1")
    moved = pair.client.status("office")["peers"][0]["rx_bytes"]

    def total(resolution):
        points = speed.ask(pair.client, "history", name="office", resolution=resolution)["points"]
        return sum(point["rx_bytes"] for point in points)

    wait_until(lambda: total("minute") >= moved * 0.9, "the minute's bytes")
    pair.client.program.stop()
    check((pair.client.state / "history").stat().st_size < 1 << 20, "too large")
    pair.client.start()
    check(total("minute") >= moved * 0.9 and total("hour") >= moved * 0.9, f"{total('minute')} of {moved} bytes")
    check(speed.ask(pair.client, "history", name="office", before=1000)["points"] == [], "points before the first")


@waiting
def test_echoes_only_while_somebody_watches(lab):
    """A watched tunnel knows its loss and jitter; one that nobody watches sends nothing."""
    pair, wire = narrow(lab, "delay=10ms")
    watcher = pair.client.host.start(lab.binary("wgtcp-cli"), "status", "office", "--watch", "--json", "--socket",
                                     pair.client.socket)

    def watched():
        lines = [line for line in watcher.said().splitlines() if '"stats"' in line and line.endswith("}")]
        peers = json.loads(lines[-1])["stats"]["peers"] if lines else []
        return peers[0] if peers and peers[0]["echoes"] >= 4 else None

    peer, _ = wait_until(watched, "echoes", 30)
    lab.figure(f"{peer['echoes']} echoes, {peer['rtt_ms']} ms, jitter {peer['jitter_ms']} ms, {peer['loss_permille']} permille")
    check(15 < peer["rtt_ms"] < 60, f"{peer}")
    watcher.stop()
    time.sleep(12)  # what the hello and verification send after an up has been sent
    before = wire.stats()["a"]["packets"]
    time.sleep(8)
    sent = wire.stats()["a"]["packets"] - before
    lab.figure(f"{sent} packets in 8 s without a watcher")
    check(sent <= 2, f"{sent} packets while nobody watches")


@waiting
def test_watch_on_a_terminal(lab):
    """Graphs within the window's width and height, also after it was made smaller; the cursor comes back."""
    site = Site(lab)
    pair = Pair(site.client, site.server)
    for utf8 in True, False:
        master, slave = os.openpty()

        def resize(lines, columns):
            fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

        def read(seconds):
            got, end = b"", time.monotonic() + seconds
            while time.monotonic() < end:
                if select.select([master], [], [], 0.1)[0]:
                    got += os.read(master, 65536)
            return got.decode("utf-8")

        resize(40, 80)
        watcher = subprocess.Popen(
            site.client.prefix() + [lab.binary("wgtcp-cli"), "status", "office", "--watch", "--socket", pair.client.socket],
            stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
            env=lab.environment({"LC_ALL": "C.UTF-8" if utf8 else "C", "TERM": "xterm"}))
        read(4)
        for lines, columns in (40, 80), (14, 50):
            resize(lines, columns)
            # The last picture that is there as a whole.
            picture = read(3).split("\x1b[H")[-2].replace("\x1b[K", "").replace("\x1b[J", "").split("\r\n")
            check(len(picture) <= lines, f"{len(picture)} lines of {lines}")
            check(max(map(len, picture)) <= columns, f"{max(map(len, picture))} columns of {columns}: {picture}")
            drawn = "".join(picture)
            if lines == 40:
                check("round trip" in drawn and re.search("[\u2581-\u2588]" if utf8 else r"[_.:=+*#-]{2}", drawn), drawn)
            check(utf8 or drawn.isascii(), f"not ASCII: {drawn}")
            check("\x1b" not in drawn, "colours in spite of NO_COLOR")
        watcher.send_signal(signal.SIGINT)
        rest = read(1)
        check(watcher.wait(10) == 130 and "\x1b[?25h" in rest, f"the end: {rest!r}")
        os.close(master)
        os.close(slave)


if __name__ == "__main__":
    sys.exit(case.main(globals()))
