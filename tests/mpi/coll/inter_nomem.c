/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives on intercommunicators: one rank's k-th allocation in a call fails, for all k: every rank returns,
 * with an error or with what is right, and the next call works. */
/* ranks: 2 3 5 */
/* env: KEEL_COLL=inter_bcast=leader,inter_gather=leader,inter_scatter=leader,inter_allgather=leaders,inter_reduce=leader,inter_allreduce=leaders,inter_reduce_scatter=leaders */
#include "../check.h"
#include "../nomem.h"

enum { N = 3000, KINDS = 10 };

static MPI_Comm half, inter;
static int side, n, m, rank;
static int *in, *out;

static int call(int kind)
{
    int cnt[64], dsp[64], root = side ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    for (int i = 0; i < m; i++) {
        cnt[i] = N;
        dsp[i] = i * N;
    }
    switch (kind) {
    case 0:
        return MPI_Bcast(in, N, MPI_INT, root, inter);
    case 1:
        return MPI_Gather(in, N, MPI_INT, out, N, MPI_INT, root, inter);
    case 2:
        return MPI_Scatter(in, N, MPI_INT, out, N, MPI_INT, root, inter);
    case 3:
        return MPI_Allgather(in, N, MPI_INT, out, N, MPI_INT, inter);
    case 4:
        return MPI_Allgatherv(in, N, MPI_INT, out, cnt, dsp, MPI_INT, inter);
    case 5:
        return MPI_Alltoall(in, N, MPI_INT, out, N, MPI_INT, inter);
    case 6:
        return MPI_Reduce(in, out, N, MPI_INT, MPI_SUM, root, inter);
    case 7:
        return MPI_Reduce_scatter_block(in, out, m * 100, MPI_INT, MPI_SUM, inter);
    case 8:
        return MPI_Barrier(inter);
    default:
        return MPI_Allreduce(in, out, N, MPI_INT, MPI_SUM, inter);
    }
}

/* Returns whether an allocation failed in the victim. */
static int attempt(int kind, int victim, long k)
{
    int err, v = 1, w = 0, hit;
    for (int i = 0; i < N * check_size; i++) {
        in[i] = check_rank + i;
        out[i] = 0;
    }
    nomem_begin(victim, k);
    err = call(kind);
    hit = nomem_end(kind, victim, err);
    for (int i = 0; kind == 9 && err == MPI_SUCCESS && i < N; i++)
        if (out[i] != m * i + m * (m - 1) + !side * m) { /* the ranks of a side are every second one */
            CHECK_EQ(out[i], m * i + m * (m - 1) + !side * m, "element %d", i);
            break;
        }
    MPI_Allreduce(&v, &w, 1, MPI_INT, MPI_SUM, inter);
    CHECK_EQ(w, m, "after call %d without memory", kind);
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
    side = check_rank % 2;
    MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !side, 0, &inter);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    MPI_Comm_size(inter, &n);
    MPI_Comm_remote_size(inter, &m);
    MPI_Comm_rank(inter, &rank);
    in = malloc(sizeof *in * N * (size_t)check_size);
    out = malloc(sizeof *out * N * (size_t)check_size);
    for (int kind = 0; kind < KINDS; kind++)
        for (int victim = 0; victim < check_size; victim++)
            for (long k = 1; attempt(kind, victim, k); k++)
                ;
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    free(in);
    free(out);
    return check_done();
}
