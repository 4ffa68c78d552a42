/* SPDX-License-Identifier: BSD-3-Clause */
/* profile_text.c: the profile as a page of text (doc/profiling.md). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "pmi/launch/job/launch.h"
#include "profile_report.h"
#include "util/faults.h"

enum { ROWS = 20 /* of a table */, MATRIX = 12 /* ranks for which there is a matrix */, RANKS = 32 };

static double seconds(uint64_t ns)
{
    return (double)ns * 1e-9;
}

static double megabytes(uint64_t bytes)
{
    return (double)bytes * 1e-6;
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100 * (double)part / (double)whole : 0;
}

static void put_head(FILE *out, const struct prof_all *a)
{
    int ended = 0, least = -1, most = -1;
    for (int i = 0; i < a->size; i++) {
        if (!a->rank[i].there)
            continue;
        ended += a->rank[i].ended;
        least = least < 0 || a->rank[i].all.ns < a->rank[least].all.ns ? i : least;
        most = most < 0 || a->rank[i].all.ns > a->rank[most].all.ns ? i : most;
    }
    double n = a->there;
    fprintf(out, "keel: profile of %d rank%s: %.3f s from MPI_Init to %s\n", a->there,
            a->there > 1 ? "s" : "", seconds(a->ran) / n,
            ended == a->there ? "MPI_Finalize" : "now, or to its end");
    fprintf(out,
            "in MPI %.3f s a rank, %.1f %%: %.3f s (rank %d) to %.3f s (rank %d); waiting %.3f s a rank\n",
            seconds(a->all.ns) / n, percent(a->all.ns, a->ran), seconds(a->rank[least].all.ns), least,
            seconds(a->rank[most].all.ns), most, seconds(a->all.waited) / n);
    fprintf(out, "of that %.3f s for ranks that were late\n", seconds(a->all.late) / n);
    if (ended < a->there)
        fprintf(out, "%d of them have not come to MPI_Finalize\n", a->there - ended);
}

/* Time outside of MPI is the program's own: how much longer than the mean does the slowest take? */
static void put_imbalance(FILE *out, const struct prof_all *a)
{
    uint64_t sum = 0, most = 0;
    int rank = -1;
    for (int i = 0; i < a->size; i++) {
        const struct prof_rank *r = &a->rank[i];
        uint64_t own = r->there && r->ran > r->all.ns ? r->ran - r->all.ns : 0;
        sum += own;
        if (r->there && (rank < 0 || own > most)) {
            most = own;
            rank = i;
        }
    }
    double mean = seconds(sum) / a->there;
    fprintf(out, "outside of MPI %.3f s a rank; most: %.3f s (rank %d), %.2f times the mean\n", mean,
            seconds(most), rank, mean > 0 ? seconds(most) / mean : 1);
}

static void put_inside(FILE *out, const struct prof_rank *r)
{
    const struct prof_place *in = r->inside_for ? prof_place_of(r, r->inside) : NULL;
    if (in)
        fprintf(out, "  in %s, %s for %.1f s", in->call, ku_place_name(in->place), seconds(r->inside_for));
}

/* Of many ranks those that are the most for something. */
static bool is_shown(const struct prof_all *a, int rank)
{
    uint64_t more_mpi = 0, more_caused = 0, more_own = 0;
    const struct prof_rank *r = &a->rank[rank];
    if (!r->there || a->there <= RANKS)
        return r->there;
    for (int i = 0; i < a->size; i++) {
        more_mpi += a->rank[i].all.ns > r->all.ns;
        more_caused += a->caused[i] > a->caused[rank];
        more_own += a->rank[i].ran - a->rank[i].all.ns > r->ran - r->all.ns;
    }
    return more_mpi < 5 || more_caused < 5 || more_own < 5;
}

static void put_ranks(FILE *out, const struct prof_all *a)
{
    fprintf(out, "\n%6s %-20s %10s %10s %6s %10s %10s %10s %10s\n", "rank", "host", "s", "s in MPI", "%",
            "waiting", "for late", "caused", "memory MB");
    for (int i = 0; i < a->size; i++) {
        const struct prof_rank *r = &a->rank[i];
        if (!is_shown(a, i))
            continue;
        fprintf(out, "%6d %-20.20s %10.3f %10.3f %6.1f %10.3f %10.3f %10.3f %10.1f", i,
                launch_host(a->launch, i), seconds(r->ran), seconds(r->all.ns), percent(r->all.ns, r->ran),
                seconds(r->all.waited), seconds(r->all.late), seconds(a->caused[i]), megabytes(r->memory));
        put_inside(out, r);
        putc('\n', out);
    }
}

