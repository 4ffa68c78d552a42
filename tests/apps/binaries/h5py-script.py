# SPDX-License-Identifier: BSD-3-Clause
"""One file of HDF5 that all ranks write, each its part, with collective and with independent calls.  The argument is h5py's folder."""
import sys

sys.path.insert(0, sys.argv[1])
import h5py  # noqa: E402
from mpi4py import MPI  # noqa: E402

comm = MPI.COMM_WORLD
rank, size, n = comm.rank, comm.size, 1000
assert h5py.get_config().mpi
with h5py.File("out.h5", "w", driver="mpio", comm=comm) as f:
    together = f.create_dataset("together", (size, n), "i8")
    alone = f.create_dataset("alone", (size * n,), "f8", chunks=(n,))
    with together.collective:
        together[rank] = range(rank * n, rank * n + n)
    for i in range(rank * n, rank * n + n, 100):
        alone[i:i + 100] = [0.5 * k for k in range(i, i + 100)]
    f.attrs["ranks"] = size
with h5py.File("out.h5", "r", driver="mpio", comm=comm) as f:
    sums = int(f["together"][...].sum()), float(f["alone"][...].sum())
    ranks = int(f.attrs["ranks"])
every = comm.allgather((ranks,) + sums)
if rank == 0:
    print("%d ranks: %s" % (size, every[0] if len(set(every)) == 1 else every))
