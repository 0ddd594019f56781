# SPDX-License-Identifier: MIT
"""Looks at a program and moves it by AT-SPI.

    a11y.py tree PROGRAM              role, name, description of what can be seen, a line each
    a11y.py click PROGRAM NAME [ROLE] does what a click on it does
    a11y.py type PROGRAM NAME TEXT    replaces the text of an entry
"""

import sys
import time

import gi
gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, GLib  # noqa: E402

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
        if not name and node.get_text_iface():
            name = Atspi.Text.get_text(node, 0, -1) or ""
        return name.replace("\n", " "), description.replace("\n", " ")
    except GLib.Error:
        return "", ""


def find(program, name, role):
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        found = [n for n in walk(program) if texts(n)[0] == name and (not role or n.get_role_name() == role)]
        # Behind a dialog stands the window that it asks for.
        for node in reversed(found):
            if role or node.get_action_iface() or node.get_editable_text_iface():
                return node
        time.sleep(0.1)
    sys.exit(f"nothing called '{name}' that can be used")


def act(node):
    actions = node.get_action_iface()
    count = Atspi.Action.get_n_actions(node) if actions else 0
    names = [Atspi.Action.get_action_name(node, i) for i in range(count)]
    for wanted in "click", "press", "toggle", "activate":
        for i, name in enumerate(names):
            if name and wanted in name.lower():
                if not Atspi.Action.do_action(node, i):
                    sys.exit(f"the action {name} was refused")
                return
    sys.exit(f"no way to click: its actions are {names}")


def main():
    what, name = sys.argv[1:3]
    program = find_program(name)
    if what == "tree":
        for node in walk(program):
            print("\t".join((node.get_role_name(), *texts(node))))
    elif what == "click":
        act(find(program, sys.argv[3], sys.argv[4] if len(sys.argv) > 4 else None))
    elif what == "type":
        node = find(program, sys.argv[3], None)
        if not node.get_editable_text_iface():
            sys.exit("it takes no text")
        Atspi.EditableText.set_text_contents(node, sys.argv[4])


if __name__ == "__main__":
    main()
