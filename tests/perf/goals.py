#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What Keel's messages and collectives within a node are to reach: Keel, the installed peers and the floor of the machine.

  goals.py [--rounds N] [--only PIECE,...] [--time S] [--limit S] [--seconds S] [--store FILE] [--fast FROM,BELOW]
Uses MPICC and MPIEXEC from the environment (or _install).  The libraries take turns; before and after each run it is measured how long a
line takes from core to core (floor.c).  Rounds in which that is not always within --fast (ns) are reported apart: the cores of a virtual
machine may share a cache or lie far from each other, and that may change at any time; a piece gets up to twice the rounds until enough
are fast.  A ratio is Keel's figure over that of the best peer of the same round, or over the floor's: the median of the rounds, in
brackets the quartiles.  "required": that value is reached, the goal is not; "MISSED": nor that.
--only: pieces of the table, with names as --list prints them.  --seconds: no further round begins after this time.  --store: rounds are
added to those in the file, and the table is that of all; with --rounds 0 it is printed alone.  Nothing here fails on a time."""
import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass

from compare import bench, build_bench, build_floor, cell, figures, floor, libraries, median_of, spread, turns

K, M = 1 << 10, 1 << 20


@dataclass
class Goal:
    """A row: Keel's figure over the best peer's, and over the floor's.  at most: of a time; at least: of a rate."""
    what: str
    test: str
    n: int
    goal: float = None  # of the ratio to the best peer
    required: float = None
    rate: bool = False
    floor: str = None  # a name of FLOORS
    floor_goal: float = None
    of: str = None  # instead of peers: another test of Keel
    unit: str = "us"


# What the floor of a figure of n bytes is, from the figures of floor.c.
FLOORS = {
    "line": lambda f, n: f.get(("line", 0)),
    "2 lines + 40 ns": lambda f, n: 2 * f["line", 0] + 0.04 if ("line", 0) in f else None,
    "ping-pong": lambda f, n: f.get(("pingpong", n)),
    "copy": lambda f, n: f.get(("copy", n)),
    "time of copy": lambda f, n: n / f["copy", n] if ("copy", n) in f else None,
    "exchange": lambda f, n: f.get(("exchange", n)),
    # 8 ranks on two cores, which share the work: copies to 7 others; 7 operands combined, 7 results copied.
    "3.5 copies": lambda f, n: 3.5 * n / f["copy", n] if ("copy", n) in f else None,
    "7 copies": lambda f, n: 7 * n / f["copy", n] if ("copy", n) in f else None,
}

LATENCY = ([Goal("half round trip", "latency", n, 0.6, 0.75, floor="line", floor_goal=2) for n in (0, 8, 48)]
           + [Goal("half round trip", "latency", n, 0.6, 0.75) for n in (K, 4 * K)]
           + [Goal("half round trip", "latency", n, 0.35, 0.5, floor="ping-pong", floor_goal=1.3) for n in (64 * K, M)])
BANDWIDTH = [Goal("bandwidth", "bandwidth", n, 3, 2.5, rate=True, floor="copy", floor_goal=0.75, unit="MB/s")
             for n in (16 * K, 64 * K, 256 * K, M, 4 * M)]
APART = [Goal("bandwidth, each message its own memory", "bandwidth_apart", n, rate=True, unit="MB/s") for n in (64 * K, 256 * K, M, 4 * M)]
RATE = [Goal("messages a second, window 64", "rate", 8, 2.5, 1.5, rate=True, unit="M/s")]
MATCHING = [Goal("match at depth 1,000", test, 1000, 0.1, unit="ns")
            for test in ("posted_reverse", "posted_any_reverse", "posted_wild", "unexpected_reverse", "unexpected_any_reverse")]
FLAT = [Goal("depth 100,000 over 100", test, 100000, 2, of="100", unit="ns")
        for test in ("posted", "posted_reverse", "posted_any", "posted_any_reverse", "posted_wild", "unexpected", "unexpected_reverse",
                     "unexpected_any", "unexpected_any_reverse")]
