// SPDX-License-Identifier: BSD-3-Clause
// The C++ bindings: exceptions, error handlers, operations, attributes, generalized requests, data representations, info; in a derived class,
// and objects that are initialized before main.
// cflags: -DKEEL_CXX -std=c++98
// ranks: 1 2 3
#include "../check.h"
#include <typeinfo>

using MPI::COMM_WORLD;

// Before main: constants are there.
static MPI::Datatype early(MPI::INT);
static const bool early_equal = early == MPI_INT && MPI::COMM_WORLD == MPI_COMM_WORLD;

// ---- Exceptions

static int class_of(void (*call)(void))
{
    try {
        call();
    } catch (MPI::Exception &e) {
        CHECK(strlen(e.Get_error_string()) > 0);
        CHECK(e.Get_error_code() != MPI::SUCCESS);
        return e.Get_error_class();
    }
    return MPI::SUCCESS;
}

static void bad_rank(void)
{
    int x = 0;
    COMM_WORLD.Send(&x, 1, MPI::INT, 12345, 0);
}
static void bad_in_c(void)
{
    int x = 0;
    MPI_Send(&x, 1, MPI_INT, 12345, 0, MPI_COMM_WORLD);
}
static MPI::Request left[2];
static MPI::Status told[2];
static void truncated(void)
{
    static int many[4], few;
    left[0] = MPI::COMM_SELF.Irecv(&few, 1, MPI::INT, 0, 1);
    left[1] = MPI::COMM_SELF.Isend(many, 4, MPI::INT, 0, 1);
    MPI::Request::Waitall(2, left, told);
}
static void no_file(void)
{
    MPI::File::Open(MPI::COMM_SELF, "/nowhere/at/all", MPI::MODE_RDONLY, MPI::INFO_NULL);
}
static int window_memory[4];
static void bad_window(void)
{
    MPI::Win win = MPI::Win::Create(window_memory, sizeof window_memory, 4, MPI::INFO_NULL, MPI::COMM_SELF);
    win.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
    try {
        win.Fence(0);
        win.Put(window_memory, 1, MPI::INT, 17, 0, 1, MPI::INT);
    } catch (...) {
        win.Free();
        throw;
    }
    win.Free();
}

static void exceptions(void)
{
    CHECK(COMM_WORLD.Get_errhandler() == MPI::ERRORS_ARE_FATAL);
    COMM_WORLD.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
    MPI::Errhandler eh = COMM_WORLD.Get_errhandler();
    CHECK(eh == MPI::ERRORS_THROW_EXCEPTIONS && eh != MPI::ERRORS_RETURN);
    eh.Free();
    CHECK(eh == MPI::ERRHANDLER_NULL);
    MPI::COMM_SELF.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
    for (int i = 0; i < 100; i++) { // leaves nothing behind in the library
        CHECK_EQ(class_of(bad_rank), MPI::ERR_RANK);
        CHECK_EQ(class_of(bad_in_c), MPI::ERR_RANK);
    }
    CHECK_EQ(class_of(truncated), MPI::ERR_IN_STATUS);
    MPI::Exception inner(told[0].Get_error());
    CHECK_EQ(inner.Get_error_class(), MPI::ERR_TRUNCATE);
    CHECK_EQ(told[1].Get_error(), MPI::SUCCESS);
    CHECK(left[0] == MPI::REQUEST_NULL && left[1] == MPI::REQUEST_NULL);
    MPI::FILE_NULL.Get_errhandler();
    MPI::File null;
    null.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
    CHECK(null.Get_errhandler() == MPI::ERRORS_THROW_EXCEPTIONS);
    CHECK_EQ(class_of(no_file), MPI::ERR_NO_SUCH_FILE);
    null.Set_errhandler(MPI::ERRORS_RETURN);
    CHECK_EQ(class_of(no_file), MPI::SUCCESS);
    CHECK_EQ(class_of(bad_window), MPI::ERR_RANK);

    int own = MPI::Add_error_class(), code = MPI::Add_error_code(own);
    MPI::Add_error_string(code, "out of cheese");
    CHECK_EQ(MPI::Get_error_class(code), own);
    try {
        COMM_WORLD.Call_errhandler(code);
        CHECK(false, "no exception");
    } catch (const MPI::Exception &e) {
        CHECK(strstr(e.Get_error_string(), "out of cheese") != 0);
        CHECK_EQ(e.Get_error_class(), own);
    }
}

