/* SPDX-License-Identifier: BSD-3-Clause */
/* Nonblocking and split collective accesses in two phases: several under way at once, on different files and on
 * one, whose ends are awaited in another order by each rank, beside other collective calls; they begin without the
 * others, and go on in any call. */
/* ranks: 1 2 3 4 5 8 */
/* across: collective access sends data between nodes */
#include "io.h"

enum { FILES = 3, AT_ONCE = 4, PIECES = 150, PIECE_MAX = 700, FORMS = 4 };
enum form { I_AT_ALL, I_ALL, SPLIT_AT, SPLIT };

static MPI_File file[FILES];
static char names[FILES][300];
static unsigned char data[FILES][AT_ONCE][PIECES * PIECE_MAX], whole[AT_ONCE * PIECES * PIECE_MAX * 8 + 1];

static int piece_of(int x)
{
    static const int piece[FILES] = { 7, 64, PIECE_MAX };
    return piece[x];
}

static int bytes_of(int x)
{
    return piece_of(x) * PIECES;
}

static uint64_t seed_of(int x, int k, int rank, int round)
{
    return (uint64_t)(((round * FILES + x) * AT_ONCE + k) * 16 + rank + 1);
}

static void open_files(const char *use)
{
    for (int x = 0; x < FILES; x++) {
        MPI_Info info;
        MPI_Datatype t, ft;
        MPI_Info_create(&info);
        MPI_Info_set(info, "romio_cb_write", use);
        MPI_Info_set(info, "romio_cb_read", use);
        MPI_Info_set(info, "cb_nodes", x ? "3" : "1");
        MPI_Info_set(info, "cb_buffer_size", x == 1 ? "1000000" : "8192");
        snprintf(names[x], sizeof names[x], "%s-%d", io_name, x);
        CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, names[x], MPI_MODE_RDWR | MPI_MODE_CREATE, info, &file[x]),
                  MPI_SUCCESS);
        MPI_Info_free(&info);
        MPI_Type_contiguous(piece_of(x), MPI_BYTE, &t);
        MPI_Type_create_resized(t, 0, (MPI_Aint)piece_of(x) * check_size, &ft);
        MPI_Type_commit(&ft);
        CHECK_ERR(MPI_File_set_view(file[x], (MPI_Offset)check_rank * piece_of(x), MPI_BYTE, ft, "native",
                                    MPI_INFO_NULL),
                  MPI_SUCCESS);
        MPI_Type_free(&t);
        MPI_Type_free(&ft);
    }
}

static void close_files(void)
{
    for (int x = 0; x < FILES; x++) {
        CHECK_ERR(MPI_File_close(&file[x]), MPI_SUCCESS);
        if (check_rank == 0)
            unlink(names[x]);
    }
}

/* The k-th access of file x. */
static void begin(enum form form, int write, int x, int k, MPI_Request *r)
{
    MPI_Offset at = (MPI_Offset)k * bytes_of(x);
    MPI_File f = file[x];
    void *b = data[x][k];
    int n = bytes_of(x), err;
    if (form == I_ALL || form == SPLIT)
        MPI_File_seek(f, at, MPI_SEEK_SET);
    switch (form) {
    case I_AT_ALL:
        err = write ? MPI_File_iwrite_at_all(f, at, b, n, MPI_BYTE, r)
                    : MPI_File_iread_at_all(f, at, b, n, MPI_BYTE, r);
        break;
    case I_ALL:
        err = write ? MPI_File_iwrite_all(f, b, n, MPI_BYTE, r) : MPI_File_iread_all(f, b, n, MPI_BYTE, r);
        break;
    case SPLIT_AT:
        err = write ? MPI_File_write_at_all_begin(f, at, b, n, MPI_BYTE)
                    : MPI_File_read_at_all_begin(f, at, b, n, MPI_BYTE);
        break;
    default:
        err =
            write ? MPI_File_write_all_begin(f, b, n, MPI_BYTE) : MPI_File_read_all_begin(f, b, n, MPI_BYTE);
        break;
    }
    CHECK_ERR(err, MPI_SUCCESS);
}

static void end_split(enum form form, int write, int x, int k)
{
    MPI_Status s;
    MPI_File f = file[x];
    void *b = data[x][k];
    CHECK_ERR(form == SPLIT_AT
                  ? write ? MPI_File_write_at_all_end(f, b, &s) : MPI_File_read_at_all_end(f, b, &s)
              : write ? MPI_File_write_all_end(f, b, &s)
                      : MPI_File_read_all_end(f, b, &s),
              MPI_SUCCESS);
    CHECK_EQ(io_count(&s), bytes_of(x));
}

/* Each rank in an order of its own. */
static void end_in_turn(MPI_Request *r, int n)
{
    MPI_Status s;
    int i;
    if (check_rank % 3 == 1)
        for (i = n - 1; i >= 0; i--) {
            CHECK_ERR(MPI_Wait(&r[i], &s), MPI_SUCCESS);
            CHECK_EQ(io_count(&s), bytes_of(i / AT_ONCE));
        }
    for (int left = check_rank % 3 == 1 ? 0 : n; left > 0; left--) {
        int flag = 0;
        while (!flag)
            if (check_rank % 3 == 0)
                CHECK_ERR(MPI_Waitany(n, r, &i, &s), MPI_SUCCESS), flag = 1;
            else
                CHECK_ERR(MPI_Testany(n, r, &i, &flag, &s), MPI_SUCCESS);
        CHECK_EQ(io_count(&s), bytes_of(i / AT_ONCE));
    }
}