# 5% is what such a comparison of one library with itself is sure to.  The plain form is the one that takes the same steps: a ready send
# needs a receive that stands, MPI_Start a wait.  What MPI_Send and MPI_Recv take is there to compare with.
FORMS = ([Goal("over the plain form", test, n, 1.05, of=of) for n in (8, 4 * K, 64 * K)
          for test, of in (("latency_ready", "latency_standing"), ("latency_persistent", "latency_nonblocking"))]
         + [Goal("over MPI_Send and MPI_Recv", test, n, of="latency") for n in (8, 4 * K, 64 * K)
            for test in ("latency_standing", "latency_nonblocking")]
         + [Goal("over the plain form", "part_whole", n, 1.05, of="latency_persistent") for n in (4 * K, 64 * K)]
         + [Goal("over the plain form", "rate_persistent", 8, 0.95, rate=True, of="rate", unit="M/s"),
            Goal("beside a thread, over without", "rate_threads", 8, 0.98, rate=True, of="rate", unit="M/s")])


def collectives(small, large, larger, fast):
    """The rows of collectives; the arguments: goal and required value by kind."""
    floors = [dict(floor="2 lines + 40 ns", floor_goal=1), dict(floor="time of copy", floor_goal=1.3)] if fast else [{}, {}]
    return ([Goal("barrier", "barrier", 0, *small, **floors[0]), Goal("allreduce", "allreduce", 8, *small, **floors[0])]
            + [Goal("allreduce", "allreduce", n, *large) for n in (64 * K, M)]
            + [Goal("broadcast", "bcast", M, *large, **floors[1])]
            + [Goal(test, test, M, *larger) for test in ("alltoall", "allgather", "reduce_scatter")])


# What took more than half of the best peer's time when it was first looked at.
BEHIND_2 = ([Goal("half round trip", "latency", n, 0.5, floor="ping-pong", floor_goal=1.3) for n in (256, 256 * K, M)]
            + [Goal("barrier", "barrier", 0, 0.5, floor="line", floor_goal=2), Goal("allreduce", "allreduce", 8, 0.5, floor="2 lines + 40 ns", floor_goal=1),
               Goal("allgather", "allgather", 8, 0.5, floor="2 lines + 40 ns", floor_goal=1),
               # Each sends a block and gets one, as in half of a ping-pong that both begin.
               Goal("alltoall", "alltoall", K, 0.5, floor="ping-pong", floor_goal=1.3)])
BEHIND_8 = [Goal("alltoall", "alltoall", K, 0.5), Goal("alltoall", "alltoall", M, 0.5, floor="exchange", floor_goal=1.3),
            Goal("allreduce", "allreduce", M, 0.5, floor="7 copies", floor_goal=1.3), Goal("broadcast", "bcast", M, 0.5, floor="3.5 copies", floor_goal=1.3)]
# Where the peers of 2026 are nearest (MPICH 5.0.2, Open MPI 6.0.0rc2): what takes little more than lines that cross between cores.
NEAREST = ([Goal("half round trip", "latency", 256, 0.5, floor="ping-pong", floor_goal=1.3)]
           + [Goal("bandwidth", "bandwidth", n, 2, rate=True, floor="copy", floor_goal=0.75, unit="MB/s") for n in (K, 4 * K)]
           + [Goal(test, test, 8, 0.5, floor="2 lines + 40 ns", floor_goal=1) for test in ("allreduce", "allgather")])
AHEAD = (1, None)
# Name, ranks, rows, what floor.c measures for them.
PIECES = [
    ("latency", 2, LATENCY, ["pingpong"]),
    ("bandwidth", 2, BANDWIDTH, ["copy"]),
    ("apart", 2, APART, []),
    ("rate", 2, RATE, []),
    ("matching", 2, MATCHING, []),
    ("flat", 2, FLAT, []),
    ("forms", 2, FORMS, []),
    ("nearest", 2, NEAREST, ["copy", "pingpong"]),
    ("behind@2", 2, BEHIND_2, ["pingpong"]),
    ("behind@8", 8, BEHIND_8, ["copy", "exchange"]),
    ("collectives@2", 2, collectives((0.5, 0.75), (0.5, None), (2 / 3, None), True), ["copy"]),
    ("collectives@4", 4, collectives(AHEAD, AHEAD, AHEAD, False), []),
    ("collectives@8", 8, collectives(AHEAD, AHEAD, AHEAD, False), []),
]


