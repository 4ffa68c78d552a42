/* SPDX-License-Identifier: BSD-3-Clause */
/* Large nonblocking and persistent collectives in memory of the node: many of all kinds at once on two
 * communicators, among blocking calls, completed in any order or by tests alone, with what they use freed
 * meanwhile, waited for asleep, started in another order on each rank; and their counters tell that they go that
 * way. */
/* ranks: 1 2 3 4 8 */
/* timeout: 120 */
#include "../tool/tool.h"
#include <unistd.h>

enum { KINDS = 14, MOST_RANKS = 16, GUARD = 0x5a5a5a5a };

/* One call: n numbers in each block. */
struct call {
    int kind, n, root, round, step; /* step: numbers from one that is received to the next */
    unsigned *out, *in;
    int give[MOST_RANKS], give_at[MOST_RANKS], get[MOST_RANKS], get_at[MOST_RANKS];
};

static MPI_Datatype pair, gappy;
static MPI_Op affine;

/* x -> a x + b, by pairs: not commutative. */
static void compose(void *in, void *inout, int *len, MPI_Datatype *type)
{
    unsigned *x = in, *y = inout;
    MPI_Aint lb, extent;
    MPI_Type_get_extent(*type, &lb, &extent);
    for (int i = 0, step = (int)(extent / (MPI_Aint)sizeof *x); i < *len; i++) {
        y[i * step + 1] += x[i * step + 1] * y[i * step];
        y[i * step] *= x[i * step];
    }
}

static unsigned number(const struct call *c, int from, int to, long i)
{
    return (unsigned)(c->round * 7919 + c->kind * 104729 + from * 1009 + to * 10007) + (unsigned)i;
}

/* What the blocks of ragged forms have: none here and there. */
static int length(const struct call *c, int a, int b)
{
    int k = (a * 5 + b * 3 + c->round) % 4;
    return k == 3 ? c->n : c->n / 3 * k;
}

/* What is received is not there yet; in place, what is given is. */
static void reset(struct call *c)
{
    int whole = check_size * c->n;
    for (int i = 0; i < 4 * (whole + 1); i++)
        c->in[i] = GUARD;
    if (c->kind == 3 || c->kind == 11 || c->kind == 13)
        memcpy(c->in, c->out, (size_t)whole * sizeof *c->in);
}

static void prepare(struct call *c, int kind, int n, int round)
{
    int p = check_size, whole = p * n;
    *c = (struct call){ .kind = kind, .n = n, .root = (round + kind) % p, .round = round, .step = 1 };
    c->out = malloc((size_t)whole * 4 * sizeof *c->out);
    c->in = malloc((size_t)(whole + 1) * 4 * sizeof *c->in);
    for (int b = 0; b < p; b++)
        for (int i = 0; i < n; i++)
            c->out[b * n + i] = number(c, check_rank, b, i);
    for (int r = 0; r < p; r++) {
        c->give[r] = length(c, check_rank, r);
        c->get[r] = length(c, r, kind == 10 ? 0 : check_rank);
        c->give_at[r] = c->get_at[r] = r * n;
    }
    if (kind == 10)
        c->give[0] = c->get[check_rank];
    if (kind == 12)
        c->step = 2;
    reset(c);
}

#define START(name, lower, ...) \
    (init ? MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, r) : MPI_I##lower(__VA_ARGS__, r))

