# SPDX-License-Identifier: MIT
"""Help, manual pages and completions name the same commands, options and keys; each manual page is well formed; the
completion scripts are accepted by their shells, and bash's is tried.

    tests/lint/documents.py SOURCE-FOLDER BUILD-FOLDER"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

source, build = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
wrong = []


def program(name):
    found = [path for path in build.rglob(name) if path.is_file() and os.access(path, os.X_OK)
             and "tests" not in path.relative_to(build).parts]
    if not found:
        sys.exit(f"documents.py: {name} is not built")
    return found[0]


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, **more)


def options_of(text):
    return set(re.findall(r"--[a-z][a-z-]+", text))


def compare(what, ours, theirs, where):
    for option in sorted(ours - theirs):
        wrong.append(f"{what}: {option} is not in {where}")
    for option in sorted(theirs - ours):
        wrong.append(f"{what}: {where} has {option}, which there is not")


def page(name):
    return (source / "packaging" / "man" / name).read_text().replace("\\-", "-").replace("\\fI", "").replace("\\fR", "")


cli = program("wgtcp-cli")
ALWAYS = {"--help", "--json", "--socket"}


def complete(*words):
    return set(run(cli, "complete", *words, "").stdout.split()), set(run(cli, "complete", *words, "-").stdout.split())


# Commands and their options.
usages = re.findall(r"^  ([a-z]+)( \S.*?)?  +\S", run(cli, "help").stdout, re.M)
sections = {}
for title, body in re.findall(r'^\.SS (.*)\n((?:(?!^\.S[SH] ).*\n)*)', page("wgtcp-cli.1"), re.M):
    sections[title.split()[0].strip('"')] = (title.replace('"', ""), body)
compare("wgtcp-cli", {name for name, _ in usages}, set(sections), "wgtcp-cli(1)")
compare("wgtcp-cli", {name for name, _ in usages}, complete()[0], "the completions")
count = 0
for name, usage in usages:
    options = options_of(run(cli, "help", name).stdout.split("Exit codes")[0].split("\n\n", 2)[2]) - ALWAYS
    count += len(options)
    title, body = sections.get(name, ("", ""))
    if title != (name + usage).strip():
        wrong.append(f"wgtcp-cli(1): '.SS {title}' is not '{name}{usage}'")
    compare(name, options, options_of(body) - ALWAYS, "wgtcp-cli(1)")
    compare(name, options, complete(name)[1] - ALWAYS, "the completions")

# The other programs.
pages = {"wgtcpd": "wgtcpd.8", "wgtcp-engine": "wgtcp-engine.8", "wgtcp-relay": "wgtcp-relay.8",
         "wgtcp-gui": "wgtcp-gui.1", "wgtcp-tray": "wgtcp-tray.1"}
LIBRARY = {"--help-all", "--help-gapplication", "--help-gtk"}
for name, manual in pages.items():
    text = page(manual)
    # Where an option is explained, or named in the synopsis.
    compare(name, options_of(run(program(name), "--help").stdout) - LIBRARY, options_of(text), manual)

# Each help fits a screen of 24 lines and 80 columns.
helps = {name: run(program(name), "--help").stdout for name in ("wgtcp-cli", *pages)}
helps.update({f"wgtcp-cli help {name}": run(cli, "help", name).stdout for name, _ in usages})
for name, text in helps.items():
    lines = text.splitlines()
    if not lines or len(lines) > 24 or max(map(len, lines)) > 80:
        wrong.append(f"{name}: the help has {len(lines)} lines of up to {max(map(len, lines), default=0)} columns; "
                     "a screen has 24 of 80")

# Keys of a profile.
keys = set(re.findall(r'^\t\{ "([A-Za-z]+)", [IP]', (source / "core/config/keys.c").read_text(), re.M))
manual = set(re.findall(r"\b([A-Z][A-Za-z]+)\b", "\n".join(
    line for line in page("wgtcp-profile.5").splitlines() if line.startswith(".BR ") and "wg" not in line)))
compare("profile", keys, manual & keys, "wgtcp-profile(5)")
compare("profile", keys, {word.rstrip("=") for word in complete("set", "office")[0]} - {"Name"}, "the completions")

# Form.
manuals = sorted((source / "packaging" / "man").iterdir())
for path in manuals:
    if path.read_text().startswith(".so "):
        if not (path.parent / path.read_text().split("/")[-1].strip()).exists():
            wrong.append(f"{path.name}: it names a page that there is not")
        continue
    done = run("groff", "-man", "-t", "-Tutf8", "-ww", "-z", path)
    if done.returncode or done.stderr.strip():
        wrong.append(f"{path.name}: {done.stderr.strip().splitlines()[0] if done.stderr.strip() else 'groff failed'}")
folder = source / "packaging" / "completions"
shells = {"bash": folder / "wgtcp-cli.bash", "zsh": folder / "_wgtcp-cli", "fish": folder / "wgtcp-cli.fish"}
for shell, script in shells.items():
    if not shutil.which(shell):
        wrong.append(f"{shell} is missing: packaging/install-deps --test installs it")
        continue
    done = run(shell, "-n", script)
    if done.returncode:
        wrong.append(f"{script.name}: {done.stderr.strip()}")

# As a person at a prompt.
with tempfile.TemporaryDirectory() as scratch:
    os.symlink(cli, pathlib.Path(scratch) / "wgtcp-cli")
    environment = dict(os.environ, PATH=f"{scratch}:{os.environ['PATH']}")
    for line, wanted in (("wgtcp-cli st", "status"), ("wgtcp-cli up --tra", "--transport"),
                         ("wgtcp-cli set office Transport=t", "tcp"), ("wgtcp-cli switch office u", "udp"),
                         ("wgtcp-cli import --from n", "networkmanager")):
        got = run("bash", "-c", f"source {shells['bash']}; COMP_LINE='{line}' COMP_POINT={len(line)}; compopt() {{ :; }}; "
                  "_wgtcp_cli; echo \"${COMPREPLY[@]}\"", env=environment).stdout.strip()
        if got != wanted:
            wrong.append(f"bash completes '{line}' to '{got}', not to '{wanted}'")
        if shutil.which("fish"):
            got = run("fish", "-c", f"source {shells['fish']}; complete -C '{line}'", env=environment).stdout.split()
            if wanted not in [word.split("=")[-1] for word in got]:
                wrong.append(f"fish completes '{line}' to {got}, not to '{wanted}'")

print("\n".join(wrong))
if wrong:
    sys.exit(1)
print(f"{len(usages)} commands with {count} options, {len(pages)} programs, {len(keys)} keys, {len(manuals)} manual pages, "
      f"{len(shells)} shells")
