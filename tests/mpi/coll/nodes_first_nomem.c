/* SPDX-License-Identifier: BSD-3-Clause */
/* One rank's k-th allocation fails, for all k, in the call that asks for the nodes of a communicator: the first,
 * nonblocking, or the fifth, blocking or not.  Every rank returns, with an error or with what is right, and the
 * next calls work in all. */
/* ranks: 4 5 8 */
/* mpiexec: -fake-nodes 3 */
/* nodes: one, because it has simulated ones of its own */
#include "../check.h"
#include "../nomem.h"

enum { KINDS = 3, FIFTH = 5 };

static MPI_Group all;

static int sum(int form, MPI_Comm c, int *out)
{
    static int in[1];
    MPI_Request r;
    in[0] = check_rank;
    *out = -1;
    if (form == 0)
        return MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, c);
    int err = MPI_Iallreduce(in, out, 1, MPI_INT, MPI_SUM, c, &r);
    left = 0; /* what a call needs that has returned already is another matter: the job ends without it */
    return err ? err : MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void right(int err, int out, const char *what, int kind)
{
    if (err == MPI_SUCCESS)
        CHECK_EQ(out, check_size * (check_size - 1) / 2, "%s, kind %d", what, kind);
}

/* A copy that is begun before a blocking call has been: it takes over what all know that all know, and nothing else. */
static void copied(int kind, MPI_Comm c)
{
    MPI_Comm copy;
    MPI_Request r;
    int out;
    CHECK_ERR(MPI_Comm_idup(c, &copy, &r), MPI_SUCCESS);
    CHECK_ERR(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_ERR(sum(1, copy, &out), MPI_SUCCESS);
    right(MPI_SUCCESS, out, "in a copy", kind);
    MPI_Comm_free(&copy);
}

/* Returns whether an allocation failed in the victim. */
static int attempt(int kind, int victim, long k)
{
    MPI_Comm c;
    int err, out, hit;
    if (kind == 0)
        MPI_Comm_create_from_group(all, "fresh", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c);
    else
        MPI_Comm_dup(MPI_COMM_WORLD, &c); /* which has agreed on the rest */
    MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    for (int i = 1; kind > 0 && i < FIFTH; i++)
        right(sum(i % 2, c, &out), out, "before", kind);
    nomem_begin(victim, k);
    err = sum(kind < 2, c, &out);
    hit = nomem_end(kind, victim, err);
    right(err, out, "without memory", kind);
    copied(kind, c);
    for (int form = 0; form < 2; form++) {
        CHECK_ERR(sum(form, c, &out), MPI_SUCCESS);
        right(MPI_SUCCESS, out, "after", kind);
    }
    MPI_Comm_free(&c);
    MPI_Bcast(&hit, 1, MPI_INT, victim, MPI_COMM_WORLD);
    return hit;
}

int main(int argc, char **argv)
{
#ifdef __SANITIZE_ADDRESS__
    puts("AddressSanitizer has its own malloc");
    return 77;
#endif
    check_init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    for (int kind = 0; kind < KINDS; kind++)
        for (int victim = 0; victim < check_size; victim++)
            for (long k = 1; attempt(kind, victim, k); k++)
                ;
    MPI_Group_free(&all);
    return check_done();
}