static void begin(struct call *c, MPI_Comm comm, int init, MPI_Request *r)
{
    int n = c->n, root = c->root;
    switch (c->kind) {
    case 0:
        START(Allreduce, allreduce, c->out, c->in, n, MPI_UNSIGNED, MPI_SUM, comm);
        break;
    case 1:
        START(Allgather, allgather, c->out, n, MPI_UNSIGNED, c->in, n, MPI_UNSIGNED, comm);
        break;
    case 2:
        START(Alltoall, alltoall, c->out, n, MPI_UNSIGNED, c->in, n, MPI_UNSIGNED, comm);
        break;
    case 3:
        START(Alltoall, alltoall, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, c->in, n, MPI_UNSIGNED, comm);
        break;
    case 4:
        START(Reduce_scatter_block, reduce_scatter_block, c->out, c->in, n, MPI_UNSIGNED, MPI_SUM, comm);
        break;
    case 5:
        START(Gather, gather, c->out, n, MPI_UNSIGNED, c->in, n, MPI_UNSIGNED, root, comm);
        break;
    case 6:
        START(Scatter, scatter, c->out, n, MPI_UNSIGNED, c->in, n, MPI_UNSIGNED, root, comm);
        break;
    case 7:
        START(Bcast, bcast, check_rank == root ? c->out : c->in, n, MPI_UNSIGNED, root, comm);
        break;
    case 8: /* pairs in blocks of n numbers */
        START(Allreduce, allreduce, c->out, c->in, n / 2, pair, affine, comm);
        break;
    case 9:
        START(Alltoallv, alltoallv, c->out, c->give, c->give_at, MPI_UNSIGNED, c->in, c->get, c->get_at,
              MPI_UNSIGNED, comm);
        break;
    case 10:
        START(Allgatherv, allgatherv, c->out, c->give[0], MPI_UNSIGNED, c->in, c->get, c->get_at,
              MPI_UNSIGNED, comm);
        break;
    case 11:
        START(Allreduce, allreduce, MPI_IN_PLACE, c->in, n, MPI_UNSIGNED, MPI_SUM, comm);
        break;
    case 12:
        START(Allgather, allgather, c->out, n, MPI_UNSIGNED, c->in, n, gappy, comm);
        break;
    default:
        START(Reduce, reduce, check_rank == root ? MPI_IN_PLACE : c->out, c->in, n / 2, pair, affine, root,
              comm);
    }
}

/* Number i of what comes from `from`, or of the result. */
static unsigned expected(const struct call *c, int from, int i)
{
    unsigned sum = 0, times = 1, plus = 0;
    switch (c->kind) {
    case 0:
    case 4:
    case 11:
        for (int r = 0; r < check_size; r++)
            sum += number(c, r, c->kind == 4 ? check_rank : 0, i);
        return sum;
    case 1:
    case 10:
    case 12:
    case 5:
        return number(c, from, 0, i);
    case 7:
        return number(c, c->root, 0, i);
    case 6:
        return number(c, c->root, check_rank, i);
    case 8:
    case 13:
        for (int r = 0; r < check_size; r++) {
            unsigned a = number(c, r, 0, i / 2 * 2), b = number(c, r, 0, i / 2 * 2 + 1);
            plus = plus * a + b;
            times *= a;
        }
        return i % 2 ? plus : times;
    default:
        return number(c, from, check_rank, i);
    }
}

static int has_blocks(const struct call *c)
{
    return c->kind == 1 || c->kind == 2 || c->kind == 3 || c->kind == 5 || c->kind == 9 || c->kind == 10 ||
           c->kind == 12;
}

static void check_call(const struct call *c)
{
    int rooted = c->kind == 5 || c->kind == 13, blocks = has_blocks(c) ? check_size : 1;
    const unsigned *in = c->kind == 7 && check_rank == c->root ? c->out : c->in;
    if (rooted && check_rank != c->root) {
        CHECK_EQ(c->in[0], c->kind == 13 ? number(c, check_rank, 0, 0) : GUARD, "kind %d at another rank",
                 c->kind);
        return;
    }
    for (int r = 0; r < blocks; r++) {
        int n = c->kind == 9 || c->kind == 10   ? c->get[r]
                : c->kind == 8 || c->kind == 13 ? c->n / 2 * 2
                                                : c->n;
        for (int i = 0; i < n; i++) {
            unsigned got = in[(r * c->n + i) * c->step], want = expected(c, r, i);
            if (got != want) {
                CHECK_EQ(got, want, "kind %d of %d, round %d: from %d, %d", c->kind, c->n, c->round, r, i);
                return;
            }
            if (c->step == 2 && in[(r * c->n + i) * 2 + 1] != GUARD) {
                CHECK(0, "gap %d of %d", i, r);
                return;
            }
        }
    }
    if (c->kind != 7 && c->kind != 13 && c->kind != 11 && c->kind != 3)
        CHECK_EQ(c->in[(has_blocks(c) ? check_size : 1) * c->n * c->step], GUARD, "behind kind %d", c->kind);
}

static void release(struct call *c)
{
    free(c->out);
    free(c->in);
}

