#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Messages over TCP on loopback: Keel's ch_tcp, the installed peers over TCP, and two bare sockets that spin (tcp_raw.c).

  tcp.py [--rounds N] [--sizes 8,1024,...] [--time S]
All take turns; medians of the rounds.  vs raw: the median of the rounds' ratios, above 1: slower (latency), or faster (bandwidth)
than bare sockets.  Goals: latency of 8 bytes at most 1.15 of raw, bandwidth at 1 MB at least 0.97 of raw, both better than the peers'.
MPICC and MPIEXEC (or _install) are Keel.  Nothing here fails on a time."""
import argparse
import os
import subprocess
import tempfile

from compare import TOP, beside_bare, build_bench, libraries, rows_of, run_within, turns

TESTS = ("latency", "bandwidth")


def over_tcp(lib):
    """The library's command and environment so that its messages go over TCP on loopback; None: it cannot be made to."""
    name, mpicc, mpiexec, env = lib
    bind = ["-bind-to", "core"] if name == "keel" else ["--bind-to", "core"]
    if name == "keel":
        env = {**env, "KEEL_DEVICES": "self,tcp"}
    elif name == "openmpi":
        bind += ["--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo"]
    elif name == "mpich":  # ch4:ofi with libfabric's tcp, or ch4:ucx with UCX's; its own shared memory is switched off
        env = {**env, "MPIR_CVAR_NOLOCAL": "1", "FI_PROVIDER": "tcp", "FI_TCP_IFACE": "lo",
               "UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "lo"}
    return name, mpicc, [*mpiexec, *bind], env


def measured(lib, program, sizes, time, limit):
    """{(test, n): value} of one run."""
    command = [*lib[2], "-n", "2", program, "-f", "csv", "-t", str(time), "-s", ",".join(map(str, sizes)), *TESTS]
    return {(row["test"], int(row["n"])): float(row["value"]) for row in rows_of(run_within(limit, command, lib[3])[0])}


def raw(program, sizes, limit):
    out = run_within(limit, [program, *map(str, sizes)], {})[0]
    return {(f[0], int(f[1])): float(f[2]) for f in (line.split() for line in out.splitlines()) if len(f) == 3}


def rounds_of(args, folder):
    """{name: [{(test, n): value} of each round]}"""
    libs = [over_tcp(lib) for lib in libraries()]
    programs = build_bench(libs, folder)
    bare = os.path.join(folder, "tcp_raw")
    subprocess.run(["cc", "-O2", "-o", bare, f"{TOP}/tests/perf/tcp_raw.c"], check=True)
    sizes = [int(s) for s in args.sizes.split(",")]
    results = {name: [] for name in ["raw", *(lib[0] for lib in libs)]}
    for r in range(args.rounds):
        for lib in turns([None, *libs], r):
            results[lib[0] if lib else "raw"].append(
                measured(lib, programs[lib[0]], sizes, args.time, args.limit) if lib else raw(bare, sizes, args.limit))
    return results, sizes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sizes", default="8,1024,16384,65536,131072,1048576,4194304")
    parser.add_argument("--time", type=float, default=0.1, help="seconds for each point of mpi_bench")
    parser.add_argument("--limit", type=float, default=60, help="seconds for a run")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tcp") as folder:
        results, sizes = rounds_of(args, folder)
        beside_bare(results, [(test, n, unit) for test, unit in zip(TESTS, ("us", "MB/s")) for n in sizes], "raw")


if __name__ == "__main__":
    main()