// ---- Error handlers

static int handled[4], was_class, was_inter;
template <int I> static void handler(MPI::Comm &comm, int *code, ...)
{
    handled[I]++;
    was_class = MPI::Get_error_class(*code);
    was_inter = comm.Is_inter();
    CHECK((dynamic_cast<MPI::Cartcomm *>(&comm) != 0) == (I == 1));
}
static void win_handler(MPI::Win &win, int *code, ...)
{
    CHECK(win != MPI::WIN_NULL);
    handled[2] += *code != MPI::SUCCESS;
}
static void file_handler(MPI::File &file, int *code, ...)
{
    CHECK(file == MPI::FILE_NULL);
    handled[3] += *code != MPI::SUCCESS;
}

static void error_handlers(void)
{
    MPI::Errhandler zero = MPI::Comm::Create_errhandler(handler<0>), one = MPI::Comm::Create_errhandler(handler<1>);
    const int dims[1] = { 1 };
    const bool periods[1] = { false };
    MPI::Cartcomm cart = MPI::COMM_SELF.Create_cart(1, dims, periods, false);
    MPI::Intracomm dup = MPI::COMM_SELF.Dup();
    dup.Set_errhandler(zero);
    cart.Set_errhandler(one);
    zero.Free();
    one.Free();
    int x = 0;
    dup.Send(&x, 1, MPI::INT, 5, 0);
    cart.Send(&x, -1, MPI::INT, 0, 0);
    cart.Call_errhandler(MPI::ERR_OTHER);
    CHECK_EQ(handled[0], 1);
    CHECK_EQ(handled[1], 2);
    CHECK_EQ(was_class, MPI::ERR_OTHER);
    CHECK_EQ(was_inter, 0);
    cart.Free();
    dup.Free();
    MPI::Errhandler wh = MPI::Win::Create_errhandler(win_handler), fh = MPI::File::Create_errhandler(file_handler);
    MPI::Win win = MPI::Win::Create(window_memory, sizeof window_memory, 4, MPI::INFO_NULL, MPI::COMM_SELF);
    win.Set_errhandler(wh);
    win.Call_errhandler(MPI::ERR_WIN);
    CHECK_EQ(handled[2], 1);
    win.Free();
    MPI::File null;
    null.Set_errhandler(fh);
    no_file();
    CHECK_EQ(handled[3], 1);
    null.Set_errhandler(MPI::ERRORS_RETURN);
    wh.Free();
    fh.Free();
}

// ---- Operations: more of them than one

template <int I> static void times(const void *in, void *inout, int len, const MPI::Datatype &type)
{
    const int *a = static_cast<const int *>(in);
    int *b = static_cast<int *>(inout);
    CHECK(type == MPI::INT);
    for (int i = 0; i < len; i++)
        b[i] = I * (a[i] + b[i]);
}
template <int I> static void operate(void)
{
    MPI::Op op;
    CHECK(op == MPI::OP_NULL);
    op.Init(times<I>, true);
    int one[2] = { 1, 2 }, sum[2];
    MPI::COMM_SELF.Allreduce(one, sum, 2, MPI::INT, op);
    MPI_Reduce_local(one, sum, 2, MPI_INT, op);
    CHECK(sum[0] == 2 * I && sum[1] == 4 * I);
    if (COMM_WORLD.Get_size() == 2) {
        COMM_WORLD.Allreduce(one, sum, 2, MPI::INT, op);
        CHECK(sum[0] == 2 * I && sum[1] == 4 * I);
    }
    op.Free();
    CHECK(op == MPI::OP_NULL);
}

// ---- Attributes

struct counts {
    int copies, deletions;
};
static int copy_comm(const MPI::Comm &comm, int, void *extra, void *in, void *out, bool &flag)
{
    static_cast<counts *>(extra)->copies++;
    *static_cast<void **>(out) = in;
    flag = comm.Get_size() > 0;
    return MPI::SUCCESS;
}
static int delete_comm(MPI::Comm &, int, void *, void *extra)
{
    static_cast<counts *>(extra)->deletions++;
    return MPI::SUCCESS;
}
static int copy_type(const MPI::Datatype &, int, void *extra, const void *, void *, bool &flag)
{
    static_cast<counts *>(extra)->copies++;
    flag = false;
    return MPI::SUCCESS;
}
static int delete_type(MPI::Datatype &, int, void *, void *extra)
{
    static_cast<counts *>(extra)->deletions++;
    return MPI::SUCCESS;
}
static int delete_win(MPI::Win &, int, void *, void *extra)
{
    static_cast<counts *>(extra)->deletions++;
    return MPI::SUCCESS;
}

