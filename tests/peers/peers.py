#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What Keel refuses and its peers do not: misuse.c on Keel, MPICH and Open MPI, and the table of doc/compatibility.md.

  peers.py                 runs all rows, prints those that are not as the table has them, and fails if there are any
  peers.py --show [ROW...] prints what each library does

Of a library, only the words are compared: "goes on", "refuses", "absent", "nonsense", and "does not go on" where a process ends or waits.
A peer of another version than the table's is shown, and not compared.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
DOC = os.path.join(HERE, "..", "..", "doc", "compatibility.md")
AT_ONCE, SECONDS, RANKS = 40, 30, "2"
STUCK = "does not go on"
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


class Library:
    def __init__(self, name, cc, launch, version):
        self.name, self.cc, self.launch, self.version = name, cc, launch, version

    def there(self):
        return all(shutil.which(c) for c in (self.cc, self.launch[0]))

    def is_as_measured(self):
        text = subprocess.run([self.launch[0], "--version"], capture_output=True, text=True, env=dict(os.environ, **ROOT)).stdout
        return self.version is None or re.search(r"\b%s\b" % re.escape(self.version), text) is not None


def libraries():
    prefix = os.environ.get("PREFIX", "")
    own = [os.path.join(prefix, "bin", c) if prefix else c for c in ("mpicc", "mpiexec")]
    return [Library("Keel", own[0], [own[1]], None),
            Library("MPICH", "mpicc.mpich", ["mpiexec.mpich"], "4.0.2"),
            Library("Open MPI", "mpicc.openmpi", ["mpiexec.openmpi", "--oversubscribe", "--bind-to", "none"], "4.1.4")]


def output_of(command, seconds):
    """What a command prints; it and all it has started are ended after so many seconds."""
    with tempfile.TemporaryFile("w+") as out:
        p = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL, env=dict(os.environ, **ROOT), start_new_session=True)
        try:
            p.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, 9)
            p.wait()
        out.seek(0)
        return out.read()


def outcomes(lib, rows, folder):
    """{row: outcome}.  Many rows run in one job; after one that does not go on the next job begins behind it."""
    program = os.path.join(folder, "misuse-" + lib.name.replace(" ", ""))
    subprocess.run([lib.cc, "-w", "-o", program, os.path.join(HERE, "misuse.c")], check=True)
    got, left = {}, list(rows)
    os.chdir(folder)
    while left:
        text = output_of([*lib.launch, "-n", RANKS, program, *left[:AT_ONCE]], SECONDS)
        for name, outcome in re.findall(r"^(\w+) (goes on|refuses .*|absent|nonsense)$", text, re.M):
            got[name] = outcome
        done = 0
        while done < min(AT_ONCE, len(left)) and left[done] in got:
            done += 1
        if done < min(AT_ONCE, len(left)): # by itself, or by what was run before it?
            row = left[done]
            alone = re.search(r"^%s (.*)$" % row, output_of([*lib.launch, "-n", RANKS, program, row], SECONDS), re.M)
            got[row] = alone.group(1) if alone else STUCK
            done += 1
        left = left[done:]
    return got


def table():
    """{row: class that Keel returns} of the document."""
    with open(DOC, encoding="utf-8") as f:
        return dict(re.findall(r"^\| `(\w+)` \| [^|]+ \| (MPI_ERR_\w+) \| [^|]*\w[^|]*\|$", f.read(), re.M))


def compare(rows, got, peers):
    """Lines about what is not as the table says."""
    said, wrong = table(), []
    for row in rows:
        own = got["Keel"][row]
        refused = own.startswith("refuses ")
        if own in (STUCK, "nonsense", "absent"):
            wrong.append(f"{row}: Keel {own}")
        if row in said and own != "refuses " + said[row]:
            wrong.append(f"{row}: the table says that Keel refuses {said[row]}; it {own}")
        if len(peers) == 2:
            alone = refused and all(got[p][row] == "goes on" for p in peers)
            if alone and row not in said:
                wrong.append(f"{row}: Keel {own}, both peers go on, and no decision is in the table")
            if row in said and not alone:
                wrong.append(f"{row}: it is in the table, but " + ", ".join(f"{n} {got[n][row]}" for n in got))
    return wrong + [f"{row}: is in the table, but not in misuse.c" for row in said if row not in rows]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--show", action="store_true")
    p.add_argument("row", nargs="*")
    args = p.parse_args()
    libs = [lib for lib in libraries() if lib.there()]
    with tempfile.TemporaryDirectory() as folder:
        lister = os.path.join(folder, "list")
        subprocess.run([libs[0].cc, "-w", "-o", lister, os.path.join(HERE, "misuse.c")], check=True)
        rows = subprocess.run([lister, "--list"], capture_output=True, text=True, check=True).stdout.split()
        rows = [r for r in rows if not args.row or r in args.row]
        got = {lib.name: outcomes(lib, rows, folder) for lib in libs}
        os.chdir(HERE)
    if args.show:
        for row in rows:
            print(row + ": " + ", ".join(f"{n} {got[n][row]}" for n in got))
        return 0
    peers = [lib.name for lib in libs[1:] if lib.is_as_measured()]
    wrong = compare(rows, got, peers)
    print("\n".join(wrong + [f"{len(rows)} rows, {len(wrong)} not as the table has them; compared with {', '.join(peers) or 'no peer'}"]))
    return 1 if wrong else 0 if len(peers) == 2 else 77


if __name__ == "__main__":
    sys.exit(main())
