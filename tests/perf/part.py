#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Partitioned messages: Keel beside the installed peers that have them, and beside a persistent send of the same bytes.

  part.py [--rounds N] [--seconds S]
Half round trips, the tests part_* of mpi_bench.  Above 1: Keel takes less.  "of persistent": Keel's time over that of its own persistent
message.  Nothing here fails on a time."""
import argparse
import sys
import tempfile
from compare import build_bench, cell, in_rounds, libraries, median_of, median_ratio

LIMIT = 60
SIZES = ["-s", "128,4K,32K,256K,4M"]
GRAINS = ["-s", "800000", "part_grains"]  # 100,000 partitions


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--seconds", type=float, default=0.1)
    args = p.parse_args()
    libs, results = libraries(), {}
    # part_first would hang with a library that sends all at the end.
    runs = [(libs, [*SIZES, "latency_persistent", "part_whole", "part_each", "part_unequal"]), (libs, GRAINS), (libs[:1], [*SIZES, "part_first"])]
    with tempfile.TemporaryDirectory() as tmp:
        programs = build_bench(libs, tmp)
        for those, arguments in runs:
            results.update(in_rounds(those, programs, args.rounds, LIMIT, 2, "-t", args.seconds, *arguments))
    names, persistent = [lib[0] for lib in libs], {m.n: row for m, row in results.items() if m.test == "latency_persistent"}
    print(f"{'metric (us)':28} " + " ".join(f"{n:>10}" for n in names) + "  of persistent " + " ".join(f"vs {n:>8}" for n in names[1:]))
    for metric, row in sorted(results.items(), key=lambda item: item[0].n):
        print(f"{metric.test:18} {metric.n:>9} " + " ".join(cell(median_of(row.get(n)), 10) for n in names)
              + cell(median_ratio(row.get("keel"), persistent.get(metric.n, {}).get("keel")), 15) + " "
              + " ".join(cell(median_ratio(row.get(n), row.get("keel")), 11) for n in names[1:]))
    return 0 if any("keel" in row for row in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
