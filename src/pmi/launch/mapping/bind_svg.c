/* SPDX-License-Identifier: BSD-3-Clause */
/* bind_svg.c: the machine as a drawing: boxes in boxes, the ranks on their hardware threads, a colour a rank. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include "bind.h"
#include "pmi/launch/job/launch.h"

/* From the outside in; a level that the machine does not have, or that is the same as the one around it, is left
 * out. */
static const enum level nest[] = { AT_MACHINE, AT_PACKAGE, AT_NUMA, AT_L3, AT_CORE, AT_HWTHREAD };
enum { NEST = sizeof nest / sizeof *nest, PAD = 8, TITLE = 18, THREAD_W = 74, THREAD_H = 34 };

struct drawing {
    FILE *f; /* NULL: only measure */
    const struct topology *t;
    const struct seat *seats;
    int n;
};

struct size {
    int w, h;
};

/* Colours that neighbours tell apart: steps of the golden angle around the circle. */
static int hue(int rank)
{
    return (int)((long long)rank * 137508 / 1000 % 360);
}

static void draw_thread(const struct drawing *d, int pu, int x, int y)
{
    int os = d->t->pu[pu].os, ranks = 0, first = -1, last = -1;
    bool bound = false;
    for (int r = 0; r < d->n; r++)
        if (CPU_ISSET((size_t)os, &d->seats[r].cpus)) {
            first = ranks++ ? first : r;
            last = r;
            bound |= d->seats[r].bound;
        }
    fprintf(d->f, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"3\" ", x, y, THREAD_W, THREAD_H);
    if (ranks == 0 || !bound)
        fprintf(d->f, "fill=\"#fff\" stroke=\"#999\"/>\n");
    else
        fprintf(d->f, "fill=\"hsl(%d,60%%,%d%%)\" stroke=\"#333\"/>\n", hue(first), ranks > 1 ? 68 : 80);
    fprintf(d->f, "<text x=\"%d\" y=\"%d\" class=\"c\">cpu %d</text>\n", x + 4, y + 12, os);
    if (ranks == 0 || !bound)
        return;
    fprintf(d->f, "<text x=\"%d\" y=\"%d\" class=\"r\">", x + 4, y + 27);
    if (ranks == 1)
        fprintf(d->f, "rank %d</text>\n", first);
    else if (ranks == last - first + 1)
        fprintf(d->f, "ranks %d-%d</text>\n", first, last);
    else
        fprintf(d->f, "%d ranks</text>\n", ranks);
}

static int end_of(const struct drawing *d, int first, int end, enum level level)
{
    int i = first + 1;
    while (i < end && d->t->pu[i].at[level] == d->t->pu[first].at[level])
        i++;
    return i;
}

/* How many boxes of `level` stand side by side, of so many. */
static int columns(enum level level, int boxes)
{
    int most = level == AT_CORE ? (boxes > 16 ? 8 : 4) : level == AT_NUMA || level == AT_L3 ? 2 : 1;
    return boxes < most ? boxes : most;
}

static void draw_frame(const struct drawing *d, int first, enum level level, int x, int y, struct size s)
{
    static const char *const fill[LEVELS] = { [AT_CORE] = "#eee",
                                              [AT_L3] = "#fff6dd",
                                              [AT_NUMA] = "#e4efe0",
                                              [AT_PACKAGE] = "#dfe7f2",
                                              [AT_MACHINE] = "#fff" };
    fprintf(d->f,
            "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\" fill=\"%s\" stroke=\"#555\"/>\n", x,
            y, s.w, s.h, fill[level]);
    fprintf(d->f, "<text x=\"%d\" y=\"%d\">%s", x + PAD, y + 14, level_name[level]);
    if (level != AT_MACHINE)
        fprintf(d->f, " %d", d->t->pu[first].at[level]);
    fputs(d->t->simulated && level == AT_MACHINE ? " (simulated)</text>\n" : "</text>\n", d->f);
}

/* Draw, or measure, the threads from `first` to `end`, which are one object of nest[depth], at x, y. */
static struct size draw(const struct drawing *d, int first, int end, int depth, int x, int y)
{
    struct drawing measure = *d;
    if (nest[depth] == AT_HWTHREAD) {
        if (d->f)
            draw_thread(d, first, x, y);
        return (struct size){ THREAD_W, THREAD_H };
    }
    int in = depth + 1, boxes = 0;
    while (nest[in] != AT_CORE && nest[in] != AT_HWTHREAD && d->t->pu[first].at[nest[in]] < 0)
        in++;
    measure.f = NULL;
    if (d->f)
        draw_frame(d, first, nest[depth], x, y, draw(&measure, first, end, depth, x, y));
    for (int i = first; i < end; i = end_of(d, i, end, nest[in]))
        boxes++;
    int across = columns(nest[in], boxes), at_x = PAD, at_y = TITLE + 2, row_h = 0, k = 0;
    struct size all = { 96, 0 };
    for (int i = first, next; i < end; i = next, k++) {
        next = end_of(d, i, end, nest[in]);
        if (k > 0 && k % across == 0) {
            at_x = PAD;
            at_y += row_h + PAD;
            row_h = 0;
        }
        struct size s = draw(d, i, next, in, x + at_x, y + at_y);
        at_x += s.w + PAD;
        row_h = s.h > row_h ? s.h : row_h;
        all.w = at_x > all.w ? at_x : all.w;
    }
    all.h = at_y + row_h + PAD;
    return all;
}

bool bind_draw(const char *file, const struct topology *t, const struct seat *seats, int n)
{
    struct drawing d = { NULL, t, seats, n };
    struct size s = draw(&d, 0, t->npus, 0, PAD, PAD);
    d.f = fopen(file, "we");
    if (!d.f)
        return false;
    fprintf(
        d.f,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n"
        "<title>%d rank%s on %d core%s</title>\n"
        "<style>text{font:12px sans-serif;fill:#222}.c{font-size:9px;fill:#555}.r{font-weight:bold}</style>\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
        s.w + 2 * PAD, s.h + 2 * PAD, s.w + 2 * PAD, s.h + 2 * PAD, n, plural(n), t->count[AT_CORE],
        plural(t->count[AT_CORE]));
    draw(&d, 0, t->npus, 0, PAD, PAD);
    fputs("</svg>\n", d.f);
    bool ok = !ferror(d.f);
    return fclose(d.f) == 0 && ok;
}