/* All accesses at once; between their beginnings and their ends other collective calls of the files. */
static void run(enum form form, int write)
{
    MPI_Request r[FILES * AT_ONCE];
    MPI_Offset size;
    int at_once = form == SPLIT || form == SPLIT_AT ? 1 : AT_ONCE, sum, one = 1;
    for (int k = 0; k < AT_ONCE; k += at_once) {
        for (int i = 0; i < at_once; i++)
            for (int x = 0; x < FILES; x++)
                begin(form, write, x, k + i, &r[x * AT_ONCE + i]);
        for (int x = 0; x < FILES && at_once > 1; x++) /* a split one may not be under way then */
            CHECK_ERR(MPI_File_sync(file[x]), MPI_SUCCESS);
        CHECK_ERR(MPI_File_get_size(file[0], &size), MPI_SUCCESS);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK_EQ(sum, check_size);
        for (int x = 0; x < FILES && at_once == 1; x++) {
            int mine = (x + check_rank) % FILES;
            end_split(form, write, mine, k);
        }
    }
    if (at_once > 1)
        end_in_turn(r, FILES * AT_ONCE);
}

static void check_files(int round)
{
    MPI_Barrier(MPI_COMM_WORLD);
    for (int x = 0; x < FILES; x++) {
        int piece = piece_of(x), wrong = 0;
        FILE *f = fopen(names[x], "rb");
        size_t n = f ? fread(whole, 1, sizeof whole, f) : 0;
        CHECK_EQ(n, (size_t)AT_ONCE * bytes_of(x) * check_size, "file %d", x);
        for (size_t i = 0; i < n && !wrong; i++) {
            long p = (long)(i / piece), mine = p / check_size * piece + (long)(i % piece);
            int rank = (int)(p % check_size), k = (int)(mine / bytes_of(x));
            wrong = whole[i] != check_byte(seed_of(x, k, rank, round), (uint64_t)(mine % bytes_of(x)));
            CHECK(!wrong, "round %d, file %d: byte %zu is %d", round, x, i, whole[i]);
        }
        if (f)
            fclose(f);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void rounds(const char *use)
{
    open_files(use);
    for (int form = 0; form < FORMS; form++) {
        for (int x = 0; x < FILES; x++)
            for (int k = 0; k < AT_ONCE; k++)
                check_fill(data[x][k], (size_t)bytes_of(x), seed_of(x, k, check_rank, form));
        run((enum form)form, 1);
        check_files(form);
        memset(data, 0xdd, sizeof data);
        run((enum form)((form + 1) % FORMS), 0);
        for (int x = 0; x < FILES; x++)
            for (int k = 0; k < AT_ONCE; k++)
                CHECK_BYTES(data[x][k], (size_t)bytes_of(x), seed_of(x, k, check_rank, form));
    }
    close_files();
}

/* The call does not wait for the others, which come only after a message of rank 0; and rank 0 goes on with it
 * while it waits for a message that the last one sends only when its own access is over. */
static void progress(void)
{
    MPI_Request r;
    int token = 1;
    open_files("enable");
    for (int write = 1; write >= 0; write--) {
        if (check_rank > 0)
            MPI_Recv(&token, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        begin(I_AT_ALL, write, 2, 1, &r);
        for (int i = 1; check_rank == 0 && i < check_size; i++)
            MPI_Send(&token, 1, MPI_INT, i, 1, MPI_COMM_WORLD);
        if (check_rank == 0 && check_size > 1)
            MPI_Recv(&token, 1, MPI_INT, check_size - 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_ERR(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_SUCCESS);
        if (check_rank == check_size - 1 && check_rank > 0)
            MPI_Send(&token, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    }
    close_files();
}

/* One that is refused in one process does not keep the others waiting; the view changes meanwhile. */
static void alone(void)
{
    MPI_Request r;
    MPI_Status s;
    int n = bytes_of(1), last = check_rank == check_size - 1, err;
    open_files("enable");
    check_fill(data[1][0], (size_t)n, 5);
    err = MPI_File_iwrite_at_all(file[1], last ? -1 : 0, data[1][0], n, MPI_BYTE, &r);
    CHECK_ERR(err, last ? MPI_ERR_ARG : MPI_SUCCESS);
    if (!last) {
        CHECK_ERR(MPI_Wait(&r, &s), MPI_SUCCESS);
        CHECK_EQ(io_count(&s), n);
    }
    err = MPI_File_read_at_all_begin(file[1], last ? -1 : 0, data[1][1], n, MPI_BYTE);
    CHECK_ERR(err, last ? MPI_ERR_ARG : MPI_SUCCESS);
    if (!last) {
        CHECK_ERR(MPI_File_read_at_all_end(file[1], data[1][1], &s), MPI_SUCCESS);
        CHECK_BYTES(data[1][1], (size_t)n, 5);
    }
    begin(I_ALL, 1, 1, 2, &r);
    CHECK_ERR(MPI_File_set_view(file[1], 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), MPI_SUCCESS);
    CHECK_ERR(MPI_Wait(&r, &s), MPI_SUCCESS);
    CHECK_EQ(io_count(&s), n);
    close_files();
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    io_file("together");
    rounds("enable");
    rounds("automatic");
    progress();
    alone();
    return check_done();
}
