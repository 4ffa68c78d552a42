#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Small messages of two ranks with several threads each: Keel beside the installed peers, run in turns, medians.

  threads.py [--rounds N] [--seconds S] [--threads 1,2,4,8]
`rate`: 8-byte messages from rank 0 to rank 1, million a second, all threads together; `latency`: half round trips, us, the mean of the
threads.  Each thread has a communicator of its own (separate), or all have one with a tag each (shared).  `single` is one thread with
MPI_THREAD_SINGLE, `funneled` the same with MPI_THREAD_FUNNELED beside a thread that does nothing.  A ratio above 1 means Keel is better.  Nothing here fails on a time."""
import argparse
import statistics
import sys
import tempfile
from compare import build, libraries, printed, run_within

LIMIT = 60


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--seconds", type=float, default=0.2)
    p.add_argument("--threads", default="1,2,4,8")
    args = p.parse_args()
    libs, results = libraries(), {}
    cases = [("single", "1", "separate"), ("funneled", "1", "separate")] + [("multiple", n, how) for n in args.threads.split(",") for how in ("separate", "shared")]
    with tempfile.TemporaryDirectory() as tmp:
        programs = build(libs, "threads.c", tmp)
        for _ in range(args.rounds):
            for case in cases:
                for name, _, mpiexec, env in libs:
                    out, _ = run_within(LIMIT, [*mpiexec, "-n", "2", programs[name], *case, str(args.seconds)], env)
                    for metric, value in printed(out).items():
                        results.setdefault((case, metric), {}).setdefault(name, []).append(value)
    names = [lib[0] for lib in libs]
    print(f"{'level, threads, communicators':32} {'metric':8} " + " ".join(f"{n:>9}" for n in names) + "  Keel against the better peer")
    for (case, metric), row in results.items():
        median = {n: statistics.median(row[n]) for n in names if n in row}
        peers = [v for n, v in median.items() if n != "keel"]
        ratio = ""
        if "keel" in median and peers:
            ratio = f"{median['keel'] / max(peers) if metric == 'rate' else min(peers) / median['keel']:.2f}"
        print(f"{' '.join(case):32} {metric:8} " + " ".join(f"{median[n]:9.3f}" if n in median else "        -" for n in names) + f"  {ratio}")
    return 0 if any("keel" in row for row in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
