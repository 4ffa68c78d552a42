/* SPDX-License-Identifier: BSD-3-Clause */
/* A program overwrites and unmaps every array, and frees every datatype, that it gave to a nonblocking or an _init
 * call as soon as the call has returned: each procedure that takes arrays, with int and with large counts, on
 * communicators of every sort, in each length at which another algorithm is taken. */
/* ranks: 1 2 3 5 17 */
/* timeout: 120 */
#include <sys/mman.h>
#include "../check.h"

enum kind {
    ALLGATHERV,
    GATHERV,
    SCATTERV,
    ALLTOALLV,
    ALLTOALLW,
    REDUCE_SCATTER,
    NEAR_ALLGATHERV,
    NEAR_ALLTOALLV,
    NEAR_ALLTOALLW,
    KINDS
};
enum form { NOW, NOW_LARGE, INIT, INIT_LARGE, FORMS };
static const char *const kinds[] = { "allgatherv",
                                     "gatherv",
                                     "scatterv",
                                     "alltoallv",
                                     "alltoallw",
                                     "reduce_scatter",
                                     "neighbor_allgatherv",
                                     "neighbor_alltoallv",
                                     "neighbor_alltoallw" };
static const int lengths[] = { 1, 40, 5000 };
enum { NLENGTHS = sizeof lengths / sizeof lengths[0], AT_ONCE = 3 };

/* ---- Arrays that go ---- */

static struct {
    void *at;
    size_t bytes;
} given[8];
static int ngiven;

static void *pages(size_t bytes)
{
    void *p = mmap(NULL, bytes + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        MPI_Abort(MPI_COMM_WORLD, 3);
    given[ngiven].at = p;
    given[ngiven++].bytes = bytes + 1;
    return p;
}

/* In elements of int, or of 64 bits. */
static void *give(const int64_t *v, int n, int is_large)
{
    void *p = pages((size_t)n * sizeof *v);
    for (int i = 0; i < n; i++)
        if (is_large)
            ((int64_t *)p)[i] = v[i];
        else
            ((int *)p)[i] = (int)v[i];
    return p;
}

/* Each a type of its own that only the library still has when the array is gone. */
static MPI_Datatype *give_types(int n)
{
    MPI_Datatype *t = pages((size_t)n * sizeof *t);
    for (int i = 0; i < n; i++) {
        MPI_Type_vector(2, 1, 2, MPI_INT, &t[i]);
        MPI_Type_commit(&t[i]);
    }
    return t;
}

static void take_back(void)
{
    while (ngiven > 0) {
        ngiven--;
        memset(given[ngiven].at, 0x3b, given[ngiven].bytes);
        munmap(given[ngiven].at, given[ngiven].bytes);
    }
}

/* ---- Communicators ---- */

struct place {
    const char *name;
    MPI_Comm comm;
    int inter, graph, rank, size, root; /* rank in the local group; root: as a rooted call wants it */
    int nin, nout, from[64], to[64];    /* numbers of processes: ranks in the world */
    int at_root, has_root_peer;         /* is this process the root; does it exchange data with it? */
};

static struct place all_to_all(const char *name, MPI_Comm comm)
{
    struct place p = { .name = name, .comm = comm };
    MPI_Comm_rank(comm, &p.rank);
    MPI_Comm_size(comm, &p.size);
    p.nin = p.nout = p.size;
    for (int i = 0; i < p.size; i++)
        p.from[i] = p.to[i] = i;
    p.root = p.size / 2;
    p.at_root = p.rank == p.root;
    p.has_root_peer = 1;
    return p;
}

/* Two groups: the world's even and odd ranks. */
static struct place bridge(void)
{
    struct place p = { .name = "intercommunicator", .inter = 1 };
    MPI_Comm half;
    int odd = check_rank % 2;
    MPI_Comm_split(MPI_COMM_WORLD, odd, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - odd, 9, &p.comm);
    MPI_Comm_free(&half);
    MPI_Comm_rank(p.comm, &p.rank);
    MPI_Comm_size(p.comm, &p.size);
    MPI_Comm_remote_size(p.comm, &p.nin);
    p.nout = p.nin;
    for (int i = 0; i < p.nin; i++)
        p.from[i] = p.to[i] = 2 * i + 1 - odd;
    p.at_root = check_rank == 0;
    p.has_root_peer = odd;
    p.root = odd ? 0 : p.at_root ? MPI_ROOT : MPI_PROC_NULL;
    return p;
}

/* To the next and the one after it, and to itself twice. */
static struct place graph(void)
{
    struct place p = {
        .name = "graph", .graph = 1, .rank = check_rank, .size = check_size, .nin = 4, .nout = 4
    };
    for (int i = 0; i < 4; i++) {
        int far = i < 2 ? i + 1 : 0;
        p.to[i] = (check_rank + far) % check_size;
        p.from[i] = (check_rank + 2 * check_size - far) % check_size;
    }
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 4, p.from, MPI_UNWEIGHTED, 4, p.to, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &p.comm);
    return p;
}

