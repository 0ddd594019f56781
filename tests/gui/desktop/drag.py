# SPDX-License-Identifier: MIT
"""Another program's window in the upper right corner, from which something can be dragged.

    drag.py FILE...        files
    drag.py --text FILE    the text of a file
    drag.py --front        nothing: it is only in front
"""

import pathlib
import sys

import gi
gi.require_version("Gtk", "3.0")
gi.require_version("Gdk", "3.0")
from gi.repository import Gdk, Gtk  # noqa: E402


def main():
    arguments = sys.argv[1:]
    is_text = arguments[0] == "--text"
    files = [pathlib.Path(a) for a in arguments if not a.startswith("--")]
    window = Gtk.Window(title="elsewhere")
    window.set_default_size(70, 70)
    window.move(925, 5)
    box = Gtk.EventBox()
    box.add(Gtk.Label(label="drag"))
    window.add(box)
    if files:
        box.drag_source_set(Gdk.ModifierType.BUTTON1_MASK, [], Gdk.DragAction.COPY)
        if is_text:
            box.drag_source_add_text_targets()
        else:
            box.drag_source_add_uri_targets()

    def give(_widget, _context, data, _info, _time):
        if is_text:
            data.set_text(files[0].read_text(), -1)
        else:
            data.set_uris([f.resolve().as_uri() for f in files])
    box.connect("drag-data-get", give)
    window.connect("destroy", Gtk.main_quit)
    window.show_all()
    print("ready", flush=True)
    Gtk.main()


if __name__ == "__main__":
    main()
