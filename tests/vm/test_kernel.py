# SPDX-License-Identifier: MIT
"""The real in-kernel WireGuard, in a virtual machine: our netlink client on it, and our engine hand in hand with it."""

import pathlib
import re
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "netns")]
from guest import Guest  # noqa: E402
from lib import case  # noqa: E402
from lib.lab import check, wait_until  # noqa: E402
from lib.tunnel import PORT, Key, engine, interface_text, peer_text, preshared_key  # noqa: E402

# Inside: our engine's side and the guests'.
OURS, OURS_ALLOWED = ["10.66.0.1/24", "fd66::1/64"], "10.66.0.1/32, fd66::1/128"


def theirs(number):
    return [f"10.66.0.1{number}/24", f"fd66::1{number}/64"], f"10.66.0.1{number}/32, fd66::1{number}/128"


def ping(host, target, count=20, size=56):
    result = host.tool("pinger.py", target, "--count", count, "--interval", 20, "--size", size, "--grace", 6).result()
    check(result["lost"] == 0, f"{result['lost']} of {count} pings to {target} lost")


def both_ways(host, guest, number=1):
    """Small packets and packets as large as the tunnel takes, both families, asked for by either side."""
    for target in f"10.66.0.1{number}", f"fd66::1{number}":
        ping(host, target)
        ping(host, target, count=5, size=1372 if ":" in target else 1392)
    for target in "10.66.0.1", "fd66::1":
        guest.run(f"ping -c 5 -i 0.05 -W 5 -q {target}")
        guest.run(f"ping -c 3 -i 0.05 -W 5 -q -M do -s {1372 if ':' in target else 1392} {target}")


