/* SPDX-License-Identifier: BSD-3-Clause */
/* Every representation of data beside the native one: random types and views, and files that end anywhere: the
 * same items come, the status counts them, and pointers go as far.  The program's functions count items, and take
 * them in parts. */
/* ranks: 1 2 3 4 */
/* across: collective accesses, and the shared pointer of another node */
/* timeout: 120 */
#include "io.h"

enum { MAX_MAP = 64, STEP = 64, CASES = 30, LONG_ENOUGH = 1200000 };

/* Items of a type, in order: where they are in memory. */
struct map {
    int n;
    MPI_Datatype basic[MAX_MAP];
    MPI_Aint at[MAX_MAP];
    MPI_Aint extent;
};

static void add(struct map *m, MPI_Datatype basic, MPI_Aint at)
{
    CHECK(m->n < MAX_MAP);
    m->basic[m->n] = basic;
    m->at[m->n++] = at;
}

/* What is in the type, as any program can find out. */
static void decode(struct map *m, MPI_Datatype t, MPI_Aint at)
{
    int ni, na, nt, combiner, i[2 * MAX_MAP];
    MPI_Aint a[MAX_MAP], lb, extent;
    MPI_Datatype d[MAX_MAP];
    MPI_Type_get_envelope(t, &ni, &na, &nt, &combiner);
    if (combiner == MPI_COMBINER_NAMED) {
        add(m, t == MPI_2INT ? MPI_INT : t, at);
        if (t == MPI_2INT)
            add(m, MPI_INT, at + (MPI_Aint)sizeof(int));
        return;
    }
    MPI_Type_get_contents(t, ni, na, nt, i, a, d);
    MPI_Type_get_extent(d[0], &lb, &extent);
    if (combiner == MPI_COMBINER_CONTIGUOUS)
        for (int k = 0; k < i[0]; k++)
            decode(m, d[0], at + k * extent);
    else if (combiner == MPI_COMBINER_VECTOR)
        for (int k = 0; k < i[0]; k++)
            for (int b = 0; b < i[1]; b++)
                decode(m, d[0], at + (k * i[2] + b) * extent);
    else if (combiner == MPI_COMBINER_STRUCT)
        for (int k = 0; k < i[0]; k++) {
            MPI_Type_get_extent(d[k], &lb, &extent);
            for (int b = 0; b < i[1 + k]; b++)
                decode(m, d[k], at + a[k] + b * extent);
        }
    else if (combiner == MPI_COMBINER_RESIZED || combiner == MPI_COMBINER_DUP)
        decode(m, d[0], at);
    else
        CHECK(0, "combiner %d", combiner);
    for (int k = 0; k < nt; k++) {
        MPI_Type_get_envelope(d[k], &ni, &na, &nt, &combiner);
        if (combiner != MPI_COMBINER_NAMED)
            MPI_Type_free(&d[k]);
    }
}

static struct map map_of(MPI_Datatype t)
{
    struct map m = { 0 };
    MPI_Aint lb;
    decode(&m, t, 0);
    MPI_Type_get_extent(t, &lb, &m.extent);
    return m;
}

static int size_of(MPI_Datatype basic)
{
    int size;
    MPI_Type_size(basic, &size);
    return size;
}

/* ---- The program's representation: a mark, then the bytes backwards ---- */

static int parts; /* calls whose position is not 0 */

static int size_there(MPI_Datatype basic)
{
    return size_of(basic) + (basic == MPI_2INT ? 2 : 1);
}

static int extent_fn(MPI_Datatype t, MPI_Aint *e, void *state)
{
    (void)state;
    *e = size_there(t);
    return MPI_SUCCESS;
}

