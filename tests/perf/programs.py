#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Real programs on Keel and on Open MPI, in turns: those of Debian that are installed, as they are (doc/abi.md).

  programs.py [--programs WORD,...] [--ranks 2,4] [--rounds N] [--limit S] [--beside N]
Each run has a folder of its own with the files of tests/perf/programs/NAME, and its result (energies, residuals, ...) is compared with
Open MPI's of the same ranks: "differs" is an error.  Wall seconds, from before mpiexec is started until it has ended; medians.  keel/openmpi is the
median of the rounds' ratios with its quartiles: below 1 Keel is faster.  `floor` is the least user CPU time that a run took over the
cores that it had: with more ranks than cores nothing can end sooner, with as many it has waiting in it.  `system` is Keel's CPU time in the kernel.
Where a program says how long its main loop took, without starting and ending, a second row has that.
--beside: N processes run all the time beside them.  A program that is not there is named and left out.  A run longer than the limit counts as the limit.  Nothing here fails on a time."""
import argparse
import collections
import contextlib
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from compare import TOP, command, libraries, median_ratio, run_within, spread, turns

FILES = os.path.join(TOP, "tests", "perf", "programs")
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
# Python of the system: its packages are for that.
PYTHON = "/usr/bin/python3"
SUPERLU = "/usr/lib/x86_64-linux-gnu/superlu-dist/tests/EXAMPLE"
NUMBER = r"([-+]?\d+\.\d*(?:[EeDd][-+]?\d+)?)"


def rows(pattern):
    """The numbers of each match, in the order of the text."""
    def read(text):
        found = re.findall(pattern, text, re.M)
        return [float(x.replace("D", "E").replace("d", "e")) for f in found for x in (f if isinstance(f, tuple) else (f,)) if x]
    return read


def small(pattern, bound):
    """As rows, of residuals: what is below the bound is 0."""
    return lambda text: [0.0 if x < bound else x for x in rows(pattern)(text)]


# numbers: the result; None: it failed.
Run = collections.namedtuple("Run", "wall loop user system numbers out")


class Program:
    """needs: files that have to be there; folder: of FILES; before: commands on one process; output: the file with the result (default: stdout);
    env: on both; ranks: by default; near: how equal results have to be; loop: finds the seconds that it says its main loop took."""

    def __init__(self, name, run, result, needs=(), folder=None, before=(), output=None, env=ONE_THREAD, ranks=(2, 4), near=1e-6, loop=None):
        self.name, self.run, self.result, self.folder, self.before, self.output = name, run, result, folder, before, output
        self.needs, self.env, self.ranks, self.near, self.loop = [*([] if run[0].startswith("./") else run[:1]), *needs], dict(env), ranks, near, loop

    def missing(self):
        return [n for n in self.needs if not (os.path.exists(n) if "/" in n else shutil.which(n))]

    def words(self, words, ranks):
        rows = max(r for r in range(1, int(ranks ** 0.5) + 1) if ranks % r == 0)
        return [w.format(ranks=ranks, rows=rows, columns=ranks // rows) for w in words]

    def prepare(self, folder, ranks):
        """What is the same for all runs.  The word RANKS in a file becomes their number."""
        if self.folder:
            shutil.copytree(os.path.join(FILES, self.folder), folder)
        else:
            os.mkdir(folder)
        for at, _, names in os.walk(folder):
            for path in (os.path.join(at, n) for n in names):
                with open(path) as f:
                    text = f.read()
                if "RANKS" in text:
                    with open(path, "w") as f:
                        f.write(text.replace("RANKS", str(ranks)))
        for words in self.before:
            r = subprocess.run(words, cwd=folder, env={**os.environ, **self.env}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if r.returncode:
                raise SystemExit(f"{self.name}: {' '.join(words)} fails: {r.stdout[-1000:]}")

    def once(self, lib, ranks, prepared, folder, limit):
        shutil.copytree(prepared, folder)
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        out, well = run_within(limit, command(lib, self.run[0], ranks, *self.words(self.run[1:], ranks)), {**lib[3], **self.env}, folder)
        wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        text = out
        if self.output and os.path.exists(f"{folder}/{self.output}"):
            with open(f"{folder}/{self.output}", errors="replace") as f:
                text = f.read()
        shutil.rmtree(folder)
        loop = re.search(self.loop, text, re.M) if self.loop and well else None
        return Run(wall, float(loop.group(1)) if loop else None, after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime,
                   self.result(text) if well else None, out)


FOAM = {**ONE_THREAD, "WM_PROJECT_DIR": "/usr/share/openfoam"}
GROMACS = {**ONE_THREAD, "GMXLIB": "/usr/share/gromacs/top"}
PROGRAMS = [
    Program("lammps", ["lmp", "-in", "lj.in", "-log", "none"], rows(rf"^ +(?:0|100|200) +{NUMBER} +{NUMBER} +\S+ +{NUMBER} +{NUMBER}"),
            folder="lammps", ranks=(2, 4, 8), loop=r"^Loop time of (\S+)"),
    Program("gromacs", ["gmx_mpi", "-quiet", "mdrun", "-s", "run.tpr", "-ntomp", "1", "-reprod", "-pin", "off", "-g", "md.log"],
            rows(rf"Potential +Kinetic En\.\n(?: +\S+)+? +{NUMBER} +{NUMBER}$"), needs=["gmx"], folder="gromacs", output="md.log", env=GROMACS,
            near=1e-2, loop=r"^ +Time: +\S+ +(\S+)", before=[["gmx", "-quiet", "solvate", "-cs", "spc216.gro", "-box", "3", "3", "3", "-o", "conf.gro", "-p", "topol.top"],
                               ["gmx", "-quiet", "grompp", "-f", "run.mdp", "-c", "conf.gro", "-p", "topol.top", "-o", "run.tpr", "-maxwarn", "5"]]),
    Program("espresso", ["pw.x", "-in", "si.in"], rows(rf"^! +total energy += +{NUMBER}"), folder="espresso"),
    Program("cp2k", ["cp2k.psmp", "-i", "water.inp"], rows(rf"^ ENERGY\|.* {NUMBER}$"), folder="cp2k", env={**ONE_THREAD, "CP2K_DATA_DIR": "/usr/share/cp2k"}),
    Program("abinit", ["abinit", "si.abi"], rows(rf"^ +etotal +{NUMBER}$"), folder="abinit"),
    Program("nwchem", ["nwchem.openmpi", "water.nw"], rows(rf"Total DFT energy = +{NUMBER}"), folder="nwchem"),
    Program("openfoam", ["icoFoam", "-parallel"], rows(rf"^Time = (0\.01)$|^smoothSolver: +Solving for U., Initial residual = {NUMBER}"), needs=["blockMesh", "decomposePar"],
            folder="openfoam", env=FOAM, before=[["blockMesh"], ["decomposePar"]], near=1e-3),
    Program("gpaw", [PYTHON, "water.py"], rows(rf"^energy {NUMBER}"), needs=["/usr/bin/gpaw"], folder="gpaw"),
    Program("superlu", [SUPERLU + "/pddrive", "-r", "{rows}", "-c", "{columns}", SUPERLU + "/big.rua"],
            small(rf"\|\|X-Xtrue\|\|/\|\|X\|\| = {NUMBER}", 1e-8)),
    # MPI and OpenMP, started by a user who says nothing of threads.
    Program("openmp+threads", ["./regions"], rows(rf"^sum {NUMBER}"), needs=["mpicc.openmpi"], folder="openmp", env={}, ranks=(2, 4, 8),
            before=[["mpicc.openmpi", "-O2", "-fopenmp", "-o", "regions", "regions.c"]]),
    Program("superlu+threads", [SUPERLU + "/pddrive", "-r", "{rows}", "-c", "{columns}", SUPERLU + "/g20.rua"],
            small(rf"\|\|X-Xtrue\|\|/\|\|X\|\| = {NUMBER}", 1e-8), env={}, ranks=(2, 4, 8)),
]


def same(numbers, others, near):
    return numbers is not None and others is not None and len(numbers) > 0 and len(numbers) == len(others) and \
        all(abs(a - b) <= near * max(abs(a), abs(b)) for a, b in zip(numbers, others))


def complaint(name, ranks, lib, got, others):
    """What is wrong with a run; None: nothing."""
    if not got.numbers:
        return f"{name} on {ranks} ranks, {lib}: no result after {got.wall:.1f} s: " + " | ".join(got.out.strip().splitlines()[-3:])
    if others is not None and not same(got.numbers, others[0], others[1]):
        return f"{name} on {ranks} ranks, {lib}: differs: {got.numbers}; Open MPI: {others[0]}"
    return None


def measure(program, libs, ranks, rounds, limit, tmp):
    """({library: runs}, [complaint])"""
    prepared, wrong, runs = f"{tmp}/{program.name}.{ranks}", [], {lib[0]: [] for lib in libs}
    program.prepare(prepared, ranks)
    for r in range(rounds):
        for lib in turns(libs, r):
            runs[lib[0]].append(program.once(lib, ranks, prepared, f"{tmp}/run", limit))
    right = next((got.numbers for got in runs.get("openmpi", []) if got.numbers), None)
    for name, all_of in runs.items():
        found = [complaint(program.name, ranks, name, got, (right, program.near) if right else None) for got in all_of]
        wrong += [w for w in found if w][:1]
    return runs, wrong


def row(name, ranks, walls, floor, system):
    """Prints it; the median of the ratios."""
    over, text = spread([k / o if k and o else None for k, o in zip(walls["keel"], walls.get("openmpi", []))])
    of_floor = median_ratio(walls["keel"], [floor] * len(walls["keel"])) if floor else None
    print(f"{name:18} {ranks:5} {cell(walls['keel'])} {cell(walls.get('openmpi'))} {cell([floor])} {cell([system])} "
          f"{f'{of_floor:.2f}' if of_floor else '-':>10}   {text}", flush=True)
    return over


def rows_of_program(program, ranks, runs, limit):
    """[the median of the ratios]"""
    cores = min(ranks, len(os.sched_getaffinity(0)))
    walls = {name: [got.wall if got.numbers or got.wall >= limit else None for got in all_of] for name, all_of in runs.items()}
    loops = {name: [got.loop for got in all_of] for name, all_of in runs.items()}
    floor = min((got.user / cores for all_of in runs.values() for got in all_of if got.numbers), default=None)
    over = row(program.name, ranks, walls, floor, statistics.median(got.system for got in runs["keel"]))
    if any(loops["keel"]):
        row("  its loop alone", ranks, loops, None, None)
    return [over] if over is not None else []


@contextlib.contextmanager
def busy_beside(n):
    """So many processes run, and do nothing else."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(n)]
    try:
        yield
    finally:
        for p in busy:
            p.kill()
            p.wait()


