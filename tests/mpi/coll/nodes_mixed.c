/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 5 7 */
/* mpiexec: -fake-nodes 3 */
/* nodes: one, because it has simulated ones of its own */
/* timeout: 120 */
/* env: KEEL_COLL=barrier=nodes,bcast=nodes,gather=nodes,gatherv=nodes,scatter=nodes,scatterv=nodes,reduce=nodes,allreduce=nodes,allgather=nodes,allgatherv=nodes,alltoall=nodes,alltoallv=nodes,alltoallw=nodes,reduce_scatter=nodes,scan=nodes,exscan=nodes */
/* Composed collectives of a communicator whose ranks lie on the nodes in no order, from and to every root, beside
 * the same calls on one whose ranks lie in a row on each: all forms, operations that do not commute, in place. */
#include "../tool/tool.h"

enum { N = 300, KINDS = 14 };
static const char *const rows[KINDS] = { "keel_coll_barrier_nodes",        "keel_coll_bcast_nodes",
                                         "keel_coll_gather_nodes",         "keel_coll_scatter_nodes",
                                         "keel_coll_reduce_nodes",         "keel_coll_allreduce_nodes",
                                         "keel_coll_allgather_nodes",      "keel_coll_alltoall_nodes",
                                         "keel_coll_reduce_scatter_nodes", "keel_coll_scan_nodes",
                                         "keel_coll_exscan_nodes",         "keel_coll_gatherv_nodes",
                                         "keel_coll_scatterv_nodes",       "keel_coll_alltoallv_nodes" };
static MPI_Comm comm;
static int rank, size;
static MPI_Op affine; /* of pairs (a, b): x -> a x + b, modulo a prime; it does not commute */

static void compose(void *in, void *inout, int *len, MPI_Datatype *type)
{
    enum { PRIME = 10007 };
    int *x = in, *y = inout;
    (void)type;
    for (int i = 0; i < *len; i++) { /* first x, then y */
        int a = y[2 * i] * x[2 * i] % PRIME, b = (y[2 * i] * x[2 * i + 1] + y[2 * i + 1]) % PRIME;
        y[2 * i] = a;
        y[2 * i + 1] = b;
    }
}

static int value(int r, int i)
{
    return (r * 37 + i * 11 + 5) % 1000;
}

static void fill(int *v, int r)
{
    for (int i = 0; i < N; i++)
        v[i] = value(r, i);
}

/* Of ranks 0 to upto in their order. */
static void expected_upto(int *want, int sum, int upto)
{
    int next[N], len = N / 2;
    fill(want, 0);
    for (int r = 1; r <= upto; r++) {
        fill(next, r);
        for (int i = 0; sum && i < N; i++)
            want[i] += next[i];
        if (!sum) {
            compose(want, next, &len, NULL);
            memcpy(want, next, sizeof next);
        }
    }
}

static void expected(int *want, int sum)
{
    expected_upto(want, sum, size - 1);
}

static void same(const int *got, const int *want, const char *what, int root)
{
    for (int i = 0; i < N; i++)
        if (got[i] != want[i]) {
            CHECK(got[i] == want[i], "%s, root %d, element %d: %d; expected %d", what, root, i, got[i],
                  want[i]);
            return;
        }
}

static void run(MPI_Request *r)
{
    MPI_Wait(r, MPI_STATUS_IGNORE);
}

static void rooted(int root, MPI_Datatype pair)
{
    int in[N], out[N], want[N];
    MPI_Request r;
    fill(want, root);
    for (int form = 0; form < 2; form++) {
        memset(out, 0, sizeof out);
        if (rank == root)
            fill(out, root);
        if (form)
            MPI_Ibcast(out, N, MPI_INT, root, comm, &r), run(&r);
        else
            MPI_Bcast(out, N, MPI_INT, root, comm);
        same(out, want, "bcast", root);
    }
    for (int op = 0; op < 2; op++)
        for (int form = 0; form < 3; form++) {
            const void *from = in;
            int n = op ? N : N / 2;
            fill(in, rank);
            memset(out, 0, sizeof out);
            if (form == 2 && rank == root) {
                memcpy(out, in, sizeof in);
                from = MPI_IN_PLACE;
            }
            if (form == 1)
                MPI_Ireduce(from, out, n, op ? MPI_INT : pair, op ? MPI_SUM : affine, root, comm, &r),
                    run(&r);
            else
                MPI_Reduce(from, out, n, op ? MPI_INT : pair, op ? MPI_SUM : affine, root, comm);
            expected(want, op);
            if (rank == root)
                same(out, want, op ? "reduce, sum" : "reduce, affine", root);
        }
}

