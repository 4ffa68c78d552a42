"""The MPI programs of tests/mpi: what their comments ask for, and compiling them, once as long as nothing that goes into them changes."""
import glob
import hashlib
import json
import os
import re

from .process import run

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ROOT = os.path.join(TOP, "tests", "mpi")
KEYS = "ranks|exit|stdout|stderr|env|mpiexec|args|timeout|part|cflags|skip|nodes|alone|beside|across"
DIRECTIVE = re.compile(r"/\*\s*(" + KEYS + r"):\s*(.*?)\s*\*/")


def directives(path):
    found = {}
    with open(path, errors="replace") as f:
        for key, value in DIRECTIVE.findall(f.read(6000)):
            found.setdefault(key, []).append(value)
    return found


def mpi_sources():
    for folder, dirs, files in sorted(os.walk(ROOT)):
        dirs.sort()
        for f in sorted(files):
            if f.endswith(".c"):
                yield os.path.join(folder, f)


# ---- Is what was compiled still right? ----

digests = {}  # (path, size, time of the last change): digest of a file's content


def digest(path):
    try:
        s = os.stat(path)
    except OSError:
        return ""
    key = (path, s.st_size, s.st_mtime_ns)
    if key not in digests:
        with open(path, "rb") as f:
            digests[key] = hashlib.sha256(f.read()).hexdigest()
    return digests[key]


def read_before(rule):
    """The files that the compiler read, from the rule for make that it wrote."""
    with open(rule) as f:
        return f.read().replace("\\\n", " ").split(":", 1)[1].split()


def linked(prefix):
    """What programs hold copies of besides what the compiler reads: a static library.  The shared one they find when they run."""
    shared = os.path.exists(os.path.join(prefix, "lib", "libmpi_abi.so"))
    return [] if shared else glob.glob(os.path.join(prefix, "lib", "libmpi*.a"))


def kept(stamp, program, cmd):
    """The warnings of the compiler if program is what cmd would make again; else None."""
    try:
        with open(stamp) as f:
            made = json.load(f)
    except (OSError, ValueError):
        return None
    same = made["cmd"] == cmd and os.path.exists(program) and all(digest(p) == d for p, d in made["read"].items())
    return made["warnings"] if same else None


def compile_program(ctx, source):
    """(program, directives, (exit code, what the compiler said))"""
    name = os.path.relpath(source, ROOT)[:-2].replace("/", "-")
    program = os.path.join(ctx.bindir, name)
    rule, stamp = program + ".d", program + ".made"
    d = directives(source)
    cmd = [ctx.mpicc, "-g", "-O1", "-std=gnu11", "-Wall", "-Wextra", "-I" + ROOT, *ctx.cflags, "-MD", "-MF", rule, "-o", program, source,
           *" ".join(d.get("cflags", [])).split()]
    warnings = kept(stamp, program, cmd)
    if warnings is not None:
        return program, d, (0, warnings)
    r = run(cmd, 120, ctx.env)
    if r.code == 0:
        files = [ctx.mpicc, *read_before(rule), *linked(ctx.prefix)]
        with open(stamp, "w") as f:
            json.dump({"cmd": cmd, "read": {p: digest(p) for p in files}, "warnings": r.err}, f)
    return program, d, (r.code, r.err)
