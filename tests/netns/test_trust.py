# SPDX-License-Identifier: MIT
"""The boundaries of privilege (SECURITY.md): what a curious user of this machine, or a process that was taken over, is refused."""

import base64
import json
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lib import case, machine, polkit  # noqa: E402
from lib.lab import check, wait_until  # noqa: E402
from lib.network import Site  # noqa: E402
from lib.stranger import User  # noqa: E402
from lib.tunnel import Key, office, preshared_key  # noqa: E402

STRANGER = 40001
NOT_PERMITTED, BUSY = 4, 21
# Others' words for the same refusal.
REFUSED = ("EACCES", "EPERM")


def processes(host):
    """{name: pid} of all that belong to the tunnel."""
    found = {}
    for line in host.run("ps", "-eo", "pid,stat,comm,args").stdout.splitlines()[1:]:
        pid, stat, name, args = line.split(None, 3)
        if stat[0] == "Z":
            continue
        if "--inherited" in args:
            name = "engine"
        if name in ("engine", "wgtcpd-spawner", "wgtcpd-probe") or args.startswith(str(host.lab.binary("wgtcpd"))):
            found.setdefault(name if name != "wgtcpd" else "wgtcpd", int(pid))
    return found


def all_of(host):
    return wait_until(lambda: len(processes(host)) == 4 and processes(host), "all four processes")[0]


def facts(pid):
    return dict(re.findall(r"^(\w+):\s*(.*)$", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M))


def refused(answers, names, count):
    """Every one was refused for want of permission; how many that were."""
    check(len(answers) == len(names), f"{len(answers)} answers to {len(names)} requests")
    for name, answer in zip(names, answers):
        code = answer.get("error", {}).get("code")
        check(code == NOT_PERMITTED, f"{name}: {answer}")
    check(len(answers) == count, f"{len(answers)} instead of {count}")
    return len(answers)


def plain(lab):
    """A sanitized program is not shut in: its run-time reads /proc and traces the process."""
    if lab.sanitized:
        lab.figure("not looked at: a sanitized program is not shut in")
    return not lab.sanitized


def test_another_user_may_only_look(lab):
    site = Site(lab)
    _, daemon, _, client_key = office(site)
    daemon.up("office")
    user = User(site.client, STRANGER)
    requests = [("tunnel.up", {"name": "office"}), ("tunnel.down", {"name": "office"}),
                ("tunnel.import", {"text": "[Interface]\n", "name": "mine"}), ("tunnel.export", {"name": "office"}),
                ("tunnel.export", {"name": "office", "hide_keys": True}), ("tunnel.delete", {"name": "office"}),
                ("tunnel.set", {"name": "office", "settings": [{"key": "MTU", "value": "1300"}]}),
                ("tunnel.switch", {"name": "office", "transport": "tcp"}), ("killswitch.unlock", {}), ("logs", {}),
                ("diagnose", {"name": "office"}), ("speedtest.prepare", {"name": "office"}),
                ("server.init", {"endpoint": "vpn.example"}), ("server.add", {"client": "mine"})]
    count = refused(user.ask(daemon.socket, *requests), [r[0] for r in requests], len(requests))
    # He may look, and sees no key.
    looks = user.ask(daemon.socket, ("daemon.info", {}), ("tunnel.list", {}), ("tunnel.status", {"name": "office"}), ("watch", {}))
    check(len(looks) == 4 and all("result" in answer for answer in looks), f"looking: {looks}")
    check(looks[0]["result"]["permission"] == "read", "he is told that he may do all")
    check(client_key.private not in str(looks), "a private key in a status")
    check(daemon.status("office")["state"] == "up", "the tunnel is no longer up")
    lab.figure(f"{count} requests refused")