static void put_rest(FILE *out, int n)
{
    if (n > ROWS)
        fprintf(out, "... and %d more\n", n - ROWS);
}

static void put_total(FILE *out, const struct prof_all *a, const struct prof_total *t)
{
    fprintf(out, " %10" PRIu64 " %10.3f %6.1f %10.3f %10.3f %10.3f %6d %10.3f %6d %12.3f\n", t->sum.calls,
            seconds(t->sum.ns) / a->there, percent(t->sum.ns, a->ran), seconds(t->sum.waited) / a->there,
            seconds(t->sum.late) / a->there, seconds(t->least_ns), t->least_rank, seconds(t->most_ns),
            t->most_rank, megabytes(t->sum.bytes));
}

static void put_totals_head(FILE *out, const char *what, int width)
{
    fprintf(out, "\n%-*s %10s %10s %6s %10s %10s %10s %6s %10s %6s %12s\n", width, what, "calls", "s a rank",
            "%", "waiting", "for late", "least s", "rank", "most s", "rank", "MB");
}

static void put_calls(FILE *out, const struct prof_all *a)
{
    put_totals_head(out, "call", 28);
    for (int i = 0; i < a->ncalls; i++) {
        fprintf(out, "%-28s", a->call[i].name);
        put_total(out, a, &a->call[i]);
    }
}

static void put_sites(FILE *out, const struct prof_all *a)
{
    put_totals_head(out, "place", 56);
    for (int i = 0; i < a->nsites && i < ROWS; i++) {
        char *text = xformat("%s, %s", a->site[i].name, ku_place_name(a->site[i].place));
        fprintf(out, "%-56s", text);
        put_total(out, a, &a->site[i]);
        free(text);
    }
    put_rest(out, a->nsites);
}

static void put_comms(FILE *out, const struct prof_all *a)
{
    put_totals_head(out, "communicator", 28);
    for (int i = 0; i < a->ncomms && i < ROWS; i++) {
        const struct prof_total *c = &a->comm[i];
        char *text =
            xformat("%s (%d rank%s)", *c->name ? c->name : "unnamed", c->size, c->size > 1 ? "s" : "");
        fprintf(out, "%-28.60s", text);
        put_total(out, a, c);
        free(text);
    }
    put_rest(out, a->ncomms);
}

static void put_classes(FILE *out, const struct prof_all *a)
{
    fprintf(out, "\n%-16s %10s %10s %6s %10s %10s %12s %12s\n", "bytes", "calls", "s a rank", "%", "waiting",
            "for late", "MB", "messages");
    for (int c = 0; c < KU_PROFILED_CLASSES; c++) {
        struct ku_profiled_sum s = { 0 };
        uint64_t sent = 0;
        char text[16], label[24];
        for (int i = 0; i < a->size; i++) {
            prof_add(&s, &a->rank[i].by_class[c]);
            sent += a->rank[i].sent[c];
        }
        if (s.calls == 0 && sent == 0)
            continue;
        snprintf(label, sizeof label, c > 1 ? "%s and more" : "%s", prof_class(c, text));
        fprintf(out, "%-16s %10" PRIu64 " %10.3f %6.1f %10.3f %10.3f %12.3f %12" PRIu64 "\n", label, s.calls,
                seconds(s.ns) / a->there, percent(s.ns, a->ran), seconds(s.waited) / a->there,
                seconds(s.late) / a->there, megabytes(s.bytes), sent);
    }
}

static void put_place(FILE *out, const struct prof_place *p)
{
    if (p)
        fprintf(out, "%s, %s", p->call, ku_place_name(p->place));
    else
        fputs("a place that is not known", out);
}

static void put_culprits(FILE *out, const struct prof_all *a)
{
    fprintf(out, "\nwho waited for whom\n");
    for (int i = 0; i < a->nculprits && i < ROWS; i++) {
        const struct prof_culprit *c = &a->culprit[i];
        fprintf(out, "%10.3f s  ", seconds(c->ns));
        if (c->ranks > 1)
            fprintf(out, "%d ranks", c->ranks);
        else
            fprintf(out, "rank %d", c->rank);
        fprintf(out, " for rank %d, %s: in ", c->peer, prof_whys[c->why]);
        put_place(out, c->here);
        if (c->there && !(c->here && strcmp(c->here->place, c->there->place) == 0)) {
            fputs("; that one in ", out);
            put_place(out, c->there);
        }
        fprintf(out, " (%" PRIu64 " time%s, at most %.3f s)\n", c->n, c->n == 1 ? "" : "s", seconds(c->most));
    }
    if (a->nculprits == 0)
        fputs("           nobody\n", out);
    put_rest(out, a->nculprits);
}

