#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What each way to work together in a node's shared memory gains over the next best one, in the cases it is chosen for.

  meet.py [--rounds N] [--time S] [--ranks 2,4,8] [--only WORD,...] [--without-lines PREFIX]
Runs mpi_bench with one way forced (KEEL_COLL) and with the other, alternately, and prints a table: the median of the rounds' ratios
with their quartiles; above 1 the way in the first column is faster.  --without-lines is an install whose even teams are switched off
(`h->even = 0` in begin, src/mpid/team/team.c), with which meetings over lines are compared.  Machines are shared: the figures are for
people; nothing here fails on a time."""
import argparse
import csv
import os
import statistics
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SMALL, LARGE = "8,1K", "64K,1M"
# Way, what stands against it, their KEEL_COLL, tests, sizes, ranks (all if empty).
ROWS = [
    ("meeting", "messages", "barrier=team", "barrier=dissemination", "barrier", "8", ()),
    ("meeting", "messages", "allreduce=team", "allreduce=doubling", "allreduce", SMALL, ()),
    ("meeting", "messages", "allgather=team", "allgather=bruck", "allgather", SMALL, ()),
    ("meeting", "messages", "alltoall=team", "alltoall=bruck", "alltoall", "8", ()),
    ("meeting", "messages", "alltoall=team", "alltoall=pairwise", "alltoall", "1K", ()),
    ("meeting", "steps", "allreduce=team", "allreduce=slices", "allreduce", "1K,8K", ()),
    ("shortest meeting", "messages", "", "barrier=dissemination,allreduce=doubling", "barrier allreduce", "8", (2,)),
    ("begin and look", "messages", "", "barrier=dissemination,allreduce=doubling,allgather=bruck,alltoall=pairwise",
     "ibarrier iallreduce iallgather ialltoall", "8", (2,)),
    ("stream", "messages", "bcast=team", "bcast=binomial", "bcast", "8,1K,64K,1M", ()),
    ("stream, lent", "stream, shown", "bcast=read", "bcast=team", "bcast", LARGE, ()),
    ("stream, measured", "stream, shown", "bcast=measured", "bcast=team", "bcast", LARGE, ()),
    ("steps", "messages", "allreduce=slices", "allreduce=halving", "allreduce", LARGE, ()),
    ("steps", "messages", "allgather=pieces", "allgather=ring", "allgather", LARGE, ()),
    ("steps", "messages", "alltoall=pieces", "alltoall=pairwise", "alltoall", "64K", ()),
    ("steps", "messages", "gather=pieces", "gather=linear", "gather", "64K", ()),
    ("reading", "steps", "allreduce=read", "allreduce=slices", "allreduce", LARGE, ()),
    ("reading", "steps", "allgather=read", "allgather=pieces", "allgather", LARGE, ()),
    ("measured", "steps", "allreduce=measured", "allreduce=slices", "allreduce", LARGE, ()),
    ("measured", "steps", "allgather=measured", "allgather=pieces", "allgather", LARGE, ()),
]
LINES = ("meeting over lines", "meeting at a counter", "", "", "barrier allreduce allgather", "8", (2,))


def bench(prefix, ranks, force, tests, sizes, seconds):
    """{(test, bytes): microseconds}."""
    env = dict(os.environ, KEEL_COLL=force, LD_LIBRARY_PATH=os.path.join(prefix, "lib"))
    cmd = [os.path.join(prefix, "bin", "mpiexec"), "-n", str(ranks), os.path.join(prefix, "bin", "mpi_bench"), "-s", sizes, "-t", str(seconds),
           "-f", "csv", *tests.split()]
    out = subprocess.run(cmd, env=env, capture_output=True, text=True, timeout=120, check=True).stdout
    return {(row["test"], row["n"]): float(row["value"]) for row in csv.DictReader(out.splitlines())}


def compare(row, ranks, one, other, args):
    way, against, force, counter, tests, sizes, _ = row
    ratios, mine = {}, {}
    for k in range(args.rounds):
        sides = [(one, force), (other, counter)]
        got = [bench(p, ranks, f, tests, sizes, args.time) for p, f in (sides if k % 2 == 0 else sides[::-1])]
        a, b = got if k % 2 == 0 else got[::-1]
        for key in a:
            ratios.setdefault(key, []).append(b[key] / a[key])
            mine.setdefault(key, []).append(a[key])
    for (test, size), r in ratios.items():
        low, mid, high = statistics.quantiles(r, n=4)
        print(f"| {way} | {against} | {test} | {size} | {ranks} | {statistics.median(mine[test, size]):.2f} | {mid:.2f} | {low:.2f} to {high:.2f} |", flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rounds", type=int, default=10)
    p.add_argument("--time", type=float, default=0.005)
    p.add_argument("--ranks", default="2,4,8")
    p.add_argument("--only", default="")
    p.add_argument("--prefix", default=os.path.join(TOP, "_install"))
    p.add_argument("--without-lines", metavar="PREFIX")
    args = p.parse_args()
    print("| way | against | test | bytes | ranks | µs | ratio | quartiles |\n|---|---|---|---|---|---|---|---|")
    words = [w for w in args.only.split(",") if w]
    for row in ROWS + ([LINES] if args.without_lines else []):
        if words and not any(w in f"{row[0]} {row[4]}" for w in words):
            continue
        for ranks in [int(n) for n in args.ranks.split(",")]:
            if not row[6] or ranks in row[6]:
                compare(row, ranks, args.prefix, args.without_lines if row is LINES else args.prefix, args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
