# SPDX-License-Identifier: BSD-3-Clause
"""Two water molecules on a grid; the energy, by rank 0."""
from ase import Atoms
from gpaw import GPAW
from gpaw.mpi import world

atoms = Atoms("OHHOHH", [(0, 0, 0), (0.757, 0.587, 0), (-0.757, 0.587, 0), (0.1, -0.1, 2.9), (0.8, 0.5, 3.1), (-0.7, 0.45, 3.05)])
atoms.center(vacuum=3.0)
atoms.calc = GPAW(mode="fd", h=0.25, xc="PBE", nbands=8, txt=None, convergence={"energy": 1e-4, "density": 1e-3, "eigenstates": 1e-5})
energy = atoms.get_potential_energy()
if world.rank == 0:
    print("energy %.6f on %d ranks" % (energy, world.size))
