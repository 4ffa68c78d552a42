/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives on intercommunicators under way: nobody waits in a call that starts one, many at a time, in any
 * order of completion, beside messages and new communicators, freed early; on intercommunicators from everywhere. */
/* ranks: 2 3 5 8 */
#include "../check.h"

static MPI_Comm half, inter;
static int side, n, m, rank;

static int id(int s, int r)
{
    return 100 * s + r;
}

/* The sum of f = 1000 * i + id over the other group. */
static int sum_of(int i)
{
    return m * (1000 * i + id(!side, 0)) + m * (m - 1) / 2;
}

static void ask(MPI_Comm c)
{
    MPI_Comm_size(c, &n);
    MPI_Comm_remote_size(c, &m);
    MPI_Comm_rank(c, &rank);
}

/* ---- All sorts of them --------------------------------------------------------------------------------------- */

enum { KINDS = 8, MANY = 40 };

struct op {
    MPI_Request request;
    int in[16], out[16];
};

static int root_of(int s)
{
    return side != s ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
}

static int counts[64], places[64];

static void start(struct op *o, int i, MPI_Comm c, int persistent)
{
    int s = i / KINDS % 2;
    MPI_Info none = MPI_INFO_NULL;
    for (int k = 0; k < 16; k++) {
        o->in[k] = 1000 * i + id(side, rank);
        o->out[k] = -1;
        counts[k] = places[k] = 0;
    }
    for (int k = 0; k < 16; k++) {
        counts[k] = 1;
        places[k] = k;
    }
    switch (i % KINDS + (persistent ? KINDS : 0)) {
    case 0:
        MPI_Ibarrier(c, &o->request);
        break;
    case 1:
        MPI_Ibcast(side == s ? o->in : o->out, 4, MPI_INT, root_of(s), c, &o->request);
        break;
    case 2:
        MPI_Iallreduce(o->in, o->out, 2, MPI_INT, MPI_SUM, c, &o->request);
        break;
    case 3:
        MPI_Iallgather(o->in, 1, MPI_INT, o->out, 1, MPI_INT, c, &o->request);
        break;
    case 4:
        MPI_Ireduce(o->in, o->out, 3, MPI_INT, MPI_SUM, root_of(s), c, &o->request);
        break;
    case 5:
        MPI_Igather(o->in, 1, MPI_INT, o->out, 1, MPI_INT, root_of(s), c, &o->request);
        break;
    case 6:
        MPI_Ialltoallv(o->in, counts, places, MPI_INT, o->out, counts, places, MPI_INT, c, &o->request);
        break;
    case 7:
        MPI_Iscatter(o->in, 1, MPI_INT, o->out, 1, MPI_INT, root_of(s), c, &o->request);
        break;
    case 8:
        MPI_Barrier_init(c, none, &o->request);
        break;
    case 9:
        MPI_Bcast_init(side == s ? o->in : o->out, 4, MPI_INT, root_of(s), c, none, &o->request);
        break;
    case 10:
        MPI_Allreduce_init(o->in, o->out, 2, MPI_INT, MPI_SUM, c, none, &o->request);
        break;
    case 11:
        MPI_Allgather_init(o->in, 1, MPI_INT, o->out, 1, MPI_INT, c, none, &o->request);
        break;
    case 12:
        MPI_Reduce_init(o->in, o->out, 3, MPI_INT, MPI_SUM, root_of(s), c, none, &o->request);
        break;
    case 13:
        MPI_Gather_init(o->in, 1, MPI_INT, o->out, 1, MPI_INT, root_of(s), c, none, &o->request);
        break;
    case 14:
        MPI_Alltoallv_init(o->in, counts, places, MPI_INT, o->out, counts, places, MPI_INT, c, none,
                           &o->request);
        break;
    default:
        MPI_Scatter_init(o->in, 1, MPI_INT, o->out, 1, MPI_INT, root_of(s), c, none, &o->request);
    }
}

/* out[0 .. len - 1] are `first`, `first` + step, ...; the rest is untouched. */
static void expect(const struct op *o, int i, int len, int first, int step)
{
    for (int k = 0; k < 16; k++)
        if (o->out[k] != (k < len ? first + k * step : -1)) {
            CHECK_EQ(o->out[k], k < len ? first + k * step : -1, "operation %d, element %d", i, k);
            return;
        }
}

