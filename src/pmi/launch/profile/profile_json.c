/* SPDX-License-Identifier: BSD-3-Clause */
/* profile_json.c: the profile as JSON; its form is described in doc/profiling.md. */
#include "config.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include "pmi/launch/job/launch.h"
#include "profile_report.h"
#include "util/faults.h"
#include "util/json.h"

/* ", " between what stands in a list or an object. */
struct comma {
    FILE *out;
    bool any;
};

static void json_next(struct comma *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void json_next(struct comma *c, const char *fmt, ...)
{
    va_list ap;
    fputs(c->any ? "," : "", c->out);
    c->any = true;
    va_start(ap, fmt);
    vfprintf(c->out, fmt, ap);
    va_end(ap);
}

static void put_sum(FILE *out, const struct ku_profiled_sum *s)
{
    fprintf(out,
            "\"calls\":%" PRIu64
            ",\"seconds\":%.9f,\"waiting\":%.9f,\"waiting_for_late\":%.9f,\"bytes\":%" PRIu64,
            s->calls, (double)s->ns * 1e-9, (double)s->waited * 1e-9, (double)s->late * 1e-9, s->bytes);
}

static void put_cut(FILE *out, const char *key, const char *text, int len)
{
    char *copy = xformat("%.*s", len, text);
    fprintf(out, ",\"%s\":", key);
    ku_json_string(out, copy);
    free(copy);
}

/* {"call": ..., "where": ..., "file": ..., "line": ..., "function": ...} without the braces */
static void put_place(FILE *out, const char *call, const char *place)
{
    struct ku_place p = ku_place_of(place);
    fputs("\"call\":", out);
    ku_json_string(out, call);
    fputs(",\"where\":", out);
    ku_json_string(out, ku_place_name(place));
    if (p.path_len > 0)
        put_cut(out, "file", p.path, p.path_len);
    if (p.line)
        fprintf(out, ",\"line\":%d", (int)p.line);
    if (p.function_len > 0)
        put_cut(out, "function", p.function, p.function_len);
}

static void put_totals(FILE *out, const struct prof_total *t)
{
    put_sum(out, &t->sum);
    fprintf(out,
            ",\"ranks\":%d,\"least\":{\"seconds\":%.9f,\"rank\":%d},\"most\":{\"seconds\":%.9f,\"rank\":%d}",
            t->ranks, (double)t->least_ns * 1e-9, t->least_rank, (double)t->most_ns * 1e-9, t->most_rank);
}

static void json_ranks(FILE *out, const struct prof_all *a)
{
    struct comma c = { out, false };
    fputs(",\n\"ranks\":[", out);
    for (int i = 0; i < a->size; i++) {
        const struct prof_rank *r = &a->rank[i];
        if (!r->there)
            continue;
        json_next(&c, "\n{\"rank\":%d,\"host\":", i);
        ku_json_string(out, launch_host(a->launch, i));
        fprintf(out, ",\"node\":%d,\"ended\":%s,\"run_seconds\":%.9f,\"caused\":%.9f,\"memory\":%" PRIu64 ",",
                a->launch->node_of[i], r->ended ? "true" : "false", (double)r->ran * 1e-9,
                (double)a->caused[i] * 1e-9, r->memory);
        put_sum(out, &r->all);
        const struct prof_place *in = r->inside_for ? prof_place_of(r, r->inside) : NULL;
        if (in) {
            fprintf(out, ",\"inside\":{\"seconds\":%.9f,", (double)r->inside_for * 1e-9);
            put_place(out, in->call, in->place);
            putc('}', out);
        }
        putc('}', out);
    }
    putc(']', out);
}

static void json_calls(FILE *out, const struct prof_all *a)
{
    struct comma c = { out, false };
    fputs(",\n\"calls\":[", out);
    for (int i = 0; i < a->ncalls; i++) {
        json_next(&c, "\n{\"call\":\"%s\",", a->call[i].name);
        put_totals(out, &a->call[i]);
        putc('}', out);
    }
    fputs("],\n\"places\":[", out);
    c.any = false;
    for (int i = 0; i < a->nsites; i++) {
        json_next(&c, "\n{");
        put_place(out, a->site[i].name, a->site[i].place);
        fprintf(out, ",\"longest\":%.9f,", (double)a->site[i].longest * 1e-9);
        put_totals(out, &a->site[i]);
        putc('}', out);
    }
    fputs("],\n\"communicators\":[", out);
    c.any = false;
    for (int i = 0; i < a->ncomms; i++) {
        json_next(&c, "\n{\"name\":");
        ku_json_string(out, a->comm[i].name);
        fprintf(out, ",\"size\":%d,\"context\":%" PRIu32 ",", a->comm[i].size, a->comm[i].context);
        put_totals(out, &a->comm[i]);
        putc('}', out);
    }
    putc(']', out);
}

static void json_classes(FILE *out, const struct prof_all *a)
{
    struct comma c = { out, false };
    fputs(",\n\"sizes\":[", out);
    for (int k = 0; k < KU_PROFILED_CLASSES; k++) {
        struct ku_profiled_sum s = { 0 };
        uint64_t sent = 0;
        for (int i = 0; i < a->size; i++) {
            prof_add(&s, &a->rank[i].by_class[k]);
            sent += a->rank[i].sent[k];
        }
        if (s.calls == 0 && sent == 0)
            continue;
        json_next(&c, "\n{\"least\":%" PRIu64 ",\"messages\":%" PRIu64 ",", k ? (uint64_t)1 << (k - 1) : 0,
                  sent);
        put_sum(out, &s);
        putc('}', out);
    }
    putc(']', out);
}

static void json_side(FILE *out, const char *key, const struct prof_place *p)
{
    if (!p)
        return;
    fprintf(out, ",\"%s\":{", key);
    put_place(out, p->call, p->place);
    putc('}', out);
}

static void json_culprits(FILE *out, const struct prof_all *a)
{
    struct comma c = { out, false };
    fputs(",\n\"waits\":[", out);
    for (int i = 0; i < a->nculprits; i++) {
        const struct prof_culprit *w = &a->culprit[i];
        json_next(&c,
                  "\n{\"why\":\"%s\",\"rank\":%d,\"ranks\":%d,\"for\":%d,\"times\":%" PRIu64
                  ",\"seconds\":%.9f,\"longest\":%.9f",
                  prof_whys[w->why], w->rank, w->ranks, w->peer, w->n, (double)w->ns * 1e-9,
                  (double)w->most * 1e-9);
        json_side(out, "here", w->here);
        json_side(out, "there", w->there);
        putc('}', out);
    }
    putc(']', out);
}

static void json_messages(FILE *out, const struct prof_all *a)
{
    struct comma c = { out, false };
    fputs(",\n\"messages\":[", out);
    for (int i = 0; i < a->size; i++)
        for (int k = 0; k < a->rank[i].npairs; k++) {
            const struct prof_pair *q = &a->rank[i].pair[k];
            json_next(
                &c, "\n{\"from\":%d,\"to\":%d,\"messages\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"device\":", i,
                q->peer, q->n, q->bytes);
            ku_json_string(out, q->device);
            json_side(out, "place", prof_place_of(&a->rank[i], q->site));
            putc('}', out);
        }
    putc(']', out);
}

void prof_json(FILE *out, const struct prof_all *a)
{
    fprintf(
        out,
        "{\"tool\":\"mpiexec -profile\",\"version\":\"%s\",\"form\":1,\"job_ranks\":%d,\"run_seconds\":%.9f,",
        PACKAGE_VERSION, a->size, (double)a->ran * 1e-9);
    put_sum(out, &a->all);
    json_ranks(out, a);
    json_calls(out, a);
    json_classes(out, a);
    json_culprits(out, a);
    json_messages(out, a);
    fputs("}\n", out);
}
