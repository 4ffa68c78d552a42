#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run Keel's tests against an installed tree.

  tests/run.py --builddir B --prefix P [--part NAME ...] [--all] [--list] [--resume] [--jobs N] [FILTER ...]

A part is a named set that can be run alone; the parts are the rows of PARTS.  FILTER: only tests whose name contains
one of the words.  --resume skips what passed in the part's last run on the same commit.  --jobs: how many tests that work
run side by side, and compilers; without it as many as there are cores.

What is a test, and what the directives mean: tests/README.md.  runner/ has what a part does not need to know: running a command
(process.py), compiling an MPI program once (programs.py), and which tests run side by side (schedule.py).
"""
import argparse
import concurrent.futures
import contextlib
import functools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

from runner.process import end_all, run
from runner.programs import compile_program, directives, lacks_compiler, lacks_name, mpi_sources, name_of
from runner.schedule import ALONE, WORKS, Job, in_turn, side_by_side

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LEFTOVER_DIRS = ("/dev/shm",)


class Result:
    def __init__(self, name, status, seconds, detail="", cpu=0.0):
        self.name, self.status, self.seconds, self.detail, self.cpu = name, status, seconds, detail, cpu


class Context:
    """Where things are; and how a program is compiled and started."""

    def __init__(self, args, wrapper=(), cflags=(), env=None, ranks=None, slow=1, nodes=1, mpiexec=None, at_once=None,
                 takes=None, abi=None):
        self.builddir, self.prefix, self.jobs = args.builddir, args.prefix, args.jobs
        self.mpicc = os.path.join(self.prefix, "bin", "mpicc")
        self.mpiexec = os.path.join(self.prefix, "bin", "mpiexec")
        self.mpiexec_of = mpiexec or (lambda name, ranks: self.mpiexec)  # of a program's run
        self.simulated = nodes > 1 and not mpiexec
        self.at_once = at_once or args.jobs  # tests that work
        self.abi = abi  # of the other MPI whose compiler makes the programs; None: ours does
        self.bindir = os.path.join(self.builddir, "tests", f"bin-{abi}" if abi else "bin")
        self.wrapper, self.cflags, self.slow, self.nodes = list(wrapper), list(cflags), slow, nodes
        self.chosen_ranks = ranks or (lambda counts: counts)
        self.takes = takes or (lambda base, d: True)  # does this part run that program at all?
        self.env = dict(os.environ, MPICC=self.mpicc, MPIEXEC=self.mpiexec, TOP_SRCDIR=TOP,
                        TOP_BUILDDIR=self.builddir, PREFIX=self.prefix)
        self.env.update(env or {})
        self.filters = args.filter
        os.makedirs(self.bindir, exist_ok=True)

    def wanted(self, name):
        return not self.filters or any(f in name for f in self.filters)


def judge(d, code, out, err):
    """What is wrong with this run, or ''."""
    want = int(d.get("exit", ["0"])[0])
    if code is None:
        return "time was up"
    if code != want:
        return f"exit code {code}, expected {want}"
    for key, text in (("stdout", out), ("stderr", err)):
        for pattern in d.get(key, []):
            if not re.search(pattern, text, re.M):
                return f"{key} does not match {pattern}"
    if "stderr" not in d and want == 0 and err.strip():
        return "unexpected text on stderr"
    return ""


def tail(text, lines=12):
    rows = text.rstrip().splitlines()
    return "\n".join("      " + r[:300] for r in rows[-lines:])


def mpi_run(ctx, program, d, name, ranks):
    env = dict(ctx.env)
    for pair in d.get("env", []):
        key, _, value = pair.partition("=")
        env[key] = value
    timeout = int(d.get("timeout", ["60"])[0]) * ctx.slow
    nodes = ["-fake-nodes", str(ctx.nodes)] if ctx.simulated else []
    cmd = [ctx.mpiexec_of(name, ranks), *nodes, "-n", str(ranks), *" ".join(d.get("mpiexec", [])).split(), *ctx.wrapper, program,
           *" ".join(d.get("args", [])).split()]
    r = run(cmd, timeout, env)
    if r.code == 77:
        return outcome(name, r)
    wrong = judge(d, r.code, r.out, r.err)
    if wrong:
        detail = f"{wrong}\n      $ {' '.join(cmd)}\n{tail(r.out)}\n{tail(r.err)}"
        return Result(name, "failed", r.seconds, detail, r.cpu)
    return Result(name, "passed", r.seconds, "", r.cpu)


def ranks_of(ctx, d):
    """With how many ranks a program runs in this context."""
    counts = [int(r) for r in d.get("ranks", ["1 2 4"])[0].split()]
    return ctx.chosen_ranks([n for n in counts if n >= ctx.nodes])


def programs_of(ctx, part):
    """What of tests/mpi this part runs: (source, its name, directives, [(name of a test, ranks), ...])."""
    for source in mpi_sources():
        d = directives(source)
        base = name_of(source)
        if d.get("part", ["quick"])[0] == part and ctx.takes(base, d):
            yield source, base, d, [(f"{base}@{n}", n) for n in ranks_of(ctx, d)]


def mpi_job(ctx, base, compiled, name, ranks, first):
    """Results of one run of a program; the first also says what is wrong with the program."""
    program, d, (code, err) = compiled.result()
    if code != 0 and ctx.abi and (why := lacks_name(ctx, err)):
        return [Result(base, "skipped", 0, why)] if first else []
    if code != 0:
        return [Result(base, "failed", 0, "does not compile\n" + tail(err, 20))] if first else []
    told = [Result(base + " (warnings)", "failed", 0, tail(err, 20))] if first and err.strip() and not ctx.abi else []
    return told + [mpi_run(ctx, program, d, name, ranks)]


def manner(d):
    """How a program goes with other tests (runner/schedule.py)."""
    return ALONE if "alone" in d else d.get("beside", [WORKS])[0]


def mpi_jobs(ctx, part, done):
    """The tests of tests/mpi in this part; their programs are compiled while the first run."""
    pool, jobs = concurrent.futures.ThreadPoolExecutor(ctx.jobs), []
    for source, base, d, names in programs_of(ctx, part):
        names = [(name, n) for name, n in names if ctx.wanted(name) and name not in done]
        if not names:
            continue
        if "skip" in d or (ctx.nodes > 1 and "nodes" in d) or (ctx.abi and ctx.abi in d.get("abi", [""])[0].split(",")[0].split()):
            result = Result(base, "skipped", 0, d.get("skip", d.get("abi") if ctx.abi else d.get("nodes"))[0])
            jobs.append(Job(base, WORKS, lambda result=result: [result]))
            continue
        if why := lacks_compiler(ctx, source):
            jobs.append(Job(base, WORKS, lambda result=Result(base, "skipped", 0, why): [result]))
            continue
        compiled = pool.submit(compile_program, ctx, source)
        for i, (name, n) in enumerate(names):
            jobs.append(Job(name, manner(d), functools.partial(mpi_job, ctx, base, compiled, name, n, i == 0)))
    pool.shutdown(wait=False)
    return jobs


def mpi_tests(ctx, part, done):
    return side_by_side(mpi_jobs(ctx, part, done), ctx.at_once)


class Script:
    """A *.test file and what the lines near its top say."""

    def __init__(self, path):
        with open(path, errors="replace") as f:
            head = f.read(3000)
        said = lambda key, default: m.group(1) if (m := re.search(rf"^\W*{key}:\s*(\w+)", head, re.M)) else default
        self.path, self.part, self.seconds = path, said("part", "quick"), int(said("timeout", "120"))
        self.manner = said("beside", ALONE)
        self.rows = re.findall(r"^\W*also:\s*(\w+) (\w+=\S+)", head, re.M)  # (name, setting) besides the script itself


def all_scripts():
    for folder, dirs, files in sorted(os.walk(TOP)):
        dirs[:] = sorted(x for x in dirs if not x.startswith(("_", ".")) and x != "autom4te.cache")
        for f in sorted(files):
            path = os.path.join(folder, f)
            if f.endswith(".test") and os.access(path, os.X_OK):
                yield Script(path)


def scripts_in(part):
    """Those of a part; first those that may take longest, so that the rest runs beside them."""
    return sorted((s for s in all_scripts() if s.part == part), key=lambda s: -s.seconds)


def run_script(ctx, script, name, setting="", loud=True):
    env = dict(ctx.env, **dict([setting.split("=", 1)] if setting else []))
    r = run([script.path], script.seconds * ctx.slow, env, cwd=ctx.builddir)
    if loud and r.code == 0:
        print(tail(r.out, 60))  # figures
    return outcome(name, r)


def script_jobs(ctx, part, done):
    jobs = []
    for s in scripts_in(part):
        for row, setting in [("", "")] + [("@" + row, setting) for row, setting in s.rows]:
            name = os.path.relpath(s.path, TOP) + row
            if ctx.wanted(name) and name not in done:
                jobs.append(Job(name, s.manner, lambda s=s, name=name, setting=setting:
                                [run_script(ctx, s, name, setting, loud=part != "quick")]))
    return jobs


def outcome(name, r):
    if r.code == 77:
        return Result(name, "skipped", r.seconds, (r.out.strip().splitlines() or ["no reason given"])[-1], r.cpu)
    if r.code == 0:
        return Result(name, "passed", r.seconds, "", r.cpu)
    wrong = "time was up" if r.code is None else f"exit code {r.code}"
    return Result(name, "failed", r.seconds, f"{wrong}\n{tail(r.out, 25)}\n{tail(r.err)}", r.cpu)


def test_programs(ctx):
    """Build the programs of the build tree that tests run or use; a failed Result if that does not work."""
    r = run(["make", f"-j{ctx.jobs}", "-s", "check", "TESTS="], 900, ctx.env, cwd=ctx.builddir)
    return [] if r.code == 0 else [Result("make check", "failed", 0, "does not build\n" + tail(r.out + r.err, 30))]


def unit_run(ctx, name):
    program = os.path.join(ctx.builddir, name)
    libtool = ["./libtool", "--mode=execute", *ctx.wrapper] if ctx.wrapper else []
    # Check's own 4 s for a test are too short beside other parts
    check = {"CK_FORK": ctx.env.get("CK_FORK", "yes"), "CK_DEFAULT_TIMEOUT": "30", "CK_TIMEOUT_MULTIPLIER": str(ctx.slow)}
    return [outcome(name, run([*libtool, program], 180 * ctx.slow, dict(ctx.env, **check), cwd=ctx.builddir))]


def unit_jobs(ctx, done):
    """The programs of TESTS (scripts among them are found by script_jobs), once they are built."""
    names = run(["make", "-s", "list-tests"], 60, ctx.env, cwd=ctx.builddir).out.split()
    for name in names:
        if not name.endswith(".test") and ctx.wanted(name) and name not in done:
            source = os.path.join(TOP, name + ".c")
            yield Job(name, manner(directives(source) if os.path.exists(source) else {}), functools.partial(unit_run, ctx, name))


def unit_tests(ctx, done):
    """Built, then run."""
    if failed := test_programs(ctx):
        yield from failed
    else:
        yield from side_by_side(list(unit_jobs(ctx, done)), ctx.at_once)


def leftovers():
    """Things of ours in places a job must leave clean."""
    found = []
    for folder in LEFTOVER_DIRS:
        if os.path.isdir(folder):
            found += [os.path.join(folder, f) for f in os.listdir(folder) if "keel" in f.lower()]
    return found


def leftover_test(before):
    after = [f for f in leftovers() if f not in before]
    if after:
        return Result("nothing left behind", "failed", 0, " ".join(after))
    return Result("nothing left behind", "passed", 0)


# ---- parts ---------------------------------------------------------------------------------------------------

def part_quick(ctx, done):
    before = leftovers()
    if failed := test_programs(ctx):
        yield from failed
    else:
        jobs = [*script_jobs(ctx, "quick", done), *unit_jobs(ctx, done), *mpi_jobs(ctx, "quick", done)]
        yield from side_by_side(jobs, ctx.at_once)
    yield leftover_test(before)


def part_long(ctx, done):
    yield from test_programs(ctx)
    yield from in_turn([*mpi_jobs(ctx, "long", done), *script_jobs(ctx, "long", done)])


def scripts_of(part):
    def fn(ctx, done):
        yield from in_turn(script_jobs(ctx, part, done))
    return fn


def variant_build(ctx, name, configure):
    """Configure, build and install a second tree; returns its Context or a failed Result."""
    builddir = os.path.join(ctx.builddir, "variant-" + name)
    prefix = os.path.join(builddir, "install")
    os.makedirs(builddir, exist_ok=True)
    steps = [[os.path.join(TOP, "configure"), "--prefix=" + prefix, *configure]]
    if os.path.exists(os.path.join(builddir, "config.status")):
        steps = []
    steps += [["make", "-s", f"-j{ctx.jobs}"], ["make", "-s", "install"]]
    for step in steps:
        r = run(step, 1800, ctx.env, cwd=builddir)
        if r.code != 0:
            return None, Result("build " + name, "failed", 0, tail(r.out + r.err, 30))
    args = argparse.Namespace(builddir=builddir, prefix=prefix, jobs=ctx.jobs, filter=ctx.filters)
    return args, None


def part_sanitize(ctx, done):
    env = {"ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0:exitcode=99", "UBSAN_OPTIONS": "print_stacktrace=1"}
    args, failed = variant_build(ctx, "sanitize", ["--enable-sanitize=address,undefined", "--enable-lock-order", "CFLAGS=-g -O1"])
    if failed:
        yield failed
        return
    env["LSAN_OPTIONS"] = f"suppressions={TOP}/tests/device/lsan.supp:print_suppressions=0"
    sub = Context(args, cflags=["-fsanitize=address,undefined"], env=env, slow=4)
    yield from unit_tests(sub, done)
    yield from conformance(sub, done, [row for how in (OFI, UCX) for row in how["conforms"] if os.path.exists(os.path.join(args.prefix, "lib", "keel", how["plugin"]))])
    yield from mpi_tests(sub, "quick", done)


def part_races(ctx, done):
    args, failed = variant_build(ctx, "races", ["--enable-sanitize=thread", "CFLAGS=-g -O1 -Wno-tsan"])
    if failed:
        yield failed
        return
    sub = Context(args, cflags=["-fsanitize=thread", "-Wno-tsan"], env={"TSAN_OPTIONS": "exitcode=97"}, slow=6,
                  takes=lambda base, d: "-pthread" in d.get("cflags", []) and "races" not in d)
    yield from mpi_tests(sub, "quick", done)


def part_valgrind(ctx, done):
    if not shutil.which("valgrind"):
        yield Result("valgrind", "skipped", 0, "valgrind is not installed")
        return
    wrapper = ["valgrind", "-q", "--error-exitcode=98", "--leak-check=full", "--errors-for-leak-kinds=definite"]
    sub = sub_context(ctx, wrapper=wrapper, env={"CK_FORK": "no"}, ranks=among(1, 2, 4), slow=20, at_once=1)
    chosen = [x.strip() for x in open(os.path.join(TOP, "tests", "valgrind.list")) if x.strip() and x[0] != "#"]
    sub.wanted = lambda name: any(c in name for c in chosen) and (not ctx.filters or any(f in name for f in ctx.filters))
    yield from mpi_tests(sub, "quick", done)


def among(*wanted):
    """Choice of ranks: those of the wanted numbers that a program has, or its first."""
    return lambda counts: [n for n in counts if n in wanted] or counts[:1]


def few(least):
    """Choice of ranks: the fewest, and the most up to five, from least on; a program that has only more ranks runs with the fewest."""
    def choice(counts):
        several = sorted(n for n in counts if n > 1)
        enough = [n for n in several if n >= least] or several[-1:]
        return sorted({*enough[:1], *[n for n in enough if n <= 5][-1:]})
    return choice


# Chapters of tests/mpi whose calls move messages, make what messages move in, or wait for them: what another device or a boundary
# between nodes can break.  A program of another chapter that it can break has the directive "across: why".
ACROSS = ("mpi/pt2pt/", "mpi/coll/", "mpi/comm/", "mpi/part/", "mpi/request/")


def across(base, d):
    return base.startswith(ACROSS) or "across" in d


def across_libraries(base, d):
    """A library of a network need not bear that it gets no memory."""
    return across(base, d) and not base.endswith("nomem")


def across_ofi(base, d):
    """Queues of libfabric are touched one place after the other, which mpi/comm/many takes for growth without end."""
    return across_libraries(base, d) and base != "mpi/comm/many"


TCP_ALL = {"env": {"KEEL_DEVICES": "self,tcp"}, "slow": 2}
SPLIT_ALL = {"nodes": 2, "slow": 2}
TCP = {**TCP_ALL, "takes": across, "ranks": few(2)}
OFI = {"env": {"TEST_INHERITS": "1", "KEEL_DEVICES": "self,ofi", "FI_PROVIDER": "tcp;ofi_rxm"}, "slow": 4, "conforms": [*(("device/suite", "ofi over " + p) for p in ("tcp;ofi_rxm", "tcp;ofi_rxm, its updates", "net", "shm")), ("core/suite_run", "ofi"), ("core/suite_run", "ofi, long messages fetched")], "takes": across_ofi, "ranks": few(2), "plugin": "ch_ofi.so"}
UCX = {"env": {"TEST_INHERITS": "1", "KEEL_DEVICES": "self,ucx", "UCX_TLS": "tcp,self"}, "slow": 4, "conforms": [("device/suite", "ucx over tcp"), ("device/suite", "ucx over tcp, not told of deaths"), ("device/suite", "ucx over shared memory"), ("device/suite", "ucx over shared memory, its updates"), ("core/suite_run", "ucx"), ("core/suite_run", "ucx, long messages fetched")], "takes": across_libraries, "ranks": few(2), "plugin": "ch_ucx.so"}
MIXED = {"env": {"TEST_INHERITS": "1", "KEEL_DEVICES": "self,shmem,tcp,ofi", "KEEL_DEVICE_COSTS": "ofi=1000", "FI_PROVIDER": "tcp;ofi_rxm"}, "nodes": 2, "slow": 4, "takes": across_ofi, "ranks": few(3), "plugin": "ch_ofi.so"}
NEEDS = ["threads", "types", "observers", "calls", "listened", "memory"]
SPLIT = {**SPLIT_ALL, "takes": across, "ranks": few(3)}  # 3: one of the nodes has two ranks


def needing(needs, over={}):
    """Three programs count: system calls of MPI_Init, bytes that pass the caches, allocations (of what a call is told by, the first time).
    With copies of all buffers: three more count allocations and pages; one has buffers that cannot be read, one says they are larger than they are;
    one has 200,000 requests, of which each call looks whose buffers are copies; one puts a terabyte that is not there, which is a wrong range;
    and of two the process without memory may be one that hears of another such, which it cannot do without."""
    counted = ("mpi/init/startup_calls", "mpi/pt2pt/coming", "mpi/comm/growth")
    if needs.split("@")[0] in ("memory", "all"):
        counted += ("mpi/coll/arrays_room", "mpi/coll/kept", "mpi/coll/refused_buffers", "mpi/pt2pt/edges", "mpi/pt2pt/typed_memory", "mpi/request/many", "mpi/rma/large", "mpi/coll/nomem", "mpi/coll/inter_nomem")
    takes = over.get("takes", lambda base, d: True)
    return {**over, "env": {**over.get("env", {}), "KEEL_NEEDS": needs}, "slow": 2, "takes": lambda base, d: base not in counted and takes(base, d)}


def sub_context(ctx, **how):
    args = argparse.Namespace(builddir=ctx.builddir, prefix=ctx.prefix, jobs=ctx.jobs, filter=ctx.filters)
    return Context(args, **how)


def conformance(ctx, done, rows):
    """Rows of the conformance suites that run only when they are asked for."""
    if failed := test_programs(ctx):
        yield from failed
        return
    for suite, row in rows:
        name, program = f"tests/{suite}: {row}", os.path.join(ctx.builddir, "tests", suite)
        if ctx.wanted(name) and name not in done:
            yield outcome(name, run([program, row], 180 * ctx.slow, dict(ctx.env, CK_TIMEOUT_MULTIPLIER=str(ctx.slow)), cwd=ctx.builddir))


def network(ctx, done, chapters=None, but=(), plugin=None, conforms=(), **how):
    """The quick set's programs over ch_tcp, or a plug-in, which first has to conform."""
    if plugin and not os.path.exists(os.path.join(ctx.prefix, "lib", "keel", plugin)):
        yield Result(plugin, "skipped", 0, "it is not built: its library is not installed")
        return
    with open(os.path.join(ctx.builddir, "include", "dev_builtin.h")) as f:
        if "DEV(tcp)" not in f.read():
            yield Result("ch_tcp", "skipped", 0, "configure --with-devices leaves it out")
            return
    if conforms:
        yield from conformance(ctx, done, conforms)
    sub = sub_context(ctx, **how)
    if chapters:
        sub.wanted = lambda name: name.startswith(chapters) and not name.startswith(but) and ctx.wanted(name)
    yield from mpi_tests(sub, "quick", done)


