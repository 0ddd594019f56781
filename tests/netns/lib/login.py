# SPDX-License-Identifier: MIT
"""Stands in for logind on a private bus: "sleep" and "wake" on standard input become its signal PrepareForSleep."""

import sys

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib  # noqa: E402


def main():
    bus = Gio.bus_get_sync(Gio.BusType.SYSTEM)
    bus.call_sync("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName",
                  GLib.Variant("(su)", ("org.freedesktop.login1", 4)), None, Gio.DBusCallFlags.NONE, -1)
    print("ready", flush=True)
    for line in sys.stdin:
        bus.emit_signal(None, "/org/freedesktop/login1", "org.freedesktop.login1.Manager", "PrepareForSleep",
                        GLib.Variant("(b)", (line.strip() == "sleep",)))
        bus.flush_sync()


if __name__ == "__main__":
    main()
