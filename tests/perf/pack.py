#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""MPI_Pack and MPI_Unpack: Keel, the installed peers, and loops written by hand (pack.c).

  pack.py [--rounds N] [--seconds S] [--only WORD]
All take turns; medians of the ratios of a round, above 1: Keel is better.  The hand loops are compiled with -O2 in the same program, and
run in turns with the library's call; O3/O2 is how much faster they are with -O3.  Goals: 0.95 of the loop, and twice the better peer on
the nested types.  A row that misses its goal is marked *, or m where memory is what bounds it: twice the better peer would move more
cache lines in a second than memcpy does (the loop of `contiguous`), and the library is as fast as the loop.  Nothing here fails on a
time."""
import argparse
import subprocess
import sys
import tempfile

from compare import TOP, cell, libraries, median_of, printed, run_within

SOURCE = f"{TOP}/tests/perf/pack.c"
NESTED = ("vector-vector", "vector-struct", "indexed-vector", "struct-vector")
LIMIT = 120
GOAL = 0.95


class Results:
    """What the runs of each contestant printed, a dictionary a round."""

    def __init__(self):
        self.of = {}

    def mid(self, name, metric):
        return median_of([r.get(metric) for r in self.of.get(name, [])])

    def ratio(self, name, metric, of, of_metric):
        pairs = zip(self.of.get(name, []), self.of.get(of, []))
        return median_of([a[metric] / b[of_metric] for a, b in pairs if metric in a and of_metric in b])

    def metrics(self, *prefixes):
        return [m for m in self.of["keel"][0] if m.startswith(prefixes)] if self.of.get("keel") else []


def mark(results, metric, peers):
    """How far the row is from its goal: "" (reached), "*" or "m"."""
    hand = results.ratio("keel", metric, "keel", "hand-" + metric)
    ratios = [r for r in (results.ratio("keel", metric, p, metric) for p in peers) if r is not None]
    what, name = metric.split(":")
    if not name.startswith(NESTED):
        return "*" if hand is None or hand < GOAL else ""
    if not ratios or min(ratios) >= 2:
        return ""
    better = max(results.mid(p, metric) or 0 for p in peers)
    memcpy = results.mid("keel", f"hand-{what}:contiguous@{name.split('@')[1]}") or 0
    lines = results.mid("keel", "lines:" + name) or 1  # of memory, for each byte packed; the packed side takes one
    return "m" if 2 * better > memcpy * 2 / (lines + 1) and hand >= GOAL else "*"


def speeds(results, peers):
    print(f"{'GB/s':34} {'keel':>9} {'loop':>9} {'keel/loop':>9} " + " ".join(f"{'/' + p:>9}" for p in peers) + f" {'O3/O2':>9}")
    marks = []
    for metric in results.metrics("pack:", "unpack:"):
        by_hand = "hand-" + metric
        marks.append(mark(results, metric, peers))
        columns = [results.mid("keel", metric), results.mid("keel", by_hand), results.ratio("keel", metric, "keel", by_hand),
                   *(results.ratio("keel", metric, p, metric) for p in peers), results.ratio("O3", by_hand, "keel", by_hand)]
        print(f"{metric:34} " + " ".join(cell(c, 9) for c in columns) + " " + marks[-1])
    print(f"{len(marks)} rows; {marks.count('*')} miss their goal (*), {marks.count('m')} are bounded by memory (m)\n")


def costs(results, peers):
    names = ["keel", *peers]
    print(f"{'ns; ms; bytes an entry':34} " + " ".join(f"{n:>9}" for n in [*names, "loop"]))
    for metric in results.metrics("small", "make", "memory"):
        print(f"{metric:34} " + " ".join(cell(results.mid(n, metric), 9) for n in names) + " " + cell(results.mid("keel", "hand-" + metric), 9))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--seconds", type=float, default=0.02)
    p.add_argument("--only", default="")
    args = p.parse_args()
    libs, results = libraries(), Results()
    runs = [(name, mpicc, mpiexec, env, "-O2") for name, mpicc, mpiexec, env in libs]
    runs.append(("O3", *libs[0][1:], "-O3"))
    with tempfile.TemporaryDirectory() as tmp:
        for name, mpicc, _, _, level in runs:
            subprocess.run([mpicc, level, "-w", "-o", f"{tmp}/{name}", SOURCE], check=True)
        for r in range(args.rounds):
            for name, _, mpiexec, env, _ in runs[r % len(runs):] + runs[:r % len(runs)]:
                out, well = run_within(LIMIT, [*mpiexec, "-n", "1", f"{tmp}/{name}", str(args.seconds), args.only], env)
                results.of.setdefault(name, []).append(printed(out) if well else {})
    peers = [lib[0] for lib in libs[1:]]
    speeds(results, peers)
    costs(results, peers)
    return 0 if all(results.of["keel"]) else 1


if __name__ == "__main__":
    sys.exit(main())
