/* SPDX-License-Identifier: BSD-3-Clause */
/* hang_text.c: the roll-call in words: equal ranks together, and the messages that wait. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "pmi/launch/job/ranks.h"
#include "hang.h"
#include "hang_text.h"
#include "pmi/launch/job/launch.h"
#include "mpi_const.h"
#include "pmi/pmi_wire.h"
#include "util/clock.h"

enum {
    GROUPS_MAX = 16 /* lines; beyond it ranks that differ in the peer only are one line */,
    OPS_SHOWN = 3,
    MESSAGES_SHOWN = 3,
    MESSAGE_RANKS = 8
};

static struct hang_rank *ranks;
static int nranks;

/* ---- the words ---- */

const struct ku_seg_op *hang_first_op(const struct hang_rank *r)
{
    return r->answered && r->call->nops > 0 ? &r->call->op[0] : NULL;
}

static const char *call_name(const struct hang_rank *r)
{
    return r->call->call[0] ? r->call->call : "the library";
}

/* The collective operation that a rank is in. */
const char *hang_collective(const struct hang_rank *r)
{
    return r->call->what[0] ? r->call->what : r->call->call;
}

/* Communicators without a common member may have the same context id. */
bool hang_same_comm(const struct hang_rank *a, const struct hang_rank *b)
{
    return hang_first_op(a)->comm == hang_first_op(b)->comm &&
           memcmp(a->call->members, b->call->members, sizeof a->call->members) == 0;
}

bool hang_is_collective(const struct hang_rank *r)
{
    return hang_first_op(r) != NULL && hang_first_op(r)->context != 0;
}

bool hang_same_collective(const struct hang_rank *a, const struct hang_rank *b)
{
    return hang_is_collective(a) && hang_is_collective(b) && hang_same_comm(a, b) &&
           strcmp(hang_collective(a), hang_collective(b)) == 0;
}

double hang_waited(const struct hang_rank *r)
{
    uint64_t t = ku_clock_ns();
    return r->answered && r->asleep && t > r->since ? (double)(t - r->since) * 1e-9 : 0;
}

void hang_put_comm(FILE *out, const struct ku_seg_op *op)
{
    if (op->comm_name[0])
        fprintf(out, " on %s", op->comm_name);
    else if (op->comm_size)
        fprintf(out, " on a communicator of %d rank%s (number %u)", op->comm_size,
                op->comm_size > 1 ? "s" : "", op->comm);
}

static void put_tag(FILE *out, const struct ku_seg_op *op)
{
    if (op->tag == MPI_ANY_TAG)
        fputs("any tag", out);
    else
        fprintf(out, "tag %d", op->tag);
}

static void put_other(FILE *out, const struct ku_seg_op *op)
{
    fprintf(out, "rank %d of job %08x", op->there, (unsigned)op->job);
}

/* `self`: of whom this is told; -1: of several ranks, which differ in the peer. */
static void put_peer(FILE *out, const struct ku_seg_op *op, int self)
{
    if (op->lrank == MPI_ANY_SOURCE)
        fputs("any rank", out);
    else if (self < 0)
        fputs("different ranks", out);
    else if (op->job != 0)
        put_other(out, op);
    else if (op->grank == self)
        fputs("itself", out);
    else
        fprintf(out, "rank %d", op->grank >= 0 ? op->grank : op->lrank);
}

