# SPDX-License-Identifier: BSD-3-Clause
"""Of mpi4py.test: what Python's programs do with MPI by python3-mpi4py, on any number of ranks; each result is checked.  What that version of
mpi4py lacks is left out.  The bindings let arrays of counts and displacements go as soon as a nonblocking or an _init call has returned."""
import array
import gc
import os
import sys
import traceback

from mpi4py import MPI

world, alone = MPI.COMM_WORLD, MPI.COMM_SELF
rank, size = world.rank, world.size
right, left = (rank + 1) % size, (rank - 1) % size
failures = []
tests = []


def test(function):
    tests.append(function)
    return function


def ints(values):
    return array.array("i", values)


def same(got, want, what=""):
    if got != want:
        failures.append("%s: %r; expected %r" % (what, got, want))


def fails(errclass, call, *args):
    """The call raises an MPI error of that class."""
    try:
        call(*args)
    except MPI.Exception as e:
        same(e.Get_error_class(), errclass, getattr(call, "__name__", "call"))
    else:
        failures.append("%s: no error; expected class %d" % (getattr(call, "__name__", "call"), errclass))


def forms(comm, name):
    """The nonblocking call, and the persistent one started twice, as functions that return when the data is there."""
    def now(*args, **keys):
        request = getattr(comm, "I" + name.lower())(*args, **keys)
        spoil()
        request.Wait()

    def persistent(*args, **keys):
        request = getattr(comm, name + "_init")(*args, **keys)
        spoil()
        for _ in range(2):
            request.Start()
            request.Wait()
        request.Free()
    return [now] + ([persistent] if hasattr(comm, name + "_init") else [])


def spoil():
    """What the bindings have let go is used again."""
    gc.collect()
    return [ints([0x3b3b3b3b] * n) for n in range(1, 40)] + [bytearray(b"\x3b" * n) for n in range(1, 600, 3)]


def block(source, target, n):
    return [source * 1000 + target * 10 + i % 7 for i in range(n)]


def length(source, target):
    return 1 + (source * 2 + target) % 3


@test
def vectors():
    counts = [length(r, 0) for r in range(size)]
    displs = [sum(counts[:r]) + r for r in range(size)]
    for call in forms(world, "Allgatherv"):
        got = ints([-1] * (sum(counts) + size))
        call(ints(block(rank, 0, counts[rank])), [got, (counts, displs), MPI.INT])
        for r in range(size):
            same(list(got[displs[r]:displs[r] + counts[r]]), block(r, 0, counts[r]), "allgatherv")
    root = size - 1
    for call in forms(world, "Gatherv"):
        got = ints([-1] * (sum(counts) + size))
        call(ints(block(rank, 0, counts[rank])), [got, (counts, displs), MPI.INT] if rank == root else None, root=root)
        for r in range(size if rank == root else 0):
            same(list(got[displs[r]:displs[r] + counts[r]]), block(r, 0, counts[r]), "gatherv")
    for call in forms(world, "Scatterv"):
        data = ints([-1] * (sum(counts) + size))
        for r in range(size):
            data[displs[r]:displs[r] + counts[r]] = ints(block(root, r, counts[r]))
        got = ints([-1] * counts[rank])
        call([data, (counts, displs), MPI.INT] if rank == root else None, got, root=root)
        same(list(got), block(root, rank, counts[rank]), "scatterv")


def exchange(name, entry):
    """All to all, where entry makes an argument of buffer, counts, displacements."""
    out, back = [length(rank, r) for r in range(size)], [length(r, rank) for r in range(size)]
    outs, backs = [sum(out[:r]) for r in range(size)], [sum(back[:r]) for r in range(size)]
    data = ints([v for r in range(size) for v in block(rank, r, out[r])])
    for call in forms(world, name):
        got = ints([-1] * sum(back))
        call(entry(data, out, outs), entry(got, back, backs))
        same(list(got), [v for r in range(size) for v in block(r, rank, back[r])], name)


@test
def exchanges():
    exchange("Alltoallv", lambda b, n, at: [b, (n, at), MPI.INT])
    exchange("Alltoallw", lambda b, n, at: [b, (n, [4 * a for a in at]), [MPI.INT] * size])
    same(world.alltoall([(rank, r) for r in range(size)]), [(r, rank) for r in range(size)], "alltoall")


