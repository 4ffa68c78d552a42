#!/usr/bin/env python3
"""Partitioned messages: Keel beside the installed peers that have them, and beside a persistent send of the same bytes.

  part.py [--rounds N] [--seconds S]
Above 1: Keel takes less.  "of persistent": Keel's time over that of its own persistent message.  Nothing here fails on a time."""
import argparse
import sys
import tempfile
from compare import build, cell, in_rounds, libraries, median_of, median_ratio

LIMIT = 60


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--seconds", type=float, default=0.1)
    args = p.parse_args()
    libs = libraries()
    with tempfile.TemporaryDirectory() as tmp:
        programs = build(libs, "part.c", tmp)
        results = in_rounds(libs, programs, args.rounds, LIMIT, 2, args.seconds)
        for metric, row in in_rounds(libs[:1], programs, args.rounds, LIMIT, 2, args.seconds, "early").items():
            results.setdefault(metric, row)
    names = [lib[0] for lib in libs]
    print(f"{'metric (us)':22} " + " ".join(f"{n:>10}" for n in names) + "  of persistent " + " ".join(f"vs {n:>8}" for n in names[1:]))
    for metric, row in results.items():
        alone = results.get("persistent_" + metric.split("_")[1], {})
        print(f"{metric:22} " + " ".join(cell(median_of(row.get(n)), 10) for n in names)
              + cell(median_ratio(row.get("keel"), alone.get("keel")), 15) + " "
              + " ".join(cell(median_ratio(row.get(n), row.get("keel")), 11) for n in names[1:]))
    return 0 if any("keel" in row for row in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
