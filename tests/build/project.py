# SPDX-License-Identifier: BSD-3-Clause
"""What the scripts of this folder share: a project's files, an MPI program, and running it."""
import glob
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "faults"))
from harness import *

BIN = os.path.dirname(MPICC)
PREFIX = os.path.dirname(BIN)
for name in list(os.environ):
    if re.match(r"(KEEL|MPI|MPICH|OMPI|I_MPI)_(CC|CXX|\w*FLAGS|LIBS|HOME)$|(CC|CXX|CFLAGS|CXXFLAGS|LDFLAGS)$", name):
        del os.environ[name]

# A token goes round; C and C++.
RING = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int rank, size, token = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank > 0)
        MPI_Recv(&token, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    token++;
    MPI_Send(&token, 1, MPI_INT, rank + 1 < size ? rank + 1 : MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    if (rank == size - 1)
        printf("%d of %d\n", token, size);
    MPI_Finalize();
    return rank == size - 1 && (token != size || size < 2);
}
"""

# The same in Fortran, in each of its forms.
FORTRAN = {form: """program ring
%s
integer :: rank, n, token, ierr
token = 0
call MPI_Init(ierr)
call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
if (rank > 0) call MPI_Recv(token, 1, MPI_INTEGER, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
token = token + 1
call MPI_Send(token, 1, MPI_INTEGER, merge(rank + 1, MPI_PROC_NULL, rank + 1 < n), 0, MPI_COMM_WORLD, ierr)
if (rank == n - 1) print '(i0,a,i0)', token, ' of ', n
call MPI_Finalize(ierr)
end program
""" % first for form, first in (("mpif.h", "include 'mpif.h'"), ("mpi", "use mpi"), ("mpi_f08", "use mpi_f08"))}


def plain(text):
    """What pkg-config says with paths as they were configured: its files go up from where they lie."""
    return text.replace("/lib/pkgconfig/../..", "").replace("/share/keel/pkgconfig-aliases/../../..", "")


def need(*programs):
    """Skip without these, or without an installed tree around mpicc."""
    for p in programs:
        if not shutil.which(p):
            skip(p + " is not installed")
    if not os.path.exists(os.path.join(PREFIX, "include", "mpi.h")):
        skip("no installed tree around mpicc")


def write(name, text):
    path = os.path.join(TMP.name, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(text)
    return path


def runs(what, program, env=None):
    Run("-n", 4, program, env=env).expect(what + ": runs", out="4 of 4\n", err="")


EVALUATE_MODULEFILE = r"""
proc module-whatis {text} {}
proc conflict {args} { foreach a $args { puts "conflict $a" } }
foreach p {prepend-path append-path setenv} { proc $p {args} "puts \"$p \[join \$args { }\]\"" }
set ModulesCurrentModulefile [lindex $argv 0]
source $ModulesCurrentModulefile
ModulesHelp
"""


def modulefile(prefix):
    """What the modulefile of this tree does: rows (how, variable, value)."""
    found = sorted((p for p in glob.glob(prefix + "/share/modulefiles/keel/*") if not p.endswith(".lua")), key=os.path.getmtime)[-1:]  # versions before it stay where they were installed
    same("one modulefile", len(found), 1)
    with open(found[0]) as f:
        check("its first line is the cookie", f.readline().startswith("#%Module"))
    r = Run(write("evaluate.tcl", EVALUATE_MODULEFILE), found[0], cmd=["tclsh"]).expect("evaluated", err="^Keel MPI")
    return [line.split(" ", 2) for line in r.out.splitlines() if len(line.split(" ", 2)) == 3]
