/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations of the user's own: both bindings, on derived types, commutative or not; their errors. */
/* ranks: 1 2 3 4 5 8 */
/* abi: mpich, because a handle that was freed may be another object's */
#include "../check.h"

struct affine { /* x -> a x + b modulo 2^32: composing them is associative, not commutative */
    unsigned a, b;
};

static int calls;
static MPI_Datatype affine_type;

static void compose(void *in, void *inout, int *len, MPI_Datatype *type)
{
    struct affine *f = in, *g = inout;
    calls++;
    CHECK(*type == affine_type, "the function sees another datatype");
    for (int i = 0; i < *len; i++) /* f first, then g */
        g[i] = (struct affine){ g[i].a * f[i].a, g[i].a * f[i].b + g[i].b };
}

static void compose_c(void *in, void *inout, MPI_Count *len, MPI_Datatype *type)
{
    int n = (int)*len;
    compose(in, inout, &n, type);
}

static struct affine of_rank(int r, int i)
{
    return (struct affine){ 3u + 2u * (unsigned)r, 7u * (unsigned)r + (unsigned)i };
}

static struct affine all(int n, int i)
{
    unsigned a = 1, b = 0;
    for (int r = 0; r < n; r++) {
        struct affine f = of_rank(r, i);
        a = f.a * a;
        b = f.a * b + f.b;
    }
    return (struct affine){ a, b };
}

static void reduce_with(MPI_Op op)
{
    enum { N = 100 };
    struct affine mine[N], out[N];
    for (int i = 0; i < N; i++)
        mine[i] = of_rank(check_rank, i);
    for (int root = 0; root<check_size; root += check_size> 2 ? check_size - 1 : 1) {
        memset(out, 0, sizeof out);
        CHECK_ERR(MPI_Reduce(mine, out, N, affine_type, op, root, MPI_COMM_WORLD), MPI_SUCCESS);
        for (int i = 0; i < N && check_rank == root; i++)
            CHECK(out[i].a == all(check_size, i).a && out[i].b == all(check_size, i).b, "element %d: %u %u",
                  i, out[i].a, out[i].b);
    }
    CHECK_ERR(MPI_Allreduce(mine, out, N, affine_type, op, MPI_COMM_WORLD), MPI_SUCCESS);
    for (int i = 0; i < N; i++)
        CHECK(out[i].a == all(check_size, i).a && out[i].b == all(check_size, i).b, "allreduce %d", i);
}

