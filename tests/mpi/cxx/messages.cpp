// SPDX-License-Identifier: BSD-3-Clause
// The C++ bindings: messages, requests, probes, packing, collectives on all kinds of communicators, topologies.
// cflags: -DKEEL_CXX -std=c++98
// ranks: 1 2 4 8
#include "../check.h"
#include <vector>

using MPI::COMM_WORLD;

static void messages(MPI::Comm &comm, int n)
{
    int me = comm.Get_rank(), right = (me + 1) % n, left = (me + n - 1) % n, out = 100 + me, in = -1;
    MPI::Status status;
    comm.Sendrecv(&out, 1, MPI::INT, right, 7, &in, 1, MPI::INT, left, 7, status);
    CHECK_EQ(in, 100 + left);
    CHECK_EQ(status.Get_source(), left);
    CHECK_EQ(status.Get_tag(), 7);
    CHECK_EQ(status.Get_count(MPI::INT), 1);
    CHECK_EQ(status.Get_elements(MPI::BYTE), 4);
    CHECK(!status.Is_cancelled());
    comm.Sendrecv_replace(&out, 1, MPI::INT, right, 8, left, 8);
    CHECK_EQ(out, 100 + left);

    MPI::Request requests[20];
    MPI::Status statuses[20];
    int values[10], got[10];
    for (int i = 0; i < 10; i++) { // more than an array of the stack holds
        values[i] = 10 * me + i;
        requests[i] = comm.Irecv(&got[i], 1, MPI::INT, left, i);
        requests[10 + i] = i % 2 ? comm.Issend(&values[i], 1, MPI::INT, right, i) : comm.Isend(&values[i], 1, MPI::INT, right, i);
    }
    MPI::Request::Waitall(20, requests, statuses);
    for (int i = 0; i < 10; i++) {
        CHECK_EQ(got[i], 10 * left + i);
        CHECK(requests[i] == MPI::REQUEST_NULL && requests[10 + i] == MPI_REQUEST_NULL);
        CHECK_EQ(statuses[i].Get_tag(), i);
    }
    CHECK(MPI::Request::Testall(20, requests));

    MPI::Prequest both[2] = { comm.Send_init(&values[0], 1, MPI::INT, right, 3), comm.Recv_init(&got[0], 1, MPI::INT, left, 3) };
    for (int round = 0; round < 3; round++) {
        values[0] = 1000 * round + me;
        MPI::Prequest::Startall(2, both);
        int done = 0, indices[2];
        while (done < 2)
            done += MPI::Request::Waitsome(2, both, indices, statuses);
        CHECK_EQ(got[0], 1000 * round + left);
        CHECK(both[0] != MPI::REQUEST_NULL);
    }
    both[0].Free();
    both[1].Free();
    CHECK(both[0] == MPI::REQUEST_NULL);

    requests[0] = comm.Isend(&values[0], 1, MPI::INT, right, 4);
    comm.Probe(left, 4, status);
    CHECK_EQ(status.Get_tag(), 4);
    CHECK(comm.Iprobe(left, 4));
    comm.Recv(got, 1, MPI::INT, MPI::ANY_SOURCE, MPI::ANY_TAG);
    int index = -1;
    while (!MPI::Request::Testany(1, requests, index, status))
        ;
    CHECK_EQ(index, 0);
    CHECK(requests[0].Test());

    MPI::Request never = comm.Irecv(got, 1, MPI::INT, left, 99);
    never.Cancel();
    never.Wait(status);
    CHECK(status.Is_cancelled());

    std::vector<char> room(1000 + MPI::BSEND_OVERHEAD);
    void *back = 0;
    MPI::Attach_buffer(&room[0], static_cast<int>(room.size()));
    comm.Bsend(values, 1, MPI::INT, right, 5);
    comm.Recv(got, 1, MPI::INT, left, 5);
    CHECK_EQ(MPI::Detach_buffer(back), static_cast<int>(room.size()));
    CHECK(back == &room[0]);
}

