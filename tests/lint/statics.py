# SPDX-License-Identifier: MIT
"""No mutable static in core/: its objects have nothing in .data or .bss.

core/crypto keeps the algorithms that libcrypto looked up once; nothing else may.
"""

import pathlib
import subprocess
import sys

ALLOWED = "core/crypto/"


def main():
    build = pathlib.Path(sys.argv[2])
    objects = sorted(p for p in (build / "core").rglob("*.o"))
    problems = []
    for path in objects:
        name = path.relative_to(build).as_posix()
        if name.startswith(ALLOWED):
            continue
        sections = subprocess.run(["size", "-A", path], capture_output=True, text=True, check=True).stdout
        for line in sections.splitlines():
            words = line.split()
            mutable = words and (words[0] in (".bss", ".data", ".tbss", ".tdata") or
                                 words[0].startswith((".bss.", ".data.")) and not words[0].startswith(".data.rel.ro"))
            if mutable and int(words[1]):
                problems.append(f"{name}: {words[1]} bytes in {words[0]}")
    print("\n".join(problems))
    print(f"mutable statics: {problems[0]}" if problems else f"{len(objects)} objects looked at")
    return 1 if problems or not objects else 0


if __name__ == "__main__":
    sys.exit(main())
