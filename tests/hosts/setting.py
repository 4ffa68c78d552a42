# SPDX-License-Identifier: BSD-3-Clause
"""What the scripts of this folder share: hosts, and mpiexec on the first of them."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "faults"))
from harness import *
from net import Net, why_not

if why_not():
    skip(why_not())
with open(os.path.join(BUILD, "include", "dev_builtin.h")) as f:
    if "DEV(tcp)" not in f.read():
        skip("ch_tcp is not built in: hosts cannot talk")
os.chmod(TMP.name, 0o755)
TRAFFIC = os.path.join(TMP.name, "traffic")
built = subprocess.run([MPICC, "-O1", "-Wall", "-Wextra", "-o", TRAFFIC, os.path.join(TOP, "tests", "hosts", "traffic.c")], capture_output=True, text=True)
check("traffic.c compiles", built.returncode == 0 and not built.stderr, built.stderr)


def ssh(net, key="user", *words):
    return " ".join(["ssh", "-F", f"{net.tmp}/ssh_{key}", *words])


def command(net, *words, key="user", on=1):
    """mpiexec on a node."""
    return net.inside(on, MPIEXEC, "-launcher-exec", ssh(net, key), *words)


def job(net, *words, **more):
    key, on = more.pop("key", "user"), more.pop("on", 1)
    return Run(*words, cmd=command(net, key=key, on=on), **more)


def nothing_there(net, what, seconds=5, sessions=False):
    """No process is left on any host; `sessions`: but for sshd's own."""
    def left():
        return {i: text for i in range(1, net.n + 1) for text in [{p: t for p, t in net.running(i).items() if not (sessions and t.startswith("sshd"))}] if text}
    until(lambda: not left(), seconds)
    same(what + ": no process is left on any host", left(), {})
    for found in left().values():
        for pid in found:
            os.kill(pid, signal.SIGKILL)