/* "for tag 7 from rank 1" */
static void put_op(FILE *out, const struct ku_seg_op *op, int self)
{
    if (op->kind == KU_OP_OTHER) {
        fputs("for a request that is no single message", out);
        return;
    }
    if (op->kind == KU_OP_PART_SEND) {
        fputs("to send partitions with ", out);
        put_tag(out, op);
        if (op->bytes)
            fprintf(out, " (%lld not ready)", (long long)op->bytes);
        fputs(" to ", out);
    } else if (op->kind == KU_OP_PART_RECV) {
        fputs("for partitions with ", out);
        put_tag(out, op);
        fputs(" from ", out);
    } else if (op->kind == KU_OP_SEND) {
        if (self < 0)
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
    put_peer(out, op, self);
}

static bool same_name(const struct ku_seg_op *a, const struct ku_seg_op *b)
{
    return a->comm == b->comm && a->comm_size == b->comm_size && strcmp(a->comm_name, b->comm_name) == 0;
}

static void put_ops(FILE *out, const struct ku_seg_call *c, int self)
{
    fprintf(out, ", %s%d %s not complete", c->any ? "for any of " : "", c->nops,
            c->op[0].waited ? "requests" : "operations");
    for (int i = 0; i < c->nops && i < OPS_SHOWN && self >= 0; i++) {
        bool last = i + 1 == c->nops || i + 1 == OPS_SHOWN;
        fputs(i ? ", " : ": ", out);
        put_op(out, &c->op[i], self);
        if (last || !same_name(&c->op[i], &c->op[i + 1]))
            hang_put_comm(out, &c->op[i]);
    }
    if (c->nops > OPS_SHOWN && self >= 0)
        fprintf(out, ", and %d more", c->nops - OPS_SHOWN);
}

/* The call, and what it is for. */
static void put_call(FILE *out, const struct hang_rank *r, int self)
{
    const struct ku_seg_call *c = r->call;
    const struct ku_seg_op *op = hang_first_op(r);
    fprintf(out, "%s%s", call_name(r), c->polls ? " again and again" : "");
    if (op == NULL)
        return;
    if (c->what[0] && (op->context != 0 || c->nops == 1))
        fprintf(out, " for %s", c->what);
    if (op->context != 0) {
        hang_put_comm(out, op);
        if (op->job != 0 && self >= 0) {
            fputs(", for ", out);
            put_other(out, op);
        }
    } else if (c->nops == 1) {
        fputc(' ', out);
        put_op(out, op, self);
        hang_put_comm(out, op);
    } else {
        put_ops(out, c, self);
    }
}

void hang_put_link(FILE *out, const struct hang_rank *r, const struct ku_seg_op *op)
{
    const struct ku_seg_call *c = r->call;
    if (op == NULL || op->context != 0 || c->nops == 1) {
        put_call(out, r, (int)(r - ranks));
        return;
    }
    fprintf(out, "%s ", call_name(r));
    put_op(out, op, (int)(r - ranks));
    hang_put_comm(out, op);
    fprintf(out, " (%s %d more)", c->any ? "or for" : "and", c->nops - 1);
}

void hang_put_state(FILE *out, const struct hang_rank *r)
{
    char buf[256];
    if (r->pid == 0) {
        if (WIFSIGNALED(r->status))
            fprintf(out, "has been ended by signal %d", WTERMSIG(r->status));
        else
            fprintf(out, "has ended with exit code %d", WEXITSTATUS(r->status));
        return;
    }
    const char *process = hang_process_of(r, buf, sizeof buf);
    if (r->state == KU_RANK_STARTED)
        fprintf(out, "has not called MPI_Init; %s", process);
    else if (r->state == KU_RANK_FINALIZED)
        fprintf(out, "has finished with MPI; %s", process);
    else if (r->state == KU_RANK_RESTING)
        fprintf(out, "has no session now; %s", process);
    else if (r->asleep)
        fprintf(out, "waits in MPI, and does not answer; %s", process);
    else
        fprintf(out, "outside MPI, %s", process);
}

/* Line `which` of the places. */
static void put_place(FILE *out, const struct hang_rank *r, int which)
{
    const char *where = r->where;
    for (; where && which > 0; which--) {
        where = strchr(where, '\n');
        where += where != NULL;
    }
    int len = where ? (int)strcspn(where, "\n") : 0;
    if (len > 0)
        fprintf(out, ", at %.*s", len, where);
}

/* Its other threads that wait. */
static void put_threads(FILE *out, const struct hang_rank *r, int self)
{
    const struct ku_seg_call *c = r->call;
    for (int i = 0; i < c->nthreads && i < KU_CALL_THREADS; i++) {
        const struct ku_seg_thread *t = &c->thread[i];
        fprintf(out, "; a thread waits in %s", t->call[0] ? t->call : "the library");
        if (t->nops > 0 && t->op.context == 0) {
            fputc(' ', out);
            put_op(out, &t->op, self);
        }
        if (t->nops > 0)
            hang_put_comm(out, &t->op);
        if (t->nops > 1)
            fprintf(out, " (and %d more)", t->nops - 1);
        put_place(out, r, i + 1);
    }
    if (c->nthreads > KU_CALL_THREADS)
        fprintf(out, "; and %d more threads", c->nthreads - KU_CALL_THREADS);
}

static char *describe(const struct hang_rank *r, bool brief)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        die("no memory for the report on what the ranks wait for");
    if (r->answered) {
        put_call(out, r, brief ? -1 : (int)(r - ranks));
        put_place(out, r, 0);
        put_threads(out, r, brief ? -1 : (int)(r - ranks));
    } else {
        hang_put_state(out, r);
    }
    if (fclose(out) != 0)
        die("no memory for the report on what the ranks wait for");
    return text;
}