static void expect_op(const struct op *o, int i)
{
    int s = i / KINDS % 2, theirs = 1000 * i + id(!side, 0), at_root = side == s && rank == 0;
    switch (i % KINDS) {
    case 0:
        expect(o, i, 0, 0, 0);
        break;
    case 1:
    case 7:
        expect(o, i, side == s ? 0 : i % KINDS == 1 ? 4 : 1, theirs, 0);
        break;
    case 2:
        expect(o, i, 2, sum_of(i), 0);
        break;
    case 3:
    case 6:
        expect(o, i, m, theirs, 1);
        break;
    case 4:
        expect(o, i, at_root ? 3 : 0, sum_of(i), 0);
        break;
    default:
        expect(o, i, at_root ? m : 0, theirs, 1);
    }
}

/* ---- Tests --------------------------------------------------------------------------------------------------- */

/* A process that starts one before the others have come does not wait for them. */
static void test_local(int i)
{
    MPI_Comm c;
    struct op o;
    int word = 0;
    MPI_Comm_dup(inter, &c);
    if (check_rank == check_size - 1)
        MPI_Recv(&word, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    start(&o, i, c, 0);
    if (check_rank == 0)
        MPI_Send(&word, 1, MPI_INT, check_size - 1, 5, MPI_COMM_WORLD);
    MPI_Wait(&o.request, MPI_STATUS_IGNORE);
    expect_op(&o, i);
    MPI_Comm_free(&c);
}

/* The first operations of an intercommunicator, which know nothing of each other yet; also of its later copies. */
static MPI_Comm fresh(void)
{
    MPI_Comm c;
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !side, 9, &c);
    return c;
}

static void complete(struct op *o, int way)
{
    static MPI_Request r[MANY];
    int flag = 0, one, done = 0;
    for (int i = 0; i < MANY; i++)
        r[i] = o[i].request;
    if (way == 0)
        for (int i = MANY - 1; i >= 0; i--)
            MPI_Wait(&r[i], MPI_STATUS_IGNORE);
    else if (way == 1)
        while (done++ < MANY)
            MPI_Waitany(MANY, r, &one, MPI_STATUS_IGNORE);
    else
        while (!flag)
            MPI_Testall(MANY, r, &flag, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MANY; i++)
        expect_op(&o[i], i);
}

/* Many at a time; between them blocking ones, messages with any tag, and communicators that are made. */
static void test_many(MPI_Comm c, int free_it)
{
    static struct op o[MANY];
    int x = id(side, rank), sum = 0, word = -1, to = rank < m ? rank : MPI_PROC_NULL;
    MPI_Comm copy = MPI_COMM_NULL, part = MPI_COMM_NULL, merged = MPI_COMM_NULL;
    MPI_Request r[2];
    MPI_Irecv(&word, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, c, &r[0]);
    if (to == MPI_PROC_NULL)
        MPI_Cancel(&r[0]);
    for (int i = 0; i < MANY; i++) {
        start(&o[i], i, c, 0);
        if (i == MANY / 4)
            MPI_Comm_dup(c, &copy);
        if (i == MANY / 3)
            MPI_Comm_split(c, rank == 0, 0, &part);
        if (i == MANY / 2) {
            MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, c);
            CHECK_EQ(sum, sum_of(0), "a blocking one between them");
            MPI_Intercomm_merge(c, side, &merged);
            MPI_Isend(&x, 1, MPI_INT, to, i, c, &r[1]);
        }
    }
    if (free_it)
        MPI_Comm_free(&c);
    complete(o, check_rank % 3);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    CHECK_EQ(word, to == MPI_PROC_NULL ? -1 : id(!side, rank), "a message beside collectives");
    MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, copy);
    CHECK_EQ(sum, sum_of(0), "on a copy");
    if (rank == 0) {
        MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, part);
        CHECK_EQ(sum, id(!side, 0), "between the two first");
    }
    MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, merged);
    CHECK_EQ(sum, sum_of(0) + n * id(side, 0) + n * (n - 1) / 2, "on what was merged");
    MPI_Comm_free(&copy);
    MPI_Comm_free(&merged);
    if (part != MPI_COMM_NULL)
        MPI_Comm_free(&part);
}

/* Started in another order on each process, twice; then the communicator goes first. */
static void test_persistent(MPI_Comm c)
{
    static struct op o[MANY];
    for (int i = 0; i < MANY; i++)
        start(&o[i], i, c, 1);
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < MANY; i++) {
            struct op *p = &o[(i * 7 + 3 * check_rank) % MANY];
            for (int k = 0; k < 16; k++)
                p->out[k] = -1;
            MPI_Start(&p->request);
        }
        for (int i = 0; i < MANY; i++) {
            MPI_Wait(&o[i].request, MPI_STATUS_IGNORE);
            expect_op(&o[i], i);
        }
    }
    MPI_Comm_free(&c);
    for (int i = 0; i < MANY; i++)
        MPI_Request_free(&o[i].request);
}