/* ---- One call ---- */

struct call {
    const struct place *place;
    enum kind kind;
    enum form form;
    int length, nsend, nrecv;
    int64_t scount[64], rcount[64], sdispl[64], rdispl[64]; /* displacements in elements */
    int *sbuf, *rbuf, slen, rlen;
    MPI_Request request;
};

static int large(const struct call *x)
{
    return x->form == NOW_LARGE || x->form == INIT_LARGE;
}

static int typed(const struct call *x) /* elements of two ints with one between */
{
    return x->kind == ALLTOALLW || x->kind == NEAR_ALLTOALLW;
}

/* Of the block that `from` sends to `to`. */
static int length_of(const struct call *x, int from, int to)
{
    switch (x->kind) {
    case ALLGATHERV:
    case GATHERV:
    case NEAR_ALLGATHERV:
        return x->length + from % 3;
    case SCATTERV:
        return x->length + to % 3;
    case REDUCE_SCATTER:
        return x->length;
    default:
        return x->length + (2 * from + to) % 3;
    }
}

static int value(const struct call *x, int from, int to, int i)
{
    int to_all = x->kind == ALLGATHERV || x->kind == GATHERV || x->kind == NEAR_ALLGATHERV;
    return from * 100000 + (to_all ? 0 : to * 1000) + i % 997;
}

/* Blocks with a gap behind each, the last one first. */
static int spread(const struct call *x, const int64_t *count, int64_t *displ, int n)
{
    int at = 0;
    for (int i = n - 1; i >= 0; i--) {
        displ[i] = at;
        at += (int)count[i] * (typed(x) ? 4 : 1) + 1;
    }
    return at;
}

static int place_in(const struct call *x, int64_t displ, int i)
{
    return (int)displ + (typed(x) ? i / 2 * 3 + i % 2 * 2 : i);
}

static void lay_out(struct call *x)
{
    const struct place *p = x->place;
    int sends_one = x->kind == ALLGATHERV || x->kind == GATHERV || x->kind == NEAR_ALLGATHERV;
    int rooted = x->kind == GATHERV || x->kind == SCATTERV;
    x->nsend = sends_one ? 1 : p->nout;
    x->nrecv = x->kind == SCATTERV ? 1 : p->nin;
    if (rooted) {
        int sends = x->kind == GATHERV ? p->has_root_peer : p->at_root;
        int receives = x->kind == GATHERV ? p->at_root : p->has_root_peer;
        x->nsend = sends ? x->nsend : 0;
        x->nrecv = receives ? x->nrecv : 0;
    }
    for (int i = 0; i < x->nsend; i++)
        x->scount[i] = length_of(x, check_rank, p->to[i]);
    for (int i = 0; i < x->nrecv; i++)
        x->rcount[i] = length_of(x, x->kind == SCATTERV ? 0 : p->from[i], check_rank);
    x->slen = spread(x, x->scount, x->sdispl, x->nsend);
    x->rlen = spread(x, x->rcount, x->rdispl, x->nrecv);
    if (x->kind ==
        REDUCE_SCATTER) { /* one vector of as many blocks as the group that it is scattered in has processes */
        x->nsend = p->size;
        x->slen = p->size * x->length + p->size;
        x->rlen = x->length + 1;
    }
}