def test_a_member_may_do_all_but_read_keys(lab):
    site = Site(lab)
    machine.own_etc(site.client)
    site.client.run("sh", "-c", "sed -i '/^wgtcp:/d' /etc/group && echo 'wgtcp:x:40100:' >>/etc/group")
    _, daemon, _, client_key = office(site)
    member = User(site.client, STRANGER, groups=[40100])
    up, = member.ask(daemon.socket, ("tunnel.up", {"name": "office"}))
    check("result" in up, f"a member: {up}")
    export, hidden = member.ask(daemon.socket, ("tunnel.export", {"name": "office"}),
                                ("tunnel.export", {"name": "office", "hide_keys": True}))
    check(export.get("error", {}).get("code") == NOT_PERMITTED, f"export with keys: {export}")
    check(client_key.private not in str(hidden) and "(hidden)" in str(hidden), "export without keys has them")
    # A number that is a group's on the paper only: another user's primary group of the same name does not exist.
    other = User(site.client, STRANGER, groups=[40101])
    refused(other.ask(daemon.socket, ("tunnel.down", {"name": "office"})), ["down"], 1)


# What the stream said, and what the descriptor beside it held before and after it was taken.
BESIDE = """
import array, json, os, socket, sys
s = socket.socket(socket.AF_UNIX); s.settimeout(15); s.connect(sys.argv[1])
ask = {'jsonrpc': '2.0', 'id': 1, 'method': 'tunnel.export', 'params': {'name': 'office', 'beside': True}}
s.sendall(b''.join(json.dumps(dict(ask, id=n)).encode() + b'\\n' for n in (1, 2)))
stream, held = b'', []
while stream.count(b'\\n') < 2:
    piece, came, _, _ = s.recvmsg(65536, 1024)
    stream += piece
    for _, _, data in came:
        held += array.array('i', data[:len(data) // 4 * 4])
sizes = [os.fstat(fd).st_size for fd in held]
print(json.dumps([stream.decode(), sizes, [os.pread(fd, 65536, 0).decode() for fd in held]]))
"""


def test_keys_leave_beside_the_stream(lab):
    """By a descriptor of memory; no byte of the socket has them. One at a time on a connection."""
    site = Site(lab)
    _, daemon, _, key = office(site)
    stream, sizes, texts = json.loads(site.client.run("/usr/bin/python3", "-I", "-c", BESIDE, daemon.socket).stdout)
    check(key.private not in stream, "the key is in the stream")
    answers = {answer["id"]: answer for answer in map(json.loads, stream.splitlines())}
    check(answers[1]["result"]["text"] is None, f"not beside: {answers[1]}")
    given = [answer["result"]["beside"] for answer in answers.values() if "result" in answer]
    check(sizes == given and len(texts) == len(given), f"sizes {sizes}, said {given}")
    check(all(text == (daemon.config / "office.conf").read_text() for text in texts), "another text")
    check("result" in answers[2] or answers[2]["error"]["code"] == BUSY, f"the second: {answers[2]}")
    check(daemon.cli("export", "office").stdout == (daemon.config / "office.conf").read_text(), "the command gives another text")


def test_polkit_gives_keys_to_an_administrator(lab):
    site = Site(lab)
    machine.own_etc(site.client)
    polkit.make_group(site.client)
    program = polkit.start(site.client)
    _, daemon, _, client_key = office(site)
    member = User(site.client, STRANGER, groups=[polkit.GROUP])

    def export(user=member):
        answer, = user.ask(daemon.socket, ("tunnel.export", {"name": "office"}))
        return answer

    def allowed():
        return client_key.private in str(export())
    # Nobody is there who could give the password: no.
    check(export().get("error", {}).get("code") == NOT_PERMITTED, "keys without a word of polkit")
    polkit.allow(site.client, "org.wgtcp.export-keys")
    wait_until(allowed, "polkit's yes", interval=0.2)
    # Its yes is for this person; and who is not in the group is not even asked about.
    check(export(User(site.client, STRANGER + 1, groups=[polkit.GROUP])).get("error", {}).get("code") == NOT_PERMITTED, "another member")
    check(export(User(site.client, STRANGER)).get("error", {}).get("code") == NOT_PERMITTED, "not in the group")
    program.stop()
    check(export().get("error", {}).get("code") == NOT_PERMITTED, "keys when polkit is gone")
    check(client_key.private not in daemon.program.said(), "the key is in the log")