def over(how):
    return lambda ctx, done: network(ctx, done, **how)


def part_abi(abi):
    """The quick set's programs compiled by another MPI's compiler, with its header, and run on the library of its ABI."""
    def fn(ctx, done):
        if not shutil.which("mpicc." + abi):
            yield Result(abi, "skipped", 0, f"mpicc.{abi} is not installed")
            return
        sub = sub_context(ctx, abi=abi, ranks=few(2), slow=2)
        yield from mpi_tests(sub, "quick", done)
        if not ctx.filters:
            yield all_called(sub)
    return fn


# What no program here calls: declared for programs older than MPI 3.1, not in the library for C, or no procedure of MPI.
REMOVED = {"MPI_Session_set_info", "MPI_Status_c2f08", "MPI_Status_f082c", "MPI_Status_f082f", "MPI_Status_f2f08", "MPI_Address", "MPI_Errhandler_create", "MPI_Errhandler_get", "MPI_Errhandler_set", "MPI_Type_extent", "MPI_Type_hindexed", "MPI_Type_hvector",
           "MPI_Type_lb", "MPI_Type_struct", "MPI_Type_ub"}


def all_called(ctx):
    """Do the programs call each procedure of the other MPI's header (but of its forms for large counts, which are the same code)?"""
    header = run(["sh", "-c", f"echo '#include <mpi.h>' | mpicc.{ctx.abi} -E -x c -"], 60, ctx.env).out
    declared = {n for n in re.findall(r"\b(?:int|double|MPI_\w+) (MPI_[A-Z][a-z]\w*|MPI_T_[a-z]\w*)\s*\(", header) if not n.endswith("_c")} - REMOVED
    called = set()
    for name in os.listdir(ctx.bindir):
        path = os.path.join(ctx.bindir, name)
        if os.access(path, os.X_OK) and os.path.isfile(path):
            called |= set(re.findall(r" U (MPI_\w+)", run(["nm", "-D", "--undefined-only", path], 30, ctx.env).out))
    missing = sorted(declared - called)
    name = f"{len(declared) - len(missing)} of {len(declared)} procedures of the header are called"
    return Result(name, "failed" if missing or len(declared) < 300 else "passed", 0, " ".join(missing))


