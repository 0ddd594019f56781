# SPDX-License-Identifier: MIT
"""Another user of a machine of the lab, and what he tries. His code is given to python as text, since he may not read this
folder."""

import json

# Sends the lines of standard input, each a request, on one connection, and prints each answer.
ASK = """
import socket, sys
s = socket.socket(socket.AF_UNIX); s.settimeout(15); s.connect(sys.argv[1]); f = s.makefile('r')
for line in sys.stdin:
    s.sendall(line.encode()); wanted = '"id":%s' % line.split('"id": ')[1].split(',')[0]
    while True:
        answer = f.readline()
        if not answer: sys.exit(9)
        if wanted in answer.replace(' ', ''): break
    print(answer, end='')
"""

# Tries each of the expressions of standard input, and prints the error's name, or "done".
TRY = """
import ctypes, errno, os, signal, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
def judge(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), '')
def attach(pid):
    judge(libc.ptrace(ctypes.c_long(16), pid, None, None))
def read_memory(pid):
    class Piece(ctypes.Structure):
        _fields_ = [('at', ctypes.c_void_p), ('len', ctypes.c_size_t)]
    room = ctypes.create_string_buffer(8)
    mine, other = Piece(ctypes.addressof(room), 8), Piece(0x1000, 8)
    judge(libc.process_vm_readv(pid, ctypes.byref(mine), 1, ctypes.byref(other), 1, 0))
def connect(path):
    s = socket.socket(socket.AF_UNIX); s.connect(path)
for line in sys.stdin:
    try:
        eval(line); print('done')
    except OSError as why:
        print(errno.errorcode.get(why.errno, why.errno))
"""


class User:
    def __init__(self, host, uid, gid=None, groups=()):
        self.host, self.uid = host, uid
        self.prefix = ["setpriv", f"--reuid={uid}", f"--regid={gid or uid}"]
        self.prefix += [f"--groups={','.join(map(str, groups))}"] if groups else ["--clear-groups"]

    def run(self, *argv, **keywords):
        return self.host.run(*self.prefix, *argv, **keywords)

    def ask(self, socket, *requests):
        """One answer for each (method, params)."""
        lines = [json.dumps({"jsonrpc": "2.0", "id": i + 1, "method": method, "params": params})
                 for i, (method, params) in enumerate(requests)]
        done = self.run("/usr/bin/python3", "-I", "-c", ASK, socket, input="\n".join(lines) + "\n", check_code=False)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def attempt(self, *expressions):
        """What became of each: the name of an errno, or "done"."""
        done = self.run("/usr/bin/python3", "-I", "-c", TRY, input="\n".join(expressions) + "\n")
        return done.stdout.split()