static int convert(char *user, MPI_Datatype t, MPI_Count count, unsigned char *file, MPI_Offset position,
                   int writes)
{
    struct map m = map_of(t);
    CHECK(position >= 0 && count > 0);
    parts += position > 0;
    for (MPI_Count k = position; k < position + count; k++) {
        int e = (int)(k % m.n), n = size_of(m.basic[e]);
        char *p = user + k / m.n * m.extent + m.at[e];
        if (writes)
            *file = (unsigned char)(0xa0 + n);
        else if (*file != 0xa0 + n && *file != 0) /* 0: nobody has written it */
            return MPI_ERR_OTHER;
        file++;
        for (int b = 0; b < n; b++, file++)
            if (writes)
                *file = (unsigned char)p[n - 1 - b];
            else
                p[n - 1 - b] = (char)*file;
    }
    return MPI_SUCCESS;
}

static int to_file(void *user, MPI_Datatype t, int count, void *file, MPI_Offset position, void *state)
{
    (void)state;
    return convert(user, t, count, file, position, 1);
}

static int from_file(void *user, MPI_Datatype t, int count, void *file, MPI_Offset position, void *state)
{
    (void)state;
    return convert(user, t, count, file, position, 0);
}

static int to_file_c(void *user, MPI_Datatype t, MPI_Count count, void *file, MPI_Offset position,
                     void *state)
{
    (void)state;
    return convert(user, t, count, file, position, 1);
}

static int from_file_c(void *user, MPI_Datatype t, MPI_Count count, void *file, MPI_Offset position,
                       void *state)
{
    (void)state;
    return convert(user, t, count, file, position, 0);
}

/* ---- A case: an etype of one to three items, in the file and in memory ---- */

static unsigned seed = 20; /* the same in all ranks */

static int dice(int n)
{
    seed = seed * 1103515245u + 12345u;
    return (int)((seed >> 16) % (unsigned)n);
}

struct one {
    const char *rep;
    MPI_Datatype etype, filetype, memtype;
    struct map e, m; /* of the etype, and of the memory type */
    int elements;    /* of the memory type, in an access */
    int etypes;      /* that these are */
    int salt;        /* of the data */
};

/* Its items lie STEP bytes apart in the file, so that they have room in each representation. */
static void make(struct one *c)
{
    const MPI_Datatype all[] = { MPI_INT, MPI_DOUBLE, MPI_SHORT, MPI_CHAR, MPI_LONG, MPI_FLOAT };
    int n = 1 + dice(3), each[3] = { 1, 1, 1 }, times = 1 + dice(4);
    MPI_Aint in_file[3], in_mem[3], at = 8 * dice(2);
    MPI_Datatype basic[3], mem, t;
    for (int i = 0; i < n; i++) {
        basic[i] = all[dice(6)];
        in_file[i] = STEP * i;
        in_mem[i] = at;
        at += size_of(basic[i]) + dice(3);
    }
    MPI_Type_create_struct(n, each, in_file, basic, &t);
    MPI_Type_create_resized(t, 0, STEP * n, &c->etype);
    MPI_Type_free(&t);
    if (n == 1 && dice(2)) { /* dense */
        MPI_Type_dup(basic[0], &mem);
    } else {
        MPI_Type_create_struct(n, each, in_mem, basic, &t);
        MPI_Type_create_resized(t, 0, at + dice(2), &mem);
        MPI_Type_free(&t);
    }
    if (dice(2))
        MPI_Type_contiguous(times, mem, &c->memtype);
    else
        MPI_Type_vector(times, 1, 2, mem, &c->memtype);
    MPI_Type_free(&mem);
    MPI_Type_commit(&c->etype);
    MPI_Type_commit(&c->memtype);
    c->e = map_of(c->etype);
    c->m = map_of(c->memtype);
    c->elements = 1 + dice(4);
    c->etypes = c->elements * times;
}

/* Some etypes of each `ranks`-fold stretch, and gaps. */
static void make_filetype(struct one *c, int ranks)
{
    MPI_Datatype t;
    MPI_Type_vector(1 + dice(3), 1, ranks, c->etype, &t);
    MPI_Type_create_resized(t, 0, STEP * c->e.n * ranks * (3 + dice(2)), &c->filetype);
    MPI_Type_free(&t);
    MPI_Type_commit(&c->filetype);
}

