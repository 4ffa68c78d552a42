# SPDX-License-Identifier: BSD-3-Clause
"""For orphans.test and orphans-200.test: jobs in which somebody is killed by SIGKILL, and what is left of them."""
import os
import random
import signal
import subprocess
import time
from harness import *

TROUBLE = script("""#!/bin/sh
# A rank as a script: a child in the background, one in a session of its own, one whose parent is gone.
sleep 60 &
setsid sleep 60 &
(sleep 60 & )
sh -c 'sleep 60; true' &
sleep 60
""")


def places():
    """Where jobs could leave some.  Of other programs some may go meanwhile; folders for PMIx are others', these jobs have none."""
    shared = os.listdir("/dev/shm") if os.path.isdir("/dev/shm") else []
    return {f"/dev/shm/{x}" for x in shared if not x.startswith("keel-pmix-")} | {f"/tmp/{x}" for x in os.listdir("/tmp") if "keel" in x.lower()}


def family(p):
    """mpiexec, its node daemon and the daemon's children, as far as they are there already."""
    found = [p.pid, *children(p.pid)]
    for daemon in found[1:2]:
        found += children(daemon)
    return found


WAYS = {
    "mpiexec": lambda f: f[:1],
    "the node daemon": lambda f: f[1:2],
    "a rank": lambda f: f[2:][:1],
    "mpiexec, the daemon, every rank in turn": lambda f: f,
    "every rank, the daemon, mpiexec in turn": lambda f: f[::-1],
    "all in any order": lambda f: random.sample(f, len(f)),
}


def kill_round(i, program):
    what = list(WAYS)[i % len(WAYS)]
    alone = i % len(WAYS) < 3
    nodes = 1 + i // len(WAYS) % 2
    command = [TROUBLE] if alone and i // len(WAYS) % 3 == 2 else [program, "work"]
    p = start("-fake-nodes", nodes, "-n", 3, *command)
    if i % 4:  # else somewhere in its beginning
        until(lambda: len(family(p)) >= 5)
    time.sleep(random.random() * 0.1)
    for pid in WAYS[what](family(p)) or [p.pid]:  # there may be no rank yet
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass  # it has followed another
        time.sleep(0 if alone else random.random() * 0.01)
    try:
        p.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        check(f"round {i}: SIGKILL of {what}, {command[0]} on {nodes} nodes: the job ends", False, marked())
        p.kill()
        p.communicate()
    nothing_left(f"round {i}: SIGKILL of {what}, {command[0]} on {nodes} nodes", 10)


def kill_rounds(rounds):
    program = os.path.join(TMP.name, "ends")
    built = subprocess.run([MPICC, "-O1", "-o", program, os.path.join(TOP, "tests", "faults", "ends.c")], capture_output=True, text=True)
    check("ends.c compiles", built.returncode == 0, built.stderr)
    before = places()
    random.seed(rounds)
    for i in range(rounds):
        kill_round(i, program)
    same(f"files left after {rounds} rounds", places() - before, set())
