/* SPDX-License-Identifier: BSD-3-Clause */
/* doubts.c: see doubts.h. */
#include "doubts.h"
#include <stdlib.h>
#include "pmi/launch/job/ranks.h"

static const double MOMENT_SECONDS = 1;
enum { PAIRS_MOST = 1 << 20 /* more say nothing new */ };

static struct {
    struct pair {
        int by, rank;
    } * at;
    int n;
    double due; /* 0: there are none */
} doubts;

static bool lives(int rank)
{
    return crew.ranks[rank].pid != 0;
}

void doubts_add(int by, int rank)
{
    if (by == rank || !lives(by) || !lives(rank) || doubts.n == PAIRS_MOST)
        return;
    doubts.at = xgrow(doubts.at, (size_t)doubts.n + 1, sizeof *doubts.at);
    doubts.at[doubts.n++] = (struct pair){ by, rank };
    if (doubts.due == 0)
        doubts.due = now() + MOMENT_SECONDS;
}

double doubts_due(void)
{
    return doubts.due;
}

/* Drop pairs of which one has ended, or is `gone`. */
static void doubts_drop(int gone)
{
    int kept = 0;
    for (int i = 0; i < doubts.n; i++) {
        struct pair p = doubts.at[i];
        if (p.by != gone && p.rank != gone && lives(p.by) && lives(p.rank))
            doubts.at[kept++] = p;
    }
    doubts.n = kept;
}

/* Who is in the most pairs, of equals the highest; *other: the other one of one of them. */
static int most_doubted(int *count, int *other)
{
    int most = -1;
    for (int i = 0; i < doubts.n; i++)
        count[doubts.at[i].by] = count[doubts.at[i].rank] = 0;
    for (int i = 0; i < doubts.n; i++) {
        count[doubts.at[i].by]++;
        count[doubts.at[i].rank]++;
    }
    for (int i = 0; i < doubts.n; i++) {
        const int pair[] = { doubts.at[i].by, doubts.at[i].rank };
        for (int k = 0; k < 2; k++)
            if (most < 0 || count[pair[k]] > count[most] ||
                (count[pair[k]] == count[most] && pair[k] > most)) {
                most = pair[k];
                *other = pair[1 - k];
            }
    }
    return most;
}

void doubts_settle(void (*end)(int rank, int other))
{
    if (doubts.due == 0 || now() < doubts.due)
        return;
    int *count = xalloc((size_t)crew.launch->size, sizeof *count), other = -1;
    for (doubts_drop(-1); doubts.n > 0;) {
        int rank = most_doubted(count, &other);
        end(rank, other);
        doubts_drop(rank);
    }
    free(count);
    doubts.due = 0;
}
