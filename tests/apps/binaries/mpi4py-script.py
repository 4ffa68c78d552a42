# SPDX-License-Identifier: BSD-3-Clause
"""Of binaries.test: a program of mpi4py: objects, buffers, windows, files, topologies, operations and errors."""
import array
import os

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.rank, world.size
seen = []

seen.append(world.allreduce(rank + 1))
seen.append(world.allgather({"rank": rank, "word": "x" * rank}))
seen.append(world.bcast([1, 2.5, "three"] if rank == 0 else None))
request = world.isend({"from": rank}, dest=(rank + 1) % size, tag=11)
status = MPI.Status()
got = world.recv(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG, status=status)
request.wait()
seen.append(world.gather((got["from"], status.Get_source(), status.Get_tag()), root=0))

numbers = array.array("d", [rank + i / 4 for i in range(8)])
sums = array.array("d", [0] * 8)
world.Allreduce(numbers, sums, op=MPI.SUM)
seen.append(list(sums))
vector = MPI.DOUBLE.Create_vector(4, 1, 2).Commit()
world.Bcast([numbers, 1, vector], root=size - 1)
seen.append(world.gather(list(numbers), root=0))
vector.Free()
largest = MPI.Op.Create(lambda a, b, t: None, commute=True)
largest.Free()
seen.append(world.allreduce((rank * 7) % 5, op=MPI.MAX))
seen.append(world.scan(rank + 1))

memory = array.array("i", [-1] * size)
window = MPI.Win.Create(memory, memory.itemsize, MPI.INFO_NULL, world)
window.Fence()
for target in range(size):
    window.Put(array.array("i", [rank * 10 + target]), target, target=(rank, 1, MPI.INT))
window.Fence()
seen.append(world.gather(list(memory), root=0))
window.Free()

ring = world.Create_cart([size], periods=[True])
seen.append(world.gather(ring.Shift(0, 1), root=0))
halves = world.Split(rank % 2, -rank)
seen.append(world.gather((halves.size, halves.rank), root=0))

name = "mpi4py-file"
file = MPI.File.Open(world, name, MPI.MODE_CREATE | MPI.MODE_RDWR)
file.Write_at_all(rank * 8, array.array("i", [rank, rank * rank]))
file.Sync()
world.Barrier()
back = array.array("i", [0] * (2 * size))
file.Read_at_all(0, back)
seen.append(list(back))
file.Close()
if rank == 0:
    os.unlink(name)

try:
    world.Send(numbers, dest=size)
    seen.append("no error")
except MPI.Exception as e:
    seen.append(e.Get_error_class() == MPI.ERR_RANK)
key = MPI.Comm.Create_keyval(copy_fn=lambda comm, key, value: value + 1)
world.Set_attr(key, 41)
double = world.Dup()
seen.append(double.Get_attr(key))
double.Free()
seen.append((MPI.COMM_WORLD == MPI.COMM_SELF, MPI.INT.Get_size(), MPI.Get_version()[0] >= 3))
if rank == 0:
    for line in seen:
        print(line)