/* Numbers that fit in external32. */
static char byte_of(const struct one *c, MPI_Datatype basic, int item, int b)
{
    return (char)(basic == MPI_LONG && b > 2 ? 0 : 1 + (item * 5 + b * 7 + c->salt) % 100);
}

static char *item_at(const struct one *c, char *buf, int k)
{
    return buf + k / c->m.n * c->m.extent + c->m.at[k % c->m.n];
}

static char buffer[1 << 14];

/* The items from etype `first` on, as they are to be in the file; and is that what has come, and no more? */
static void fill(const struct one *c, int first)
{
    for (int k = 0; k < c->etypes * c->e.n; k++)
        for (int b = 0; b < size_of(c->m.basic[k % c->m.n]); b++)
            item_at(c, buffer, k)[b] = byte_of(c, c->m.basic[k % c->m.n], k + first * c->e.n, b);
}

static void look(const struct one *c, const char *what, int first, int items)
{
    for (int k = 0; k < c->etypes * c->e.n; k++) {
        MPI_Datatype basic = c->m.basic[k % c->m.n];
        int native = c->rep[0] == 'n' || c->rep[0] == 'i'; /* bytes of an item that is not whole come, too */
        for (int b = 0; b < size_of(basic) && (k < items || !native); b++)
            CHECK_EQ(item_at(c, buffer, k)[b], k < items ? byte_of(c, basic, k + first * c->e.n, b) : 0x55,
                     "%s in %s: byte %d of item %d of %d", what, c->rep, b, k, items);
    }
}

/* ---- What of a view is before the end of the file ---- */

static MPI_Offset end_of_item(MPI_File f, const struct one *c, int k)
{
    MPI_Offset at;
    MPI_Aint size;
    MPI_File_get_byte_offset(f, k / c->e.n, &at);
    MPI_File_get_type_extent(f, c->e.basic[k % c->e.n], &size);
    return at + STEP * (k % c->e.n) + size;
}

static int items_before(MPI_File f, const struct one *c, int etypes, MPI_Offset end)
{
    int k = 0;
    while (k < etypes * c->e.n && end_of_item(f, c, k) <= end)
        k++;
    return k;
}

/* Those that begin there. */
static int etypes_before(MPI_File f, int etypes, MPI_Offset end)
{
    MPI_Offset at;
    int k = 0;
    for (; k < etypes; k++) {
        MPI_File_get_byte_offset(f, k, &at);
        if (at >= end)
            break;
    }
    return k;
}

static int elements_of(const MPI_Status *s, const struct one *c, int items, const char *what)
{
    int n;
    MPI_Get_elements(s, c->memtype, &n);
    if (n == MPI_UNDEFINED && (c->rep[0] == 'n' || c->rep[0] == 'i')) /* its last item is not whole */
        n = items;
    CHECK_EQ(n, items, "items of %s in %s", what, c->rep);
    return n;
}

/* ---- Reads by offset and by the individual pointer, each rank its part of the file ---- */

enum form { READ, IREAD, ALL, IALL, SPLIT, AT, IAT, AT_ALL, IAT_ALL, AT_SPLIT, FORMS };
static const char *const names[] = {
    "read",    "iread",    "read_all",    "iread_all",    "read_all_begin",
    "read_at", "iread_at", "read_at_all", "iread_at_all", "read_at_all_begin"
};

