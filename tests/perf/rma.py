#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One-sided calls within a node (rma.c): Keel beside the installed peers, in turns; medians of the rounds, and ratios below 1 where Keel
is faster.  Behind them what the machine takes for the same with no library (floor.c), and Keel's ratio to that.

  rma.py [--rounds N] [--seconds S] [--ranks N] [--nodes N]
  rma.py --tcp [--rounds N] [--seconds S]
--tcp: Keel alone, over TCP on loopback, beside bare sockets (tcp_raw.c): a put of 8 bytes and its flush over a round trip, 1 MB over what a
stream of 1 MB takes.
--nodes: Keel's ranks are on so many simulated nodes (the peers' stay on one).  A peer that takes too long has no figures."""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile

from compare import TOP, build, build_floor, cell, command, floor, libraries, printed, run_within, turns
from tcp import over_tcp, raw

LIMIT = 60
# What the metrics of one access and its flush have as floor.
FLOORS = {"put_8": "store", "fetch_and_op": "update"}


def beside_sockets(rounds, seconds):
    """Of windows whose targets are accessed by messages."""
    name, _, mpiexec, env = over_tcp(libraries()[0])
    seen = {}
    with tempfile.TemporaryDirectory() as tmp:
        program, sockets = build(libraries()[:1], "rma.c", tmp)[name], os.path.join(tmp, "raw")
        subprocess.run(["cc", "-O2", "-w", "-o", sockets, f"{TOP}/tests/perf/tcp_raw.c"], check=True)
        for k in range(rounds):
            for step in ("raw", "keel") if k % 2 else ("keel", "raw"):
                if step == "raw":
                    found = raw(sockets, [8, 1 << 20], LIMIT)
                    values = {"8": 2000 * found["latency", 8], "1M": 1e9 * (1 << 20) / (1e6 * found["bandwidth", 1 << 20])}
                else:
                    values = printed(run_within(LIMIT, [*mpiexec, "-n", "2", program, str(seconds)], env)[0])
                for metric, value in values.items():
                    seen.setdefault((step, metric), []).append(value)
    for metric, floor in (("created_put_8", "8"), ("created_get_8", "8"), ("created_fetch_and_op", "8"), ("created_put_1M", "1M")):
        ours, bare = seen.get(("keel", metric), []), seen[("raw", floor)]
        print(f"{metric:32} {cell(statistics.median(ours), 11)} ns, sockets {cell(statistics.median(bare), 11)} ns: "
              f"{statistics.median(a / b for a, b in zip(ours, bare)):.3f}")
    return 0


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--seconds", type=float, default=0.05)
    p.add_argument("--ranks", type=int, default=2)
    p.add_argument("--nodes", type=int, default=1)
    p.add_argument("--tcp", action="store_true")
    args = p.parse_args()
    if args.tcp:
        return beside_sockets(args.rounds, args.seconds)
    libs, seen = libraries(), {}
    with tempfile.TemporaryDirectory() as tmp:
        programs, bare = build(libs, "rma.c", tmp), build_floor(tmp)
        for k in range(args.rounds):
            for lib in turns(libs, k):
                name, mpicc, mpiexec, env = lib
                nodes = ["-fake-nodes", str(args.nodes)] if name == "keel" and args.nodes > 1 else []
                out, _ = run_within(LIMIT, command((name, mpicc, [*mpiexec, *nodes], env), programs[name], args.ranks, args.seconds), env)
                for metric, value in printed(out).items():
                    seen.setdefault(metric, {}).setdefault(name, []).append(value)
            least = floor(bare, *FLOORS.values())
            for metric, test in FLOORS.items():
                if (test, 8) in least:
                    seen.setdefault(metric, {}).setdefault("floor", []).append(1000 * least[test, 8])
    names = [lib[0] for lib in libs] + ["floor"]
    print(f"{'ns':32} " + " ".join(f"{n:>11}" for n in names) + " " + " ".join(f"{'/' + n:>9}" for n in names[1:]))
    for metric, row in seen.items():
        mid = {n: statistics.median(v) for n, v in row.items()}
        print(f"{metric:32} " + " ".join(cell(mid.get(n), 11) for n in names) + " "
              + " ".join(cell(mid["keel"] / mid[n] if n in mid and "keel" in mid else None, 9) for n in names[1:]))
    return 0 if any("keel" in row for row in seen.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