def test_processes_have_what_they_need_and_no_more(lab):
    site = Site(lab)
    _, daemon, _, _ = office(site)
    daemon.up("office")
    pids = all_of(site.client)
    want = {"wgtcpd": "0000000000001000", "wgtcpd-spawner": "00000000000024e0", "wgtcpd-probe": "0" * 16, "engine": "0" * 16}
    users = {}
    for name, capabilities in want.items():
        status = facts(pids[name])
        for which in "CapEff", "CapPrm":
            # A machine that gives its root less is no fault of ours.
            check(int(status[which], 16) | int(capabilities, 16) == int(capabilities, 16), f"{name}: {which} {status[which]}")
        check(status["CapInh"] == status["CapAmb"] == "0" * 16, f"{name}: inheritable or ambient capabilities")
        check(status["NoNewPrivs"] == "1", f"{name} may gain privileges by starting a program")
        limits = pathlib.Path(f"/proc/{pids[name]}/limits").read_text()
        check(re.search(r"Max core file size\s+0\s+0", limits), f"{name} may leave a core dump")
        users[name] = status["Uid"].split()[0]
    if not lab.sanitized:
        check("0" not in (users["engine"], users["wgtcpd-probe"]) and users["engine"] != users["wgtcpd-probe"], f"users: {users}")
        check(facts(pids["engine"])["Seccomp"] == "2", "the engine may make any system call")
        check(facts(pids["engine"])["VmLck"] != "0 kB", "the engine's keys may go to swap")
    lab.figure(f"users {users}")


def test_nobody_looks_into_a_process(lab):
    """As another user, and as the very user that the engine runs as."""
    if not plain(lab):
        return
    site = Site(lab)
    _, daemon, _, _ = office(site)
    daemon.up("office")
    pids, count = all_of(site.client), 0
    own = int(facts(pids["engine"])["Uid"].split()[0])
    for uid in STRANGER, own:
        user = User(site.client, uid)
        for name, pid in pids.items():
            tries = [f"open('/proc/{pid}/{file}', 'rb').read(1)" for file in ("mem", "environ", "maps", "auxv", "stack")]
            tries += [f"os.listdir('/proc/{pid}/fd')", f"os.readlink('/proc/{pid}/exe')", f"os.readlink('/proc/{pid}/cwd')",
                      f"os.listdir('/proc/{pid}/map_files')", f"attach({pid})",
                      f"read_memory({pid})"]
            # The engine's own user may end it, as any user may end his processes; nobody else has that user.
            if uid != own or name != "engine":
                tries.append(f"os.kill({pid}, signal.SIGKILL)")
            results = user.attempt(*tries)
            check(len(results) == len(tries), f"{len(results)} answers to {len(tries)} tries")
            for attempt, result in zip(tries, results):
                check(result in REFUSED, f"user {uid}, {name}: {attempt}: {result}")
            count += len(tries)
    check(daemon.status("office")["state"] == "up" and processes(site.client) == pids, "a process was ended")
    lab.figure(f"{count} tries refused")


def test_sockets_and_folders_are_roots(lab):
    site = Site(lab)
    _, daemon, _, _ = office(site)
    daemon.up("office")
    user = User(site.client, STRANGER)
    results = user.attempt("connect('/var/run/wireguard/office.sock')", "os.unlink('/var/run/wireguard/office.sock')",
                           "os.rename('/var/run/wireguard', '/var/run/elsewhere')", f"os.unlink('{daemon.socket}')",
                           f"os.rename('{daemon.socket}', '/run/elsewhere.sock')", f"open('{daemon.config}/office.conf').read()",
                           f"os.listdir('{daemon.config}')", f"os.listdir('{daemon.state}')")
    check(all(result in REFUSED for result in results) and len(results) == 8, f"{results}")
    # A folder in which anybody could put a socket of his own in the daemon's place.
    for mode, owner in (("0777", "root"), ("0755", str(STRANGER))):
        site.client.run("sh", "-c", f"rm -rf /run/open; mkdir -m {mode} /run/open && chown {owner} /run/open")
        done = site.client.run(lab.binary("wgtcpd"), "--foreground", "--socket", "/run/open/wgtcpd.sock", "--config-dir",
                               daemon.config, "--state-dir", "/run/state", check_code=False, timeout=20)
        check(done.returncode == 1 and "changed by others" in done.stderr, f"a socket in a folder {mode} of {owner}: "
              f"{done.returncode} {done.stderr}")
    lab.figure(f"{len(results) + 2} tries refused")


