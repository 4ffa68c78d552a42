/* SPDX-License-Identifier: BSD-3-Clause */
/* Typed messages between ranks: unlike types on the two sides, absolute addresses, types freed while in use,
 * packed data. */
/* ranks: 1 2 3 4 5 8 */
/* across: types are packed into a device's packets */
#include <stddef.h>
#include "../check.h"

#define OK(call) CHECK_ERR(call, MPI_SUCCESS)
static int next, before;

/* `count` elements of the type on one side, `rcount` of another on the other: the same data. */
static void pass(const void *sbuf, int count, MPI_Datatype st, void *rbuf, int rcount, MPI_Datatype rt)
{
    MPI_Status s;
    OK(MPI_Sendrecv(sbuf, count, st, next, 3, rbuf, rcount, rt, before, 3, MPI_COMM_WORLD, &s));
    CHECK_EQ(s.MPI_SOURCE, before);
}

/* Every other double goes out, and arrives transposed; short, eager and long. */
static void try_strided(int rows)
{
    enum { COLUMNS = 6 };
    MPI_Datatype every_other, column, narrow;
    size_t n = (size_t)rows * COLUMNS;
    double *out = malloc(2 * n * sizeof *out), *in = malloc((n + 1) * sizeof *in);
    for (size_t i = 0; i < 2 * n; i++)
        out[i] = (double)i + check_rank * 1e6;
    for (size_t i = 0; i <= n; i++)
        in[i] = -1;
    OK(MPI_Type_vector((int)n, 1, 2, MPI_DOUBLE, &every_other));
    OK(MPI_Type_commit(&every_other));
    OK(MPI_Type_vector(rows, 1, COLUMNS, MPI_DOUBLE, &column));
    OK(MPI_Type_create_resized(column, 0, sizeof(double), &narrow));
    OK(MPI_Type_commit(&narrow));
    OK(MPI_Type_free(&column));
    pass(out, 1, every_other, in, COLUMNS, narrow);
    for (int c = 0, k = 0; c < COLUMNS; c++)
        for (int r = 0; r < rows; r++, k++)
            if (in[r * COLUMNS + c] != 2 * k + before * 1e6)
                CHECK(0, "%d rows: row %d, column %d is %g", rows, r, c, in[r * COLUMNS + c]);
    CHECK(in[n] == -1, "%d rows: beyond the end", rows);
    OK(MPI_Type_free(&every_other));
    OK(MPI_Type_free(&narrow));
    free(out);
    free(in);
}

/* Structs in an array, by offsets; and scattered variables, by absolute addresses from MPI_BOTTOM. */
static void try_structs(void)
{
    struct particle {
        char kind;
        double x[3];
        int id;
    } out[50], in[50];
    MPI_Datatype t, types[3] = { MPI_CHAR, MPI_DOUBLE, MPI_INT };
    MPI_Aint where[3] = { offsetof(struct particle, kind), offsetof(struct particle, x),
                          offsetof(struct particle, id) };
    int bl[3] = { 1, 3, 1 };
    OK(MPI_Type_create_struct(3, bl, where, types, &t));
    OK(MPI_Type_commit(&t));
    MPI_Aint lb, extent;
    OK(MPI_Type_get_extent(t, &lb, &extent));
    CHECK_EQ(extent, sizeof(struct particle));
    memset(in, 0, sizeof in);
    for (int i = 0; i < 50; i++)
        out[i] =
            (struct particle){ (char)('a' + check_rank), { i, i + 0.25, i + 0.5 }, 100 * check_rank + i };
    pass(out, 50, t, in, 50, t);
    for (int i = 0; i < 50; i++)
        CHECK(in[i].kind == 'a' + before && in[i].x[2] == i + 0.5 && in[i].id == 100 * before + i,
              "particle %d", i);
    OK(MPI_Type_free(&t));

    int a = check_rank, ra = -1;
    double *heap = malloc(3 * sizeof *heap), rb[3] = { 0 };
    MPI_Aint addr[2], raddr[2], base;
    MPI_Datatype st, rt, scattered[2] = { MPI_INT, MPI_DOUBLE };
    for (int i = 0; i < 3; i++)
        heap[i] = i + check_rank;
    OK(MPI_Get_address(&a, &addr[0]));
    OK(MPI_Get_address(heap, &addr[1]));
    OK(MPI_Get_address(&ra, &raddr[0]));
    OK(MPI_Get_address(rb, &base));
    raddr[1] = MPI_Aint_add(base, 0);
    CHECK_EQ(MPI_Aint_diff(MPI_Aint_add(base, 24), base), 24);
    CHECK_EQ(MPI_Aint_diff(base, MPI_Aint_add(base, 24)), -24);
    OK(MPI_Type_create_struct(2, (int[]){ 1, 3 }, addr, scattered, &st));
    OK(MPI_Type_create_struct(2, (int[]){ 1, 3 }, raddr, scattered, &rt));
    OK(MPI_Type_commit(&st));
    OK(MPI_Type_commit(&rt));
    pass(MPI_BOTTOM, 1, st, MPI_BOTTOM, 1, rt);
    CHECK_EQ(ra, before);
    CHECK(rb[0] == before && rb[2] == before + 2, "the doubles: %g %g", rb[0], rb[2]);
    OK(MPI_Type_free(&st));
    OK(MPI_Type_free(&rt));
    free(heap);
}

