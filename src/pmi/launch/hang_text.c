/* hang_text.c: the roll-call in words: equal ranks together, the messages that wait, and who waits for whom. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "hang.h"
#include "launch.h"
#include "mpi_const.h"
#include "util/clock.h"

enum {
    GROUPS_MAX = 16 /* lines; beyond it ranks that differ in the peer only are one line */,
    OPS_SHOWN = 3,
    MESSAGES_SHOWN = 3,
    MESSAGE_RANKS = 8,
    CYCLE_SHOWN = 6
};

static struct hang_rank *ranks;
static int nranks;

/* ---- the words ---- */

static const struct ku_seg_op *first_op(const struct hang_rank *r)
{
    return r->answered && r->call->nops > 0 ? &r->call->op[0] : NULL;
}

static const char *call_name(const struct hang_rank *r)
{
    return r->call->call[0] ? r->call->call : "the library";
}

static bool ends(const struct hang_rank *r)
{
    return r->answered && strcmp(r->call->call, "MPI_Finalize") == 0;
}

/* In a call of all members of a communicator: it waits for the library's own messages.  Communicators without a common
 * member may have the same context id. */
static bool is_collective(const struct hang_rank *r)
{
    return first_op(r) != NULL && first_op(r)->context != 0;
}

static bool same_collective(const struct hang_rank *a, const struct hang_rank *b)
{
    return is_collective(a) && is_collective(b) && first_op(a)->comm == first_op(b)->comm &&
           strcmp(a->call->call, b->call->call) == 0 &&
           memcmp(a->call->members, b->call->members, sizeof a->call->members) == 0;
}

static void put_comm(FILE *out, const struct ku_seg_op *op)
{
    if (op->comm_name[0])
        fprintf(out, " on %s", op->comm_name);
    else if (op->comm_size)
        fprintf(out, " on a communicator of %d ranks (number %u)", op->comm_size, op->comm);
}

static void put_tag(FILE *out, const struct ku_seg_op *op)
{
    if (op->tag == MPI_ANY_TAG)
        fputs("any tag", out);
    else
        fprintf(out, "tag %d", op->tag);
}

static void put_peer(FILE *out, const struct ku_seg_op *op, bool brief)
{
    if (op->lrank == MPI_ANY_SOURCE)
        fputs("any rank", out);
    else if (brief)
        fputs("different ranks", out);
    else
        fprintf(out, "rank %d", op->grank >= 0 ? op->grank : op->lrank);
}

/* "for tag 7 from rank 1 on MPI_COMM_WORLD" */
static void put_op(FILE *out, const struct ku_seg_op *op, bool brief)
{
    if (op->kind == KU_OP_SEND) {
        if (brief)
            fputs("to send with ", out);
        else
            fprintf(out, "to send %lld bytes with ", (long long)op->bytes);
        put_tag(out, op);
        fputs(" to ", out);
    } else {
        fputs("for ", out);
        put_tag(out, op);
        fputs(" from ", out);
    }
    put_peer(out, op, brief);
    put_comm(out, op);
}

static void put_call(FILE *out, const struct hang_rank *r, bool brief)
{
    const struct ku_seg_call *c = r->call;
    const struct ku_seg_op *op = first_op(r);
    fprintf(out, "%s%s", call_name(r), c->polls ? " again and again" : "");
    if (op != NULL && (op->waited || c->nops == 1 || op->context != 0)) {
        if (op->context != 0) {
            put_comm(out, op);
        } else {
            fputc(' ', out);
            put_op(out, op, brief);
        }
        return;
    }
    if (c->nops == 0)
        return;
    fprintf(out, ", %d operations not complete", c->nops);
    for (int i = 0; i < c->nops && i < OPS_SHOWN && !brief; i++) {
        fputs(i ? ", " : ": ", out);
        put_op(out, &c->op[i], brief);
    }
    if (c->nops > OPS_SHOWN && !brief)
        fputs(", ...", out);
}

static void put_state(FILE *out, const struct hang_rank *r, bool brief)
{
    char process[256];
    if (r->pid == 0) {
        if (WIFSIGNALED(r->status))
            fprintf(out, "has been ended by signal %d", WTERMSIG(r->status));
        else
            fprintf(out, "has ended with exit code %d", WEXITSTATUS(r->status));
        return;
    }
    hang_process(r->pid, process, sizeof process);
    if (brief)
        process[strcspn(process, "(")] = '\0'; /* figures make ranks different */
    if (r->state == KU_RANK_STARTED)
        fprintf(out, "has not called MPI_Init; %s", process);
    else if (r->state == KU_RANK_FINALIZED)
        fprintf(out, "has finished with MPI; %s", process);
    else
        fprintf(out, "%s; %s", r->asleep ? "waits in MPI, and does not answer" : "not in MPI", process);
}

static char *describe(const struct hang_rank *r, bool brief)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        die("no memory for the report on what the ranks wait for");
    if (r->answered) {
        put_call(out, r, brief);
        if (r->where)
            fprintf(out, ", at %s", r->where);
    } else {
        put_state(out, r, brief);
    }
    if (fclose(out) != 0)
        die("no memory for the report on what the ranks wait for");
    return text;
}

