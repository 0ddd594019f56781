# SPDX-License-Identifier: MIT
"""The TCP carrier over several streams: they open where packets are lost, close when idle, break one by one, and carry
every byte."""

import base64
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lib import case, emulator  # noqa: E402
from lib.case import waiting  # noqa: E402
from lib.lab import check, wait_until  # noqa: E402
from lib.tunnel import PORT, Key, engine, interface_text, peer_text  # noqa: E402

CLIENT, SERVER = "192.0.2.1", "192.0.2.2"
INSIDE_CLIENT, INSIDE_SERVER = "10.77.0.2", "10.77.0.1"
MOST = 16


class Pair:
    """Two engines joined by the emulator. The client dials; the server may be one that does not know our extensions."""

    def __init__(self, lab, *words, extensions=True, transport="tcp", mtus=(1420, 1420)):
        self.lab, self.port = lab, 5000
        self.client, self.server, self.wire = emulator.pair(lab, CLIENT, SERVER, *words)
        keys = {name: Key() for name in ("client", "server")}
        self.keys = {name: base64.b64decode(key.public).hex() for name, key in keys.items()}
        self.there = engine(self.server, "wg0", [f"{INSIDE_SERVER}/24"],
                            interface_text(keys["server"], PORT) + peer_text(keys["client"], f"{INSIDE_CLIENT}/32"),
                            mtu=mtus[1])
        check(self.there.set(f"tcp_listen_port={PORT}\n" + ("" if extensions else "extensions=off\n")) == 0, "refused")
        self.here = engine(self.client, "wg0", [f"{INSIDE_CLIENT}/24"],
                           interface_text(keys["client"]) + peer_text(keys["server"], f"{INSIDE_SERVER}/32"),
                           mtu=mtus[0])
        self.go(transport)
        check(self.here.set(f"public_key={self.keys['server']}\nupdate_only=true\nendpoint={SERVER}:{PORT}\n") == 0,
              "refused")
        wait_until(lambda: self.client.run("ping", "-c", "1", "-W", "1", INSIDE_SERVER, check_code=False).returncode == 0,
                   "an answer through the tunnel")

    def go(self, transport):
        check(self.here.set(f"transport={transport}\n") == 0, f"transport={transport} is refused")

    def connections(self):
        """Local ports of the carrier's connections."""
        lines = self.client.run("ss", "-tnH", "state", "established", "dport", f"= :{PORT}").stdout.splitlines()
        return [int(re.search(r":(\d+)$", line.split()[2]).group(1)) for line in lines]

    def start(self, count=4, mib=None, down=False):
        """count transfers at once, from the client to the server or the other way."""
        to, way = (INSIDE_CLIENT, (self.client, self.server)) if down else (INSIDE_SERVER, (self.server, self.client))
        transfers = []
        for _ in range(count):
            self.port += 1
            way[0].tool("transfer.py", "serve", to, str(self.port)).wait_for_text("listening")
            transfers.append(way[1].tool("transfer.py", "send", to, str(self.port), *(["--mib", str(mib)] if mib else []),
                                         "--mbit", "20"))
        return transfers

    def finish(self, transfers, stop=True):
        done = []
        for transfer in transfers:
            if stop:
                transfer.signal(15)
        for transfer in transfers:
            transfer.wait(120)
            done.append(transfer.result())
        check(all(one["equal"] for one in done), "hashes differ")
        return sum(one["bytes"] for one in done) >> 20, max(one["longest_stall_ms"] for one in done)


def test_loss_opens_streams(lab):
    """One on a clean path, several where it loses, and all bytes are the same, both ways at once."""
    pair = Pair(lab, "delay=4ms")
    moved = pair.start(2, mib=2)
    pair.finish(moved, stop=False)
    check(len(pair.connections()) == 1, f"{len(pair.connections())} connections on a clean short path")
    check(pair.wire.set("loss=2%") == "ok", "the emulator refuses")
    transfers = pair.start(4) + pair.start(2, down=True)
    _, took = wait_until(lambda: len(pair.connections()) >= 8, "eight streams", timeout=60)
    time.sleep(2)
    check(len(pair.connections()) <= MOST, f"{len(pair.connections())} connections")
    mib, stall = pair.finish(transfers)
    lab.figure(f"eight streams after {took:.1f} s, {mib} MiB equal at 2 % loss, longest stall {stall} ms")


def test_a_long_path_begins_with_several(lab):
    pair = Pair(lab, "delay=28ms")
    transfers = pair.start(4)
    _, took = wait_until(lambda: len(pair.connections()) == 8, "eight streams", timeout=60)
    time.sleep(3)
    mib, stall = pair.finish(transfers)
    lab.figure(f"eight streams after {took:.1f} s, {mib} MiB equal")