def test_profiles_that_others_can_change(lab):
    site = Site(lab)
    _, daemon, _, _ = office(site)
    text = (daemon.config / "office.conf").read_text()
    elsewhere = daemon.state / "elsewhere.conf"
    elsewhere.write_text(text)
    count = 0

    def refuses(name, word):
        done = daemon.cli("up", name, check_code=False)
        check(done.returncode not in (0, 6) and word in done.stderr, f"{name}: {done.returncode} {done.stderr.strip()}")
        check(daemon.status(name) is None or daemon.status(name)["state"] in ("down", "failed"), f"{name} is up")
        check("office" not in site.client.links(), "an interface was left")
        return 1
    place = daemon.config / "linked.conf"
    place.symlink_to(elsewhere)
    count += refuses("linked", "symbolic link")
    place.unlink()
    daemon.profile("theirs", text)
    site.client.run("chown", STRANGER, daemon.config / "theirs.conf")
    count += refuses("theirs", "another user")
    daemon.profile("open", text)
    site.client.run("chmod", "0666", daemon.config / "open.conf")
    count += refuses("open", "chmod")
    site.client.run("mkfifo", daemon.config / "pipe.conf")
    count += refuses("pipe", "not a regular file")
    site.client.run("mkdir", daemon.config / "folder.conf")
    count += refuses("folder", "not a regular file")
    site.client.run("sh", "-c", f"head -c 1100000 /dev/zero > {daemon.config}/large.conf")
    count += refuses("large", "larger")
    site.client.run("chmod", "0777", daemon.config)
    count += refuses("office", "folder")
    site.client.run("chmod", "0700", daemon.config)
    # Names that are paths, wherever a name is taken.
    for name in "../state/elsewhere", "/etc/passwd", "a/b", "..", ".", "", "x" * 300, "a b", "a\n[Peer]", "%s%n", "$(id)":
        root = User(site.client, 0)
        for method, params in (("tunnel.up", {"name": name}), ("tunnel.export", {"name": name}), ("tunnel.delete", {"name": name}),
                               ("tunnel.set", {"name": name, "settings": [{"key": "MTU", "value": "1300"}]}),
                               ("tunnel.import", {"text": text, "name": name or "/"})):
            answer, = root.ask(daemon.socket, (method, params))
            check("error" in answer, f"{method} {name!r}: {answer}")
            count += 1
    files = sorted(p.name for p in daemon.config.iterdir())
    check(files == ["folder.conf", "large.conf", "office.conf", "open.conf", "pipe.conf", "theirs.conf"], f"files: {files}")
    check(elsewhere.read_text() == text, "a file outside was changed")
    _, done = daemon.up("office")
    lab.figure(f"{count} refused")


def test_hooks_are_never_run(lab):
    site = Site(lab)
    hooks = "".join(f"{key} = touch /run/hook.{key}; iptables -F\n" for key in ("PreUp", "PostUp", "PreDown", "PostDown"))
    _, daemon, _, _ = office(site, client_extra=hooks)
    _, done = daemon.up("office")
    check("PostUp" in done.stdout + done.stderr, "up says nothing of the hooks")
    daemon.cli("down", "office")
    check(site.client.run("sh", "-c", "ls /run/hook.* 2>/dev/null", check_code=False).stdout == "", "a hook was run")


