#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Spawned jobs: Keel and the installed peers, in turns; medians of rounds, in ms, and the better peer's time over Keel's.

  spawn.py [--rounds N] [--times N] [--limit S] [--children 1,4,16]
One process spawns so many children, `times` times, and disconnects from them (spawn.c).  A contestant that fails or takes longer than
the limit is "-".  Nothing here fails on a time."""
import argparse
import statistics
import subprocess
import sys
import tempfile

from compare import TOP, libraries, run_within

WHAT = ("spawn", "disconnect", "meet", "message")


def run(mpiexec, program, env, n, args):
    out, well = run_within(args.limit, [*mpiexec, "-n", "1", program, str(n), str(args.times)], env)
    words = dict(line.split() for line in out.splitlines() if len(line.split()) == 2) if well else {}
    return {w: float(words[w]) for w in WHAT if w in words}


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--times", type=int, default=10)
    p.add_argument("--limit", type=float, default=60)
    p.add_argument("--children", default="1,4,16")
    args = p.parse_args()
    failed = False
    with tempfile.TemporaryDirectory(prefix="spawn") as tmp:
        all_of = []
        for name, mpicc, mpiexec, env in libraries():
            program = f"{tmp}/{name}"
            subprocess.run([mpicc, "-O2", "-w", "-o", program, f"{TOP}/tests/perf/spawn.c"], check=True)
            all_of.append((name, mpiexec, program, env))
        print(f"{'children':>8} {'what':<11}" + "".join(f"{name:>10}" for name, *_ in all_of) + "  better peer / Keel")
        for n in map(int, args.children.split(",")):
            got = {name: {w: [] for w in WHAT} for name, *_ in all_of}
            for r in range(args.rounds):
                for name, mpiexec, program, env in all_of[r % len(all_of):] + all_of[:r % len(all_of)]:
                    for w, ms in run(mpiexec, program, env, n, args).items():
                        got[name][w].append(ms)
            for w in WHAT:
                m = {name: statistics.median(got[name][w]) for name, *_ in all_of if got[name][w]}
                peers = [ms for name, ms in m.items() if name != "keel"]
                failed |= "keel" not in m
                print(f"{n:8} {w:<11}" + "".join(f"{m[name]:10.4f}" if name in m else f"{'-':>10}" for name, *_ in all_of) +
                      (f"  {min(peers) / m['keel']:.2f}" if peers and "keel" in m else ""), flush=True)
    return failed


sys.exit(main())
