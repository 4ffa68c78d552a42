#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that print 100,000 lines each: seconds of a whole job, Keel (as it is, and with stdout buffered fully), the installed peers,
and a floor (a write a line into a pipe of each process; output.c), in turns; medians of rounds.

  output.py [--rounds N] [--ranks N]
Nothing here fails on a time."""
import argparse
import statistics
import subprocess
import sys
import tempfile
import time

from compare import TOP, libraries, run_within


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--ranks", type=int, default=8)
    p.add_argument("--limit", type=float, default=60)
    args = p.parse_args()
    with tempfile.TemporaryDirectory(prefix="output") as tmp:
        rows = []
        for name, mpicc, mpiexec, env in libraries():
            program = f"{tmp}/{name}"
            subprocess.run([mpicc, "-O2", "-w", "-o", program, f"{TOP}/tests/perf/output.c"], check=True)
            rows.append((name, [*mpiexec, "-n", str(args.ranks), program], env))
            if name == "keel":
                rows.append(("keel, full", [*mpiexec, "-stream-buffering", "2", "-n", str(args.ranks), program], env))
                rows.append(("floor", [program, "floor", str(args.ranks)], {}))
        got, failed = {name: [] for name, *_ in rows}, False
        for r in range(args.rounds):
            for name, command, env in rows[r % len(rows):] + rows[:r % len(rows)]:
                start = time.time()
                out, well = run_within(args.limit, command, env)
                took = time.time() - start
                whole = out.count("\n") == 100000 * args.ranks
                failed |= name.startswith("keel") and not (well and whole)
                if well and whole:
                    got[name].append(took)
        keel = statistics.median(got["keel"]) if got["keel"] else 0
        for name, *_ in rows:
            m = statistics.median(got[name]) if got[name] else None
            print(f"{name:<12}" + (f"{m:8.3f} s  keel / {name}: {keel / m:.2f}" if m else "       -"))
    return failed


sys.exit(main())
