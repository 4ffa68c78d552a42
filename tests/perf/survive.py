#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What it costs to survive a failure: Keel and the installed peers that have MPIX_Comm_agree and its like, in turns; medians of rounds,
in us, and the better peer's time over Keel's.

  survive.py [--rounds N] [--limit S] [--ranks 2,4,...]
survive.c says what the rows are.  `x allreduce` is agree over an allreduce of 8 bytes of the same run, `x agree` shrink over agree.  A
contestant that fails or takes longer than the limit is "-".  Nothing here fails on a time."""
import argparse
import statistics
import subprocess
import sys
import tempfile

from compare import TOP, libraries, printed, run_within

WHAT = ("agree", "allreduce", "shrink", "revoke", "shrink_dead", "agree_dead")


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--limit", type=float, default=60)
    p.add_argument("--ranks", default="2,4,16,64")
    args = p.parse_args()
    failed = False
    with tempfile.TemporaryDirectory(prefix="survive") as tmp:
        all_of = []
        for name, mpicc, mpiexec, env in libraries():
            program = f"{tmp}/{name}"
            if subprocess.run([mpicc, "-O2", "-w", "-o", program, f"{TOP}/tests/perf/survive.c"], capture_output=True, check=False).returncode:
                print(f"{name}: without MPIX_Comm_agree and its like")
                continue
            all_of.append((name, [*mpiexec, "--with-ft", "ulfm"] if name == "keel" or "openmpi" in name else mpiexec, program, env))
        print(f"{'ranks':>8} {'what':<12}" + "".join(f"{name:>12}" for name, *_ in all_of) + "  better peer / Keel")
        for n in map(int, args.ranks.split(",")):
            got = {name: {w: [] for w in WHAT} for name, *_ in all_of}
            for r in range(args.rounds):
                for name, mpiexec, program, env in all_of[r % len(all_of):] + all_of[:r % len(all_of)]:
                    out, _ = run_within(args.limit, [*mpiexec, "-n", str(n), program, "20", "20" if n <= 16 else "3"], env)
                    for w, us in printed(out).items():
                        if w in WHAT:
                            got[name][w].append(us)
            for w in WHAT:
                m = {name: statistics.median(got[name][w]) for name, *_ in all_of if got[name][w]}
                peers = [us for name, us in m.items() if name != "keel"]
                failed |= "keel" not in m and n > 2
                print(f"{n:8} {w:<12}" + "".join(f"{m[name]:12.2f}" if name in m else f"{'-':>12}" for name, *_ in all_of) +
                      (f"  {min(peers) / m['keel']:.2f}" if peers and "keel" in m else ""), flush=True)
            mine = {w: statistics.median(v) for w, v in got["keel"].items() if v}
            if "allreduce" in mine:
                print(f"{n:8} Keel: agree {mine['agree'] / mine['allreduce']:.2f} x allreduce, shrink {mine['shrink'] / mine['agree']:.2f} x agree")
    return failed


sys.exit(main())