def dealt(name, ranks):
    """On how many hosts this test runs where 2, 3 and 4 share the work: always the same, no more than it has ranks."""
    return 2 + sum(name.encode()) % (min(ranks, 4) - 1)


@contextlib.contextmanager
def hosts_of(ctx, n, **options):
    """Hosts (net.py): yields what to call instead of mpiexec, by their number; or None and why there are none."""
    sys.path.insert(0, os.path.join(TOP, "tests", "hosts"))
    from net import Net, why_not
    if why := why_not(relayed=bool(options)):
        yield None, why
        return
    with tempfile.TemporaryDirectory(prefix="spread") as tmp:
        net = Net(n, tmp, **options)
        wrappers = {}
        for i in range(2, n + 1):
            names = ",".join(f"node{k}" for k in range(1, i + 1))
            words = net.inside(1, ctx.mpiexec, "-launcher-exec", f"ssh -F {tmp}/ssh_user", "-hosts", names)
            wrappers[i] = os.path.join(tmp, f"mpiexec{i}")
            with open(wrappers[i], "w") as f:
                f.write("#!/bin/sh\nexec " + " ".join(shlex.quote(w) for w in words) + ' "$@"\n')
            os.chmod(wrappers[i], 0o755)
        try:
            yield wrappers, None
        finally:
            net.close()


