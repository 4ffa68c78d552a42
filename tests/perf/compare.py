#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Keel beside the installed peers: mpi_bench compiled with each, run alternately, medians of ratios with their spread.

  compare.py [--rounds N] [--time S] [--limit S] [--only WORD,...] [--json FILE] [--report FILE.html]
  compare.py [--ranks 2,8] [...] -- ARGUMENT...         any tests and options of mpi_bench
Uses MPICC and MPIEXEC from the environment (or _install).  Without arguments: the rows of SETS, all or those whose name contains a word.
A ratio above 1 means Keel is better; in brackets the quartiles of the rounds.  A run that takes longer than the limit counts as far
as it came (where ranks outnumber cores a peer may be a thousand times slower).  Above each set stands how long a line takes from core to
core at its beginning and end (floor.c).  Machines are shared: the figures are for people; nothing here ever fails on a time."""
import argparse
import collections
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
import time
import uuid

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(TOP, "tests", "faults"))
from marked import marked
COLLECTIVES = ["-s", "8,1K,64K,1M"]
# Name, ranks, arguments of mpi_bench.
SETS = [
    ("messages", 2, ["-s", "0,8,48,1K,4K,64K,1M,4M", "latency", "latency_any", "exchange", "rate"]),
    ("bandwidth", 2, ["-s", "1K,4K,16K,64K,256K,1M,4M", "bandwidth", "bandwidth_both"]),
    ("pairs", 4, ["-s", "8,4K,64K,1M", "*_pairs"]),
    ("matching", 2, ["-d", "1,10,100,1000,10000", "matching"]),
    ("overlap", 2, ["-s", "8,64K,1M", "overlap"]),
    *((f"collectives@{ranks}", ranks, [*COLLECTIVES, group]) for ranks in (2, 4, 8) for group in ("collective", "nonblocking", "persistent")),
    ("collectives@16", 16, ["-s", "8,64K", "barrier", "bcast", "allreduce", "alltoall"]),
]
Metric = collections.namedtuple("Metric", "test n ranks unit better group by")


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


def run_within(limit, command, env, folder=None):
    """(what it printed, did it end well?), in this folder.  What takes longer is ended, every process of it, and its files in /dev/shm are
    removed."""
    before, run = set(os.listdir("/dev/shm")), uuid.uuid4().hex
    p = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True,
                         cwd=folder, env={**os.environ, **env, "COMPARE_RUN": run})
    try:
        return p.communicate(timeout=limit)[0], p.returncode == 0
    except subprocess.TimeoutExpired:
        pass
    os.killpg(p.pid, signal.SIGTERM)
    try:
        p.wait(timeout=5)
    except subprocess.TimeoutExpired:
        pass
    for pid, _ in marked("COMPARE_RUN=" + run):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    try:
        out = p.communicate(timeout=5)[0]
    except subprocess.TimeoutExpired:
        out = ""
    for name in set(os.listdir("/dev/shm")) - before:
        if name.startswith(LEFT):
            os.unlink(f"/dev/shm/{name}")
    return out, False


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


def rows_of(out):
    """The rows of CSV that mpi_bench and floor print; the last one may be cut."""
    return [row for row in csv.DictReader(out.splitlines()) if row.get("blocks")]


def figures(out):
    return {(row["test"], int(row["n"])): float(row["value"]) for row in rows_of(out)}


def bench(lib, program, ranks, limit, *args):
    """The CSV of a run of mpi_bench, as far as it came in the time."""
    return run_within(limit, command(lib, program, ranks, "-f", "csv", *args), lib[3])[0]


def build_floor(folder, source="floor.c"):
    program = os.path.join(folder, "floor")
    subprocess.run(["cc", "-O2", "-w", "-o", program, f"{TOP}/tests/perf/{source}"], check=True)
    return program


def floor(program, *what):
    """{(test, n): value}; {} where it cannot run."""
    return figures(run_within(60, [program, *what], {})[0])


def turns(contestants, r):
    """Who goes first changes from round to round."""
    return contestants[r % len(contestants):] + contestants[:r % len(contestants)]


def command(lib, program, ranks, *args):
    """That starts the benchmark; a rank has a core of its own where there are as many."""
    name, _, mpiexec, _ = lib
    bind = ["--bind-to", "core"] if ranks <= (os.cpu_count() or 1) and name != "keel" else []
    return [*mpiexec, *bind, "-n", str(ranks), program, *(str(a) for a in args)]


def in_rounds(libs, programs, rounds, limit, ranks, *args):
    """{Metric: {name: [value of each round, None where it did not come]}}: the libraries take turns."""
    results = {}
    for r in range(rounds):
        for lib in turns(libs, r):
            for row in rows_of(bench(lib, programs[lib[0]], ranks, limit, *args)):
                metric = Metric(row["test"], int(row["n"]), ranks, row["unit"], row["better"], row["group"], row["by"])
                results.setdefault(metric, {}).setdefault(lib[0], [None] * rounds)[r] = float(row["value"])
    return results


def median_of(values):
    """Of those that are there; None if none is."""
    there = [v for v in values or [] if v is not None]
    return statistics.median(there) if there else None


def median_ratio(over, under):
    """Of over/under of the same rounds; None if there is none."""
    return median_of([o / u for o, u in zip(over or [], under or []) if o is not None and u])


def beside_bare(results, rows, bare):
    """Rows of (what, bytes, unit): medians, and the median of each round's ratio to what `bare` did in it."""
    names = [name for name in results if any(results[name])]
    print(f"{'':10} {'bytes':>8} {'':5}" + "".join(f"{n:>10}" for n in names) + "".join(f"{n + '/' + bare:>14}" for n in names[1:]))
    for what, n, unit in rows:
        values = {name: [one.get((what, n)) for one in results[name]] for name in names}
        cells = "".join(f"{median_of(values[name]) or float('nan'):10.4g}" for name in names)
        ratios = [median_ratio(values[name], values[bare]) if bare in names else None for name in names[1:]]
        print(f"{what:10} {n:8} {unit:5}{cells}" + "".join(f"{ratio or float('nan'):14.3f}" for ratio in ratios), flush=True)


