/* SPDX-License-Identifier: BSD-3-Clause */
/* bind_report.c: the plan as text: --report-bindings in Open MPI's form, --display-map. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "bind.h"
#include "pmi/launch/job/launch.h"

static bool has(const struct topology *t, const struct seat *s, int i)
{
    return CPU_ISSET((size_t)t->pu[i].os, &s->cpus);
}

/* The hardware threads from `first` on that lie in the same object; where they end. */
static int group_end(const struct topology *t, int first, enum level level)
{
    int i = first + 1;
    while (i < t->npus && t->pu[i].at[level] == t->pu[first].at[level])
        i++;
    return i;
}

/* Which of a core's threads: "0", "0-1", "1". */
static void write_threads(FILE *f, const struct topology *t, const struct seat *s, int core, int end)
{
    int first = -1, last = -1;
    for (int i = core; i < end; i++)
        if (has(t, s, i)) {
            first = first < 0 ? i - core : first;
            last = i - core;
        }
    fprintf(f, last > first ? "[hwt %d-%d]" : "[hwt %d]", first, last);
}

/* "socket 0[core 0[hwt 0-1]], socket 0[core 1[hwt 0-1]]: [BB/BB/../..][../../../..]" */
static void write_map(FILE *f, const struct topology *t, const struct seat *s)
{
    const char *between = "";
    for (int c = 0, end; c < t->npus; c = end) {
        bool any = false;
        end = group_end(t, c, AT_CORE);
        for (int i = c; i < end; i++)
            any |= has(t, s, i);
        if (!any)
            continue;
        int package = t->pu[c].at[AT_PACKAGE];
        fprintf(f, "%ssocket %d[core %d", between, package < 0 ? 0 : package, t->pu[c].at[AT_CORE]);
        write_threads(f, t, s, c, end);
        fputc(']', f);
        between = ", ";
    }
    fputs(": ", f);
    for (int p = 0, end; p < t->npus; p = end) {
        end = group_end(t, p, AT_PACKAGE);
        for (int c = p; c < end; c = group_end(t, c, AT_CORE)) {
            fputc(c == p ? '[' : '/', f);
            for (int i = c; i < group_end(t, c, AT_CORE); i++)
                fputc(has(t, s, i) ? 'B' : '.', f);
        }
        fputc(']', f);
    }
}

void bind_report(const struct launch *l, const struct topology *t, const struct seat *seats, const int *rank,
                 int count, const char *why)
{
    char *text = NULL, list[1024];
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    for (int r = 0; f && r < count; r++) {
        const struct seat *s = &seats[r];
        cpulist_write(&s->cpus, list, sizeof list);
        fprintf(f, "[%s:%d] MCW rank %d %s", l->host, (int)getpid(), rank[r],
                s->bound ? "bound to " : "is not bound");
        if (s->bound)
            write_map(f, t, s);
        else if (why)
            fprintf(f, ": %s", why);
        fprintf(f, "%s (cpus %s", s->bound && t->simulated ? ", on a simulated machine" : "", list);
        if (s->told)
            fprintf(f, "; OMP_NUM_THREADS=%d", s->told);
        fprintf(f, "%s)\n", s->gives_way ? "; OMP_WAIT_POLICY=passive" : "");
    }
    if (!f || fclose(f) != 0)
        die("out of memory");
    for (size_t done = 0; done < n;) {
        ssize_t k = write(2, text + done, n - done);
        if (k <= 0)
            break;
        done += (size_t)k;
    }
    free(text);
}

/* The numbers of the objects in which the rank's cpus lie, as a list. */
static const char *objects(const struct topology *t, const struct seat *s, enum level level, char *text,
                           size_t cap)
{
    cpu_set_t found;
    CPU_ZERO(&found);
    for (int i = 0; i < t->npus; i++)
        if (has(t, s, i) && t->pu[i].at[level] >= 0)
            CPU_SET((size_t)t->pu[i].at[level], &found);
    return CPU_COUNT(&found) ? cpulist_write(&found, text, cap) : "?";
}

void bind_display(const struct launch *l, const struct topology *t, const struct seat *seats, const int *rank,
                  int n)
{
    char package[256], numa[256], core[1024], cpu[1024];
    const int *c = t->count;
    printf("%s: %d package%s, %d NUMA node%s, %d core%s, %d hardware thread%s%s; %d rank%s on %d node%s\n",
           l->host, c[AT_PACKAGE], plural(c[AT_PACKAGE]), c[AT_NUMA], plural(c[AT_NUMA]), c[AT_CORE],
           plural(c[AT_CORE]), t->npus, plural(t->npus), t->simulated ? " (simulated)" : "", l->size,
           plural(l->size), l->nodes, plural(l->nodes));
    for (int r = 0; r < n; r++) {
        const struct seat *s = &seats[r];
        printf("rank %d: node %d package %s numa %s core %s cpu %s%s\n", rank[r], l->node_of[rank[r]],
               objects(t, s, AT_PACKAGE, package, sizeof package), objects(t, s, AT_NUMA, numa, sizeof numa),
               objects(t, s, AT_CORE, core, sizeof core), cpulist_write(&s->cpus, cpu, sizeof cpu),
               s->bound ? "" : " (not bound)");
    }
    fflush(stdout);
}
