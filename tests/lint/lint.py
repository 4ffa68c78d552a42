#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The rules of the house, checked: layers by #include and by symbols, headers that compile alone, lengths, format.

  lint.py layers | headers | lengths | licenses | symbols OBJDIR | format
Prints what is wrong and exits with 1, or prints the figures and exits with 0."""
import os
import re
import subprocess
import sys
from statistics import median

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Folder -> folders a file in it may include, besides its own, include/ and libc ("Layers and folders" of
# doc/architecture.md).  The longest matching folder counts.
UTIL, PMI, CONTRACT, DATATYPE, CORE, TEAM, IMPL = (
    "src/util", "src/pmi", "src/mpid/include", "src/mpid/datatype", "src/mpid/core", "src/mpid/team", "src/mpi/impl")
DEVICE = ["src/mpid/include/device" + part + ".h" for part in ("", "_base", "_services", "_memory", "_near")]
ALLOWED = {
    UTIL: [],
    PMI: [UTIL],
    "src/pmi/launch": [UTIL, PMI],
    CONTRACT: [UTIL],
    DATATYPE: [UTIL, CONTRACT],
    CORE: [UTIL, PMI, CONTRACT, DATATYPE, TEAM + "/team.h", "src/mpid/hook/hook.h"],
    TEAM: [UTIL, CONTRACT, DATATYPE, CORE],
    "src/mpid/reduce": [UTIL, CONTRACT],
    "src/mpid/adi2": [CONTRACT],
    "src/mpid/ch_": [UTIL, *DEVICE],
    "src/mpid/rdm": [UTIL, *DEVICE],
    "src/mpid/ch_ofi": [UTIL, *DEVICE, "src/mpid/rdm/rdm.h"],
    "src/mpid/ch_ucx": [UTIL, *DEVICE, "src/mpid/rdm/rdm.h"],
    "src/mpid/hook": [UTIL, *DEVICE],
    IMPL: [UTIL, CONTRACT],
    "src/mpi/binding": [UTIL, CONTRACT, IMPL],
    "src/mpi/": [UTIL, CONTRACT, IMPL],
    "src/tools": [UTIL, CONTRACT],
}
# Rooms of a folder in their order: a file includes, and calls, its own room and those before it.  So there are no circles.
ROOMS = {
    "src/pmi/launch": ["base", "frames", "job", "mapping", "output", "hang", "profile", "pmserver", "daemons", "cli"],
    "src/mpid": ["include", "datatype", "reduce", "rdm", "hook", "ch_self", "ch_shmem", "ch_tcp", "ch_stub", "ch_ofi", "ch_ucx",
                 "core", "team", "adi2"],
}
# The one circle that is left: progress sleeps for teams, too, and a communicator's description holds its team.
CIRCLE = ("src/mpid/core/", "src/mpid/team/")
SEARCH = ["include", "src", CONTRACT, IMPL]  # -I of the build
GENERATED = {"mpi.h", "mpicxx.h", "mpi_const.h", "bodies.h", "front_abi.h", "dev_builtin.h", "dirs.h", "built.h", "config.h", "fort_handles.h", "fort_their_handles.h"}

# What a global symbol of a folder may be called ("A symbol's prefix says its folder").
PREFIX = {
    UTIL: r"ku_", PMI: r"pmi_", DATATYPE: r"MPID_", CORE: r"MPID_|dev_no_", TEAM: r"MPID_", "src/mpid/reduce": r"MPID_Op_", "src/mpid/adi2": r"MPID_", "src/mpid/ch_": r"dev_|keel_device$", "src/mpid/rdm": r"rdm_", "src/mpid/hook": r"dev_|MPID_",
    "src/mpi/binding": r"P?MPIX?_|MPIR_", "src/mpi/": r"MPIR_", "src/mpi/abi": r"P?MPIX?_|MPIR_|MPII_|P?OMPI_|ompi_|la_(version|objsearch)$", "src/mpi/binding/mpich": r"P?MPIX?_|MPIR_|p?mpix?_|pmpix?r_|__mpi_", "src/mpi/binding/openmpi": r"P?MPIX?_|MPIR_|ompi_|p?mpix?_",
    "src/mpi/fortran": r"MPIR_|kf_|p?mpi(x|r|xr)?_|__mpi_|mpi(fcmb|priv)", IMPL: r"MPIR_",
}
# Devices whose packets do not lie in the job's segment are to work with whatever segment there is.
APART_FROM = {folder: "src/util/segment.h" for folder in ("src/mpid/ch_tcp", "src/mpid/rdm", "src/mpid/ch_ofi", "src/mpid/ch_ucx", "examples")}
LONGEST_FUNCTION, LONGEST_FILE, LONGEST_LINE = 120, 1200, 120


def sources(*suffixes):
    """The files of the tree: what git tracks or does not ignore; in a tarball, all."""
    r = subprocess.run(["git", "-C", TOP, "ls-files", "--cached", "--others", "--exclude-standard"], capture_output=True, text=True)
    out = r.stdout.split() if r.returncode == 0 else [
        os.path.relpath(os.path.join(folder, f), TOP) for folder, _, files in os.walk(TOP) for f in files]
    return sorted(f for f in set(out) if f.endswith(suffixes) and os.path.exists(os.path.join(TOP, f)))


def longest(table, path):
    keys = [k for k in table if path.startswith(k)]
    return max(keys, key=len) if keys else None


def read(path):
    with open(os.path.join(TOP, path), errors="replace") as f:
        return f.read()


def resolve(path, name):
    """The file of the tree that an #include "name" in path means, or None."""
    for folder in [os.path.dirname(path), *SEARCH]:
        full = os.path.normpath(os.path.join(folder, name))
        if os.path.exists(os.path.join(TOP, full)):
            return full
    return None


