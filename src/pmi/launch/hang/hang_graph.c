/* SPDX-License-Identifier: BSD-3-Clause */
/* hang_graph.c: who waits for whom, in sentences.
 *
 * A rank that sleeps waits for one of several ranks, or for several: a receive from any source and MPI_Waitany for
 * one of them, MPI_Waitall and collective operations for all.  A rank is stuck if that cannot come to pass by what
 * ranks that are not stuck do; who is awake, has met something a moment ago, does not say what it waits for or may
 * be helped by something else is not. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "hang.h"
#include "hang_text.h"
#include "pmi/launch/job/launch.h"
#include "mpi_const.h"

enum { CYCLE_SHOWN = 6, SENTENCES = 4 };
static const double STILL = 0.3; /* s; who waits for less may have a message under way */

static struct {
    struct hang_rank *ranks;
    int n;
    unsigned char *stuck, *mark, *told;
    bool family; /* other jobs cannot help */
} g;

/* ---- the edges ---- */

static bool ended(const struct hang_rank *r)
{
    return r->pid == 0;
}

static bool finalizes(const struct hang_rank *r)
{
    return r->answered && strcmp(r->call->call, "MPI_Finalize") == 0;
}

/* A member of the job that MPI_Finalize waits for. */
static bool is_late(int i)
{
    return !finalizes(&g.ranks[i]) && !ended(&g.ranks[i]) && g.ranks[i].state == KU_RANK_RUNNING;
}

static bool waits(const struct hang_rank *r)
{
    return r->answered && !r->call->polls && hang_waited(r) >= STILL;
}

static int known_ops(const struct hang_rank *r)
{
    return r->call->nops < KU_CALL_OPS ? r->call->nops : KU_CALL_OPS;
}

/* Is one of several enough?  Also where the call does not say which of them it is for. */
static bool any_is_enough(const struct hang_rank *r)
{
    return r->call->any || (r->call->nops > 0 && !r->call->op[0].waited);
}

/* May something come from a rank that is not stuck, or is it not known from whom? */
static bool may_come(int self, const struct ku_seg_op *op)
{
    const struct hang_rank *r = &g.ranks[self];
    if (op->kind == KU_OP_OTHER)
        return true;
    if (op->grank >= 0 && op->grank < g.n)
        return !g.stuck[op->grank];
    if (op->job != 0)
        return !g.family;
    if (op->lrank != MPI_ANY_SOURCE || op->comm != hang_first_op(r)->comm || !hang_is_member(r, self))
        return true;
    for (int i = 0; i < g.n; i++)
        if (i != self && hang_is_member(r, i) && !g.stuck[i])
            return true;
    return false;
}

static bool can_go_on(int i)
{
    const struct hang_rank *r = &g.ranks[i];
    bool any = any_is_enough(r);
    if (finalizes(r)) {
        for (int k = 0; k < g.n; k++)
            if (is_late(k) && g.stuck[k])
                return false;
        return true;
    }
    if (r->call->nops == 0 || (any && r->call->nops > KU_CALL_OPS))
        return true;
    for (int k = 0; k < known_ops(r); k++)
        if (may_come(i, &r->call->op[k]) == any)
            return any;
    return !any;
}

/* All that wait are taken for stuck, until no more of them can go on. */
static void find_stuck(void)
{
    for (int i = 0; i < g.n; i++) {
        const struct hang_rank *r = &g.ranks[i];
        int others = KU_OTHERS_UNSEEN | (g.family ? 0 : KU_OTHERS_MET);
        g.stuck[i] = ended(r) || (waits(r) && !(r->call->others & others) && !hang_others_of(r));
    }
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < g.n; i++)
            if (g.stuck[i] && !ended(&g.ranks[i]) && can_go_on(i)) {
                g.stuck[i] = 0;
                more = true;
            }
    }
}

/* The operation that keeps rank i: of one that is stuck, one that will not come. */
static const struct ku_seg_op *link_of(int i)
{
    const struct hang_rank *r = &g.ranks[i];
    if (!waits(r))
        return NULL;
    for (int k = 0; k < known_ops(r); k++)
        if (r->call->op[k].grank != i && may_come(i, &r->call->op[k]) != g.stuck[i])
            return &r->call->op[k];
    return hang_first_op(r);
}