static void datatypes(void)
{
    int matrix[4][5], packed = 0, lengths[2] = { 1, 1 };
    for (int i = 0; i < 20; i++)
        matrix[i / 5][i % 5] = i;
    MPI::Datatype column = MPI::INT.Create_vector(4, 1, 5), copy;
    column.Commit();
    char buffer[200];
    column.Pack(&matrix[0][2], 1, buffer, sizeof buffer, packed, COMM_WORLD);
    CHECK_EQ(packed, 16);
    CHECK(column.Pack_size(1, COMM_WORLD) >= 16);
    int plain[4] = { 0 };
    packed = 0;
    MPI::INT.Unpack(buffer, sizeof buffer, plain, 4, packed, COMM_WORLD);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(plain[i], 5 * i + 2);
    MPI::Aint lb, extent, size, position = 0;
    column.Get_extent(lb, extent);
    CHECK_EQ(extent, 16 * 4);
    CHECK_EQ(column.Get_size(), 16);
    size = MPI::INT.Pack_external_size("external32", 4);
    CHECK_EQ(size, 16);
    MPI::INT.Pack_external("external32", plain, 4, buffer, 200, position);
    CHECK_EQ(buffer[3], 2); // big-endian

    MPI::Aint at[2] = { 0, 8 };
    const MPI::Datatype types[2] = { MPI::INT, MPI::DOUBLE };
    copy = MPI::Datatype::Create_struct(2, lengths, at, types);
    int ni, na, nd, combiner, integers[10];
    MPI::Aint addresses[10];
    MPI::Datatype inner[2];
    copy.Get_envelope(ni, na, nd, combiner);
    CHECK(ni == 3 && na == 2 && nd == 2 && combiner == MPI::COMBINER_STRUCT);
    copy.Get_contents(ni, na, nd, integers, addresses, inner);
    CHECK(inner[0] == MPI::INT && inner[1] == MPI::DOUBLE && addresses[1] == 8);
    char name[MPI_MAX_OBJECT_NAME];
    int len = 0;
    copy.Set_name("a pair");
    copy.Get_name(name, len);
    CHECK(strcmp(name, "a pair") == 0 && len == 6);
    MPI::Datatype twin = copy.Dup(), wide = MPI::INT.Resized(0, 64);
    wide.Get_extent(lb, extent);
    CHECK_EQ(extent, 64);
    twin.Free();
    copy.Free();
    column.Free();
    wide.Free();
    CHECK(twin == MPI::DATATYPE_NULL);
    CHECK(MPI::Datatype::Match_size(MPI::TYPECLASS_REAL, 8).Get_size() == 8);
    CHECK_EQ(MPI::Get_address(plain), reinterpret_cast<intptr_t>(plain));
}

static void collectives(const MPI::Comm &comm, int peers)
{
    int me = comm.Get_rank(), sum = 0;
    const MPI::Intercomm *inter = dynamic_cast<const MPI::Intercomm *>(&comm);
    std::vector<int> counts(peers, 1), displs(peers), in(peers, -1), out(peers, me);
    std::vector<MPI::Datatype> types(peers, MPI::INT);
    for (int i = 0; i < peers; i++)
        displs[i] = i;
    comm.Barrier();
    comm.Allgather(&me, 1, MPI::INT, &in[0], 1, MPI::INT);
    for (int i = 0; i < peers; i++)
        CHECK_EQ(in[i], i);
    comm.Allreduce(&me, &sum, 1, MPI::INT, MPI::SUM);
    CHECK_EQ(sum, peers * (peers - 1) / 2);
    in.assign(peers, -1);
    comm.Alltoallv(&out[0], &counts[0], &displs[0], MPI::INT, &in[0], &counts[0], &displs[0], MPI::INT);
    for (int i = 0; i < peers; i++) {
        CHECK_EQ(in[i], i);
        displs[i] *= 4; // of bytes
    }
    in.assign(peers, -1);
    comm.Alltoallw(&out[0], &counts[0], &displs[0], &types[0], &in[0], &counts[0], &displs[0], &types[0]);
    for (int i = 0; i < peers; i++)
        CHECK_EQ(in[i], i);
    if (inter)
        return;
    int value = me == 0 ? 17 : 0;
    comm.Bcast(&value, 1, MPI::INT, 0);
    CHECK_EQ(value, 17);
    comm.Gather(&me, 1, MPI::INT, &in[0], 1, MPI::INT, 0);
    comm.Scatter(&in[0], 1, MPI::INT, &value, 1, MPI::INT, 0);
    CHECK_EQ(value, me);
    comm.Reduce(&me, &sum, 1, MPI::INT, MPI::MAX, 0);
    if (me == 0)
        CHECK_EQ(sum, peers - 1);
    comm.Reduce_scatter(&out[0], &value, &counts[0], MPI::INT, MPI::SUM);
    CHECK_EQ(value, peers * (peers - 1) / 2);
    in.assign(peers, me);
    comm.Alltoall(MPI::IN_PLACE, 0, MPI::DATATYPE_NULL, &in[0], 1, MPI::INT);
    for (int i = 0; i < peers; i++)
        CHECK_EQ(in[i], i);
}