static void attributes(void)
{
    counts c = { 0, 0 }, t = { 0, 0 }, w = { 0, 0 };
    int value = 5, *got = 0, *limit = 0;
    int key = MPI::Comm::Create_keyval(copy_comm, delete_comm, &c), plain = MPI::Comm::Create_keyval(MPI::Comm::NULL_COPY_FN, MPI::NULL_DELETE_FN, 0),
        dup_key = MPI::Comm::Create_keyval(MPI::Comm::DUP_FN, MPI::Comm::NULL_DELETE_FN, 0);
    MPI::Intracomm one = COMM_WORLD.Dup();
    one.Set_attr(key, &value);
    one.Set_attr(plain, &value);
    one.Set_attr(dup_key, &value);
    MPI::Intracomm two = one.Dup();
    CHECK_EQ(c.copies, 1);
    CHECK(two.Get_attr(key, &got) && got == &value);
    CHECK(!two.Get_attr(plain, &got));
    CHECK(two.Get_attr(dup_key, &got) && got == &value);
    two.Free();
    CHECK_EQ(c.deletions, 1);
    one.Delete_attr(key);
    CHECK_EQ(c.deletions, 2);
    one.Free();
    MPI::Comm::Free_keyval(key), MPI::Comm::Free_keyval(plain), MPI::Comm::Free_keyval(dup_key);
    CHECK_EQ(key, MPI::KEYVAL_INVALID);
    CHECK(COMM_WORLD.Get_attr(MPI::TAG_UB, &limit) && *limit >= 32767);

    key = MPI::Datatype::Create_keyval(copy_type, delete_type, &t);
    MPI::Datatype type = MPI::INT.Create_contiguous(3), twin;
    type.Set_attr(key, &value);
    twin = type.Dup();
    CHECK(!twin.Get_attr(key, &got));
    CHECK(type.Get_attr(key, &got) && got == &value);
    type.Free(), twin.Free();
    CHECK(t.copies == 1 && t.deletions == 1);
    MPI::Datatype::Free_keyval(key);

    key = MPI::Win::Create_keyval(MPI::Win::NULL_COPY_FN, delete_win, &w);
    MPI::Win win = MPI::Win::Create(window_memory, sizeof window_memory, 4, MPI::INFO_NULL, MPI::COMM_SELF);
    win.Set_attr(key, &value);
    CHECK(win.Get_attr(key, &got) && got == &value);
    win.Free();
    CHECK_EQ(w.deletions, 1);
    MPI::Win::Free_keyval(key);
}

// ---- Generalized requests

static int freed, cancelled;
static int query(void *extra, MPI::Status &status)
{
    status.Set_elements(MPI::INT, *static_cast<int *>(extra));
    status.Set_cancelled(false);
    status.Set_source(MPI::UNDEFINED);
    status.Set_tag(77);
    return MPI::SUCCESS;
}
static int release(void *)
{
    freed++;
    return MPI::SUCCESS;
}
static int cancel(void *, bool complete)
{
    cancelled += complete ? 10 : 1;
    return MPI::SUCCESS;
}

static void generalized(void)
{
    int n = 6;
    MPI::Status status;
    MPI::Grequest request = MPI::Grequest::Start(query, release, cancel, &n);
    CHECK(!request.Test());
    request.Cancel();
    CHECK_EQ(cancelled, 1);
    request.Complete();
    CHECK(request.Get_status(status));
    request.Wait(status);
    CHECK_EQ(status.Get_count(MPI::INT), 6);
    CHECK_EQ(status.Get_tag(), 77);
    CHECK(request == MPI::REQUEST_NULL);
    CHECK_EQ(freed, 1);
}

// ---- Data representations