def test_a_replaced_program_is_not_started(lab):
    """What lies beside the daemon when the tunnel comes up is not what lay there when it was started."""
    site = Site(lab)
    site.client.run("sh", "-c", f"mkdir -m 755 /run/bin && cp {lab.binaries}/wgtcp* /run/bin")
    _, daemon, _, _ = office(site)
    daemon.program.stop()
    daemon.program = site.client.start("/run/bin/wgtcpd", "--foreground", "--socket", daemon.socket, "--config-dir", daemon.config,
                                       "--state-dir", daemon.state)
    wait_until(daemon._answers, "wgtcpd's socket")
    site.client.run("sh", "-c", "printf '#!/bin/sh\\ntouch /run/was-run\\n' >/run/bin/new && chmod 755 /run/bin/new &&"
                    " mv /run/bin/new /run/bin/wgtcp-engine")
    daemon.up("office")
    check(site.client.run("ls", "/run/was-run", check_code=False).returncode != 0, "the replaced engine was run")
    # Nor does the environment of whoever asks for it say what is loaded or where a program is looked for.
    daemon.cli("down", "office")
    daemon.program.stop()
    site.client.run("sh", "-c", f"mkdir -p /run/evil && printf '#!/bin/sh\\ntouch /run/was-run\\n' >/run/evil/wgtcpd && "
                    f"chmod 755 /run/evil/wgtcpd && cp /run/evil/wgtcpd /run/evil/wgtcp-engine")
    site.client.run(lab.binary("wgtcp-cli"), "list", "--socket", daemon.socket, check_code=False,
                    env={"PATH": "/run/evil:/usr/bin:/bin", "LD_PRELOAD": "/run/evil/evil.so", "IFS": "/"})
    check(site.client.run("ls", "/run/was-run", check_code=False).returncode != 0, "a program of the caller's path was run")


def test_no_secret_anywhere(lab):
    """Not in a log at its most verbose, not in ps, not in an answer, not in what a status shows, not in a file that is not the profile."""
    site = Site(lab)
    psk = preshared_key()
    server, daemon, server_key, client_key = office(site)
    text = (daemon.config / "office.conf").read_text() + f"PresharedKey = {psk}\n"
    (daemon.config / "office.conf").write_text(text)
    site.server.run("wg", "set", "wg-srv", "peer", client_key.public, "preshared-key", "/dev/stdin", input=psk + "\n")
    secrets = {"private key": client_key.private, "preshared key": psk}
    hexes = {name + " in hex": base64.b64decode(value).hex() for name, value in secrets.items()}
    new = Key()
    daemon.up("office")
    said = ""
    for command in (["status"], ["status", "--json"], ["list", "--json"], ["logs"], ["logs", "--json"], ["doctor", "office"],
                    ["export", "office", "--hide-keys"], ["set", "office", f"PrivateKey={new.private}"], ["logs"]):
        done = daemon.cli(*command, check_code=False)
        said += done.stdout + done.stderr
    # Words of a person that are wrong are repeated to him; a key never is.
    broken = text.replace(f"PrivateKey = {client_key.private}", f"PrivateKey = {client_key.private[:-2]}")
    said += daemon.cli("import", "/dev/stdin", "--name", "broken", check_code=False, input=broken).stderr
    said += site.client.run("sh", "-c", "cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ | tr '\\0' '\\n'").stdout
    said += daemon.program.text() + site.client.run("sh", "-c", f"cat {daemon.state}/* 2>/dev/null", check_code=False).stdout
    for name, value in {**secrets, **hexes, "new private key": new.private, "a broken key": client_key.private[:-2]}.items():
        check(value not in said, f"{name} is shown: ...{said[max(0, said.find(value) - 200):said.find(value)]}")
    check("(hidden)" in said, "nothing was hidden: nothing was looked at")
    lab.figure(f"{len(said)} characters looked through")


def test_a_crash_leaves_nothing(lab):
    """An engine that dies of a fault leaves no core, and the tunnel comes back with another one."""
    if not plain(lab):
        return
    site = Site(lab)
    _, daemon, _, _ = office(site)
    daemon.up("office")
    before = all_of(site.client)["engine"]
    site.client.run("sh", "-c", f"ulimit -c unlimited; kill -SEGV {before}")
    after, _ = wait_until(lambda: processes(site.client).get("engine", before) != before and processes(site.client)["engine"],
                          "another engine")
    found = site.client.run("sh", "-c", "find / /run /tmp -xdev -maxdepth 1 -name '*core*' -newer /proc/self -type f",
                            check_code=False).stdout
    check(not found, f"a core dump: {found}")
    check(facts(after)["NoNewPrivs"] == "1" and facts(after)["CapEff"] == "0" * 16, "the second engine has privileges")
    daemon.wait_status("office", state="up")