/* Blocks of all at each root, and back; in form 2 the root's own one is in its place. */
static void blocks_of(int root)
{
    int in[N], out[N], want[N], *blocks = malloc((size_t)size * sizeof in);
    MPI_Request r;
    for (int form = 0; form < 3; form++) {
        const void *from = form == 2 && rank == root ? MPI_IN_PLACE : in;
        void *into = form == 2 && rank == root ? MPI_IN_PLACE : out;
        fill(in, rank);
        memset(blocks, 0, (size_t)size * sizeof in);
        memcpy(blocks + rank * N, in, sizeof in);
        if (form == 1)
            MPI_Igather(from, N, MPI_INT, blocks, N, MPI_INT, root, comm, &r), run(&r);
        else
            MPI_Gather(from, N, MPI_INT, blocks, N, MPI_INT, root, comm);
        for (int i = 0; rank == root && i < size; i++) {
            fill(want, i);
            same(blocks + i * N, want, "gather", root);
        }
        memset(out, 0, sizeof out);
        if (form == 1)
            MPI_Iscatter(blocks, N, MPI_INT, into, N, MPI_INT, root, comm, &r), run(&r);
        else
            MPI_Scatter(blocks, N, MPI_INT, into, N, MPI_INT, root, comm);
        fill(want, rank);
        same(into == out ? out : blocks + rank * N, want, "scatter", root);
    }
    free(blocks);
}

static void all(MPI_Datatype pair)
{
    int in[N], out[N], want[N], *blocks = malloc((size_t)size * sizeof in);
    MPI_Request r;
    for (int op = 0; op < 2; op++)
        for (int form = 0; form < 3; form++) {
            int n = op ? N : N / 2;
            fill(in, rank);
            memcpy(out, in, sizeof in);
            const void *from = form == 2 ? MPI_IN_PLACE : in;
            if (form == 1)
                MPI_Iallreduce(from, out, n, op ? MPI_INT : pair, op ? MPI_SUM : affine, comm, &r), run(&r);
            else
                MPI_Allreduce(from, out, n, op ? MPI_INT : pair, op ? MPI_SUM : affine, comm);
            expected(want, op);
            same(out, want, op ? "allreduce, sum" : "allreduce, affine", -1);
        }
    for (int form = 0; form < 3; form++) {
        fill(in, rank);
        memset(blocks, 0, (size_t)size * sizeof in);
        if (form == 2)
            memcpy(blocks + rank * N, in, sizeof in);
        if (form == 1)
            MPI_Iallgather(in, N, MPI_INT, blocks, N, MPI_INT, comm, &r), run(&r);
        else
            MPI_Allgather(form == 2 ? MPI_IN_PLACE : in, N, MPI_INT, blocks, N, MPI_INT, comm);
        for (int i = 0; i < size; i++) {
            fill(want, i);
            same(blocks + i * N, want, "allgather", i);
        }
    }
    MPI_Barrier(comm);
    MPI_Ibarrier(comm, &r), run(&r);
    free(blocks);
}

/* Blocks of any length, some empty, some longer than what goes by way of the leaders. */
static int uneven(int from, int to)
{
    return (from * 5 + to * 3) % 7 == 0 ? 0 : (from + to) % 3 == 2 ? N : (from * 7 + to) % 23 + 1;
}

static void check_block(const int *got, int from, int to, const char *what)
{
    for (int i = 0; i < uneven(from, to); i++)
        if (got[i] != value(100 * from + to, i)) {
            CHECK(0, "%s, from %d to %d, element %d: %d", what, from, to, i, got[i]);
            return;
        }
}