def part_spread(ctx, done, hosts=None):
    """Over ssh on so many hosts; None: each test on 2, 3 or 4 of them."""
    with hosts_of(ctx, hosts or 4) as (wrappers, why):
        if why:
            yield Result("spread", "skipped", 0, why)
            return
        yield from network(ctx, done, mpiexec=lambda name, ranks: wrappers[hosts or dealt(name, ranks)], nodes=hosts or 2, slow=3, at_once=1,
                           env={"MPIEXEC_NODE_TIMEOUT": "60"})


SPREAD_APPS = ("hpcc.test", "fftw3.test", "p4est.test")


def part_spread_apps(ctx, done):
    """The same checks of these programs as in apps, their ranks on 2, 3 and 4 hosts."""
    with hosts_of(ctx, 4) as (wrappers, why):
        if why:
            yield Result("spread-apps", "skipped", 0, why)
            return
        for script in scripts_in("apps"):
            for n, wrapper in wrappers.items():
                sub = sub_context(ctx, env={"MPIEXEC": wrapper, "APPS_HOSTS": str(n), "MPIEXEC_NODE_TIMEOUT": "60"}, slow=3)
                name = f"{os.path.relpath(script.path, TOP)}@{n}_hosts"
                if os.path.basename(script.path) in SPREAD_APPS and ctx.wanted(name) and name not in done:
                    yield run_script(sub, script, name)


