# SPDX-License-Identifier: MIT
"""Child processes that end with us: each is a session of its own, and all are killed when we are told to stop."""

import os
import signal
import subprocess
import threading

_lock = threading.Lock()
_running = set()


def run(command, timeout=None, **keywords):
    """Like subprocess.run, for programs whose children must not outlive it."""
    with _lock:
        process = subprocess.Popen([str(word) for word in command], start_new_session=True,
                                   stdin=subprocess.DEVNULL, **keywords)
        _running.add(process)
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        _kill(process)
        process.communicate()
        raise
    finally:
        with _lock:
            _running.discard(process)
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def _kill(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def kill_all():
    for process in list(_running):
        _kill(process)
