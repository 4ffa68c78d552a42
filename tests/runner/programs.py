# SPDX-License-Identifier: BSD-3-Clause
"""The MPI programs of tests/mpi: what their comments ask for, and compiling them, once as long as nothing that goes into them changes."""
import glob
import hashlib
import json
import os
import re
import shutil

from .process import run

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ROOT = os.path.join(TOP, "tests", "mpi")
KEYS = "ranks|exit|stdout|stderr|env|mpiexec|args|timeout|part|cflags|skip|nodes|abi|alone|beside|across|races"
DIRECTIVE = re.compile(r"(?:/\*|//|!)\s*(" + KEYS + r"):\s*(.*?)\s*(?:\*/|$)", re.M)
# The compiler of each kind of source, and its options.
COMPILERS = {".c": ("mpicc", ["-std=gnu11", "-Wall", "-Wextra"]), ".cpp": ("mpicxx", ["-Wall", "-Wextra"]),
             ".f90": ("mpifort", ["-Wall", "-fcheck=all"]), ".f": ("mpifort", ["-fcheck=all"])}


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
            if os.path.splitext(f)[1] in COMPILERS:
                yield os.path.join(folder, f)


def name_of(source):
    """mpi/coll/errors, mpi/fortran/ring.f90: what a program's tests are called."""
    base, suffix = os.path.splitext(os.path.relpath(source, ROOT))
    return "mpi/" + (base if suffix == ".c" else base + suffix)


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


def modules(prefix):
    """What a Fortran program reads of ours."""
    return sorted(glob.glob(os.path.join(prefix, "lib", "keel", "fortran", "*", "*"))) + [os.path.join(prefix, "include", "mpif.h")]


def lacks_compiler(ctx, source):
    """Why this source cannot be compiled here, or ''."""
    if ctx.abi:
        return "" if source.endswith(".c") else "not in C"
    wrapper = os.path.join(os.path.dirname(ctx.mpicc), COMPILERS[os.path.splitext(source)[1]][0])
    if wrapper.endswith("mpifort") and run([wrapper, "-showme:command"], 30, ctx.env).code != 0:
        return "built without a Fortran compiler"
    return ""


def lacks_name(ctx, said):
    """What the program uses that the other MPI's header has not, by what the compiler said of it; or ''."""
    m = re.search(r"(?:implicit declaration of function|unknown type name|error:) .(MPIX?_\w+)[^\n]*", said)
    return f"{m.group(1)} is not in the header of {ctx.abi}" if m else ""


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
    name = name_of(source)[len("mpi/"):].replace("/", "-")
    compiler, options = COMPILERS[os.path.splitext(source)[1]]
    compiler = os.path.join(os.path.dirname(ctx.mpicc), compiler)
    if ctx.abi:
        compiler, options = shutil.which("mpicc." + ctx.abi), ["-std=gnu11", "-Werror=implicit-function-declaration", "-DABI_" + ctx.abi.upper()]
    fortran = compiler.endswith("mpifort")
    program = os.path.join(ctx.bindir, name)
    rule, stamp = program + ".d", program + ".made"
    d = directives(source)
    cmd = [compiler, "-g", "-O1", *(["-fno-var-tracking-assignments"] if fortran else []), *options, "-I" + ROOT, *ctx.cflags, *(["-J", program + ".mods"] if fortran else ["-MD", "-MF", rule]), "-o", program, source,
           *" ".join(d.get("cflags", [])).split()]
    if fortran:
        os.makedirs(program + ".mods", exist_ok=True)
    warnings = kept(stamp, program, cmd)
    if warnings is not None:
        return program, d, (0, warnings)
    r = run(cmd, 120, ctx.env)
    if r.code == 0:
        files = [compiler, *([source, *modules(ctx.prefix)] if fortran else read_before(rule)), *linked(ctx.prefix)]
        with open(stamp, "w") as f:
            json.dump({"cmd": cmd, "read": {p: digest(p) for p in files}, "warnings": r.err}, f)
    return program, d, (r.code, r.err)
