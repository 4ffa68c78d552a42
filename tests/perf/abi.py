#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""mpi_bench compiled for MPICH's and Open MPI's ABI, on Keel's library of that ABI, beside mpi_bench compiled for the Standard ABI: in
turns, medians of the rounds' ratios with their quartiles.  Below 1 the other ABI is the faster one.

  abi.py [--rounds N] [--time S]"""
import argparse
import os
import statistics
import sys
import tempfile

from compare import bench, build_bench, figures, libraries, turns

TESTS = (("latency", 0), ("latency", 8), ("rate", 8))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rounds", type=int, default=9)
    p.add_argument("--time", type=float, default=0.1)
    args = p.parse_args()
    (_, mpicc, mpiexec, env), seen = libraries()[0], {}
    fronts = [("standard", mpicc, mpiexec, env)] + [(lib[0], lib[1], mpiexec, env) for lib in libraries()[1:]]
    with tempfile.TemporaryDirectory() as tmp:
        programs = build_bench(fronts, tmp)
        for r in range(args.rounds):
            for front in turns(fronts, r):
                out = bench(front, programs[front[0]], 2, 60, "-t", str(args.time), "-s", "0,8", "latency", "rate")
                for key, value in figures(out).items():
                    seen.setdefault(key, {}).setdefault(front[0], []).append(value)
    for key in TESTS:
        rows = seen.get(key, {})
        native = rows.get("standard", [])
        for name, values in rows.items():
            # The time of the other one over the native time, whichever way the test counts.
            ratios = sorted((b / a if key[0] == "rate" else a / b) for a, b in zip(values, native))
            low, mid, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
            print(f"{key[0]:8} {key[1]} B  {name:9} {statistics.median(values):12.3f}  {mid:.3f} [{low:.3f} {high:.3f}]")
    return 0 if seen and all(set(seen.get(key, ())) == {f[0] for f in fronts} for key in TESTS) else 1


if __name__ == "__main__":
    sys.exit(main())