static void read_as(enum form form, MPI_File f, int at, int n, MPI_Datatype t, MPI_Status *s)
{
    MPI_Request r = MPI_REQUEST_NULL;
    int err = form == READ      ? MPI_File_read(f, buffer, n, t, s)
              : form == IREAD   ? MPI_File_iread(f, buffer, n, t, &r)
              : form == ALL     ? MPI_File_read_all(f, buffer, n, t, s)
              : form == IALL    ? MPI_File_iread_all(f, buffer, n, t, &r)
              : form == SPLIT   ? MPI_File_read_all_begin(f, buffer, n, t)
              : form == AT      ? MPI_File_read_at(f, at, buffer, n, t, s)
              : form == IAT     ? MPI_File_iread_at(f, at, buffer, n, t, &r)
              : form == AT_ALL  ? MPI_File_read_at_all(f, at, buffer, n, t, s)
              : form == IAT_ALL ? MPI_File_iread_at_all(f, at, buffer, n, t, &r)
                                : MPI_File_read_at_all_begin(f, at, buffer, n, t);
    CHECK_ERR(err, MPI_SUCCESS);
    if (form == IREAD || form == IALL || form == IAT || form == IAT_ALL)
        CHECK_ERR(MPI_Wait(&r, s), MPI_SUCCESS);
    if (form == SPLIT)
        CHECK_ERR(MPI_File_read_all_end(f, buffer, s), MPI_SUCCESS);
    if (form == AT_SPLIT)
        CHECK_ERR(MPI_File_read_at_all_end(f, buffer, s), MPI_SUCCESS);
}

static void own_reads(MPI_File f, struct one *c, MPI_Info info)
{
    MPI_Offset at, end = STEP * c->e.n * check_size * dice(3 * c->etypes) + dice(STEP * c->e.n);
    MPI_Status s;
    c->salt = check_rank;
    make_filetype(c, check_size);
    CHECK_ERR(MPI_File_set_size(f, 0), MPI_SUCCESS);
    CHECK_ERR(MPI_File_set_view(f, 7 + STEP * c->e.n * check_rank, c->etype, c->filetype, c->rep, info),
              MPI_SUCCESS);
    fill(c, 0);
    CHECK_ERR(MPI_File_write(f, buffer, c->elements, c->memtype, &s), MPI_SUCCESS);
    elements_of(&s, c, c->etypes * c->e.n, "write");
    MPI_File_get_position(f, &at);
    CHECK_EQ(at, c->etypes);
    MPI_File_sync(f);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_byte_offset(f, c->etypes - 1, &at);
    at += STEP * c->e.n; /* behind what this rank has written there is nothing of its own */
    CHECK_ERR(MPI_File_set_size(f, end), MPI_SUCCESS);
    int items = items_before(f, c, c->etypes, end), begin = etypes_before(f, 4 * c->etypes, end);
    for (int form = 0; form < FORMS; form++) {
        int first = dice(c->etypes + 1), mine = items - first * c->e.n;
        int upto = begin < first ? first : begin < first + c->etypes ? begin : first + c->etypes;
        int all = items_before(f, c, first + c->etypes, end) - first * c->e.n;
        memset(buffer, 0x55, sizeof buffer);
        CHECK_ERR(MPI_File_seek(f, first, MPI_SEEK_SET), MPI_SUCCESS);
        read_as(form, f, first, c->elements, c->memtype, &s);
        elements_of(&s, c, all > 0 ? all : 0, names[form]);
        if (all == mine || mine < 0) /* else it comes to what nobody has written */
            look(c, names[form], first, mine > 0 ? mine : 0);
        MPI_File_get_position(f, &at);
        CHECK_EQ(at, form < AT ? upto : first, "%s in %s from %d", names[form], c->rep, first);
    }
    MPI_Type_free(&c->filetype);
}

/* ---- Reads by the shared pointer ---- */