def test_connections_that_hold_places(lab):
    """One user cannot shut others out, and one who does not read is dropped."""
    site = Site(lab)
    _, daemon, _, _ = office(site)
    hold = """
import socket, sys, time
held = []
for i in range(200):
    s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); held.append(s)
time.sleep(0.5)
alive = 0
for s in held:
    s.setblocking(False)
    try:
        if s.recv(1): alive += 1
    except BlockingIOError: alive += 1
    except OSError: pass
print(alive, flush=True)
time.sleep(60)
"""
    user = User(site.client, STRANGER)
    program = site.client.start(*user.prefix, "/usr/bin/python3", "-I", "-c", hold, daemon.socket, name="holder")
    wait_until(lambda: program.out.read_text().strip(), "the holder")
    alive = int(program.out.read_text())
    check(1 <= alive <= 16, f"one user holds {alive} places")
    start = time.monotonic()
    daemon.up("office")
    lab.figure(f"{alive} of 200 places held; root's up took {time.monotonic() - start:.2f} s")
    program.stop()
    slow = """
import json, socket, sys, time
s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.settimeout(20)
try:
    for i in range(20000):
        s.sendall((json.dumps({'jsonrpc': '2.0', 'id': i, 'method': 'tunnel.status'}) + chr(10)).encode())
    print('taken')
except OSError as why:
    print('dropped', type(why).__name__)
"""
    done = user.run("/usr/bin/python3", "-I", "-c", slow, daemon.socket, timeout=90)
    check(done.stdout.startswith("dropped"), f"a client that never reads: {done.stdout}")
    check(daemon.status("office")["state"] == "up", "the tunnel is no longer up")


def test_the_socket_is_removed(lab):
    """It, or its whole folder, while the daemon runs: it is made again, and the daemon says so."""
    site = Site(lab)
    _, daemon, _, _ = office(site)
    daemon.program.stop()
    daemon.socket = pathlib.Path("/run/wgtcp/wgtcpd.sock")
    daemon.start()
    for command in "rm /run/wgtcp/wgtcpd.sock", "rm -rf /run/wgtcp", "mv /run/wgtcp /run/gone":
        site.client.run("sh", "-c", command)
        wait_until(lambda: daemon.cli("list", check_code=False).returncode == 0, f"a socket after {command}")
    check("it was made again" in daemon.program.said(), "no word of it")
    daemon.program.stop()
    check(site.client.run("ls", "/run/wgtcp").stdout == "", "the socket stays when the daemon has ended")


# Listens as a service manager does, and becomes the program: sys.argv is family, type, address, then the program.
ACTIVATE = """
import os, socket, sys
kind = {'seqpacket': socket.SOCK_SEQPACKET, 'stream': socket.SOCK_STREAM}[sys.argv[1]]
if ':' in sys.argv[2]:
    s = socket.socket(socket.AF_INET, kind); host, port = sys.argv[2].split(':'); s.bind((host, int(port)))
else:
    s = socket.socket(socket.AF_UNIX, kind); s.bind(sys.argv[2])
s.listen(64); os.dup2(s.fileno(), 3); os.set_inheritable(3, True)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS='1')
os.execv(sys.argv[3], sys.argv[3:])
"""


def activate(host, kind, address, *program, name):
    return host.start("/usr/bin/python3", "-I", "-c", ACTIVATE, kind, address, *program, name=name)


