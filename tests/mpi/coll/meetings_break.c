/* SPDX-License-Identifier: BSD-3-Clause */
/* Small nonblocking collectives at a team of which some go wrong: counts that differ, a call that one rank refuses
 * while others are under way. Who depends on it is told, nobody hangs, what came before is right, and so is what
 * comes after. */
/* ranks: 2 3 4 8 */
/* env: KEEL_SPIN_US=5 */
#include "../check.h"

#ifndef SCALE
#define SCALE 1
#endif

static int class_of(int err)
{
    int errclass = -1;
    MPI_Error_class(err, &errclass);
    return errclass;
}

static MPI_Comm fresh(void)
{
    MPI_Comm c;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    for (int i = 0; i < 6; i++)
        MPI_Barrier(c);
    return c;
}

static void begin(MPI_Comm c, int *in, int *out, int n, MPI_Request *r)
{
    for (int i = 0; i < n; i++) {
        in[i] = check_rank + i;
        out[i] = -1;
        CHECK_ERR(MPI_Iallreduce(&in[i], &out[i], 1, MPI_INT, MPI_SUM, c, &r[i]), MPI_SUCCESS);
    }
}

static void right(const int *out, int n)
{
    for (int i = 0; i < n; i++)
        CHECK_EQ(out[i], check_size * (check_size - 1) / 2 + check_size * i);
}

enum { N = 5 };

/* Rank `odd` has more than fits a line, so it uses messages; or another number of elements. */
static void differ(int odd, int theirs)
{
    MPI_Comm c = fresh();
    MPI_Request r[N], wrong, after[N];
    static int a[20 * SCALE], b[20 * SCALE];
    int in[N], out[N], in2[N], out2[N];
    begin(c, in, out, N, r);
    CHECK_ERR(MPI_Iallreduce(a, b, (check_rank == odd ? theirs : 10) * SCALE, MPI_INT, MPI_SUM, c, &wrong),
              MPI_SUCCESS);
    begin(c, in2, out2, N, after);
    CHECK_ERR(MPI_Waitall(N, r, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    right(out, N);
    CHECK_EQ(class_of(MPI_Wait(&wrong, MPI_STATUS_IGNORE)), MPI_ERR_TRUNCATE, "rank %d has %d", odd, theirs);
    CHECK_ERR(MPI_Waitall(N, after, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    right(out2, N);
    CHECK_ERR(MPI_Barrier(c), MPI_SUCCESS);
    MPI_Comm_free(&c);
}

/* Rank `odd` has a bad argument.  What came before it is as it should be. */
static void refused(int odd)
{
    MPI_Comm c = fresh();
    MPI_Request r[N], after[N];
    int in[N], out[N], in2[N], out2[N], v = 1, all = 0;
    begin(c, in, out, N, r);
    if (check_rank == odd)
        CHECK_ERR(MPI_Iallreduce(&v, &all, 1, MPI_INT, MPI_OP_NULL, c, &after[0]), MPI_ERR_OP);
    CHECK_ERR(MPI_Waitall(N, r, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    right(out, N);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&c);
    c = fresh();
    begin(c, in2, out2, N, after);
    CHECK_ERR(MPI_Waitall(N, after, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    right(out2, N);
    MPI_Comm_free(&c);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    check_errors_return();
    for (int odd = 0; odd < check_size; odd += check_size - 1) {
        differ(odd, 20);
        differ(odd, 9);
        refused(odd);
    }
    return check_done();
}