/* The rank that i waits for first, or -1. */
static int next_of(int i)
{
    const struct ku_seg_op *op = link_of(i);
    if (op != NULL)
        return op->grank < g.n ? op->grank : -1;
    for (int k = 0; k < g.n && finalizes(&g.ranks[i]) && waits(&g.ranks[i]); k++)
        if (is_late(k))
            return k;
    return -1;
}

/* ---- sentences ---- */

static void put_waiter(FILE *out, int i)
{
    const struct hang_rank *r = &g.ranks[i];
    if (finalizes(r)) {
        fprintf(out, "rank %d has called MPI_Finalize", i);
    } else if (r->answered) {
        fprintf(out, waits(r) ? "rank %d waits in " : "rank %d goes on: ", i);
        hang_put_link(out, r, link_of(i));
    } else {
        fprintf(out, r->state == KU_RANK_RUNNING && !ended(r) && !r->asleep ? "rank %d is " : "rank %d ", i);
        hang_put_state(out, r);
    }
}

/* Several ranks that nobody but all of them could help. */
static void put_stuck(FILE *out)
{
    int n = 0, living = 0;
    for (int i = 0; i < g.n; i++) {
        g.mark[i] = g.stuck[i] && !ended(&g.ranks[i]);
        n += g.mark[i];
        living += !ended(&g.ranks[i]);
    }
    if (n == 0 || n == living) /* then the other sentences say all */
        return;
    fputs("mpiexec:   ", out);
    hang_put_ranks(out, g.mark);
    fprintf(out, " cannot go on, whatever the others do\n");
}

/* The cycle that begins with `start`; of neighbours in one collective call the first is named. */
static void put_cycle(FILE *out, int start)
{
    int i = start, before = -1, shown = 0;
    fputs("mpiexec:   ", out);
    do {
        if (before < 0 || !(hang_same_collective(&g.ranks[before], &g.ranks[i]) ||
                            hang_same_collective(&g.ranks[start], &g.ranks[i]))) {
            fputs(before < 0 ? "" : "; ", out);
            if (shown++ == CYCLE_SHOWN) {
                fprintf(out, "... and so on, back to rank %d", start);
                break;
            }
            put_waiter(out, i);
        }
        before = i;
        i = next_of(i);
    } while (i != start);
    fputc('\n', out);
}

/* The ranks that come to `end` when one follows who waits for whom, and what it does; it may wait for anybody. */
static void put_end(FILE *out, int end, const int *last)
{
    const struct ku_seg_op *op = link_of(end);
    bool alone = g.stuck[end] && op != NULL && op->lrank == MPI_ANY_SOURCE;
    int n = 0;
    for (int i = 0; i < g.n; i++) {
        g.mark[i] = i != end && last[i] == end;
        n += g.mark[i];
    }
    if (n == 0 && !alone)
        return;
    fputs("mpiexec:   ", out);
    if (n > 0) {
        hang_put_ranks(out, g.mark);
        fprintf(out, n > 1 ? " wait for rank %d: " : " waits for rank %d: ", end);
    }
    put_waiter(out, end);
    fputs(alone ? ", and nobody is left who could send\n" : "\n", out);
}

/* The least rank of the cycle that `at` is in. */
static int least_of(int at)
{
    int least = at;
    for (int i = next_of(at); i != at; i = next_of(i))
        least = i < least ? i : least;
    return least;
}

/* last[i]: where one comes from i: a rank that waits for nobody known, or the least rank of a cycle, which is
 * marked. */
static void follow(int *last, unsigned char *cycle)
{
    for (int i = 0; i < g.n; i++) {
        int at = i, steps = 0, next;
        while ((next = next_of(at)) >= 0 && steps++ <= g.n)
            at = next;
        last[i] = next < 0 ? at : least_of(at);
        if (next >= 0)
            cycle[last[i]] = 1;
    }
}

