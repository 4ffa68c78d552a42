/* SPDX-License-Identifier: BSD-3-Clause */
/* options_help.c: what mpiexec says of itself: its options, by topics; its version; how it was built. */
#define _GNU_SOURCE
#include "config.h"
#include <stdio.h>
#include <string.h>
#include "built.h"
#include "options.h"
#include "pmi/pmix_library.h"
#include "util/err.h"
#include "util/installed.h"

/* A topic, whose options follow it; or an option. */
static const struct row {
    const char *names; /* separated by | */
    enum { A_TOPIC, OURS, TAKEN, NOTED } kind;
    const char *args, *help;
} rows[] = {
#define TOPIC(names, title) { names, A_TOPIC, NULL, title },
#define WHAT(names, values, set, args, help) { names, OURS, args, help },
#define TAKE(names, values) { names, TAKEN, "", "Keel does so anyway, or it says nothing here" },
#define NOTE(names, values, help) { names, NOTED, "", help },
#include "options.def"
};
enum { NROWS = sizeof rows / sizeof *rows };

static bool is_named(const char *names, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = names; *p; p += strcspn(p, "|"), p += *p == '|')
        if (strcspn(p, "|") == n && strncasecmp(p, name, n) == 0)
            return true;
    return false;
}

static void print_option(const struct row *row)
{
    for (const char *n = row->names; *n; n += strcspn(n, "|"), n += *n == '|')
        printf("%s-%.*s", n == row->names ? "  " : ", ", (int)strcspn(n, "|"), n);
    printf("%s%s\n          %s\n", *row->args ? " " : "", row->args, row->help);
}

static void print_topic(const struct row *topic)
{
    printf("\n%.*s: %s\n", (int)strcspn(topic->names, "|"), topic->names, topic->help);
    for (const struct row *row = topic + 1; row < rows + NROWS && row->kind != A_TOPIC; row++)
        print_option(row);
}

/* Options that change nothing here are shown to those only who ask for them. */
static bool is_general(const struct row *row)
{
    return row->kind == A_TOPIC && row + 1 < rows + NROWS && row[1].kind == OURS;
}

static void print_all(void)
{
    fputs(
        "Usage: mpiexec [options] program [arguments] [: [options] program [arguments]]...\n"
        "Start the ranks of an MPI job, here or on other hosts; any program will do.  More ranks than cores "
        "are fine.\n"
        "One dash or two; \"-opt value\" or \"-opt=value\".  \"--help TOPIC\" shows a topic, \"--help "
        "OPTION\" an "
        "option.\n",
        stdout);
    for (const struct row *row = rows; row < rows + NROWS; row++)
        if (is_general(row))
            print_topic(row);
    fputs("\nOther options of MPICH's and Open MPI's mpiexec (--help ignored) are taken, with a note where "
          "that "
          "matters.\n"
          "Environment: MPIEXEC_TIMEOUT, MPIEXEC_NODE_TIMEOUT, MPIEXEC_HOST_RETRY (seconds).\n"
          "Exit code: that of the first rank that failed (128 + signal if it was killed), or\n"
          "  122 the job hung    123 a rank exited with 0 without calling MPI_Finalize    124 -timeout, "
          "MPIEXEC_TIMEOUT\n"
          "  125 mpiexec itself failed    126 the program cannot be executed    127 it is not found\n",
          stdout);
}

/* "ranks, hosts, ..." */
static char *topics(void)
{
    char *all = xformat("%s", "");
    for (const struct row *row = rows; row < rows + NROWS; row++)
        if (row->kind == A_TOPIC)
            all = xformat("%s%.*s, ", all, (int)strcspn(row->names, "|"), row->names);
    return all;
}

void do_help(struct parse *p, char **v)
{
    bool found = !v[0] || strcasecmp(v[0], "all") == 0;
    if (found)
        print_all();
    for (const struct row *row = rows; row < rows + NROWS && !found; row++)
        if ((found = row->kind == A_TOPIC && is_named(row->names, v[0])))
            print_topic(row);
    for (const struct row *row = rows; row < rows + NROWS && !found; row++)
        if ((found = row->kind != A_TOPIC && is_named(row->names, v[0] + strspn(v[0], "-"))))
            print_option(row);
    if (!found)
        refuse(p, "%s %s: there is no such topic and no such option; topics are %sall", p->name, v[0],
               topics());
    p->stop = true;
}

void do_version(struct parse *p, char **v)
{
    (void)v;
    printf("mpiexec (Keel MPI) %s\n", PACKAGE_VERSION);
    p->stop = true;
}

void do_info(struct parse *p, char **v)
{
#ifdef HAVE_HWLOC
    const char *hwloc = "yes (packages, caches, simulated machines)";
#else
    const char *hwloc = "no (cores and NUMA nodes only)";
#endif
#ifdef HAVE_LIBDW
    const char *libdw = "yes (source lines of ranks that hang or crash)";
#else
    const char *libdw = "no (functions, without lines, of ranks that hang or crash)";
#endif
    do_version(p, v);
    const char *pmix = pmi_x_library(NULL, 0) == 0 ? "PMI-1, PMI-2, PMIx" : "PMI-1, PMI-2";
    const char *why = strstr(pmix, "PMIx") ? "" : "; no PMIx: ", *text = *why ? ku_err_last()->text : "";
    printf("    compiler          %s, with %s\n"
           "    configured with   %s\n"
           "    other hosts by    %s, %s, %s\n"
           "    allocations of    slurm, pbs, lsf, sge\n"
           "    serves            %s%s%s\n"
           "    hwloc             %s\n"
           "    libdw             %s\n"
           "    commands          %s\n"
           "    libraries         %s\n"
           "mpi_info tells of the library.\n",
           BUILT_CC, BUILT_CFLAGS, BUILT_CONFIGURED, launcher_name(LAUNCH_SSH), launcher_name(LAUNCH_SLURM),
           launcher_name(LAUNCH_FORK), pmix, why, text, hwloc, libdw, ku_installed_bindir(),
           ku_installed_libdir());
}