def invocations(rows):
    """Arguments of mpi_bench: a run for each set of sizes."""
    sizes = {}
    for row in rows:
        for test in {row.test, row.of} - {None, "100"}:
            sizes.setdefault(test, set()).add(row.n)
            if row.of == "100":
                sizes[test].add(100)
    by_sizes = {}
    for test, numbers in sizes.items():
        by_sizes.setdefault(",".join(str(n) for n in sorted(numbers)), []).append(test)
    return [["-d" if rows[0].unit == "ns" else "-s", numbers, *tests] for numbers, tests in by_sizes.items()]


def state_of(lines, fast):
    """What the cores were to each other, by the ns of a line before, between and after the runs."""
    names = {"near" if x < fast[0] else "fast" if x < fast[1] else "slow" for x in lines}
    return names.pop() if len(names) == 1 else "mixed"


def line(programs):
    return floor(programs["floor"], "line").get(("line", 0), 1) * 1000


def one_round(libs, programs, piece, r, args):
    """The figures of one round: {"state": ..., "line": [before, ..., after], name: {"test n": value}}."""
    _, ranks, rows, floors = piece
    got = {"floor": floor(programs["floor"], *floors) if floors else {}}
    lines = [line(programs)]
    for lib in turns(libs, r):
        alone = all(row.of for row in rows) and lib[0] != "keel"
        got[lib[0]] = {}
        for call in [] if alone else invocations(rows):
            out = bench(lib, programs[lib[0]], ranks, args.limit * 2, "-t", args.time, "-L", args.limit, *call)
            got[lib[0]].update(figures(out))
        lines.append(line(programs))
    got["floor"]["line", 0] = statistics.median(lines) / 1000
    state = state_of(lines, args.fast)
    named = {name: {f"{test} {n}": value for (test, n), value in values.items()} for name, values in got.items()}
    return {"piece": piece[0], "state": state, "line": lines, **named}


def ratio_to_peers(row, got, peers):
    keel = got.get("keel", {})
    mine = keel.get(f"{row.test} {row.n}")
    if row.of:
        others = [keel.get(f"{row.test} 100" if row.of == "100" else f"{row.of} {row.n}")]
    else:
        others = [got.get(p, {}).get(f"{row.test} {row.n}") for p in peers]
    others = [x for x in others if x]
    return mine / (max(others) if row.rate else min(others)) if mine and others else None


def ratio_to_floor(row, got):
    mine = got.get("keel", {}).get(f"{row.test} {row.n}")
    values = {(test, int(n)): v for (test, n), v in ((name.split(), v) for name, v in got.get("floor", {}).items())}
    least = FLOORS[row.floor](values, row.n) if row.floor else None
    return mine / least if mine and least else None


def verdict(row, peers, floor_ratio):
    if row.goal is None and not row.floor:
        return ""
    def reached(value, bound):
        return bound is None or (value is not None and (value >= bound if row.rate else value <= bound))
    said = "reached" if reached(peers, row.goal) else "required" if row.required and reached(peers, row.required) else "missed"
    said = "MISSED" if said == "missed" and row.required else said
    return said + (", floor " + ("reached" if reached(floor_ratio, row.floor_goal) else "missed") if row.floor else "")


def bound(value, rate):
    return "-" if value is None else f"{'>=' if rate else '<='}{value:.3g}"