static void vectors(int root)
{
    int counts[64], displs[64], back[64], at[64], in[N], n = uneven(rank, root);
    int *out = malloc((size_t)size * sizeof in), *blocks = malloc((size_t)size * sizeof in);
    MPI_Request r;
    for (int i = 0; i < size; i++) {
        displs[i] = at[i] = i * N;
        counts[i] = uneven(i, root);
        back[i] = uneven(rank, i);
    }
    for (int form = 0; form < 3; form++) {
        for (int i = 0; i < n; i++)
            in[i] = value(100 * rank + root, i);
        memset(blocks, 0, (size_t)size * sizeof in);
        memcpy(blocks + rank * N, in, sizeof in);
        const void *from = form == 2 && rank == root ? MPI_IN_PLACE : in;
        void *into = form == 2 && rank == root ? MPI_IN_PLACE : out;
        if (form == 1)
            MPI_Igatherv(from, n, MPI_INT, blocks, counts, displs, MPI_INT, root, comm, &r), run(&r);
        else
            MPI_Gatherv(from, n, MPI_INT, blocks, counts, displs, MPI_INT, root, comm);
        for (int i = 0; rank == root && i < size; i++)
            check_block(blocks + i * N, i, root, "gatherv");
        if (form == 1)
            MPI_Iscatterv(blocks, counts, displs, MPI_INT, into, n, MPI_INT, root, comm, &r), run(&r);
        else
            MPI_Scatterv(blocks, counts, displs, MPI_INT, into, n, MPI_INT, root, comm);
        check_block(into == out ? out : blocks + rank * N, rank, root, "scatterv");
    }
    for (int i = 0; i < size; i++)
        counts[i] = uneven(i, rank);
    for (int i = 0; i < size; i++)
        for (int k = 0; k < back[i]; k++)
            blocks[i * N + k] = value(100 * rank + i, k);
    for (int form = 0; form < 2; form++) {
        memset(out, 0, (size_t)size * sizeof in);
        if (form == 1)
            MPI_Ialltoallv(blocks, back, displs, MPI_INT, out, counts, at, MPI_INT, comm, &r), run(&r);
        else
            MPI_Alltoallv(blocks, back, displs, MPI_INT, out, counts, at, MPI_INT, comm);
        for (int i = 0; i < size; i++)
            check_block(out + i * N, i, rank, "alltoallv");
    }
    free(out);
    free(blocks);
}

/* Each rank what the ranks up to it have, or those before it. */
static void scans(MPI_Datatype pair)
{
    int in[N], out[N], want[N];
    MPI_Request r;
    for (int op = 0; op < 2; op++)
        for (int ex = 0; ex < 2; ex++)
            for (int form = 0; form < 3; form++) {
                int n = op ? N : N / 2;
                MPI_Datatype type = op ? MPI_INT : pair;
                MPI_Op how = op ? MPI_SUM : affine;
                fill(in, rank);
                memcpy(out, in, sizeof in);
                const void *from = form == 2 ? MPI_IN_PLACE : in;
                if (form == 1 && ex)
                    MPI_Iexscan(from, out, n, type, how, comm, &r), run(&r);
                else if (form == 1)
                    MPI_Iscan(from, out, n, type, how, comm, &r), run(&r);
                else if (ex)
                    MPI_Exscan(from, out, n, type, how, comm);
                else
                    MPI_Scan(from, out, n, type, how, comm);
                expected_upto(want, op, rank - ex);
                if (rank >= ex)
                    same(out, want, ex ? "exscan" : "scan", op);
            }
}