static int sum(int mine)
{
    int all;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

/* form: 0 blocking, 1 nonblocking, 2 ordered, 3 ordered and split. */
static void shared_read(MPI_File f, struct one *c, int form, int end)
{
    static const char *const what[] = { "read_shared", "iread_shared", "read_ordered", "read_ordered_begin" };
    MPI_Status s;
    MPI_Request r;
    MPI_Offset at;
    int n, all = c->etypes * check_size, first = check_rank * c->etypes;
    int items = items_before(f, c, all, end), begin = etypes_before(f, all, end);
    memset(buffer, 0x55, sizeof buffer);
    CHECK_ERR(MPI_File_seek_shared(f, 0, MPI_SEEK_SET), MPI_SUCCESS);
    if (form == 0) {
        CHECK_ERR(MPI_File_read_shared(f, buffer, c->elements, c->memtype, &s), MPI_SUCCESS);
    } else if (form == 1) {
        CHECK_ERR(MPI_File_iread_shared(f, buffer, c->elements, c->memtype, &r), MPI_SUCCESS);
        CHECK_ERR(MPI_Wait(&r, &s), MPI_SUCCESS);
    } else if (form == 2) {
        CHECK_ERR(MPI_File_read_ordered(f, buffer, c->elements, c->memtype, &s), MPI_SUCCESS);
    } else {
        CHECK_ERR(MPI_File_read_ordered_begin(f, buffer, c->elements, c->memtype), MPI_SUCCESS);
        CHECK_ERR(MPI_File_read_ordered_end(f, buffer, &s), MPI_SUCCESS);
    }
    MPI_Get_elements(&s, c->memtype, &n);
    int cut = n == MPI_UNDEFINED; /* native: the bytes of an item that is not whole */
    if (form >= 2) {
        int mine = items - first * c->e.n;
        mine = mine < 0 ? 0 : mine > c->etypes * c->e.n ? c->etypes * c->e.n : mine;
        elements_of(&s, c, mine, what[form]);
        look(c, what[form], first, mine);
    } else if (sum(cut) == 0) {
        CHECK_EQ(sum(n), items, "items of all, %s in %s", what[form], c->rep);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_position_shared(f, &at);
    CHECK_EQ(at, form < 2 ? begin : all, "%s in %s", what[form], c->rep);
}

static void shared_reads(MPI_File f, struct one *c)
{
    MPI_Offset behind;
    c->salt = 50;
    make_filetype(c, 1);
    CHECK_ERR(MPI_File_set_size(f, 0), MPI_SUCCESS);
    CHECK_ERR(MPI_File_set_view(f, 3, c->etype, c->filetype, c->rep, MPI_INFO_NULL), MPI_SUCCESS);
    fill(c, check_rank * c->etypes);
    CHECK_ERR(MPI_File_write_ordered(f, buffer, c->elements, c->memtype, MPI_STATUS_IGNORE), MPI_SUCCESS);
    MPI_File_sync(f);
    MPI_File_get_byte_offset(f, check_size * c->etypes, &behind);
    int end = dice((int)behind + 1);
    CHECK_ERR(MPI_File_set_size(f, end), MPI_SUCCESS);
    for (int form = 0; form < 4; form++)
        shared_read(f, c, form, end);
    MPI_Type_free(&c->filetype);
}

/* ---- Single things ---- */

/* More than is converted at once. */
static void long_ones(MPI_File f, const char *rep)
{
    int *v = malloc(LONG_ENOUGH * sizeof *v), n;
    MPI_Status s;
    CHECK_ERR(MPI_File_set_size(f, 0), MPI_SUCCESS);
    CHECK_ERR(
        MPI_File_set_view(f, check_rank * (MPI_Offset)LONG_ENOUGH * 5, MPI_INT, MPI_INT, rep, MPI_INFO_NULL),
        MPI_SUCCESS);
    for (int i = 0; i < LONG_ENOUGH; i++)
        v[i] = i * 3 + check_rank;
    parts = 0;
    CHECK_ERR(MPI_File_write(f, v, LONG_ENOUGH, MPI_INT, &s), MPI_SUCCESS);
    CHECK(parts > 0, "writes in parts");
    MPI_Get_elements(&s, MPI_INT, &n);
    CHECK_EQ(n, LONG_ENOUGH);
    memset(v, 0, LONG_ENOUGH * sizeof *v);
    parts = 0;
    MPI_File_sync(f);
    CHECK_ERR(MPI_File_set_size(f, check_size * (MPI_Offset)LONG_ENOUGH * 5 - 12), MPI_SUCCESS);
    int all = LONG_ENOUGH - (check_rank == check_size - 1 ? 3 : 0);
    CHECK_ERR(MPI_File_read_at(f, 0, v, LONG_ENOUGH, MPI_INT, &s), MPI_SUCCESS);
    CHECK(parts > 0, "reads in parts");
    MPI_Get_elements(&s, MPI_INT, &n);
    CHECK_EQ(n, all);
    for (int i = 0; i < LONG_ENOUGH; i++)
        if (v[i] != (i < all ? i * 3 + check_rank : 0)) {
            CHECK_EQ(v[i], i < all ? i * 3 + check_rank : 0, "int %d", i);
            break;
        }
    free(v);
}

/* A pair is two items; where in the program's representation the first ends only the program knows. */
static void pairs(MPI_File f, const char *rep)
{
    int v[10] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 }, got[10] = { 0 }, n,
        whole = !strncmp(rep, "back", 4) ? 4 : 5;
    MPI_Aint size;
    MPI_Status s;
    CHECK_ERR(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, rep, MPI_INFO_NULL), MPI_SUCCESS);
    MPI_File_get_type_extent(f, MPI_INT, &size);
    if (check_rank == 0)
        CHECK_ERR(MPI_File_write_at(f, 0, v, 5, MPI_2INT, &s), MPI_SUCCESS);
    MPI_File_sync(f);
    CHECK_ERR(MPI_File_set_size(f, 5 * size), MPI_SUCCESS);
    CHECK_ERR(MPI_File_read(f, got, 5, MPI_2INT, &s), MPI_SUCCESS);
    MPI_Get_elements(&s, MPI_2INT, &n);
    CHECK_EQ(n, whole, "ints of pairs in %s", rep);
    for (int i = 0; i < 10; i++)
        CHECK_EQ(got[i], i < whole ? v[i] : 0, "int %d in %s", i, rep);
}

