# SPDX-License-Identifier: MIT
"""With which congestion control the carrier's connections begin, where BBR is the machine's default."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lib import case, emulator  # noqa: E402
from lib.lab import check, wait_until  # noqa: E402
from lib.tunnel import PORT, Device, Key, interface_text, peer_text  # noqa: E402

CLIENT, SERVER = "192.0.2.1", "192.0.2.2"


def carrier_congestion(lab, client, server):
    """What both ends of the carrier's connection use, [client, server]."""
    keys, programs = (Key(), Key()), []
    for host, own, other, inside, endpoint in ((server, keys[1], keys[0], ("10.77.0.1", "10.77.0.2"), None),
                                               (client, keys[0], keys[1], ("10.77.0.2", "10.77.0.1"), f"{SERVER}:{PORT}")):
        program = host.start(lab.binary("wgtcp-engine"), "-f", "wg0")
        programs.append(program)
        device = Device(host, "wg0", program, [f"{inside[0]}/24"])
        check(not device.set("transport=tcp\n" + ("" if endpoint else f"tcp_listen_port={PORT}\n")), "no TCP")
        device.setconf(interface_text(own, PORT) + peer_text(other, f"{inside[1]}/32", endpoint))
    wait_until(lambda: client.run("ping", "-c", "1", "-W", "1", "10.77.0.1", check_code=False).returncode == 0,
               "a ping through the carrier", interval=0.1)
    used = []
    for host, end in (client, "dport"), (server, "sport"):
        told = host.run("ss", "-tinH", "state", "established", end, f"= :{PORT}").stdout
        names = re.findall(r"\b(bbr|cubic|reno)\b", told)
        check(names, f"no connection on {host.name}: {told}")
        used.append(names[0])
    for program in programs:
        program.stop()
    return used


def default_of(host, wanted="bbr"):
    """BBR, or what there is where the kernel lacks it."""
    host.run("sysctl", "-qw", f"net.ipv4.tcp_congestion_control={wanted}", check_code=False)
    return host.run("sysctl", "-n", "net.ipv4.tcp_congestion_control").stdout.strip()


def test_near(lab):
    """Over a veth, where pacing would only cost."""
    client, server = lab.host("client"), lab.host("server")
    lab.wire(client, "eth0", server, "eth0")
    for host, address in (client, CLIENT), (server, SERVER):
        host.run("ip", "address", "add", f"{address}/24", "dev", "eth0")
    default = default_of(client)
    default_of(server)
    expected = "reno" if default == "bbr" else default
    # A machine that is busy in just that moment sees a long round trip on this wire too: not five times.
    for attempt in range(5):
        used = carrier_congestion(lab, client, server)
        if used == [expected, expected]:
            break
    lab.figure(f"default {default}, used {used} at attempt {attempt + 1}")
    check(used == [expected, expected], f"{used} where {default} is the default")


def test_far(lab):
    """20 ms away nothing is different from the default."""
    client, server, _ = emulator.pair(lab, CLIENT, SERVER, "delay=10ms")
    default = default_of(client)
    default_of(server)
    used = carrier_congestion(lab, client, server)
    lab.figure(f"default {default}, used {used}")
    check(used == [default, default], f"{used} where {default} is the default")


if __name__ == "__main__":
    sys.exit(case.main(globals()))
