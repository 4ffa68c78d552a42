#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What listeners cost: mpi_bench with nobody listening, with a listener that counts calls, with one that counts all there is to hear,
and with mpiexec -profile and -trace.

  tests/perf/listening.py [--rounds N] [--sizes BYTES,...] [TEST ...]       in turns; medians, and ratios to nobody
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

SOURCE = r"""
#include <mpid_listen.h>
static unsigned long n;
#define HEAR(name, type) static void name(void *self, const type *what) { (void)self, (void)what; n++; }
HEAR(call_entered, struct MPID_Call)
HEAR(object_made, struct MPID_Object)
HEAR(object_freed, struct MPID_Object)
HEAR(transfer_begun, struct MPID_Transfer)
HEAR(transfer_completed, struct MPID_Transfer)
HEAR(matched, struct MPID_Match)
HEAR(packet, struct MPID_Packet)
HEAR(wait_begun, struct MPID_Waits)
HEAR(happened, struct MPID_Happening)
static void call_left(void *self, const struct MPID_Call *call, int error) { (void)self, (void)call, (void)error; n++; }
int MPID_listener(const struct MPID_Listen_host *host, struct MPID_Listener *l, char *why, size_t size)
{
    (void)host, (void)why, (void)size;
    l->call_left = call_left;
#ifdef ALL
    l->call_entered = call_entered;
    l->object_made = object_made;
    l->object_freed = object_freed;
    l->transfer_begun = transfer_begun;
    l->transfer_completed = transfer_completed;
    l->matched = matched;
    l->packet = packet;
    l->wait_begun = wait_begun;
    l->happened = happened;
#endif
    return 0;
}
"""
mpiexec = os.environ.get("MPIEXEC") or shutil.which("mpiexec")
prefix = os.path.dirname(os.path.dirname(os.path.realpath(mpiexec)))


def measured(tests, sizes, env):
    done = subprocess.run([mpiexec, "-n", "2", os.path.join(prefix, "bin", "mpi_bench"), "-t", "0.05", "-s", sizes, *tests],
                          capture_output=True, text=True, env=dict(os.environ, **env))
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    rows = [line.split() for line in done.stdout.splitlines()]
    return {(r[0], r[1]): (float(r[2]), r[3]) for r in rows if len(r) > 3 and r[1].isdigit()}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rounds", type=int, default=9)
    p.add_argument("--sizes", default="8,1024,65536")
    p.add_argument("tests", nargs="*", default=["latency", "allreduce"])
    args = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "count.c")
        with open(source, "w") as f:
            f.write(SOURCE)
        for name, flags in (("calls", []), ("all", ["-DALL"])):
            subprocess.run([os.environ.get("CC", "cc"), "-O2", "-Wno-unused-function", "-fPIC", "-shared", f"-I{prefix}/include", *flags, "-o", f"{folder}/{name}.so", source],
                           check=True)
        ways = {"nobody": {}, "calls": {"KEEL_LISTENERS": f"{folder}/calls.so"}, "all": {"KEEL_LISTENERS": f"{folder}/all.so"},
                "profile": {"KEEL_PROFILE": f"{folder}/page"}, "trace": {"KEEL_TRACE": f"{folder}/trace"}}
        found = {}
        for _ in range(args.rounds):
            for way, env in ways.items():
                for row, (value, unit) in measured(args.tests, args.sizes, env).items():
                    found.setdefault((*row, unit), {}).setdefault(way, []).append(value)
    print(f"{'test':<14}{'bytes':>8}  unit  " + "".join(f"{way:>10}" for way in ways) + "   ratio to nobody")
    for (test, size, unit), values in found.items():
        medians = [statistics.median(values[way]) for way in ways]
        print(f"{test:<14}{size:>8}  {unit:<5} " + "".join(f"{m:>10.3f}" for m in medians) + "   " + " ".join(f"{m / medians[0]:.2f}" for m in medians[1:]))


main()