def cell(values):
    there = [v for v in values or [] if v is not None]
    return f"{statistics.median(there):9.2f}" if there else f"{'-':>9}"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--programs", default="", help="words: programs whose names contain one")
    p.add_argument("--ranks", default="", help="numbers of ranks; default: 2 and 4, of some 8 too")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--limit", type=float, default=60)
    p.add_argument("--beside", type=int, default=0)
    args = p.parse_args()
    libs = [lib for lib in libraries() if lib[0] in ("keel", "openmpi")]
    chosen = [program for program in PROGRAMS if any(word in program.name for word in args.programs.split(","))]
    print(f"{'program':18} ranks {'keel s':>9} {'openmpi s':>9} {'floor s':>9} {'system s':>9} {'keel/floor':>10}   keel/openmpi", flush=True)
    complaints, ratios, came = [], [], 0
    with tempfile.TemporaryDirectory() as tmp, busy_beside(args.beside):
        for program in chosen:
            if program.missing():
                print(f"{program.name:18} is not there: no {', '.join(program.missing())}", flush=True)
                continue
            for ranks in [int(n) for n in args.ranks.split(",") if n] or program.ranks:
                runs, wrong = measure(program, libs, ranks, args.rounds, args.limit, tmp)
                over = rows_of_program(program, ranks, runs, args.limit)
                ratios += over if program.env else []
                complaints += wrong
                came += any(got.numbers for got in runs["keel"])
    if ratios:
        print(f"keel/openmpi: median {statistics.median(ratios):.2f}, {min(ratios):.2f} to {max(ratios):.2f}, of {len(ratios)} rows with one thread a rank")
    for text in complaints:
        print("wrong: " + text)
    return 1 if complaints or not came else 0


if __name__ == "__main__":
    sys.exit(main())
