/* SPDX-License-Identifier: BSD-3-Clause */
/* rankfile.c: see rankfile.h.  Lines "rank N=HOST slot=SLOTS"; SLOTS is CORES, or PACKAGE:CORES with more of these
 * after ';'. CORES is a list such as 0-2,5, or * for all; cores are counted from 0 on the machine, or in the
 * package. */
#define _GNU_SOURCE
#include "rankfile.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "options.h"
#include "pmi/launch/mapping/topology.h"
#include "hosts.h"

struct row {
    int rank, line, host;
    char *name, *slots;
};

struct rankfile {
    const char *name;
    struct row *rows;
    int n;
};

static bool is_cores(const char *text, const char *ends)
{
    cpu_set_t set;
    return (*text == '*' && strchr(ends, text[1])) || cpulist_read(text, ends, &set);
}

static bool is_slots(const char *slots)
{
    for (const char *at = slots; *at; at += strcspn(at, ";"), at += *at == ';') {
        size_t digits = strspn(at, "0123456789");
        bool package = digits > 0 && at[digits] == ':';
        if (!is_cores(package ? at + digits + 1 : at, ";"))
            return false;
    }
    return *slots != '\0';
}

static const struct row *row_of(const struct rankfile *f, int rank)
{
    for (int i = 0; f && i < f->n; i++)
        if (f->rows[i].rank == rank)
            return &f->rows[i];
    return NULL;
}

static void read_row(struct parse *p, struct rankfile *f, const char *text, int line)
{
    int rank, host = 0, host_end = 0, slots = 0, end = 0;
    if (sscanf(text, " rank %d = %n%*s%n slot = %n%*s %n", &rank, &host, &host_end, &slots, &end) < 1 ||
        !end || text[end] || rank < 0) {
        refuse(p, "%s %s:%d: \"%s\"; expected rank N=HOST slot=PACKAGE:CORES or slot=CORES", p->name, f->name,
               line, text);
        return;
    }
    struct row row = { rank, line, -1, xformat("%.*s", host_end - host, text + host),
                       xformat("%.*s", (int)strcspn(text + slots, " \t"), text + slots) };
    const struct row *before = row_of(f, rank);
    if (before)
        refuse(p, "%s %s:%d: rank %d has a line already (%d)", p->name, f->name, line, rank, before->line);
    else if (!is_slots(row.slots))
        refuse(p, "%s %s:%d: slot=%s; expected cores such as 0-2,5 or package:cores such as 1:0-2", p->name,
               f->name, line, row.slots);
    f->rows = xgrow(f->rows, (size_t)f->n + 1, sizeof *f->rows);
    f->rows[f->n++] = row;
}

/* For the daemons: the file's name, then a line a rank. */
static char *list_of(const struct rankfile *f)
{
    char *list = xformat("%s\n", f->name);
    for (int i = 0; i < f->n; i++) {
        char *longer = xformat("%s%d %d %s\n", list, f->rows[i].rank, f->rows[i].line, f->rows[i].slots);
        free(list);
        list = longer;
    }
    return list;
}

void do_rankfile(struct parse *p, char **v)
{
    struct rankfile *f = p->rankfile = xalloc(1, sizeof *f);
    FILE *in = fopen(v[0], "re");
    char *text = NULL;
    size_t cap = 0;
    f->name = v[0];
    if (!in) {
        refuse(p, "%s: %s: %s", p->name, v[0], strerror(errno));
        return;
    }
    for (int line = 1; getline(&text, &cap, in) > 0; line++) {
        text[strcspn(text, "#\r\n")] = '\0';
        if (text[strspn(text, " \t")])
            read_row(p, f, text, line);
    }
    if (f->n == 0)
        refuse(p, "%s %s: there is no line of a rank in it", p->name, v[0]);
    free(text);
    fclose(in);
    p->launch->bind.to = BIND_RANKS;
    p->launch->bind.list = list_of(f);
}

int rankfile_size(const struct rankfile *f)
{
    int n = 0;
    for (int i = 0; i < f->n; i++)
        n = f->rows[i].rank < n ? n : f->rows[i].rank + 1;
    return n;
}

void rankfile_hosts(struct parse *p)
{
    struct rankfile *f = p->rankfile;
    int named = p->nhosts;
    for (int i = 0; f && i < f->n; i++) {
        struct row *r = &f->rows[i];
        char *end;
        if (r->rank >= p->launch->size)
            refuse(p, "--rankfile %s:%d: rank %d; the job's ranks are 0 to %d", f->name, r->line, r->rank,
                   p->launch->size - 1);
        if (strncmp(r->name, "+n", 2) != 0) {
            r->host = place_host(p, r->name);
        } else {
            long n = strtol(r->name + 2, &end, 10);
            r->host = *end || end == r->name + 2 || n < 0 || n >= named ? -1 : (int)n;
        }
        if (r->host < 0)
            refuse(p, "--rankfile %s:%d: %s is no host; expected a name, or +nX for one of the %d named",
                   f->name, r->line, r->name, named);
    }
}

int rankfile_host(const struct rankfile *f, int rank)
{
    const struct row *r = row_of(f, rank);
    return r ? r->host : -1;
}