static void try_errors(MPI_Op mine)
{
    int one = 1, other = 2, flag;
    MPI_Op op = MPI_SUM;
    CHECK_ERR(MPI_Op_free(&op), MPI_ERR_OP);
    CHECK_SAYS("MPI_SUM");
    op = MPI_OP_NULL;
    CHECK_ERR(MPI_Op_free(&op), MPI_ERR_OP);
    CHECK_ERR(MPI_Op_commutative(MPI_OP_NULL, &flag), MPI_ERR_OP);
    CHECK_ERR(MPI_Op_create(NULL, 1, &op), MPI_ERR_ARG);
    CHECK_SAYS("user_fn");
    CHECK_ERR(MPI_Op_create(compose, 1, NULL), MPI_ERR_ARG);
    CHECK_ERR(MPI_Reduce_local(&one, &other, 1, MPI_INT, MPI_REPLACE), MPI_ERR_OP);
    CHECK_SAYS("MPI_REPLACE");
    CHECK_ERR(MPI_Reduce_local(&one, &other, 1, MPI_INT, MPI_NO_OP), MPI_ERR_OP);
    CHECK_ERR(MPI_Reduce_local(&one, &other, 1, MPI_INT, MPI_OP_NULL), MPI_ERR_OP);
    CHECK_ERR(MPI_Reduce_local(&one, &one, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Reduce_local(&one, &other, -1, MPI_INT, MPI_SUM), MPI_ERR_COUNT);
    CHECK_ERR(MPI_Reduce_local(&one, &other, 1, MPI_DATATYPE_NULL, MPI_SUM), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Reduce_local(NULL, &other, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
    CHECK_ERR(MPI_Allreduce(&one, &other, 1, affine_type, MPI_SUM, MPI_COMM_SELF), MPI_ERR_OP);
    CHECK_SAYS("derived");
    CHECK_EQ(other, 2);

    MPI_Datatype dup; /* a duplicate of a predefined type is one */
    MPI_Type_dup(MPI_INT, &dup);
    CHECK_ERR(MPI_Reduce_local(&one, &other, 1, dup, MPI_SUM), MPI_SUCCESS);
    CHECK_EQ(other, 3);
    MPI_Type_free(&dup);

    MPI_Op copy = mine; /* freed: the handle is stale */
    CHECK_ERR(MPI_Op_free(&mine), MPI_SUCCESS);
    CHECK(mine == MPI_OP_NULL, "the handle of a freed operation");
    CHECK_ERR(MPI_Op_commutative(copy, &flag), MPI_ERR_OP);
}

/* A freed operation has no handle any more, though a call that is under way has it. */
static void freed_under_way(void)
{
    MPI_Op op, copy, next;
    MPI_Request r;
    unsigned in[2] = { 1, 0 }, out[2] = { 9, 9 };
    MPI_Op_create(compose, 0, &op);
    copy = op;
    MPI_Iallreduce(in, out, 1, affine_type, op, MPI_COMM_WORLD, &r);
    MPI_Op_free(&op);
    CHECK_ERR(MPI_Op_free(&copy), MPI_ERR_OP);
    CHECK_SAYS("was freed");
    CHECK_ERR(MPI_Op_create(compose, 0, &next), MPI_SUCCESS);
    CHECK_ERR(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK(out[0] == 1 && out[1] == 0, "%u %u", out[0], out[1]);
    CHECK_ERR(MPI_Op_free(&next), MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    MPI_Op op, large, com;
    int flag = -1;
    check_init(&argc, &argv);
    check_errors_return();
    MPI_Type_contiguous(2, MPI_UNSIGNED, &affine_type);
    MPI_Type_commit(&affine_type);
    CHECK_ERR(MPI_Op_create(compose, 0, &op), MPI_SUCCESS);
    CHECK_ERR(MPI_Op_create_c(compose_c, 0, &large), MPI_SUCCESS);
    CHECK_ERR(MPI_Op_create(compose, 1, &com), MPI_SUCCESS);
    CHECK_ERR(MPI_Op_commutative(op, &flag), MPI_SUCCESS);
    CHECK_EQ(flag, 0);
    CHECK_ERR(MPI_Op_commutative(com, &flag), MPI_SUCCESS);
    CHECK_EQ(flag, 1);
    CHECK_ERR(MPI_Op_commutative(MPI_MINLOC, &flag), MPI_SUCCESS);
    CHECK_EQ(flag, 1);

    struct affine f[2] = { { 2, 1 }, { 1, 1 } }, g[2] = { { 3, 4 }, { 5, 6 } };
    CHECK_ERR(MPI_Reduce_local(f, g, 2, affine_type, op), MPI_SUCCESS);
    CHECK_EQ(calls, 1);
    CHECK(g[0].a == 6 && g[0].b == 7 && g[1].a == 5 && g[1].b == 11, "composed");
    CHECK_ERR(MPI_Reduce_local_c(f, g, 1, affine_type, large), MPI_SUCCESS);
    CHECK(g[0].a == 12 && g[0].b == 13 && g[1].a == 5, "composed by the large binding");
    reduce_with(op);
    reduce_with(large);
    try_errors(com);
    freed_under_way();
    MPI_Op_free(&op);
    MPI_Op_free(&large);
    MPI_Type_free(&affine_type);
    return check_done();
}
