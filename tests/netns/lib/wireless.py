# SPDX-License-Identifier: MIT
"""Stands in for NetworkManager on a private bus where a test needs a wireless network, which no namespace has.

Lines on standard input: "ssid NAME" (connected to it), "wired", "connectivity N" (it checks, and this is what it found).
"""

import sys

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

NM = "org.freedesktop.NetworkManager"
ROOT, ACTIVE, POINT = "/org/freedesktop/NetworkManager", f"/{NM.replace('.', '/')}/ActiveConnection/1", \
    f"/{NM.replace('.', '/')}/AccessPoint/1"


class Thing(dbus.service.Object):
    def __init__(self, bus, path, interface, properties):
        super().__init__(bus, path)
        self.interface, self.properties = interface, properties

    @dbus.service.method("org.freedesktop.DBus.Properties", in_signature="s", out_signature="a{sv}")
    def GetAll(self, _):  # noqa: N802
        return self.properties

    @dbus.service.signal("org.freedesktop.DBus.Properties", signature="sa{sv}as")
    def PropertiesChanged(self, interface, changed, invalidated):  # noqa: N802
        pass

    @dbus.service.method(NM, in_signature="", out_signature="u")
    def CheckConnectivity(self):  # noqa: N802
        return self.properties["Connectivity"]

    def change(self, **changed):
        self.properties.update(changed)
        self.PropertiesChanged(self.interface, changed, [])


def main():
    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    bus = dbus.SystemBus()
    name = dbus.service.BusName(NM, bus, do_not_queue=True)
    root = Thing(bus, ROOT, NM, {"Connectivity": dbus.UInt32(4), "ConnectivityCheckEnabled": False,
                                 "ConnectivityCheckAvailable": False, "ConnectivityCheckUri": "",
                                 "PrimaryConnection": dbus.ObjectPath("/")})
    active = Thing(bus, ACTIVE, f"{NM}.Connection.Active", {"Type": "802-3-ethernet",
                                                           "SpecificObject": dbus.ObjectPath("/")})
    point = Thing(bus, POINT, f"{NM}.AccessPoint", {"Ssid": dbus.Array([], signature="y")})

    def order(source, _):
        line = source.readline()
        if not line:
            loop.quit()
            return False
        word, _, rest = line.rstrip("\n").partition(" ")
        if word == "ssid":
            point.properties["Ssid"] = dbus.Array([dbus.Byte(b) for b in rest.encode()], signature="y")
            active.properties.update({"Type": "802-11-wireless", "SpecificObject": dbus.ObjectPath(POINT)})
        elif word == "wired":
            active.properties.update({"Type": "802-3-ethernet", "SpecificObject": dbus.ObjectPath("/")})
        if word == "connectivity":
            root.change(Connectivity=dbus.UInt32(int(rest)), ConnectivityCheckEnabled=True,
                        ConnectivityCheckAvailable=True)
        else:
            root.change(PrimaryConnection=dbus.ObjectPath(ACTIVE))
        return True

    loop = GLib.MainLoop()
    GLib.io_add_watch(sys.stdin, GLib.IO_IN | GLib.IO_HUP, order)
    print("ready", flush=True)
    loop.run()
    del name


if __name__ == "__main__":
    main()
