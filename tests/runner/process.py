# SPDX-License-Identifier: BSD-3-Clause
"""Run a command: its output, its exit code, and the time that it and its children took."""
import os
import select
import signal
import subprocess
import threading
import time

MOST_PATIENCE = 3  # a limit is never stretched more than that


class Timed(subprocess.Popen):
    """A process that knows the processor time of itself and of the children that it waited for."""
    cpu = 0.0

    def wait(self, timeout=None):
        if self.returncode is None:
            fd = os.pidfd_open(self.pid)
            try:
                if not select.select([fd], [], [], timeout)[0]:
                    raise subprocess.TimeoutExpired(self.args, timeout)
            finally:
                os.close(fd)
            _, status, usage = os.wait4(self.pid, 0)
            self.returncode = os.waitstatus_to_exitcode(status)
            self.cpu = usage.ru_utime + usage.ru_stime
        return self.returncode


class Ended:
    """A command that has ended.  code is None if its time was up."""

    def __init__(self, code, out, err, seconds=0.0, cpu=0.0):
        self.code, self.out, self.err, self.seconds, self.cpu = code, out, err, seconds, cpu


live = set()  # what end_all() has to end
live_lock = threading.Lock()


def busy():
    """How many processes want a core each, beside other work."""
    return max(1.0, os.getloadavg()[0] / os.cpu_count())


def patience():
    """By how much a limit is stretched."""
    return min(MOST_PATIENCE, busy())


def end_group(p, number):
    try:
        os.killpg(p.pid, number)
    except ProcessLookupError:
        pass


def collect(p, limit, given=None):
    """Write given to stdin; (stdout, stderr), or TimeoutExpired.  The load of the machine counts when the limit is reached."""
    try:
        return p.communicate(given, timeout=limit)
    except subprocess.TimeoutExpired:
        more = limit * (patience() - 1)
        if more < 1:
            raise
        return p.communicate(timeout=more)


def run(cmd, limit, env=None, cwd=None):
    """Run cmd in its own process group for at most limit seconds, or longer if the machine is busy."""
    start = time.time()
    p = Timed(cmd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, cwd=cwd, start_new_session=True)
    with live_lock:
        live.add(p)
    try:
        in_time = True
        try:
            out, err = collect(p, limit)
        except subprocess.TimeoutExpired:
            in_time = False
            end_group(p, signal.SIGTERM)
            try:
                out, err = p.communicate(timeout=5)
            except subprocess.TimeoutExpired:
                end_group(p, signal.SIGKILL)
                out, err = p.communicate()
    finally:
        with live_lock:
            live.discard(p)
    return Ended(p.returncode if in_time else None, out.decode(errors="replace"), err.decode(errors="replace"), time.time() - start, p.cpu)


def end_all():
    """End what still runs: the runner was interrupted."""
    with live_lock:
        for p in live:
            end_group(p, signal.SIGTERM)
