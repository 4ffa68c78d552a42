// A program for another MPI's own C++ wrapper, with the C++ bindings of MPI-2, which are that MPI's own library on Keel's.  Run by
// openmpi.test and mpich.test.  Prints what was wrong, or "right".  FUNCTIONS: with one that MPI calls.
#include <mpi.h>
#include <cstdio>

static int wrong;
static void check(bool holds, const char *what)
{
    if (!holds)
        std::printf("%s\n", what);
    wrong += !holds;
}

#ifdef FUNCTIONS
static void add(const void *in, void *inout, int n, const MPI::Datatype &type)
{
    check(type == MPI::INT, "the type of an operation");
    for (int i = 0; i < n; i++)
        static_cast<int *>(inout)[i] += static_cast<const int *>(in)[i];
}

static void functions(int rank, int size)
{
    int sum = 0;
    MPI::Op op;
    op.Init(add, true);
    MPI::COMM_WORLD.Allreduce(&rank, &sum, 1, MPI::INT, op);
    check(sum == size * (size - 1) / 2, "Op::Init");
    op.Free();
}
#endif

int main(int argc, char **argv)
{
    MPI::Init(argc, argv);
    int rank = MPI::COMM_WORLD.Get_rank(), size = MPI::COMM_WORLD.Get_size(), sum = 0, got = -1, all;
    MPI::COMM_WORLD.Allreduce(&rank, &sum, 1, MPI::INT, MPI::SUM);
    check(sum == size * (size - 1) / 2, "Allreduce");
    MPI::Status status;
    MPI::COMM_WORLD.Sendrecv(&rank, 1, MPI::INT, (rank + 1) % size, 3, &got, 1, MPI::INT, MPI::ANY_SOURCE, MPI::ANY_TAG, status);
    check(got == (rank + size - 1) % size && status.Get_source() == got && status.Get_tag() == 3, "Sendrecv");
    check(status.Get_count(MPI::INT) == 1, "Get_count");
    const int dims[1] = {size};
    const bool periods[1] = {true};
    MPI::Cartcomm ring = MPI::COMM_WORLD.Create_cart(1, dims, periods, false);
    int from, to;
    ring.Shift(0, 1, from, to);
    check(to == (rank + 1) % size, "Cartcomm::Shift");
    ring.Free();
    MPI::Datatype pair = MPI::DOUBLE.Create_contiguous(2);
    pair.Commit();
    check(pair.Get_size() == 16, "Create_contiguous");
    pair.Free();
    MPI::Request request = MPI::COMM_WORLD.Irecv(&got, 1, MPI::INT, rank, 9);
    MPI::COMM_WORLD.Send(&rank, 1, MPI::INT, rank, 9);
    request.Wait();
    check(got == rank && request == MPI::REQUEST_NULL, "Irecv");
    MPI::COMM_WORLD.Set_errhandler(MPI::ERRORS_RETURN);
#ifdef FUNCTIONS
    functions(rank, size);
#endif
    MPI::COMM_WORLD.Reduce(&wrong, &all, 1, MPI::INT, MPI::SUM, 0);
    if (rank == 0)
        std::printf("%s of %d\n", all ? "wrong" : "right", size);
    MPI::Finalize();
    return wrong != 0;
}
