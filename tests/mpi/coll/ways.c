/* SPDX-License-Identifier: BSD-3-Clause */
/* Large collectives again and again, so that each way in which data can go within a node is taken, and changes:
 * with other data, buffers and sizes each time, on two communicators by turns, with types that have gaps here and
 * there, in place; beside what one process computes. */
/* ranks: 1 2 3 4 5 8 */
/* timeout: 120 */
#include "../check.h"
#ifdef REFUSED
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

enum { MOST = 120000, ROUNDS = 11, GUARD = -7 };
static const int sizes[] = { 90, 3000, 8191, MOST }; /* numbers of each block, or of a vector */
static int *out, *in;
static int odd; /* this round's displacement of both */
static MPI_Datatype gappy;

static void refuse(void)
{
#ifdef REFUSED
    struct sock_filter code[] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
                                  BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1 /* EPERM */),
                                  BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
    struct sock_fprog prog = { sizeof code / sizeof *code, code };
    if (check_rank % 2 == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
#endif
}

static int number(int round, int from, int to, int i)
{
    return round * 7919 + from * 1009 + to * 101 + i % 9973;
}

/* n numbers for each of `blocks` processes. */
static int *fill(int round, int blocks, int n)
{
    odd = round % 4 * 3;
    for (int b = 0; b < blocks; b++)
        for (int i = 0; i < n; i++)
            out[odd + b * n + i] = number(round, check_rank, b, i);
    for (int i = 0; i < 2 * blocks * n + 1; i++)
        in[odd + i] = GUARD;
    return out + odd;
}

static void from_to(const int *a, int step, int round, int from, int to, int n, const char *what)
{
    for (int i = 0; i < n; i++)
        if (a[i * step] != number(round, from, to, i)) {
            CHECK_EQ(a[i * step], number(round, from, to, i), "%s of %d, round %d: from %d, %d", what, n,
                     round, from, i);
            return;
        }
}

/* Sums of what all have for numbers first to first + n - 1 of blocks of `of`. */
static void sums(const int *a, int round, int block, int first, int n, const char *what)
{
    for (int i = 0; i < n; i++) {
        int all = 0;
        for (int r = 0; r < check_size; r++)
            all += number(round, r, block, first + i);
        if (a[i] != all) {
            CHECK_EQ(a[i], all, "%s of %d, round %d: %d", what, n, round, i);
            return;
        }
    }
}

static void moves(MPI_Comm comm, int round, int n)
{
    int p = check_size, root = round % p, step = round % 5 == 4 && check_rank % 2 ? 2 : 1, *to;
    MPI_Datatype type = step == 2 ? gappy : MPI_INT;
    const int *from = fill(round, p, n);
    to = in + odd;
    MPI_Alltoall(from, n, MPI_INT, to, n, type, comm);
    for (int r = 0; r < p; r++)
        from_to(to + r * n * step, step, round, r, check_rank, n, "alltoall");
    fill(round, p, n);
    MPI_Allgather(from, n, MPI_INT, to, n, MPI_INT, comm);
    for (int r = 0; r < p; r++)
        from_to(to + r * n, 1, round, r, 0, n, "allgather");
    fill(round, p, n);
    if (round % 3 == 2)
        memcpy(to + root * n, from, (size_t)n * sizeof *to);
    if (round % 3 == 2 && check_rank == root)
        MPI_Gather(MPI_IN_PLACE, 0, MPI_INT, to, n, MPI_INT, root, comm);
    else
        MPI_Gather(from, n, MPI_INT, to, n, type, root, comm);
    for (int r = 0; r < p && check_rank == root; r++)
        from_to(to + r * n * (round % 3 == 2 ? 1 : step), round % 3 == 2 ? 1 : step, round, r, 0, n,
                "gather");
    fill(round, p, n);
    MPI_Scatter(from, n, MPI_INT, to, n, type, root, comm);
    from_to(to, step, round, root, check_rank, n, "scatter");
    CHECK_EQ(to[step * n], GUARD, "behind what scatter brought");
    fill(round, 1, n);
    memcpy(to, from, (size_t)n * sizeof *to);
    MPI_Bcast(to, n, MPI_INT, root, comm);
    from_to(to, 1, round, root, 0, n, "bcast");
}