/* "rank 3" or "ranks 0-2, 5" of those with the mark. */
void hang_put_ranks(FILE *out, const unsigned char *mark)
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
    return strcmp(a->waits_for, b->waits_for) == 0 && (!hang_is_collective(a) || hang_same_collective(a, b));
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

bool hang_is_member(const struct hang_rank *of, int i)
{
    const struct ku_seg_op *op = hang_first_op(of);
    if (op->comm_size == nranks)
        return true;
    return of->call->comm == op->comm && of->call->comm_size > 0 && i < KU_CALL_MEMBERS &&
           of->call->members[i / 8] >> i % 8 & 1;
}

/* Which members of the communicator of r's collective call are elsewhere? */
static void put_absent(FILE *out, const struct hang_rank *r, unsigned char *mark)
{
    int n = 0;
    for (int i = 0; i < nranks; i++) {
        mark[i] = hang_is_member(r, i) && !hang_same_collective(r, &ranks[i]);
        n += mark[i];
    }
    if (n > 0) {
        fputs("; not there: ", out);
        hang_put_ranks(out, mark);
    }
}

/* How long the ranks of a group wait, or how long ago those that are outside were seen in MPI last. */
struct times {
    double least, most;
};

static void add_time(struct times *t, double seconds)
{
    t->least = seconds < t->least ? seconds : t->least;
    t->most = seconds > t->most ? seconds : t->most;
}

static void put_times(FILE *out, const struct times *t, const char *before, const char *after)
{
    if (t->most >= t->least + 0.1)
        fprintf(out, "%s%.1f to %.1f s%s", before, t->least, t->most, after);
    else if (t->most > 0)
        fprintf(out, "%s%.1f s%s", before, t->most, after);
}

static void put_group(FILE *out, int first, unsigned char *mark, unsigned char *done)
{
    const struct hang_rank *r = &ranks[first];
    struct times waits = { 1e18, 0 }, seen = { 1e18, 0 };
    uint64_t now = ku_clock_ns();
    for (int i = 0; i < nranks; i++) {
        mark[i] = !done[i] && equal(r, &ranks[i]);
        if (!mark[i])
            continue;
        done[i] = 1;
        add_time(&waits, hang_waited(&ranks[i]));
        if (now > ranks[i].seen && ranks[i].seen)
            add_time(&seen, (double)(now - ranks[i].seen) * 1e-9);
    }
    fputs("mpiexec:   ", out);
    hang_put_ranks(out, mark);
    fprintf(out, ": %s", r->waits_for);
    if (r->answered)
        put_times(out, &waits, ", for ", "");
    else if (r->state == KU_RANK_RUNNING && r->pid != 0)
        put_times(out, &seen, "; last seen in MPI ", " ago");
    if (hang_is_collective(r))
        put_absent(out, r, mark);
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
            put_peer(out, &c->msg[m], i);
            hang_put_comm(out, &c->msg[m]);
        }
        if (c->nmsgs > MESSAGES_SHOWN)
            fprintf(out, ", and %d more", c->nmsgs - MESSAGES_SHOWN);
        fputc('\n', out);
    }
    if (more)
        fprintf(out, "mpiexec:   and %d more ranks have such messages\n", more);
}

/* Where several jobs talk to each other, each says which it is. */
static void put_job(FILE *out)
{
    uint64_t spawner;
    int rank;
    bool spawned = crew.launch->spawned && pmi_keel_spawner(&spawner, &rank), met = spawned || crew.jobs > 0;
    for (int i = 0; i < nranks && !met; i++)
        met = ranks[i].answered && ranks[i].call->others & KU_OTHERS_MET;
    if (!met)
        return;
    fprintf(out, "mpiexec:   this is job %08x, of %d rank%s of %s", (unsigned)crew.job_id, nranks,
            nranks > 1 ? "s" : "", crew.launch->apps[0].argv[0]);
    if (spawned)
        fprintf(out, ", which rank %d of job %08x has spawned", rank, (unsigned)spawner);
    fputc('\n', out);
}

void hang_text(FILE *out, struct hang_rank *all, int n, bool family)
{
    unsigned char *mark = xalloc((size_t)n, 1), *done = xalloc((size_t)n, 1);
    ranks = all;
    nranks = n;
    for (int i = 0; i < n; i++)
        if (ranks[i].answered && !ranks[i].far)
            ranks[i].where = hang_places(ranks[i].pid, ranks[i].call);
    put_job(out);
    describe_all(false);
    if (count_groups() > GROUPS_MAX)
        describe_all(true);
    for (int i = 0; i < n; i++)
        if (!done[i])
            put_group(out, i, mark, done);
    put_messages(out);
    hang_graph(out, ranks, n, family);
    free(mark);
    free(done);
}
