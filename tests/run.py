#!/usr/bin/env python3
"""Run Keel's tests against an installed tree.

  tests/run.py --builddir B --prefix P [--part NAME ...] [--all] [--list] [--resume] [--jobs N] [FILTER ...]

A part is a named set that can be run alone; the parts are the rows of PARTS.  FILTER: only tests whose name contains
one of the words.  --resume skips what passed in the part's last run on the same commit.

What is a test:
  tests/mpi/<chapter>/<name>.c   an MPI program, compiled with mpicc and started by mpiexec once a rank count; directives
                                 in its comments (ranks, exit, stdout, stderr, env, mpiexec, args, timeout, part; "nodes: one,
                                 because ..." if it does not make sense on several)
  tests/**/*.test                an executable: exit 0 passed, 77 skipped (reason on the last line), else failed;
                                 a line "part: NAME" near its top puts it into another part than quick; one "also: ROW VARIABLE=VALUE"
                                 makes it two tests, the second with that in its environment
  the programs of TESTS in the build tree (Check programs and others that exit with 0)
"""
import argparse
import concurrent.futures
import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DIRECTIVE = re.compile(r"/\*\s*(ranks|exit|stdout|stderr|env|mpiexec|args|timeout|part|cflags|skip|nodes):\s*(.*?)\s*\*/")
LEFTOVER_DIRS = ("/dev/shm",)


class Result:
    def __init__(self, name, status, seconds, detail=""):
        self.name, self.status, self.seconds, self.detail = name, status, seconds, detail


def run(cmd, timeout, env=None, cwd=None, stdin=subprocess.DEVNULL):
    """Run cmd in its own process group; (exit code or None when the time was up, stdout, stderr)."""
    p = subprocess.Popen(cmd, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, cwd=cwd,
                         start_new_session=True)
    try:
        out, err = p.communicate(timeout=timeout)
        code = p.returncode
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, signal.SIGTERM)
        try:
            out, err = p.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, signal.SIGKILL)
            out, err = p.communicate()
        code = None
    return code, out.decode(errors="replace"), err.decode(errors="replace")


class Context:
    """Where things are; and how a program is compiled and started."""

    def __init__(self, args, wrapper=(), cflags=(), env=None, ranks=None, slow=1, nodes=1, mpiexec=None, at_once=1):
        self.builddir, self.prefix, self.jobs = args.builddir, args.prefix, args.jobs
        self.mpicc = os.path.join(self.prefix, "bin", "mpicc")
        self.mpiexec = os.path.join(self.prefix, "bin", "mpiexec")
        self.mpiexec_of = mpiexec or (lambda name, ranks: self.mpiexec)  # of a program's run
        self.simulated = nodes > 1 and not mpiexec
        self.at_once = at_once  # MPI programs
        self.bindir = os.path.join(self.builddir, "tests", "bin")
        self.wrapper, self.cflags, self.ranks, self.slow, self.nodes = list(wrapper), list(cflags), ranks, slow, nodes
        self.env = dict(os.environ, MPICC=self.mpicc, MPIEXEC=self.mpiexec, TOP_SRCDIR=TOP,
                        TOP_BUILDDIR=self.builddir, PREFIX=self.prefix)
        self.env.update(env or {})
        self.filters = args.filter
        os.makedirs(self.bindir, exist_ok=True)

    def wanted(self, name):
        return not self.filters or any(f in name for f in self.filters)


def directives(path):
    found = {}
    with open(path, errors="replace") as f:
        for key, value in DIRECTIVE.findall(f.read(6000)):
            found.setdefault(key, []).append(value)
    return found


def mpi_sources():
    root = os.path.join(TOP, "tests", "mpi")
    for folder, dirs, files in sorted(os.walk(root)):
        dirs.sort()
        for f in sorted(files):
            if f.endswith(".c"):
                yield os.path.join(folder, f)


