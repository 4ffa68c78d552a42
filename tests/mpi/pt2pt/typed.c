/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5 8 */
/* Messages of derived types by every send mode and every kind of receive, short, eager and long: unlike types on
 * the two sides, received early and late; truncated; from several ranks at once into one wildcard.  Holes are left
 * alone. */
#include "check.h"

#define OK(call) CHECK_ERR(call, MPI_SUCCESS)
enum { KINDS = 4, MODES = 8, MOST = 150000, SPAN = 3 * MOST + 8 };

static const int lengths[] = { 4, 100, 1000, 5000, MOST };
static double out[SPAN], in[SPAN];
static char attached[MOST * 8 + MPI_BSEND_OVERHEAD + 64];
static int to, from;

/* Where the k-th double of n lies in a buffer of SPAN, for each kind of type. */
static int place(int kind, int n, int k)
{
    switch (kind) {
    case 0:
        return 2 * k;
    case 1:
        return n - 1 - k;
    case 2:
        return k / 4 * 7 + (k % 4 < 3 ? k % 4 : 5);
    default:
        return k / 2 * 3 + 1 - k % 2;
    }
}

/* The type of `count` elements, the first of which begins at *begin, that are n doubles (a multiple of 4). */
static MPI_Datatype make(int kind, int n, int *count, int *begin)
{
    MPI_Datatype t, part;
    *count = 1;
    *begin = 0;
    switch (kind) {
    case 0: /* every other one */
        OK(MPI_Type_vector(n, 1, 2, MPI_DOUBLE, &t));
        break;
    case 1: /* from the last to the first */
        OK(MPI_Type_create_hvector(n, 1, -8, MPI_DOUBLE, &t));
        *begin = n - 1;
        break;
    case 2: /* a list of runs of unlike lengths */
    {
        int *len = malloc(sizeof *len * (size_t)n / 2), *disp = malloc(sizeof *disp * (size_t)n / 2);
        for (int i = 0; i < n / 2; i++) {
            len[i] = i % 2 ? 1 : 3;
            disp[i] = i / 2 * 7 + (i % 2 ? 5 : 0);
        }
        OK(MPI_Type_indexed(n / 2, len, disp, MPI_DOUBLE, &t));
        free(len);
        free(disp);
        break;
    }
    default: /* many elements: pairs the wrong way round, with a hole behind them */
        OK(MPI_Type_create_hindexed(2, (int[]){ 1, 1 }, (MPI_Aint[]){ 8, 0 }, MPI_DOUBLE, &part));
        OK(MPI_Type_create_resized(part, 0, 24, &t));
        OK(MPI_Type_free(&part));
        *count = n / 2;
    }
    OK(MPI_Type_commit(&t));
    return t;
}

static double value(int rank, int k)
{
    return rank * 1e7 + k;
}

static void fill(int kind, int n)
{
    for (int i = 0; i < SPAN; i++)
        out[i] = -2;
    for (int k = 0; k < n; k++)
        out[place(kind, n, k)] = value(check_rank, k);
}

/* The first `got` doubles of a message of `source` are in the buffer of a type for n, and nothing else is. */
static void look(int kind, int n, int got, int source)
{
    int wrong = -1, other = 0;
    for (int k = 0; k < got; k++) {
        double *p = &in[place(kind, n, k)];
        if (*p != value(source, k) && wrong < 0)
            wrong = k;
        *p = -1;
    }
    CHECK(wrong < 0, "kind %d, %d of %d doubles: the first wrong one is %d", kind, got, n, wrong);
    for (int i = 0; i < SPAN; i++)
        other += in[i] != -1;
    CHECK_EQ(other, 0, "places beside the %d doubles of kind %d were written", got, kind);
    for (int i = 0; i < SPAN; i++)
        in[i] = -1;
}

/* Begin a send in one of the modes; the persistent ones leave their request inactive when it is done. */
static MPI_Request send(int mode, MPI_Datatype t, int count, const double *buf, int tag)
{
    MPI_Request r = MPI_REQUEST_NULL;
    switch (mode) {
    case 0:
        OK(MPI_Isend(buf, count, t, to, tag, MPI_COMM_WORLD, &r));
        break;
    case 1:
        OK(MPI_Issend(buf, count, t, to, tag, MPI_COMM_WORLD, &r));
        break;
    case 2:
        OK(MPI_Bsend(buf, count, t, to, tag, MPI_COMM_WORLD));
        break;
    case 3:
        OK(MPI_Send_init(buf, count, t, to, tag, MPI_COMM_WORLD, &r));
        break;
    case 4:
        OK(MPI_Ssend_init(buf, count, t, to, tag, MPI_COMM_WORLD, &r));
        break;
    case 5:
        OK(MPI_Irsend(buf, count, t, to, tag, MPI_COMM_WORLD, &r));
        break;
    case 6:
        OK(MPI_Send(buf, count, t, to, tag, MPI_COMM_WORLD));
        break;
    default:
        OK(MPI_Rsend(buf, count, t, to, tag, MPI_COMM_WORLD));
    }
    if (mode == 3 || mode == 4)
        OK(MPI_Start(&r));
    return r;
}

static void finish(MPI_Request *r)
{
    OK(MPI_Wait(r, MPI_STATUS_IGNORE));
    if (*r != MPI_REQUEST_NULL)
        OK(MPI_Request_free(r));
}

