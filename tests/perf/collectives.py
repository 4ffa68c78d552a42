#!/usr/bin/env python3
"""Collectives: Keel beside the installed peers.

  collectives.py [--rounds N] [--seconds S] [--limit S] [--ranks 2,4,8] [--sizes BYTES,...] [--groups G,...] [--names N,...] [--json FILE]
Microseconds a call, medians of rounds in which the libraries take turns; the last column is the median of the rounds' ratios to the better
peer, above 1: Keel is better.  Groups are those of collectives.c; a run of a group that takes longer than the limit counts as far as it
came (where ranks outnumber cores a peer may be a thousand times slower).  The last line of each number of ranks names the rows where
Keel is behind.  Nothing here fails on a time."""
import argparse
import json
import sys
import tempfile

from compare import build, cell, in_rounds, libraries, median_of

GROUPS = "rooted,exchange,reductions,nonblocking,persistent,neighbor"


def beside_best(row, peers, rounds):
    """The median of the rounds' ratios of the better peer to Keel."""
    ratios = []
    for r in range(rounds):
        there = [row[p][r] for p in peers if p in row and row[p][r] is not None]
        keel = row.get("keel", [None] * rounds)[r]
        ratios.append(min(there) / keel if there and keel else None)
    return median_of(ratios)


def table(results, names, rounds):
    """Prints the rows; those where Keel is behind, with their ratios."""
    behind = []
    for metric, row in results.items():
        ratio = beside_best(row, names[1:], rounds)
        print(f"{metric:32} " + " ".join(cell(median_of(row.get(n)), 9) for n in names) + f"   {cell(ratio, 9)}")
        if ratio is not None and ratio < 1:
            behind.append((ratio, metric))
    sys.stdout.flush()
    return behind


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--seconds", type=float, default=0.02)
    p.add_argument("--limit", type=float, default=20)
    p.add_argument("--ranks", default="2,4,8")
    p.add_argument("--sizes", default="8,1024,65536,1048576")
    p.add_argument("--groups", default=GROUPS)
    p.add_argument("--names", default="")
    p.add_argument("--json")
    args = p.parse_args()
    libs, everything = libraries(), {}
    names = [lib[0] for lib in libs]
    with tempfile.TemporaryDirectory() as tmp:
        programs = build(libs, "collectives.c", tmp)
        for ranks in args.ranks.split(","):
            print(f"{'us':32} " + " ".join(f"{n:>9}" for n in names) + "   vs better")
            behind = []
            for group in args.groups.split(","):
                what = group + ("," + args.names if args.names else "")
                results = in_rounds(libs, programs, args.rounds, args.limit, int(ranks), what, args.seconds, *args.sizes.split(","))
                behind += table(results, names, args.rounds)
                everything.update(results)
            print(f"# {ranks} ranks: behind: " + (", ".join(f"{m} {r:.2f}" for r, m in sorted(behind)) or "none"))
    if args.json:
        json.dump(everything, open(args.json, "w"), indent=1)
    return 0 if any("keel" in row for row in everything.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
