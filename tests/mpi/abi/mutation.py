#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Which exported procedures have a test that fails when their body only returns MPI_SUCCESS?

    mutation.py --srcdir S --builddir B --prefix P [NAME...]

For each procedure the programs of tests/mpi that call it run on the library in which its body does nothing, until one of them
fails.  The results are kept in B/tests/mutation.json and used again while those programs stay as they are.  NAME: only these."""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys


# Procedures whose body no test can miss, and why.
NO_OPS = {"MPI_Pcontrol": "it does nothing by definition",
          "MPI_Win_sync": "it orders what the processor does with memory, which nobody sees to fail here"}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--srcdir", "--builddir", "--prefix"):
        parser.add_argument(name, required=True)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    for name in ("srcdir", "builddir", "prefix"):
        setattr(args, name, os.path.abspath(getattr(args, name)))
    args.filter, args.jobs = [], 1
    return args


def with_headers(source):
    """A program's text and that of the headers of its folder."""
    with open(source, encoding="utf-8", errors="replace") as f:
        text = f.read()
    for name in re.findall(r'#include "([^"]+)"', text):
        path = os.path.join(os.path.dirname(source), name)
        if os.path.exists(path):
            text += with_headers(path)
    return text


class Tests:
    """The programs of tests/mpi: what they call, and whether they pass as they are."""

    def __init__(self, runner, args):
        self.runner, self.ctx, self.ok, self.compiled = runner, runner.Context(args), {}, {}
        self.mutant = os.path.join(args.builddir, "src/mpi/binding/mutant/libmpi_abi.so.1")
        self.calls = {}  # {source: names called}
        self.text = {}
        for source in runner.mpi_sources():
            text = self.text[source] = with_headers(source)
            if runner.directives(source).get("part", ["quick"])[0] == "quick":
                self.calls[source] = set(re.findall(r"\b(MPI_\w+?)(?:_c)?\b\s*[(,)]", text))

    def of(self, name):
        """The programs that call it: first those that bear its name, then those that call little else."""
        word = name[4:].lower()
        return sorted((s for s in self.calls if name in self.calls[s]),
                      key=lambda s: (word not in os.path.basename(s), len(self.calls[s])))

    def program(self, source):
        if source not in self.compiled:
            self.compiled[source] = self.runner.compile_program(self.ctx, source)
        return self.compiled[source]

    def passes(self, source, ranks, name=None, seconds=60):
        """(does it pass, how long it took)"""
        program, directives, (code, _) = self.program(source)
        if code != 0 or "skip" in directives:
            return False, 0
        directives = dict(directives, timeout=[str(seconds)])
        if name:
            directives["env"] = directives.get("env", []) + ["LD_PRELOAD=" + self.mutant, "MUTATE_MPI=" + name]
        result = self.runner.mpi_run(self.ctx, program, directives, "", ranks)
        return result.status == "passed", result.seconds

    def usual(self, source, ranks):
        """How long it takes as it is; None if it fails even so."""
        if (source, ranks) not in self.ok:
            passed, seconds = self.passes(source, ranks)
            self.ok[source, ranks] = seconds if passed else None
        return self.ok[source, ranks]

    def ranks(self, source):
        counts = [int(r) for r in self.runner.directives(source).get("ranks", ["1 2 4"])[0].split()]
        return sorted(counts, key=lambda n: (n == 1, n))[:3]

    def killer(self, name):
        """The first test that fails without the body of `name` and passes with it, or None."""
        if name in NO_OPS:
            return NO_OPS[name]
        for source in self.of(name):
            for ranks in self.ranks(source):
                seconds = self.usual(source, ranks)
                if seconds is not None and not self.passes(source, ranks, name, int(4 + 5 * seconds))[0]:
                    return "%s@%d" % (os.path.relpath(source, self.runner.TOP), ranks)
        return None

    def digest(self, name):
        h = hashlib.sha256()
        for source in self.of(name):
            h.update(self.text[source].encode())
        return h.hexdigest()[:16]


def exported(mutant):
    out = subprocess.run(["nm", "-D", "--defined-only", mutant], capture_output=True, text=True, check=True).stdout
    names = {w[1:] for w in re.findall(r" T (PMPI_\w+)", out)}
    # What is Keel's own for its other libraries (MPI_Keel_*) is no procedure.
    return sorted(n for n in names if not n.startswith("MPI_Keel_") and not (n.endswith("_c") and n[:-2] in names))


def main():
    args = arguments()
    sys.path.insert(0, os.path.join(args.srcdir, "tests"))
    sys.dont_write_bytecode = True
    import run as runner
    tests = Tests(runner, args)
    path = os.path.join(args.builddir, "tests", "mutation.json")
    kept = json.load(open(path)) if os.path.exists(path) else {}
    names = exported(tests.mutant)
    kept = {n: r for n, r in kept.items() if n in names}
    for name in args.names or names:
        digest = tests.digest(name)
        if kept.get(name, {}).get("digest") == digest:
            continue
        kept[name] = {"by": tests.killer(name), "digest": digest}
        print("%-40s %s" % (name, kept[name]["by"] or "NO TEST FAILS"), flush=True)
        with open(path + ".tmp", "w") as f:
            json.dump(kept, f, indent=1, sort_keys=True)
        os.replace(path + ".tmp", path)
    missed = [n for n in names if not kept.get(n, {}).get("by")]
    print("%d of %d procedures have a test that fails without them" % (len(names) - len(missed), len(names)))
    return 1 if missed and not args.names else 0


if __name__ == "__main__":
    sys.exit(main())
