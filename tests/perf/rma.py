#!/usr/bin/env python3
"""One-sided calls within a node (rma.c): Keel beside the installed peers, in turns; medians of the rounds, and ratios below 1 where Keel
is faster.

  rma.py [--rounds N] [--seconds S] [--ranks N] [--nodes N]
--nodes: Keel's ranks are on so many simulated nodes (the peers' stay on one).  A peer that takes too long has no figures."""
import argparse
import statistics
import sys
import tempfile

from compare import build, cell, libraries, printed, run_within

LIMIT = 60


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--seconds", type=float, default=0.05)
    p.add_argument("--ranks", type=int, default=2)
    p.add_argument("--nodes", type=int, default=1)
    args = p.parse_args()
    libs, seen = libraries(), {}
    with tempfile.TemporaryDirectory() as tmp:
        programs = build(libs, "rma.c", tmp)
        for k in range(args.rounds):
            for name, _, mpiexec, env in libs[k % len(libs):] + libs[:k % len(libs)]:
                nodes = ["-fake-nodes", str(args.nodes)] if name == "keel" and args.nodes > 1 else []
                out, _ = run_within(LIMIT, [*mpiexec, *nodes, "-n", str(args.ranks), programs[name], str(args.seconds)], env)
                for metric, value in printed(out).items():
                    seen.setdefault(metric, {}).setdefault(name, []).append(value)
    names = [lib[0] for lib in libs]
    print(f"{'ns':32} " + " ".join(f"{n:>11}" for n in names) + " " + " ".join(f"{'/' + n:>9}" for n in names[1:]))
    for metric, row in seen.items():
        mid = {n: statistics.median(v) for n, v in row.items()}
        print(f"{metric:32} " + " ".join(cell(mid.get(n), 11) for n in names) + " "
              + " ".join(cell(mid["keel"] / mid[n] if n in mid and "keel" in mid else None, 9) for n in names[1:]))
    return 0 if any("keel" in row for row in seen.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
