/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that is not linked with MPI and loads the library as an interpreter's module does (dlopen with
 * RTLD_LOCAL), looks up every procedure, uses it, and unloads it: nothing of it is left then.  For loader.test.
 *
 *     loader LIBRARY NAMES [PLUGIN]       NAMES: a file with a name on each line; PLUGIN: a word of /proc/self/maps */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <mpi.h>

static int failures;
#define EXPECT(cond, ...) \
    do { \
        if (!(cond)) { \
            fprintf(stderr, "line %d: not so: %s: ", __LINE__, #cond); \
            fprintf(stderr, " " __VA_ARGS__); \
            fprintf(stderr, "\n"); \
            failures++; \
        } \
    } while (0)

static void *lib;

static void *symbol(const char *name)
{
    void *p = dlsym(lib, name);
    EXPECT(p, "%s", name);
    return p;
}
#define LOAD(f) __typeof__(&f) p_##f = (__typeof__(&f))symbol(#f)

/* ---- What a process has -------------------------------------------------------------------------------------- */

static int entries(const char *folder)
{
    int n = 0;
    DIR *d = opendir(folder);
    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

static int mapped(const char *word)
{
    char line[4096];
    int found = 0;
    FILE *f = fopen("/proc/self/maps", "r");
    while (f && fgets(line, sizeof line, f))
        found |= strstr(line, word) != NULL;
    if (f)
        fclose(f);
    return found;
}

struct traces {
    int files, threads;
    struct sigaction handler[32];
};

static void look(struct traces *t)
{
    memset(t, 0, sizeof *t);
    t->files = entries("/proc/self/fd");
    t->threads = entries("/proc/self/task");
    for (int i = 1; i < 32; i++)
        sigaction(i, NULL, &t->handler[i]);
}

static void compare(const struct traces *a, const struct traces *b)
{
    EXPECT(a->files == b->files, "%d and %d descriptors", a->files, b->files);
    EXPECT(a->threads == b->threads, "%d and %d threads", a->threads, b->threads);
    for (int i = 1; i < 32; i++)
        EXPECT(a->handler[i].sa_handler == b->handler[i].sa_handler, "handler of signal %d", i);
}

/* ---- Use ----------------------------------------------------------------------------------------------------- */

static void all_names(const char *file)
{
    char name[256];
    int n = 0;
    FILE *f = fopen(file, "r");
    while (f && fscanf(f, "%255s", name) == 1) {
        symbol(name);
        n++;
    }
    if (f)
        fclose(f);
    EXPECT(n > 300, "%d names", n);
}

static void use(const char *plugin)
{
    LOAD(MPI_Init);
    LOAD(MPI_Comm_rank);
    LOAD(MPI_Comm_size);
    LOAD(MPI_Comm_dup);
    LOAD(MPI_Comm_free);
    LOAD(MPI_Sendrecv);
    LOAD(MPI_Allreduce);
    LOAD(MPI_Finalize);
    static int big_in[100000], big_out[100000];
    int rank = -1, size = -1, sum = -1;
    MPI_Comm comm;
    p_MPI_Init(NULL, NULL);
    p_MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    p_MPI_Comm_size(MPI_COMM_WORLD, &size);
    EXPECT(!plugin || mapped(plugin), "%s", plugin);
    p_MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < 100000; i++)
        big_out[i] = rank + i;
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    p_MPI_Sendrecv(big_out, 100000, MPI_INT, right, 0, big_in, 100000, MPI_INT, left, 0, comm,
                   MPI_STATUS_IGNORE);
    for (int i = 0; i < 100000; i += 777)
        EXPECT(big_in[i] == left + i, "%d", i);
    p_MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    EXPECT(sum == size * (size - 1) / 2, "%d", sum);
    p_MPI_Comm_free(&comm);
    p_MPI_Finalize();
}

/* fork and exit run what a library has registered: nothing of an unloaded one may be there. */
static void fork_once(void)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0)
        exit(7);
    waitpid(child, &status, 0);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 7, "status %x", status);
}

int main(int argc, char **argv)
{
    struct traces before, after;
    const char *name = strrchr(argv[1], '/') + 1;
    look(&before);
    EXPECT(!dlsym(RTLD_DEFAULT, "MPI_Init"));
    lib = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!lib) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    EXPECT(!dlsym(RTLD_DEFAULT, "MPI_Init"));
    EXPECT(mapped(name));
    all_names(argv[2]);
    use(argc > 3 ? argv[3] : NULL);
    EXPECT(dlclose(lib) == 0);
    EXPECT(!mapped(name), "the library is still there");
    EXPECT(argc <= 3 || !mapped(argv[3]), "the plug-in is still there");
    EXPECT(!mapped("memfd"), "the job's memory is still there");
    look(&after);
    compare(&before, &after);
    fork_once();
    return failures != 0;
}