/* A function that is left out leaves data native, which they cannot be if they have another size. */
static void left_out(MPI_File f)
{
    int v[3] = { 1, 2, 3 };
    CHECK_ERR(MPI_Register_datarep("half", from_file, MPI_CONVERSION_FN_NULL, extent_fn, NULL), MPI_SUCCESS);
    CHECK_ERR(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "half", MPI_INFO_NULL), MPI_SUCCESS);
    CHECK_ERR(MPI_File_write_at(f, 0, v, 3, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_CONVERSION);
    CHECK_SAYS("15 bytes");
}

int main(int argc, char **argv)
{
    static const char *const reps[] = { "native", "internal", "external32", "backwards", "backwards_c" };
    MPI_File f;
    MPI_Info together;
    check_init(&argc, &argv);
    check_errors_return();
    io_file("ends");
    MPI_Info_create(&together);
    MPI_Info_set(together, "romio_cb_read", "enable");
    CHECK_ERR(MPI_Register_datarep("backwards", from_file, to_file, extent_fn, NULL), MPI_SUCCESS);
    CHECK_ERR(MPI_Register_datarep_c("backwards_c", from_file_c, to_file_c, extent_fn, NULL), MPI_SUCCESS);
    CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, io_name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &f),
              MPI_SUCCESS);
    for (int i = 0; i < CASES; i++) {
        struct one c = { 0 };
        make(&c);
        unsigned same = seed; /* each representation meets the same */
        for (int r = 0; r < 5; r++) {
            seed = same;
            c.rep = reps[r];
            own_reads(f, &c, i % 2 ? together : MPI_INFO_NULL);
            shared_reads(f, &c);
        }
        MPI_Type_free(&c.etype);
        MPI_Type_free(&c.memtype);
    }
    for (int r = 0; r < 5; r++)
        pairs(f, reps[r]);
    long_ones(f, "backwards");
    long_ones(f, "backwards_c");
    left_out(f);
    CHECK_ERR(MPI_File_close(&f), MPI_SUCCESS);
    MPI_Info_free(&together);
    io_remove();
    return check_done();
}