def room_of(path):
    """(folder, number of the room, its name) of a path in a folder of rooms; None: it is in none."""
    for folder, rooms in ROOMS.items():
        m = re.match(re.escape(folder) + r"/(\w+)/", path)
        if m:
            return folder, rooms.index(m.group(1)) if m.group(1) in rooms else len(rooms), m.group(1)
    return None


def above(path, target):
    """Is the target in a room that path's room may not know?"""
    a, b = room_of(path), room_of(target)
    return bool(a and b and a[0] == b[0] and b[1] > a[1]) and not (path.startswith(CIRCLE[0]) and target.startswith(CIRCLE[1]))


def layers():
    wrong = [f"{path}: {room_of(path)[2]} is no room of {room_of(path)[0]} (ROOMS)" for path in sources(".c", ".h")
             if room_of(path) and room_of(path)[1] == len(ROOMS[room_of(path)[0]])]
    names = {}  # so that a debugger's "file.c:12", and a line of a profile, are one place
    for path in sources(".c", ".h"):
        if path.startswith("src/"):
            names.setdefault(os.path.basename(path), []).append(path)
    wrong += [f"{' and '.join(paths)}: one name for several files" for paths in names.values() if len(paths) > 1]
    for path in sources(".c", ".h"):
        key = longest(ALLOWED, path)
        if key is None or path.endswith("_test.c"):
            continue
        for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', read(path), re.M):
            target = resolve(path, name)
            if target is None:
                if os.path.basename(name) not in GENERATED:
                    wrong.append(f"{path}: includes {name}, which is not in the tree")
                continue
            if key.startswith("src/mpi") and not key.startswith("src/mpid") and os.path.basename(name) == "mpi.h":
                wrong.append(f"{path}: a body includes mpi.h")
            folder = os.path.dirname(target)
            if above(path, target):
                wrong.append(f"{path}: may not include {target}, which is in a later room (ROOMS)")
            if APART_FROM.get(os.path.dirname(path)) == target:
                wrong.append(f"{path}: may not include {target}")
            if folder == os.path.dirname(path) or folder == "include":
                continue
            if room_of(path) and room_of(target) and room_of(path)[0] == room_of(target)[0]:
                continue
            if not any(target == a or folder == a or target.startswith(a + "/") for a in ALLOWED[key]):
                wrong.append(f"{path}: may not include {target}")
    return wrong, "layers by #include"


def headers():
    wrong = []
    builddir = os.environ.get("TOP_BUILDDIR", os.path.join(TOP, "_build"))
    for path in sources(".h"):
        if not path.startswith(("src/", "include/")):
            continue
        flags = ["-I" + os.path.join(TOP, d) for d in SEARCH] + ["-I" + os.path.join(builddir, d) for d in ("include", "src/mpi/fortran")]
        code = f'#include "{os.path.join(TOP, path)}"\n#include "{os.path.join(TOP, path)}"\n'
        r = subprocess.run(["gcc", "-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", *flags, "-x", "c",
                            "-"], input=code, capture_output=True, text=True)
        if r.returncode:
            wrong.append(f"{path} does not compile alone:\n" + "\n".join(r.stderr.splitlines()[:6]))
    return wrong, "headers compile alone, twice"


def functions(text):
    """(name, first line, lines) of each function: a line that begins in column 1 and a body in braces in column 1."""
    lines, i = text.splitlines(), 0
    while i < len(lines):
        if lines[i] == "{":
            j = i
            while j < len(lines) and lines[j] != "}":
                j += 1
            k = i - 1
            while k > 0 and lines[k][:1] in (" ", "\t"):
                k -= 1
            m = re.search(r"(\w+)\s*\(", lines[k])
            yield (m.group(1) if m else lines[k]), k, j - i - 1
            i = j
        i += 1


