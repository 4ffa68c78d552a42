/* SPDX-License-Identifier: BSD-3-Clause */
/* One rank's k-th allocation in a call fails, for all k: every rank returns, with an error or with what is right, and
 * the next call works. */
/* ranks: 2 3 4 5 */
/* env: KEEL_COLL=gatherv=packed,scatterv=packed */
#include "../check.h"
#include "../nomem.h"

enum { N = 3000, KINDS = 28 };

static MPI_Comm comm, ring;
static MPI_Group group; /* of all but rank 0 */
static int *in, *out;

/* An error at the call in one process is an error of the request in the others; there is no communicator then. */
static int idup(MPI_Comm *made)
{
    MPI_Request r;
    int err = MPI_Comm_idup(comm, made, &r);
    if (err == MPI_SUCCESS)
        err = MPI_Wait(&r, MPI_STATUS_IGNORE);
    if (err != MPI_SUCCESS)
        *made = MPI_COMM_NULL;
    return err;
}

/* A call without memory still does its part, with an error here and perhaps in others. */
static int nonblocking(int kind, const int *cnt, const int *dsp, int root)
{
    MPI_Request r = MPI_REQUEST_NULL;
    int err = MPI_SUCCESS;
    switch (kind) {
    case 18:
        err = MPI_Ibarrier(comm, &r);
        break;
    case 19:
        err = MPI_Ibcast(in, N, MPI_INT, root, comm, &r);
        break;
    case 20:
        err = MPI_Igatherv(in, cnt[check_rank], MPI_INT, out, cnt, dsp, MPI_INT, root, comm, &r);
        break;
    case 21:
        err = MPI_Iscatterv(out, cnt, dsp, MPI_INT, in, cnt[check_rank], MPI_INT, root, comm, &r);
        break;
    case 22:
        err = MPI_Iallgather(in, N, MPI_INT, out, N, MPI_INT, comm, &r);
        break;
    case 23:
        err = MPI_Ialltoallv(in, cnt, dsp, MPI_INT, out, cnt, dsp, MPI_INT, comm, &r);
        break;
    case 24:
        err = MPI_Iallreduce(in, out, N, MPI_INT, MPI_SUM, comm, &r);
        break;
    case 25:
        err = MPI_Iscan(in, out, N, MPI_INT, MPI_SUM, comm, &r);
        break;
    default:
        err = MPI_Ineighbor_alltoall(in, N / 10, MPI_INT, out, N / 10, MPI_INT, ring, &r);
    }
    return err == MPI_SUCCESS ? MPI_Wait(&r, MPI_STATUS_IGNORE) : err;
}

static int call(int kind, MPI_Comm *made)
{
    int root = check_size - 1, cnt[64], dsp[64];
    for (int i = 0; i < check_size; i++) {
        cnt[i] = (kind == 16 || kind == 17 || kind == 20 || kind == 21) && i % 2 ? 7 : N;
        dsp[i] = i * N;
    }
    switch (kind) {
    case 0:
        return MPI_Bcast(in, N, MPI_INT, root, comm);
    case 1:
        return MPI_Gather(in, N, MPI_INT, out, N, MPI_INT, root, comm);
    case 2:
        return MPI_Scatter(in, N, MPI_INT, out, N, MPI_INT, root, comm);
    case 3:
        return MPI_Allgather(in, N, MPI_INT, out, N, MPI_INT, comm);
    case 4:
        return MPI_Allgatherv(in, N, MPI_INT, out, cnt, dsp, MPI_INT, comm);
    case 5:
        return MPI_Alltoall(in, N, MPI_INT, out, N, MPI_INT, comm);
    case 6:
        return MPI_Alltoall(MPI_IN_PLACE, N, MPI_INT, out, N, MPI_INT, comm);
    case 7:
        return MPI_Reduce(in, out, N, MPI_INT, MPI_SUM, root, comm);
    case 8:
        return MPI_Allreduce(in, out, N, MPI_INT, MPI_SUM, comm);
    case 9:
        return MPI_Reduce_scatter_block(in, out, N, MPI_INT, MPI_SUM, comm);
    case 10:
        return MPI_Scan(in, out, N, MPI_INT, MPI_SUM, comm);
    case 11:
        return MPI_Exscan(in, out, N, MPI_INT, MPI_SUM, comm);
    case 12:
        return MPI_Comm_dup(comm, made);
    case 13:
        return MPI_Comm_split(comm, 0, -check_rank, made);
    case 14:
        return MPI_Comm_create(comm, group, made);
    case 15:
        return idup(made);
    case 16:
        return MPI_Gatherv(in, cnt[check_rank], MPI_INT, out, cnt, dsp, MPI_INT, root, comm);
    case 17:
        return MPI_Scatterv(out, cnt, dsp, MPI_INT, in, cnt[check_rank], MPI_INT, root, comm);
    case 27: /* collective over the members alone */
        return MPI_Comm_create_group(comm, group, 7, made);
    default:
        return nonblocking(kind, cnt, dsp, root);
    }
}

/* The result of allreduce, if it says success. */
static void check_sum(int kind, int err)
{
    for (int i = 0; kind == 8 && err == MPI_SUCCESS && i < N; i++)
        if (out[i] != check_size * i + check_size * (check_size - 1) / 2) {
            CHECK_EQ(out[i], check_size * i + check_size * (check_size - 1) / 2, "element %d", i);
            break;
        }
}

/* Returns whether an allocation failed in the victim. */
static int attempt(int kind, int victim, long k)
{
    MPI_Comm made = MPI_COMM_NULL;
    int err, v = 1, hit;
    for (int i = 0; i < N * check_size; i++) {
        in[i] = check_rank + i;
        out[i] = 0;
    }
    nomem_begin(victim, k);
    err = call(kind, &made);
    hit = nomem_end(kind, victim, err);
    check_sum(kind, err);
    if (made != MPI_COMM_NULL)
        MPI_Comm_free(&made);
    MPI_Allreduce(MPI_IN_PLACE, &v, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(v, check_size, "after call %d without memory", kind);
    MPI_Bcast(&hit, 1, MPI_INT, victim, MPI_COMM_WORLD);
    return hit;
}

int main(int argc, char **argv)
{
    int zero = 0, one = 1;
    MPI_Group all;
#ifdef __SANITIZE_ADDRESS__
    puts("AddressSanitizer has its own malloc");
    return 77;
#endif
    check_init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &check_size, &one, 0, &ring);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
    MPI_Comm_group(comm, &all);
    MPI_Group_excl(all, 1, &zero, &group);
    MPI_Group_free(&all);
    in = malloc(sizeof *in * N * (size_t)check_size);
    out = malloc(sizeof *out * N * (size_t)check_size);
    for (int kind = 0; kind < KINDS; kind++)
        for (int victim = 0; victim < check_size; victim++)
            for (long k = 1; attempt(kind, victim, k); k++)
                ;
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
    MPI_Comm_free(&ring);
    free(in);
    free(out);
    return check_done();
}
