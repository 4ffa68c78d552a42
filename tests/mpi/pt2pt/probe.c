/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8 */
/* Probe, Iprobe, Mprobe, Improbe, Mrecv, Imrecv: for each protocol, with wildcards, in and out of order. */
#include "check.h"

enum { MAX = 100000, SIZES = 6 };
static const int sizes[SIZES] = { 0, 8, 48, 100, 9000, MAX };
static char out[SIZES][MAX], in[MAX];
static int from, to;

static void is(const MPI_Status *s, int n, int tag)
{
    int count = -1;
    MPI_Get_count(s, MPI_CHAR, &count);
    CHECK_EQ(count, n);
    CHECK_EQ(s->MPI_SOURCE, from);
    CHECK_EQ(s->MPI_TAG, tag);
}

static void send_all(MPI_Request *r)
{
    for (int i = 0; i < SIZES; i++) {
        check_fill(out[i], (size_t)sizes[i], (uint64_t)i);
        MPI_Isend(out[i], sizes[i], MPI_CHAR, to, i, MPI_COMM_WORLD, &r[i]);
    }
}

static void probe(int source, int tag)
{
    MPI_Request r[SIZES];
    MPI_Status s;
    send_all(r);
    for (int i = SIZES - 1; i >= 0; i--) {
        int t = tag == MPI_ANY_TAG ? SIZES - 1 - i : i, flag = 0;
        CHECK_EQ(MPI_Probe(source, tag == MPI_ANY_TAG ? MPI_ANY_TAG : t, MPI_COMM_WORLD, &s), MPI_SUCCESS);
        is(&s, sizes[t], t);
        CHECK_EQ(MPI_Iprobe(source, t, MPI_COMM_WORLD, &flag, &s), MPI_SUCCESS);
        CHECK_EQ(flag, 1);
        is(&s, sizes[t], t);
        CHECK_EQ(MPI_Iprobe(source, t, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
        MPI_Recv(in, sizes[t], MPI_CHAR, s.MPI_SOURCE, s.MPI_TAG, MPI_COMM_WORLD, &s);
        is(&s, sizes[t], t);
        CHECK_BYTES(in, (size_t)sizes[t], (uint64_t)t);
        MPI_Iprobe(source, t, MPI_COMM_WORLD, &flag, &s);
        CHECK_EQ(flag, 0, "message %d is still there", t);
    }
    MPI_Waitall(SIZES, r, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A message taken out by a matched probe is not seen by others, and later ones pass it. */
static void matched(int immediate)
{
    MPI_Request r[SIZES], q;
    MPI_Message m[SIZES];
    MPI_Status s;
    int flag;
    send_all(r);
    for (int i = 0; i < SIZES; i++) {
        flag = 0;
        if (i % 2)
            CHECK_EQ(MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &m[i], &s), MPI_SUCCESS);
        else
            while (!flag)
                CHECK_EQ(MPI_Improbe(from, i, MPI_COMM_WORLD, &flag, &m[i], &s), MPI_SUCCESS);
        CHECK(m[i] != MPI_MESSAGE_NULL && m[i] != MPI_MESSAGE_NO_PROC, " ");
        is(&s, sizes[i], i);
        MPI_Iprobe(from, i, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        CHECK_EQ(flag, 0);
    }
    for (int i = SIZES - 1; i >= 0; i--) {
        memset(in, 0, sizeof in);
        if (immediate) {
            CHECK_EQ(MPI_Imrecv(in, sizes[i], MPI_CHAR, &m[i], &q), MPI_SUCCESS);
            CHECK_EQ(MPI_Wait(&q, &s), MPI_SUCCESS);
        } else {
            CHECK_EQ(MPI_Mrecv(in, sizes[i], MPI_CHAR, &m[i], &s), MPI_SUCCESS);
        }
        CHECK(m[i] == MPI_MESSAGE_NULL, " ");
        is(&s, sizes[i], i);
        CHECK_BYTES(in, (size_t)sizes[i], (uint64_t)i);
    }
    MPI_Waitall(SIZES, r, MPI_STATUSES_IGNORE);
    MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &m[0], &s);
    CHECK_EQ(flag, 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Of a matched message with a datatype with holes. */
static void matched_type(void)
{
    MPI_Datatype t;
    MPI_Message m;
    MPI_Status s;
    MPI_Request r;
    int data[200], got[400], n;
    MPI_Type_vector(100, 1, 2, MPI_INT, &t);
    MPI_Type_commit(&t);
    for (int i = 0; i < 200; i++)
        data[i] = i * 3;
    memset(got, 0xff, sizeof got);
    MPI_Isend(data, 100, MPI_INT, to, 3, MPI_COMM_WORLD, &r);
    MPI_Mprobe(from, 3, MPI_COMM_WORLD, &m, &s);
    MPI_Mrecv(got, 1, t, &m, &s);
    MPI_Get_count(&s, t, &n);
    CHECK_EQ(n, 1);
    for (int i = 0; i < 199; i++)
        CHECK_EQ(got[i], i % 2 ? -1 : i / 2 * 3, "%d", i);
    MPI_Wait(&r, &s);
    MPI_Type_free(&t);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    to = (check_rank + 1) % check_size;
    from = (check_rank + check_size - 1) % check_size;
    probe(from, 0);
    probe(MPI_ANY_SOURCE, 0);
    probe(MPI_ANY_SOURCE, MPI_ANY_TAG);
    matched(0);
    matched(1);
    matched_type();
    return check_done();
}
