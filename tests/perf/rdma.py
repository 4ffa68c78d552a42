#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Messages and one-sided calls over libfabric (tcp;ofi_rxm) and UCX (tcp) on loopback: Keel's ch_ofi and ch_ucx, the installed peers over the same
libraries, and the libraries alone: ofi_raw.c, and ucx_perftest where it is installed.  Over UCX there are two columns more: Keel with
KEEL_UCX_DEATHS=no ("blind"), as the peers use UCX; and active messages of ucx_perftest on endpoints that tell of deaths ("floor"), as Keel uses
it else.  Updates ("fadd", "cswap") are of 8 bytes: UCX's are what it emulates by messages, where Keel has its own.

  rdma.py [--rounds N] [--sizes 8,65536,...] [--time S] [--over ofi,ucx] [--best]
All take turns; medians of the rounds.  vs bare: the median of the rounds' ratios to the library alone; below 1: faster.  --best: the best of the
rounds in the place of medians, and ratios of these, for a machine whose cores are near each other in some rounds and far in others.  A peer that
does not run over a library has no column there.  The last line is what Keel adds to half a round trip of 8 bytes, in ns.  MPICC and MPIEXEC (or
_install) are Keel.  Nothing here fails on a time."""
import argparse
import os
import socket
import statistics
import subprocess
import tempfile
import time

from compare import TOP, beside_bare, build, build_bench, libraries, printed, rows_of, run_within, turns

PROVIDER = "tcp;ofi_rxm"
OFI = {"FI_PROVIDER": PROVIDER, "FI_TCP_IFACE": "lo"}
UCX = {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "lo"}
MCA = {"ofi": ["--mca", "pml", "cm", "--mca", "mtl", "ofi", "--mca", "mtl_ofi_provider_include", PROVIDER],
       "ucx": ["--mca", "pml", "ucx", "--mca", "pml_ucx_tls", "any", "--mca", "pml_ucx_devices", "any", "--mca", "osc", "ucx"]}
RMA = {"created_put_8": ("put", 8), "created_get_8": ("get", 8), "created_put_1M": ("put", 1 << 20), "created_get_1M": ("get", 1 << 20),
       "created_fetch_and_op": ("fadd", 8), "created_compare_and_swap": ("cswap", 8)}
UNITS = {"latency": "us", "bandwidth": "MB/s", "put": "us", "get": "us", "fadd": "us", "cswap": "us"}


def over(lib, library):
    """The library's command and environment for messages over ofi or ucx; None: it has no such."""
    name, mpicc, mpiexec, env = lib
    env = {**env, **(OFI if library == "ofi" else UCX)}
    if name == "keel":
        return name, mpicc, [*mpiexec, "-bind-to", "core"], {**env, "KEEL_DEVICES": "self," + library}
    if name == "openmpi":
        return name, mpicc, [*mpiexec, "--bind-to", "core", *MCA[library]], env
    built = subprocess.run(["mpichversion"], capture_output=True, text=True).stdout
    return (name, mpicc, [*mpiexec, "-bind-to", "core"], {**env, "MPIR_CVAR_NOLOCAL": "1"}) if "ch4:" + library in built else None


def blind(lib):
    return "blind", lib[1], lib[2], {**lib[3], "KEEL_UCX_DEATHS": "no"}


def measured(lib, bench, rma, sizes, args):
    """{(what, n): value} of one run of mpi_bench and rma.c."""
    one = lambda program, *words: run_within(args.limit, [*lib[2], "-n", "2", program, *words], lib[3])[0]
    rows = rows_of(one(bench, "-f", "csv", "-t", str(args.time), "-s", ",".join(map(str, sizes)), "latency", "bandwidth"))
    found = {(row["test"], int(row["n"])): float(row["value"]) for row in rows}
    found.update({RMA[what]: ns / 1000 for what, ns in printed(one(rma, str(args.time))).items() if what in RMA})
    return found


