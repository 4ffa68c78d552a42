#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Messages of derived types: Keel beside the installed peers, and beside its own contiguous messages.

  typed.py [--rounds N] [--seconds S] [--limit S] [--sizes BYTES,...] [--sides both,one] [--json FILE]
Half round trips in microseconds between 2 ranks; medians.  `x contig`: times Keel's contiguous message of as many bytes, taken just before.
`vs peer`: the median of the rounds' ratios, above 1: Keel is better.  The last lines count the rows where it is not, and those of
blocks of 256 bytes and more that take more than 1.3 times the contiguous one.  Nothing here fails on a time."""
import argparse
import json
import sys
import tempfile

from compare import build_bench, cell, in_rounds, libraries, median_of, median_ratio

LONG_BLOCKS = "vector256", "vector1024", "vector4096"

SIDES = {"both": [], "one": ["--one-side"]}


def table(results, names):
    """Prints the rows of one size; the names of those that are slower than a peer, and of those far from contiguous."""
    behind, far, contiguous = [], [], {m.test: row for m, row in results.items()}
    for metric, row in results.items():
        beside = median_ratio(row.get("keel"), contiguous.get("contiguous:" + metric.test, {}).get("keel"))
        ratios = [median_ratio(row.get(n), row.get("keel")) for n in names[1:]]
        print(f"{metric.test:24}{metric.n:>8} {cell(median_of(row.get('keel')), 9)} {cell(beside, 9)}   "
              + " ".join(cell(r, 11) for r in ratios))
        behind += [metric.test] if beside and any(r is not None and r < 1 for r in ratios) else []
        far += [metric.test] if metric.test in LONG_BLOCKS and beside is not None and beside > 1.3 else []
    return behind, far


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--seconds", type=float, default=0.03)
    p.add_argument("--limit", type=float, default=60)
    p.add_argument("--sizes", default="1024,65536,1048576,4194304")
    p.add_argument("--sides", default="both,one")
    p.add_argument("--json")
    args = p.parse_args()
    libs, everything = libraries(), {}
    names = [lib[0] for lib in libs]
    with tempfile.TemporaryDirectory() as tmp:
        programs = build_bench(libs, tmp)
        for side in args.sides.split(","):
            print(f"type on {'both sides' if side == 'both' else 'one side'}")
            print(f"{'metric':32} {'keel us':>9} {'x contig':>9}   " + " ".join(f"vs {n:>8}" for n in names[1:]))
            everything[side] = {}
            for size in args.sizes.split(","):
                results = in_rounds(libs, programs, args.rounds, args.limit, 2, "-t", args.seconds, "-s", size, *SIDES[side], "types")
                behind, far = table(results, names)
                print(f"# {size} bytes: behind a peer: {', '.join(behind) or 'none'}; above 1.3: {', '.join(far) or 'none'}")
                sys.stdout.flush()
                everything[side].update({f"{m.test}_{m.n}": row for m, row in results.items()})
    if args.json:
        json.dump(everything, open(args.json, "w"), indent=1)
    return 0 if any("keel" in row for rows in everything.values() for row in rows.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
