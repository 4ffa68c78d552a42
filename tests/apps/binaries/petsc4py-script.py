# SPDX-License-Identifier: BSD-3-Clause
"""A Laplacian on a grid, solved by what PETSc has of its own and of other libraries.  The argument is the folder of petsc4py."""
import sys

sys.path.insert(0, sys.argv[1])
import petsc4py  # noqa: E402

petsc4py.init(["petsc"])
from petsc4py import PETSc  # noqa: E402

N = 40
da = PETSc.DMDA().create([N, N], stencil_width=1)
A, x, b = da.createMatrix(), da.createGlobalVector(), da.createGlobalVector()
(i0, i1), (j0, j1) = da.getRanges()
row, col = PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
for j in range(j0, j1):
    for i in range(i0, i1):
        row.index = (i, j)
        for (m, n), value in {(i, j): 4.0, (i - 1, j): -1.0, (i + 1, j): -1.0, (i, j - 1): -1.0, (i, j + 1): -1.0}.items():
            if 0 <= m < N and 0 <= n < N:
                col.index = (m, n)
                A.setValueStencil(row, col, value)
A.assemble()
exact = x.duplicate()
exact.set(1.0)
A.mult(exact, b)
for name, kind, solver in [("gamg", "gamg", None), ("mumps", "lu", "mumps"), ("superlu_dist", "lu", "superlu_dist"), ("hypre", "hypre", None),
                           ("ml", "ml", None)]:
    ksp = PETSc.KSP().create()
    ksp.setOperators(A)
    ksp.setType("preonly" if solver else "cg")
    ksp.getPC().setType(kind)
    if solver:
        ksp.getPC().setFactorSolverType(solver)
    ksp.setTolerances(rtol=1e-10)
    x.set(0)
    ksp.solve(b, x)
    x.axpy(-1.0, exact)
    right = ksp.getConvergedReason() > 0 and x.norm() < 1e-6
    PETSc.Sys.Print("%s %s" % (name, "right" if right else "wrong: reason %d, off by %g" % (ksp.getConvergedReason(), x.norm())))
    ksp.destroy()
PETSc.Sys.Print("ranks", PETSc.COMM_WORLD.getSize())