/* ---- Messages ---- */

struct text_pair {
    int from, to;
    uint64_t n, bytes;
};

static int by_bytes(const void *a, const void *b)
{
    const struct text_pair *x = a, *y = b;
    return x->bytes < y->bytes   ? 1
           : x->bytes > y->bytes ? -1
           : x->n < y->n         ? 1
           : x->n > y->n         ? -1
                                 : x->from - y->from;
}

/* The pairs of all ranks, those of one rank together; to be freed. */
static struct text_pair *all_pairs(const struct prof_all *a, int *n)
{
    struct text_pair *all = NULL;
    int *at = xalloc((size_t)a->size, sizeof *at); /* of this rank: a peer's row and 1 */
    *n = 0;
    for (int i = 0; i < a->size; i++) {
        int first = *n;
        for (int k = 0; k < a->rank[i].npairs; k++) {
            const struct prof_pair *q = &a->rank[i].pair[k];
            if (at[q->peer] <= first) {
                all = xgrow(all, (size_t)*n + 1, sizeof *all);
                all[(*n)++] = (struct text_pair){ i, q->peer, 0, 0 };
                at[q->peer] = *n;
            }
            all[at[q->peer] - 1].n += q->n;
            all[at[q->peer] - 1].bytes += q->bytes;
        }
    }
    free(at);
    return all;
}

static void put_matrix(FILE *out, const struct prof_all *a, const struct text_pair *all, int n)
{
    fprintf(out, "\nmessages (MB) from the rank on the left to that on top\n%6s", "");
    for (int to = 0; to < a->size; to++)
        fprintf(out, " %20d", to);
    putc('\n', out);
    for (int from = 0; from < a->size; from++) {
        fprintf(out, "%6d", from);
        for (int to = 0; to < a->size; to++) {
            int i = 0;
            char text[64] = ".";
            while (i < n && (all[i].from != from || all[i].to != to))
                i++;
            if (i < n)
                snprintf(text, sizeof text, "%" PRIu64 " (%.3f)", all[i].n, megabytes(all[i].bytes));
            fprintf(out, " %20s", text);
        }
        putc('\n', out);
    }
}

static void put_messages(FILE *out, const struct prof_all *a)
{
    int n;
    struct text_pair *all = all_pairs(a, &n);
    if (n > 0 && a->size <= MATRIX)
        put_matrix(out, a, all, n);
    if (n > 0 && a->size > MATRIX) {
        qsort(all, (size_t)n, sizeof *all, by_bytes);
        fprintf(out, "\nmessages of %d pairs of ranks; most:\n%8s %8s %12s %14s\n", n, "from", "to",
                "messages", "MB");
        for (int i = 0; i < n && i < ROWS; i++)
            fprintf(out, "%8d %8d %12" PRIu64 " %14.3f\n", all[i].from, all[i].to, all[i].n,
                    megabytes(all[i].bytes));
        put_rest(out, n);
    }
    free(all);
}

static void put_devices(FILE *out, const struct prof_all *a)
{
    struct {
        const char *name;
        uint64_t n, bytes;
    } d[KU_PROFILED_DEVICES] = { { 0 } };
    for (int i = 0; i < a->size; i++)
        for (int k = 0; k < a->rank[i].npairs; k++) {
            const struct prof_pair *q = &a->rank[i].pair[k];
            int at = 0;
            while (at < KU_PROFILED_DEVICES - 1 && d[at].name && strcmp(d[at].name, q->device) != 0)
                at++;
            d[at].name = q->device;
            d[at].n += q->n;
            d[at].bytes += q->bytes;
        }
    if (d[0].name)
        fprintf(out, "\n%-16s %12s %14s\n", "device", "messages", "MB");
    for (int i = 0; i < KU_PROFILED_DEVICES && d[i].name; i++)
        fprintf(out, "%-16s %12" PRIu64 " %14.3f\n", d[i].name, d[i].n, megabytes(d[i].bytes));
}

static void put_lost(FILE *out, const struct prof_all *a)
{
    uint64_t lost = 0;
    for (int i = 0; i < a->size; i++)
        lost += a->rank[i].lost;
    if (lost > 0)
        fprintf(out,
                "\n%" PRIu64
                " times a table had no room: some rows are missing; the sums by call are whole\n",
                lost);
}

void prof_text(FILE *out, const struct prof_all *a)
{
    put_head(out, a);
    put_imbalance(out, a);
    put_ranks(out, a);
    put_calls(out, a);
    put_sites(out, a);
    put_culprits(out, a);
    put_comms(out, a);
    put_classes(out, a);
    put_messages(out, a);
    put_devices(out, a);
    put_lost(out, a);
}
