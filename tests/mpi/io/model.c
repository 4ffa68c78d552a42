/* SPDX-License-Identifier: BSD-3-Clause */
/* Random views and patterns, written and read in every form, against a byte array that says what the file holds.
 * Each rank may write bytes that no other one may; who does not write in a round lends its share to nobody. */
/* ranks: 1 2 3 4 5 8 */
/* across: collective access sends data between nodes */
#include "io.h"

enum { FILE_MAX = 1 << 18, FORMS = 8, ROUNDS = 72 };

static unsigned char model[FILE_MAX * 2], mine[FILE_MAX * 2], packed[FILE_MAX], back[FILE_MAX * 2],
    there[FILE_MAX * 2];
static uint64_t state = 12345;

static int rnd(int below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)below);
}

/* The file as blocks of `block` bytes dealt to the ranks: rank r has block r of each `group`. */
struct deal {
    int block, group, times, disp, gap;
};

static MPI_Datatype filetype_of(const struct deal *d, int rank)
{
    MPI_Datatype t, r;
    int at[2] = { rank * d->block, rank * d->block + d->block / 2 };
    int len[2] = { d->block / 2, d->block - d->block / 2 };
    MPI_Type_indexed(2, len, at, MPI_BYTE, &t);
    MPI_Type_create_resized(t, 0, d->group, &r);
    MPI_Type_commit(&r);
    MPI_Type_free(&t);
    return r;
}

/* Where byte i of the view lies. */
static long place(const struct deal *d, int rank, long i)
{
    return d->disp + i / d->block * d->group + rank * d->block + i % d->block;
}

/* Memory: contiguous, or every second block of `step` bytes. */
static MPI_Datatype memory_of(int step, int bytes)
{
    MPI_Datatype t;
    MPI_Type_vector(bytes / step, step, 2 * step, MPI_BYTE, &t);
    MPI_Type_commit(&t);
    return t;
}

