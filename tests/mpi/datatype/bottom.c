/* SPDX-License-Identifier: BSD-3-Clause */
/* Absolute addresses: types made with MPI_Get_address, at MPI_BOTTOM, in messages, packing and collectives. */
/* ranks: 1 2 3 5 */
#include "../check.h"

#define OK(call) CHECK_ERR(call, MPI_SUCCESS)

/* Three places far apart: on the stack of main, static, and allocated. */
struct place {
    int *i;
    double *d;
    char *c;
};

static double still[2];

static void set(const struct place *p, int seed)
{
    *p->i = seed, p->d[0] = seed + 0.5, p->d[1] = -seed, memset(p->c, seed, 5);
}

static void has(int line, const struct place *p, int seed)
{
    char want[5];
    memset(want, seed, 5);
    CHECK(*p->i == seed && p->d[0] == seed + 0.5 && p->d[1] == -seed && memcmp(p->c, want, 5) == 0,
          "line %d: %d %g %g %d; expected those of %d", line, *p->i, p->d[0], p->d[1], p->c[0], seed);
}
#define HAS(p, seed) has(__LINE__, p, seed)

static MPI_Datatype absolute(const struct place *p)
{
    MPI_Datatype t, types[3] = { MPI_INT, MPI_DOUBLE, MPI_CHAR };
    int lengths[3] = { 1, 2, 5 };
    MPI_Aint at[3] = { 0, 0, 0 };
    OK(MPI_Get_address(p->i, &at[0]));
    OK(MPI_Get_address(p->d, &at[1]));
    OK(MPI_Get_address(p->c, &at[2]));
    CHECK(MPI_Aint_add(at[0], MPI_Aint_diff(at[2], at[0])) == at[2], "there and back");
    OK(MPI_Type_create_struct(3, lengths, at, types, &t));
    OK(MPI_Type_commit(&t));
    return t;
}

/* The same data in a struct, so that both ends are not alike. */
struct record {
    int i;
    double d[2];
    char c[5];
};

static MPI_Datatype relative(const struct record *r)
{
    MPI_Datatype t, types[3] = { MPI_INT, MPI_DOUBLE, MPI_CHAR };
    int lengths[3] = { 1, 2, 5 };
    MPI_Aint at[3], base;
    OK(MPI_Get_address(r, &base));
    OK(MPI_Get_address(&r->i, &at[0]));
    OK(MPI_Get_address(r->d, &at[1]));
    OK(MPI_Get_address(r->c, &at[2]));
    for (int i = 0; i < 3; i++)
        at[i] = MPI_Aint_diff(at[i], base);
    OK(MPI_Type_create_struct(3, lengths, at, types, &t));
    OK(MPI_Type_commit(&t));
    return t;
}

static void try_messages(const struct place *p, MPI_Datatype t)
{
    int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
    struct record r = { 0 };
    MPI_Datatype u = relative(&r);
    MPI_Request q;
    MPI_Status s;
    char packed[64];
    int at = 0, n = -1;
    set(p, check_rank + 1);
    OK(MPI_Irecv(&r, 1, u, left, 0, MPI_COMM_WORLD, &q));
    OK(MPI_Send(MPI_BOTTOM, 1, t, right, 0, MPI_COMM_WORLD));
    OK(MPI_Wait(&q, &s));
    OK(MPI_Get_elements(&s, t, &n));
    CHECK_EQ(n, 8);
    CHECK(r.i == left + 1 && r.d[1] == -(left + 1) && r.c[4] == left + 1, "received");
    set(p, 99);
    OK(MPI_Irecv(MPI_BOTTOM, 1, t, left, 0, MPI_COMM_WORLD, &q));
    OK(MPI_Ssend(&r, 1, u, right, 0, MPI_COMM_WORLD));
    OK(MPI_Wait(&q, &s));
    HAS(p, (check_rank + 2 * check_size - 2) % check_size + 1);
    set(p, 3);
    OK(MPI_Pack(MPI_BOTTOM, 1, t, packed, sizeof packed, &at, MPI_COMM_WORLD));
    set(p, 4);
    at = 0;
    OK(MPI_Unpack(packed, sizeof packed, &at, MPI_BOTTOM, 1, t, MPI_COMM_WORLD));
    HAS(p, 3);
    MPI_Aint place = 0;
    OK(MPI_Pack_external("external32", MPI_BOTTOM, 1, t, packed, sizeof packed, &place));
    set(p, 5);
    place = 0;
    OK(MPI_Unpack_external("external32", packed, sizeof packed, &place, MPI_BOTTOM, 1, t));
    HAS(p, 3);
    set(p, check_rank + 10);
    OK(MPI_Sendrecv_replace(MPI_BOTTOM, 1, t, right, 0, left, 0, MPI_COMM_WORLD, &s));
    HAS(p, left + 10);
    OK(MPI_Type_free(&u));
}