/* "rank 3" or "ranks 0-2, 5" of those with the mark. */
static void put_ranks(FILE *out, const unsigned char *mark)
{
    int n = 0;
    const char *comma = " ";
    for (int i = 0; i < nranks; i++)
        n += mark[i];
    fputs(n == 1 ? "rank" : "ranks", out);
    for (int i = 0, last; i < nranks; i = last + 1) {
        for (last = i; last < nranks && mark[last];)
            last++;
        if (last == i)
            continue;
        last--;
        fprintf(out, last > i ? "%s%d-%d" : "%s%d", comma, i, last);
        comma = ", ";
    }
}

/* ---- the roll-call ---- */

static bool equal(const struct hang_rank *a, const struct hang_rank *b)
{
    return strcmp(a->waits_for, b->waits_for) == 0 && (!is_collective(a) || same_collective(a, b));
}

static int count_groups(void)
{
    int n = 0;
    for (int i = 0; i < nranks && n <= GROUPS_MAX; i++) {
        int j = 0;
        while (j < i && !equal(&ranks[i], &ranks[j]))
            j++;
        n += j == i;
    }
    return n;
}

static void describe_all(bool brief)
{
    for (int i = 0; i < nranks; i++) {
        free(ranks[i].waits_for);
        ranks[i].waits_for = describe(&ranks[i], brief);
    }
}

/* Which members of the communicator of r's collective call are elsewhere? */
static void put_absent(FILE *out, const struct hang_rank *r, unsigned char *mark)
{
    int n = 0;
    bool all = first_op(r)->comm_size == nranks;
    if (!all && (r->call->comm != first_op(r)->comm || r->call->comm_size == 0))
        return;
    for (int i = 0; i < nranks; i++) {
        bool member = all || (i < KU_CALL_MEMBERS && r->call->members[i / 8] >> i % 8 & 1);
        mark[i] = member && !same_collective(r, &ranks[i]);
        n += mark[i];
    }
    if (n > 0) {
        fputs("; not there: ", out);
        put_ranks(out, mark);
    }
}

static double waited(const struct hang_rank *r)
{
    uint64_t t = ku_clock_ns();
    return r->answered && r->asleep && t > r->since ? (double)(t - r->since) * 1e-9 : 0;
}

static void put_group(FILE *out, int first, unsigned char *mark, unsigned char *done)
{
    double least = 1e18, most = 0;
    for (int i = 0; i < nranks; i++) {
        mark[i] = !done[i] && equal(&ranks[first], &ranks[i]);
        if (!mark[i])
            continue;
        done[i] = 1;
        double w = waited(&ranks[i]);
        least = w < least ? w : least;
        most = w > most ? w : most;
    }
    fputs("mpiexec:   ", out);
    put_ranks(out, mark);
    fprintf(out, ": %s", ranks[first].waits_for);
    if (most >= least + 0.1)
        fprintf(out, ", for %.1f to %.1f s", least, most);
    else if (most > 0)
        fprintf(out, ", for %.1f s", most);
    if (is_collective(&ranks[first]))
        put_absent(out, &ranks[first], mark);
    fputc('\n', out);
}

static void put_messages(FILE *out)
{
    int shown = 0, more = 0;
    for (int i = 0; i < nranks; i++) {
        const struct ku_seg_call *c = ranks[i].call;
        if (!ranks[i].answered || c->nmsgs == 0)
            continue;
        if (shown++ >= MESSAGE_RANKS) {
            more++;
            continue;
        }
        fprintf(out, "mpiexec:   rank %d has %d message%s that no receive has asked for:", i, c->nmsgs,
                c->nmsgs > 1 ? "s" : "");
        for (int m = 0; m < c->nmsgs && m < MESSAGES_SHOWN; m++) {
            fprintf(out, "%s %lld bytes with ", m ? "," : "", (long long)c->msg[m].bytes);
            put_tag(out, &c->msg[m]);
            fputs(" from ", out);
            put_peer(out, &c->msg[m], false);
            put_comm(out, &c->msg[m]);
        }
        fputs(c->nmsgs > MESSAGES_SHOWN ? ", ...\n" : "\n", out);
    }
    if (more)
        fprintf(out, "mpiexec:   and %d more ranks have such messages\n", more);
}

/* ---- who waits for whom ---- */

/* The rank that r waits for first, or -1. */
static int next_of(const struct hang_rank *r)
{
    if (!r->answered)
        return -1;
    for (int i = 0; i < r->call->nops && i < KU_CALL_OPS; i++) {
        const struct ku_seg_op *op = &r->call->op[i];
        if (op->grank >= 0 && op->grank < nranks && &ranks[op->grank] != r)
            return op->grank;
        if (op->waited)
            return -1;
    }
    for (int i = 0; i < nranks && ends(r); i++)
        if (!ends(&ranks[i]) && ranks[i].pid != 0 && ranks[i].state == KU_RANK_RUNNING)
            return i;
    return -1;
}