static void transfer(MPI_File f, int form, int write, long at, void *buf, int count, MPI_Datatype t,
                     MPI_Status *s)
{
    MPI_Request r;
    if (form != 1 && form != 3 && form != 4 && form != 6)
        MPI_File_seek(f, at, MPI_SEEK_SET);
#define DO(name, ...) \
    CHECK_ERR(write ? MPI_File_write##name(__VA_ARGS__) : MPI_File_read##name(__VA_ARGS__), MPI_SUCCESS)
#define IDO(name, ...) \
    CHECK_ERR(write ? MPI_File_iwrite##name(__VA_ARGS__) : MPI_File_iread##name(__VA_ARGS__), MPI_SUCCESS)
    switch (form) {
    case 0:
        DO(, f, buf, count, t, s);
        break;
    case 1:
        DO(_at, f, at, buf, count, t, s);
        break;
    case 2:
        DO(_all, f, buf, count, t, s);
        break;
    case 3:
        DO(_at_all, f, at, buf, count, t, s);
        break;
    case 4:
        IDO(_at, f, at, buf, count, t, &r);
        MPI_Wait(&r, s);
        break;
    case 5:
        IDO(_all, f, buf, count, t, &r);
        MPI_Wait(&r, s);
        break;
    case 6:
        DO(_at_all_begin, f, at, buf, count, t);
        DO(_at_all_end, f, buf, s);
        break;
    default:
        DO(_all_begin, f, buf, count, t);
        DO(_all_end, f, buf, s);
        break;
    }
}

/* Together, apart, or as the library thinks best. */
static MPI_Info hints_of(int n)
{
    static const char *const use[] = { "automatic", "enable", "disable" };
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", use[n % 3]);
    MPI_Info_set(info, "romio_cb_read", use[n / 3 % 3]);
    return info;
}

static void round_of(MPI_File f, int n)
{
    struct deal d;
    d.block = 1 + rnd(n % 3 == 0 ? 6000 : n % 3 == 1 ? 64 : 9);
    d.gap = rnd(2) * rnd(2 * d.block);
    d.group = d.block * check_size + d.gap;
    d.disp = rnd(5000);
    d.times = (FILE_MAX - 6000) / d.group;
    d.times = d.times ? 1 + rnd(d.times > 300 ? 300 : d.times) : 1;
    int step = 1 + rnd(40), form = n % FORMS, odd = rnd(2), skip = rnd(d.block);
    long bytes = (long)d.times * d.block - skip;
    bytes = bytes / step * step;
    MPI_Datatype ft = filetype_of(&d, check_rank), mt = odd && bytes ? memory_of(step, (int)bytes) : MPI_BYTE;
    int count = odd && bytes ? 1 : (int)bytes;
    MPI_Status s;
    MPI_Info info = hints_of(n / FORMS);
    CHECK_ERR(MPI_File_set_view(f, d.disp, MPI_BYTE, ft, n % 2 ? "native" : "internal", info), MPI_SUCCESS);
    MPI_Info_free(&info);
    /* what all write is known to all */
    for (int r = 0; r < check_size; r++)
        for (long i = 0; i < bytes; i++)
            model[place(&d, r, skip + i)] = check_byte((uint64_t)n * 100 + (uint64_t)r, (uint64_t)i);
    memset(mine, 0xee, sizeof mine);
    for (long i = 0; i < bytes; i++) {
        packed[i] = check_byte((uint64_t)n * 100 + (uint64_t)check_rank, (uint64_t)i);
        mine[odd ? i / step * 2 * step + i % step : i] = packed[i];
    }
    transfer(f, form, 1, skip, mine, count, mt, &s);
    CHECK_EQ(io_count(&s), bytes, "written in form %d, block %d", form, d.block);
    MPI_File_sync(f);
    memset(back, 0xdd, sizeof back);
    transfer(f, (form + rnd(FORMS)) % FORMS, 0, skip, back, count, mt, &s);
    CHECK_EQ(io_count(&s), bytes, "read in round %d", n);
    for (long i = 0; i < (odd ? bytes * 2 : bytes); i++) {
        int gap = odd && i / step % 2;
        long k = odd ? i / (2 * step) * step + i % step : i;
        if (back[i] != (gap ? 0xdd : packed[k])) {
            check_wrong(__FILE__, __LINE__, "round %d, form %d: byte %ld in memory is wrong", n, form, i);
            break;
        }
    }
    if (mt != MPI_BYTE)
        MPI_Type_free(&mt);
    MPI_Type_free(&ft);
}

static void compare(MPI_File f, int n)
{
    MPI_Offset size;
    MPI_Status s;
    MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_File_get_size(f, &size);
    MPI_File_read_at(f, 0, there, sizeof there, MPI_BYTE, &s);
    CHECK_EQ(io_count(&s), size);
    for (long i = 0; i < size; i++)
        if (there[i] != model[i]) {
            check_wrong(__FILE__, __LINE__, "after round %d: byte %ld is %d; expected %d", n, i, there[i],
                        model[i]);
            break;
        }
    for (long i = size; i < (long)sizeof model; i++)
        if (model[i]) {
            check_wrong(__FILE__, __LINE__, "after round %d: byte %ld is not in the file", n, i);
            break;
        }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    static const char *const keys[] = { "romio_cb_write", "romio_cb_read", "keel_map_write",
                                        "romio_ds_read" };
    static const char *const values[] = { "enable", "disable", "automatic" };
    check_init(&argc, &argv);
    io_file("model");
    for (int pass = 0; pass < 3; pass++) {
        MPI_File f;
        MPI_Info info;
        MPI_Info_create(&info);
        for (int k = 0; k < 4; k++)
            MPI_Info_set(info, keys[k], values[pass]);
        MPI_Info_set(info, "cb_buffer_size", pass == 0 ? "8192" : "1048576");
        MPI_Info_set(info, "ind_rd_buffer_size", "10000");
        if (pass == 0)
            MPI_Info_set(info, "cb_nodes", "3");
        memset(model, 0, sizeof model);
        CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, io_name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &f),
                  MPI_SUCCESS);
        MPI_Info_free(&info);
        CHECK_ERR(MPI_File_set_size(f, 0), MPI_SUCCESS);
        CHECK_ERR(MPI_File_set_atomicity(f, pass == 2 && check_size % 2), MPI_SUCCESS);
        for (int n = 0; n < ROUNDS; n++) {
            round_of(f, n);
            compare(f, n);
        }
        CHECK_ERR(MPI_File_close(&f), MPI_SUCCESS);
        CHECK(f == MPI_FILE_NULL);
    }
    io_remove();
    return check_done();
}
