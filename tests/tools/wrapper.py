# SPDX-License-Identifier: BSD-3-Clause
"""A tool's library, generated: it defines every procedure that libmpi_abi exports, counts the calls of each, and passes them
on: to PMPI_X, or to the next MPI_X by dlsym.  At its end it writes a line "MPI_X count" for each that was called to the file
that the environment variable <variable> names, with the rank after it."""
import re
import subprocess

HEAD = """#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <mpi.h>

static long counts[%d];
static const char *const names[] = { %s };
"""
TAIL = """
__attribute__((destructor)) static void report(void)
{
    const char *file = getenv("%s"), *rank = getenv("PMI_RANK");
    char path[1000];
    if (!file)
        return;
    snprintf(path, sizeof path, "%%s.%%s", file, rank ? rank : "0");
    FILE *f = fopen(path, "w");
    for (size_t i = 0; f && i < sizeof names / sizeof *names; i++)
        if (counts[i])
            fprintf(f, "%%s %%ld\\n", names[i], counts[i]);
    if (f)
        fclose(f);
}
"""


def exported(lib):
    """The names MPI_X of a shared library."""
    out = subprocess.run(["nm", "-D", "--defined-only", lib], capture_output=True, text=True, check=True).stdout
    return sorted(line.split()[-1] for line in out.splitlines() if line.split()[-1].startswith("MPI_"))


def prototypes(header):
    """{name: (result, [parameter declarations])} of mpi.h."""
    found = {}
    with open(header, encoding="utf-8") as f:
        text = f.read()
    for result, name, params in re.findall(r"^([\w ]+?[ *]+)(MPIX?_\w+)\(([^;]*?)\)(?: KEEL_\w+\([^;]*?\))*;", text, re.M):
        found[name] = (result.strip(), [] if params == "void" else [p.strip() for p in params.split(",")])
    return found


def argument(declaration):
    return re.sub(r"\[.*", "", declaration).split()[-1].lstrip("*")


def source(prefix, variable, following):
    """The text of a library that writes its counts to $variable.RANK; following: pass on to the next MPI_X, not to PMPI_X."""
    names = [n for n in exported(prefix + "/lib/libmpi_abi.so.1") if not n.startswith("MPI_Keel_")] # which no program calls
    known = prototypes(prefix + "/include/mpi.h")
    text = [HEAD % (len(names), ", ".join('"%s"' % n for n in names))]
    for i, name in enumerate(names):
        result, params = known[name]
        call = ", ".join(argument(p) for p in params if p != "...")
        text.append("%s %s(%s)\n{" % (result, name, ", ".join(params) or "void"))
        text.append("    counts[%d]++;" % i)
        if following:
            text.append("    static __typeof__(&%s) next;\n    if (!next)\n        next = (__typeof__(&%s))dlsym(RTLD_NEXT, \"%s\");"
                        % (name, name, name))
            text.append("    return next(%s);\n}" % call)
        else:
            text.append("    return P%s(%s);\n}" % (name, call))
    return "\n".join(text) + TAIL % variable