static void put_waiter(FILE *out, int i)
{
    const struct hang_rank *r = &ranks[i];
    char *text = NULL;
    fprintf(out,
            r->answered || r->state != KU_RANK_RUNNING || r->pid == 0 || r->asleep ? "rank %d "
                                                                                   : "rank %d is ",
            i);
    if (ends(r)) {
        fputs("has called MPI_Finalize", out);
        return;
    }
    if (!r->answered) {
        fputs(text = describe(r, false), out);
        free(text);
        return;
    }
    fputs("waits in ", out);
    put_call(out, r, false);
}

/* A message is there from the right rank, but with another tag. */
static void put_wrong_tag(FILE *out, int i)
{
    const struct ku_seg_op *op = first_op(&ranks[i]);
    const struct ku_seg_call *c = ranks[i].call;
    if (op == NULL || op->kind == KU_OP_SEND || op->context != 0)
        return;
    for (int m = 0; m < c->nmsgs && m < KU_CALL_MSGS; m++)
        if (c->msg[m].comm == op->comm && (c->msg[m].lrank == op->lrank || op->lrank == MPI_ANY_SOURCE) &&
            c->msg[m].tag != op->tag && op->tag != MPI_ANY_TAG) {
            fprintf(out, "mpiexec:   rank %d waits for tag %d, but what has come from rank %d has tag %d\n",
                    i, op->tag, c->msg[m].grank >= 0 ? c->msg[m].grank : c->msg[m].lrank, c->msg[m].tag);
            return;
        }
}

/* The cycle that begins with `start`; of neighbours in one collective call the first is named. */
static void put_cycle(FILE *out, int start)
{
    int i = start, before = -1, shown = 0;
    fputs("mpiexec:   ", out);
    do {
        if (before < 0 ||
            !(same_collective(&ranks[before], &ranks[i]) || same_collective(&ranks[start], &ranks[i]))) {
            fputs(before < 0 ? "" : "; ", out);
            if (shown++ == CYCLE_SHOWN) {
                fprintf(out, "... and so on, back to rank %d", start);
                break;
            }
            put_waiter(out, i);
        }
        before = i;
        i = next_of(&ranks[i]);
    } while (i != start);
    fputc('\n', out);
}

/* The ranks that come to `end` when one follows who waits for whom. */
static void put_end(FILE *out, int end, const int *last, unsigned char *mark)
{
    int n = 0;
    for (int i = 0; i < nranks; i++) {
        mark[i] = i != end && last[i] == end;
        n += mark[i];
    }
    if (n == 0)
        return;
    fputs("mpiexec:   ", out);
    put_ranks(out, mark);
    fprintf(out, n > 1 ? " wait for rank %d: " : " waits for rank %d: ", end);
    put_waiter(out, end);
    fputc('\n', out);
}

/* The least rank of the cycle that `at` is in. */
static int least_of(int at)
{
    int least = at;
    for (int i = next_of(&ranks[at]); i != at; i = next_of(&ranks[i]))
        least = i < least ? i : least;
    return least;
}

/* last[i]: where one comes from i: a rank that waits for nobody known, or the least rank of a cycle. */
static void follow(int *last, unsigned char *cycle)
{
    for (int i = 0; i < nranks; i++) {
        int at = i, steps = 0, next;
        while ((next = next_of(&ranks[at])) >= 0 && steps++ <= nranks)
            at = next;
        last[i] = next < 0 ? at : least_of(at);
        if (next >= 0)
            cycle[last[i]] = 1;
    }
}

static void put_graph(FILE *out, unsigned char *mark, unsigned char *cycle)
{
    enum { SHOWN = 4 };
    int *last = xalloc((size_t)nranks, sizeof *last), shown = 0;
    memset(cycle, 0, (size_t)nranks);
    follow(last, cycle);
    for (int i = 0; i < nranks && shown < SHOWN; i++) {
        if (last[i] != i)
            continue;
        shown++;
        if (cycle[i])
            put_cycle(out, i);
        else
            put_end(out, i, last, mark);
    }
    for (int i = 0, told = 0; i < nranks && told < SHOWN; i++, told++)
        if (ranks[i].answered)
            put_wrong_tag(out, i);
    free(last);
}

void hang_text(FILE *out, struct hang_rank *all, int n)
{
    unsigned char *mark = xalloc((size_t)n, 1), *done = xalloc((size_t)n, 1);
    ranks = all;
    nranks = n;
    for (int i = 0; i < n; i++)
        if (ranks[i].answered && ranks[i].call->caller)
            ranks[i].where = hang_where(ranks[i].pid, ranks[i].call->caller);
    describe_all(false);
    if (count_groups() > GROUPS_MAX)
        describe_all(true);
    for (int i = 0; i < n; i++)
        if (!done[i])
            put_group(out, i, mark, done);
    put_messages(out);
    put_graph(out, mark, done);
    free(mark);
    free(done);
}
