#!/usr/bin/env python3
"""Keel beside the installed peers: the same benchmark source compiled with each, run alternately, medians of ratios.

  compare.py [--rounds N] [--seconds S] [--only WORD] [--json FILE]
Uses MPICC and MPIEXEC from the environment (or _install).  A ratio above 1 means Keel is better.  Machines are shared:
the figures are for people; nothing here ever fails on a time."""
import argparse
import csv
import glob
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SETS = [("latency", 2), ("bandwidth", 2), ("rate", 2), ("collective", 2), ("collective", 8), ("collective", 16)]


def libraries():
    """(name, mpicc, mpiexec command, environment) of Keel and of each peer that is installed."""
    keel = os.path.join(TOP, "_install", "bin")
    found = [("keel", os.environ.get("MPICC", keel + "/mpicc"), [os.environ.get("MPIEXEC", keel + "/mpiexec")], {})]
    if shutil.which("mpicc.mpich"):
        found.append(("mpich", "mpicc.mpich", ["mpiexec.mpich"], {}))
    if shutil.which("mpicc.openmpi"):
        found.append(("openmpi", "mpicc.openmpi", ["mpiexec.openmpi", "--oversubscribe"],
                      {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}))
    return found


# Files in /dev/shm of peers; they stay there when their job is ended.
LEFT = ("vader_segment.", "ucx_shm_", "mpich_shar_")


def run_within(limit, command, env):
    """(what it printed, did it end well?).  What takes longer is ended, and its files in /dev/shm are removed."""
    before = set(os.listdir("/dev/shm"))
    p = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True,
                         env={**os.environ, **env})
    try:
        return p.communicate(timeout=limit)[0], p.returncode == 0
    except subprocess.TimeoutExpired:
        pass
    out = None
    for sig in signal.SIGTERM, signal.SIGKILL:
        try:
            os.killpg(p.pid, sig)
            out = p.communicate(timeout=5)[0]
            break
        except (subprocess.TimeoutExpired, ProcessLookupError):
            pass
    for name in set(os.listdir("/dev/shm")) - before:
        if name.startswith(LEFT):
            os.unlink(f"/dev/shm/{name}")
    return out or "", False


def printed(out):
    """{metric: value} of what a benchmark printed."""
    return {f[0]: float(f[1]) for f in (row.split() for row in out.splitlines()) if len(f) == 3}


def build(libs, source, folder):
    """{name: program}: the source of this folder compiled with each library's compiler."""
    programs = {lib[0]: os.path.join(folder, lib[0]) for lib in libs}
    for lib in libs:
        subprocess.run([lib[1], "-O2", "-w", "-o", programs[lib[0]], os.path.join(TOP, "tests", "perf", source)], check=True)
    return programs


def build_bench(libs, folder):
    """{name: mpi_bench}, compiled with each library's compiler."""
    programs = {lib[0]: os.path.join(folder, "mpi_bench." + lib[0]) for lib in libs}
    for lib in libs:
        subprocess.run([lib[1], "-O2", "-w", "-o", programs[lib[0]], *sorted(glob.glob(f"{TOP}/src/tools/mpi_bench/*.c"))], check=True)
    return programs


def figures(out):
    """{(test, n): value} of the CSV of mpi_bench and floor; the last row may be cut."""
    return {(row["test"], int(row["n"])): float(row["value"]) for row in csv.DictReader(out.splitlines()) if row.get("blocks")}


def bench(lib, program, ranks, limit, *args):
    """{(test, n): value} of a run of mpi_bench, as far as it came in the time."""
    return figures(run_within(limit, command(lib, program, ranks, "-f", "csv", *args), lib[3])[0])


def turns(contestants, r):
    """Who goes first changes from round to round."""
    return contestants[r % len(contestants):] + contestants[:r % len(contestants)]


def command(lib, program, ranks, *args):
    """That starts the benchmark; a rank has a core of its own where there are as many."""
    name, _, mpiexec, _ = lib
    bind = ["--bind-to", "core"] if ranks <= (os.cpu_count() or 1) and name != "keel" else []
    return [*mpiexec, *bind, "-n", str(ranks), program, *(str(a) for a in args)]


def in_rounds(libs, programs, rounds, limit, ranks, *args):
    """{metric: {name: [value of each round, None where it did not come]}}: the libraries take turns."""
    results = {}
    for r in range(rounds):
        for lib in turns(libs, r):
            out, _ = run_within(limit, command(lib, programs[lib[0]], ranks, *args), lib[3])
            for metric, value in printed(out).items():
                results.setdefault(metric, {}).setdefault(lib[0], [None] * rounds)[r] = value
    return results


def median_of(values):
    """Of those that are there; None if none is."""
    there = [v for v in values or [] if v is not None]
    return statistics.median(there) if there else None


def median_ratio(over, under):
    """Of over/under of the same rounds; None if there is none."""
    return median_of([o / u for o, u in zip(over or [], under or []) if o is not None and u])


def cell(value, width):
    return f"{value:{width}.4g}" if value is not None else f"{'-':>{width}}"


def measure(lib, program, what, ranks, seconds):
    """{metric: (value, unit)} of one run, {} if it failed or took too long."""
    out, well = run_within(120, command(lib, program, ranks, what, seconds), lib[3])
    return {f[0]: (float(f[1]), f[2]) for f in (row.split() for row in out.splitlines()) if len(f) == 3} if well else {}


def ratio(unit, keel, peer):
    return keel / peer if unit in ("MB/s", "M/s") else peer / keel


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--seconds", type=float, default=0.1)
    p.add_argument("--only", default="")
    p.add_argument("--json")
    args = p.parse_args()
    libs, results = libraries(), {}
    with tempfile.TemporaryDirectory() as tmp:
        programs = build(libs, "bench.c", tmp)
        for what, ranks in SETS:
            if args.only not in f"{what}@{ranks}":
                continue
            for r in range(args.rounds):
                for lib in turns(libs, r):
                    for metric, (value, unit) in measure(lib, programs[lib[0]], what, ranks, args.seconds).items():
                        results.setdefault(metric, {"unit": unit}).setdefault(lib[0], []).append(value)
    names = [lib[0] for lib in libs]
    print(f"{'metric':22} {'unit':5} " + " ".join(f"{n:>10}" for n in names) + "   "
          + " ".join(f"vs {n:>8}" for n in names[1:]) + "   (medians; above 1: Keel is better)")
    missing = 0
    for metric, row in results.items():
        mid = {n: statistics.median(row[n]) for n in names if n in row}
        missing += "keel" not in mid
        cells = " ".join(f"{mid[n]:10.4g}" if n in mid else f"{'-':>10}" for n in names)
        ratios = []
        for n in names[1:]:
            pairs = [ratio(row["unit"], k, q) for k, q in zip(row.get("keel", []), row.get(n, []))]
            ratios.append(f"{statistics.median(pairs):11.2f}" if pairs else f"{'-':>11}")
        print(f"{metric:22} {row['unit']:5} {cells}   {' '.join(ratios)}")
    if args.json:
        json.dump(results, open(args.json, "w"), indent=1)
    return 1 if missing or not results else 0


if __name__ == "__main__":
    sys.exit(main())