LOSSY_CHAPTERS = ("mpi/pt2pt/", "mpi/coll/", "mpi/comm/", "mpi/datatype/")
LOSSY_NOT = ("mpi/comm/many@",)  # 11,500 communicators one after the other, each a round trip and more: ten minutes


def part_lossy(ctx, done):
    """20 ms each way, and 1% lost: jobs over ssh, then programs of some chapters, each with one number of ranks."""
    yield from in_turn(script_jobs(ctx, "lossy", done))
    with hosts_of(ctx, 3, delay=20, loss=1) as (wrappers, why):
        if why:
            yield Result("lossy", "skipped", 0, why)
            return
        yield from network(ctx, done, mpiexec=lambda name, ranks: wrappers[min(3, dealt(name, ranks))], nodes=2, ranks=among(3), slow=5, at_once=4,
                           chapters=LOSSY_CHAPTERS, but=LOSSY_NOT, env={"MPIEXEC_NODE_TIMEOUT": "60"})


def spread_on(hosts):
    return lambda ctx, done: part_spread(ctx, done, hosts)


def part_clang(ctx, done):
    args, failed = variant_build(ctx, "clang", ["CC=clang", "CFLAGS=-g -O2 -Wthread-safety"])
    yield failed or Result("builds with clang", "passed", 0)