/* Of every vector its block, of uneven lengths or all the same; a block of each to each. */
static void exchanges(MPI_Datatype pair)
{
    int in[N], out[N], want[N], counts[64], at = 0, mine;
    int *blocks = malloc((size_t)size * sizeof in), *got = malloc((size_t)size * sizeof in);
    MPI_Request r;
    for (int op = 0; op < 2; op++)
        for (int even = 0; even < 2; even++)
            for (int form = 0; form < 3; form++) {
                int unit = op ? 1 : 2, sum = 0;
                MPI_Datatype type = op ? MPI_INT : pair;
                MPI_Op how = op ? MPI_SUM : affine;
                for (int i = 0; i < size; i++) {
                    counts[i] = even ? 7 : i % 3 * 4; /* some get nothing */
                    at = i == rank ? sum : at;
                    sum += counts[i] * unit;
                }
                mine = counts[rank] * unit;
                fill(in, rank);
                memcpy(out, in, sizeof in);
                const void *from = form == 2 ? MPI_IN_PLACE : in;
                if (even && form == 1)
                    MPI_Ireduce_scatter_block(from, out, 7, type, how, comm, &r), run(&r);
                else if (even)
                    MPI_Reduce_scatter_block(from, out, 7, type, how, comm);
                else if (form == 1)
                    MPI_Ireduce_scatter(from, out, counts, type, how, comm, &r), run(&r);
                else
                    MPI_Reduce_scatter(from, out, counts, type, how, comm);
                expected(want, op);
                CHECK(!memcmp(out, want + at, (size_t)mine * sizeof *out), "reduce_scatter, op %d, form %d",
                      op, form);
            }
    for (int n = 1; n <= N; n += N - 1)
        for (int form = 0; form < 3; form++) {
            for (int i = 0; i < size; i++)
                for (int k = 0; k < n; k++)
                    blocks[i * n + k] = value(100 * rank + i, k);
            memset(got, 0, (size_t)size * sizeof in);
            memcpy(got, blocks, form == 2 ? (size_t)size * sizeof in : 0);
            if (form == 2)
                MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, got, n, MPI_INT, comm);
            else if (form == 1)
                MPI_Ialltoall(blocks, n, MPI_INT, got, n, MPI_INT, comm, &r), run(&r);
            else
                MPI_Alltoall(blocks, n, MPI_INT, got, n, MPI_INT, comm);
            int wrong = 0;
            for (int i = 0; i < size; i++)
                for (int k = 0; k < n; k++)
                    wrong += got[i * n + k] != value(100 * i + rank, k);
            CHECK(wrong == 0, "alltoall of %d: %d elements", n, wrong);
        }
    free(blocks);
    free(got);
}

/* Blocks that are long, and uneven, some empty. */
static void long_blocks(void)
{
    enum { LONG = 20000 };
    int counts[64], sum = 0, at = 0, wrong = 0;
    for (int i = 0; i < size; i++) {
        counts[i] = i % 4 == 3 ? 0 : LONG - i;
        at = i == rank ? sum : at;
        sum += counts[i];
    }
    int *in = malloc((size_t)sum * sizeof *in), *out = malloc((LONG + 1) * sizeof *out);
    for (int i = 0; i < sum; i++)
        in[i] = i + rank;
    MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < counts[rank]; i++)
        wrong += out[i] != size * (at + i) + size * (size - 1) / 2;
    CHECK(wrong == 0, "reduce_scatter of long blocks: %d elements", wrong);
    free(in);
    free(out);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    MPI_Datatype pair;
    MPI_T_pvar_session counts;
    MPI_T_pvar_handle used[KINDS];
    tool_begin();
    OK(MPI_T_pvar_session_create(&counts));
    for (int i = 0; i < KINDS; i++)
        used[i] = tool_watch(counts, rows[i], MPI_T_PVAR_CLASS_COUNTER);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(compose, 0, &affine);
    for (int order = 0; order < 3; order++) { /* in a row; in turns; backwards */
        int key = order == 0 ? check_rank : order == 1 ? check_rank % 3 * 100 + check_rank : -check_rank;
        MPI_Comm_split(MPI_COMM_WORLD, 0, key, &comm);
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        for (int round = 0; round < 2; round++) {
            for (int root = 0; root < size; root++)
                rooted(root, pair), blocks_of(root), vectors(root);
            all(pair);
            scans(pair);
            exchanges(pair);
            long_blocks();
        }
        MPI_Comm_free(&comm);
    }
    for (int i = 0; i < KINDS; i++) {
        uint64_t n = 0;
        OK(MPI_T_pvar_read(counts, used[i], &n));
        CHECK(n > 10, "%s: %d calls", rows[i], (int)n);
    }
    OK(MPI_T_pvar_session_free(&counts));
    OK(MPI_T_finalize());
    MPI_Op_free(&affine);
    MPI_Type_free(&pair);
    return check_done();
}