static int conversions;
static int convert(void *userbuf, MPI::Datatype &type, int count, void *filebuf, MPI::Offset position, void *extra)
{
    CHECK(extra == &conversions && type == MPI::INT);
    const int *from = static_cast<int *>(userbuf) + position;
    for (int i = 0; i < count; i++)
        static_cast<int *>(filebuf)[i] = ~from[i];
    conversions++;
    return MPI::SUCCESS;
}
static int extent_of(const MPI::Datatype &type, MPI::Aint &extent, void *)
{
    extent = type.Get_size();
    return MPI::SUCCESS;
}

static void representation(void)
{
    char name[64];
    int out[3] = { 1, 2, 3 }, in[3] = { 0, 0, 0 };
    snprintf(name, sizeof name, "cxx-%d-%d.tmp", check_rank, static_cast<int>(getpid()));
    MPI::Register_datarep("inverted", 0, convert, extent_of, &conversions);
    MPI::File file = MPI::File::Open(MPI::COMM_SELF, name, MPI::MODE_CREATE | MPI::MODE_RDWR | MPI::MODE_DELETE_ON_CLOSE, MPI::INFO_NULL);
    file.Set_view(0, MPI::INT, MPI::INT, "inverted", MPI::INFO_NULL);
    file.Write(out, 3, MPI::INT);
    file.Set_view(0, MPI::INT, MPI::INT, "native", MPI::INFO_NULL);
    MPI::Status status;
    file.Read_at(0, in, 3, MPI::INT, status);
    CHECK_EQ(status.Get_count(MPI::INT), 3);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(in[i], ~out[i]);
    CHECK(conversions > 0);
    CHECK_EQ(file.Get_size(), 12);
    file.Seek(4, MPI::SEEK_SET);
    CHECK_EQ(file.Get_position(), 4);
    MPI::Datatype etype, filetype;
    MPI::Offset disp = -1;
    char rep[MPI_MAX_DATAREP_STRING];
    file.Get_view(disp, etype, filetype, rep);
    CHECK(disp == 0 && etype == MPI::INT && strcmp(rep, "native") == 0);
    file.Set_atomicity(true);
    CHECK(file.Get_atomicity());
    MPI::Request request = file.Iread_at(0, in, 1, MPI::INT);
    request.Wait();
    file.Close();
    CHECK(file == MPI::FILE_NULL);
}

// ---- A class of the user's

class logged : public MPI::Intracomm
{
  public:
    static int sends;
    logged(const MPI::Intracomm &comm) : MPI::Intracomm(comm) {}
    void Send(const void *buf, int count, const MPI::Datatype &type, int dest, int tag) const
    {
        sends++;
        MPI::Intracomm::Send(buf, count, type, dest, tag);
    }
};
int logged::sends;

static void through_base(const MPI::Comm &comm)
{
    int x = 3;
    comm.Send(&x, 1, MPI::INT, MPI::PROC_NULL, 0);
}

static void infos(void)
{
    MPI::Info info = MPI::Info::Create(), copy;
    char value[20] = "", key[MPI_MAX_INFO_KEY];
    int len = 0;
    info.Set("color", "blue");
    copy = info.Dup();
    CHECK(copy.Get("color", 19, value) && strcmp(value, "blue") == 0);
    CHECK(!copy.Get("shape", 19, value));
    CHECK(copy.Get_valuelen("color", len) && len == 4);
    copy.Get_nthkey(0, key);
    CHECK_EQ(copy.Get_nkeys(), 1);
    copy.Delete("color");
    CHECK_EQ(copy.Get_nkeys(), 0);
    copy.Free(), info.Free();
    CHECK(info == MPI::INFO_NULL);
    void *memory = MPI::Alloc_mem(100, MPI::INFO_NULL);
    memset(memory, 1, 100);
    MPI::Free_mem(memory);
}

int main(int argc, char **argv)
{
    int level = MPI::Init_thread(argc, argv, MPI::THREAD_SINGLE);
    check_rank = COMM_WORLD.Get_rank();
    CHECK(level >= MPI::THREAD_SINGLE && MPI::Query_thread() == level && MPI::Is_thread_main());
    CHECK(early_equal);
    exceptions();
    error_handlers();
    operate<1>(), operate<2>(), operate<3>();
    attributes();
    generalized();
    representation();
    through_base(logged(COMM_WORLD));
    CHECK_EQ(logged::sends, 1);
    infos();
    MPI::Finalize();
    return check_failures != 0;
}
