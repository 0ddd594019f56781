# SPDX-License-Identifier: MIT
"""Real wireless networks as far as software goes: the kernel's own simulated radios (mac80211_hwsim), hostapd's access
points, and our nl80211 on top. Everything is in one guest: a client, two access points, each in a network namespace
with a server behind it."""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "netns")]
from guest import Guest  # noqa: E402
from guest.daemon import PROGRAMS, GuestDaemon  # noqa: E402
from guest.image import Image  # noqa: E402
from lib import case, packages  # noqa: E402
from lib.lab import check, wait_until  # noqa: E402
from lib.tunnel import PORT, Key, interface_text, peer_text  # noqa: E402

KERNEL, RADIOS = "linux-image-amd64", 3
SERVER = "10.50.0.1"
# Where the client may be: namespace, radio, name of the network, number of its prefix.
HOME, CAFE = ("home", 1, "Caf\u00e9 am See", 10), ("cafe", 2, "Airport", 20)


class Place:
    def __init__(self, lab, extra, daemon=True):
        self.lab, self.host = lab, lab.host("host")
        iw, hostapd = packages.folder("iw"), packages.folder("hostapd")
        image = Image(lab.binaries.parent / "guest-wireless", KERNEL, ("mac80211_hwsim", "tun", "nft_reject_inet"))
        self.guest = Guest(self.host, programs=[lab.binary(name) for name in (*PROGRAMS, "vm_wireless")] + [
            next(iw.rglob("sbin/iw")), next(hostapd.rglob("sbin/hostapd"))], image=image,
            files={"/early": "mkdir -p /var /etc; ln -s /run /var/run; mkdir -p /run/netns\n"})
        lab.figure(f"{self.guest.ready():.1f} s to boot {self.guest.release}")
        run = self.guest.run
        run(f"for m in $(cat /modules/mac80211_hwsim); do n=; [ $m = mac80211_hwsim ] && n=radios={RADIOS};"
            " insmod /modules/$m.ko $n || exit 1; done")
        self.guest.load("tun")
        self.server_key, self.client_key = Key(), Key()
        for place in HOME, CAFE:
            self.access_point(*place)
        if not daemon:
            return
        self.daemon = GuestDaemon(self.guest)
        self.daemon.profile("office", interface_text(
            self.client_key, extra=f"Address = 10.77.0.2/24\nBackend = userspace\n{extra}") + peer_text(
                self.server_key, "10.77.0.0/24", f"{SERVER}:{PORT}"))

    def access_point(self, name, radio, ssid, prefix):
        run = self.guest.run
        self.guest.write(f"/tmp/{name}.conf", f"interface=wlan{radio}\ndriver=nl80211\nssid2=\"{ssid}\"\nhw_mode=g\n"
                         f"channel={prefix // 10}\nutf8_ssid=1\n")
        self.guest.write(f"/tmp/{name}.wg", interface_text(self.server_key, PORT) + peer_text(
            self.client_key, "10.77.0.2/32"))
        run(f"ip netns add {name} && iw phy phy{radio} set netns name {name}")
        inside = f"ip netns exec {name}"
        run(f"{inside} ip link set lo up && {inside} ip address add {SERVER}/32 dev lo")
        run(f"({inside} hostapd /tmp/{name}.conf >/tmp/hostapd.{name} 2>&1 &)")
        wait_until(lambda: "AP-ENABLED" in run(f"cat /tmp/hostapd.{name}")[1], f"the access point {name}", 60)
        run(f"{inside} ip address add 192.168.{prefix}.1/24 dev wlan{radio}")
        run(f"({inside} wgtcp-engine -f wg-{name} >/tmp/engine.{name} 2>&1 &)")
        wait_until(lambda: run(f"wg setconf wg-{name} /tmp/{name}.wg", check_code=False)[0] == 0, "the server", 60)
        run(f"{inside} ip address add 10.77.0.1/24 dev wg-{name} && {inside} ip link set wg-{name} up")

    def join(self, place):
        name, _, ssid, prefix = place
        run = self.guest.run
        run("ip link set wlan0 up; iw dev wlan0 disconnect; ip address flush dev wlan0; ip route flush dev wlan0",
            check_code=False)
        run(f"iw dev wlan0 connect '{ssid}'")
        wait_until(lambda: f"SSID: " in run("iw dev wlan0 link", check_code=False)[1], f"{name} to take us in", 60)
        run(f"ip address add 192.168.{prefix}.2/24 dev wlan0; ip route replace default via 192.168.{prefix}.1")
        return ssid

    def wireless(self):
        text = self.guest.run(f"vm_wireless wlan0 {SERVER}")[1]
        return re.search(r"ssid (.*)", text).group(1), re.search(r"remembered by (.*)", text).group(1)

    def pings(self):
        return self.guest.run("ping -c 3 -i 0.2 -W 3 -q 10.77.0.1", check_code=False)[0] == 0


def test_the_networks_name_by_nl80211(lab):
    """Which name it has, where there is none, and by what a network is remembered while its gateway is not known."""
    place = Place(lab, "", daemon=False)  # which would find the gateway's address out
    place.guest.run("ip link set wlan0 up")
    check(place.wireless()[0] == "none", f"not connected, and a name: {place.wireless()}")
    check("ssid wired" in place.guest.run(f"vm_wireless eth0 {SERVER}")[1], "a cable has a name")
    for where in HOME, CAFE, HOME:
        ssid = place.join(where)
        place.guest.run("ip neighbour flush dev wlan0", check_code=False)
        name, by = place.wireless()
        check(name == ssid, f"'{name}' instead of '{ssid}'")
        check(by == f"name {ssid}", f"remembered by {by}")
        place.guest.run(f"ping -c 1 -W 5 {SERVER}")
        check(place.wireless()[1] == "hardware", f"the gateway answers, and it is remembered by {place.wireless()[1]}")


def trusted(lab, networks):
    place = Place(lab, f"AutoConnect = on\nTrustedNetworks = {networks}\n")
    daemon = place.daemon
    place.join(HOME)
    place.guest.run("sleep 3")
    check(daemon.status("office").get("state", "down") == "down", "it connects in a trusted network")
    place.join(CAFE)
    daemon.wait_status("office", state="up")
    check(place.pings(), "no inner traffic")
    place.join(HOME)
    daemon.wait_status("office", state="down")
    place.join(CAFE)
    daemon.wait_status("office", state="up")


def test_trusted_by_its_name(lab):
    """TrustedNetworks by SSID, without NetworkManager."""
    trusted(lab, f"Elsewhere, {HOME[2]}")


def test_trusted_by_its_gateway(lab):
    trusted(lab, "192.168.10.1")


def test_roaming_and_memory(lab):
    """From one access point to another with the tunnel up; each network is remembered for itself."""
    place = Place(lab, "")
    daemon, run = place.daemon, place.guest.run
    place.join(CAFE)
    first = daemon.up("office")
    place.join(HOME)
    wait_until(place.pings, "inner traffic to follow to the other access point", 90)
    daemon.cli("down office")
    again = daemon.up("office")
    lab.figure(f"up in {first:.2f} s and {again:.2f} s")
    text = run("cat /tmp/state/networks | wc -l", check_code=False)[1]
    check(int(text.split()[-1]) >= 2, f"two networks, and the memory has {text}")


if __name__ == "__main__":
    sys.exit(case.main(globals()))