def part_coverage(ctx, done):
    """Line coverage of src/mpi and src/mpid by the quick set: at least 85%."""
    args, failed = variant_build(ctx, "coverage", ["--enable-coverage", "CFLAGS=-g -O0"])
    if failed:
        yield failed
        return
    sub = Context(args, cflags=[], slow=2)
    results = [*unit_tests(sub, done), *mpi_tests(sub, "quick", done)]
    for _ in side_by_side(script_jobs(sub, "quick", done), sub.at_once):
        pass  # run for what they reach; what they say is judged in quick: gcov's symbols and files disturb some
    yield from (r for r in results if r.status == "failed")
    cmd = ["gcovr", "-r", TOP, "--object-directory", args.builddir, "-f", "src/mpi/", "-f", "src/mpid/", "-e", ".*_test\\.c",
           "--exclude-unreachable-branches", "--gcov-ignore-parse-errors", "-s", args.builddir]
    r = run(cmd, 600, ctx.env, cwd=TOP)
    m = re.search(r"lines:\s*([0-9.]+)%", r.out)
    percent = float(m.group(1)) if m else 0
    print(tail(r.out, 90))
    yield Result(f"line coverage {percent}%, at least 85%", "passed" if percent >= 85 else "failed", 0, tail(r.err))


PARTS = {
    "quick": (part_quick, "unit tests, MPI programs by chapter, scripts"),
    "long": (part_long, "big messages, floods, N-th failures for all N"),
    "fuzz": (scripts_of("fuzz"), "a million hostile connections to a listener, packets to daemons and mpiexec, answers of launchers, port names and their other ends, and encoded datatypes each, under ASan"),
    "tcp": (over(TCP), "of the same MPI programs those that a device can break, over TCP alone, with few numbers of ranks"),
    "split": (over(SPLIT), "the same, with their ranks on two simulated nodes"),
    "tcp-all": (over(TCP_ALL), "all of the same MPI programs over TCP alone"),
    "split-all": (over(SPLIT_ALL), "all of them with their ranks on two simulated nodes"),
    "ofi": (over(OFI), "the plug-in ch_ofi: the device suite over several providers of libfabric, and the programs of tcp over tcp;ofi_rxm"),
    "mixed": (over(MIXED), "two devices for other nodes, of which each pair has to choose: the programs of split"),
    "ucx": (over(UCX), "the plug-in ch_ucx: the device suite over UCX's tcp and its shared memory, and the programs of tcp over its tcp"),
    "needs": (over(needing("all")), "the MPI programs with every short way of messages and calls closed (KEEL_NEEDS=all)"),
    "needs-tcp": (over(needing("all", TCP)), "the programs of tcp, closed likewise"),
    "needs-split": (over(needing("all", SPLIT)), "the programs of split, closed likewise"),
    "needs-one": (over(needing("all@0")), "the MPI programs, closed in rank 0 alone"),
    **{f"needs-{need}": (over(needing(need)), f"the same, closed for {need} alone") for need in NEEDS},
    "abi-mpich": (part_abi("mpich"), "the programs compiled by MPICH's mpicc, with its header, on Keel's library with MPICH's ABI"),
    "abi-openmpi": (part_abi("openmpi"), "the same with Open MPI"),
    "clang": (part_clang, "builds with clang without a warning, also of what is used without its lock"),
    "warnings": (scripts_of("warnings"), "no compiler that is installed warns of a C file, at any level of optimization, with -flto, hardened (half an hour for each)"),
    "sanitize": (part_sanitize, "the quick set's programs under ASan and UBSan, with the order of locks checked"),
    "races": (part_races, "the quick set's programs with several threads a rank, and the library, under ThreadSanitizer"),
    "valgrind": (part_valgrind, "the programs of tests/valgrind.list under Valgrind"),
    "coverage": (part_coverage, "line coverage of src/mpi and src/mpid"),
    "hosts": (scripts_of("hosts"), "jobs over ssh between network namespaces (root)"),
    "rounds": (scripts_of("rounds"), "50 rounds each of killing a rank, a daemon, ..., a host, or cutting a link, in the middle of traffic (root)"),
    "spread": (part_spread, "the MPI programs with their ranks on 2, 3 or 4 such hosts (root)"),
    "spread2": (spread_on(2), "the same, all on 2 hosts"),
    "spread3": (spread_on(3), "the same, all on 3 hosts"),
    "spread4": (spread_on(4), "the same, all on 4 hosts"),
    "spread-apps": (part_spread_apps, "the checks of HPC Challenge, FFTW and p4est (apps) with their ranks on 2, 3 and 4 such hosts (root)"),
    "lossy": (part_lossy, "jobs over ssh and MPI programs on hosts that a late and lossy network joins (root)"),
    "mutation": (scripts_of("mutation"), "every exported procedure has a test that fails without its body"),
    "symbols": (scripts_of("symbols"), "every Debian package that depends on MPICH or Open MPI: Keel's libraries have each symbol of an MPI that its ELF files need"),
    "apps": (scripts_of("apps"), "programs nobody here wrote: HPC Challenge, FFTW, p4est, PT-Scotch, SUNDIALS, DUNE"),
    "packages": (scripts_of("packages"), "make dist; Debian's packages: built, checked, installed, used, upgraded and removed in a bare system (root)"),
    "peers": (scripts_of("peers"), "what Keel refuses and the installed peers do not is what doc/compatibility.md says"),
    "perf": (scripts_of("perf"), "benchmarks beside the installed peers: prints ratios, never fails on a time"),
}