@test
def reductions():
    counts = [1 + r % 3 for r in range(size)]
    first = sum(counts[:rank])
    want = [sum(r * 100 + first + i for r in range(size)) for i in range(counts[rank])]
    for call in forms(world, "Reduce_scatter"):
        got = ints([-1] * counts[rank])
        call(ints([rank * 100 + i for i in range(sum(counts))]), got, counts, op=MPI.SUM)
        same(list(got), want, "reduce_scatter")
    for name in ("Allreduce", "Scan", "Exscan"):
        for call in forms(world, name):
            got = ints([0])
            call(ints([rank + 1]), got, op=MPI.SUM)
            upto = {"Allreduce": size, "Scan": rank + 1, "Exscan": rank}[name]
            same(got[0], sum(range(1, upto + 1)), name)

    def compose(a, b, datatype):
        x, y = memoryview(a).cast("i"), memoryview(b).cast("i")
        for i in range(len(x)):
            y[i] = x[i] * 10 + y[i]
    op = MPI.Op.Create(compose, commute=False)
    same((op.Is_commutative(), op.is_predefined, MPI.SUM.is_predefined), (False, False, True), "op")
    got = ints([0])
    world.Allreduce(ints([rank + 1]), got, op=op)
    same(got[0], int("".join(str(r + 1) for r in range(size))), "an operation that does not commute")
    op.Free()
    same(world.scan([rank]), list(range(rank + 1)), "scan of lists")
    same(world.exscan([rank]), list(range(rank)) if rank else None, "exscan of lists")


@test
def neighbors():
    for ring in (world.Create_cart([size], periods=[True]), world.Create_dist_graph_adjacent([left, right], [left, right])):
        before, after = (left, right)
        for call in forms(ring, "Neighbor_alltoallv"):
            got = ints([-1] * 4)
            call([ints([rank, rank, rank + 100, rank + 100]), ([2, 2], [0, 2]), MPI.INT], [got, ([2, 2], [2, 0]), MPI.INT])
            if size > 2: # ends that are one process are told apart by their order
                same(list(got), [after, after, before + 100, before + 100], "neighbor_alltoallv")
        for call in forms(ring, "Neighbor_allgatherv"):
            got = ints([-1] * 4)
            call(ints([rank, -rank]), [got, ([2, 2], [0, 2]), MPI.INT])
            same(list(got), [before, -before, after, -after], "neighbor_allgatherv")
        for call in forms(ring, "Neighbor_alltoallw"):
            got = ints([-1] * 2)
            call([ints([rank, rank]), ([1, 1], [0, 4]), [MPI.INT, MPI.INT]], [got, ([1, 1], [0, 4]), [MPI.INT, MPI.INT]])
            same(list(got), [before, after], "neighbor_alltoallw")
        same(ring.neighbor_allgather((rank,)), [(before,), (after,)], "neighbor_allgather")
        ring.Free()


@test
def messages():
    status = MPI.Status()
    for send in (world.Isend, world.Issend, world.Irsend if size == 1 else world.Isend):
        got = ints([-1] * 3)
        receive = world.Irecv(got, source=left, tag=4)
        request = send(ints([rank, 1, 2]), dest=right, tag=4)
        receive.Wait(status)
        request.Wait()
        same((list(got), status.source, status.tag, status.Get_count(MPI.INT), status.Get_elements(MPI.INT), status.error),
             ([left, 1, 2], left, 4, 3, 3, 0), "a message")
    request = world.isend({"from": rank}, dest=right, tag=5)
    message = world.mprobe(source=left, tag=5)
    same(message.recv(), {"from": left}, "a matched message")
    request.wait()
    same(world.sendrecv(rank, dest=right, source=left), left, "sendrecv")
    both = ints([rank] * 5)
    world.Sendrecv_replace(both, dest=right, source=left)
    same(list(both), [left] * 5, "sendrecv_replace")
    requests = [world.Send_init(ints([rank]), right, 6), world.Recv_init(got, left, 6)]
    for _ in range(3):
        MPI.Prequest.Startall(requests)
        MPI.Request.Waitall(requests)
    same(got[0], left, "persistent")
    for r in requests:
        same(r.Test(), True, "an inactive request")
        r.Free()
    request = alone.Irecv(ints([0]), source=0, tag=9)
    request.Cancel()
    request.Wait(status)
    same(status.Is_cancelled(), True, "cancelled")
    same(MPI.REQUEST_NULL.Test(), True, "the null request")
    MPI.REQUEST_NULL.Wait(status)
    same((status.source, status.tag, status.error, status.Get_count(MPI.BYTE)), (MPI.ANY_SOURCE, MPI.ANY_TAG, 0, 0), "an empty status")
    for value in (MPI.ANY_TAG, 7):
        status.tag = value
        same(status.tag, value, "a status's tag")
    status.Set_elements(MPI.INT, 7)
    status.Set_cancelled(True)
    same((status.Get_count(MPI.INT), status.Get_elements(MPI.BYTE), status.Is_cancelled()), (7, 28, True), "a status that was set")
    if hasattr(world, "Psend_init"):
        parts = ints([-1] * 8)
        pair = [world.Psend_init(ints(range(8)), 4, right, 3), world.Precv_init(parts, 4, left, 3)]
        MPI.Prequest.Startall(pair)
        pair[0].Pready_range(0, 1)
        pair[0].Pready_list([3, 2])
        MPI.Request.Waitall(pair)
        same(list(parts), list(range(8)), "partitioned")
        for r in pair:
            r.Free()