def cell(value, width):
    return f"{value:{width}.4g}" if value is not None else f"{'-':>{width}}"


def spread(ratios):
    """(the median, how it is written with the quartiles)"""
    there = sorted(x for x in ratios if x is not None)
    if not there:
        return None, "-"
    q = statistics.quantiles(there, n=4, method="inclusive") if len(there) > 1 else there * 3
    return q[1], f"{q[1]:.3g} [{q[0]:.3g} {q[2]:.3g}]"


def gains(metric, row, names):
    """How much better Keel is than the best of these, a round each."""
    found = []
    for r, keel in enumerate(row.get("keel", [])):
        there = [row[n][r] for n in names if n in row and row[n][r] is not None]
        if metric.better == "more":
            found.append(keel / max(there) if there and keel is not None and max(there) else None)
        else:
            found.append(min(there) / keel if there and keel else None)
    return found


def table(results, names):
    """Prints the rows; [(ratio, metric)] where Keel is behind the best peer."""
    behind = []
    print(f"{'':32} {'n':>8} {'':5} " + " ".join(f"{n:>10}" for n in names) + "   " + f"{'vs best':24}" + " ".join(f"vs {n:20}" for n in names[1:]))
    for metric, row in results.items():
        best, text = spread(gains(metric, row, names[1:]))
        print(f"{metric.test:32} {metric.n:>8} {metric.unit:5} " + " ".join(cell(median_of(row.get(n)), 10) for n in names) + f"   {text:24}"
              + " ".join(f"{spread(gains(metric, row, [n]))[1]:23}" for n in names[1:]))
        if best is not None and best < 1:
            behind.append((best, f"{metric.test}_{metric.n}"))
    sys.stdout.flush()
    return behind