def compile_program(ctx, source):
    name = os.path.relpath(source, os.path.join(TOP, "tests", "mpi"))[:-2].replace("/", "-")
    out = os.path.join(ctx.bindir, name)
    d = directives(source)
    cflags = " ".join(d.get("cflags", [])).split()
    cmd = [ctx.mpicc, "-g", "-O1", "-std=gnu11", "-Wall", "-Wextra", "-I" + os.path.join(TOP, "tests", "mpi"),
           *ctx.cflags, "-o", out, source, *cflags]
    code, _, err = run(cmd, 120, ctx.env)
    return out, d, (code, err)


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
    start = time.time()
    code, out, err = run(cmd, timeout, env)
    seconds = time.time() - start
    if code == 77:
        return Result(name, "skipped", seconds, (out.strip().splitlines() or ["no reason given"])[-1])
    wrong = judge(d, code, out, err)
    if wrong:
        detail = f"{wrong}\n      $ {' '.join(cmd)}\n{tail(out)}\n{tail(err)}"
        return Result(name, "failed", seconds, detail)
    return Result(name, "passed", seconds)


def mpi_tests(ctx, part, skip_done):
    """All tests of tests/mpi in this part: compiled together, then run one after the other (ranks share the cores), or as many at once as ctx says."""
    todo, runs = [], []
    for source in mpi_sources():
        d = directives(source)
        if d.get("part", ["quick"])[0] != part:
            continue
        base = os.path.relpath(source, os.path.join(TOP, "tests"))[:-2]
        counts = [int(r) for r in d.get("ranks", ["1 2 4"])[0].split()]
        counts = [n for n in counts if n in (ctx.ranks or counts)] or [n for n in counts if n >= ctx.nodes][:1]
        names = [(f"{base}@{n}", n) for n in counts if n >= ctx.nodes]
        names = [(name, n) for name, n in names if ctx.wanted(name) and name not in skip_done]
        if names:
            todo.append((source, base, names))
    with concurrent.futures.ThreadPoolExecutor(ctx.jobs) as pool:
        compiled = list(pool.map(lambda t: compile_program(ctx, t[0]), todo))
    for (source, base, names), (program, d, (code, err)) in zip(todo, compiled):
        if code != 0:
            yield Result(base, "failed", 0, "does not compile\n" + tail(err, 20))
            continue
        if "skip" in d or (ctx.nodes > 1 and "nodes" in d):
            yield Result(base, "skipped", 0, d.get("skip", d.get("nodes"))[0])
            continue
        if err.strip():
            yield Result(base + " (warnings)", "failed", 0, tail(err, 20))
        runs += [(ctx, program, d, name, ranks) for name, ranks in names]
    pool = concurrent.futures.ThreadPoolExecutor(ctx.at_once)
    try:
        yield from pool.map(lambda r: mpi_run(*r), runs)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def scripts_in(part):
    """A part's scripts: path, seconds it may take, rows (name, setting) besides the script itself."""
    for folder, dirs, files in sorted(os.walk(TOP)):
        dirs[:] = sorted(x for x in dirs if not x.startswith(("_", ".")) and x != "autom4te.cache")
        for f in sorted(files):
            path = os.path.join(folder, f)
            if not f.endswith(".test") or not os.access(path, os.X_OK):
                continue
            with open(path, errors="replace") as fh:
                head = fh.read(3000)
            belongs = re.search(r"^\W*part:\s*(\w+)", head, re.M)
            if (belongs.group(1) if belongs else "quick") != part:
                continue
            limit = re.search(r"^\W*timeout:\s*(\d+)", head, re.M)
            yield path, int(limit.group(1)) if limit else 120, re.findall(r"^\W*also:\s*(\w+) (\w+=\S+)", head, re.M)


def run_script(ctx, path, name, seconds, setting="", loud=True):
    env = dict(ctx.env, **dict([setting.split("=", 1)] if setting else []))
    start = time.time()
    code, out, err = run([path], seconds * ctx.slow, env, cwd=ctx.builddir)
    if loud and code == 0:
        print(tail(out, 60))  # figures
    return outcome(name, code, out, err, time.time() - start)


