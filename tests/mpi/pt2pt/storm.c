/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 4 5 8 */
/* timeout: 120 */
/* A random storm: every rank knows from one seed who sends what to whom, starts all of it in random order with random
 * calls, and checks what it gets. */
#include "check.h"

enum { ROUNDS = 12, MESSAGES = 300 };

struct message {
    int from, to, size, tag;
};
static uint64_t state = 88172645463325252u;

static unsigned next(unsigned below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 33) % below;
}

static void plan(struct message *m, int round)
{
    for (int i = 0; i < MESSAGES; i++) {
        m[i].from = (int)next((unsigned)check_size);
        m[i].to = (int)next((unsigned)check_size);
        unsigned kind = next(20);
        m[i].size = (int)(kind == 0 ? next(400000) : kind < 4 ? next(20000) : next(200));
        m[i].tag = round * MESSAGES + i; /* a fast rank may be in the next round already */
    }
}

static void storm(int round)
{
    struct message m[MESSAGES];
    MPI_Request r[2 * MESSAGES];
    unsigned char *buf[2 * MESSAGES];
    int of[2 * MESSAGES], k = 0, order[MESSAGES];
    plan(m, round);
    for (int i = 0; i < MESSAGES; i++)
        order[i] = i;
    uint64_t kept = state;
    state ^= (uint64_t)(check_rank + 1) * 0x9e3779b97f4a7c15u; /* the order is each rank's own */
    for (int i = MESSAGES - 1; i > 0; i--) {
        int j = (int)next((unsigned)i + 1), t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
    for (int i = 0; i < MESSAGES; i++) {
        const struct message *p = &m[order[i]];
        if (p->to == check_rank) {
            of[k] = order[i];
            buf[k] = malloc((size_t)p->size + 1);
            MPI_Irecv(buf[k], p->size + 1, MPI_BYTE, next(3) ? p->from : MPI_ANY_SOURCE, p->tag,
                      MPI_COMM_WORLD, &r[k]);
            k++;
        }
        if (p->from == check_rank) {
            of[k] = -1;
            buf[k] = malloc((size_t)p->size + 1);
            check_fill(buf[k], (size_t)p->size, (uint64_t)(round * MESSAGES + order[i]));
            if (next(4))
                MPI_Isend(buf[k], p->size, MPI_BYTE, p->to, p->tag, MPI_COMM_WORLD, &r[k]);
            else
                MPI_Issend(buf[k], p->size, MPI_BYTE, p->to, p->tag, MPI_COMM_WORLD, &r[k]);
            k++;
        }
    }
    state = kept;
    MPI_Status s[2 * MESSAGES];
    CHECK_EQ(MPI_Waitall(k, r, s), MPI_SUCCESS);
    for (int i = 0; i < k; i++) {
        if (of[i] >= 0) {
            int count = -1;
            MPI_Get_count(&s[i], MPI_BYTE, &count);
            CHECK_EQ(count, m[of[i]].size);
            CHECK_EQ(s[i].MPI_SOURCE, m[of[i]].from);
            CHECK_BYTES(buf[i], (size_t)m[of[i]].size, (uint64_t)(round * MESSAGES + of[i]));
        }
        free(buf[i]);
    }
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    for (int round = 0; round < ROUNDS; round++)
        storm(round);
    return check_done();
}