def print_rows(rows, rounds, names):
    for row in rows:
        of = {n: median_of([got.get(n, {}).get(f"{row.test} {row.n}") for got in rounds]) for n in names}
        peers, peers_text = spread([ratio_to_peers(row, got, names[1:]) for got in rounds])
        near, near_text = spread([ratio_to_floor(row, got) for got in rounds])
        label = f"{row.what} ({row.test})" if row.of or row.unit == "ns" else row.what
        goals = bound(row.goal, row.rate) + (f" ({bound(row.required, row.rate)})" if row.required else "")
        floor_goal = f"{bound(row.floor_goal, row.rate)} of {row.floor}" if row.floor else ""
        print(f"{label:46} {row.n:>8} {row.unit:4} " + " ".join(cell(of[n], 9) for n in names)
              + f"  {peers_text:24} {goals:16} {near_text:24} {floor_goal:26} {verdict(row, peers, near)}")


STATES = {"fast": "", "near": "the cores are nearer to each other than --fast says; ", "slow": "the cores are further from each other than --fast says; ",
          "mixed": "this changed within the round; "}


def table(stored, names):
    for state, said in STATES.items():
        of_state = [got for got in stored if got["state"] == state]
        if not of_state:
            continue
        lines = sorted(x for got in of_state for x in got["line"])
        print(f"\n== {state}: {said}a line takes {lines[0]:.0f} to {lines[-1]:.0f} ns, median {statistics.median(lines):.0f}")
        print(f"{'what':46} {'n':>8} {'':4} " + " ".join(f"{n:>9}" for n in names)
              + f"  {'over the best peer':24} {'goal (required)':16} {'over the floor':24} {'goal':26} ")
        for name, ranks, rows, _ in PIECES:
            rounds = [got for got in of_state if got["piece"] == name]
            if rounds:
                print(f"-- {name}: {ranks} ranks, {len(rounds)} rounds")
                print_rows(rows, rounds, names)
    sys.stdout.flush()


def settled(stored, piece):
    return sum(got["piece"] == piece[0] and got["state"] == "fast" for got in stored)


def measure(pieces, libs, stored, args):
    """Rounds until each piece has enough in which the cores share a cache, at most twice as many."""
    start = time.time()
    with tempfile.TemporaryDirectory() as tmp:
        programs = build_bench(libs, tmp)
        programs["floor"] = build_floor(tmp)
        for r in range(2 * args.rounds):
            for piece in (p for p in pieces if settled(stored, p) < args.rounds):
                if time.time() - start > args.seconds:
                    return
                got = one_round(libs, programs, piece, r, args)
                print(f"# round {r + 1}, {piece[0]}: a line takes " + ", ".join(f"{x:.0f}" for x in got["line"])
                      + f" ns: {got['state']}", file=sys.stderr, flush=True)
                stored.append(got)
                if args.store:
                    with open(args.store, "w") as f:
                        json.dump(stored, f)


def span(text):
    low, high = (float(x) for x in text.split(","))
    return low, high


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--only", default="")
    p.add_argument("--time", type=float, default=0.03)
    p.add_argument("--limit", type=float, default=8, help="seconds of one run of mpi_bench")
    p.add_argument("--seconds", type=float, default=1e9)
    p.add_argument("--store")
    p.add_argument("--fast", type=span, default=(40.0, 100.0), help="ns of a line: from, below")
    p.add_argument("--list", action="store_true")
    args = p.parse_args()
    if args.list:
        print("\n".join(f"{name:14} {ranks} ranks: " + ", ".join(dict.fromkeys(f"{row.test}" for row in rows)) for name, ranks, rows, _ in PIECES))
        return 0
    only = args.only.split(",") if args.only else []
    pieces = [piece for piece in PIECES if not only or any(word in piece[0] for word in only)]
    if not pieces:
        p.error(f"--only is {args.only}; expected names of --list")
    libs, stored = libraries(), []
    if args.store and os.path.exists(args.store):
        stored = json.load(open(args.store))
    measure(pieces, libs, stored, args)
    table(stored, [lib[0] for lib in libs])
    return 0 if any(got.get("keel") for got in stored) else 1


if __name__ == "__main__":
    sys.exit(main())