static void add_pairs(void *in, void *inout, int *len, MPI_Datatype *type)
{
    int *a = in, *b = inout;
    (void)type;
    for (int i = 0; i < 2 * *len; i++)
        b[i] += a[i];
}

/* Datatypes, the operation and the communicator may go when the call has returned. */
static void test_freed(int len, MPI_Comm c)
{
    MPI_Datatype pair, types[64];
    MPI_Op op;
    MPI_Request r[3];
    int ones[64], at[64], bad = 0;
    int *in = malloc(8 * (size_t)len), *sum = malloc(8 * (size_t)len), *all = malloc(8 * (size_t)(len * m));
    int *each = malloc(8 * (size_t)(len * m));
    for (int i = 0; i < 2 * len; i++)
        in[i] = id(side, rank) + i;
    MPI_Type_contiguous(2 * len, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    for (int j = 0; j < m; j++) {
        ones[j] = 1;
        at[j] = 8 * len * j;
        types[j] = pair;
        for (int i = 0; i < 2 * len; i++)
            each[2 * len * j + i] = 7;
    }
    MPI_Datatype two;
    int nowhere[64] = { 0 };
    MPI_Type_contiguous(2, MPI_INT, &two);
    MPI_Type_commit(&two);
    MPI_Op_create(add_pairs, 1, &op);
    MPI_Iallreduce(in, sum, len, two, op, c, &r[0]);
    MPI_Iallgather(in, len, two, all, len, two, c, &r[1]);
    MPI_Ialltoallw(in, ones, nowhere, types, each, ones, at, types, c, &r[2]);
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
    MPI_Type_free(&two);
    MPI_Comm_free(&c);
    for (int j = 0; j < 64; j++)
        types[j] = MPI_DATATYPE_NULL;
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2 * len; i++)
        bad += sum[i] != sum_of(0) + m * i;
    for (int i = 0; i < 2 * len * m; i++)
        bad += all[i] != id(!side, i / (2 * len)) + i % (2 * len) || each[i] != all[i];
    CHECK_EQ(bad, 0, "of %d", len);
    free(in);
    free(sum);
    free(all);
    free(each);
}

/* ---- Where intercommunicators come from ---------------------------------------------------------------------- */

static MPI_Comm from_groups(void)
{
    MPI_Group world, mine, theirs;
    int ranks[2][64], k[2] = { 0, 0 };
    MPI_Comm c;
    for (int r = 0; r < check_size; r++)
        ranks[r % 2][k[r % 2]++] = r;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, k[side], ranks[side], &mine);
    MPI_Group_incl(world, k[!side], ranks[!side], &theirs);
    MPI_Intercomm_create_from_groups(mine, 0, theirs, 0, "both", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &c);
    MPI_Group_free(&world);
    MPI_Group_free(&mine);
    MPI_Group_free(&theirs);
    return c;
}

/* The other way round in each group. */
static MPI_Comm turned(void)
{
    MPI_Comm c;
    MPI_Comm_split(inter, 4, -rank, &c);
    return c;
}

static MPI_Comm some(void)
{
    MPI_Group g, sub;
    MPI_Comm c;
    int range[1][3] = { { 0, n - 1, 2 } };
    MPI_Comm_group(inter, &g);
    MPI_Group_range_incl(g, 1, range, &sub);
    MPI_Comm_create(inter, sub, &c);
    MPI_Group_free(&g);
    MPI_Group_free(&sub);
    return c;
}

static void test_origins(void)
{
    MPI_Comm c;
    test_many(from_groups(), 1);
    c = turned();
    ask(c);
    test_many(c, 1);
    ask(inter);
    c = some();
    if (c != MPI_COMM_NULL) {
        ask(c);
        test_many(c, 1);
    }
    ask(inter);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    side = check_rank % 2;
    MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !side, 0, &inter);
    ask(inter);
    for (int i = 0; i < 2 * KINDS; i++)
        test_local(i);
    test_many(fresh(), 1);
    test_many(inter, 0);
    for (int i = 0; i < 2 * KINDS; i++)
        test_local(i);
    test_persistent(fresh());
    test_freed(3, fresh());
    test_freed(30000, fresh());
    test_origins();
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    return check_done();
}