/* MPI_Type_free while messages of the type are on their way. */
static void try_freeing(void)
{
    enum { N = 30000 };
    MPI_Datatype t, u;
    MPI_Request r[2];
    int *out = malloc(2 * N * sizeof *out), *in = calloc(2 * N, sizeof *in);
    for (int i = 0; i < 2 * N; i++)
        out[i] = i + check_rank;
    OK(MPI_Type_vector(N, 1, 2, MPI_INT, &t));
    OK(MPI_Type_commit(&t));
    OK(MPI_Irecv(in, 1, t, before, 4, MPI_COMM_WORLD, &r[0]));
    OK(MPI_Isend(out, 1, t, next, 4, MPI_COMM_WORLD, &r[1]));
    OK(MPI_Type_free(&t));
    OK(MPI_Type_vector(2, 1, 50, MPI_SHORT, &u)); /* may take the freed one's place */
    OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 2 * N; i++)
        if (in[i] != (i % 2 ? 0 : i + before))
            CHECK(0, "int %d is %d", i, in[i]);
    OK(MPI_Type_free(&u));
    free(out);
    free(in);
}

/* Packed in pieces, sent as MPI_PACKED, received typed; and the other way round. */
static void try_packed(void)
{
    int n = 3, at = 0, size, more, rn = 0;
    double x[3] = { 1.5, 2.5, check_rank }, rx[3] = { 0 };
    char buf[100], back[100];
    OK(MPI_Pack_size(1, MPI_INT, MPI_COMM_WORLD, &size));
    OK(MPI_Pack_size(3, MPI_DOUBLE, MPI_COMM_WORLD, &more));
    CHECK(size + more <= 100, "pack sizes %d and %d", size, more);
    OK(MPI_Pack(&n, 1, MPI_INT, buf, sizeof buf, &at, MPI_COMM_WORLD));
    OK(MPI_Pack(x, 3, MPI_DOUBLE, buf, sizeof buf, &at, MPI_COMM_WORLD));
    pass(buf, at, MPI_PACKED, back, sizeof back, MPI_PACKED);
    at = 0;
    OK(MPI_Unpack(back, sizeof back, &at, &rn, 1, MPI_INT, MPI_COMM_WORLD));
    OK(MPI_Unpack(back, sizeof back, &at, rx, rn, MPI_DOUBLE, MPI_COMM_WORLD));
    CHECK(rn == 3 && rx[1] == 2.5 && rx[2] == before, "unpacked %d, %g, %g", rn, rx[1], rx[2]);
    MPI_Count atc = 0;
    OK(MPI_Pack_c(x, 3, MPI_DOUBLE, buf, sizeof buf, &atc, MPI_COMM_WORLD));
    CHECK_EQ(atc, 24);
    atc = 8;
    OK(MPI_Unpack_c(buf, 24, &atc, rx, 2, MPI_DOUBLE, MPI_COMM_WORLD));
    CHECK(rx[0] == 2.5 && rx[1] == check_rank && atc == 24, "unpacked from the middle");
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    next = (check_rank + 1) % check_size;
    before = (check_rank + check_size - 1) % check_size;
    try_strided(1);
    try_strided(40);
    try_strided(1000);
    try_strided(30000);
    try_structs();
    try_freeing();
    try_packed();
    return check_done();
}
