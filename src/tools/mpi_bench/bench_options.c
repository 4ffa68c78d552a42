/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of mpi_bench. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bench.h"
#include "run.h"

const char usage[] =
    "usage: mpiexec -n RANKS mpi_bench [OPTION]... [TEST]...\n"
    "Times of messages and collectives. A TEST is the name of a test or of a group, or a pattern (* and ?); "
    "without: all.\n"
    "  -l, --list             the tests there are\n"
    "  -s, --sizes LIST       bytes: N, FROM:TO or FROM:TO:FACTOR, separated by commas; K, M, G (default "
    "1:4M:4)\n"
    "  -d, --depths LIST      of matching (default 1:100000:10)\n"
    "  -t, --time SECONDS     for each figure (default 0.05)\n"
    "  -w, --window N         messages under way in tests of bandwidth and rate (default 64)\n"
    "  -a, --apart            all ranks begin each call of a collective at one time\n"
    "  -1, --one-side         derived types on rank 0 only; rank 1 sends and receives bytes\n"
    "  -m, --memory BYTES     of buffers a rank; what needs more is left out (default 1G)\n"
    "  -L, --limit SECONDS    begin no figure after this time\n"
    "  -f, --format FORMAT    table, csv or json (default table)\n"
    "  -o, --output FILE      instead of standard output\n"
    "  -n, --label TEXT       what a report calls this run (default: the library's name)\n"
    "  --tune ...             (first, without mpiexec) as mpi_bench_tune: a tuning file for this machine\n"
    "  -V, --version          of the MPI library\n"
    "  -h, --help\n"
    "A figure is the median of 5 blocks; the least and the most stand beside it. mpi_bench_report lays JSON "
    "files side by side.\n";

struct options opt = { .time = 0.05, .memory = (size_t)1 << 30 };

static const struct option longs[] = {
    { "list", no_argument, NULL, 'l' },
    { "sizes", required_argument, NULL, 's' },
    { "depths", required_argument, NULL, 'd' },
    { "time", required_argument, NULL, 't' },
    { "apart", no_argument, NULL, 'a' },
    { "window", required_argument, NULL, 'w' },
    { "one-side", no_argument, NULL, '1' },
    { "memory", required_argument, NULL, 'm' },
    { "limit", required_argument, NULL, 'L' },
    { "format", required_argument, NULL, 'f' },
    { "output", required_argument, NULL, 'o' },
    { "label", required_argument, NULL, 'n' },
    { "version", no_argument, NULL, 'V' },
    { "help", no_argument, NULL, 'h' },
    { NULL, 0, NULL, 0 },
};
static char wrong[400];

static const char *bench_options_refuse(const char *option, const char *value, const char *expected)
{
    snprintf(wrong, sizeof wrong, "%s is \"%s\"; expected %s", option, value, expected);
    return wrong;
}

/* Reads a number with its suffix; *end is behind it. -1: there is none. */
static double bench_options_number(const char *text, char **end)
{
    static const char suffixes[] = "KMG";
    double x = strtod(text, end);
    const char *suffix = **end != 0 ? strchr(suffixes, **end) : NULL;
    if (*end == text || !(x >= 0) || x > 1e12)
        return -1;
    if (suffix != NULL) {
        (*end)++;
        for (const char *s = suffixes; s <= suffix; s++)
            x *= 1024;
    }
    return x;
}
/* The number that is the whole text, or -1. */
static double whole_number(const char *text)
{
    char *end;
    double x = bench_options_number(text, &end);
    return *end == 0 ? x : -1;
}

/* FROM[:TO[:FACTOR]]: the end of it, or NULL. */
static char *range(struct numbers *to, char *text)
{
    double from = bench_options_number(text, &text), last = from, factor = 2;
    if (from >= 0 && *text == ':') {
        last = bench_options_number(text + 1, &text);
        if (last >= 0 && *text == ':')
            factor = bench_options_number(text + 1, &text);
    }
    if (from < 0 || last < from || last > 2147483647.0 || factor < 2 || (from < 1 && last > from))
        return NULL;
    for (; from <= last; from *= factor) {
        if (to->n == MOST_NUMBERS)
            return NULL;
        to->of[to->n++] = (long)from;
        if (from < 1)
            break;
    }
    return text;
}
static int bench_options_list_of(struct numbers *to, char *text)
{
    to->n = 0;
    while ((text = range(to, text)) != NULL && *text == ',')
        text++;
    return text != NULL && *text == 0;
}

static const char *list_option(struct numbers *to, const char *option, char *text)
{
    return bench_options_list_of(to, text)
               ? NULL
               : bench_options_refuse(option, text,
                                      "numbers, FROM:TO or FROM:TO:FACTOR, separated by commas, below 2^31");
}
static const char *seconds_option(double *to, const char *option, const char *text)
{
    *to = whole_number(text);
    return *to > 0 ? NULL : bench_options_refuse(option, text, "seconds above 0");
}
static const char *window_option(const char *text)
{
    double n = whole_number(text);
    window = (int)n;
    return n >= 1 && n <= WINDOW_MOST ? NULL : bench_options_refuse("--window", text, "1 to 4096 messages");
}
static const char *memory_option(const char *text)
{
    double n = whole_number(text);
    opt.memory = n > 0 ? (size_t)n : 0;
    return n > 0 ? NULL : bench_options_refuse("--memory", text, "bytes above 0");
}
static const char *format_option(const char *text)
{
    static const char *const names[] = { "table", "csv", "json" };
    for (int i = 0; i < 3; i++)
        if (strcmp(text, names[i]) == 0) {
            opt.format = (enum format)i;
            return NULL;
        }
    return bench_options_refuse("--format", text, "table, csv or json");
}

static const char *bench_options_take(int c, char **argv)
{
    switch (c) {
    case 's':
        return list_option(&opt.bytes, "--sizes", optarg);
    case 'd':
        return list_option(&opt.depths, "--depths", optarg);
    case 't':
        return seconds_option(&opt.time, "--time", optarg);
    case 'L':
        return seconds_option(&opt.limit, "--limit", optarg);
    case 'w':
        return window_option(optarg);
    case 'm':
        return memory_option(optarg);
    case 'f':
        return format_option(optarg);
    case 'l':
        opt.list = 1;
        return NULL;
    case 'a':
        opt.apart = 1;
        return NULL;
    case '1':
        one_side = 1;
        return NULL;
    case 'o':
        opt.output = optarg;
        return NULL;
    case 'n':
        opt.label = optarg;
        return NULL;
    case 'V':
        opt.version = 1;
        return NULL;
    case 'h':
        opt.help = 1;
        return NULL;
    default:
        snprintf(wrong, sizeof wrong, "%s: no such option, or its value is missing (--help tells)",
                 argv[optind - 1]);
        return wrong;
    }
}

const char *read_options(int argc, char **argv)
{
    static char bytes[] = "1:4M:4", depths[] = "1:100000:10";
    const char *bad = NULL;
    int c;
    bench_options_list_of(&opt.bytes, bytes);
    bench_options_list_of(&opt.depths, depths);
    opterr = 0;
    while (bad == NULL && (c = getopt_long(argc, argv, "ls:d:t:w:a1m:L:f:o:n:Vh", longs, NULL)) != -1)
        bad = bench_options_take(c, argv);
    opt.words = argv + optind;
    return bad;
}