@case.waiting
def test_services_that_are_handed_their_sockets(lab):
    """As the units have it: an engine that is nobody and has no network, a relay that may listen on no port by itself, and a daemon
    whose socket file is somebody else's."""
    site = Site(lab)
    server, daemon, server_key, _ = office(site, peer_extra="TcpEndpoint = 198.51.100.2:444\n", client_extra="Transport = tcp\n")
    for host in site.server, site.client:
        host.run("sh", "-c", f"mkdir -m 755 /run/bin && cp {lab.binaries}/wgtcp* /run/bin")
    # The relay as the user that it would be, on a port that he may not open.
    nobody = User(site.server, STRANGER)
    check(nobody.attempt("socket.socket().bind(('0.0.0.0', 444))") == ["EACCES"], "the port is open to all")
    program = activate(site.server, "stream", "0.0.0.0:444", "/usr/bin/setpriv", f"--reuid={STRANGER}", f"--regid={STRANGER}",
                       "--clear-groups", "/run/bin/wgtcp-relay", "--activated", "--forward", "198.51.100.2:51820",
                       "--public-key", server_key.public, name="wgtcp-relay")
    program.wait_for_text("listening for the service manager")
    daemon.up("office")
    check(daemon.status("office")["carrier"] == "tcp", "not by the relay")
    daemon.cli("down", "office")
    # An engine in a network of its own, which is empty.
    activate(site.server, "seqpacket", "/run/engine.sock", "/usr/bin/unshare", "--net", "/run/bin/wgtcp-engine", "--activated",
             name="engine-activated")
    wait_until(lambda: site.server.run("test", "-S", "/run/engine.sock", check_code=False).returncode == 0, "the engine's socket")
    dialler = site.server.start("/run/bin/wgtcp-engine", "-f", "--engine", "/run/engine.sock", "wg-two", name="dialler")
    wait_until(lambda: site.server.run("wg", "show", "wg-two", check_code=False).returncode == 0, "an interface")
    own = Key()
    site.server.run("wg", "set", "wg-two", "private-key", "/dev/stdin", "listen-port", "51821", "peer", server_key.public,
                    "endpoint", "127.0.0.1:51820", "allowed-ips", "10.88.0.0/24", "persistent-keepalive", "1", input=own.private + "\n")
    site.server.run("wg", "set", "wg-srv", "peer", own.public, "allowed-ips", "10.88.0.2/32")
    site.server.run("ip", "link", "set", "wg-two", "up")
    wait_until(lambda: not site.server.run("wg", "show", "wg-two", "latest-handshakes").stdout.strip().endswith("\t0"), "a handshake")
    dialler.stop()
    check("wg-two" not in site.server.links(), "the interface is still there")
    # A daemon with a socket that is not its own.
    daemon.program.stop()
    daemon.socket = pathlib.Path("/run/given.sock")
    daemon.program = activate(site.client, "stream", daemon.socket, "/run/bin/wgtcpd", "--foreground", "--config-dir", daemon.config,
                              "--state-dir", daemon.state, name="wgtcpd-activated")
    wait_until(daemon._answers, "wgtcpd's socket")
    daemon.up("office")
    daemon.program.stop()
    check(site.client.run("ls", daemon.socket, check_code=False).returncode == 0, "somebody else's socket was removed")


def test_a_full_disk_leaves_nothing_behind(lab):
    """The state folder takes not one byte more, the daemon is killed with rules in place: the next one removes them."""
    site = Site(lab)
    _, daemon, _, _ = office(site)
    daemon.profile("office", (daemon.config / "office.conf").read_text().replace(
        "AllowedIPs = 10.77.0.0/24, fd77::/64", "AllowedIPs = 0.0.0.0/0, ::/0"))
    before = [site.client.run("ip", family, "rule").stdout for family in ("-4", "-6")]
    daemon.program.stop()
    site.client.run("mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "tmpfs", daemon.state)
    daemon.start()
    site.client.run("sh", "-c", f"head -c 1000000 /dev/zero >{daemon.state}/fill 2>/dev/null", check_code=False)
    daemon.up("office")
    check([site.client.run("ip", family, "rule").stdout for family in ("-4", "-6")] != before, "a full tunnel without rules")
    daemon.program.kill()
    daemon.start()
    after = [site.client.run("ip", family, "rule").stdout for family in ("-4", "-6")]
    check(after == before, f"rules: {after} instead of {before}")
    check("office" not in site.client.links(), "the interface is still there")
    site.client.run("umount", "-l", daemon.state)


if __name__ == "__main__":
    sys.exit(case.main(globals()))
