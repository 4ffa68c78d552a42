#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Starting and ending a job: Keel, the installed peers, and the floor.

  startup.py [--rounds N] [--limit S] [--ranks 1,2,...]
All take turns; medians.  Wall times are of init-barrier-finalize, from before mpiexec is started until it has ended.  `floor` is as many
processes of the same program without MPI, linked with libc alone, started by one small process that does nothing else
(startup_floor.c), in the same round; `library` the same with a program that is linked with libmpi_abi and does not call it.
The goal of a row is twice the floor plus 5 ms.  A contestant that takes longer than the limit at one count, or fails, is "-" there and
at larger ones.  Memory is the mean over the ranks after a barrier (smaps_rollup).  Nothing here fails on a time."""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile

from compare import TOP, libraries, printed, run_within

MEMORY = (64, 256, 1024)
SOURCE = f"{TOP}/tests/perf/startup.c"
UNUSED = "#include <mpi.h>\nint main(int argc, char **argv)\n{\n    return argc > 99 ? MPI_Init(&argc, &argv) : 0;\n}\n"


def run(command, env, limit):
    """{metric: value}; {} if it failed or took too long."""
    out, well = run_within(limit, command, env)
    return printed(out) if well else {}


class Contestant:
    """A library, as far as it goes within the limit."""

    def __init__(self, library, tmp, limit):
        self.name, self.mpicc, self.mpiexec, self.env = library
        self.program = f"{tmp}/{self.name}"
        self.timer, self.limit, self.out = f"{tmp}/floor", limit, set()
        subprocess.run([self.mpicc, "-O2", "-w", "-o", self.program, SOURCE], check=True)

    def measure(self, n, what):
        """Its own figures for `what`, and the wall time; {} if it is too slow, and not tried again."""
        if any(w == what and n >= m for w, m in self.out):
            return {}
        got = run([self.timer, "1", *self.mpiexec, "-n", str(n), self.program, *([what] if what else [])], self.env, self.limit)
        if not got:
            self.out.add((what, n))
        return got


def median(values):
    return statistics.median(values) if values else None


def cell(x, width=9):
    return f"{x:{width}.4g}" if x is not None else f"{'-':>{width}}"


def turns(all_of, rounds):
    for r in range(rounds):
        yield from all_of[r % len(all_of):] + all_of[:r % len(all_of)]


def walls(all_of, counts, rounds, tmp):
    names = [c.name for c in all_of]
    print(f"{'ms, ranks':>10} " + " ".join(f"{n:>9}" for n in [*names, "floor", "library", "goal"]) + "   keel/goal  "
          + " ".join(f"{n + '/keel':>13}" for n in names[1:]))
    for n in counts:
        got = {name: [] for name in [*names, "floor", "library"]}
        for i, c in enumerate(turns(all_of, rounds)):
            if i % len(all_of) == 0:
                got["floor"] += run([f"{tmp}/floor", str(n), f"{tmp}/none"], {}, c.limit).values()
                got["library"] += run([f"{tmp}/floor", str(n), f"{tmp}/unused"], {}, c.limit).values()
            got[c.name] += c.measure(n, "").values()
        mid = {name: median(values) for name, values in got.items()}
        goal = 2 * mid["floor"] + 5 if mid["floor"] else None
        part = mid["keel"] / goal if mid["keel"] and goal else None
        ratio = [mid[p] / mid["keel"] if mid[p] and mid["keel"] else None for p in names[1:]]
        print(f"{n:>10} " + " ".join(cell(mid[k]) for k in [*names, "floor", "library"]) + " " + cell(goal) + "   " + cell(part)
              + "  " + " ".join(cell(x, 13) for x in ratio))
        sys.stdout.flush()


def figures(all_of, what, n, rounds):
    """A row a figure that the program prints of itself; how many Keel gave."""
    got = {}
    for c in turns(all_of, rounds):
        for metric, value in c.measure(n, what).items():
            got.setdefault("wall:" + what + "@" + str(n) if metric.startswith("wall") else metric, {}).setdefault(c.name, []).append(value)
    for metric, row in got.items():
        print(f"{metric:>20} " + " ".join(cell(median(row.get(c.name))) for c in all_of))
    sys.stdout.flush()
    return sum("keel" in row for row in got.values())


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--limit", type=float, default=60)
    p.add_argument("--ranks", default="1,2,16,64,256,1024")
    args = p.parse_args()
    counts = [int(n) for n in args.ranks.split(",")]
    with tempfile.TemporaryDirectory() as tmp:
        subprocess.run(["cc", "-O2", "-o", f"{tmp}/floor", f"{TOP}/tests/perf/startup_floor.c"], check=True)
        subprocess.run(["cc", "-O2", "-DNO_MPI", "-o", f"{tmp}/none", SOURCE], check=True)
        all_of = [Contestant(library, tmp, args.limit) for library in libraries()]
        with open(f"{tmp}/unused.c", "w") as f:
            f.write(UNUSED)
        subprocess.run([all_of[0].mpicc, "-O2", "-o", f"{tmp}/unused", f"{tmp}/unused.c"], check=True)
        walls(all_of, counts, args.rounds, tmp)
        print(f"\n{'KB, us, ms':>20} " + " ".join(f"{c.name:>9}" for c in all_of))
        came = figures(all_of, "init", 2, args.rounds)
        for n in MEMORY:
            came += figures(all_of, "memory", n, 1)
        came += figures(all_of, "alltoall", max(counts), 1)
    return 0 if came else 1


if __name__ == "__main__":
    sys.exit(main())
