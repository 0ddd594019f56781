# SPDX-License-Identifier: MIT
"""Packagings of three families agree: each file that is installed belongs to one package of the same lists, the RPM spec and the
PKGBUILD are read by their own tools, both have Debian's packages and the one version, and the helper scripts are clean.

    tests/lint/packages.py SOURCE-FOLDER BUILD-FOLDER"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

source, build = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
packaging = source / "packaging"
PACKAGES = ("wgtcp", "wgtcp-gui", "network-manager-wgtcp")
wrong = []


def run(*command, **more):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, stdin=subprocess.DEVNULL, **more)


def files_of(root):
    return sorted("/" + str(path.relative_to(root)) for path in root.rglob("*") if path.is_file() or path.is_symlink())


def compare(what, ours, theirs):
    for name in sorted(ours ^ theirs):
        wrong.append(f"{what}: {name} is in one of them only")


version = re.search(r"^project\(wgtcp VERSION ([\d.]+)", (source / "CMakeLists.txt").read_text(), re.M).group(1)
with tempfile.TemporaryDirectory() as scratch:
    root = pathlib.Path(scratch) / "root"
    done = run("cmake", "--install", build, "--prefix", "/usr", env=dict(os.environ, DESTDIR=str(root)))
    if done.returncode:
        sys.exit(f"packages.py: cmake --install: {done.stderr.strip()[-300:]}")
    # What a build for /usr/local has laid down as full paths.
    for there, here in (("usr/local/etc", "etc"), ("usr/local/lib", "usr/lib"), ("usr/local/share", "usr/share")):
        if (root / there).is_dir():
            shutil.copytree(root / there, root / here, dirs_exist_ok=True, symlinks=True)
            shutil.rmtree(root / there)
    installed, owner = files_of(root), {}
    for name in PACKAGES:
        done = run(packaging / "file-list", name, root)
        if done.returncode:
            wrong.append(f"file-list {name}: {done.stderr.strip()}")
        for path in done.stdout.splitlines():
            if path in owner:
                wrong.append(f"{path}: in {owner[path]} and in {name}")
            owner[path] = name
    for path in installed:
        if path not in owner:
            wrong.append(f"{path}: in no package; packaging/debian/*.install has the lists")

    spec = run("rpmspec", "-q", "--define", f"tree_version {version}", "--qf", "%{name} %{version}\n", packaging / "rpm/wgtcp.spec")
    if spec.returncode or spec.stderr.strip():
        wrong.append(f"wgtcp.spec: {spec.stderr.strip()[:300]}")
    compare("packages of wgtcp.spec and Debian", {line.lower().replace("networkmanager", "network-manager")
                                                  for line in spec.stdout.splitlines()}, {f"{n} {version}" for n in PACKAGES})

    # makepkg will not run as root.
    tree = pathlib.Path(scratch) / "tree"
    (tree / "packaging").mkdir(parents=True)
    shutil.copy(source / "CMakeLists.txt", tree)
    shutil.copytree(packaging / "arch", tree / "packaging/arch")
    for path in (pathlib.Path(scratch), tree, tree / "packaging", tree / "packaging/arch"):
        path.chmod(0o777)
    as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    info = run(*as_nobody, "makepkg", "--printsrcinfo", cwd=tree / "packaging/arch", env=dict(os.environ, HOME=str(tree)))
    if info.returncode:
        wrong.append(f"PKGBUILD: {info.stderr.strip()[:300]}")
    names = set(re.findall(r"^pkgname = (\S+)", info.stdout, re.M))
    compare("packages of PKGBUILD and Debian", {name.replace("networkmanager", "network-manager") for name in names}, set(PACKAGES))
    if f"pkgver = {version}\n" not in info.stdout:
        wrong.append(f"PKGBUILD: its version is not {version}")

scripts = [path for path in sorted(packaging.rglob("*")) if path.is_file() and path.parent.name != "completions"
           and path.read_bytes().startswith((b"#!/bin/sh", b"#!/bin/bash"))] + sorted((packaging / "arch").iterdir())
done = run("shellcheck", "--severity=warning", "--exclude=SC2154", *scripts)
if done.returncode:
    wrong.append("shellcheck: " + (done.stdout or done.stderr).strip())

print("\n".join(wrong))
if wrong:
    sys.exit(1)
print(f"{len(owner)} files in {len(PACKAGES)} packages, the same for Debian, RPM and Arch; {len(scripts)} scripts")
