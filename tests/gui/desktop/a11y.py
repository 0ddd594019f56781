# SPDX-License-Identifier: MIT
"""Looks at a program and moves it by AT-SPI.

    a11y.py tree PROGRAM              role, name, description of what can be seen, a line each
    a11y.py click PROGRAM NAME [ROLE] does what a click on it does
    a11y.py type PROGRAM NAME TEXT    replaces the text of an entry
    a11y.py focus PROGRAM             role and name of what has the focus
    a11y.py gone PROGRAM              asks for a window that is not there any more
"""

import sys
import time
import warnings

import gi
gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, GLib  # noqa: E402

# The calls that replace those called old are not in Debian 12.
warnings.simplefilter("ignore")

PATIENCE_S = 10


def find_program(name):
    """The application whose program has this name; waits for it to come to the bus."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        desktop = Atspi.get_desktop(0)
        for i in range(desktop.get_child_count()):
            child = desktop.get_child_at_index(i)
            try:
                if child and child.get_name() == name:
                    return child
            except GLib.Error:
                pass
        time.sleep(0.1)
    sys.exit(f"no program '{name}' on the accessibility bus")


def walk(node, depth=0):
    """Everything that can be seen, parents first."""
    try:
        states = node.get_state_set()
        if depth > 1 and not states.contains(Atspi.StateType.VISIBLE):
            return
        yield node
        count = node.get_child_count()
    except GLib.Error:
        return
    for i in range(count):
        try:
            child = node.get_child_at_index(i)
        except GLib.Error:
            continue
        if child:
            yield from walk(child, depth + 1)


def texts(node):
    try:
        name, description = node.get_name() or "", node.get_description() or ""
        if node.get_text_iface():
            text = Atspi.Text.get_text(node, 0, -1) or ""
            name, description = name or text, description or text
        # GTK 4.8 names a button of a dialog "_Cancel Cancel": its text, and the label that has its key.
        half = name[len(name) // 2 + 1:]
        if name.startswith("_") and name.replace("_", "", 1) == f"{half} {half}":
            name = half
        return name.replace("\n", " "), description.replace("\n", " ")
    except GLib.Error:
        return "", ""


def click_of(node):
    """The number of the action that a click is, or None."""
    count = Atspi.Action.get_n_actions(node) if node.get_action_iface() else 0
    names = [Atspi.Action.get_action_name(node, i) or "" for i in range(count)]
    return next((i for wanted in ("click", "press", "toggle", "activate") for i, name in enumerate(names)
                 if name.lower().startswith(wanted)), None)


def find(program, name, role):
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        # Behind a dialog stands the window that it asks for; a dialog has its buttons twice, for wide and for narrow.
        for window in reversed([program.get_child_at_index(i) for i in range(program.get_child_count())]):
            for node in walk(window, 1):
                if texts(node)[0] == name and (not role or node.get_role_name() == role) and \
                        click_of(node) is not None:
                    return node
        time.sleep(0.1)
    sys.exit(f"nothing called '{name}' that can be clicked")


def main():
    what, name = sys.argv[1:3]
    program = find_program(name)
    if what == "tree":
        for node in walk(program):
            try:
                print("\t".join((node.get_role_name(), *texts(node))))
            except GLib.Error:
                pass  # it went while we looked
    elif what == "click":
        node = find(program, sys.argv[3], sys.argv[4] if len(sys.argv) > 4 else None)
        if not Atspi.Action.do_action(node, click_of(node)):
            sys.exit("the click was refused")
    elif what == "focus":
        for node in walk(program):
            try:
                if node.get_state_set().contains(Atspi.StateType.FOCUSED):
                    print("\t".join((node.get_role_name(), texts(node)[0])))
            except GLib.Error:
                pass
    elif what == "gone":
        # As a reader does that has counted before a dialog closed.
        try:
            program.get_child_at_index(99)
        except GLib.Error:
            pass
    elif what == "type":
        # The entry of a row is inside of what has the row's name.
        rows = [n for n in walk(program) if texts(n)[0] == sys.argv[3]]
        entry = next((n for row in rows for n in walk(row, 2) if n.get_editable_text_iface()), None)
        if not entry:
            sys.exit("it takes no text")
        Atspi.EditableText.set_text_contents(entry, sys.argv[4])


if __name__ == "__main__":
    main()
