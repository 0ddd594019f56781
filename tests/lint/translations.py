# SPDX-License-Identifier: MIT
"""Every text of the window and the tray is translated into every language, and no translation is left of a text that is
gone; formats match."""

import pathlib
import subprocess
import sys
import tempfile


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    gui = root / "gui"
    sources = sorted(p.relative_to(root) for p in gui.rglob("*.c")) + [pathlib.Path("gui/window/shortcuts.ui")]
    catalogues = sorted((gui / "po").glob("*.po"))
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        template = pathlib.Path(folder) / "wgtcp.pot"
        subprocess.run(["xgettext", "--from-code=UTF-8", "-k_", "-kN_", "-kngettext:1,2", "-o", template, *sources],
                       cwd=root, check=True)
        texts = template.read_text().count("\nmsgid ") - 1
        for path in catalogues:
            name = path.relative_to(root)
            # Each text of the program has a translation.
            done = subprocess.run(["msgcmp", path, template], capture_output=True, text=True)
            problems += [f"{name}: {line}" for line in done.stderr.splitlines() if line.strip()]
            # Each translation has a text: the other way round.
            listed = subprocess.run(["msgattrib", "--no-obsolete", "--translated", path], capture_output=True, text=True)
            if listed.stdout.count("\nmsgid ") - 1 != texts:
                problems.append(f"{name}: {listed.stdout.count(chr(10) + 'msgid ') - 1} translations for {texts} texts")
            done = subprocess.run(["msgfmt", "--check-format", "-o", "/dev/null", path], capture_output=True, text=True)
            problems += [f"{name}: {line}" for line in done.stderr.splitlines() if line.strip()]
    print("\n".join(problems))
    print(f"{len(problems)} problems" if problems else f"{texts} texts in {len(catalogues)} languages")
    return 1 if problems or len(catalogues) < 3 or not texts else 0


if __name__ == "__main__":
    sys.exit(main())
