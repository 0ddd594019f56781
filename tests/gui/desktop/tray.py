# SPDX-License-Identifier: MIT
"""A tray host without a screen: it takes what registers itself, reads the icon and the menu, and clicks.

    tray.py host               owns org.kde.StatusNotifierWatcher; prints "item SERVICE PATH" for each that registers
    tray.py show SERVICE PATH  JSON: the icon's name and words, and the menu's items
    tray.py click SERVICE PATH LABEL   the item whose label begins so
"""

import json
import sys

import gi
gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib  # noqa: E402

NAME, PATH = "org.kde.StatusNotifierWatcher", "/StatusNotifierWatcher"
ITEM, MENU = "org.kde.StatusNotifierItem", "com.canonical.dbusmenu"

INTERFACE = f"""<node><interface name="{NAME}">
  <method name="RegisterStatusNotifierItem"><arg type="s" direction="in"/></method>
  <method name="RegisterStatusNotifierHost"><arg type="s" direction="in"/></method>
  <property name="RegisteredStatusNotifierItems" type="as" access="read"/>
  <property name="IsStatusNotifierHostRegistered" type="b" access="read"/>
  <property name="ProtocolVersion" type="i" access="read"/>
  <signal name="StatusNotifierItemRegistered"><arg type="s"/></signal>
  <signal name="StatusNotifierHostRegistered"/>
</interface></node>"""

bus = Gio.bus_get_sync(Gio.BusType.SESSION, None)
items = []


def on_call(_bus, sender, _path, _interface, method, parameters, invocation):
    if method == "RegisterStatusNotifierItem":
        # By the specification a service; the indicator's library gives the path.
        path = parameters.unpack()[0]
        items.append(f"{sender}{path}")
        print(f"item {sender} {path}", flush=True)
    invocation.return_value(None)


def on_get(_bus, _sender, _path, _interface, name):
    return {"RegisteredStatusNotifierItems": GLib.Variant("as", items),
            "IsStatusNotifierHostRegistered": GLib.Variant("b", True),
            "ProtocolVersion": GLib.Variant("i", 0)}[name]


def host():
    node = Gio.DBusNodeInfo.new_for_xml(INTERFACE)
    bus.register_object(PATH, node.interfaces[0], on_call, on_get, None)
    Gio.bus_own_name_on_connection(bus, NAME, Gio.BusNameOwnerFlags.NONE, lambda *_: print("ready", flush=True), None)
    GLib.MainLoop().run()


def call(service, path, interface, method, parameters=None):
    return bus.call_sync(service, path, interface, method, parameters, None, Gio.DBusCallFlags.NONE, 5000,
                         None).unpack()


def prop(service, path, name):
    return call(service, path, "org.freedesktop.DBus.Properties", "Get", GLib.Variant("(ss)", (ITEM, name)))[0]


def menu_items(service, menu):
    call(service, menu, MENU, "AboutToShow", GLib.Variant("(i)", (0,)))
    _revision, root = call(service, menu, MENU, "GetLayout", GLib.Variant("(iias)", (0, -1, [])))
    found = []
    for identity, props, _children in root[2]:
        if props.get("type") != "separator":
            found.append({"id": identity, "label": props.get("label", "").replace("_", ""),
                          "check": props.get("toggle-type", ""), "on": props.get("toggle-state", -1) == 1,
                          "enabled": props.get("enabled", True), "visible": props.get("visible", True)})
    return found


def main():
    what = sys.argv[1]
    if what == "host":
        host()
        return
    service, path = sys.argv[2:4]
    menu = prop(service, path, "Menu")
    found = menu_items(service, menu)
    if what == "show":
        print(json.dumps({"icon": prop(service, path, "IconName"), "title": prop(service, path, "Title"),
                          "status": prop(service, path, "Status"), "folder": prop(service, path, "IconThemePath"),
                          "menu": found}))
        return
    item = next((i for i in found if i["label"].startswith(sys.argv[4])), None)
    if not item:
        sys.exit(f"no item '{sys.argv[4]}' among {[i['label'] for i in found]}")
    call(service, menu, MENU, "Event", GLib.Variant("(isvu)", (item["id"], "clicked", GLib.Variant("i", 0), 0)))


if __name__ == "__main__":
    main()
