#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""More ranks than cores: Keel, the installed peers at their defaults and at their best documented settings, and the floor.

  oversubscribe.py [--rounds N] [--seconds S] [--limit S] [--ranks 4,8,...] [--work S]
All take turns; ratios are medians of those of a round, above 1: Keel is better.  `floor` is a barrier with no library
(floor_barrier.c).  A run longer than the limit counts as far as it came.  The last rows are the CPU seconds of a job in which
one rank works and seven wait.  Nothing here fails on a time."""
import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile

from compare import TOP, build_bench, libraries, printed, rows_of, run_within, turns

# What their documentation advises where ranks outnumber cores.
BEST = {"mpich": ([], {"UCX_TLS": "posix,cma,self"}),
        "openmpi": (["--mca", "mpi_yield_when_idle", "1", "--bind-to", "none"], {})}


def contestants():
    """(name, compiler's name, command of mpiexec, environment)"""
    found = []
    for name, mpicc, mpiexec, env in libraries():
        found.append((name, name, mpicc, mpiexec, env))
        if name in BEST:
            options, more = BEST[name]
            found.append((name + "+", name, mpicc, [*mpiexec, *options], {**env, **more}))
    return found


# Sizes and tests of mpi_bench: rows of their own, since the slow ones may not come to their end.
CROWD = [("8", ["barrier", "allreduce", "ring"]), ("1K", ["alltoall", "step"]), ("1M", ["bcast"])]


def crowd(mpiexec, program, seconds, env, limit):
    """{metric: value} as far as it came in the time, which is for each run."""
    found = {}
    for sizes, tests in CROWD:
        out = run_within(limit, [*mpiexec, program, "-f", "csv", "-t", str(seconds), "-s", sizes, *tests], env)[0]
        found.update({f"{row['test']}_{row['n']}@{row['ranks']}": float(row["value"]) for row in rows_of(out)})
    return found


def cpu_seconds(command, env, limit):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run_within(limit, command, env)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def table(results, names):
    print(f"{'metric':16} " + " ".join(f"{n:>9}" for n in names) + "   " + " ".join(f"vs {n:>8}" for n in names[1:]))
    for metric, row in results.items():
        mid = " ".join(f"{statistics.median(row[n]):9.4g}" if row.get(n) else f"{'-':>9}" for n in names)
        ratios = ([q / k for k, q in zip(row.get("keel", []), row.get(n, []))] for n in names[1:])
        print(f"{metric:16} {mid}   " + " ".join(f"{statistics.median(r):11.2f}" if r else f"{'-':>11}" for r in ratios))
    sys.stdout.flush()


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--seconds", type=float, default=0.1)
    p.add_argument("--limit", type=float, default=20)
    p.add_argument("--ranks", default="4,8,16,32,64")
    p.add_argument("--work", type=float, default=5)
    args = p.parse_args()
    all_of = contestants()
    names = [c[0] for c in all_of]
    with tempfile.TemporaryDirectory() as tmp:
        programs = build_bench(libraries(), tmp)
        subprocess.run(["cc", "-O2", "-o", f"{tmp}/floor", f"{TOP}/tests/perf/floor_barrier.c"], check=True)
        came = 0
        for n in args.ranks.split(","):
            results = {}
            for r in range(args.rounds):
                for name, library, _, mpiexec, env in turns(all_of, r):
                    got = crowd([*mpiexec, "-n", n], programs[library], args.seconds, env, args.limit)
                    came += name == "keel" and len(got)
                    for metric, value in got.items():
                        results.setdefault(metric, {}).setdefault(name, []).append(value)
                for metric, value in printed(run_within(args.limit, [f"{tmp}/floor", n], {})[0]).items():
                    results.setdefault(metric, {}).setdefault("floor", []).append(value)
            table(results, [*names, "floor"])
        cpu = {name: [cpu_seconds([*mpiexec, "-n", "8", programs[library], "-t", str(args.work), "idle"], env, args.work * 10 + 60)]
               for name, library, _, mpiexec, env in all_of}
        table({"cpu_seconds@8": cpu}, names)
    return 0 if came else 1


if __name__ == "__main__":
    sys.exit(main())
