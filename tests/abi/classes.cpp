// SPDX-License-Identifier: BSD-3-Clause
// A program for another MPI's own C++ wrapper, with the C++ bindings of MPI-2, which are that MPI's own library on Keel's.  Run by
// openmpi.test and mpich.test.  Prints what was wrong, or "right".  FUNCTIONS: with those that MPI calls.
#include <mpi.h>
#include <cstdio>

static int wrong;
static void check(bool holds, const char *what)
{
    if (!holds)
        std::printf("%s\n", what);
    wrong += !holds;
}

static void add(const void *in, void *inout, int n, const MPI::Datatype &type)
{
    check(type == MPI::INT, "the type of an operation");
    for (int i = 0; i < n; i++)
        static_cast<int *>(inout)[i] += static_cast<const int *>(in)[i];
}

static void operation(int rank, int size)
{
    int sum = 0;
    MPI::Op op;
    op.Init(add, true);
    MPI::COMM_WORLD.Allreduce(&rank, &sum, 1, MPI::INT, op);
    check(sum == size * (size - 1) / 2, "Op::Init");
    op.Free();
}

#ifdef FUNCTIONS
static char extra[] = "extra", value[] = "value", other[] = "other";
static int copied, deleted, errors, last;

static int copy_comm(const MPI::Comm &comm, int, void *state, void *in, void *out, bool &flag)
{
    check(comm.Get_size() > 0 && state == extra && in == value, "the arguments of a copy function");
    *static_cast<void **>(out) = other;
    flag = true;
    copied++;
    return MPI::SUCCESS;
}

static int delete_comm(MPI::Comm &comm, int, void *attribute, void *state)
{
    check(comm.Get_size() > 0 && state == extra && (attribute == value || attribute == other), "the arguments of a delete function");
    deleted++;
    return MPI::SUCCESS;
}

#ifdef OPEN_MPI
#define VALUE const void // Open MPI has it so in this one function
#else
#define VALUE void
#endif
static int copy_type(const MPI::Datatype &, int, void *, VALUE *, void *, bool &flag)
{
    flag = false;
    copied++;
    return MPI::SUCCESS;
}

static int delete_type(MPI::Datatype &type, int, void *, void *)
{
    check(type.Get_size() == 8, "the type of a delete function");
    deleted++;
    return MPI::SUCCESS;
}

static int copy_win(const MPI::Win &, int, void *, void *, void *, bool &)
{
    return MPI::ERR_OTHER;
}

static int delete_win(MPI::Win &, int, void *, void *)
{
    deleted++;
    return MPI::SUCCESS;
}

static void attributes()
{
    void *got = NULL;
    int key = MPI::Comm::Create_keyval(copy_comm, delete_comm, extra), type_key = MPI::Datatype::Create_keyval(copy_type, delete_type, extra),
        win_key = MPI::Win::Create_keyval(copy_win, delete_win, extra);
    MPI::Intracomm one = MPI::COMM_WORLD.Dup();
    one.Set_attr(key, value);
    MPI::Intracomm two = one.Dup();
    check(copied == 1 && two.Get_attr(key, &got) && got == other, "Comm::Create_keyval");
    two.Free();
    one.Free();
    check(deleted == 2, "the delete function of communicators");
    MPI::Comm::Free_keyval(key);
    MPI::Datatype type = MPI::INT.Create_contiguous(2);
    type.Set_attr(type_key, value);
    MPI::Datatype dup = type.Dup();
    check(copied == 2 && !dup.Get_attr(type_key, &got), "Datatype::Create_keyval");
    dup.Free();
    type.Free();
    check(deleted == 3, "the delete function of datatypes");
    MPI::Win win = MPI::Win::Create(value, 4, 1, MPI::INFO_NULL, MPI::COMM_WORLD);
    win.Set_attr(win_key, value);
    win.Delete_attr(win_key);
    check(deleted == 4, "the delete function of windows");
    win.Free();
}

static void count(int code)
{
    errors++;
    last = MPI::Get_error_class(code);
}

static void on_comm(MPI::Comm &comm, int *code, ...)
{
    check(comm.Get_size() == MPI::COMM_WORLD.Get_size(), "the communicator of an error handler");
    count(*code);
}

static void on_win(MPI::Win &, int *code, ...)
{
    count(*code);
}

static void on_file(MPI::File &, int *code, ...)
{
    count(*code);
}

static void handlers()
{
    int x = 0;
    MPI::Errhandler handler = MPI::Comm::Create_errhandler(on_comm);
    MPI::COMM_WORLD.Set_errhandler(handler);
    handler.Free();
    MPI::COMM_WORLD.Send(&x, 1, MPI::INT, 1000, 0);
    check(errors == 1 && last == MPI::ERR_RANK, "a handler of communicators, called once");
#ifdef OPEN_MPI
    const bool settles = false;
#else
    const bool settles = true; // so it is in MPICH
#endif
    check((MPI_Send(&x, 1, MPI_INT, 1000, 0, MPI_COMM_WORLD) == MPI_SUCCESS) == settles && errors == 2, "whether it settles the error");
    MPI::COMM_WORLD.Call_errhandler(MPI::ERR_TAG);
    check(errors == 3 && last == MPI::ERR_TAG, "Comm::Call_errhandler");
    MPI::Win win = MPI::Win::Create(&x, 4, 1, MPI::INFO_NULL, MPI::COMM_WORLD);
    handler = MPI::Win::Create_errhandler(on_win);
    win.Set_errhandler(handler);
    handler.Free();
    win.Call_errhandler(MPI::ERR_SIZE);
    check(errors == 4 && last == MPI::ERR_SIZE, "a handler of windows");
    win.Free();
    handler = MPI::File::Create_errhandler(on_file);
    MPI::FILE_NULL.Set_errhandler(handler);
    handler.Free();
    MPI::File::Open(MPI::COMM_SELF, "/no/such", MPI::MODE_RDONLY, MPI::INFO_NULL);
    check(errors == 5 && last == MPI::ERR_NO_SUCH_FILE, "a handler of files");
    MPI::COMM_WORLD.Set_errhandler(MPI::ERRORS_RETURN);
}

// Open MPI's library says that it was compiled without exceptions, if it was, as Debian's.
static void exceptions()
{
    int x = 0;
    MPI::COMM_WORLD.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
    try {
        MPI::COMM_WORLD.Send(&x, 1, MPI::INT, 1000, 0);
    } catch (MPI::Exception &e) {
        std::printf("%s is thrown\n", e.Get_error_class() == MPI::ERR_RANK ? "MPI::ERR_RANK" : "another error");
    }
    MPI::COMM_WORLD.Set_errhandler(MPI::ERRORS_RETURN);
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
    operation(rank, size);
#ifdef FUNCTIONS
    attributes();
    handlers();
    if (argc > 1)
        exceptions();
#endif
    MPI::COMM_WORLD.Reduce(&wrong, &all, 1, MPI::INT, MPI::SUM, 0);
    if (rank == 0)
        std::printf("%s of %d\n", all ? "wrong" : "right", size);
    MPI::Finalize();
    return wrong != 0;
}