static void complete(MPI_Request *r, int n, int way)
{
    int flag = 0, at;
    if (way == 0)
        for (int k = n; k-- > 0;)
            MPI_Wait(&r[k], MPI_STATUS_IGNORE);
    else if (way == 1)
        MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
    else if (way == 2)
        for (int k = 0; k < n; k++)
            MPI_Waitany(n, r, &at, MPI_STATUS_IGNORE);
    else
        for (int k = 0; k < n; k++, flag = 0)
            while (!flag)
                MPI_Test(&r[(k * 5) % n], &flag, MPI_STATUS_IGNORE);
}

static void blocking(MPI_Comm comm, int round)
{
    static unsigned a[30000], b[30000];
    int root = round % check_size, bad = 0;
    for (int i = 0; i < 30000; i++)
        a[i] = (unsigned)(check_rank + i + round);
    MPI_Allreduce(a, b, round % 2 ? 30000 : 1, MPI_UNSIGNED, MPI_SUM, comm);
    for (int i = 0; i < (round % 2 ? 30000 : 1); i++)
        bad += b[i] != (unsigned)(check_size * (check_size - 1) / 2 + check_size * (i + round));
    MPI_Bcast(a, 30000, MPI_UNSIGNED, root, comm);
    for (int i = 0; i < 30000; i++)
        bad += a[i] != (unsigned)(root + i + round);
    CHECK_EQ(bad, 0, "blocking calls between, round %d", round);
}

/* All kinds in flight on each of two communicators, begun by turns. */
static void many(MPI_Comm comm[2], int n, int round)
{
    struct call c[2 * KINDS];
    MPI_Request r[2 * KINDS];
    for (int k = 0; k < 2 * KINDS; k++)
        prepare(&c[k], (k / 2 * 3 + round) % KINDS, k % 5 == 4 ? 9 : n, round);
    for (int k = 0; k < 2 * KINDS; k++) {
        if (round % 3 == 1 && k == check_rank)
            usleep(3000);
        begin(&c[k], comm[k % 2], 0, &r[k]);
        if (round % 2 && k == KINDS)
            blocking(comm[round / 2 % 2], round);
    }
    if (round % 4 == 3)
        blocking(comm[0], round);
    complete(r, 2 * KINDS, (round + check_rank) % 4);
    for (int k = 0; k < 2 * KINDS; k++) {
        check_call(&c[k]);
        release(&c[k]);
    }
}

/* Each rank starts them in an order of its own. */
static void persistent(MPI_Comm comm, int n)
{
    static const int strides[] = { 1, 3, 5, 9, 11, 13 };
    struct call c[KINDS];
    MPI_Request r[KINDS], order[KINDS], other;
    for (int k = 0; k < KINDS; k++) {
        prepare(&c[k], k, n, 1);
        begin(&c[k], comm, 1, &r[k]);
    }
    for (int round = 0; round < 4; round++) {
        long one = 1, all = 0;
        for (int k = 0; k < KINDS; k++) {
            order[k] = r[(k * strides[(check_rank + round) % 6] + round) % KINDS];
            MPI_Start(&order[k]);
        }
        MPI_Iallreduce(&one, &all, 1, MPI_LONG, MPI_SUM, comm, &other);
        complete(order, KINDS, (round + check_rank) % 4 == 2 ? 1 : (round + check_rank) % 4);
        MPI_Wait(&other, MPI_STATUS_IGNORE);
        CHECK_EQ(all, check_size);
        for (int k = 0; k < KINDS; k++) {
            check_call(&c[k]);
            reset(&c[k]);
        }
    }
    for (int k = 0; k < KINDS; k++) {
        MPI_Request_free(&r[k]);
        release(&c[k]);
    }
}

/* The operation, the types and the communicator are freed while calls are under way. */
static void freed(int turn)
{
    struct call c[2];
    MPI_Comm comm;
    MPI_Datatype two;
    MPI_Op op;
    MPI_Request r[2];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < 6; i++)
        MPI_Barrier(comm); /* it has a team now */
    MPI_Type_contiguous(2, MPI_UNSIGNED, &two);
    MPI_Type_commit(&two);
    MPI_Op_create(compose, 0, &op);
    prepare(&c[0], 8, 40000, turn);
    prepare(&c[1], 2, 40000, turn);
    if (turn % check_size == check_rank)
        usleep(10000);
    MPI_Iallreduce(c[0].out, c[0].in, 20000, two, op, comm, &r[0]);
    MPI_Ialltoall(c[1].out, 20000, two, c[1].in, 20000, two, comm, &r[1]);
    MPI_Op_free(&op);
    MPI_Type_free(&two);
    MPI_Comm_free(&comm);
    complete(r, 2, turn % 4);
    for (int k = 0; k < 2; k++) {
        check_call(&c[k]);
        release(&c[k]);
    }
}

