/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5 8 */
/* timeout: 120 */
/* Which message goes to which receive, with wildcards: random traffic in which several receives match a message.  Those
 * that are choosier are posted first, so that all are served in the end whatever comes first; the rest is taken by
 * probes that match.  Then no two messages of one sender may have overtaken each other (MPI 5.0, 3.5). */
#include <stdbool.h>
#include "check.h"

enum { ROUNDS = 8, MESSAGES = 200, LARGE = 70000, TAGS = 3 };

struct message {
    int from, to, size, tag;
    int choosy; /* its receive names 2: source and tag, 1: one of them, 0: none; -1: it is probed for */
};

/* A receive, in the order of posting. */
struct taken {
    int source, tag; /* as asked for */
    unsigned char *buf;
    MPI_Request request;
    MPI_Status status;
};

static struct message plan[MESSAGES];
static struct taken taken[MESSAGES];
static int ntaken;
static uint64_t state;
static bool any_tag; /* do receives of the middle sort leave the tag open, or the source? */

static unsigned next(unsigned below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 33) % below;
}

static void make_plan(int round)
{
    state = 88172645463325252u + (uint64_t)round * 0x9e3779b97f4a7c15u;
    for (int i = 0; i < MESSAGES; i++) {
        struct message *m = &plan[i];
        unsigned kind = next(12);
        m->from = (int)next((unsigned)check_size);
        m->to = (int)next((unsigned)check_size);
        m->size = 4 + (int)(kind == 0 ? next(LARGE - 4) : kind < 4 ? next(9000) : next(80));
        m->tag = (int)next(TAGS);
        m->choosy = (int)next(4) - 1;
    }
    any_tag = round % 2;
    ntaken = 0;
    state ^= (uint64_t)(check_rank + 1) * 0x9e3779b97f4a7c15u; /* from here on each rank has its own */
}

static struct taken *take(int source, int tag, size_t room)
{
    struct taken *t = &taken[ntaken++];
    *t = (struct taken){ source, tag, malloc(room), MPI_REQUEST_NULL, { 0 } };
    return t;
}

/* The receive for message i. */
static void post(int i, MPI_Comm comm)
{
    const struct message *m = &plan[i];
    bool source = m->choosy == 2 || (m->choosy == 1 && any_tag);
    bool tag = m->choosy == 2 || (m->choosy == 1 && !any_tag);
    struct taken *t = take(source ? m->from : MPI_ANY_SOURCE, tag ? m->tag : MPI_ANY_TAG, LARGE);
    MPI_Irecv(t->buf, LARGE, MPI_BYTE, t->source, t->tag, comm, &t->request);
}

/* The messages to this rank, the choosiest first, each sort in random order.  Returns how many are to be posted. */
static int in_order(int order[MESSAGES], int *probed)
{
    int n = 0;
    *probed = 0;
    for (int choosy = 2; choosy >= 0; choosy--) {
        int first = n;
        for (int i = 0; i < MESSAGES; i++)
            if (plan[i].to == check_rank && plan[i].choosy == choosy) {
                int j = first + (int)next((unsigned)(n - first + 1));
                order[n++] = order[j];
                order[j] = i;
            }
    }
    for (int i = 0; i < MESSAGES; i++)
        *probed += plan[i].to == check_rank && plan[i].choosy == -1;
    return n;
}

static unsigned char *start_send(int i, MPI_Comm comm, MPI_Request *r)
{
    const struct message *m = &plan[i];
    unsigned char *buf = malloc((size_t)m->size);
    check_fill(buf, (size_t)m->size, (uint64_t)i);
    memcpy(buf, &i, sizeof i);
    if (next(4))
        MPI_Isend(buf, m->size, MPI_BYTE, m->to, m->tag, comm, r);
    else
        MPI_Issend(buf, m->size, MPI_BYTE, m->to, m->tag, comm, r);
    return buf;
}