def test_a_peer_without_the_capability_gets_one(lab):
    """Each further connection would make a WGTCP peer retire the one before."""
    pair = Pair(lab, "delay=28ms", "loss=2%", extensions=False)
    transfers, seen = pair.start(4), set()
    for _ in range(20):
        time.sleep(0.2)
        seen.update(pair.connections())
    mib, _ = pair.finish(transfers)
    check(len(seen) == 1, f"{len(seen)} connections were seen")
    lab.figure(f"{mib} MiB equal over one connection")


def test_streams_that_break(lab):
    """One is blocked in the middle: its flows go on by the others. Then all of them are cut: a new path is made."""
    pair = Pair(lab, "delay=15ms", "loss=1%")
    transfers = pair.start(4)
    wait_until(lambda: len(pair.connections()) >= 8, "eight streams", timeout=60)
    time.sleep(1)
    pair.client.nft("table inet cut { chain out { type filter hook output priority 0; }\n"
                    " chain in { type filter hook input priority 0; }\n}\n")
    for port in pair.connections()[:2]:
        pair.client.run("nft", "add", "rule", "inet", "cut", "out", f"tcp sport {port} tcp dport {PORT} drop")
        pair.client.run("nft", "add", "rule", "inet", "cut", "in", f"tcp dport {port} tcp sport {PORT} drop")
    time.sleep(5)
    pings = pair.client.tool("pinger.py", INSIDE_SERVER)
    time.sleep(1.5)
    pings.signal(15)
    lost = pings.result()["lost"]
    check(lost <= 5, f"{lost} pings lost after two of the streams were blocked")
    pair.client.run("nft", "flush", "chain", "inet", "cut", "out")
    pair.client.run("nft", "flush", "chain", "inet", "cut", "in")
    for port in pair.connections():
        pair.client.run("nft", "add", "rule", "inet", "cut", "out",
                        f"tcp sport {port} tcp dport {PORT} reject with tcp reset")
    wait_until(lambda: len(pair.connections()) >= 2, "streams again", timeout=60)
    mib, stall = pair.finish(transfers)
    lab.figure(f"{mib} MiB equal, {lost} pings lost, longest stall {stall} ms")


def test_switches_with_streams(lab):
    """Carriers change under way, again and again, on a path that loses."""
    pair = Pair(lab, "delay=15ms", "loss=0.5%", transport="auto")
    transfers = pair.start(3) + pair.start(1, down=True)
    count = 20 if lab.long else 4
    for number in range(count):
        carrier = "udp" if number % 2 else "tcp"
        pair.go(carrier)
        wait_until(lambda: pair.here.get()[1][pair.keys["server"]]["carrier"] == carrier, f"carrier {carrier}")
        time.sleep(2)
    mib, stall = pair.finish(transfers)
    lab.figure(f"{count} switches, {mib} MiB equal, longest stall {stall} ms")


def ping_whole(pair, size):
    return pair.client.run("ping", "-c", "3", "-i", "0.2", "-W", "5", "-M", "do", "-s", size, INSIDE_SERVER,
                           check_code=False)


def test_large_packets(lab):
    pair = Pair(lab, "delay=2ms", "loss=0.5%", mtus=(65000, 65000))
    check(ping_whole(pair, 64972).returncode == 0, "a packet of 65,000 bytes does not pass")
    mib, _ = pair.finish(pair.start(2, mib=8) + pair.start(1, mib=8, down=True), stop=False)
    lab.figure(f"{mib} MiB equal")


def test_large_packets_on_one_side(lab):
    """The sender learns what the other side takes, as from any router."""
    pair = Pair(lab, "delay=2ms", mtus=(65000, 9000))
    check(ping_whole(pair, 8972).returncode == 0, "a packet of 9,000 bytes does not pass")
    told = ping_whole(pair, 20000)
    check(re.search("mtu ?= ?9000", told.stdout + told.stderr), f"nobody said that 20,000 bytes are too many: {told.stdout}")
    mib, _ = pair.finish(pair.start(2, mib=8) + pair.start(1, mib=8, down=True), stop=False)
    lab.figure(f"{mib} MiB equal")


@waiting
def test_idle_streams_are_closed(lab):
    pair = Pair(lab, "delay=28ms")
    pair.finish(pair.start(2, mib=4), stop=False)
    check(len(pair.connections()) > 1, "one connection on a long path")
    _, took = wait_until(lambda: len(pair.connections()) == 1, "one stream", timeout=90)
    lab.figure(f"one again after {took:.0f} s")
    pair.finish(pair.start(2, mib=1), stop=False)


if __name__ == "__main__":
    sys.exit(case.main(globals()))