DEFAULT = ["quick", "tcp", "split"]  # what ./runtests and CI run
# Not of --all: tcp-all and split-all have what tcp and split have, long has rounds of all kinds, spread a share of each number of
# hosts, apps the same programs on one, needs all that needs-threads and its like close.
APART = ["tcp", "split", *(f"needs-{need}" for need in NEEDS), "rounds", "spread2", "spread3", "spread4", "spread-apps"]


class Times:
    """What tests took, for the table of the slowest."""
    SHOWN = 20

    def __init__(self):
        self.rows = []  # (seconds, processor time, name, part)

    def show(self):
        if not self.rows:
            return
        print(f"the slowest of {len(self.rows)} tests, which took {sum(r[1] for r in self.rows):.0f} s of processor time:")
        for seconds, cpu, name, part in sorted(self.rows, reverse=True)[:self.SHOWN]:
            print(f"  {seconds:6.1f} s, {cpu:6.1f} s of processor time  {part}: {name}")


def parts_of_all():
    return [p for p in PARTS if p not in APART]


def run_part(name, ctx, args, times):
    state_file = os.path.join(args.builddir, "tests", f"part-{name}.json")
    head = subprocess.run(["git", "-C", TOP, "rev-parse", "HEAD"], capture_output=True, text=True).stdout.strip()
    done = set()
    if args.resume and os.path.exists(state_file):
        state = json.load(open(state_file))
        done = set(state["passed"]) if state.get("head") == head else set()
    passed, failed, skipped = set(done), 0, 0
    start = time.time()
    for r in PARTS[name][0](ctx, done):
        if r.status == "passed":
            passed.add(r.name)
        failed += r.status == "failed"
        skipped += r.status == "skipped"
        if r.status != "passed" or args.verbose:
            print(f"{r.status:8} {r.name} ({r.seconds:.1f} s) {r.detail}", flush=True)
        times.rows.append((r.seconds, r.cpu, r.name, name))
        with open(state_file, "w") as f:
            json.dump({"head": head, "passed": sorted(passed)}, f)
    print(f"part {name}: {len(passed)} passed, {failed} failed, {skipped} skipped, {time.time() - start:.0f} s", flush=True)
    return len(passed), failed


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--builddir", default=os.path.join(TOP, "_build"))
    p.add_argument("--prefix", default=os.path.join(TOP, "_install"))
    p.add_argument("--part", action="append", choices=PARTS)
    p.add_argument("--all", action="store_true")
    p.add_argument("--list", action="store_true")
    p.add_argument("--resume", action="store_true")
    p.add_argument("--verbose", "-v", action="store_true")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("filter", nargs="*")
    args = p.parse_args()
    args.builddir, args.prefix = os.path.abspath(args.builddir), os.path.abspath(args.prefix)
    return args


def main():
    args = arguments()
    if args.list:
        for name, (_, help_text) in PARTS.items():
            print(f"{name:11} {help_text}")
        return 0
    ctx, times = Context(args), Times()
    passed = failed = 0
    for name in args.part or (parts_of_all() if args.all else ["quick"] if args.filter else DEFAULT):
        p_, f_ = run_part(name, ctx, args, times)
        passed, failed = passed + p_, failed + f_
    times.show()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        end_all()
        sys.stdout.flush()
        os._exit(130)  # not after the jobs that other threads wait for