static void fill(struct call *x)
{
    for (int i = 0; i < x->rlen; i++)
        x->rbuf[i] = -1;
    if (x->kind == REDUCE_SCATTER) {
        for (int i = 0; i < x->slen; i++)
            x->sbuf[i] = check_rank * 1000 + i % 997;
        return;
    }
    for (int b = 0; b < x->nsend; b++)
        for (int i = 0; i < x->scount[b] * (typed(x) ? 2 : 1); i++)
            x->sbuf[place_in(x, x->sdispl[b], i)] = value(x, check_rank, x->place->to[b], i);
}

#define CALL(Name, name, ...) \
    (x->form == NOW         ? MPI_I##name(__VA_ARGS__, comm, r) \
     : x->form == NOW_LARGE ? MPI_I##name##_c(__VA_ARGS__, comm, r) \
     : x->form == INIT      ? MPI_##Name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, r) \
                            : MPI_##Name##_init_c(__VA_ARGS__, comm, MPI_INFO_NULL, r))

static void begin_of_bytes(struct call *x)
{
    MPI_Comm comm = x->place->comm;
    MPI_Request *r = &x->request;
    int64_t at[2][64];
    int wide = large(x), wide_displs = wide || x->kind == NEAR_ALLTOALLW;
    for (int i = 0; i < 64; i++) {
        at[0][i] = 4 * x->sdispl[i];
        at[1][i] = 4 * x->rdispl[i];
    }
    void *sc = give(x->scount, x->nsend, wide), *sd = give(at[0], x->nsend, wide_displs);
    void *rc = give(x->rcount, x->nrecv, wide), *rd = give(at[1], x->nrecv, wide_displs);
    MPI_Datatype *st = give_types(x->nsend), *rt = give_types(x->nrecv);
    if (x->kind == ALLTOALLW)
        CALL(Alltoallw, alltoallw, x->sbuf, sc, sd, st, x->rbuf, rc, rd, rt);
    else
        CALL(Neighbor_alltoallw, neighbor_alltoallw, x->sbuf, sc, sd, st, x->rbuf, rc, rd, rt);
    for (int i = 0; i < x->nsend; i++)
        MPI_Type_free(&st[i]);
    for (int i = 0; i < x->nrecv; i++)
        MPI_Type_free(&rt[i]);
}

static void begin(struct call *x)
{
    MPI_Comm comm = x->place->comm;
    MPI_Request *r = &x->request;
    int wide = large(x), root = x->place->root;
    MPI_Datatype t;
    MPI_Type_contiguous(1, MPI_INT, &t);
    MPI_Type_commit(&t);
    void *sc = give(x->scount, x->nsend, wide), *sd = give(x->sdispl, x->nsend, wide);
    void *rc = give(x->rcount, x->nrecv, wide), *rd = give(x->rdispl, x->nrecv, wide);
    int sn = (int)x->scount[0], rn = (int)x->rcount[0];
    switch (x->kind) {
    case ALLGATHERV:
        CALL(Allgatherv, allgatherv, x->sbuf, sn, t, x->rbuf, rc, rd, t);
        break;
    case GATHERV:
        CALL(Gatherv, gatherv, x->sbuf, sn, t, x->rbuf, rc, rd, t, root);
        break;
    case SCATTERV:
        CALL(Scatterv, scatterv, x->sbuf, sc, sd, t, x->rbuf, rn, t, root);
        break;
    case ALLTOALLV:
        CALL(Alltoallv, alltoallv, x->sbuf, sc, sd, t, x->rbuf, rc, rd, t);
        break;
    case NEAR_ALLGATHERV:
        CALL(Neighbor_allgatherv, neighbor_allgatherv, x->sbuf, sn, t, x->rbuf, rc, rd, t);
        break;
    case NEAR_ALLTOALLV:
        CALL(Neighbor_alltoallv, neighbor_alltoallv, x->sbuf, sc, sd, t, x->rbuf, rc, rd, t);
        break;
    default:
        break;
    }
    MPI_Type_free(&t);
}

/* Block i of the vector is as long as process i of the group says below. */
static int reduced_length(const struct call *x, int i)
{
    return x->length + (i + 1 < x->place->size ? i % 2 : 0);
}

static void begin_reduction(struct call *x)
{
    MPI_Comm comm = x->place->comm;
    MPI_Request *r = &x->request;
    for (int i = 0; i < x->place->size; i++)
        x->rcount[i] = reduced_length(x, i);
    void *rc = give(x->rcount, x->place->size, large(x));
    CALL(Reduce_scatter, reduce_scatter, x->sbuf, x->rbuf, rc, MPI_INT, MPI_SUM);
}

static void check_reduction(const struct call *x)
{
    const struct place *p = x->place;
    int first = 0, bad = 0, n = reduced_length(x, p->rank);
    for (int i = 0; i < p->rank; i++)
        first += reduced_length(x, i);
    for (int i = 0; i < n; i++) {
        int sum = 0;
        for (int k = 0; k < p->nin; k++)
            sum += p->from[k] * 1000 + (first + i) % 997;
        bad += x->rbuf[i] != sum;
    }
    CHECK_EQ(bad, 0, "%s on a %s, form %d, %d elements", kinds[x->kind], p->name, x->form, x->length);
}

static void check(const struct call *x)
{
    int bad = 0;
    if (x->kind == REDUCE_SCATTER) {
        check_reduction(x);
        return;
    }
    for (int b = 0; b < x->nrecv; b++)
        for (int i = 0; i < x->rcount[b] * (typed(x) ? 2 : 1); i++) {
            int from = x->kind != SCATTERV ? x->place->from[b] : x->place->inter ? 0 : x->place->root;
            bad += x->rbuf[place_in(x, x->rdispl[b], i)] != value(x, from, check_rank, i);
        }
    CHECK_EQ(bad, 0, "%s on a %s, form %d, %d elements", kinds[x->kind], x->place->name, x->form, x->length);
}

static void start(struct call *x)
{
    x->rbuf = malloc((size_t)(x->rlen + 1) * sizeof *x->rbuf);
    x->sbuf = malloc((size_t)(x->slen + 1) * sizeof *x->sbuf);
    fill(x);
    if (typed(x))
        begin_of_bytes(x);
    else if (x->kind == REDUCE_SCATTER)
        begin_reduction(x);
    else
        begin(x);
    take_back();
}

static void finish(struct call *x, int persistent)
{
    for (int round = 0; round < (persistent ? 2 : 1); round++) {
        if (persistent) {
            fill(x);
            MPI_Start(&x->request);
        }
        MPI_Wait(&x->request, MPI_STATUS_IGNORE);
        check(x);
    }
    if (persistent)
        MPI_Request_free(&x->request);
    free(x->rbuf);
    free(x->sbuf);
}

static void try_call(const struct place *p, enum kind kind, enum form form, int length)
{
    static struct call x[AT_ONCE];
    for (int i = 0; i < AT_ONCE; i++) {
        x[i] = (struct call){ .place = p, .kind = kind, .form = form, .length = length + i };
        lay_out(&x[i]);
        start(&x[i]);
    }
    for (int i = 0; i < AT_ONCE; i++)
        finish(&x[i], form >= INIT);
}

static void try_place(struct place p)
{
    int uneven = p.inter && p.size != p.nin; /* a reduce_scatter wants vectors of one length */
    for (int kind = p.graph ? NEAR_ALLGATHERV : 0; kind < (p.graph ? KINDS : NEAR_ALLGATHERV); kind++)
        for (int form = 0; form < FORMS && !(uneven && kind == REDUCE_SCATTER); form++)
            for (int i = 0; i < NLENGTHS; i++)
                try_call(&p, kind, form, lengths[i]);
}

/* The first calls of a communicator, while its members have not agreed on anything yet. */
static void try_fresh(void)
{
    for (int kind = 0; kind < NEAR_ALLGATHERV; kind++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        struct place p = all_to_all("new communicator", comm);
        try_call(&p, kind, NOW, 40);
        MPI_Comm_free(&comm);
    }
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    try_fresh();
    try_place(all_to_all("world", MPI_COMM_WORLD));
    struct place p = graph();
    try_place(p);
    MPI_Comm_free(&p.comm);
    if (check_size > 1) {
        p = bridge();
        try_place(p);
        MPI_Comm_free(&p.comm);
    }
    return check_done();
}