static int many[5][4];

static void try_collectives(const struct place *p, MPI_Datatype t)
{
    struct record *all = calloc((size_t)check_size, sizeof *all);
    MPI_Datatype u = relative(all);
    int root = check_size - 1;
    set(p, check_rank == root ? 42 : 1);
    OK(MPI_Bcast(MPI_BOTTOM, 1, t, root, MPI_COMM_WORLD));
    HAS(p, 42);
    set(p, check_rank + 1);
    OK(MPI_Gather(MPI_BOTTOM, 1, t, all, 1, u, root, MPI_COMM_WORLD));
    for (int k = 0; k < check_size && check_rank == root; k++)
        CHECK(all[k].i == k + 1 && all[k].d[0] == k + 1.5 && all[k].c[0] == k + 1, "gathered from %d", k);
    OK(MPI_Allgather(MPI_BOTTOM, 1, t, all, 1, u, MPI_COMM_WORLD));
    for (int k = 0; k < check_size; k++)
        CHECK(all[k].i == k + 1 && all[k].d[1] == -(k + 1) && all[k].c[4] == k + 1, "all have that of %d", k);
    for (int k = 0; k < check_size; k++)
        all[k].i = 50 + k, all[k].d[0] = 50.5 + k, all[k].d[1] = -50 - k, memset(all[k].c, 50 + k, 5);
    OK(MPI_Scatter(all, 1, u, MPI_BOTTOM, 1, t, root, MPI_COMM_WORLD));
    HAS(p, 50 + check_rank);
    OK(MPI_Type_free(&u));
    free(all);
}

/* Each pair of ranks has types of its own in MPI_Alltoallw, all absolute. */
static void try_alltoallw(void)
{
    int *out = malloc((size_t)check_size * sizeof *out), *in = malloc((size_t)check_size * sizeof *in);
    int ones[5], zeros[5] = { 0 };
    MPI_Datatype to[5], from[5];
    for (int k = 0; k < check_size; k++) {
        MPI_Aint at;
        out[k] = 100 * check_rank + k;
        in[k] = -1;
        ones[k] = 1;
        OK(MPI_Get_address(&out[k], &at));
        OK(MPI_Type_create_hindexed(1, ones, &at, MPI_INT, &to[k]));
        OK(MPI_Get_address(&in[k], &at));
        OK(MPI_Type_create_hindexed_block(1, 1, &at, MPI_INT, &from[k]));
        OK(MPI_Type_commit(&to[k]));
        OK(MPI_Type_commit(&from[k]));
    }
    OK(MPI_Alltoallw(MPI_BOTTOM, ones, zeros, to, MPI_BOTTOM, ones, zeros, from, MPI_COMM_WORLD));
    for (int k = 0; k < check_size; k++) {
        CHECK_EQ(in[k], 100 * k + check_rank);
        OK(MPI_Type_free(&to[k]));
        OK(MPI_Type_free(&from[k]));
    }
    free(out);
    free(in);
}

/* A reduction with an operation of one's own: it gets addresses from which the type leads to the data. */
static MPI_Aint first;
static void add(void *a, void *b, int *n, MPI_Datatype *t)
{
    (void)t;
    for (int i = 0; i < *n; i++)
        for (int k = 0; k < 4; k++)
            ((int *)((uintptr_t)b + (uintptr_t)first))[k] += ((int *)((uintptr_t)a + (uintptr_t)first))[k];
}

static void try_reduce(void)
{
    MPI_Datatype t;
    MPI_Op op;
    int four = 4;
    OK(MPI_Get_address(many[1], &first));
    OK(MPI_Type_create_hindexed(1, &four, &first, MPI_INT, &t));
    OK(MPI_Type_commit(&t));
    OK(MPI_Op_create(add, 1, &op));
    for (int k = 0; k < 4; k++)
        many[1][k] = k + check_rank;
    OK(MPI_Allreduce(MPI_IN_PLACE, MPI_BOTTOM, 1, t, op, MPI_COMM_WORLD));
    for (int k = 0; k < 4; k++)
        CHECK_EQ(many[1][k], k * check_size + check_size * (check_size - 1) / 2);
    OK(MPI_Op_free(&op));
    OK(MPI_Type_free(&t));
}

int main(int argc, char **argv)
{
    int i;
    struct place p = { &i, still, malloc(5) };
    check_init(&argc, &argv);
    check_errors_return();
    MPI_Datatype t = absolute(&p);
    try_messages(&p, t);
    try_collectives(&p, t);
    OK(MPI_Type_free(&t));
    try_alltoallw();
    try_reduce();
    free(p.c);
    return check_done();
}