def script_tests(ctx, part, skip_done):
    for path, seconds, rows in scripts_in(part):
        for row, setting in [("", "")] + [("@" + row, setting) for row, setting in rows]:
            name = os.path.relpath(path, TOP) + row
            if ctx.wanted(name) and name not in skip_done:
                yield run_script(ctx, path, name, seconds, setting, loud=part != "quick")


def outcome(name, code, out, err, seconds):
    if code == 77:
        return Result(name, "skipped", seconds, (out.strip().splitlines() or ["no reason given"])[-1])
    if code == 0:
        return Result(name, "passed", seconds)
    wrong = "time was up" if code is None else f"exit code {code}"
    return Result(name, "failed", seconds, f"{wrong}\n{tail(out, 25)}\n{tail(err)}")


def test_programs(ctx):
    """Build the programs of the build tree that tests run or use; a failed Result if that does not work."""
    code, out, err = run(["make", f"-j{ctx.jobs}", "-s", "check", "TESTS="], 900, ctx.env, cwd=ctx.builddir)
    return [] if code == 0 else [Result("make check", "failed", 0, "does not build\n" + tail(out + err, 30))]


def unit_tests(ctx, skip_done):
    """The programs of TESTS, one by one."""
    if failed := test_programs(ctx):
        yield from failed
        return
    _, out, _ = run(["make", "-s", "list-tests"], 60, ctx.env, cwd=ctx.builddir)
    for name in out.split():
        if name.endswith(".test") or not ctx.wanted(name) or name in skip_done:
            continue  # scripts are found by script_tests
        start = time.time()
        program = os.path.join(ctx.builddir, name)
        libtool = ["./libtool", "--mode=execute", *ctx.wrapper] if ctx.wrapper else []
        # Check's own 4 s for a test are too short beside other parts
        check = {"CK_FORK": ctx.env.get("CK_FORK", "yes"), "CK_DEFAULT_TIMEOUT": "30", "CK_TIMEOUT_MULTIPLIER": str(ctx.slow)}
        code, out, err = run([*libtool, program], 180 * ctx.slow, dict(ctx.env, **check), cwd=ctx.builddir)
        yield outcome(name, code, out, err, time.time() - start)


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
    yield from unit_tests(ctx, done)
    yield from mpi_tests(ctx, "quick", done)
    yield from script_tests(ctx, "quick", done)
    yield leftover_test(before)


def part_long(ctx, done):
    yield from test_programs(ctx)
    yield from mpi_tests(ctx, "long", done)
    yield from script_tests(ctx, "long", done)


def scripts_of(part):
    def fn(ctx, done):
        yield from script_tests(ctx, part, done)
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
        code, out, err = run(step, 1800, ctx.env, cwd=builddir)
        if code != 0:
            return None, Result("build " + name, "failed", 0, tail(out + err, 30))
    args = argparse.Namespace(builddir=builddir, prefix=prefix, jobs=ctx.jobs, filter=ctx.filters)
    return args, None


def part_sanitize(ctx, done):
    env = {"ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0:exitcode=99", "UBSAN_OPTIONS": "print_stacktrace=1"}
    args, failed = variant_build(ctx, "sanitize", ["--enable-sanitize=address,undefined", "CFLAGS=-g -O1"])
    if failed:
        yield failed
        return
    sub = Context(args, cflags=["-fsanitize=address,undefined"], env=env, slow=4)
    yield from unit_tests(sub, done)
    yield from mpi_tests(sub, "quick", done)