/* Who waits sleeps meanwhile, and is woken for each step. */
static void asleep(MPI_Comm comm, int last)
{
    struct call c[2];
    MPI_Request r[2];
    for (int k = 0; k < 2; k++)
        prepare(&c[k], k * 2, 50000, last);
    if (check_rank == last)
        usleep(60000);
    for (int k = 0; k < 2; k++)
        begin(&c[k], comm, 0, &r[k]);
    if (check_rank == last)
        for (int k = 0, flag; k < 100; k++) {
            MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE);
            usleep(500);
        }
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    for (int k = 0; k < 2; k++) {
        check_call(&c[k]);
        release(&c[k]);
    }
}

/* One that is under way can be neither cancelled nor freed, and goes on. */
static void misused(MPI_Comm comm)
{
    struct call c;
    MPI_Request r, kept;
    prepare(&c, 0, 60000, 2);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    begin(&c, comm, 0, &r);
    kept = r;
    CHECK_ERR(MPI_Cancel(&r), MPI_ERR_REQUEST);
    CHECK_ERR(MPI_Request_free(&r), MPI_ERR_REQUEST);
    CHECK(r == kept, "the request is still there");
    MPI_Wait(&kept, MPI_STATUS_IGNORE);
    check_call(&c);
    release(&c);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
}

/* Calls of one kind are counted by the rows of the blocking form. */
static void counted(void)
{
    static const char *const rows[] = { "keel_coll_allreduce_slices", "keel_coll_allreduce_read",
                                        "keel_coll_allreduce_measured" };
    MPI_T_pvar_session s;
    MPI_T_pvar_handle h[3];
    unsigned long long before = 0, after = 0, blocks = 0;
    struct call c;
    MPI_Request r;
    prepare(&c, 0, 60000, 0);
    MPI_T_pvar_session_create(&s);
    for (int k = 0; k < 3; k++) {
        h[k] = tool_watch(s, rows[k], MPI_T_PVAR_CLASS_COUNTER);
        before += tool_read(s, h[k]);
    }
    MPI_Allreduce(c.out, c.in, c.n, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD);
    for (int k = 0; k < 3; k++)
        blocks += tool_read(s, h[k]);
    for (int k = 0; k < 5; k++) {
        begin(&c, MPI_COMM_WORLD, 0, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    begin(&c, MPI_COMM_WORLD, 1, &r);
    MPI_Request_free(&r);
    for (int k = 0; k < 3; k++)
        after += tool_read(s, h[k]);
    CHECK_EQ(after - blocks, 6 * (blocks - before), "calls by steps; %d blocking", (int)(blocks - before));
    MPI_T_pvar_session_free(&s);
    release(&c);
}

int main(int argc, char **argv)
{
    static const int sizes[] = { 2500, 9000, 40001 };
    MPI_Comm comm[2] = { MPI_COMM_WORLD, MPI_COMM_NULL };
    check_init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm[1]);
    for (int i = 0; i < 6; i++) {
        MPI_Barrier(comm[0]);
        MPI_Barrier(comm[1]);
    }
    MPI_Type_contiguous(2, MPI_UNSIGNED, &pair);
    MPI_Type_create_resized(MPI_UNSIGNED, 0, 8, &gappy);
    MPI_Type_commit(&pair);
    MPI_Type_commit(&gappy);
    MPI_Op_create(compose, 0, &affine);
    for (int round = 0; round < 12; round++)
        many(comm, sizes[round % 3], round);
    for (int k = 0; k < 3; k++)
        persistent(comm[k % 2], sizes[k]);
    for (int turn = 0; turn < 4; turn++)
        freed(turn);
    for (int turn = 0; turn < 3; turn++)
        asleep(comm[turn % 2], turn % check_size);
    misused(comm[1]);
    tool_begin();
    counted();
    MPI_T_finalize();
    MPI_Op_free(&affine);
    MPI_Type_free(&pair);
    MPI_Type_free(&gappy);
    MPI_Comm_free(&comm[1]);
    return check_done();
}
