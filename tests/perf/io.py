#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Files: Keel beside the installed peers, run alternately; medians and ratios (above 1: Keel is better).  Below each table what the
system does without MPI (io_floor.c), in turns with them.

  io.py [--rounds N] [--ranks 2,4] [--folder DIR,...]
The folders are the disk's and that of a tmpfs.  Nothing here fails on a time."""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from compare import TOP, build, libraries, printed, run_within

LIMIT = 120
SMALLER_IS_BETTER = {"open_close"}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--ranks", default="2,4")
    p.add_argument("--folder", default=f"{tempfile.gettempdir()},/dev/shm")
    args = p.parse_args()
    libs, some = libraries(), False
    names = [lib[0] for lib in libs]
    with tempfile.TemporaryDirectory() as tmp:
        programs, bare = build(libs, "io.c", tmp), os.path.join(tmp, "bare")
        subprocess.run(["cc", "-O2", "-w", "-pthread", "-o", bare, f"{TOP}/tests/perf/io_floor.c"], check=True)
        for folder in args.folder.split(","):
            for ranks in args.ranks.split(","):
                values, floor = {}, {}
                for _ in range(args.rounds):
                    for name, _, mpiexec, env in libs:
                        with tempfile.TemporaryDirectory(dir=folder) as place:
                            out, _ = run_within(LIMIT, [*mpiexec, "-n", ranks, programs[name], os.path.join(place, "data")], env)
                        for what, value in printed(out).items():
                            values.setdefault(what, {}).setdefault(name, []).append(value)
                    with tempfile.TemporaryDirectory(dir=folder) as place:
                        out, _ = run_within(LIMIT, [bare, ranks, os.path.join(place, "data")], {})
                    for what, value in printed(out).items():
                        floor.setdefault(what, []).append(value)
                print(f"\n{folder}, {ranks} ranks\n{'':24}" + "".join(f"{n:>12}" for n in names) + "".join(f"{'vs ' + n:>12}" for n in names[1:]))
                for what, row in values.items():
                    mid = {n: statistics.median(v) for n, v in row.items()}
                    some = some or "keel" in mid
                    line = f"{what:24}" + "".join(f"{mid[n]:12.1f}" if n in mid else f"{'-':>12}" for n in names)
                    for n in names[1:]:
                        if n in mid and "keel" in mid and mid[n] > 0 and mid["keel"] > 0:
                            ratio = mid["keel"] / mid[n]
                            line += f"{1 / ratio if what in SMALLER_IS_BETTER else ratio:12.2f}"
                        else:
                            line += f"{'-':>12}"
                    print(line, flush=True)
                for what, row in floor.items():
                    print(f"bare {what:19}{statistics.median(row):12.1f}", flush=True)
    return 0 if some else 1


if __name__ == "__main__":
    sys.exit(main())