def bare_ofi(program, sizes, args):
    out = run_within(args.limit, [program, PROVIDER, *map(str, sizes)], OFI)[0]
    return {(f[0], int(f[1])): float(f[2]) for f in (line.split() for line in out.splitlines()) if len(f) == 3}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def perftest(test, size, args, *more):
    """The last row of ucx_perftest -v -f: iterations, then of latency and bandwidth the overall ones; [] where it does not run."""
    port, env = str(free_port()), {**os.environ, **UCX}
    n = max(20, min(5000, (256 << 20) // size // (8 if test.endswith("_bw") else 2)))
    server = subprocess.Popen(["ucx_perftest", "-c", "0", "-p", port], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(0.3)
        words = ["ucx_perftest", "127.0.0.1", "-c", "1", "-p", port, "-t", test, "-s", str(size), "-n", str(n), "-w", str(n // 10 + 1), "-f", "-v", *more]
        out = subprocess.run(words, env=env, capture_output=True, text=True, timeout=args.limit).stdout
        rows = [line.split(",") for line in map(str.strip, out.splitlines()) if line[:1].isdigit()]
        return [float(x) for x in rows[-1]] if rows else []
    except subprocess.TimeoutExpired:
        return []
    finally:
        server.kill()
        server.wait()


BARE = (("latency", "tag_lat"), ("bandwidth", "tag_bw"), ("get", "ucp_get"))
FLOOR = (("latency", "ucp_am_lat"), ("bandwidth", "ucp_am_bw"))
UPDATES = (("fadd", "ucp_fadd"), ("cswap", "ucp_cswap"))


def bare_ucx(sizes, args, tests=BARE, *more):
    """Its latency is that of half a round trip; a put's of one until the next may be, so puts are left out; a get's is of the whole."""
    found = {}
    for n, what, test in [(n, *one) for n in sizes for one in tests] + [(8, *one) for one in UPDATES]:
        row = perftest(test, n, args, *more)
        if len(row) >= 6:
            found[what, n] = 1.048576 * row[5] if what == "bandwidth" else row[3]
    return found


def rounds_of(args, library, folder):
    """{name: [{(what, n): value} of each round]}"""
    libs = [lib for lib in (over(lib, library) for lib in libraries()) if lib]
    benches, rmas = build_bench(libs, folder), build(libs, "rma.c", folder)
    sizes = [int(s) for s in args.sizes.split(",")]
    raw = os.path.join(folder, "ofi_raw")
    runs = {lib[0]: lambda lib=lib: measured(lib, benches[lib[0]], rmas[lib[0]], sizes, args) for lib in libs}
    if library == "ofi":
        subprocess.run(["cc", "-O2", "-o", raw, f"{TOP}/tests/perf/ofi_raw.c", "-lfabric"], check=True)
        runs = {"bare": lambda: bare_ofi(raw, sizes, args), **runs}
    else:
        runs = {"bare": lambda: bare_ucx(sizes, args), "floor": lambda: bare_ucx(sizes, args, FLOOR, "-e"), **runs,
                "blind": lambda: measured(blind(libs[0]), benches["keel"], rmas["keel"], sizes, args)}
    results = {name: [] for name in runs}
    for r in range(args.rounds):
        for name in turns(list(runs), r):
            results[name].append(runs[name]())
    return results


def best_of(results):
    """One round that has the best of all."""
    def best(rounds):
        rows = {row for one in rounds for row in one}
        return {row: (max if row[0] == "bandwidth" else min)(one[row] for one in rounds if row in one) for row in rows}
    return {name: [best(rounds)] for name, rounds in results.items()}


def table(results, library):
    rows = sorted({row for one in results["keel"] for row in one}, key=lambda row: (list(UNITS).index(row[0]), row[1]))
    print(f"# over {library}, load {os.getloadavg()[0]:.2f}")
    beside_bare(results, [(what, n, UNITS[what]) for what, n in rows], "bare")
    for bare in ("bare", "floor"):
        more = [1000 * (k["latency", 8] - b["latency", 8]) for k, b in zip(results["keel"], results.get(bare, []))
                if ("latency", 8) in k and ("latency", 8) in b]
        if more:
            print(f"half a round trip of 8 bytes: {statistics.median(more):.0f} ns more than \"{bare}\"", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sizes", default="8,65536,262144,1048576,4194304")
    parser.add_argument("--time", type=float, default=0.1, help="seconds for each point")
    parser.add_argument("--over", default="ofi,ucx")
    parser.add_argument("--best", action="store_true")
    parser.add_argument("--limit", type=float, default=60, help="seconds for a run")
    args = parser.parse_args()
    ran = 0
    for library in args.over.split(","):
        prefix = os.path.dirname(os.path.dirname(os.environ.get("MPIEXEC", f"{TOP}/_install/bin/mpiexec")))
        if not os.path.exists(f"{prefix}/lib/keel/ch_{library}.so"):
            print(f"ch_{library} is not built: its library is not installed")
            continue
        with tempfile.TemporaryDirectory(prefix="rdma") as folder:
            results = rounds_of(args, library, folder)
            table(best_of(results) if args.best else results, library)
            ran += 1
    return 0 if ran else 77


if __name__ == "__main__":
    raise SystemExit(main())
