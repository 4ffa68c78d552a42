/* SPDX-License-Identifier: BSD-3-Clause */
/* What mpi_bench prints, on rank 0: a figure as soon as it is there, so that who ends a slow run has what came. */
#ifdef __linux__
#define _GNU_SOURCE
#include <sched.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "bench.h"
#include "run.h"

static FILE *out;
static int figures;
static const struct test *seen[256]; /* whose figures were printed: what they are is said at the end */
static int nseen;
static char library[MPI_MAX_LIBRARY_VERSION_STRING + 1];

static const char *const by_names[] = { "bytes", "depth", "none" };

static int cmp(const void *x, const void *y)
{
    double p = *(const double *)x, q = *(const double *)y;
    return (p > q) - (p < q);
}

static const char *better(const char *unit)
{
    return strcmp(unit, "MB/s") == 0 || strcmp(unit, "M/s") == 0 || strcmp(unit, "%") == 0 ? "more" : "less";
}

/* The first line of what the library says of itself. */
static const char *library_name(void)
{
    int len;
    MPI_Get_library_version(library, &len);
    library[strcspn(library, "\r\n")] = 0;
    for (char *c = library; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
    return library;
}

static void quoted(const char *text)
{
    putc('"', out);
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if ((unsigned char)*text < ' ')
            fprintf(out, "\\u%04x", (unsigned)*text);
        else
            putc(*text, out);
    putc('"', out);
}
static void member(const char *name, const char *text)
{
    fprintf(out, " \"%s\": ", name);
    quoted(text);
    fputs(",\n", out);
}

/* The processors the ranks are on, or -1: collective. */
static int *cpus(void)
{
    int mine = -1, *all = rank == 0 ? malloc(sizeof *all * (size_t)size) : NULL;
#ifdef __linux__
    mine = sched_getcpu();
#endif
    MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return all;
}

static void json_head(const int *cpu)
{
    char host[MPI_MAX_PROCESSOR_NAME + 1], date[40];
    time_t now = time(NULL);
    int len, version, sub;
    MPI_Get_processor_name(host, &len);
    MPI_Get_version(&version, &sub);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    fputs("{\n", out);
    member("program", "mpi_bench");
    member("label", opt.label ? opt.label : library_name());
    member("library", library_name());
    fprintf(out, " \"mpi\": \"%d.%d\",\n", version, sub);
    member("host", host);
    member("date", date);
    fprintf(out, " \"ranks\": %d,\n \"window\": %d,\n \"time\": %g,\n \"cpus\": [", size, window, opt.time);
    for (int i = 0; i < size; i++)
        fprintf(out, "%s%d", i ? ", " : "", cpu[i]);
    fputs("],\n \"results\": [", out);
}

static void table_head(void)
{
    fprintf(out, "# %s, %d rank%s\n", library_name(), size, size == 1 ? "" : "s");
    fprintf(out, "%-34s %10s %11s %-5s %11s %11s\n", "test", "n", "value", "unit", "least", "most");
}

int open_output(void)
{
    int ok = 1, *cpu = cpus();
    if (rank == 0) {
        out = opt.output ? fopen(opt.output, "w") : stdout;
        ok = out != NULL;
        if (ok && opt.format == JSON)
            json_head(cpu);
        else if (ok && opt.format == TABLE)
            table_head();
        else if (ok)
            fputs("test,group,ranks,by,n,value,unit,better,least,most,blocks\n", out);
    }
    free(cpu);
    MPI_Bcast(&ok, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return ok;
}

void report(const struct test *t, const char *name, long n, double *values, int many)
{
    static const char *const row[] = {
        [CSV] = "%s,%s,%d,%s,%ld,%.6g,%s,%s,%.6g,%.6g,%d\n",
        [JSON] = "{\"test\": \"%s\", \"group\": \"%s\", \"ranks\": %d, \"by\": \"%s\", \"n\": %ld, "
                 "\"value\": %.6g, \"unit\": \"%s\", "
                 "\"better\": \"%s\", \"least\": %.6g, \"most\": %.6g, \"blocks\": %d}",
    };
    figures++;
    if (rank != 0)
        return;
    if ((nseen == 0 || seen[nseen - 1] != t) && nseen < (int)(sizeof seen / sizeof *seen))
        seen[nseen++] = t;
    qsort(values, (size_t)many, sizeof *values, cmp);
    double median = many % 2 ? values[many / 2] : (values[many / 2 - 1] + values[many / 2]) / 2;
    if (opt.format == TABLE)
        fprintf(out, "%-34s %10ld %11.5g %-5s %11.5g %11.5g\n", name, n, median, t->unit, values[0],
                values[many - 1]);
    else {
        if (opt.format == JSON)
            fputs(figures > 1 ? ",\n  " : "\n  ", out);
        fprintf(out, row[opt.format], name, t->group, size, by_names[t->by], n, median, t->unit,
                better(t->unit), values[0], values[many - 1], many);
    }
    fflush(out);
}

static void json_tail(void)
{
    fputs("\n ],\n \"about\": {", out);
    for (int i = 0; i < nseen; i++) {
        fprintf(out, "%s\n  \"%s\": ", i ? "," : "", seen[i]->name);
        quoted(seen[i]->about);
    }
    fputs("\n }\n}\n", out);
}

int close_output(void)
{
    if (rank != 0)
        return 1;
    if (opt.format == JSON)
        json_tail();
    return opt.output ? fclose(out) == 0 : fflush(out) == 0;
}

int reported(void)
{
    return figures;
}
