# SPDX-License-Identifier: MIT
"""Heads of files, words that must not be committed, and paths that only one machine has."""

import pathlib
import re
import subprocess
import sys

# Put together here, so that this file does not find itself.
UNFINISHED = re.compile(r"\b(" + "|".join(a + b for a, b in (("TO", "DO"), ("FIX", "ME"), ("XX", "X"), ("HA", "CK")))
                        + r")\b")
LOCAL = re.compile("|".join(a + b for a, b in (("/wo", "rk/"), ("/tmp/bu", "ild"), ("/ro", "ot/"))))
CODE = (".c", ".h", ".py", ".sh", ".cmake")
# Bytes that a fuzzer made, and text that is somebody else's.
LEFT_OUT = ("tests/fuzz/corpus/", "LICENSE")


def files(root):
    listed = subprocess.run(["git", "-C", root, "-c", "safe.directory=*", "ls-files", "-z"], capture_output=True)
    if listed.returncode == 0 and listed.stdout:
        names = listed.stdout.decode().split("\0")
    else:  # an unpacked archive
        names = [p.relative_to(root).as_posix() for p in root.rglob("*")
                 if not re.match(r"build|\.git/", p.relative_to(root).as_posix())]
    return sorted(n for n in names if n and (root / n).is_file() and not n.startswith(LEFT_OUT))


def check(name, data):
    problems = []
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return []
    lines = text.splitlines()
    if name.endswith((".c", ".h")) and (not lines or lines[0] != "/* SPDX-License-Identifier: MIT */"):
        problems.append(f"{name}:1: the first line is not the licence")
    elif (name.endswith(CODE) or data.startswith(b"#!")) and \
            not any("SPDX-License-Identifier: MIT" in line for line in lines[:3]):
        problems.append(f"{name}:1: no licence in the first three lines")
    for number, line in enumerate(lines, 1):
        if UNFINISHED.search(line):
            problems.append(f"{name}:{number}: unfinished: {line.strip()[:80]}")
        if LOCAL.search(line):
            problems.append(f"{name}:{number}: a path of one machine: {line.strip()[:80]}")
        if name.endswith(CODE) and line != line.rstrip():
            problems.append(f"{name}:{number}: blanks at the end of the line")
    if name.endswith(CODE) and data and not data.endswith(b"\n"):
        problems.append(f"{name}: no newline at the end")
    return problems


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    names = files(root)
    problems = [p for name in names for p in check(name, (root / name).read_bytes())]
    print("\n".join(problems))
    print(f"{len(problems)} problems, the first: {problems[0]}" if problems else f"{len(names)} files looked at")
    return 1 if problems or not names else 0


if __name__ == "__main__":
    sys.exit(main())
