#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Collectives over several hosts: Keel, Keel without its rows over nodes ("flat"), and the installed peers, in turns.

  hosts.py [--hosts 2,3,4] [--nets none,rate,delay] [--ranks N] [--rounds N] [--time S] [--limit S] [--sizes 8,1K,64K,1M] [--calls apart|row]
           [--congestion reno] [TEST...]
The hosts are network namespaces with an sshd each.  Nets: none (a bridge), rate (a bridge, 1 Gbit/s into and out of each host), delay (the relay,
250 us each way and 1 Gbit/s into each host).  Each host has one core of this machine, the same for all libraries.  --ranks: on each host.
--congestion: the kernel's control of TCP connections.  --calls: apart, each begun by all ranks at one time (the default); row, one after another, which makes a rate.  TEST: names of mpi_bench; without: all collectives.
A line: the median time of the rounds in us, then the median of the rounds' ratios of the better peer and of the flat rows to Keel: above 1 Keel is
ahead; then the time over that of bare sockets which move what must go from host to host ("floor", hosts_floor.c), of the tests that it has.  A run that
takes longer than the limit counts as far as it came.  Needs the rights to make network namespaces, and ssh.  Nothing here fails on a time."""
import argparse
import os
import subprocess
import sys
import tempfile

from compare import TOP, build_bench, build_floor, cell, gains, in_rounds, libraries, median_of, median_ratio, spread

sys.path.insert(0, os.path.join(TOP, "tests", "hosts"))
from net import Net, sh, why_not

SHAPES = ["barrier", "bcast", "gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw", "reduce",
          "allreduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan"]
FLAT = [name for name in SHAPES if name != "reduce_scatter_block"]  # as KEEL_COLL names them
NETS = {"none": {}, "rate": {}, "delay": {"delay": 0.25, "rate": 1000}}


def limit_rate(net):
    for i, name in enumerate(net.names, 1):
        for space, device in ((net.bridge, f"h{i}"), (name, "eth0")):
            sh("ip", "netns", "exec", space, "tc", "qdisc", "add", "dev", device, "root", "tbf", "rate", "1gbit", "burst", "128kb", "latency", "50ms")


def congestion(net, name):
    """Of all connections.  What most machines have, cubic, may not be chosen in a namespace, but reno may, and neither paces: with bbr messages wait
    for a timer."""
    for space in net.names:
        sh("ip", "netns", "exec", space, "sysctl", "-q", "-w", f"net.ipv4.tcp_congestion_control={name}")


def one_core_each(net):
    """Also of what the sshd will start."""
    cores = sorted(os.sched_getaffinity(0))
    for i in net.sshd:
        for pid in map(int, sh("ip", "netns", "pids", net.names[i - 1]).split()):
            if not (net.relay and pid == net.relay.process.pid):
                os.sched_setaffinity(pid, {cores[(i - 1) % len(cores)]})


def over(lib, net, per_host):
    """The library with the words that start its job on all hosts; ranks in blocks."""
    name, mpicc, mpiexec, env = lib
    hosts, device = [f"node{i}" for i in range(1, net.n + 1)], "relay0" if net.relay else "eth0"
    script = f"{net.tmp}/ssh"
    start = net.inside(1, "taskset", "-c", str(min(os.sched_getaffinity(0))))
    if name.startswith("keel"):
        words = [*start, *mpiexec, "-launcher-exec", script, "-hosts", ",".join(hosts), "-ppn", str(per_host)]
        return name, mpicc, words + (["-env", "KEEL_COLL", ",".join(f"{k}=flat" for k in FLAT)] if name == "keel-flat" else []), env
    if name == "mpich":
        words = [*mpiexec, "-launcher", "ssh", "-launcher-exec", script, "-hosts", ",".join(hosts), "-ppn", str(per_host), "-iface", device,
                 "-genv", "UCX_NET_DEVICES", device]
        return name, mpicc, [*start, *words], env
    words = [*mpiexec, "--bind-to", "none", "--host", ",".join(f"{h}:{per_host}" for h in hosts), "--map-by", "slot", "--mca", "plm_rsh_agent", script,
             "--mca", "btl", "self,vader,tcp", "--mca", "pml", "ob1", "--mca", "btl_tcp_if_include", device, "--mca", "oob_tcp_if_include", device,
             "--mca", "mpi_yield_when_idle", "1"]
    return name, mpicc, [*start, *words], env


def measure(programs, libs, n, kind, args, folder):
    os.mkdir(folder)
    net = Net(n, folder, **NETS[kind])
    try:
        if kind == "rate":
            limit_rate(net)
        with open(f"{folder}/ssh", "w") as f:
            f.write(f'#!/bin/sh\nexec ssh -F {folder}/ssh_user "$@"\n')
        os.chmod(f"{folder}/ssh", 0o755)
        one_core_each(net)
        congestion(net, args.congestion)
        there, behind, ran = [over(lib, net, args.ranks) for lib in libs], [], 0
        bare = ("floor", None, [programs["floor"], ",".join(net.names[:n]), str(len(os.sched_getaffinity(0)))], {})
        names = [lib[0] for lib in libs]
        print(f"\n# {n} hosts, {args.ranks} ranks each, net {kind}, calls {args.calls}, {args.rounds} rounds, load {os.getloadavg()[0]:.1f}")
        print(f"{'':22} {'bytes':>8} " + " ".join(f"{name:>10}" for name in names) + f"   {'best peer / keel':22} {'flat / keel':>11} {'keel / floor':>12}", flush=True)
        for test in args.tests:
            sizes = ["-s", args.sizes] if test != "barrier" else []
            rows = in_rounds([*there, bare], {**programs, "floor": "-"}, args.rounds, args.limit, n * args.ranks, "-t", args.time, *sizes, *(["-a"] if args.calls == "apart" else []), test)
            behind += table(rows, names)
            ran += sum("keel" in row for row in rows.values())
        print("# behind the better peer: " + (", ".join(behind) or "none"), flush=True)
        return ran
    finally:
        net.close()


def table(results, names):
    peers, behind = [n for n in names if not n.startswith("keel")], []
    for metric, row in results.items():
        ratio, text = spread(gains(metric, row, peers))
        print(f"{metric.test:22} {metric.n:>8} " + " ".join(cell(median_of(row.get(n)), 10) for n in names)
              + f"   {text:22} {cell(median_ratio(row.get('keel-flat'), row.get('keel')), 11)}"
              + f" {cell(median_ratio(row.get('keel'), row.get('floor')), 12)}", flush=True)
        if ratio is not None and ratio < 1:
            behind.append(f"{metric.test}_{metric.n} {ratio:.2f}")
    return behind


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--hosts", default="2,3,4")
    p.add_argument("--nets", default=",".join(NETS))
    p.add_argument("--ranks", type=int, default=2)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--time", type=float, default=0.03)
    p.add_argument("--limit", type=float, default=30)
    p.add_argument("--sizes", default="8,1K,64K,1M")
    p.add_argument("--calls", choices=["apart", "row"], default="apart")
    p.add_argument("--congestion", default="reno")
    p.add_argument("--peers", default="mpich,openmpi")
    p.add_argument("tests", nargs="*", default=SHAPES)
    args = p.parse_args()
    for kind in args.nets.split(","):
        if kind not in NETS:
            p.error(f"--nets has {kind}; expected some of {', '.join(NETS)}")
        if why_not(relayed=bool(NETS[kind])):
            print(f"skipped: {why_not(relayed=bool(NETS[kind]))}")
            return 77
    libs, ran = [lib for lib in libraries() if lib[0] == "keel" or lib[0] in args.peers.split(",")], 0
    with tempfile.TemporaryDirectory(prefix="hosts") as tmp:
        os.chmod(tmp, 0o755)
        programs = build_bench(libs, tmp)
        programs["keel-flat"] = programs["keel"]
        programs["floor"] = build_floor(tmp, "hosts_floor.c")
        libs.insert(1, ("keel-flat", *libs[0][1:]))
        for kind in args.nets.split(","):
            for n in map(int, args.hosts.split(",")):
                ran += measure(programs, libs, n, kind, args, f"{tmp}/{kind}{n}")
    return 0 if ran else 1


if __name__ == "__main__":
    sys.exit(main())