def part_valgrind(ctx, done):
    if not shutil.which("valgrind"):
        yield Result("valgrind", "skipped", 0, "valgrind is not installed")
        return
    wrapper = ["valgrind", "-q", "--error-exitcode=98", "--leak-check=full", "--errors-for-leak-kinds=definite"]
    args = argparse.Namespace(builddir=ctx.builddir, prefix=ctx.prefix, jobs=ctx.jobs, filter=ctx.filters)
    sub = Context(args, wrapper=wrapper, env={"CK_FORK": "no"}, ranks=[1, 2, 4], slow=20)
    chosen = [x.strip() for x in open(os.path.join(TOP, "tests", "valgrind.list")) if x.strip() and x[0] != "#"]
    sub.wanted = lambda name: any(c in name for c in chosen) and (not ctx.filters or any(f in name for f in ctx.filters))
    yield from mpi_tests(sub, "quick", done)


def network(ctx, done, chapters=None, but=(), **how):
    """The quick set's programs over ch_tcp."""
    with open(os.path.join(ctx.builddir, "include", "dev_builtin.h")) as f:
        if "DEV(tcp)" not in f.read():
            yield Result("ch_tcp", "skipped", 0, "configure --with-devices leaves it out")
            return
    args = argparse.Namespace(builddir=ctx.builddir, prefix=ctx.prefix, jobs=ctx.jobs, filter=ctx.filters)
    sub = Context(args, **how)
    if chapters:
        sub.wanted = lambda name: name.startswith(chapters) and not name.startswith(but) and ctx.wanted(name)
    yield from mpi_tests(sub, "quick", done)


def part_tcp(ctx, done):
    yield from network(ctx, done, env={"KEEL_DEVICES": "self,tcp"}, slow=2)


def part_split(ctx, done):
    yield from network(ctx, done, nodes=2, slow=2)


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
        yield from network(ctx, done, mpiexec=lambda name, ranks: wrappers[hosts or dealt(name, ranks)], nodes=hosts or 2, slow=3,
                           env={"MPIEXEC_NODE_TIMEOUT": "60"})


SPREAD_APPS = ("hpcc.test", "fftw3.test", "p4est.test")


def part_spread_apps(ctx, done):
    """The same checks of these programs as in apps, their ranks on 2, 3 and 4 hosts."""
    with hosts_of(ctx, 4) as (wrappers, why):
        if why:
            yield Result("spread-apps", "skipped", 0, why)
            return
        args = argparse.Namespace(builddir=ctx.builddir, prefix=ctx.prefix, jobs=ctx.jobs, filter=ctx.filters)
        for path, seconds, _ in scripts_in("apps"):
            for n, wrapper in wrappers.items():
                sub = Context(args, env={"MPIEXEC": wrapper, "APPS_HOSTS": str(n), "MPIEXEC_NODE_TIMEOUT": "60"}, slow=3)
                name = f"{os.path.relpath(path, TOP)}@{n}_hosts"
                if os.path.basename(path) in SPREAD_APPS and ctx.wanted(name) and name not in done:
                    yield run_script(sub, path, name, seconds)


LOSSY_CHAPTERS = ("mpi/pt2pt/", "mpi/coll/", "mpi/comm/", "mpi/datatype/")
LOSSY_NOT = ("mpi/comm/many@",)  # 11,500 communicators one after the other, each a round trip and more: ten minutes


def part_lossy(ctx, done):
    """20 ms each way, and 1% lost: jobs over ssh, then programs of some chapters, each with one number of ranks."""
    yield from script_tests(ctx, "lossy", done)
    with hosts_of(ctx, 3, delay=20, loss=1) as (wrappers, why):
        if why:
            yield Result("lossy", "skipped", 0, why)
            return
        yield from network(ctx, done, mpiexec=lambda name, ranks: wrappers[min(3, dealt(name, ranks))], nodes=2, ranks=[3], slow=5, at_once=4,
                           chapters=LOSSY_CHAPTERS, but=LOSSY_NOT, env={"MPIEXEC_NODE_TIMEOUT": "60"})


def spread_on(hosts):
    return lambda ctx, done: part_spread(ctx, done, hosts)


def part_clang(ctx, done):
    args, failed = variant_build(ctx, "clang", ["CC=clang"])
    yield failed or Result("builds with clang", "passed", 0)