@test
def generalized():
    called, status = [], MPI.Status()

    def query(status):
        status.Set_elements(MPI.BYTE, 3)
        status.source, status.tag = 5, 6
    request = MPI.Grequest.Start(query, lambda: called.append("free"), lambda done: called.append(done))
    request.Cancel()
    same(request.Test(), False, "grequest")
    request.Complete()
    request.Wait(status)
    same((status.source, status.tag, status.Get_count(MPI.BYTE)), (5, 6, 3), "a generalized request")
    same(called, [False, "free"], "callbacks")


@test
def windows():
    memory = ints([-1] * (size + 2))
    win = MPI.Win.Create(memory, 4, MPI.INFO_NULL, world)
    win.Fence()
    for r in range(size):
        win.Put(ints([rank + 50]), r, (rank, 1, MPI.INT))
    win.Fence()
    same(list(memory[:size]), [r + 50 for r in range(size)], "put")
    if rank == 0:
        memory[size] = memory[size + 1] = 0
    win.Fence()
    win.Lock(0)
    for op, at in ((MPI.SUM, size), (MPI.MAX, size + 1)):
        win.Raccumulate(ints([rank + 1]), 0, (at, 1, MPI.INT), op=op).Wait()
    win.Unlock(0)
    world.Barrier()
    same((memory[size], memory[size + 1]) if rank == 0 else (0, 0), (size * (size + 1) // 2, size) if rank == 0 else (0, 0), "accumulate")
    win.Lock_all()
    got, old = ints([0]), ints([0])
    win.Rget(got, right, (0, 1, MPI.INT)).Wait()
    win.Fetch_and_op(ints([1]), old, rank, size, MPI.NO_OP)
    win.Compare_and_swap(ints([1]), ints([0]), old, MPI.PROC_NULL, 0)
    win.Fetch_and_op(ints([1]), old, MPI.PROC_NULL, 0, MPI.SUM)
    win.Get_accumulate(ints([1]), old, MPI.PROC_NULL)
    win.Flush_all()
    win.Sync()
    win.Unlock_all()
    same(got[0], 50, "get")
    group = world.Get_group()
    win.Post(group)
    win.Start(group)
    win.Complete()
    win.Wait()
    group.Free()
    same(win.attrs[1:], (4 * (size + 2), 4), "attributes of a window")
    win.Set_name("our window")
    same((win.name, win.Get_group().size, win.flavor), ("our window", size, MPI.WIN_FLAVOR_CREATE), "a window")
    win.Free()
    shared = MPI.Win.Allocate_shared(16 if rank == 0 else 0, 4, comm=world.Split_type(MPI.COMM_TYPE_SHARED))
    same(shared.Shared_query(0)[1], 4, "shared memory")
    shared.Free()
    dynamic = MPI.Win.Create_dynamic(comm=alone)
    some = MPI.Alloc_mem(64)
    dynamic.Attach(some)
    dynamic.Detach(some)
    dynamic.Free()
    MPI.Free_mem(some)


@test
def files():
    name = world.bcast(os.path.join(os.environ.get("TMPDIR", "/tmp"), "mpi4py-%d" % os.getpid()))
    f = MPI.File.Open(world, name, MPI.MODE_CREATE | MPI.MODE_RDWR | MPI.MODE_DELETE_ON_CLOSE)
    f.Set_view(4 * rank, MPI.INT, MPI.INT.Create_resized(0, 4 * size).Commit())
    for write, read in (("Write_at", "Read_at"), ("Write_at_all", "Read_at_all"), ("Iwrite_at", "Iread_at"), ("Iwrite_at_all", "Iread_at_all")):
        data, got = ints([rank, 1, 2, 3]), ints([-1] * 4)
        for call, buffer in ((write, data), (read, got)):
            result = getattr(f, call)(3, buffer)
            if call[0] == "I":
                result.Wait()
            f.Sync()
        same(got, data, write)
    f.Write_all_begin(data)
    f.Write_all_end(data)
    f.Sync()
    f.Seek(0)
    got = ints([-1] * 4)
    f.Read_at_all_begin(0, got)
    f.Read_at_all_end(got)
    same(got, data, "split access")
    same((f.Get_amode() & MPI.MODE_RDWR, f.Get_position(), f.Get_byte_offset(1), f.Get_type_extent(MPI.INT)),
         (MPI.MODE_RDWR, 0, 4 * size + 4 * rank, 4), "a file")
    f.Set_view(0, MPI.INT, MPI.INT, "external32")
    f.Write_ordered(ints([rank]))
    f.Seek_shared(0)
    f.Read_ordered(got[:1])
    f.Set_atomicity(True)
    same(f.Get_atomicity(), True, "atomicity")
    f.Preallocate(4096)
    same(f.Get_size(), 4096, "size")
    f.Close()
    fails(MPI.ERR_NO_SUCH_FILE, MPI.File.Open, alone, name + "-none")


@test
def datatypes():
    struct = MPI.Datatype.Create_struct([1, 3], [0, 8], [MPI.DOUBLE, MPI.CHAR]).Commit()
    same((struct.size, struct.extent, struct.Get_envelope()[-1]), (11, 16, MPI.COMBINER_STRUCT), "a struct")
    types = [MPI.INT.Create_contiguous(3), MPI.INT.Create_hvector(2, 1, 12), MPI.INT.Create_indexed([1, 2], [0, 4]),
             MPI.INT.Create_hindexed([1, 2], [0, 16]), MPI.INT.Create_indexed_block(2, [0, 4]), MPI.INT.Create_hindexed_block(2, [0, 16]),
             MPI.INT.Create_subarray([4, 4], [2, 2], [1, 1]), MPI.INT.Create_resized(-4, 20), MPI.INT.Dup(),
             MPI.INT.Create_darray(1, 0, [8], [MPI.DISTRIBUTE_BLOCK], [MPI.DISTRIBUTE_DFLT_DARG], [1]), struct]
    for t in types:
        t.Commit()
        combiner = t.Get_envelope()[-1]
        same(t.Get_contents()[-1] is not None and t.combiner, combiner, "combiner")
        if t.lb >= 0:
            source, packed, target = bytearray(os.urandom(256)), bytearray(t.Pack_size(1, alone)), bytearray(256)
            one, other = memoryview(source)[:t.extent], memoryview(target)[:t.extent]
            end = t.Pack(one, packed, 0, alone)
            t.Unpack(packed, 0, other, alone)
            again = bytearray(len(packed))
            t.Pack(other, again, 0, alone)
            same(again[:end], packed[:end], "packed")
        t.Set_name("a type")
        same(t.Get_name(), "a type", "name")
        t.Free()
    same(MPI.Datatype.Match_size(MPI.TYPECLASS_REAL, 8).size, 8, "match_size")
    same([MPI.DATATYPE_NULL.Get_name(), MPI.COMM_NULL.Get_name()], ["MPI_DATATYPE_NULL", "MPI_COMM_NULL"], "names of null handles")
    same(MPI.INT.Create_hvector(3, 4, 25).Create_hvector(2, 3, 273).extent, 480, "padding")


@test
def communicators():
    sub = world.Split(rank % 2, rank)
    same((sub.size, sub.rank), ((size + 1 - rank % 2) // 2, rank // 2), "split")
    if size > 1:
        inter = sub.Create_intercomm(0, world, 1 - rank % 2, 3)
        same((inter.is_inter, inter.remote_size), (True, size - sub.size), "intercommunicator")
        same(inter.allgather(rank), [r for r in range(size) if r % 2 != rank % 2], "allgather between groups")
        whole = inter.Merge(rank % 2 == 1)
        same(whole.size, size, "merge")
        for c in (whole, inter):
            c.Free()
    copies = []
    key = MPI.Comm.Create_keyval(copy_fn=lambda c, k, v: copies.append(v) or v + [1], delete_fn=lambda *a: copies.append("gone"))
    sub.Set_attr(key, [0])
    dup = sub.Dup()
    same((dup.Get_attr(key), copies), ([0, 1], [[0]]), "attributes")
    dup.Free()
    same(copies, [[0], "gone"], "attributes")
    MPI.Comm.Free_keyval(key)
    same(world.Get_attr(MPI.TAG_UB) >= 32767, True, "MPI_TAG_UB")
    new, request = sub.Idup()
    request.Wait()
    same(MPI.Comm.Compare(new, sub), MPI.CONGRUENT, "idup")
    new.Free()
    sub.Free()
    grid = world.Create_cart(MPI.Compute_dims(size, 2), periods=[True, False], reorder=True)
    same(grid.Get_cart_rank(grid.Get_coords(grid.rank)), grid.rank, "grid")
    grid.Sub([True, False]).Free()
    grid.Free()
    group = world.group.Incl(list(range(0, size, 2)))
    same(MPI.Group.Translate_ranks(group, list(range(group.size)), world.group), list(range(0, size, 2)), "groups")
    if rank % 2 == 0:
        world.Create_group(group).Free()
    fails(MPI.ERR_RANK, world.Send, ints([1]), size)
    fails(MPI.ERR_COMM, MPI.COMM_NULL.Get_rank)


@test
def errors():
    errclass = MPI.Add_error_class()
    code = MPI.Add_error_code(errclass)
    MPI.Add_error_string(code, "ours")
    same((MPI.Get_error_class(code), MPI.Get_error_string(code)), (errclass, "ours"), "error codes")
    if hasattr(MPI, "Remove_error_class"):
        try:
            MPI.Remove_error_string(code)
            MPI.Remove_error_code(code)
            MPI.Remove_error_class(errclass)
        except NotImplementedError: # in what was built with Open MPI 5
            pass
    for value in [v for n, v in vars(MPI).items() if n.startswith("ERR_") and 0 < v < MPI.ERR_LASTCODE]:
        same((MPI.Get_error_class(value), bool(MPI.Get_error_string(value))), (value, True), "error class")
    if hasattr(MPI.Comm, "Create_errhandler"):
        seen = []
        handler = MPI.Comm.Create_errhandler(lambda comm, code: seen.append(code))
        dup = alone.Dup()
        dup.Set_errhandler(handler)
        dup.Call_errhandler(MPI.ERR_OTHER)
        same(seen, [MPI.ERR_OTHER], "an error handler")
        dup.Free()
        handler.Free()


@test
def information():
    info = MPI.Info.Create()
    info["a key"] = "a value"
    same((info.Get("a key"), len(info), "none" in info, info.Dup().items()), ("a value", 1, False, [("a key", "a value")]), "info")
    info.Delete("a key")
    fails(MPI.ERR_INFO_NOKEY, info.Delete, "a key")
    info.Free()
    same(MPI.Is_initialized() and not MPI.Is_finalized(), True, "initialized")
    same(MPI.Query_thread() in (MPI.THREAD_SERIALIZED, MPI.THREAD_MULTIPLE), True, "threads")
    MPI.Attach_buffer(bytearray(1 << 16))
    world.Bsend(ints([rank]), right, 8)
    got = ints([-1])
    world.Recv(got, left, 8)
    MPI.Detach_buffer()
    same(got[0], left, "bsend")
    if hasattr(MPI, "Session") and hasattr(MPI.Session, "Init"):
        session = MPI.Session.Init()
        names = [session.Get_nth_pset(i) for i in range(session.Get_num_psets())]
        same({"mpi://WORLD", "mpi://SELF"} <= set(names), True, "process sets")
        group = session.Create_group("mpi://SELF")
        same(group.size, 1, "a group of a session")
        comm = MPI.Intracomm.Create_from_group(group, "tag")
        comm.Free()
        group.Free()
        session.Finalize()


@test
def helpers():
    """mpi4py's own modules upon MPI: objects in parts, and a pool of workers."""
    from mpi4py.futures import MPICommExecutor
    from mpi4py.util import pkl5
    comm = pkl5.Intracomm(world)
    data = [bytearray([rank]) * 100000, {"rank": rank}]
    for got in (comm.sendrecv(data, dest=right, source=left), comm.allgather(data)[left], comm.alltoall([data] * size)[left]):
        same((got[0][99999], got[1]), (left, {"rank": left}), "pkl5")
    request = comm.isend(data, right)
    same(comm.mprobe(left).recv()[1], {"rank": left}, "pkl5, matched")
    request.wait()
    with MPICommExecutor(world, root=0) as executor:
        if executor is not None:
            same(list(executor.map(pow, range(50), [2] * 50, chunksize=3)), [i * i for i in range(50)], "map")
            same(sum(f.result() for f in [executor.submit(len, "x" * i) for i in range(30)]), 435, "submit")


for function in tests:
    try:
        function()
    except Exception:
        failures.append("%s: %s" % (function.__name__, traceback.format_exc()))
    world.Barrier()
for text in failures:
    sys.stderr.write("rank %d: %s\n" % (rank, text))
total = world.allreduce(len(failures))
if rank == 0:
    print("mpi4py's calls on %d ranks: %d tests, %d wrong" % (size, len(tests), total))
sys.exit(1 if total else 0)
