/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_bench: what messages and collectives of any MPI library cost. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "bench.h"
#include "run.h"

static const struct table *const tables[] = { &pt2pt_tests,   &match_tests, &coll_tests,
                                              &overlap_tests, &type_tests,  &part_tests };
enum { TABLES = sizeof tables / sizeof *tables };
static double began;

static int main_fits(const char *word, const struct test *t)
{
    return fnmatch(word, t->name, 0) == 0 ? !t->on_demand || strcmp(word, t->name) == 0
                                          : strcmp(word, t->group) == 0 && !t->on_demand;
}
static int main_wanted(const struct test *t)
{
    int yes = opt.words[0] == NULL && !t->on_demand;
    for (char **w = opt.words; *w && !yes; w++)
        yes = main_fits(*w, t);
    return yes;
}

/* A word that names nothing, or NULL. */
static const char *unknown_word(void)
{
    for (char **w = opt.words; *w; w++) {
        int found = 0;
        for (int i = 0; i < TABLES; i++)
            for (int k = 0; k < tables[i]->n; k++)
                found |= main_fits(*w, &tables[i]->rows[k]);
        if (!found)
            return *w;
    }
    return NULL;
}

static void main_list(void)
{
    for (int i = 0; i < TABLES; i++)
        for (int k = 0; k < tables[i]->n; k++) {
            const struct test *t = &tables[i]->rows[k];
            printf("%-12s %-28s %-5s %s\n", t->group, t->name, t->unit, t->about);
        }
}

static int time_is_up(void)
{
    int up = opt.limit > 0 && MPI_Wtime() - began > opt.limit;
    if (opt.limit > 0)
        MPI_Bcast(&up, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return up;
}

/* Is there a tag for each receive and each message of this depth? */
static int tags_suffice(long depth)
{
    int *most, flag;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &flag);
    return flag && depth <= *most;
}

static void run_one(const struct test *t, long n)
{
    size_t room = t->by == DEPTH ? 64 : t->room ? t->room(n) : (size_t)n;
    if (n < t->least || (t->by == DEPTH && !tags_suffice(n)) || time_is_up() ||
        !make_room(room > 64 ? room : 64))
        return;
    if (t->run)
        t->run(t, n);
    else
        point(t, t->name, n);
}

static void main_run(const struct test *t)
{
    static const struct numbers none = { { 0 }, 1 };
    const struct numbers *of = t->by == DEPTH ? &opt.depths : t->by == BYTES ? &opt.bytes : &none;
    if (size < t->least_ranks)
        return;
    for (int i = 0; i < of->n; i++)
        run_one(t, of->of[i]);
}

static int complain(const char *why, const char *what)
{
    if (rank == 0)
        fprintf(stderr, "mpi_bench: %s%s\n", what, why);
    return 2;
}

static int show_version(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING + 1];
    int len;
    MPI_Get_library_version(text, &len);
    if (rank == 0)
        puts(text);
    return 0;
}

static int run_all(void)
{
    if (!open_output())
        return complain(": cannot be written", opt.output);
    for (int i = 0; i < TABLES; i++)
        for (int k = 0; k < tables[i]->n; k++)
            if (main_wanted(&tables[i]->rows[k]))
                main_run(&tables[i]->rows[k]);
    free_room();
    if (!close_output())
        return complain(": cannot be written", opt.output ? opt.output : "standard output");
    return reported()
               ? 0
               : complain("no figure: more ranks, other sizes or more memory are needed (--list, --help)",
                          "");
}

static int act(int argc, char **argv)
{
    const char *bad = read_options(argc, argv);
    if (bad)
        return complain(bad, "");
    if (opt.help || opt.list) {
        if (rank == 0 && opt.help)
            fputs(usage, stdout);
        else if (rank == 0)
            main_list();
        return 0;
    }
    if (opt.version)
        return show_version();
    if ((bad = unknown_word()) != NULL)
        return complain(": no test or group of that name (--list names them)", bad);
    return run_all();
}

/* mpi_bench --tune: the script beside it, which starts jobs of this program.  Both may be installed with a prefix
 * or a suffix. */
static int tune(char **argv)
{
    static const char own[] = "mpi_bench";
    char self[4096], path[sizeof self + 8];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(self, '/'), *name = slash ? strstr(slash, own) : NULL;
    if (name) {
        int before = (int)(name - self) + (int)sizeof own - 1;
        snprintf(path, sizeof path, "%.*s_tune%s", before, self, self + before);
        execv(path, argv + 1);
    }
    fprintf(stderr, "mpi_bench: mpi_bench_tune is not beside it\n");
    return 2;
}

int main(int argc, char **argv)
{
    int level;
    if (argc > 1 && strcmp(argv[1], "--tune") == 0)
        return tune(argv);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED,
                    &level); /* rate_threads has a thread beside the main one */
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    began = MPI_Wtime();
    int code = act(argc, argv);
    MPI_Finalize();
    return code;
}
