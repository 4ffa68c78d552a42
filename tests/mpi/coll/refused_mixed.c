/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 5 8 */
/* timeout: 120 */
/* Many sequences of calls of all kinds, as a seed says, blocking and not, short and long, in new and used
 * communicators; some are refused, by one process or two.  Who refuses has its own error, the others that of one
 * who does or what is right, and the other calls are right. */
#include "refused.h"
#include <unistd.h>

enum { SEEDS = 40, KINDS = 10, MOST = 8, FEW = 20, MANY = 20000, PENDING = 12 };
enum { ALLREDUCE, BCAST, REDUCE, ALLGATHER, GATHER, SCATTER, ALLTOALL, SCAN, REDUCE_SCATTER, ALLTOALLV };

struct call {
    int kind, n, root, blocking, any;
    int why[MOST]; /* of each rank: 0, or 1 + the place of an error class */
    int *in, *out, err;
    int counts[MOST], displs[MOST];
    MPI_Request r;
};

static const int classes[] = { MPI_ERR_COUNT, MPI_ERR_TYPE, MPI_ERR_OP };
static unsigned long long state;
static MPI_Comm comm;
static int seed;

/* The same in all processes. */
static int number(int below)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (int)((state >> 33) % (unsigned)below);
}

static int combines(int kind)
{
    return kind == ALLREDUCE || kind == REDUCE || kind == SCAN || kind == REDUCE_SCATTER;
}

static void choose(struct call *c, int some, int longer)
{
    *c = (struct call){ .kind = number(KINDS), .root = number(check_size), .blocking = number(2) };
    c->n = 1 + number(longer && number(3) == 0 ? MANY : FEW);
    for (int k = 0; k < 2; k++)
        if (number(5) < some) {
            int whys = c->kind == ALLTOALLV ? 1 : combines(c->kind) ? 3 : 2;
            c->why[number(check_size)] = 1 + number(whys);
            c->any = 1;
        }
}

/* A blocking call, or one that does not wait. */
#define CALL(c, name, lower, ...) \
    (c->blocking ? MPI_##name(__VA_ARGS__, comm) : MPI_I##lower(__VA_ARGS__, comm, &c->r))

static void begin(struct call *c)
{
    int n = c->n, why = c->why[check_rank], bad = why == 1 ? -1 : n, root = c->root;
    MPI_Datatype I = MPI_INT, t = why == 2 ? MPI_DATATYPE_NULL : I;
    MPI_Op op = why == 3 ? MPI_OP_NULL : MPI_SUM;
    int *in = c->in = malloc(sizeof *in * (size_t)(n * check_size)),
        *out = c->out = malloc(sizeof *out * (size_t)(n * check_size));
    for (int i = 0; i < n * check_size; i++) {
        in[i] = check_rank + i;
        out[i] = c->kind == BCAST && check_rank == root ? 7 + i : -1;
    }
    for (int i = 0; i < check_size; i++) {
        c->counts[i] = bad;
        c->displs[i] = i * n;
    }
    c->r = MPI_REQUEST_NULL;
    switch (c->kind) {
    case ALLREDUCE:
        c->err = CALL(c, Allreduce, allreduce, in, out, bad, t, op);
        break;
    case BCAST:
        c->err = CALL(c, Bcast, bcast, out, bad, t, root);
        break;
    case REDUCE:
        c->err = CALL(c, Reduce, reduce, in, out, bad, t, op, root);
        break;
    case ALLGATHER:
        c->err = CALL(c, Allgather, allgather, in, bad, t, out, n, I);
        break;
    case GATHER:
        c->err = CALL(c, Gather, gather, in, bad, t, out, n, I, root);
        break;
    case SCATTER:
        c->err = CALL(c, Scatter, scatter, in, n, I, out, bad, t, root);
        break;
    case ALLTOALL:
        c->err = CALL(c, Alltoall, alltoall, in, bad, t, out, n, I);
        break;
    case SCAN:
        c->err = CALL(c, Scan, scan, in, out, bad, t, op);
        break;
    case REDUCE_SCATTER:
        c->err = CALL(c, Reduce_scatter_block, reduce_scatter_block, in, out, bad, t, op);
        break;
    default:
        c->err = CALL(c, Alltoallv, alltoallv, in, c->counts, c->displs, I, out, c->counts, c->displs, I);
    }
}

/* The last element, where it is known. */
static void right(const struct call *c)
{
    int p = check_size, k = c->n - 1, is = c->out[k], want = is;
    if (c->kind == ALLREDUCE || (c->kind == REDUCE && check_rank == c->root))
        want = p * (p - 1) / 2 + p * k;
    else if (c->kind == BCAST)
        want = 7 + k;
    else if (c->kind == SCAN)
        want = (check_rank + 1) * check_rank / 2 + (check_rank + 1) * k;
    else if (c->kind == SCATTER)
        want = c->root + check_rank * c->n + k;
    CHECK_EQ(is, want, "seed %d: kind %d of %d, blocking: %d", seed, c->kind, c->n, c->blocking);
}

static void end(struct call *c)
{
    int err = c->blocking ? c->err : refused_waited(c->err, &c->r), errclass = -1, why = c->why[check_rank],
        len, told = 0;
    check_words[0] = '\0';
    if (err)
        MPI_Error_string(err, check_words, &len);
    MPI_Error_class(err, &errclass);
    for (int i = 0; i < check_size; i++)
        told |= c->why[i] && errclass == classes[c->why[i] - 1] &&
                strstr(check_words, check_text("rank %d of the", i)) != NULL;
    if (why)
        CHECK_EQ(errclass, classes[why - 1], "seed %d: kind %d: \"%s\"", seed, c->kind, check_words);
    else
        CHECK(!err || told, "seed %d: kind %d of %d, blocking: %d: \"%s\"", seed, c->kind, c->n, c->blocking,
              check_words);
    if (!err)
        right(c);
    free(c->in);
    free(c->out);
}

static void sequence(void)
{
    struct call c[PENDING];
    int pending = 0, calls = 5 + number(40), some = number(3), longer = number(3) == 0;
    comm = refused_fresh();
    for (int i = number(12); i > 0; i--)
        MPI_Barrier(comm);
    for (int k = 0; k < calls; k++) {
        struct call *next = &c[pending];
        choose(next, some, longer);
        if (number(3 * check_size) == check_rank)
            usleep(200); /* it comes late */
        begin(next);
        if (next->blocking)
            end(next);
        else
            pending++;
        if (pending == PENDING || number(6) == 0)
            while (pending > 0)
                end(&c[--pending]);
    }
    while (pending > 0)
        end(&c[--pending]);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    for (seed = 0; seed < SEEDS; seed++) {
        state = (unsigned long long)seed * 7919 + 1;
        for (int i = 0; i < 5; i++)
            number(2);
        sequence();
    }
    return check_done();
}
