/* SPDX-License-Identifier: BSD-3-Clause */
/* count.c: what collectives count and tell of themselves: calls by kind and algorithm, the last one, and each that
 * begins.  A collective of one process counts nothing: it chooses nothing. */
#include "config.h"
#include "coll.h"
#include <stdio.h>
#include <stdlib.h>
#include "util/counter.h"
#include "util/event.h"

enum { ALGS = 16 };

static uint64_t calls[COLL_TABLES][ALGS]; /* by algorithm, from 1; 0: all */
static uint32_t last;                     /* kind + 1; 0: none yet */

static const char *words[1 + COLL_TABLES];
static const struct ku_names kinds = { "keel_collectives", 1 + COLL_TABLES, words };

static const char *const begun_says[] = { "collective", "algorithm", "ranks", "bytes", "context" };
static struct ku_event begun = {
    .name = "collective_begun",
    .help = "a collective operation of several processes begins; collective is one of keel_collectives, "
            "algorithm "
            "its place among that collective's, from 1, bytes what the choice among them went by",
    .elements = { "keel_event_collective_begun", 5, begun_says },
    .types = "iiini",
};
static struct ku_event_table events = { .rows = &begun, .n = 1, .area = "mpi.coll" };

static void count_count(enum coll_kind kind, int row)
{
    calls[kind][0]++;
    calls[kind][row]++;
    last = 1 + kind;
}

void MPIR_Coll_count(const struct coll *c, const struct coll_alg *a, const struct coll_size *s)
{
    int row = 1 + (int)(a - MPIR_Coll_tables[c->kind].algs);
    count_count(c->kind, row);
    ku_event_tell(&begun, (const int64_t[]){ last, row, s->p, s->bytes, (int32_t)c->comm->adi.context_id });
}

void MPIR_Coll_counted(enum coll_kind kind, int row, const MPIR_Comm *comm, int64_t bytes)
{
    count_count(kind, row);
    ku_event_tell(&begun,
                  (const int64_t[]){ last, row, comm->adi.size, bytes, (int32_t)comm->adi.context_id });
}

/* ---- Rows, made when somebody asks: one a kind, one an algorithm ---- */

struct made {
    struct ku_counter row;
    char name[48], help[160];
};
static struct made *made;
static struct ku_counter *rows;

static int count_algs(enum coll_kind kind)
{
    int n = 0;
    while (MPIR_Coll_tables[kind].algs[n].name && n + 1 < ALGS)
        n++;
    return n;
}

static void make_row(struct made *m, enum coll_kind kind, int alg)
{
    const struct coll_table *t = &MPIR_Coll_tables[kind];
    const char *name = alg ? t->algs[alg - 1].name : "";
    snprintf(m->name, sizeof m->name, "coll_%s%s%s", t->name, alg ? "_" : "", name);
    snprintf(m->help, sizeof m->help, "calls of %s of several processes%s%s%s", t->name,
             alg ? " by the algorithm " : "", name, alg ? "" : ", in any form");
    m->row = (struct ku_counter){ .name = m->name,
                                  .of = KU_COUNT,
                                  .audience = alg ? KU_FOR_TUNERS : KU_FOR_USERS,
                                  .at = &calls[kind][alg],
                                  .size = sizeof calls[kind][alg],
                                  .help = m->help };
}

static void make_rows(struct ku_counter_table *table)
{
    int n = 1, i = 0;
    for (int k = 0; k < COLL_TABLES; k++)
        n += 1 + count_algs(k);
    made = calloc((size_t)n, sizeof *made);
    rows = calloc((size_t)n, sizeof *rows);
    if (!made || !rows)
        return;
    words[0] = "none";
    for (int k = 0; k < COLL_TABLES; k++)
        words[1 + k] = MPIR_Coll_tables[k].name;
    rows[i++] =
        (struct ku_counter){ .name = "last_collective",
                             .of = KU_STATE,
                             .names = &kinds,
                             KU_AT(last),
                             .help = "the collective operation of several processes that began last" };
    for (int k = 0; k < COLL_TABLES; k++)
        for (int a = 0; a <= count_algs(k); a++, i++) {
            make_row(&made[i], k, a);
            rows[i] = made[i].row;
        }
    table->rows = rows;
    table->n = n;
}

static struct ku_counter_table counts = { .fill = make_rows, .area = "mpi.coll" };

__attribute__((constructor)) static void add_rows(void)
{
    ku_counter_add(&counts);
    ku_event_add(&events);
}

__attribute__((destructor)) static void drop_rows(void)
{
    counts.n = 0;
    free(made);
    free(rows);
}