/* All send modes with the receive there before; a blocking send to oneself would be a copy, which is as well. */
static void early(int mode, int kind, int n)
{
    int rkind = (kind + mode) % KINDS, count, rcount, begin, rbegin, doubles;
    MPI_Datatype t = make(kind, n, &count, &begin), rt = make(rkind, n, &rcount, &rbegin);
    MPI_Request r, q;
    MPI_Status s;
    fill(kind, n);
    OK(MPI_Irecv(in + rbegin, rcount, rt, mode % 2 ? MPI_ANY_SOURCE : from, mode, MPI_COMM_WORLD, &r));
    OK(MPI_Type_free(&rt)); /* lives until the receive is complete */
    MPI_Barrier(MPI_COMM_WORLD);
    q = send(mode, t, count, out + begin, mode);
    OK(MPI_Type_free(&t));
    OK(MPI_Wait(&r, &s));
    finish(&q);
    OK(MPI_Get_count(&s, MPI_DOUBLE, &doubles));
    CHECK_EQ(doubles, n);
    CHECK_EQ(s.MPI_SOURCE, from);
    look(rkind, n, n, from);
}

/* The modes that need no receive, which then comes late, by a matched probe or not. */
static void late(int mode, int kind, int n)
{
    int rkind = (kind + mode + 1) % KINDS, count, rcount, begin, rbegin;
    MPI_Datatype t = make(kind, n, &count, &begin), rt = make(rkind, n, &rcount, &rbegin);
    MPI_Message m;
    fill(kind, n);
    MPI_Request q = send(mode, t, count, out + begin, 50);
    MPI_Barrier(MPI_COMM_WORLD);
    if (mode % 2) {
        OK(MPI_Mprobe(MPI_ANY_SOURCE, 50, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE));
        OK(MPI_Mrecv(in + rbegin, rcount, rt, &m, MPI_STATUS_IGNORE));
    } else
        OK(MPI_Recv(in + rbegin, rcount, rt, from, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    finish(&q);
    look(rkind, n, n, from);
    OK(MPI_Type_free(&t));
    OK(MPI_Type_free(&rt));
}

/* More comes than the type of the receive holds: it is filled, and no more. */
static void truncated(int kind, int n)
{
    int rkind = (kind + 1) % KINDS, fits = n / 8 * 4, count, rcount, begin, rbegin, doubles;
    MPI_Datatype t = make(kind, n, &count, &begin), rt = make(rkind, fits, &rcount, &rbegin);
    MPI_Request q;
    MPI_Status s;
    if (fits == 0)
        rcount = 0;
    fill(kind, n);
    for (int posted = 0; posted < 2; posted++) {
        MPI_Request r = MPI_REQUEST_NULL;
        if (posted)
            OK(MPI_Irecv(in + rbegin, rcount, rt, from, 60, MPI_COMM_WORLD, &r));
        MPI_Barrier(MPI_COMM_WORLD);
        OK(MPI_Isend(out + begin, count, t, to, 60, MPI_COMM_WORLD, &q));
        if (posted)
            CHECK_ERR(MPI_Wait(&r, &s), MPI_ERR_TRUNCATE);
        else
            CHECK_ERR(MPI_Recv(in + rbegin, rcount, rt, from, 60, MPI_COMM_WORLD, &s), MPI_ERR_TRUNCATE);
        OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
        OK(MPI_Get_count(&s, MPI_DOUBLE, &doubles));
        CHECK_EQ(doubles, fits);
        look(rkind, fits, fits, from);
    }
    OK(MPI_Type_free(&t));
    OK(MPI_Type_free(&rt));
}

/* All ranks send to rank 0 at once, which takes them as they come: over whatever devices lie between. */
static void from_all(int n, int tag)
{
    int count, begin, seen = 0;
    MPI_Datatype t = make(2, n, &count, &begin);
    MPI_Request q;
    MPI_Status s;
    to = 0;
    fill(2, n);
    OK(MPI_Isend(out, count, t, 0, tag, MPI_COMM_WORLD, &q));
    for (int i = 0; check_rank == 0 && i < check_size; i++) {
        OK(MPI_Recv(in, count, t, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &s));
        look(2, n, n, s.MPI_SOURCE);
        seen += s.MPI_SOURCE + 1;
    }
    if (check_rank == 0)
        CHECK_EQ(seen, check_size * (check_size + 1) / 2, "every rank once");
    OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
    OK(MPI_Type_free(&t));
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    check_errors_return();
    to = (check_rank + 1) % check_size;
    from = (check_rank + check_size - 1) % check_size;
    for (int i = 0; i < SPAN; i++)
        in[i] = -1;
    OK(MPI_Buffer_attach(attached, sizeof attached));
    for (int l = 0; l < (int)(sizeof lengths / sizeof *lengths); l++)
        for (int kind = 0; kind < KINDS; kind++) {
            for (int mode = 0; mode < MODES; mode++)
                early(mode, kind, lengths[l]);
            for (int mode = 0; mode < 5; mode++)
                late(mode, kind, lengths[l]);
            truncated(kind, lengths[l]);
        }
    void *space;
    int bytes;
    OK(MPI_Buffer_detach(&space, &bytes));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int l = 0; l < (int)(sizeof lengths / sizeof *lengths); l++)
        from_all(lengths[l], 70 + l);
    return check_done();
}