static void communicators(void)
{
    int n = COMM_WORLD.Get_size(), me = COMM_WORLD.Get_rank(), prefix = -1;
    MPI::Intracomm dup = COMM_WORLD.Dup(), none;
    CHECK(none == MPI::COMM_NULL && MPI::COMM_NULL == none && none != dup && dup != MPI_COMM_NULL);
    CHECK_EQ(MPI::Comm::Compare(dup, COMM_WORLD), MPI::CONGRUENT);
    collectives(dup, n);
    dup.Scan(&me, &prefix, 1, MPI::INT, MPI::SUM);
    CHECK_EQ(prefix, me * (me + 1) / 2);
    MPI::Comm &clone = dup.Clone();
    CHECK_EQ(clone.Get_size(), n);
    CHECK(!clone.Is_inter() && clone.Get_topology() == MPI::UNDEFINED);
    clone.Free();
    delete &clone;

    MPI::Group world = COMM_WORLD.Get_group(), first, rest;
    int zero = 0, ranges[1][3] = { { 0, n - 1, 1 } };
    first = world.Incl(1, &zero);
    rest = world.Excl(1, &zero);
    MPI::Group all = world.Range_incl(1, ranges), joined = MPI::Group::Union(first, rest);
    CHECK_EQ(MPI::Group::Compare(all, world), MPI::IDENT);
    CHECK_EQ(joined.Get_size(), n);
    int theirs = -1;
    MPI::Group::Translate_ranks(first, 1, &zero, world, &theirs);
    CHECK_EQ(theirs, 0);
    MPI::Intracomm one = COMM_WORLD.Create(first);
    CHECK((one == MPI::COMM_NULL) == (me != 0));
    if (me == 0)
        one.Free();
    first.Free(), rest.Free(), all.Free(), joined.Free(), world.Free();

    if (n > 1) {
        MPI::Intracomm half = COMM_WORLD.Split(me % 2, me);
        MPI::Intercomm inter = half.Create_intercomm(0, COMM_WORLD, 1 - me % 2, 12);
        CHECK(inter.Is_inter());
        int remote = inter.Get_remote_size();
        CHECK_EQ(remote, me % 2 ? (n + 1) / 2 : n / 2);
        if (n % 2 == 0)
            collectives(inter, remote);
        MPI::Intracomm merged = inter.Merge(me % 2 != 0);
        CHECK_EQ(merged.Get_size(), n);
        merged.Free();
        MPI::Intercomm &twin = inter.Clone();
        twin.Free();
        delete &twin;
        inter.Free();
        half.Free();
    }

    int dims[2] = { 0, 0 };
    const bool periods[2] = { true, false }, keep[2] = { true, false };
    MPI::Compute_dims(n, 2, dims);
    MPI::Cartcomm grid = COMM_WORLD.Create_cart(2, dims, periods, false);
    CHECK_EQ(grid.Get_topology(), MPI::CART);
    CHECK_EQ(grid.Get_dim(), 2);
    int size[2], at[2], mine[2], source, dest;
    bool wraps[2] = { false, true };
    grid.Get_topo(2, size, wraps, at);
    CHECK(wraps[0] && !wraps[1] && size[0] == dims[0] && size[1] == dims[1]);
    CHECK_EQ(grid.Get_cart_rank(at), grid.Get_rank());
    grid.Get_coords(grid.Get_rank(), 2, mine);
    CHECK(mine[0] == at[0] && mine[1] == at[1]);
    grid.Shift(1, 1, source, dest);
    CHECK_EQ(dest == MPI::PROC_NULL, at[1] == dims[1] - 1);
    MPI::Cartcomm row = grid.Sub(keep), copy = grid.Dup();
    CHECK_EQ(row.Get_size(), dims[0]);
    CHECK_EQ(copy.Get_dim(), 2);
    collectives(grid, n);
    row.Free(), copy.Free(), grid.Free();

    std::vector<int> index(n), edges;
    for (int i = 0; i < n; i++) {
        edges.push_back((i + 1) % n);
        index[i] = i + 1;
    }
    MPI::Graphcomm ring = COMM_WORLD.Create_graph(n, &index[0], &edges[0], false);
    int nodes[1], links[1], neighbor;
    ring.Get_dims(nodes, links);
    CHECK(nodes[0] == n && links[0] == n);
    CHECK_EQ(ring.Get_neighbors_count(me), 1);
    ring.Get_neighbors(me, 1, &neighbor);
    CHECK_EQ(neighbor, (me + 1) % n);
    ring.Free();
    dup.Free();
}

int main(int argc, char **argv)
{
    CHECK(!MPI::Is_initialized());
    MPI::Init(argc, argv);
    CHECK(MPI::Is_initialized() && !MPI::Is_finalized());
    check_rank = COMM_WORLD.Get_rank();
    check_size = COMM_WORLD.Get_size();
    messages(COMM_WORLD, check_size);
    datatypes();
    communicators();
    CHECK_EQ(SEEK_SET, 0);
    CHECK(MPI::SEEK_END == MPI_SEEK_END && MPI::Wtick() > 0 && MPI::Wtime() > 0);
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    int len = 0, version, subversion;
    MPI::Get_processor_name(name, len);
    CHECK_EQ(strlen(name), len);
    MPI::Get_version(version, subversion);
    CHECK_EQ(version, MPI_VERSION);
    MPI::Pcontrol(0);
    MPI::Finalize();
    CHECK(MPI::Is_finalized());
    return check_failures != 0;
}