def lengths():
    wrong, sizes, ifs, total = [], [], 0, 0
    for path in sources(".c", ".h"):
        if not path.startswith("src/"):
            continue
        text = read(path)
        n = text.count("\n")
        total += n
        ifs += len(re.findall(r"^\s*#\s*(?:if|ifdef|elif)\b", text, re.M))
        if n > LONGEST_FILE:
            wrong.append(f"{path}: {n} lines, at most {LONGEST_FILE}")
        rows = text.splitlines()
        for name, line, length in functions(text):
            sizes.append(length)
            if length > LONGEST_FUNCTION and "long:" not in "\n".join(rows[max(0, line - 6):line]):
                wrong.append(f"{path}:{line + 1}: {name} has {length} lines, at most {LONGEST_FUNCTION} (or a comment \"long: why\")")
    for path in sources(".c", ".h"):  # a directive of a test (tests/README.md) is one line, however long
        for n, row in enumerate(read(path).splitlines(), 1):
            if len(row) > LONGEST_LINE and not re.match(r"/\* \w+: ", row):
                wrong.append(f"{path}:{n}: {len(row)} characters, at most {LONGEST_LINE}")
    sizes.sort()
    at = lambda q: sizes[min(len(sizes) - 1, int(q * len(sizes)))] if sizes else 0
    figures = (f"{total} lines, {len(sizes)} functions: median {median(sizes or [0]):.0f}, 90th percentile {at(.9)}, 99th {at(.99)}, "
               f"longest {sizes[-1] if sizes else 0}; {1000 * ifs / max(total, 1):.1f} #if in a thousand lines")
    return wrong, figures


LICENSE = "SPDX-License-Identifier: BSD-3-Clause"
LICENSED = (".c", ".h", ".cpp", ".f", ".f90", ".F90", ".pml", ".py", ".sh", ".test", ".am", ".m4", ".ac", ".h.in")


def licenses():
    """Each source, and each script, names its license in its first two lines."""
    wrong, n = [], 0
    for path in sources(""):
        head = read(path)[:400]
        if not path.endswith(LICENSED) and not head.startswith("#!"):
            continue
        n += 1
        if LICENSE not in "\n".join(head.split("\n")[:2]):
            wrong.append(f"{path}: does not begin with {LICENSE}")
    return wrong, f"{n} files name their license"


def symbols(objdir):
    """Global symbols of each object file carry their folder's prefix."""
    wrong = []
    for folder, _, files in os.walk(os.path.join(objdir, "src")):
        if os.path.basename(folder) != ".libs":
            continue
        where = os.path.relpath(os.path.dirname(folder), objdir) + "/"
        key = longest(PREFIX, where)
        for f in sorted(files):
            if key is None or not f.endswith(".o") or "_test" in f:
                continue
            out = subprocess.run(["nm", "-g", "--defined-only", os.path.join(folder, f)], capture_output=True, text=True).stdout
            for row in out.splitlines():
                name = row.split()[-1]
                if not re.match(PREFIX[key], name) and not name.startswith(("__", "_GLOBAL_")):
                    wrong.append(f"{where}{f}: {name} does not begin with {PREFIX[key]}")
    return wrong + calls_between_rooms(objdir), "global symbols carry their folder's prefix; no room calls a later one"


def calls_between_rooms(objdir):
    """A room's objects need no symbol of a later one: a circle that #include does not show."""
    home, needed = {}, []
    for folder in ROOMS:
        for where, _, files in os.walk(os.path.join(objdir, folder)):
            path = os.path.relpath(where, objdir).replace("/.libs", "") + "/"
            for f in sorted(files):
                # Of a library what lies in .libs, once; tests need what they like.
                if not f.endswith(".o") or "_test" in f or (not where.endswith(".libs") and f.startswith("lib")):
                    continue
                out = subprocess.run(["nm", "-g", os.path.join(where, f)], capture_output=True, text=True).stdout
                for row in out.splitlines():
                    kind, name = row.split()[-2:]
                    if kind == "U":
                        needed.append((path, f, name))
                    else:
                        home[name] = path
    return [f"{path}{f}: needs {name} of {home[name]}, a later room (ROOMS)" for path, f, name in needed
            if name in home and above(path, home[name])]


def format_():
    files = [os.path.join(TOP, f) for f in sources(".c", ".h")]
    r = subprocess.run([os.environ.get("CLANG_FORMAT", "clang-format"), "--dry-run", "-Werror", *files], capture_output=True, text=True)
    bad = sorted({m for m in re.findall(r"^(\S+?):\d+:\d+: error", r.stderr, re.M)})
    return [os.path.relpath(b, TOP) + " is not formatted (clang-format -i)" for b in bad], f"{len(files)} files formatted"


def main():
    what = {"layers": layers, "headers": headers, "lengths": lengths, "format": format_, "licenses": licenses,
            "symbols": lambda: symbols(sys.argv[2])}[sys.argv[1]]
    wrong, figures = what()
    print("\n".join(wrong) if wrong else figures)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