def part_coverage(ctx, done):
    """Line coverage of src/mpi and src/mpid by the quick set: at least 85%."""
    args, failed = variant_build(ctx, "coverage", ["--enable-coverage", "CFLAGS=-g -O0"])
    if failed:
        yield failed
        return
    sub = Context(args, cflags=[], slow=2)
    results = [*unit_tests(sub, done), *mpi_tests(sub, "quick", done)]
    for _ in script_tests(sub, "quick", done):
        pass  # run for what they reach; what they say is judged in quick: gcov's symbols and files disturb some
    yield from (r for r in results if r.status == "failed")
    cmd = ["gcovr", "-r", TOP, "--object-directory", args.builddir, "-f", "src/mpi/", "-f", "src/mpid/", "-e", ".*_test\\.c",
           "--exclude-unreachable-branches", "--gcov-ignore-parse-errors", "-s", args.builddir]
    code, out, err = run(cmd, 600, ctx.env, cwd=TOP)
    m = re.search(r"lines:\s*([0-9.]+)%", out)
    percent = float(m.group(1)) if m else 0
    print(tail(out, 90))
    yield Result(f"line coverage {percent}%, at least 85%", "passed" if percent >= 85 else "failed", 0, tail(err))


PARTS = {
    "quick": (part_quick, "unit tests, MPI programs by chapter, scripts"),
    "long": (part_long, "big messages, floods, N-th failures for all N"),
    "fuzz": (scripts_of("fuzz"), "a million hostile connections to a listener, a million hostile packets to daemons and mpiexec, under ASan"),
    "tcp": (part_tcp, "the same MPI programs over TCP alone"),
    "split": (part_split, "the same MPI programs with their ranks on two simulated nodes"),
    "clang": (part_clang, "builds with clang without a warning"),
    "sanitize": (part_sanitize, "the quick set's programs under ASan and UBSan"),
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
    "apps": (scripts_of("apps"), "programs nobody here wrote: HPC Challenge, FFTW, p4est, PT-Scotch, SUNDIALS, DUNE"),
    "perf": (scripts_of("perf"), "benchmarks beside the installed peers: prints ratios, never fails on a time"),
}

DEFAULT = ["quick", "tcp", "split"]  # what ./runtests and CI run
# Not of --all: long has rounds of all kinds, spread a share of each number of hosts, apps the same programs on one.
APART = ["rounds", "spread2", "spread3", "spread4", "spread-apps"]


def run_part(name, ctx, args):
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
        if r.seconds > args.slow:
            print(f"slow     {r.name} took {r.seconds:.1f} s", flush=True)
        json.dump({"head": head, "passed": sorted(passed)}, open(state_file, "w"))
    print(f"part {name}: {len(passed)} passed, {failed} failed, {skipped} skipped, {time.time() - start:.0f} s", flush=True)
    return len(passed), failed


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--builddir", default=os.path.join(TOP, "_build"))
    p.add_argument("--prefix", default=os.path.join(TOP, "_install"))
    p.add_argument("--part", action="append", choices=PARTS)
    p.add_argument("--all", action="store_true")
    p.add_argument("--list", action="store_true")
    p.add_argument("--resume", action="store_true")
    p.add_argument("--verbose", "-v", action="store_true")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--slow", type=float, default=20, help="name tests that take longer than this many seconds")
    p.add_argument("filter", nargs="*")
    args = p.parse_args()
    args.builddir, args.prefix = os.path.abspath(args.builddir), os.path.abspath(args.prefix)
    if args.list:
        for name, (_, help_text) in PARTS.items():
            print(f"{name:11} {help_text}")
        return 0
    ctx = Context(args)
    passed = failed = 0
    for name in args.part or ([p for p in PARTS if p not in APART] if args.all else ["quick"] if args.filter else DEFAULT):
        p_, f_ = run_part(name, ctx, args)
        passed, failed = passed + p_, failed + f_
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