def about(program, lib):
    """What the library calls itself; {test: what it is}."""
    version = run_within(20, command(lib, program, 1, "-V"), lib[3])[0]
    tests = (row.split(None, 3) for row in run_within(20, command(lib, program, 1, "-l"), lib[3])[0].splitlines())
    return (version.splitlines() or [""])[0].replace("\t", " "), {row[1]: row[3] for row in tests if len(row) == 4}


def as_run(name, library, tests, results):
    """What mpi_bench --format json would have written: medians of the rounds, their least and most."""
    rows = [{"test": m.test, "group": m.group, "ranks": m.ranks, "by": m.by, "n": m.n, "value": median_of(there), "unit": m.unit, "better": m.better,
             "least": min(there), "most": max(there), "blocks": len(there)}
            for m, there in ((m, [v for v in row.get(name, []) if v is not None]) for m, row in results.items()) if there]
    return {"program": "mpi_bench", "label": name, "library": library, "host": os.uname().nodename, "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "ranks": ", ".join(str(r) for r in sorted({m.ranks for m in results})), "about": tests, "results": rows}


def write_report(path, libs, programs, results, folder):
    runs = {lib[0]: about(programs[lib[0]], lib) for lib in libs}
    runs["floor"] = "the machine with no library (floor.c)", {}
    for name, (library, tests) in runs.items():
        with open(os.path.join(folder, name + ".json"), "w") as f:
            json.dump(as_run(name, library, tests, results), f)
    report = f"{TOP}/src/tools/mpi_bench/mpi_bench_report"
    files = [os.path.join(folder, name + ".json") for name in runs]
    subprocess.run([sys.executable, report, "-t", "Keel and its peers", "-o", path, *files], check=True)


def with_floor(results, got):
    """What the machine can do, beside the libraries."""
    as_test = {("line", 0): ("latency", 8), **{("pingpong", n): ("latency", n) for _, n in got}, **{("copy", n): ("bandwidth", n) for _, n in got}}
    for what, value in got.items():
        for metric, row in results.items():
            if as_test.get(what) == (metric.test, metric.n):
                row["floor"] = [value]


def line(program):
    ns = floor(program, "line").get(("line", 0))
    return f"{ns * 1000:.0f}" if ns else "?"


def sets(args):
    if args.arguments:
        return [("mpi_bench", int(n), args.arguments) for n in args.ranks.split(",")]
    words = args.only.split(",")
    return [row for row in SETS if any(word in row[0] for word in words)]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--time", type=float, default=0.02)
    p.add_argument("--limit", type=float, default=20)
    p.add_argument("--only", default="")
    p.add_argument("--ranks", default="2")
    p.add_argument("--json")
    p.add_argument("--report")
    p.add_argument("arguments", nargs="*")
    args = p.parse_args()
    libs, everything = libraries(), {}
    names = [lib[0] for lib in libs]
    with tempfile.TemporaryDirectory() as tmp:
        programs, probe = build_bench(libs, tmp), build_floor(tmp)
        for name, ranks, arguments in sets(args):
            before = line(probe)
            results = in_rounds(libs, programs, args.rounds, args.limit, ranks, "-t", args.time, *arguments)
            print(f"\n# {name}, {ranks} ranks, {args.rounds} rounds: a line takes {before} ns before, {line(probe)} ns after")
            behind = table(results, names)
            print(f"# {name}: behind: " + (", ".join(f"{m} {r:.2f}" for r, m in sorted(behind)) or "none"))
            everything.update(results)
        if args.report:
            with_floor(everything, floor(probe))
            write_report(args.report, libs, programs, everything, tmp)
    if args.json:
        json.dump([{**m._asdict(), **row} for m, row in everything.items()], open(args.json, "w"), indent=1)
    return 0 if any("keel" in row for row in everything.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