def transfer(host, guest, number=1, mib=4):
    """Bytes over an inner TCP connection each way; hashes are compared."""
    address = f"10.66.0.1{number}"
    data = host.lab.logs / "data"
    data.write_bytes(bytes(range(251)) * (mib * 1048576 // 251))
    wanted = host.run("sha256sum", data).stdout.split()[0]
    # An end of its input would make nc close its half, and the other nc then stops sending.
    guest.run("(sleep 60 | nc -l -p 9000 >/tmp/got) >/dev/null 2>&1 &")
    wait_until(lambda: guest.run("grep -qi ':2328 ' /proc/net/tcp /proc/net/tcp6", check_code=False)[0] == 0,
               "nc to listen")
    start = time.monotonic()
    with open(data, "rb") as stdin:
        sender = host.start("busybox", "nc", "-w", "30", address, "9000", name="send", stdin=stdin)
        check(sender.wait(60) == 0, "the sender broke")
    wait_until(lambda: guest.run("sha256sum /tmp/got")[1].split()[0] == wanted, "all bytes at the guest")
    seconds = time.monotonic() - start
    receiver = host.start("sh", "-c", "sleep 60 | busybox nc -l -p 9001", name="receive")
    wait_until(lambda: ":2329 " in host.run("cat", "/proc/net/tcp", "/proc/net/tcp6").stdout, "nc to listen")
    guest.run("nc -w 30 10.66.0.1 9001 </tmp/got")
    wait_until(lambda: host.run("sha256sum", receiver.out).stdout.split()[0] == wanted, "all bytes from the guest")
    host.lab.figure(f"{mib} MiB each way, {mib * 8 * 1.048576 / seconds:.0f} Mbit/s to the guest")


def received(guest, name):
    """Bytes that the guest's only peer sent it."""
    return int(guest.run(f"wg show {name} transfer")[1].split()[1])


def test_kernel_tunnel(lab):
    """Without the module, and with it: what the doubles of the contract tests promise, on the kernel itself."""
    host = lab.host("host")
    guest = Guest(host, programs=[lab.binary("vm_kernel_tunnel")])
    lab.figure(f"{guest.ready():.1f} s to boot {guest.release}")
    _, text = guest.run("vm_kernel_tunnel none")
    check("has no module wireguard" in text, f"the reason reads: {text.strip()}")
    guest.load("wireguard")
    start = time.monotonic()
    _, text = guest.run("vm_kernel_tunnel stock")
    passed = sum(map(int, re.findall(r"PASSED  \] (\d+) test", text)))
    lab.figure(f"{passed} promises kept in {time.monotonic() - start:.1f} s")
    check(passed == 10, f"{passed} promises: {text[-300:]}")
    _, links = guest.run("ip -o link")
    check(not re.search(r"wgp|wgtcp-probe", links), f"interfaces are left behind: {links}")


def engine_and_kernel(lab, we_dial, outer):
    """One peer each. The one that dials has the endpoint, and nobody else has one."""
    host = lab.host("host")
    guest = Guest(host)
    lab.figure(f"{guest.ready():.1f} s to boot")
    guest.load("wireguard")
    ours, key, psk = Key(), Key(), preshared_key()
    addresses, allowed = theirs(1)
    guest_end = f"{guest.v4}:{PORT}" if outer == 4 else f"[{guest.v6}]:{PORT}"
    host_end = f"{guest.host_v4}:{PORT}" if outer == 4 else f"[{guest.host_v6}]:{PORT}"
    ours_text = interface_text(ours, PORT) + peer_text(
        key, allowed, guest_end if we_dial else None, psk, 1 if we_dial else None)
    key_text = interface_text(key, PORT) + peer_text(
        ours, OURS_ALLOWED, None if we_dial else host_end, psk, None if we_dial else 1)
    if we_dial:
        guest.wireguard("wg0", key_text, addresses)
        device = engine(host, "wg-a", OURS, ours_text)
    else:
        device = engine(host, "wg-a", OURS, ours_text)
        guest.wireguard("wg0", key_text, addresses)
    wait_until(lambda: device.handshake(key), "a handshake by the keepalive alone")
    # With an interval of 1 s and nothing else to say, one keepalive of 32 bytes a second.
    count = (lambda: received(guest, "wg0")) if we_dial else (lambda: device.received(key))
    time.sleep(1)
    before = count()
    time.sleep(5)
    keepalives = (count() - before) / 32
    check(3 <= keepalives <= 7, f"{keepalives} keepalives in 5 s at an interval of 1 s")
    both_ways(host, guest)
    check(device.endpoint(key) == guest_end, f"our engine shows the endpoint {device.endpoint(key)}")
    _, seen = guest.run("wg show wg0 endpoints")
    check(seen.split()[1] == host_end, f"the kernel shows the endpoint {seen.split()[1]}")
    transfer(host, guest)
    return host, guest, device, ours, key


def test_engine_is_client_over_ipv4(lab):
    host, guest, device, ours, key = engine_and_kernel(lab, we_dial=True, outer=4)
    # Another preshared key on one side, and a fresh start: nothing may pass.
    guest.write("/tmp/psk", preshared_key())
    guest.run(f"wg set wg0 peer {ours.public} preshared-key /tmp/psk")
    device.wg("peer", key.public, "remove")
    psk = lab.logs / "psk"
    psk.write_text(preshared_key())
    device.wg("peer", key.public, "endpoint", f"{guest.v4}:{PORT}", "allowed-ips", theirs(1)[1].replace(" ", ""),
              "preshared-key", psk)
    result = host.tool("pinger.py", "10.66.0.11", "--count", 20, "--interval", 50).result()
    check(result["received"] == 0, "packets passed with different preshared keys")


def test_engine_is_client_over_ipv6(lab):
    engine_and_kernel(lab, we_dial=True, outer=6)


def test_engine_is_server_over_ipv4(lab):
    engine_and_kernel(lab, we_dial=False, outer=4)


def test_engine_is_server_over_ipv6(lab):
    engine_and_kernel(lab, we_dial=False, outer=6)


def test_engine_serves_two_kernels(lab):
    """Two guests are clients of one engine, one over IPv4 and one over IPv6, and reach each other through it."""
    host = lab.host("host")
    host.run("sysctl", "-qw", "net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1")
    guests = [Guest(host, 1), Guest(host, 2)]
    lab.figure(f"{max([guest.ready() for guest in guests]):.1f} s to boot two")
    ours, keys = Key(), [Key(), Key()]
    text = interface_text(ours, PORT)
    for number, key in enumerate(keys, 1):
        text += peer_text(key, theirs(number)[1])
    device = engine(host, "wg-a", OURS, text)
    for guest, key in zip(guests, keys):
        guest.load("wireguard")
        outside = f"{guest.host_v4}:{PORT}" if guest.number == 1 else f"[{guest.host_v6}]:{PORT}"
        guest.wireguard("wg0", interface_text(key, PORT) + peer_text(ours, "10.66.0.0/24, fd66::/64", outside, None, 25),
                        theirs(guest.number)[0])
    for guest, key in zip(guests, keys):
        wait_until(lambda: device.handshake(key), f"a handshake with {guest.name}")
        both_ways(host, guest, guest.number)
    guests[0].run("ping -c 5 -i 0.05 -W 5 -q 10.66.0.12")
    guests[1].run("ping -c 5 -i 0.05 -W 5 -q fd66::11")


if __name__ == "__main__":
    sys.exit(case.main(globals()))