static void probe_for(int n, MPI_Comm comm)
{
    while (n > 0) {
        int flag = 0, count = -1;
        MPI_Message message;
        MPI_Status s;
        MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &message, &s);
        if (!flag)
            continue;
        MPI_Get_count(&s, MPI_BYTE, &count);
        struct taken *t = take(MPI_ANY_SOURCE, MPI_ANY_TAG, (size_t)count);
        MPI_Imrecv(t->buf, count, MPI_BYTE, &message, &t->request);
        n--;
    }
}

static bool matches(const struct taken *t, const struct message *m)
{
    return (t->source == MPI_ANY_SOURCE || t->source == m->from) &&
           (t->tag == MPI_ANY_TAG || t->tag == m->tag);
}

/* What came is a message of the plan to this rank, whole, and came once; the earlier receive has the earlier
 * message. */
static void check_taken(const int number[MESSAGES])
{
    for (int a = 0; a < ntaken; a++) {
        const struct message *m = &plan[number[a]];
        for (int b = a + 1; b < ntaken; b++) {
            const struct message *later = &plan[number[b]];
            CHECK(number[a] != number[b], "message %d came twice", number[a]);
            CHECK(later->from != m->from || number[b] > number[a] || !matches(&taken[a], later),
                  "receive %d has message %d of rank %d, receive %d has %d", a, number[a], m->from, b,
                  number[b]);
        }
    }
}

static void check_whole(struct taken *t, int *number)
{
    int count = -1;
    memcpy(number, t->buf, sizeof *number);
    CHECK(*number >= 0 && *number < MESSAGES, "message %d", *number);
    const struct message *m = &plan[*number];
    MPI_Get_count(&t->status, MPI_BYTE, &count);
    CHECK_EQ(count, m->size);
    CHECK_EQ(t->status.MPI_SOURCE, m->from);
    CHECK_EQ(t->status.MPI_TAG, m->tag);
    CHECK_EQ(m->to, check_rank);
    CHECK(matches(t, m));
    for (int k = 0; k < 4; k++)
        t->buf[k] = check_byte((uint64_t)*number, (uint64_t)k);
    CHECK_BYTES(t->buf, (size_t)m->size, (uint64_t)*number);
}

static void round_of(int round, MPI_Comm comm)
{
    int order[MESSAGES], number[MESSAGES], probed, nsent = 0, posted = 0, flag;
    unsigned char *buf[MESSAGES];
    MPI_Request sent[MESSAGES];
    make_plan(round);
    int npost = in_order(order, &probed);
    for (int i = 0; i < MESSAGES; i++) {
        for (; posted < npost && next(3); posted++)
            post(order[posted], comm);
        if (plan[i].from == check_rank) {
            buf[nsent] = start_send(i, comm, &sent[nsent]);
            nsent++;
        }
        if (nsent && next(20) == 0)
            MPI_Testall(nsent, sent, &flag, MPI_STATUSES_IGNORE);
    }
    for (; posted < npost; posted++)
        post(order[posted], comm);
    probe_for(probed, comm);
    for (int i = 0; i < ntaken; i++)
        MPI_Wait(&taken[i].request, &taken[i].status);
    MPI_Waitall(nsent, sent, MPI_STATUSES_IGNORE);
    for (int i = 0; i < ntaken; i++)
        check_whole(&taken[i], &number[i]);
    check_taken(number);
    for (int i = 0; i < ntaken; i++)
        free(taken[i].buf);
    for (int i = 0; i < nsent; i++)
        free(buf[i]);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    MPI_Comm comm[2];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm[1]);
    for (int round = 0; round < ROUNDS; round++) {
        round_of(round, comm[round / 2 % 2]);
        MPI_Barrier(comm[0]); /* wildcards must not take messages of the next round */
    }
    MPI_Comm_free(&comm[0]);
    MPI_Comm_free(&comm[1]);
    return check_done();
}