/* Blocks of a third of n, of two thirds, of none, of n. */
static int length(int round, int a, int b, int n)
{
    int k = (a * 5 + b * 3 + round / 2) % 4;
    return k == 3 ? n : n / 3 * k;
}

static void vectors(MPI_Comm comm, int round, int n)
{
    int p = check_size, root = round % p, step = round % 5 == 4 && check_rank % 2 ? 2 : 1, *to;
    int give[64], get[64], give_at[64], get_at[64], *lengths = get;
    MPI_Datatype type = step == 2 ? gappy : MPI_INT;
    const int *from = fill(round, p, n);
    to = in + odd;
    for (int r = 0; r < p; r++) {
        give[r] = length(round, check_rank, r, n);
        get[r] = length(round, r, check_rank, n);
        give_at[r] = r * n;
        get_at[r] = r * n;
    }
    MPI_Alltoallv(from, give, give_at, MPI_INT, to, get, get_at, type, comm);
    for (int r = 0; r < p; r++)
        from_to(to + r * n * step, step, round, r, check_rank, get[r], "alltoallv");
    for (int r = 0; r < p; r++)
        lengths[r] = length(round, r, 0, n);
    fill(round, p, n);
    MPI_Gatherv(from, lengths[check_rank], MPI_INT, to, lengths, get_at, type, root, comm);
    for (int r = 0; r < p && check_rank == root; r++) {
        from_to(to + r * n * step, step, round, r, 0, lengths[r], "gatherv");
        CHECK(lengths[r] == n || to[(r * n + lengths[r]) * step] == GUARD, "behind a block of gatherv");
    }
    fill(round, p, n);
    MPI_Scatterv(from, lengths, give_at, MPI_INT, to, lengths[check_rank], type, root, comm);
    from_to(to, step, round, root, check_rank, lengths[check_rank], "scatterv");
    CHECK_EQ(to[step * lengths[check_rank]], GUARD, "behind what scatterv brought");
}

static void reductions(MPI_Comm comm, int round, int n)
{
    int p = check_size, root = round % p, *to, counts[64];
    const int *from = fill(round, p, n);
    to = in + odd;
    MPI_Allreduce(from, to, n, MPI_INT, MPI_SUM, comm);
    sums(to, round, 0, 0, n, "allreduce");
    CHECK_EQ(to[n], GUARD, "behind what allreduce brought");
    if (round % 3 == 1) {
        memcpy(to, from, (size_t)n * sizeof *to);
        MPI_Allreduce(MPI_IN_PLACE, to, n, MPI_INT, MPI_SUM, comm);
        sums(to, round, 0, 0, n, "allreduce in place");
    }
    fill(round, p, n);
    MPI_Reduce(from, to, n, MPI_INT, MPI_SUM, root, comm);
    if (check_rank == root)
        sums(to, round, 0, 0, n, "reduce");
    MPI_Reduce_scatter_block(from, to, n, MPI_INT, MPI_SUM, comm);
    sums(to, round, check_rank, 0, n, "reduce_scatter_block");
    for (int i = 0; i < p; i++)
        counts[i] = i % 2 ? 0 : n;
    MPI_Reduce_scatter(from, to, counts, MPI_INT, MPI_SUM, comm);
    if (check_rank % 2 == 0)
        sums(to, round, check_rank / 2, 0, n, "reduce_scatter");
}

int main(int argc, char **argv)
{
    MPI_Comm other;
    check_init(&argc, &argv);
    refuse();
    out = malloc(((size_t)MOST * (size_t)check_size + 20) * sizeof *out);
    in = malloc(((size_t)MOST * 2 * (size_t)check_size + 20) * sizeof *in);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Type_create_resized(MPI_INT, 0, 8, &gappy);
    MPI_Type_commit(&gappy);
    for (int k = 0; k < (int)(sizeof sizes / sizeof *sizes); k++)
        for (int round = 0; round < ROUNDS; round++) {
            MPI_Comm comm = round % 4 == 3 ? other : MPI_COMM_WORLD;
            moves(comm, round, sizes[k]);
            vectors(comm, round, sizes[k]);
            reductions(comm, round, sizes[k]);
        }
    MPI_Type_free(&gappy);
    MPI_Comm_free(&other);
    free(out);
    free(in);
    return check_done();
}
