# SPDX-License-Identifier: BSD-3-Clause
"""For stress.test and stress-long.test: jobs of mixed traffic (stress.c) whose ranks are stopped, moved and killed at any moment.

What a round does follows from its seed; when it happens to a rank follows from the seed, too, as far as a machine allows (STRESS_SEED: the first of a run).
Alone:  TOP_BUILDDIR=B MPIEXEC=P/bin/mpiexec MPICC=P/bin/mpicc tests/faults/stress.py disturb|kill SEED [SECONDS [words for stress]]"""
import os
import random
import re
import signal
import subprocess
import sys
import time
from harness import *
from killing import places

STRESS = os.path.join(TMP.name, "stress")
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT)
BOUND = 20  # seconds from a death to the end of the job


def build():
    built = subprocess.run([MPICC, "-g", "-O2", "-Wall", "-Wextra", "-o", STRESS, os.path.join(TOP, "tests", "faults", "stress.c"), "-lpthread"],
                           capture_output=True, text=True)
    check("stress.c compiles", built.returncode == 0 and not built.stderr, built.stderr)


def ranks_of(p):
    """The ranks of a job of one or more nodes."""
    return [rank for daemon in children(p.pid) for rank in children(daemon)]


def job(seed, long):
    """What a seed stands for: ranks, options of mpiexec, options of stress."""
    r = random.Random(seed)
    n = r.choice((2, 2, 2, 3, 4, 5, 8))
    nodes = r.choice((1, 1, 1, 2)) if n > 2 else 1
    words = ["threads", r.choice((2, 3))] if r.random() < 0.2 and n < 5 else []
    words += ["max", r.choice((64, 3000, 40000, 300000))] if r.random() < (0.4 if long else 0.6) else []
    return r, n, ["-fake-nodes", nodes] if nodes > 1 else [], words


def disturb(r, pids, until_time):
    """Stop and continue ranks, and move them, until the time has come or they have ended."""
    cores = sorted(os.sched_getaffinity(0))
    times = 0
    while time.time() < until_time:
        pid, kind = r.choice(pids), r.random()
        try:
            if kind < 0.8:
                os.kill(pid, signal.SIGSTOP)
                time.sleep(r.choice((0, 1e-5, 1e-4, 1e-3, 1e-2, 3e-2)) * r.random())
                os.kill(pid, signal.SIGCONT)
            else:
                os.sched_setaffinity(pid, r.choice((cores, *([c] for c in cores))))
        except OSError:
            return times
        times += 1
        time.sleep(r.choice((0, 1e-4, 1e-3, 1e-2)) * r.random())
    return times


def begin(seed, how, long, words):
    r, n, options, more = job(seed, long)
    p = start(*options, "-n", n, STRESS, seed, how, *more, *words)
    what = f"seed {seed}: {' '.join(map(str, p.args[1:-1 * (3 + len(more) + len(words))]))} stress {' '.join(map(str, (seed, how, *more, *words)))}"
    if not p.stdout.readline().startswith(b"begun"):
        check(what + ": begins", False, p.communicate(timeout=BOUND))
    return r, p, what, ranks_of(p)


def ended(p, what, seconds):
    """Wait for the job's end; (stdout, stderr), or None if there is none."""
    try:
        out, err = p.communicate(timeout=seconds)
        return out.decode(errors="replace"), err.decode(errors="replace")
    except subprocess.TimeoutExpired:
        where = [(pid, open(f"/proc/{pid}/stat").read().split()[2], open(f"/proc/{pid}/wchan").read()) for pid in ranks_of(p)]
        os.killpg(p.pid, signal.SIGTERM)
        time.sleep(1)
        os.killpg(p.pid, signal.SIGKILL)
        check(what + f": ends within {seconds} s", False, f"{where}\n  {p.communicate()}")
        return None


def disturbed(seed, seconds, long=False, words=()):
    """A job whose ranks are stopped and moved; all must be right."""
    r, p, what, pids = begin(seed, f"{seconds}s", long, words)
    times = disturb(r, pids, time.time() + seconds)
    for pid in pids:
        try:
            os.kill(pid, signal.SIGCONT)
        except OSError:
            pass
    said = ended(p, what, 60 + 4 * seconds)
    if said is not None:
        check(f"{what}, disturbed {times} times: nothing wrong", p.returncode == 0 and not said[1], f"rc {p.returncode}\n{said[0]}{said[1]}")
        return re.search(r"\d+ rounds|", said[0]).group(), times, what
    return "", times, what


def killed(seed, long=False, words=()):
    """A job of which one rank dies at some moment: a report of that, the exit code, a prompt end, nothing left."""
    r, p, what, pids = begin(seed, "0", long, words)
    at = r.random() ** 3 * (3 if long else 0.6)
    if r.random() < 0.3:
        disturb(r, pids, time.time() + at)
    else:
        time.sleep(at)
    k, sig = r.randrange(len(pids)), r.choice(SIGNALS)
    try:
        os.kill(pids[k], sig)
    except ProcessLookupError:
        check(what + f": runs until rank {k} is killed after {at:.4f} s", False, f"{ended(p, what, BOUND)}, rc {p.returncode}")
        return
    begun = time.time()
    said = ended(p, what, BOUND)
    what += f", {sig.name} of one after {at:.4f} s"
    if said is None:
        return
    report = rf"mpiexec: rank \d+ \(\S+stress on \S+, pid {pids[k]}\) was killed by signal {int(sig)} \({sig.name}"
    matches(what + ": a report", said[1], r"\A" + report)
    check(what + ": exit code", p.returncode == 128 + sig, f"rc {p.returncode}\n{said[0]}{said[1]}")
    lines = [line for line in said[1].splitlines() if not re.match(r"mpiexec:   (at|called from) ", line)]  # of a crash
    check(what + ": little more", len(lines) <= 4, said[1])
    check(what + ": at once", time.time() - begun < BOUND / 2, time.time() - begun)
    nothing_left(what, 10)


def rounds(disturbances, seconds, kills, long):
    """Seeds of today are other ones than yesterday's; what fails names its seed."""
    build()
    if not os.path.exists(STRESS):
        return
    before = places()
    first = int(os.environ.get("STRESS_SEED", time.time_ns() // 1000 % 1000000000))
    for i in range(disturbances):
        print(*disturbed(first + i, seconds, long), sep="; ", flush=True)
    for i in range(kills):
        killed(first + 1000000 + i, long)
    same("files left after all", places() - before, set())


if __name__ == "__main__":
    build()
    if sys.argv[1] == "kill":
        killed(int(sys.argv[2]))
    else:
        print(disturbed(int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 10, words=sys.argv[4:]))
    finish()
