# SPDX-License-Identifier: MIT
"""What each folder may include: the brackets of docs/architecture.md, Folders.

A new carrier touches core/carrier and one port, a new platform is one folder: that holds only while nobody includes
what stands beside or above. Exceptions are named below, with their reason.
"""

import pathlib
import re
import sys

LIBC = set("""assert ctype errno float inttypes limits math setjmp stdalign stdarg stdatomic stdbool stddef stdint stdio
    stdlib string wchar""".split())
CRYPTO = ("sodium", "openssl/", "intel-ipsec-mb")
CORE = ["core/base", "core/crypto", "core/noise", "core/tunnel", "core/carrier", "core/config", "core/uapi", "core/port"]

# folder: (own folders it may include, prefixes of library headers; None: any system header)
RULES = {
    "core/base": ([], ()),
    "core/crypto": (["core/base"], CRYPTO),
    "core/noise": (["core/base", "core/crypto"], ()),
    "core/tunnel": (["core/base", "core/crypto", "core/noise"], ()),
    "core/carrier": (["core/base"], ()),
    "core/config": (["core/base"], ()),
    "core/uapi": (["core/base", "core/config"], ()),
    "core/port": (["core/base"], ()),
    "platform/linux": (["core/base", "core/port", "core/uapi"], None),
    "platform/fake": (["core/base", "core/port", "core/uapi"], ()),
    "client/rpc": (["core/base", "core/port"], ("json-c/",)),
    "client/engine": (CORE, ()),
    "client/relay": (CORE, ()),
    "client/daemon": (CORE + ["client/rpc"], None),
    # core/crypto: genkey, pubkey and genpsk work without a daemon. qrencode: export --qr.
    "client/cli": (["client/rpc", "client/speedtest", "core/base", "core/port", "core/crypto"], ("qrencode",)),
    # json-c: reads what iperf3 says.
    "client/speedtest": (["core/base", "core/port"], ("json-c/",)),
    "client/nm": (["client/rpc", "core/base", "core/config"], None),
    # libintl: words in the person's language; no toolkit, no display.
    "gui/model": (["client/rpc", "core/base", "core/config"], ("libintl",)),
    # core/port: keys come by a descriptor.
    "gui/link": (["client/rpc", "core/base", "core/port", "gui/model"], None),
    "gui/window": (["client/rpc", "client/speedtest", "core/base", "core/config", "gui/model", "gui/link"], None),
    "gui/tray": (["client/rpc", "core/base", "gui/model", "gui/link"], None),
}
# Only these folders may name these libraries, also where system headers are free.
OWNERS = {"sodium": "core/crypto", "openssl/": "core/crypto", "intel-ipsec-mb": "core/crypto",
          "json-c/": ("client/rpc/", "client/speedtest/"), "json.h": "client/rpc", "gtk/gtk.h": ("gui/window/", "gui/tray/", "client/nm/editor"),
          "adwaita": "gui/window/", "nftables/": "platform/linux/nftables"}
INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)', re.M)


def owner_of(path):
    found = [folder for folder in RULES if path.startswith(folder + "/")]
    return max(found, key=len) if found else None


def check_file(name, text):
    folder = owner_of(name)
    if folder is None:
        return [f"{name}: no rule for this folder in tests/lint/includes.py"]
    folders, libraries = RULES[folder]
    problems = []
    for own, system in INCLUDE.findall(text):
        for prefix, owner in OWNERS.items():
            if system.startswith(prefix) and not name.startswith(owner):
                problems.append(f"{name}: <{system}> belongs to {owner}")
        if own:
            if "/" not in own:
                problems.append(f'{name}: "{own}" is not written from the root')
            elif owner_of(own) != folder and owner_of(own) not in folders:
                problems.append(f'{name}: "{own}" is outside what {folder} may include')
        elif libraries is not None and system.removesuffix(".h") not in LIBC and \
                not system.startswith(tuple(libraries) or ("\0",)):
            problems.append(f"{name}: <{system}> is no C library header, and {folder} knows no operating system")
    return problems


def main():
    root = pathlib.Path(sys.argv[1])
    names = sorted(p.relative_to(root).as_posix() for top in ("core", "platform", "client", "gui")
                   for p in (root / top).rglob("*.[ch]"))
    problems = [p for name in names for p in check_file(name, (root / name).read_text(errors="replace"))]
    print("\n".join(problems))
    print(f"{len(problems)} includes outside the brackets" if problems else f"{len(names)} files looked at")
    return 1 if problems or not names else 0


if __name__ == "__main__":
    sys.exit(main())