static void put_chains(FILE *out)
{
    int *last = xalloc((size_t)g.n, sizeof *last), shown = 0;
    unsigned char *cycle = xalloc((size_t)g.n, 1);
    follow(last, cycle);
    for (int i = 0; i < g.n && shown < SENTENCES; i++) {
        if (last[i] != i)
            continue;
        shown++;
        if (cycle[i])
            put_cycle(out, i);
        else
            put_end(out, i, last);
    }
    free(last);
    free(cycle);
}

/* ---- mistakes that show ---- */

/* Members of one communicator are in different collective calls. */
static void put_mixed(FILE *out, int first)
{
    const struct hang_rank *r = &g.ranks[first];
    int kinds = 0;
    memset(g.mark, 0, (size_t)g.n);
    for (int pass = 0; pass < 2; pass++) { /* count; then write */
        memset(g.told, 0, (size_t)g.n);
        if (pass && kinds < 2)
            return;
        for (int i = first; i < g.n; i++) {
            if (g.told[i] || !g.stuck[i] || !hang_is_collective(&g.ranks[i]) ||
                !hang_same_comm(r, &g.ranks[i]))
                continue;
            memset(g.mark, 0, (size_t)g.n);
            for (int k = i; k < g.n; k++)
                if (g.stuck[k] && hang_same_collective(&g.ranks[i], &g.ranks[k]))
                    g.mark[k] = g.told[k] = 1;
            kinds += !pass;
            if (!pass)
                continue;
            fputs(i == first ? "mpiexec:   " : ", ", out);
            hang_put_ranks(out, g.mark);
            fprintf(out, " in %s", hang_collective(&g.ranks[i]));
        }
    }
    hang_put_comm(out, hang_first_op(r));
    fputs(": different operations\n", out);
}

static bool has_mixed_before(int i)
{
    for (int k = 0; k < i; k++)
        if (g.stuck[k] && hang_is_collective(&g.ranks[k]) && hang_same_comm(&g.ranks[k], &g.ranks[i]))
            return true;
    return false;
}

/* What rank i waits for may be there, but for the tag or the communicator. */
static bool put_wrong(FILE *out, int i)
{
    const struct ku_seg_op *op = hang_first_op(&g.ranks[i]);
    const struct ku_seg_call *c = g.ranks[i].call;
    if (op == NULL || c->nops != 1 || (op->kind != KU_OP_RECV && op->kind != KU_OP_PROBE) || op->context != 0)
        return false;
    for (int m = 0; m < c->nmsgs && m < KU_CALL_MSGS; m++) {
        const struct ku_seg_op *msg = &c->msg[m];
        int from = msg->grank >= 0 ? msg->grank : msg->lrank;
        if (op->lrank != MPI_ANY_SOURCE && op->grank != msg->grank)
            continue;
        if (msg->comm == op->comm && op->tag != MPI_ANY_TAG && msg->tag != op->tag) {
            fprintf(out, "mpiexec:   rank %d waits for tag %d, but what has come from rank %d has tag %d\n",
                    i, op->tag, from, msg->tag);
            return true;
        }
        if (msg->comm != op->comm && (op->tag == MPI_ANY_TAG || msg->tag == op->tag)) {
            fprintf(out, "mpiexec:   rank %d waits for tag %d", i, msg->tag);
            hang_put_comm(out, op);
            fprintf(out, ", but what has come from rank %d is", from);
            hang_put_comm(out, msg);
            fputc('\n', out);
            return true;
        }
    }
    return false;
}

void hang_graph(FILE *out, struct hang_rank *ranks, int n, bool family)
{
    size_t bytes = (size_t)n;
    g.ranks = ranks;
    g.n = n;
    g.family = family;
    g.stuck = xalloc(bytes, 1);
    g.mark = xalloc(bytes, 1);
    g.told = xalloc(bytes, 1);
    find_stuck();
    put_stuck(out);
    put_chains(out);
    for (int i = 0; i < n; i++)
        if (g.stuck[i] && hang_is_collective(&ranks[i]) && !has_mixed_before(i))
            put_mixed(out, i);
    for (int i = 0, told = 0; i < n && told < SENTENCES; i++)
        told += put_wrong(out, i);
    free(g.stuck);
    free(g.mark);
    free(g.told);
}
